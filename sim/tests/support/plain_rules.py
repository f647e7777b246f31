"""Rules over the bytes of a frame, in plain comparisons: what a multi-field classifier has to find, without its key.

`View(frame)` reads a frame as docs/architecture/data-path.md says that the lane's parser does. `Rule.fits(view, port)` compares. `frames(rng)` gives frames of all kinds
with few different values, so that rules which are drawn from one frame match others, too.
"""

import ipaddress
import struct
from dataclasses import dataclass, field

REACH = 128  # bytes that the parser reads
WITH_PORTS = (6, 17)
EIGHTS, FRAGMENT, AUTHENTICATION = (0, 43, 60), 44, 51
EXTENSIONS = 4  # headers that it passes
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Tested = tuple[int, int, int]  # version, value and mask of an address


def word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "big")


@dataclass(slots=True)
class View:
    """The fields of a frame."""

    frame: bytes
    tag: int | None = None  # 16 bits of the outer tag
    version: int = 0  # 0: not IP
    traffic: int = 0
    protocol: int = 0
    source: int = 0
    destination: int = 0
    ports: tuple[int, int] | None = None

    def __post_init__(self):
        head, types = self.frame[:REACH], (b"\x81\0", b"\x88\xa8")
        if head[12:14] in types and len(head) >= 16:
            self.tag = word(head, 14)
        at = 14
        if head[12:14] in types and head[16:18] == b"\x81\0":
            at = 22
        elif head[12:14] == b"\x81\0":
            at = 18
        kind, ip = head[at - 2 : at], head[at:]
        if kind == b"\x08\0" and ip and ip[0] >> 4 == 4 and 20 <= 4 * (ip[0] & 15) <= len(ip):
            self.read4(ip)
        elif kind == b"\x86\xdd" and ip and ip[0] >> 4 == 6 and len(ip) >= 40:
            self.read6(ip)

    def read4(self, ip: bytes):
        self.version, self.traffic, self.protocol = 4, ip[1], ip[9]
        self.source, self.destination = (int.from_bytes(ip[at : at + 4], "big") for at in (12, 16))
        if word(ip, 6) & 0x1FFF == 0:
            self.transport(ip[4 * (ip[0] & 15) :])

    def read6(self, ip: bytes):
        self.version, self.traffic, self.protocol = 6, word(ip, 0) >> 4 & 255, ip[6]
        self.source, self.destination = (int.from_bytes(ip[at : at + 16], "big") for at in (8, 24))
        rest, passed = ip[40:], 0
        while self.protocol in (*EIGHTS, FRAGMENT, AUTHENTICATION) and passed < EXTENSIONS and len(rest) >= 8:
            size = 8 if self.protocol == FRAGMENT else 8 * (rest[1] + 1)
            size = 4 * (rest[1] + 2) if self.protocol == AUTHENTICATION else size
            if size > len(rest) or size % 8:
                return
            later = self.protocol == FRAGMENT and word(rest, 2) >> 3
            self.protocol, rest, passed = rest[0], rest[size:], passed + 1
            if later:
                return
        self.transport(rest)

    def transport(self, data: bytes):
        if self.protocol in WITH_PORTS and len(data) >= 4:
            self.ports = word(data, 0), word(data, 2)


@dataclass(slots=True)
class Rule:
    """What a packet must have; None: anything."""

    ingress: int | None = None
    vlan: int | None = None
    pcp: int | None = None
    version: int | None = None
    source: Network | Tested | None = None
    destination: Network | Tested | None = None
    protocol: int | None = None
    source_port: tuple[int, int] | None = None
    destination_port: tuple[int, int] | None = None
    dscp: int | None = None
    ecn: int | None = None
    on: bool = True
    never: bool = False  # a bit outside the mask is asked for
    action: dict = field(default_factory=dict)

    def fits(self, view: View, ingress: int) -> bool:
        if not self.on or self.never or self.ingress not in (None, ingress):
            return False
        if self.vlan is not None and (view.tag is None or view.tag & 0xFFF != self.vlan):
            return False
        if self.pcp is not None and (view.tag is None or view.tag >> 13 != self.pcp):
            return False
        if self.version not in (None, view.version):
            return False
        if not in_network(self.source, view, view.source) or not in_network(self.destination, view, view.destination):
            return False
        for wanted, seen in (
            (self.protocol, view.protocol),
            (self.dscp, view.traffic >> 2),
            (self.ecn, view.traffic & 3),
        ):
            if wanted is not None and (not view.version or wanted != seen):
                return False
        for ends, i in ((self.source_port, 0), (self.destination_port, 1)):
            if ends and not (view.ports and ends[0] <= view.ports[i] <= ends[1]):
                return False
        return True


