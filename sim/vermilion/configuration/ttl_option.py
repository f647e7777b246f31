"""`vermilion ttl-option`: what a sender would do, done to a capture: the TTL option (docs/ttl-option.md) in every IP packet.

    IPv4   four bytes behind the fixed header, before the options that are there; IHL, total length and header checksum follow.
           The checksum is updated (RFC 1624), not computed anew: one that was wrong stays wrong by as much.
    IPv6   a hop-by-hop header of eight bytes; where there is one, eight bytes at the start of its options, which keeps the alignment
           of the others. Payload length and next header follow. TCP and UDP checksums cover none of this.

A packet that cannot take the option is passed as it is, and counted by the reason (`REASONS`).

Captures are read by scapy: pcap and pcapng, stamps of any resolution; comments and interface names are not carried over, and of a
pcapng file of several sections all interfaces must be alike. They are written as pcap with nanoseconds, stamps before 1970 or
behind 2106 refused. What is damaged is read as far as it goes, with a warning.
"""

import logging
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

from vermilion.values.fields import UserError

NULL, ETHERNET, RAW, LOOP, SLL, IP4_RAW, IP6_RAW, SLL2 = 0, 1, 101, 108, 113, 228, 229, 276
LINKS = {NULL, ETHERNET, RAW, 12, 14, LOOP, SLL, IP4_RAW, IP6_RAW, SLL2}
FAMILIES = {2, 24, 28, 30}  # of IP in the header of BSD loopback: pcap-linktype(7)
USUAL = (32, 64, 128, 255)
PROGRESS_STEP = 512
FRAME_MAX = 65535  # what scapy reads

REASONS = {
    "added": "option added",
    "not_ip": "not IP",
    "cut": "headers not wholly captured",
    "malformed": "header lengths that contradict each other",
    "no_length": "IP length 0 (jumbogram, or segmentation left to the card)",
    "present": "has the option",
    "full": "no room in the header",
    "mtu": "would exceed the MTU",
    "low": "TTL above the initial TTL given",
}


@dataclass(frozen=True)
class Wanted:
    """What goes into the options. `initial` None: the least usual TTL not below the packet's own."""

    ip4: int
    ip6: int
    initial: int | None = None
    final: int = 0
    mtu: int = 65535

    def start_of(self, ttl: int) -> int:
        return next(usual for usual in USUAL if usual >= ttl) if self.initial is None else self.initial


def checksum_update(checksum: int, before: bytes, after: bytes) -> int:
    """RFC 1624, eqn. 3, over words that change; `after` may be longer."""
    total: int = (~checksum & 0xFFFF) + sum(~word & 0xFFFF for (word,) in struct.iter_unpack(">H", before))
    total += sum(word for (word,) in struct.iter_unpack(">H", after))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ip_offset(link: int, frame: bytes) -> int | None:
    """Where the IP header begins; None: it is not IP. Ethernet tags as the lane's parser reads them."""
    if link == SLL:
        return 16 if frame[14:16] in (b"\x08\0", b"\x86\xdd") else None
    if link == SLL2:
        return 20 if frame[0:2] in (b"\x08\0", b"\x86\xdd") else None
    if link in (NULL, LOOP):
        orders: tuple[Literal["big", "little"], ...] = ("big", "little") if link == NULL else ("big",)
        if len(frame) < 4:
            return 4
        return 4 if FAMILIES & {int.from_bytes(frame[:4], order) for order in orders} else None
    if link != ETHERNET:
        return 0
    at, kind = 14, frame[12:14]
    if kind in (b"\x81\0", b"\x88\xa8") and frame[16:18] == b"\x81\0":
        at = 22
    elif kind == b"\x81\0":
        at = 18
    return at if frame[at - 2 : at] in (b"\x08\0", b"\x86\xdd") else None


