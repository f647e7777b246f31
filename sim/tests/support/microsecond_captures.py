"""Capture files for tests, written with microseconds, and one frame for them."""

import struct


def pcap(*frames, link=1, magic=0xA1B2C3D4):
    """A microsecond pcap of (seconds, bytes, length on the wire)."""
    head = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    body = b""
    for seconds, data, length in frames:
        body += struct.pack("<IIII", int(seconds), int(seconds % 1 * 1e6), len(data), length) + data
    return head + body


FRAME = (
    bytes(12) + b"\x08\x00" + bytes([0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]) + bytes(26)
)
