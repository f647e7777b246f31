"""Capture files for tests, written with nanoseconds, and the times of those that a run wrote."""

import struct

from scapy.utils import RawPcapNgReader


def pcap(path, frames, link=1, cut=0):
    """`frames`: (ns, bytes, bytes on the wire)."""
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, link)
    for ns, data, wire in frames:
        out += struct.pack("<IIII", ns // 10**9, ns % 10**9, len(data), wire) + data
    path.write_bytes(out[: len(out) - cut])
    return path


def stamps(path):
    with RawPcapNgReader(str(path)) as packets:
        return [((about.tshigh << 32) + about.tslow) * 10**9 // int(about.tsresol) for _, about in packets]
