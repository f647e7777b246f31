"""Parser and rewrite of the model, on frames built by hand and on noise."""

import random
import struct
from ctypes import byref, create_string_buffer

import pytest

from support.headers import CTAG, IP4, IP6, MACS, STAG, TCP, checksum, extension, ip4, ip6
from support.model_bindings import HEADER_FIELDS, TTL_OPTION, Headers, library

NO_IP = {**dict.fromkeys(HEADER_FIELDS, 0), "l3_offset": 14}


def parse(frame):
    h = Headers()
    library().vm_parse(frame, len(frame), TTL_OPTION, byref(h))
    return {name: getattr(h, name) for name in HEADER_FIELDS}


WANT = {"dscp": 46, "ecn": 1, "has_ports": 1, "src_port": 1234, "dst_port": 443, "is_tcp": 1, "tcp_flags": 0x18}


def expect(frame, **want):
    got = parse(frame)
    assert {name: got[name] for name in want} == want


@pytest.mark.parametrize(
    "tags, offset",
    [(b"", 14), (CTAG + b"\0\1", 18), (STAG + b"\0\2" + CTAG + b"\0\1", 22), (CTAG + b"\0\2" + CTAG + b"\0\1", 22)],
)
def test_tags_and_both_ip_versions(tags, offset):
    expect(MACS + tags + IP4 + ip4(), **WANT, tcp_seq=0xDEADBEEF, l3_offset=offset, is_ip4=1, is_ip6=0, ttl=61, proto=6)
    expect(MACS + tags + IP6 + ip6(), **WANT, tcp_seq=0xDEADBEEF, l3_offset=offset, is_ip4=0, is_ip6=1, ttl=59, proto=6)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        MACS,
        MACS + b"\x08\x06" + bytes(50),
        MACS + STAG + b"\0\1" + IP4 + ip4(),
        MACS + (CTAG + b"\0\1") * 3 + IP4 + ip4(),
        MACS + IP4 + ip4(version=6),
        MACS + IP6 + ip6(version=4),
        MACS + IP4 + ip4(words=4),
        MACS + IP4 + ip4(payload=b"", words=6),
        MACS + IP4 + ip4()[:19],
        MACS + IP6 + ip6()[:39],
        MACS + CTAG + b"\0",
    ],
)
def test_what_is_not_ip_reads_zero(frame):
    assert parse(frame) == NO_IP


PTP = b"\x88\xf7"


@pytest.mark.parametrize(
    "tags", [b"", CTAG + b"\0\1", STAG + b"\0\2" + CTAG + b"\0\1", CTAG + b"\0\2" + CTAG + b"\0\1"]
)
def test_ptp_over_ethernet_is_known_by_its_type(tags):
    assert parse(MACS + tags + PTP + bytes(44)) == {**NO_IP, "is_ptp_type": 1}
    assert parse(MACS + tags + PTP) == {**NO_IP, "is_ptp_type": 1}
    assert parse(MACS + tags + PTP[:1]) == NO_IP
    assert (
        parse(MACS + STAG + b"\0\1" + tags + PTP) == NO_IP or tags == CTAG + b"\0\1"
    )  # a third tag, or a lone one of 802.1ad
    expect(MACS + tags + IP4 + ip4(), is_ptp_type=0)


def test_ip4_options_fragments_and_short_transport():
    expect(MACS + IP4 + ip4(options=bytes(40)), **WANT)
    expect(MACS + IP4 + ip4(fragment=0x2000), **WANT)
    expect(MACS + IP4 + ip4(fragment=1), is_ip4=1, proto=6, has_ports=0, is_tcp=0, src_port=0)
    expect(MACS + IP4 + ip4(payload=TCP[:13]), has_ports=1, dst_port=443, is_tcp=0, tcp_seq=0)
    expect(MACS + IP4 + ip4(payload=TCP[:3]), has_ports=0, src_port=0)
    expect(MACS + IP4 + ip4(proto=17), has_ports=1, is_tcp=0)
    expect(MACS + IP4 + ip4(proto=50), has_ports=0, proto=50)


def test_ip6_extension_headers_are_walked():
    chain = b"".join([extension(0, 43), extension(43, 60, 4), extension(60, 51), extension(51, 6, 4)])
    expect(MACS + IP6 + ip6(chain + TCP, 0), **WANT, proto=6)
    expect(MACS + IP6 + ip6(chain[:-16] + extension(51, 0, 4) + extension(0, 6) + TCP, 0), proto=0, has_ports=0)
    expect(MACS + IP6 + ip6(bytes([6, 0, 0, 1]) + bytes(4) + TCP, 44), **WANT)
    expect(MACS + IP6 + ip6(bytes([6, 0, 0, 8]) + bytes(4) + TCP, 44), proto=6, has_ports=0)
    expect(MACS + IP6 + ip6(bytes([6, 255]) + bytes(60), 0), proto=0, has_ports=0, is_ip6=1)
    expect(MACS + IP6 + ip6(b"\x06", 0), proto=0, has_ports=0)
    for words in range(2, 14):  # AH is a multiple of 8 bytes, or it ends the walk
        whole = words % 2 == 0
        expect(MACS + IP6 + ip6(extension(51, 6, words) + TCP, 51), proto=6 if whole else 51, has_ports=int(whole))


