"""Frames with TTL options, good and bad, and what docs/ttl-option.md says of them, written from that page alone.

`frames(rng)` gives endless (frame, Answer): no tag to two, IPv4 and IPv6, the option valid, behind other options, repeated, cut, with
a wrong length, out of reach, above or below the packet's TTL.
"""

import struct
from dataclasses import dataclass

from support.headers import checksum

IP4, IP6 = 158, 0x1E
TAGS = [b"", b"\x81\0\0\1", b"\x81\0\0\1\x81\0\0\2", b"\x88\xa8\0\1\x81\0\0\2"]
REACH = 12


@dataclass
class Answer:
    version: int
    at: int  # of the IP header
    option: int | None = None  # offset of the option in the frame
    initial: int = 0
    final: int = 0
    ttl: int = 0


def one(rng, v6, right):
    """An option of any kind as bytes; `right` is the wanted type."""
    kind = rng.choice([right, right, rng.randrange(256), 0 if v6 else 1])
    if kind == (0 if v6 else 1):
        return bytes([kind])
    size = 2 if rng.random() < 0.7 else rng.choice([0, 1, 3, rng.randrange(256)])
    body = rng.randbytes(min(size, 30))
    return bytes([kind, size if v6 else (size + 2) % 256]) + body


def option_list(rng, v6, size):
    right = IP6 if v6 else IP4
    if rng.random() < 0.5:  # padding and others of two bytes or four, then the right one
        fill = [b"\0"] * rng.randrange(4) if v6 else [b"\1"] * rng.randrange(4)
        fill += rng.choice([[], [b"\1\0"] if v6 else [b"\x44\2"], [b"\5\2\0\0" if v6 else b"\x94\4\0\0"]])
        rng.shuffle(fill)
        out = b"".join(fill) + bytes([right, 2 if v6 else 4, rng.choice([32, 64, 255, rng.randrange(256)])])
        out += bytes([rng.choice([0, 0, rng.randrange(256)])])
    else:
        out = b""
        while len(out) < size and rng.random() < 0.9:
            out += one(rng, v6, right)
    if rng.random() < 0.3:
        out += one(rng, v6, right)
    return (out + rng.choice([bytes(40), b"\1" * 40, rng.randbytes(40)]))[:size]


def search(options, v6):
    """Where the option begins in the list, by the rules of the page."""
    reach, at = min(len(options), REACH), 0
    while at < reach:
        kind = options[at]
        if kind == (0 if v6 else 1):
            at += 1
            continue
        if kind == 0 or at + 1 >= reach:
            return None
        size = options[at + 1] + (2 if v6 else 0)
        if size < 2:
            return None
        if kind == (IP6 if v6 else IP4):
            return at if size == 4 and at + 4 <= reach else None
        at += size
    return None


def packet(rng, v6, options, ttl, payload):
    traffic = rng.randrange(256)
    if v6:
        following = 0 if options is not None else 17
        size = len(payload) + (0 if options is None else len(options) + 2)
        fixed = struct.pack(">IHBB", 6 << 28 | traffic << 20 | 7, size, following, ttl) + rng.randbytes(32)
        if options is None:
            return fixed + payload
        return fixed + bytes([17, (len(options) + 2) // 8 - 1]) + options + payload
    options = options or b""
    header = bytearray(struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, traffic, 20 + len(options) + len(payload),
                                   rng.randrange(65536), 0, ttl, 17, 0) + rng.randbytes(8) + options)  # fmt: skip
    header[10:12] = struct.pack(">H", checksum(bytes(header)))
    return bytes(header) + payload


def frames(rng):
    while True:
        v6, tags = rng.random() < 0.5, rng.choice(TAGS)
        at, ttl = 14 + len(tags), rng.choice([rng.randrange(256), 64, 32, 1])
        size = rng.choice([6, 6, 14, 22]) if v6 else 4 * rng.choice([0, 1, 2, 3, 4, 10])
        options = None if v6 and rng.random() < 0.1 else option_list(rng, v6, size)
        payload = rng.randbytes(rng.randrange(8, 90))
        head = rng.randbytes(12) + tags + (b"\x86\xdd" if v6 else b"\x08\0")
        frame = head + packet(rng, v6, options, ttl, payload)
        answer = Answer(6 if v6 else 4, at, ttl=ttl)
        start = at + (42 if v6 else 20)
        if rng.random() < 0.15:
            frame = frame[: rng.randrange(14, len(frame) + 1)]
        whole = min(len(frame), 128) >= start + len(options or b"")
        if len(frame) < at + (40 if v6 else 20) or (not v6 and not whole):
            answer = Answer(0, 14)
        elif options is not None and whole:
            place = search(options, v6)
            if place is not None:
                answer.option = start + place
                answer.initial, answer.final = frame[answer.option + 2 : answer.option + 4]
        yield frame, answer
