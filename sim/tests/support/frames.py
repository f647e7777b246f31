"""Frames for whole runs: IPv4 and IPv6 with chosen lengths, and a mix of everything that the lane meets."""

import random
import struct

from support.headers import MACS

IP4 = bytes.fromhex("45000028000000004006000001020304050607080050005100000000000000005002000000000000")


def ip4(size, total=None, ihl=5, tag=b""):
    """A frame with `size` bytes behind its Ethernet header."""
    head = struct.pack(">BBH", 0x40 | ihl, 0, size if total is None else total) + IP4[4:20]
    return MACS + tag + b"\x08\0" + (head + bytes(max(0, size - 20)))[:size]


def ip6(size, payload=None):
    head = struct.pack(">IHBB", 6 << 28, max(0, size - 40) if payload is None else payload, 17, 64) + bytes(32)
    return MACS + b"\x86\xdd" + (head + bytes(max(0, size - 40)))[:size]


def mixed(count):
    """All default classes, VLAN and QinQ tags, wrong lengths, headers cut short, long frames; bursts and pauses."""
    rng, time, frames = random.Random(7), 0, []
    for _ in range(count):
        data = rng.randbytes(12) + rng.choice([b"", b"", b"\x81\0\0\1", b"\x88\xa8\0\1\x81\0\0\2"])
        dscp = rng.choice([0, 10, 12, 14, 18, 20, 22, 26, 28, 30, 34, 36, 38, 46])
        header = bytearray(IP4[:20])
        header[0] = rng.choice([0x45] * 8 + [0x46, 0x4F, 0x40, 0x55])
        header[1] = dscp << 2 | rng.randrange(4)
        header[2:4], header[9], header[10:12] = (
            rng.randbytes(2),
            rng.choice([6, 17]),
            rng.choice([b"\xff\xff", rng.randbytes(2)]),
        )
        six = struct.pack(">IHBB", 6 << 28 | header[1] << 20, 0, rng.choice([0, 6, 17, 43, 44, 51, 60]), 64) + bytes(32)
        data += rng.choice([b"\x08\0" + header, b"\x86\xdd" + six, b"\x08\x06"]) + rng.randbytes(
            rng.choice([0, 60, 500, 1400])
        )
        data = data[: rng.choice([14, 30, 40])] if rng.random() < 0.05 else data
        data += bytes(9600) if rng.random() < 0.005 else b""
        time += rng.choice([0, 0, 1000, 10**6, rng.randrange(4 * 10**6)])
        frames.append((time, data, len(data)))
    return frames
