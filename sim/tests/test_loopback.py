"""Captures of BSD loopback: the address family becomes the Ethernet type, in either byte order."""

import struct

import pytest
from scapy.utils import RawPcapNgReader
from test_interfaces import block, section
from test_run import pcap, run, vermilion
from test_simulator import ip4, ip6

NULL, LOOP = 0, 108
ADDRESSES = bytes.fromhex("020000000002020000000001")
IP4, IP6 = ip4(60)[14:], ip6(70)[14:]
# Family, packet and the type that it must get.
PACKETS = [(2, IP4, 0x0800), (24, IP6, 0x86DD), (28, IP6, 0x86DD), (30, IP6, 0x86DD)]
PACKETS += [(10, IP6, 0x88B5), (7, IP4, 0x88B5), (0, b"", 0x88B5), (2 << 8, IP4, 0x88B5)]


def carried(tmp_path, capture: bytes):
    """The warnings of a run, and the frames that left."""
    source, out = tmp_path / "in.pcap", tmp_path / "out.pcapng"
    source.write_bytes(capture)
    stats = run(tmp_path, source, "--engine", "model", "--out", out)
    with RawPcapNgReader(str(out)) as frames:
        return stats, [data for data, _ in frames]


@pytest.mark.parametrize("link, order", [(NULL, "<"), (NULL, ">"), (LOOP, ">")])
def test_family(tmp_path, link, order):
    """Each family in the byte order of the capturing host (NULL) or of the network (LOOP); others are carried, not as IP."""
    frames = [(i, struct.pack(order + "I", family) + data) for i, (family, data, _) in enumerate(PACKETS)]
    stats, out = carried(tmp_path, pcap(*[(i, data, len(data)) for i, data in frames], link=link))
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