def options(data: bytes, single: int, extra: int) -> Iterator[int]:
    """Types in a list of options; the walk ends where the list lies. `extra`: what the length does not count."""
    at = 0
    while at < len(data):
        yield data[at]
        if data[at] == single:
            at += 1
        elif at + 1 < len(data) and data[at + 1] + extra >= 2 and not (extra == 0 and data[at] == 0):
            at += data[at + 1] + extra
        else:
            return


def into_ip4(packet: bytes, wire_bytes: int, wanted: Wanted) -> tuple[str, bytes]:
    if len(packet) < 20:
        return "cut", packet
    header, total = 4 * (packet[0] & 15), struct.unpack(">H", packet[2:4])[0]
    if header < 20:
        return "malformed", packet
    if len(packet) < header:
        return "cut", packet
    if total == 0:
        return "no_length", packet
    if total < header or total > wire_bytes:
        return "malformed", packet
    if wanted.ip4 in options(packet[20:header], 1, 0):
        return "present", packet
    if header == 60:
        return "full", packet
    if total + 4 > wanted.mtu:
        return "mtu", packet
    initial = wanted.start_of(packet[8])
    if initial < packet[8]:
        return "low", packet
    option = bytes([wanted.ip4, 4, initial, wanted.final])
    first = bytes([packet[0] + 1, packet[1]]) + struct.pack(">H", total + 4)
    checksum = checksum_update(struct.unpack(">H", packet[10:12])[0], packet[:4], first + option)
    return "added", first + packet[4:10] + struct.pack(">H", checksum) + packet[12:20] + option + packet[20:]


def into_ip6(packet: bytes, wire_bytes: int, wanted: Wanted) -> tuple[str, bytes]:
    if len(packet) < 40:
        return "cut", packet
    payload, following, limit = struct.unpack(">HBB", packet[4:8])
    if payload == 0:
        return "no_length", packet
    if 40 + payload > wire_bytes:
        return "malformed", packet
    hops = following == 0
    if hops:
        if len(packet) < 42:
            return "cut", packet
        size = 8 * (packet[41] + 1)
        if size > payload:
            return "malformed", packet
        if len(packet) < 40 + size:
            return "cut", packet
        if wanted.ip6 in options(packet[42 : 40 + size], 0, 2):
            return "present", packet
        if packet[41] == 255:
            return "full", packet
    if 48 + payload > wanted.mtu or payload + 8 > 65535:
        return "mtu", packet
    initial = wanted.start_of(limit)
    if initial < limit:
        return "low", packet
    fixed = packet[:4] + struct.pack(">HBB", payload + 8, 0, limit) + packet[8:40]
    option = bytes([wanted.ip6, 2, initial, wanted.final])
    if hops:
        more = bytes([packet[40], packet[41] + 1]) + option + b"\1\2\0\0"
        return "added", fixed + more + packet[42:]
    return "added", fixed + bytes([following, 0]) + option + b"\1\0" + packet[40:]


def add(link: int, frame: bytes, wire_bytes: int, wanted: Wanted) -> tuple[str, bytes]:
    """The frame with the option, or as it was, and which of `REASONS`."""
    at = ip_offset(link, frame)
    if at is None or len(frame) <= at:
        return "not_ip" if at is None else "cut", frame
    version = frame[at] >> 4
    if link == ETHERNET and version != {8: 4, 0x86: 6}[frame[at - 2]]:
        return "not_ip", frame
    into = {4: into_ip4, 6: into_ip6}.get(version)
    if into is None:
        return "not_ip", frame
    reason, packet = into(frame[at:], wire_bytes - at, wanted)
    return reason, frame[:at] + packet if reason == "added" else frame


