"""`./vermilion ttl-option`: frames get the option, what cannot is passed as it is, and garbage ends in a sentence."""

import random
import struct
from collections import Counter

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import Ether
from scapy.utils import RawPcapReader

from support.captures import pcap
from support.headers import checksum
from support.option_frames import TAGS, packet
from support.runs import vermilion
from vermilion.configuration import ttl_option
from vermilion.configuration.ttl_option import ETHERNET, LOOP, NULL, RAW, SLL, SLL2, Wanted, add

WANTED = Wanted(158, 0x1E, final=40)


def ip4(options=b"", ttl=60, payload=b"payload!"):
    return packet(random.Random(1), False, options, ttl, payload)


def ip6(options=None, ttl=60, payload=b"payload!"):
    return packet(random.Random(2), True, options, ttl, payload)


def ether(body, tags=b""):
    return bytes(12) + tags + (b"\x08\0" if body[0] >> 4 == 4 else b"\x86\xdd") + body


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_comes_is_passed_or_gets_one_option_that_another_parser_reads(seed):
    print("seed", seed)
    rng, seen = random.Random(seed), Counter()
    for _ in range(4000):
        v6, tags = rng.random() < 0.5, rng.choice(TAGS)
        size = rng.choice([6, 14]) if v6 else 4 * rng.randrange(11)
        options = None if v6 and rng.random() < 0.5 else (b"\0" if v6 else b"\1") * size
        ttl = rng.randrange(256)
        before = ether(packet(rng, v6, options, ttl, rng.randbytes(rng.randrange(8, 60))), tags)
        wrong = rng.randbytes(2) if not v6 and rng.random() < 0.3 else None
        if wrong:
            before = before[: 24 + len(tags)] + wrong + before[26 + len(tags) :]
        reason, after = add(ETHERNET, before, len(before), WANTED)
        seen[reason] += 1
        if reason != "added":
            assert after == before and reason == "full" and size == 40
            continue
        at = 14 + len(tags)
        start = next(usual for usual in (32, 64, 128, 255) if usual >= ttl)
        assert ttl_option.add(ETHERNET, after, len(after), WANTED) == ("present", after)
        read = IPv6(after[at:]) if v6 else IP(after[at:])
        if v6:
            assert len(after) == len(before) + 8 and read.plen == len(after) - at - 40 and read.hlim == ttl
            option = read[IPv6ExtHdrHopByHop].options[0]
            assert (option.otype, bytes(option)[2:4]) == (0x1E, bytes([start, 40]))
            assert read[IPv6ExtHdrHopByHop].nh == 17
            assert bytes(read)[8:40] == before[at + 8 : at + 40]
        else:
            assert len(after) == len(before) + 4 and read.len == len(after) - at and read.ttl == ttl
            assert read.ihl * 4 == 24 + size and after[at + 20 : at + 24] == bytes([158, 4, start, 40])
            error = lambda frame, size: checksum(frame[at : at + size]) % 0xFFFF
            assert error(after, 24 + size) == error(before, 20 + size)
            assert wrong or error(after, 24 + size) == 0
        behind = len(before) - at - (40 if v6 else 20)
        assert after[-behind:] == before[-behind:] if behind and options is None else after.endswith(before[-8:])
    assert seen["added"] > 3000 and seen["full"] > 100


def test_each_packet_that_cannot_is_told_by_its_reason():
    cases = {
        "not_ip": [bytes(12) + b"\x08\x06" + bytes(40), bytes(12) + b"\x08\0" + ip6(), b"", bytes(13), ether(ip4(), TAGS[1] + TAGS[2])],
        "cut": [ether(ip4())[:30], ether(ip4(bytes([1] * 8)))[:40], ether(ip6())[:50], ether(ip6(bytes(6)))[:55], ether(ip6(bytes(6)))[:60]],
        "malformed": [
            ether(b"\x44" + ip4()[1:]), ether(ip4()[:2] + b"\0\x13" + ip4()[4:]), ether(ip4()[:2] + b"\x10\0" + ip4()[4:]),
            ether(ip6()[:4] + b"\x10\0" + ip6()[6:]), ether(ip6(bytes(6))[:41] + b"\xff" + ip6(bytes(6))[42:]),
        ],
        "no_length": [ether(ip4()[:2] + b"\0\0" + ip4()[4:]), ether(ip6()[:4] + b"\0\0" + ip6()[6:])],
        "present": [ether(ip4(b"\x94\4\0\0\x9e\4\x40\0")), ether(ip6(b"\1\0\x1e\2\x40\0"))],
        "full": [ether(ip4(b"\1" * 40)), ether(ip6(bytes(2046)))],
    }  # fmt: skip
    for reason, frames in cases.items():
        for frame in frames:
            assert add(ETHERNET, frame, max(len(frame), 98), WANTED) == (reason, frame), (reason, frame.hex())