@pytest.mark.parametrize(
    "tags, vlan",
    [
        (b"", 0),
        (CTAG + b"\xe0\0", 0),
        (CTAG + b"\xff\xfe", 0xFFE),
        (STAG + b"\x1a\xbc" + CTAG + b"\xf1\x23", 0xABC123),
        (CTAG + b"\0\0" + CTAG + b"\0\7", 7),
        (CTAG + b"\0\7" + CTAG + b"\0\0", 7 << 12),
    ],
)
def test_vlan_ids_of_both_tags(tags, vlan):
    expect(MACS + tags + IP4 + ip4(), vlan=vlan)
    expect(MACS + tags + IP6 + ip6(), vlan=vlan)


def test_length_of_the_ip_packet_is_what_its_header_says():
    for tags in (b"", CTAG + b"\0\1"):
        for pad in (0, 6, 90):
            expect(MACS + tags + IP4 + ip4() + bytes(pad), ip_bytes=20 + len(TCP))
            expect(MACS + tags + IP6 + ip6() + bytes(pad), ip_bytes=40 + len(TCP))
    claim4 = lambda n: MACS + IP4 + ip4()[:2] + struct.pack(">H", n) + ip4()[4:]
    claim6 = lambda n: MACS + IP6 + ip6()[:4] + struct.pack(">H", n) + ip6()[6:]
    for n in (0, 1, 40, 1500, 65535):
        expect(claim4(n), ip_bytes=n)
    for n, want in ((0, 0), (1, 41), (1500, 1540), (65495, 65535), (65535, 65535)):
        expect(claim6(n), ip_bytes=want)


@pytest.mark.parametrize("tags", [b"", STAG + b"\0\1" + CTAG + b"\0\1"])
def test_addresses(tags):
    got = Headers()
    frame = MACS + tags + IP4 + ip4()
    library().vm_parse(frame, len(frame), TTL_OPTION, byref(got))
    assert (list(got.src_addr), list(got.dst_addr)) == ([0x0A000001, 0, 0, 0], [0x0A000002, 0, 0, 0])
    plain = ip6()
    frame = MACS + tags + IP6 + plain[:8] + bytes(range(1, 33)) + plain[40:]
    library().vm_parse(frame, len(frame), TTL_OPTION, byref(got))
    assert list(got.src_addr) == [0x0D0E0F10, 0x090A0B0C, 0x05060708, 0x01020304]
    assert list(got.dst_addr) == [0x1D1E1F20, 0x191A1B1C, 0x15161718, 0x11121314]


def claim(packet, size):
    """The packet with another IP length: of the whole packet, in both versions."""
    if packet[0] >> 4 == 4:
        return packet[:2] + struct.pack(">H", size) + packet[4:]
    return packet[:4] + struct.pack(">H", size - 40) + packet[6:]


@pytest.mark.parametrize("build, etype", [(ip4, IP4), (ip6, IP6)])
def test_tcp_payload_is_what_the_ip_length_holds_behind_the_tcp_header(build, etype):
    def payload(packet, tail=b""):
        return parse(MACS + etype + packet + tail)["tcp_payload"]

    segment = lambda words, size: TCP[:12] + bytes([words << 4]) + TCP[13:] + bytes(size)
    bare = build(payload=TCP)
    size = len(bare)
    assert payload(build(payload=TCP + b"x")) == 1 and payload(bare) == 0
    assert payload(bare, tail=bytes(10)) == 0, "padding is no payload"
    assert payload(claim(build(payload=TCP + bytes(10)), size)) == 0, "behind the IP length"
    assert payload(claim(bare, size + 1)) == 0, "a length that the frame does not hold"
    assert payload(claim(bare, size + 1), tail=bytes(128)) == 1, "a frame whose end is not seen"
    assert payload(claim(bare, size), tail=bytes(128)) == 0
    assert payload(claim(bare, 65535), tail=bytes(128)) == 1
    assert payload(build(payload=segment(7, 8))) == 0 and payload(build(payload=segment(7, 9))) == 1
    assert payload(build(payload=segment(15, 40))) == 0 and payload(build(payload=segment(15, 41))) == 1
    for words in range(5):
        assert payload(build(payload=segment(words, 9))) == 0, "no legal data offset"
    if build is ip4:
        assert payload(claim(build(payload=TCP + bytes(200)), 0)) == 0
        assert (
            payload(ip4(payload=TCP + b"x", fragment=0x2000)) == 1 and payload(ip4(payload=TCP + b"x", fragment=1)) == 0
        )
        assert (
            payload(ip4(payload=TCP, options=bytes(8))) == 0 and payload(ip4(payload=TCP + b"x", options=bytes(8))) == 1
        )
    else:
        head = extension(0, 6, 4)
        assert payload(ip6(head + TCP, 0)) == 0 and payload(ip6(head + TCP + b"x", 0)) == 1


