"""TTL options through the whole lane: what the sender's tool put in comes out as padding, in both engines, and nothing else changes."""

import itertools
import random

import pytest
from scapy.utils import RawPcapNgReader, RawPcapReader

from support.captures import pcap
from support.headers import checksum
from support.option_frames import TAGS, frames, packet
from support.runs import check, run, vermilion

pytestmark = pytest.mark.slow

CONFIG = """
[port]
rate = "10Gbit"

[[queue]]
name = "in two ways"
dscp = ["AF11", "AF12", "EF", "VA"]
remark = "AF11"
ecn = true
ttl_option = "remove"
distance = { share = true }
average = { weight = 1 }
green = { curve = "tail", ecn = { min = 0, max = 0, p = 1 } }

[[queue]]
name = "kept"
dscp = [1, 2, 3, 4, 5, 6, 7, 8]

[[queue]]
name = "rest"
default = true
ttl_option = "remove"
"""
KEPT = range(1, 9)


def traffic(frame, at):
    return frame[at + 1] if frame[at] >> 4 == 4 else (frame[at] << 8 | frame[at + 1]) >> 4 & 0xFF


def sent_frames(seed, count):
    rng = random.Random(seed)
    for number in range(count):
        v6, tags = rng.random() < 0.5, rng.choice(TAGS)
        options = rng.choice([None, b"\5\2\0\0\1\0"]) if v6 else rng.choice([b"", b"\x94\4\0\0", b"\1" * 8])
        body = packet(rng, v6, options, rng.randrange(256), rng.randbytes(rng.randrange(8, 900)))
        yield rng.randbytes(12) + tags + (b"\x86\xdd" if v6 else b"\x08\0") + body + number.to_bytes(4, "big")


@pytest.mark.parametrize("engine, seed", [("rtl", 1), ("model", 1), ("model", 2)])
def test_what_the_tool_put_in_leaves_as_padding_and_nothing_else_changes(tmp_path, engine, seed):
    print("seed", seed)
    file = tmp_path / "option.toml"
    file.write_text(CONFIG)
    pcap(tmp_path / "in.pcap", [(9000 * i, f, len(f)) for i, f in enumerate(sent_frames(seed, 500))])
    assert vermilion("ttl-option", tmp_path / "in.pcap", tmp_path / "with.pcap", "--final", 30)[0] == 0
    stats = run(
        tmp_path, tmp_path / "with.pcap", "--config", file, "--engine", engine, "--out", tmp_path / "out.pcapng"
    )
    if engine == "rtl":
        check(stats)
    with RawPcapReader(str(tmp_path / "with.pcap")) as reader:
        given = {frame[-4:]: frame for frame, _ in reader}
    with RawPcapNgReader(str(tmp_path / "out.pcapng")) as reader:
        came = {frame[-4:]: frame for frame, _ in reader}
    assert given.keys() == came.keys() and len(given) == 500
    padded = marked = 0
    for number, before in given.items():
        after, at = came[number], 14
        while before[at - 2 : at] in (b"\x81\0", b"\x88\xa8"):
            at += 4
        v6 = before[at] >> 4 == 6
        place = at + (42 if v6 else 20)
        assert before[place : place + 2] == (b"\x1e\2" if v6 else b"\x9e\4")
        wanted = bytearray(before)
        if traffic(before, at) >> 2 not in KEPT:
            wanted[place : place + 4] = b"\1\2\0\0" if v6 else b"\1\1\1\1"
            padded += 1
        if v6:
            wanted[at : at + 2] = after[at : at + 2]
        else:
            wanted[at + 1], wanted[at + 10 : at + 12] = after[at + 1], after[at + 10 : at + 12]
            assert checksum(after[at : at + 4 * (after[at] & 15)]) == 0, "the tool's checksum was right, and still is"
        assert after == bytes(wanted)
        marked += traffic(after, at) != traffic(before, at)
    assert padded > 400 and marked > 10


def test_both_engines_agree_on_options_of_every_kind(tmp_path):
    file = tmp_path / "option.toml"
    file.write_text(CONFIG)
    hostile = [frame for frame, _ in itertools.islice(frames(random.Random(5)), 1500)]
    capture = pcap(tmp_path / "in.pcap", [(200 * i, frame, len(frame)) for i, frame in enumerate(hostile)])
    outs = []
    for engine in ("rtl", "model"):
        outs.append((tmp_path / f"{engine}.pcapng", tmp_path / f"{engine}.csv"))
        words = ("--config", file, "--engine", engine, "--out", outs[-1][0], "--trace", outs[-1][1])
        stats = run(tmp_path, capture, *words)
        if engine == "rtl":
            check(stats)
    for rtl, model in zip(*outs, strict=True):
        assert rtl.read_bytes() == model.read_bytes()