class Notes(logging.Handler):
    """What scapy says of a damaged file; it goes on as if the file ended there."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())

    def __enter__(self) -> Self:
        self.log = logging.getLogger("scapy.runtime")
        self.before = self.log.handlers[:], self.log.propagate
        self.log.handlers[:], self.log.propagate = [self], False
        return self

    def __exit__(self, *_: object) -> None:
        self.log.handlers[:], self.log.propagate = self.before


def packets(source: Path) -> Iterator[tuple[int, int, int, bytes, int]]:
    """(link type, ns since 1970, length on the wire, frame, bytes read so far) of each packet of a pcap or pcapng file."""
    from scapy.error import Scapy_Exception
    from scapy.utils import RawPcapNgReader, RawPcapReader

    try:
        with RawPcapReader(str(source)) as reader:
            end = reader.f.tell()
            about: Any  # scapy has a form for each kind of file
            for frame, about in reader:
                if len(frame) >= FRAME_MAX:
                    raise UserError(
                        f"{source}: has a frame of {FRAME_MAX} bytes or more; legal is up to {FRAME_MAX - 1}"
                    )
                if isinstance(reader, RawPcapNgReader):
                    stamp = ((about.tshigh or 0) << 32 | (about.tslow or 0)) * 10**9 // int(about.tsresol or 10**6)
                    link = about.linktype
                else:
                    if len(frame) < about.caplen:
                        break  # cut off; scapy has said so
                    stamp = about.sec * 10**9 + about.usec * (1 if reader.nano else 1000)
                    link = reader.linktype
                end = reader.f.tell()
                yield link, stamp, about.wirelen or len(frame), frame, end
            if (
                not isinstance(reader, RawPcapNgReader) and end != reader.f.tell()
            ):  # less than a record's head, of which scapy says nothing
                logging.getLogger("scapy.runtime").warning("it ends within a record")
    except (Scapy_Exception, struct.error, EOFError, ValueError, OverflowError) as error:
        raise UserError(f"{source}: is damaged: {error}; legal are pcap and pcapng files") from None
    except OSError as error:
        raise UserError(f"{source}: cannot be read: {error.strerror or error}") from None


Progress = Callable[[int, int], object]  # of bytes done, and of how many


def convert(
    source: Path, target: Path, wanted: Wanted, on_progress: Progress, warn: Callable[[str], object]
) -> Counter[str]:
    """Writes the capture anew; `on_progress(done, total)` in bytes of the input. Gives packets by `REASONS`."""
    with Notes() as notes:
        counts = copy(source, target, wanted, on_progress)
    if notes.texts:
        warn(f"the capture is damaged, read as far as it goes ({notes.texts[0].strip()})")
    if not counts:
        warn("the capture has no frame")
    return counts


def copy(source: Path, target: Path, wanted: Wanted, on_progress: Progress) -> Counter[str]:
    from scapy.utils import RawPcapWriter

    counts: Counter[str] = Counter()
    total, writer, first = source.stat().st_size, None, None
    try:
        for number, (link, stamp, wire, frame, done) in enumerate(packets(source)):
            if writer is None:
                if link not in LINKS:
                    raise UserError(
                        f"{source}: link type {link} is not carried; legal are "
                        "Ethernet, Linux cooked, raw IP and BSD loopback"
                    )
                first, writer = link, RawPcapWriter(str(target), linktype=link, nano=True, sync=False)
                writer.write_header(None)
            if link != first:
                raise UserError(f"{source}: has link types {first} and {link}; split it by interface, one file each")
            if not 0 <= stamp < 2**32 * 10**9:
                raise UserError(
                    f"{source}: packet {number} is stamped outside 1970 to 2106; legal is what pcap can hold"
                )
            reason, out = add(link, frame, max(wire, len(frame)), wanted)
            counts[reason] += 1
            longer = len(out) - len(frame)
            writer.write_packet(out, sec=stamp // 10**9, usec=stamp % 10**9, caplen=len(out), wirelen=wire + longer)
            if number % PROGRESS_STEP == 0:
                on_progress(done, total)
        if writer is None:
            writer = RawPcapWriter(str(target), linktype=ETHERNET, nano=True)
            writer.write_header(None)
    finally:
        if writer is not None:
            writer.close()
    on_progress(total, total)
    return counts
