"""Headers built by hand: Ethernet types, tags, IPv4, IPv6 with extension headers, TCP, and the checksum of RFC 1071."""

import struct

IP4, IP6, CTAG, STAG = b"\x08\x00", b"\x86\xdd", b"\x81\x00", b"\x88\xa8"
MACS = bytes(12)
TCP = struct.pack(">HHIIBBHHH", 1234, 443, 0xDEADBEEF, 7, 0x50, 0x18, 100, 0, 0)


def ones_complement(data):
    """RFC 1071: the 16-bit sum with end-around carry; 0xFFFF over a header with a right checksum."""
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksum(header):
    return ~ones_complement(header) & 0xFFFF


def ip4(payload=TCP, proto=6, tos=0xB9, options=b"", fragment=0, version=4, words=None):
    words = 5 + len(options) // 4 if words is None else words
    size = 20 + len(options) + len(payload)
    head = struct.pack(
        ">BBHHHBBHII", version << 4 | words, tos, size, 1, fragment, 61, proto, 0, 0x0A000001, 0x0A000002
    )
    head += options
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def ip6(payload=TCP, following=6, traffic=0xB9, version=6):
    return (
        struct.pack(">IHBB", version << 28 | traffic << 20 | 0xABCDE, len(payload), following, 59) + bytes(32) + payload
    )


def extension(kind, following, words=2):
    """An extension header of `words` 32-bit words."""
    length = words - 2 if kind == 51 else words // 2 - 1
    return bytes([following, length]) + bytes(4 * words - 2)
