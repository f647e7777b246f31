"""Flows with the queues that their hash selects."""

import random
import struct
from dataclasses import dataclass

from support.headers import CTAG, IP4, IP6, MACS
from vermilion.oracle.flows import place

TCP, UDP, GRE = 6, 17, 47


@dataclass(frozen=True)
class Flow:
    """A flow of TCP, UDP or GRE, over IPv4 or IPv6, in a VLAN (0: without a tag)."""

    src: int
    dst: int
    ports: tuple[int, int]
    protocol: int = UDP
    six: bool = False
    vlan: int = 0
    dscp: int = 0

    def hash(self, key: int, bits: int) -> int:
        """The low bits of its hash."""
        src_port, dst_port = self.ports if self.protocol != GRE else (0, 0)
        name = self.src | self.dst << 128 | src_port << 256 | dst_port << 272
        name |= self.protocol << 288 | self.six << 303 | self.vlan << 304
        return place(name, key, bits)

    def place(self, key: int, bits: int) -> int:
        """Its queue within a group of 2^bits."""
        return self.hash(key, bits)

    def name(self, key: int) -> int:
        """Its name in its queue: the 16 bits of the hash from bit 10 on."""
        return self.hash(key, 26) >> 10

    def frame(self, size: int, number: int, ecn: int = 0) -> bytes:
        """A frame of `size` bytes, 90 and more, that ends with its number."""
        tag = CTAG + struct.pack(">H", self.vlan) if self.vlan else b""
        rest = size - 14 - len(tag)
        tos = self.dscp << 2 | ecn
        if self.six:
            head = struct.pack(">IHBB", 6 << 28 | tos << 20, rest - 40, self.protocol, 64)
            head = MACS + tag + IP6 + head + self.src.to_bytes(16) + self.dst.to_bytes(16)
        else:
            head = struct.pack(">BBHIBBHII", 0x45, tos, rest, 0, 64, self.protocol, 0, self.src, self.dst)
            head = MACS + tag + IP4 + head
        head += struct.pack(">HH", *self.ports)
        return head + bytes(size - len(head) - 4) + struct.pack(">I", number)


def random_flow(rng: random.Random, **fixed) -> Flow:
    six = rng.random() < 0.3
    address = lambda: rng.getrandbits(128 if six else 32)
    made = {"src": address(), "dst": address(), "ports": (rng.getrandbits(16), rng.getrandbits(16)), "six": six}
    made |= {"protocol": rng.choice((TCP, UDP, UDP, GRE)), "vlan": rng.choice((0, 0, 5, 4095))}
    return Flow(**made | fixed)


def apart(rng: random.Random, count: int, key: int, bits: int) -> list[Flow]:
    """Flows in queues of their own."""
    found: dict[int, Flow] = {}
    while len(found) < count:
        flow = random_flow(rng)
        found.setdefault(flow.place(key, bits), flow)
    return list(found.values())
