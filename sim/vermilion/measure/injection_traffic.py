"""Captures for `vermilion inject`, made from fixed seeds. Each gives a part of the lane every kind of work."""

import random
import struct
from pathlib import Path

AF = {"AF1": (10, 12, 14), "AF2": (18, 20, 22), "AF3": (26, 28, 30), "AF4": (34, 36, 38)}


def write(path: Path, frames: list[tuple[int, bytes]]) -> Path:
    """A pcap of (ns, frame) with stamps of nanoseconds."""
    out = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1)]
    for ns, data in frames:
        out += [struct.pack("<IIII", ns // 10**9, ns % 10**9, len(data), len(data)), data]
    path.write_bytes(b"".join(out))
    return path


def ip4(rng: random.Random, dscp: int, hops: int, payload: int, ecn: int | None = None) -> bytes:
    """An IPv4 and UDP packet that has travelled `hops` hops from an initial TTL of 64, with a correct checksum."""
    ecn = rng.choice((0, 0, 1, 2, 3)) if ecn is None else ecn
    head = bytearray(bytes([0x45, dscp << 2 | ecn]) + (28 + payload).to_bytes(2, "big"))
    head += bytes([0, 0, 0, 0, 64 - hops, 17, 0, 0]) + rng.randbytes(8)
    words = sum(int.from_bytes(head[i : i + 2], "big") for i in range(0, 20, 2))
    words = (words & 0xFFFF) + (words >> 16)
    head[10:12] = (0xFFFF - ((words & 0xFFFF) + (words >> 16))).to_bytes(2, "big")
    return bytes(head) + rng.randbytes(4) + (8 + payload).to_bytes(2, "big") + bytes(2) + rng.randbytes(payload)


def ethernet(packet: bytes, addresses: bytes = bytes(12)) -> bytes:
    return addresses + b"\x08\0" + packet


def push_outs(path: Path, count: int = 3000) -> Path:
    """Bursts to four classes in all colours, with small and large distances. Then bursts of equal frames, of which the oldest must be pushed out."""
    rng, now, frames = random.Random(1), 0, []
    for number in range(count):
        if number % 97 == 0:
            codes = [rng.choice(AF[rng.choice(list(AF))]) for _ in range(8)]
            now += rng.choice((0, 100, 200_000))
        payload = rng.choice((0, 18, rng.randrange(1400), 1400))
        frames.append(
            (now, ethernet(ip4(rng, rng.choice(codes), rng.choice((1, 2, 5, 9, rng.randrange(32))), payload)))
        )
        now += rng.randrange(1500)
    for _ in range(8):
        now += 200_000
        for number in range(32):
            frames.append((now, ethernet(ip4(rng, AF["AF4"][0], 2 if number < 24 else 20, 1000, 0))))
            now += 600
    return write(path, frames)


def two_inputs(path: Path, count: int = 4000) -> Path:
    """For two inputs that cannot be stalled: runts of one beat, more than one a clock, whole frames, and some that are longer than the lane stores."""
    rng, frames = random.Random(3), []
    for number in range(count):
        addresses = rng.randbytes(12)
        size = 9900 if number % 250 == 249 else rng.randrange(900)
        whole = ethernet(ip4(rng, rng.choice((0, 10, 12, 14, 46)), rng.randrange(40), size), addresses)
        frames.append((number * 200, addresses[:8] if number % 400 < 350 or number % 50 < 35 else whole))
    return write(path, frames)


def short(path: Path, count: int = 60) -> Path:
    """A few frames of a class."""
    rng = random.Random(5)
    return write(path, [(i * 2000, ethernet(ip4(rng, 10, 3, rng.randrange(400)))) for i in range(count)])
