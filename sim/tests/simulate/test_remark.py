"""`remark` on the wire: the DSCPs asked for, and IPv4 checksums that are as right or as wrong as they came."""

import random
import struct

import pytest
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.headers import ones_complement
from support.runs import check, run, vermilion
from vermilion.configuration import config, config_file
from vermilion.values import units

CONFIG = """
[port]
rate = "1Gbit"

[[queue]]
name = "three"
dscp = ["AF21", "AF22", "AF23"]
remark = { green = "AF11", yellow = "AF12", red = 14 }

[[queue]]
name = "some"
dscp = { green = [1, 2], yellow = [3], red = [4] }
remark = { yellow = "CS1" }

[[queue]]
name = "one"
dscp = ["EF", "VA"]
ecn = true
remark = "VA"
average = { weight = 1 }
green = { curve = "tail", ecn = { min = 0, max = 0, p = 1 } }

[[queue]]
name = "rest"
default = true
remark = 0
"""
WANTED = {18: 10, 20: 12, 22: 14, 1: 1, 2: 2, 3: 8, 4: 4, 46: 44, 44: 44}  # every other DSCP leaves as 0


def frames(seed, count):
    """(bytes, how wrong the checksum is); the last 4 bytes number the frame."""
    rng, out = random.Random(seed), []
    for number in range(count):
        traffic, tail = rng.randrange(64) << 2 | rng.randrange(4), rng.randbytes(20) + struct.pack(">I", number)
        traffic = rng.choice([traffic, rng.choice(list(WANTED)) << 2 | traffic & 3])
        tag = rng.choice([b"", b"\x81\0\0\1", b"\x88\xa8\0\1\x81\0\0\2"])
        wrong = 0
        if rng.random() < 0.6:
            header = bytearray(struct.pack(">BBHHHBBH", 0x45, traffic, 0, number, 0, 64, 17, 0) + rng.randbytes(8))
            header += rng.randbytes(4 * rng.randrange(11))
            header[0] = 0x40 | len(header) // 4
            header[2:4] = struct.pack(">H", len(header) + len(tail))
            wrong = rng.choice([0, 0, rng.randrange(1, 0xFFFF)])
            right = 0xFFFF - ones_complement(bytes(header))
            header[10:12] = struct.pack(">H", (right + wrong) % 0xFFFF)
            packet = b"\x08\0" + bytes(header)
        else:
            packet = b"\x86\xdd" + struct.pack(">IHBB", 6 << 28 | traffic << 20 | 7, len(tail), 17, 64)
            packet += rng.randbytes(32)
        out.append((rng.randbytes(12) + tag + packet + tail, wrong))
    return out


def fields(frame):
    """(version, traffic class, IP header)."""
    at = 14
    while frame[at - 2 : at] in (b"\x81\0", b"\x88\xa8"):
        at += 4
    if frame[at] >> 4 == 4:
        return 4, frame[at + 1], frame[at : at + 4 * (frame[at] & 15)]
    return 6, (frame[at] << 8 | frame[at + 1]) >> 4 & 0xFF, frame[at : at + 40]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_dscps_on_the_wire_are_those_asked_and_checksums_as_right_as_they_came(tmp_path, seed):
    print("seed", seed)
    sent = frames(seed, 400)
    capture, file = tmp_path / "in.pcap", tmp_path / "remark.toml"
    pcap(capture, [(20_000 * i, frame, len(frame)) for i, (frame, _) in enumerate(sent)])
    file.write_text(CONFIG)
    stats = run(tmp_path, capture, "--config", file, "--out", tmp_path / "out.pcapng")
    check(stats)
    assert stats["warnings"] == {}
    with RawPcapNgReader(str(tmp_path / "out.pcapng")) as packets:
        came = {struct.unpack(">I", frame[-4:])[0]: frame for frame, _ in packets}
    assert len(came) == len(sent) == stats["packets"]
    changed = marked = 0
    for number, (frame, wrong) in enumerate(sent):
        version, before, header = fields(frame)
        _, after, new = fields(came[number])
        assert after >> 2 == WANTED.get(before >> 2, 0), (number, version, before >> 2)
        assert after & 3 in ({before & 3, 3} if before & 3 and before >> 2 in (44, 46) else {before & 3})
        changed, marked = changed + (after >> 2 != before >> 2), marked + (after & 3 != before & 3)
        if version == 4:  # the sum misses 0xFFFF by what the checksum is off
            assert (ones_complement(new) - 0xFFFF - wrong) % 0xFFFF == 0, (number, wrong)
        at = frame.index(header)
        edited = {at + i for i in ((1, 10, 11) if version == 4 else (0, 1))}
        assert len(came[number]) == len(frame)
        assert all(i in edited for i, (a, b) in enumerate(zip(frame, came[number], strict=True)) if a != b), number
    assert changed > 200 and marked > 5


def test_check_shows_what_is_remarked(tmp_path):
    file = tmp_path / "remark.toml"
    file.write_text(CONFIG)
    status, out, _ = vermilion("check", file)
    assert status == 0
    for text in ("green to AF11, yellow to AF12, red to AF13", "yellow to CS1", "all to VA"):
        assert text in out


@pytest.mark.parametrize(
    "text, words",
    [
        ('"AF14"', ['remark is "AF14"', "0 to 63"]),
        ("64", ["remark is 64"]),
        ("true", ["remark is true"]),
        ("[10]", ["remark is a list"]),
        ("{ green = 99 }", ["remark.green is 99", "AF11 to AF43"]),
        ('{ gren = "AF11" }', ["remark.gren", 'did you mean "green"']),
        ("-1", ["remark is -1"]),
    ],
)
def test_what_is_no_dscp_is_refused(tmp_path, text, words):
    file = tmp_path / "remark.toml"
    file.write_text(f'[port]\nrate = "1Mbit"\n[[queue]]\nname = "a"\nremark = {text}\n')
    with pytest.raises(config.UserError) as caught:
        config_file.load(file)
    for word in ['queue "a"', *words]:
        assert word in str(caught.value)


def test_names_and_numbers_are_the_same():
    by_name, by_number = (
        config.parse({"port": {"rate": 10**6}, "queue": [{"name": "a", "remark": raw}]}).queue[0].remark
        for raw in ("EF", {colour: units.DSCP_NAMES["EF"] for colour in config.COLOURS})
    )
    assert by_name == by_number