def test_mtu_and_initial_ttl_are_kept_to_the_byte():
    for body, more in ((ip4(), 4), (ip6(), 8), (ip6(bytes(6)), 8)):
        frame, size = ether(body), len(body) + more
        assert add(ETHERNET, frame, len(frame), Wanted(158, 30, mtu=size))[0] == "added"
        assert add(ETHERNET, frame, len(frame), Wanted(158, 30, mtu=size - 1)) == ("mtu", frame)
        assert add(ETHERNET, frame, len(frame), Wanted(158, 30, initial=60))[0] == "added"
        assert add(ETHERNET, frame, len(frame), Wanted(158, 30, initial=59)) == ("low", frame)
    longest = ether(ip4(payload=bytes(65535 - 20 - 3)))
    assert add(ETHERNET, longest, len(longest), WANTED)[0] == "mtu"


@pytest.mark.parametrize("link, head", [(RAW, b""), (SLL, bytes(14)), (SLL2, None)])
def test_raw_and_cooked_packets(link, head):
    for body, kind in ((ip4(), b"\x08\0"), (ip6(), b"\x86\xdd")):
        front = kind + bytes(18) if head is None else head + kind * (link == SLL)
        reason, after = add(link, front + body, len(front + body), WANTED)
        assert reason == "added" and after.startswith(front)
        assert after[len(front) :] == add(ETHERNET, ether(body), 14 + len(body), WANTED)[1][14:]


@pytest.mark.parametrize("link, order", [(NULL, "<"), (NULL, ">"), (LOOP, ">")])
def test_loopback(link, order):
    """BSD loopback: the family stands before the packet, in the host's byte order (NULL) or the network's (LOOP)."""
    for body, family in ((ip4(), 2), (ip6(), 24), (ip6(), 28), (ip6(), 30)):
        front = struct.pack(order + "I", family)
        reason, after = add(link, front + body, len(front + body), WANTED)
        assert reason == "added" and after[:4] == front
        assert after[4:] == add(ETHERNET, ether(body), 14 + len(body), WANTED)[1][14:]
        assert add(link, front[:3], len(front + body), WANTED) == ("cut", front[:3])
    for front in (struct.pack(order + "I", 7), bytes(4), *([struct.pack("<I", 2)] if link == LOOP else [])):
        assert add(link, front + ip4(), 4 + len(ip4()), WANTED) == ("not_ip", front + ip4())


def test_fragments_stay_fragments():
    first = bytes(Ether() / IP(flags="MF", ttl=64, id=7) / UDP() / bytes(16))
    reason, after = add(ETHERNET, first, len(first), WANTED)
    assert reason == "added" and Ether(after)[IP].flags == "MF" and after[34] & 0x80, "the option is copied"
    later = bytes(Ether() / IPv6() / IPv6ExtHdrFragment(offset=9, nh=17) / bytes(16))
    reason, after = add(ETHERNET, later, len(later), WANTED)
    assert (
        reason == "added" and Ether(after)[IPv6ExtHdrHopByHop].nh == 44 and Ether(after)[IPv6ExtHdrFragment].offset == 9
    )


def test_noise_is_never_an_exception():
    rng = random.Random(3)
    for _ in range(30_000):
        frame = bytearray(ether(rng.choice([ip4(bytes([1] * 8)), ip6(), ip6(bytes(6))]), rng.choice(TAGS)))
        for _ in range(rng.randrange(6)):
            frame[rng.randrange(12, len(frame))] = rng.randrange(256)
        frame = bytes(frame[: rng.choice([len(frame), rng.randrange(len(frame))])])
        link = rng.choice([ETHERNET, ETHERNET, RAW, SLL, SLL2])
        reason, after = add(link, frame, len(frame), WANTED)
        assert reason in ttl_option.REASONS and (after == frame) == (reason != "added")