def in_network(network: Network | Tested | None, view: View, address: int) -> bool:
    if network is None:
        return True
    if isinstance(network, tuple):
        version, value, mask = network
        return view.version == version and address & mask == value
    if view.version != network.version:
        return False
    kind = ipaddress.IPv4Address if view.version == 4 else ipaddress.IPv6Address
    return kind(address) in network


def first(rules: list[Rule], view: View, ingress: int) -> int | None:
    """The number of the first rule that fits."""
    return next((number for number, rule in enumerate(rules) if rule.fits(view, ingress)), None)


FOURS = [int(ipaddress.ip_address(text)) for text in ("10.1.2.0", "10.1.3.0", "192.0.2.128", "203.0.113.7")]
SIXES = [int(ipaddress.ip_address(text)) for text in ("2001:db8::", "2001:db8:0:1::", "fe80::1:0:0:0", "ff02::")]
PORTS = [0, 53, 443, 3478, 3481, 5060, 49152, 65535]


def address(rng, version: int) -> bytes:
    near = rng.choice(FOURS if version == 4 else SIXES) ^ rng.choice([0, 0, 1, rng.randrange(256)])
    if rng.random() < 0.2:
        return rng.randbytes(4 if version == 4 else 16)
    return near.to_bytes(4 if version == 4 else 16, "big")


def transport(rng, protocol: int) -> bytes:
    ports = [
        rng.choice([rng.choice(PORTS), rng.choice(PORTS) ^ rng.randrange(4), rng.randrange(65536)]) for _ in (0, 1)
    ]
    return struct.pack(">HH", *(port & 0xFFFF for port in ports)) + rng.randbytes(rng.randrange(4, 40))


def ip4(rng) -> bytes:
    protocol = rng.choice([6, 17, 17, 1, rng.randrange(256)])
    options = rng.randbytes(4 * rng.choice([0, 0, 0, 1, 5, 10]))
    fragment = rng.choice([0, 0, 0, 0, 0x2000, 0x2010, 100])
    head = struct.pack(
        ">BBHHHBBH", 0x45 + len(options) // 4, traffic(rng), 40, rng.randrange(65536), fragment, 64, protocol, 0
    )
    return head + address(rng, 4) + address(rng, 4) + options + transport(rng, protocol)


def traffic(rng) -> int:
    return rng.choice([0, 40, 46, 8]) << 2 | rng.randrange(4) if rng.random() < 0.8 else rng.randrange(256)


def ip6(rng) -> bytes:
    protocol = rng.choice([6, 17, 17, 58, rng.randrange(256)])
    following, rest = protocol, transport(rng, protocol)
    for _ in range(rng.choice([0, 0, 0, 0, 1, 1, 2, 3, 4, 5])):
        kind = rng.choice([0, 43, 60, FRAGMENT, AUTHENTICATION])
        units = 1 if kind == FRAGMENT else rng.choice([1, 1, 1, 2, 3])
        length = 2 * units - 2 if kind == AUTHENTICATION else units - 1
        length += rng.random() < 0.03
        body = struct.pack(">H", rng.choice([0, 0, 1, 8, 0x100])) + rng.randbytes(8 * units - 4)
        following, rest = kind, bytes([following, length]) + body + rest
    head = struct.pack(">IHBB", 6 << 28 | traffic(rng) << 20 | 7, len(rest), following, 64)
    return head + address(rng, 6) + address(rng, 6) + rest


def tag(rng) -> bytes:
    return struct.pack(
        ">H", rng.choice([0, 3, 5]) << 13 | rng.randrange(2) << 12 | rng.choice([0, 1, 100, rng.randrange(4096)])
    )


def frames(rng):
    """Endless frames of 14 to 200 bytes."""
    while True:
        kind = rng.choice([4, 4, 6, 6, 0])
        ether, packet = {4: (b"\x08\0", ip4), 6: (b"\x86\xdd", ip6), 0: (rng.choice([b"\x08\x06", b"\x88\xcc"]), None)}[
            kind
        ]
        body = packet(rng) if packet else rng.randbytes(46)
        if rng.random() < 0.02:
            body = bytes([rng.randrange(256)]) + body[1:]  # version and IHL
        tags = [
            *[b""] * 3, b"\x81\0" + tag(rng), b"\x81\0" + tag(rng), b"\x88\xa8" + tag(rng) + b"\x81\0" + tag(rng), b"\x88\xa8" + tag(rng),
            b"\x81\0" + tag(rng) + b"\x81\0" + tag(rng), b"\x81\0" + tag(rng) + b"\x88\xa8" + tag(rng),
        ]  # fmt: skip
        frame = rng.randbytes(12) + rng.choice(tags) + ether + body
        yield frame[: rng.randrange(14, len(frame) + 1)] if rng.random() < 0.1 else frame
