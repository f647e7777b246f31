"""`--split`: TCP frames longer than a wire carries become segments; each is compared with what scapy builds."""

import random
import struct

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, Jumbo, PadN
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Raw
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.engine_outputs import run as engine
from support.engine_outputs import write_words
from support.headers import ones_complement
from vermilion.configuration import config
from vermilion.toolchain import build

SEED = 24
WIDE = {"port": {"rate": "100Gbit"}, "queue": [{"name": "all", "default": True}]}
MACS = {"src": "02:00:00:00:00:01", "dst": "02:00:00:00:00:02"}
STAMPS = [("NOP", None), ("NOP", None), ("Timestamp", (1, 2))]


def split(folder, frames, *options):
    """What leaves the lane, and the run's statistics; `frames`: (ns, bytes, bytes on the wire)."""
    words = write_words(folder / "words.json", config.parse(WIDE))
    capture = pcap(folder / "in.pcap", frames)
    options = ("--engine", "model", *options)
    done = engine(build.model_program("lab"), folder, words, capture, *options)
    with RawPcapNgReader(str(folder / "out.pcapng")) as packets:
        return [data for data, _ in packets], done.stats


def packet(rng, payload: int, six: bool, flags: str = "A") -> Ether:
    """A TCP frame with or without a tag, IP and TCP options, and an extension header."""
    tag = Dot1Q(vlan=rng.randrange(1, 4095), prio=rng.randrange(8)) if rng.random() < 0.3 else None
    if six:
        ip = IPv6(src="fd00::1", dst="fd00::2", tc=rng.randrange(256), fl=rng.randrange(2**20), hlim=64)
        ip = ip / IPv6ExtHdrHopByHop(options=[PadN(optdata=bytes(4))]) if rng.random() < 0.3 else ip
    else:
        options = rng.choice([[], [], b"\1\1\1\1"])
        ip = IP(src="10.0.0.1", dst="10.0.0.2", id=rng.randrange(2**16), tos=rng.randrange(256), flags="DF")
        ip.options = options or []
    tcp = TCP(sport=rng.randrange(2**16), dport=80, seq=rng.randrange(2**32), ack=7, flags=flags, window=99)
    tcp.options = rng.choice([[], STAMPS])
    return Ether(bytes((Ether(**MACS) / tag if tag else Ether(**MACS)) / ip / tcp / Raw(rng.randbytes(payload))))


def with_errors(rng, frame: bytes) -> bytes:
    """The frame with a wrong IPv4 or TCP checksum, or both, or none."""
    whole, made = Ether(frame), bytearray(frame)
    tcp = len(frame) - len(whole[TCP])
    places = ([len(frame) - len(whole[IP]) + 10] if IP in whole else []) + [tcp + 16]
    for at in places:
        if rng.random() < 0.3:
            made[at : at + 2] = rng.randbytes(2)
    return bytes(made)


def segments(frame: bytes, size: int | None):
    """The statement: what a NIC makes of a frame, by scapy's fields and checksums; the frame alone where it stays whole."""
    whole = Ether(frame)
    tcp = whole[TCP]
    data = bytes(tcp.payload)
    head = len(whole) - len(data) - (14 + 4 * (Dot1Q in whole))
    size = size or 1500 - head
    if len(data) <= size:
        return [frame]
    out = []
    for number, at in enumerate(range(0, len(data), size)):
        part = Ether(frame)
        part[TCP].remove_payload()
        part[TCP].add_payload(Raw(data[at : at + size]))
        part[TCP].seq = (tcp.seq + at) % 2**32
        last = at + size >= len(data)
        part[TCP].flags = "".join(f for f in str(tcp.flags) if (last or f not in "FP") and (at == 0 or f != "C"))
        del part[TCP].chksum
        if IP in part:
            part[IP].id = (whole[IP].id + number) % 2**16
            del part[IP].len, part[IP].chksum
        else:
            del part[IPv6].plen
        out.append(bytes(part))
    return out


def parts(frame: bytes):
    """The frame without its IPv4 and TCP checksums, and by how much each of them is wrong: 0 where it is right."""
    whole, bare = Ether(frame), bytearray(frame)
    tcp = bytes(whole[TCP])
    at = len(frame) - len(tcp)
    ip = whole[IP] if IP in whole else whole[IPv6]
    start = len(frame) - len(ip)
    ends = frame[start + 12 : start + 20] if IP in whole else frame[start + 8 : start + 40]
    errors = [ones_complement(ends + struct.pack(">IHH", len(tcp), 0, 6) + tcp + bytes(len(tcp) % 2)) % 0xFFFF]
    bare[at + 16 : at + 18] = bytes(2)
    if IP in whole:
        errors.append(ones_complement(frame[start : start + 4 * ip.ihl]) % 0xFFFF)
        bare[start + 10 : start + 12] = bytes(2)
    return bytes(bare), errors


@pytest.mark.parametrize("size", [None, 1448, 48, 999, 9000])
def test_segments(tmp_path, size):
    """Random frames: headers, numbers, flags and payload of each segment are scapy's; checksums are as right or wrong as they came."""
    rng = random.Random(f"{SEED} {size}")
    lengths = [0, 1, 47, 48, 49, 1400, 1447, 1448, 1449, 1460, 2896, 2897, 4000, 9000, 9400]
    lengths = [length for length in lengths if not size or length <= 40 * size] + (
        [20_000, 64_000] if size != 48 else []
    )
    frames = []
    for _ in range(120):
        flags = "A" + "".join(f for f in "FPCE" if rng.random() < 0.5)
        frames.append(with_errors(rng, bytes(packet(rng, rng.choice(lengths), rng.random() < 0.5, flags))))
    out, stats = split(
        tmp_path, [(i * 10**6, f, len(f)) for i, f in enumerate(frames)], "--split", size or 0, "--rate", 10**9
    )
    wanted, divided, number = [], 0, 0
    for frame in frames:
        made = segments(frame, size)
        divided += len(made) > 1
        errors = parts(frame)[1]
        wanted += [(parts(one)[0], errors) for one in made]
        number += len(made) if len(made) > 1 else 0
    got = [parts(one) for one in out]
    assert got == wanted
    assert stats["split"] == {"payload_bytes": size or 0, "frames": divided, "segments": number, "whole": 0}
    assert divided > 20 and {0} < {error for _, errors in got for error in errors}
    assert max(map(len, out)) <= (1500 + 18 if not size else size + 150)