def test_nothing_behind_128_bytes_is_looked_at():
    room = 128 - 14 - 40
    for words, ports, tcp in [(14, 1, 1), (16, 1, 0), (18, 0, 0)]:
        frame = MACS + IP6 + ip6(extension(0, 6, words) + TCP, 0)
        assert 4 * words <= room
        expect(frame, proto=6, has_ports=ports, is_tcp=tcp)


def test_noise_and_cut_frames_never_crash_and_never_read_past_the_end():
    """Every answer depends on the frame's own bytes alone: what lies behind it in memory changes nothing."""
    rng = random.Random(6)
    good = [MACS + IP4 + ip4(options=bytes(8)), MACS + IP6 + ip6(extension(0, 44) + bytes([6] + [0] * 7) + TCP, 0)]
    good += [MACS + STAG + b"\0\1" + CTAG + b"\0\2" + f[12:] for f in good]
    for _ in range(20000):
        frame = bytearray(rng.choice(good) if rng.random() < 0.8 else rng.randbytes(rng.randrange(200)))
        for _ in range(rng.randrange(4)):
            if frame:
                frame[rng.randrange(len(frame))] = rng.randrange(256)
        frame = bytes(frame[: rng.randrange(len(frame) + 1)])
        a, b = Headers(), Headers()
        library().vm_parse(frame + bytes(200), len(frame), TTL_OPTION, byref(a))
        library().vm_parse(frame + b"\x06\x00\x45\x81\x00" * 40, len(frame), TTL_OPTION, byref(b))
        assert bytes(a) == bytes(b)
        assert a.has_ports or not (a.is_tcp or a.src_port or a.dst_port)
        assert a.is_ip4 + a.is_ip6 <= 1 and a.dscp < 64 and a.ecn < 4


def rewrite(frame, ce=0, set_dscp=0, dscp=0):
    h, room = Headers(), create_string_buffer(frame, len(frame))
    library().vm_parse(frame, len(frame), TTL_OPTION, byref(h))
    changed = library().vm_rewrite(room, byref(h), ce, set_dscp, dscp, 0)
    assert bool(changed) == (room.raw != frame)
    return room.raw


def test_rewrite_updates_the_checksum_as_a_full_computation_would():
    rng = random.Random(7)
    for _ in range(3000):
        packet = bytearray(ip4(tos=rng.randrange(256), options=rng.randbytes(4 * rng.randrange(11))))
        wrong = rng.choice([0, 0, rng.randrange(1, 0xFFFF)])
        header = 4 * (packet[0] & 15)
        stored = struct.unpack(">H", packet[10:12])[0] ^ wrong
        packet[10:12] = struct.pack(">H", stored)
        before = checksum(bytes(packet[:header]))
        dscp, ce = rng.randrange(64), rng.randrange(2)
        out = rewrite(MACS + IP4 + bytes(packet), ce, 1, dscp)[14:]
        ecn = 3 if ce and packet[1] & 3 else packet[1] & 3
        assert out[1] == dscp << 2 | ecn
        assert out[:1] + out[2:10] + out[12:] == bytes(packet[:1] + packet[2:10] + packet[12:])
        assert checksum(out[:header]) % 0xFFFF == before % 0xFFFF  # right stays right, wrong stays wrong by as much
        assert (before == 0) == (wrong == 0)


def test_ce_is_written_over_ect_alone():
    for tos, want in [(0xB8, 0xB8), (0xB9, 0xBB), (0xBA, 0xBB), (0xBB, 0xBB)]:
        assert rewrite(MACS + IP4 + ip4(tos=tos), ce=1)[15] == want
        out = rewrite(MACS + IP6 + ip6(traffic=tos), ce=1)
        assert (out[14] & 15) << 4 | out[15] >> 4 == want


def test_ip6_rewrite_keeps_version_and_flow_label():
    out = rewrite(MACS + IP6 + ip6(), set_dscp=1, dscp=10)
    assert out[14:18] == struct.pack(">I", 6 << 28 | (10 << 2 | 1) << 20 | 0xABCDE)
    assert out[18:] == (MACS + IP6 + ip6())[18:]


def test_unchanged_and_other_frames_keep_every_byte():
    odd = bytearray(ip4())
    odd[10:12] = b"\xff\xff"
    for frame in (MACS + IP4 + bytes(odd), MACS + b"\x08\x06" + bytes(range(46)), MACS):
        assert rewrite(frame, ce=0, set_dscp=1, dscp=46) == frame


def test_checksum_examples_of_rfc_1624():
    """Section 4: HC 0xDD2F, m 0x5555 to 0x3285 gives 0x0000."""
    assert library().vm_checksum(0xDD2F, 0x5555, 0x3285) == 0x0000
