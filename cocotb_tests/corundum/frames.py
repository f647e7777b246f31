"""Frames of the bench: each has a number in its destination address, so that it is known by its first beat wherever it
comes out.
"""

import struct
from dataclasses import dataclass, field

PTP, IP4, IP6, ARP, VLAN, SERVICE_VLAN = 0x88F7, 0x0800, 0x86DD, 0x0806, 0x8100, 0x88A8
UDP, TCP, OTHER = 17, 6, 253
EVENT_PORT = 319
REPORT = 0x88B5  # EtherType of a lane's reports
NUMBER_AT = slice(1, 6)
ASKS = 0x8000  # the highest bit of a tag: the host waits for this frame's completion


@dataclass(slots=True)
class Frame:
    """A frame, where it came from, and what became of it."""

    number: int
    data: bytes
    source: str = ""  # "host" or "wire"
    port: int = 0
    bad: bool = False
    event: bool = False  # a PTP event frame
    tag: int = 0
    stamp: int = 0  # RX timestamp
    stream: tuple = ()  # frames of one stream must keep their order
    began: int | None = None  # clock of the first beat into the block
    left: int | None = None  # clock of the last beat out of the block
    left_tag: int = 0
    marked: bool = False  # left with CE and came without
    mac_stamp: int | None = None  # what the MAC completed it with
    completions: list = field(default_factory=list)  # (clock, timestamp) that the engine got


def number_of(data: bytes) -> int:
    return int.from_bytes(data[NUMBER_AT], "big")


def checksum(words: bytes) -> int:
    total = sum(struct.unpack(f">{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip4(payload: bytes, protocol: int, tos: int, options: bytes = b"", fragment: int = 0, ttl: int = 64) -> bytes:
    words = 5 + len(options) // 4
    length = 4 * words + len(payload)
    head = struct.pack(">BBHHHBBH8s", 0x40 | words, tos, length, 1, fragment, ttl, protocol, 0, b"\n" * 8)
    head += options
    return head[:10] + checksum(head).to_bytes(2, "big") + head[12:] + payload


def ip6(payload: bytes, protocol: int, tos: int) -> bytes:
    return struct.pack(">IHBB", 6 << 28 | tos << 20, len(payload), protocol, 64) + bytes(32) + payload


def udp(port: int, payload: bytes) -> bytes:
    return struct.pack(">HHHH", 4000, port, 8 + len(payload), 0) + payload


def ethernet(number: int, tags: list[int], kind: int, body: bytes) -> bytes:
    head = b"\x02" + number.to_bytes(5, "big") + b"\x02\x00\x00\x00\x00\x01"
    return head + b"".join(struct.pack(">HH", tag, 5) for tag in tags) + struct.pack(">H", kind) + body


def plain(number: int, length: int, random, dscp: int = 0, ecn: int = 0) -> bytes:
    """An IPv4 frame of `length` bytes, 42 or more, from anywhere between 0 and 63 hops away."""
    return ethernet(
        number, [], IP4, ip4(random.randbytes(length - 34), OTHER, dscp << 2 | ecn, ttl=random.randrange(1, 65))
    )


def event(number: int, length: int, random, form: int | None = None) -> bytes:
    """A PTP event frame in one of its forms: on Ethernet, or on UDP with IPv4 or IPv6, behind up to two VLAN tags."""
    form = random.randrange(12) if form is None else form
    tags = [[], [VLAN], [SERVICE_VLAN, VLAN]][form % 3]
    room = max(length - 14 - 4 * len(tags), 60)
    kind = form // 3
    if kind == 0:
        return ethernet(number, tags, PTP, random.randbytes(room))
    if kind == 1:
        return ethernet(number, tags, IP4, ip4(udp(EVENT_PORT, random.randbytes(room - 28)), UDP, 0))
    if kind == 2:
        return ethernet(number, tags, IP6, ip6(udp(EVENT_PORT, random.randbytes(max(room - 48, 12))), UDP, 0))
    return ethernet(number, tags, IP4, ip4(udp(EVENT_PORT, random.randbytes(room - 32)), UDP, 0, b"\x01" * 4))


def nearly_an_event(number: int, length: int, random) -> bytes:
    """A frame that is almost one: PTP's general port, TCP to its event port, the event port as source, a later
    fragment, three tags.
    """
    form = random.randrange(5)
    rest = random.randbytes(max(length - 42, 18))
    lookalike = struct.pack(">HHHH", 4000, EVENT_PORT, 8 + len(rest), 0) + rest
    if form == 0:
        return ethernet(number, [], IP4, ip4(udp(EVENT_PORT + 1, rest), UDP, 0))
    if form == 1:
        return ethernet(number, [], IP4, ip4(lookalike, TCP, 0))
    if form == 2:
        return ethernet(number, [], IP4, ip4(struct.pack(">HHHH", EVENT_PORT, 4000, 8 + len(rest), 0) + rest, UDP, 0))
    if form == 3:
        return ethernet(number, [], IP4, ip4(lookalike, UDP, 0, fragment=0x2010))
    return ethernet(number, [VLAN] * 3, PTP, rest)


def without_marks(data: bytes) -> bytes:
    """A frame without what a lane may write into it: DSCP and ECN of IPv4, and the header checksum."""
    at = 12
    while data[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    if data[at : at + 2] != b"\x08\x00":
        return data
    return data[: at + 3] + b"\0" + data[at + 4 : at + 12] + b"\0\0" + data[at + 14 :]
