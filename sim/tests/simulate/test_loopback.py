"""Captures of BSD loopback: the address family becomes the Ethernet type, in either byte order."""

import struct

import pytest
from scapy.utils import RawPcapNgReader

from support.frames import ip4, ip6
from support.microsecond_captures import pcap
from support.pcapng_blocks import block, section
from support.runs import run, vermilion

NULL, LOOP = 0, 108
ADDRESSES = bytes.fromhex("020000000002020000000001")
IP4, IP6 = ip4(60)[14:], ip6(70)[14:]
# Family, packet and the type that it must get.
PACKETS = [(2, IP4, 0x0800), (24, IP6, 0x86DD), (28, IP6, 0x86DD), (30, IP6, 0x86DD)]
PACKETS += [(10, IP6, 0x88B5), (7, IP4, 0x88B5), (0, b"", 0x88B5), (2 << 8, IP4, 0x88B5)]


def carried(tmp_path, capture: bytes, engine: str = "model"):
    """The warnings of a run, and the frames that left."""
    source, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    source.write_bytes(capture)
    stats = run(tmp_path, source, "--engine", engine, "--out", out)
    with RawPcapNgReader(str(out)) as frames:
        return stats, [data for data, _ in frames]


def pcapng(*frames, link, order):
    """A pcapng file in the byte order of its host, of (microseconds, bytes, length on the wire)."""

    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + size + body + size

    out = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack(order + "HHI", link, 0, 262144))
    for time, data, length in frames:
        out += block(6, struct.pack(order + "IIIII", 0, 0, time, len(data), length) + data)
    return out


# The RTL carries the last one.
FORMS = [("pcap", NULL, "<"), ("pcap", NULL, ">"), ("pcap", LOOP, ">")]
FORMS += [("pcapng", NULL, "<"), ("pcapng", NULL, ">"), ("pcapng", LOOP, ">")]


@pytest.mark.parametrize("form, link, order", [*FORMS[:-1], pytest.param(*FORMS[-1], marks=pytest.mark.slow)])
def test_family(tmp_path, form, link, order):
    """Each family in the byte order of the capturing host (NULL) or of the network (LOOP); others are carried, not as IP."""
    frames = [struct.pack(order + "I", family) + data for family, data, _ in PACKETS]
    timed = [(i, data, len(data)) for i, data in enumerate(frames)]
    capture = pcap(*timed, link=link) if form == "pcap" else pcapng(*timed, link=link, order=order)
    stats, out = carried(tmp_path, capture, "rtl" if (form, link) == FORMS[-1][:2] else "model")
    assert stats["warnings"] == {"reframed": len(PACKETS)}
    assert out == [ADDRESSES + struct.pack(">H", kind) + data for _, data, kind in PACKETS]


def test_network_order(tmp_path):
    """LOOP is in network order alone: what NULL would swap has no family there."""
    _, out = carried(tmp_path, pcap((0, struct.pack("<I", 2) + IP4, 64), link=LOOP))
    assert out == [ADDRESSES + b"\x88\xb5" + IP4]


def test_cut_family(tmp_path):
    """A packet of fewer bytes than the family has is carried, with the length that it had on the wire."""
    stats, out = carried(tmp_path, pcap((0, b"\2\0\0", 64), (1, struct.pack("<I", 2) + IP4[:30], 64), link=NULL))
    assert out == [ADDRESSES + b"\x88\xb5\2\0\0", ADDRESSES + b"\x08\0" + IP4[:30]]
    assert stats["warnings"] == {"reframed": 2, "snapped": 2}


def test_beside_ethernet(tmp_path):
    """A pcapng file with an Ethernet and a loopback interface is refused where the second begins, as with any two link types."""
    interface = lambda link: block(1, struct.pack("<HHI", link, 0, 262144))
    source = tmp_path / "in.pcapng"
    source.write_bytes(section() + interface(1) + interface(NULL))
    status, _, err = vermilion("run", source, "--engine", "model")
    assert status == 2 and "type 0" in err and "split it by interface" in err