def pcapng(path, resolution, stamps, frames):
    block = lambda kind, body: struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", 1, 0, 0) + struct.pack("<HHB3x", 9, 1, resolution) + bytes(4))
    for stamp, frame in zip(stamps, frames, strict=True):
        body = struct.pack("<IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(frame), len(frame)) + frame
        out += block(6, body + bytes(-len(body) % 4))
    path.write_bytes(out)


@pytest.mark.parametrize("resolution, unit", [(6, 1000), (9, 1)])
def test_stamps_and_lengths_are_kept(tmp_path, resolution, unit):
    stamps = [1_700_000_000_123_456_789 // unit + k for k in range(50)]
    frames = [ether(ip4(payload=bytes(20 + k))) for k in range(50)]
    pcapng(tmp_path / "in.pcapng", resolution, stamps, frames)
    status, out, _ = vermilion("ttl-option", tmp_path / "in.pcapng", tmp_path / "out.pcap", "--final", 7)
    assert status == 0 and "option added" in out and "50" in out
    with RawPcapReader(str(tmp_path / "out.pcap")) as reader:
        assert reader.nano
        got = [(about.sec * 10**9 + about.usec, about.wirelen, frame) for frame, about in reader]
    assert [stamp for stamp, _, _ in got] == [stamp * unit for stamp in stamps]
    for (_, wire, frame), before in zip(got, frames, strict=True):
        assert wire == len(frame) == len(before) + 4 and frame[34:38] == bytes([158, 4, 64, 7])


def test_snapped_frames_keep_what_was_cut_off(tmp_path):
    whole = ether(ip4(payload=bytes(500)))
    pcap(tmp_path / "in.pcap", [(0, whole[:60], len(whole))])
    assert vermilion("ttl-option", tmp_path / "in.pcap", tmp_path / "out.pcap")[0] == 0
    with RawPcapReader(str(tmp_path / "out.pcap")) as reader:
        (frame, about), = reader  # fmt: skip
    assert (len(frame), about.wirelen) == (64, len(whole) + 4)


def test_garbage_ends_in_a_sentence_and_leaves_no_file(tmp_path):
    good = tmp_path / "good.pcap"
    pcap(good, [(0, ether(ip4()), 42)])
    (tmp_path / "noise.pcap").write_bytes(random.Random(4).randbytes(500))
    (tmp_path / "head.pcap").write_bytes(good.read_bytes()[:15])
    (tmp_path / "other.pcap").write_bytes(good.read_bytes()[:20] + struct.pack("<I", 105) + good.read_bytes()[24:])
    out = tmp_path / "out.pcap"
    for words, text in [
        ((tmp_path / "none.pcap", out), "cannot be read"),
        ((tmp_path / "noise.pcap", out), "not a capture"),
        ((tmp_path / "head.pcap", out), "damaged"),
        ((tmp_path / "other.pcap", out), "link type 105"),
        ((good, good), "is the input"),
        ((good, tmp_path), "is a folder"),
        ((good, out, "--initial", "0"), "legal is auto, or 1 to 255"),
        ((good, out, "--initial", "²"), "legal is auto, or 1 to 255"),
        ((good, out, "--initial", "9" * 5000), "legal is auto, or 1 to 255"),
        ((good, out, "--initial", "64", "--final", "65"), "above --initial"),
        ((good, out, "--final", "256"), "256"),
        ((good, out, "--mtu", "10"), "10"),
    ]:
        status, _, error = vermilion("ttl-option", *words)
        assert status == 2 and text in error and error.count("\n") == 1, (words, error)  # and no progress bar
        assert not out.exists()
    for cut in (5, 45):  # in a frame, in a record's head
        (tmp_path / "cut.pcap").write_bytes(good.read_bytes() + good.read_bytes()[24:-cut])
        status, text, error = vermilion("ttl-option", tmp_path / "cut.pcap", out)
        assert status == 0 and "warning" in error and " 1" in text
        with RawPcapReader(str(out)) as reader:
            assert len(list(reader)) == 1
        out.unlink()
    (tmp_path / "empty.pcap").write_bytes(good.read_bytes()[:24])
    assert vermilion("ttl-option", tmp_path / "empty.pcap", out)[0] == 0 and len(out.read_bytes()) == 24


def test_types_come_from_the_configuration(tmp_path):
    pcap(tmp_path / "in.pcap", [(0, ether(ip4()), 42), (1, ether(ip6()), 62)])
    (tmp_path / "c.toml").write_text('[port]\nrate = "1Gbit"\n[ttl_option]\nip4 = 222\nip6 = 0x3e\n')
    words = (tmp_path / "in.pcap", tmp_path / "out.pcap", "--config", tmp_path / "c.toml", "--initial", 64)
    assert vermilion("ttl-option", *words)[0] == 0
    with RawPcapReader(str(tmp_path / "out.pcap")) as reader:
        four, six = (frame for frame, _ in reader)
    assert four[34:38] == bytes([222, 4, 64, 0]) and six[56:60] == bytes([0x3E, 2, 64, 0])