def test_reassembled(tmp_path):
    """A receiver that puts the segments in order by their numbers has the payload, right checksums and one end of the stream."""
    rng = random.Random(SEED)
    sent = [bytes(packet(rng, rng.randrange(3000, 60_000), six, "FPA")) for six in (False, True) * 4]
    out, _ = split(tmp_path, [(i * 10**6, f, len(f)) for i, f in enumerate(sent)], "--split", 1448, "--rate", 10**9)
    held = {}
    for one in map(Ether, out):
        assert parts(bytes(one))[1] == [0] * (1 + (IP in one))
        held.setdefault((one[TCP].sport, IP in one), []).append(one[TCP])
    for frame in map(Ether, sent):
        pieces, begin = held[frame[TCP].sport, IP in frame], frame[TCP].seq
        pieces.sort(key=lambda tcp: (tcp.seq - begin) % 2**32)
        assert b"".join(bytes(tcp.payload) for tcp in pieces) == bytes(frame[TCP].payload)
        assert [("F" in tcp.flags, "P" in tcp.flags) for tcp in pieces] == [(False, False)] * (len(pieces) - 1) + [
            (True, True)
        ]


def test_whole(tmp_path):
    """What no NIC segments stays as it is: cut frames, fragments, AH, jumbograms, SYN, RST, URG, UDP, lengths past the frame; those of TCP are counted."""
    rng = random.Random(SEED)
    long = bytes(packet(rng, 4000, False))
    first = Ether(**MACS) / IP(src="10.0.0.1", dst="10.0.0.2", flags="MF") / TCP(flags="A") / Raw(bytes(4000))
    six = Ether(**MACS) / IPv6() / IPv6ExtHdrFragment(m=1) / TCP(flags="A") / Raw(bytes(4000))
    body = bytes(TCP(flags="A") / Raw(bytes(4000)))
    signed = Ether(**MACS) / IPv6(nh=51) / Raw(bytes([6, 4]) + bytes(22) + body)
    jumbo = Ether(bytes(Ether(**MACS) / IPv6() / IPv6ExtHdrHopByHop(options=[Jumbo(jumboplen=70_000)]) / Raw(body)))
    jumbo[IPv6].plen, jumbo[IPv6ExtHdrHopByHop].nh = 0, 6
    whole = [bytes(first), bytes(six), bytes(signed), bytes(jumbo)] + [
        bytes(packet(rng, 4000, False, flags)) for flags in ("S", "RA", "UA")
    ]
    at = len(long) - len(Ether(long)[IP]) + 2
    whole.append(long[:at] + struct.pack(">H", len(long)) + long[at + 2 :])
    others = [bytes(Ether(**MACS) / IP() / UDP() / Raw(bytes(4000))), bytes(4000), bytes(packet(rng, 1400, True))]
    zero = long[:at] + bytes(2) + long[at + 2 :]
    frames = [(0, cut[:3000], len(cut)) for cut in (long, zero)] + [(0, data, len(data)) for data in whole + others]
    out, stats = split(tmp_path, frames, "--split", 0, "--rate", 10**9)
    assert out == [data for _, data, _ in frames]
    assert stats["split"] == {"payload_bytes": 0, "frames": 0, "segments": 0, "whole": 10}


def test_no_length(tmp_path):
    """An IP length of 0 is that of the frame; bytes after the IP packet are in no segment."""
    rng = random.Random(SEED)
    four, six = packet(rng, 4000, False), Ether(**MACS) / IPv6() / TCP(flags="A") / Raw(rng.randbytes(4000))
    right = [bytes(four), bytes(six)]
    without = [Ether(data) for data in right]
    without[0][IP].len, without[1][IPv6].plen = 0, 0
    frames = [bytes(without[0]), bytes(without[1]), right[0] + b"FCS!"]
    out, _ = split(tmp_path, [(0, data, len(data)) for data in frames], "--split", 1448, "--rate", 10**9)
    wanted = [part for data in (right[0], right[1], right[0]) for part in segments(data, 1448)]
    assert [parts(one)[0] for one in out] == [parts(one)[0] for one in wanted]


def test_times(tmp_path):
    """Segments come at their frame's time and queue; the lane stores them, so nothing is oversize any more."""
    rng = random.Random(SEED)
    frames = [(i * 10**9, data, len(data)) for i, data in enumerate([bytes(packet(rng, 30_000, False))] * 3)]
    out, stats = split(tmp_path, frames)
    assert not out and stats["warnings"] == {"oversize": 3}
    out, stats = split(tmp_path, frames, "--split", 0)
    assert stats["warnings"] == {} and stats["split"]["segments"] == len(out) == 3 * 21
    with RawPcapNgReader(str(tmp_path / "out.pcapng")) as packets:
        times = [(meta.tshigh << 32) + meta.tslow for _, meta in packets]
    assert [times[i * 21] - times[0] < i * 10**9 + 50_000 for i in range(3)] == [True] * 3
    assert max(times[20] - times[0], times[62] - times[42]) < 50_000
