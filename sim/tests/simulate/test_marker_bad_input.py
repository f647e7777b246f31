"""Hostile and broken TCP through the whole lane: every packet's colour and every counted event are those of docs/flow-markers.md.

The reference is plain Python: P1's rules in fractions (`flow_bench.Paper`), ages and events from the page, a dictionary for a table. So a
colour is another flow's fault as soon as any flow meets another's state. The RTL runs with the replay on, which works out each state
bit for bit, its `flow_events` registers are compared with the model's count by the harness; the model alone gives the same trace.
"""

import random
import struct
from collections import Counter
from dataclasses import dataclass

import pytest

from support.flow_bench import (
    ACK,
    ADAPTIVE,
    FIN,
    RED,
    RST,
    SYN,
    THREE_COLOUR,
    TICK,
    WEB,
    YELLOW,
    Paper,
    config,
    headers,
)
from support.headers import CTAG, IP4, IP6, MACS, STAG, extension
from support.marker_traffic import lane, toml
from support.nightly import nightly

pytestmark = pytest.mark.slow

SECOND = 10**9
KINDS = {"3cpm": THREE_COLOUR, "wpm": WEB, "apm": ADAPTIVE}
EVENTS = "adopted collision aged_out displaced table_full loss jump probe".split()


def tcp(seq, payload=0, flags=ACK, ports=(1000, 80), words=5, window=0):
    head = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, 0, words << 4, flags, window, 0, 0)
    return head + bytes(max(0, 4 * words - 20)) + bytes(payload)


def ip4(packet, source=1, fragment=0, dscp=0, proto=6):
    head = struct.pack(">BBHHHBBH", 0x45, dscp << 2, 20 + len(packet), 1, fragment, 64, proto, 0)
    return IP4 + head + struct.pack(">II", source, 0x0A000002) + packet


def ip6(packet, source=1, following=6, dscp=0):
    head = struct.pack(">IHBB", 6 << 28 | dscp << 22, len(packet), following, 64)
    return IP6 + head + source.to_bytes(16, "big") + bytes(15) + b"\x02" + packet


@dataclass
class Packet:
    """A frame and what it is: a segment of the flow `key` (any name that tells flows apart), or None."""

    frame: bytes
    key: object = None
    seq: int = 0
    payload: int = 0
    flags: int = ACK
    queue: int = 0
    ns: int = 0


def segment(source=1, seq=0, payload=100, flags=ACK, ns=0, six=False, tag=b"", queue=0, ports=(1000, 80), dress=None):
    """A whole segment; `dress` puts something between IPv6 header and TCP."""
    packet = tcp(seq, payload, flags, ports)
    following, packet = dress(packet) if dress else (6, packet)
    body = ip6(packet, source, following, dscp=queue) if six else ip4(packet, source, dscp=queue)
    return Packet(MACS + tag + body, (source, six, ports, queue, tag), seq, payload, flags, queue, ns)


def other(body, ns=0):
    """What belongs to no flow."""
    return Packet(MACS + body, ns=ns)


class Rules:
    """Colours and events of a sequence of packets, flows without end of room."""

    def __init__(self, configs):
        self.configs, self.paper, self.last, self.data = configs, Paper(), {}, {}
        self.events = Counter()

    def colour(self, p):
        c, key = self.configs[p.queue], p.key
        if key is None:
            return YELLOW
        h, syn, flows = headers(p.seq, p.payload > 0, p.flags), p.flags & SYN, self.paper.flows
        if p.flags & RST or not (syn or p.payload):
            return self.paper.step(key, h, c)
        if key in flows:
            settled = self.data[key] >= 4
            if p.ns - self.last[key] > (c.idle if settled else c.half_open) * TICK:
                del flows[key]
                self.events["aged_out"] += 1
                self.data[key] *= not settled and not syn
        else:
            self.data[key] = 0
        self.data[key] += not syn
        self.last[key] = p.ns
        if not syn:
            ahead = (p.seq - flows[key].highest + 2**31) % 2**32 - 2**31 if key in flows else 0
            out = not -(2**30) <= ahead < 2**30
            self.events["adopted" if key not in flows else "jump" if out else "loss" if ahead <= 0 else "new"] += 1
        colour = self.paper.step(key, h, c)
        self.events["probe"] += colour == RED
        return colour


def judge(program, folder, packets, *pace, kinds=("3cpm",), exact=True):
    """Both engines: every colour is the rules', and where nothing crowds the table so is every event; the events."""
    names = [f"q{i}" for i in range(len(kinds))]
    queues = [(name, f"[{i}]") for i, name in enumerate(names)][1:] + [(names[0], "[0]")]
    text = toml(queues, {name: {"kind": kind} for name, kind in zip(names, kinds, strict=False)})
    frames = [(p.ns, p.frame) for p in packets]
    figures, rows = lane(program, folder, frames, text, *pace, traced=True)
    alone, modelled = lane(program, folder, frames, text, *pace, traced=True, engine="model")
    assert rows == modelled and alone["flow_events"] == figures["flow_events"]
    assert [q["colours_in_out"] for q in alone["queues"]] == [q["colours_in_out"] for q in figures["queues"]]
    rules = Rules([config(kind=KINDS[kind]) for kind in kinds])
    for number, (p, row) in enumerate(zip(packets, rows, strict=True)):
        want = rules.colour(p)
        assert int(row["colour"]) == want, f"packet {number}: {p}"
        assert row["policed"] == "0"
    events = figures["flow_events"]
    if exact:
        assert events == {name: rules.events[name] for name in EVENTS}
    return events, rules


def spaced(packets, gap=10**6):
    """A millisecond apart."""
    for number, p in enumerate(packets):
        p.ns = number * gap
    return packets


DISTANCES = [
    0,
    1,
    2**30 - 1,
    2**30,
    2**30 + 1,
    2**31 - 1,
    2**31,
    2**31 + 1,
    3 * 2**30 - 1,
    3 * 2**30,
    3 * 2**30 + 1,
    2**32 - 1,
]


def test_sequence_numbers_that_jump(program, tmp_path):
    packets, sources = [], iter(range(1, 10**6))
    for start in (0, 2**30, 2**32 - 500, 123456789):
        for distance in DISTANCES:
            source, seq = next(sources), start
            for step in [0, 100, 100, 100, distance, 100, 100, -distance, 100, 100, 100, 100, 100, 100]:
                seq += step
                packets.append(segment(source, seq, flags=ACK if seq != start or source % 2 else SYN))
    events, _ = judge(program, tmp_path, spaced(packets))
    assert min(events[name] for name in ("jump", "loss", "adopted", "probe")) > 0


def test_all_flags_with_and_without_payload(program, tmp_path):
    rng, packets, seq = random.Random(1), [], [0] * 8
    print("seed 1")
    for flags in rng.sample(range(256), 256) + [SYN | RST | FIN, SYN | FIN, SYN | RST, 0, 255] * 4:
        for payload in (0, 1, 100):
            source = rng.randrange(8)
            seq[source] += rng.choice([100, 100, 0, -100])
            packets.append(segment(source, seq[source], payload, flags))
            packets.append(segment(source, seq[source] + 50, 50))
    judge(program, tmp_path, spaced(packets))


def test_headers_that_are_cut_short_or_lie(program, tmp_path):
    """A TCP header cut before its flags is no flow's; one cut behind them has no payload. Nor has one whose data offset is no header's."""
    packets = []
    for source, build in enumerate((ip4, ip6), 1):
        key, seq = (source, "flow"), 0
        for cut in range(21):
            for flags in (ACK, SYN):
                for head in (tcp(seq, 0, flags)[:cut], tcp(seq, 0, flags, words=15)[:cut]):
                    p = Packet(MACS + build(head, source), key if cut >= 14 else None, seq, 0, flags)
                    packets += [p, Packet(MACS + build(tcp(seq + 1, 9), source), key, seq + 1, 9)]
                    seq += 2
        for words in range(16):
            whole = tcp(seq, 0, words=words)[:20] + bytes(40)
            packets.append(Packet(MACS + build(whole, source), key, seq, 40 + 20 - 4 * words if words >= 5 else 0))
            seq += 1
        for length in range(14, 60):
            packets.append(other(b"\x08\0\x45" + bytes(length - 13)))
    judge(program, tmp_path, spaced(packets))


def fragment_header(offset, more):
    return bytes([6, 0]) + struct.pack(">HI", offset << 3 | more, 7)


def test_fragments(program, tmp_path):
    """First fragments are segments; later ones look like one, ports and all, and are none."""
    packets = []
    for k in range(60):
        first = tcp(100 * k, 80)
        packets.append(Packet(MACS + ip4(first, 1, fragment=0x2000), 1, 100 * k, 80))
        packets.append(Packet(MACS + ip6(fragment_header(0, 1) + first, 1, 44), 2, 100 * k, 80))
        for offset in (1, 10, 185, 8191):
            packets.append(other(ip4(tcp(7, 80, SYN), 1, fragment=offset | 0x2000 * (k % 2))))
            packets.append(other(ip6(fragment_header(offset, k % 2) + tcp(7, 80, SYN), 1, 44)))
    judge(program, tmp_path, spaced(packets))


def chain(*kinds):
    """Extension headers in front of TCP, in that order."""

    def dress(packet):
        out, following = packet, 6
        for kind in reversed(kinds):
            out = (bytes([following, 0]) + bytes(6) if kind == 44 else extension(kind, following)) + out
            following = kind
        return following, out

    return dress


def test_extension_headers(program, tmp_path):
    """Hop-by-hop, routing, first fragment, destination options, in any order, up to four: the flow without them. Five, and what lies
    behind byte 128, are no flow's."""
    rng, packets, seq = random.Random(2), [], 0
    print("seed 2")
    for k in range(300):
        seq += rng.choice([100, 100, 100, 100, -300])
        kinds = [rng.choice([0, 43, 44, 60]) for _ in range(rng.randrange(6))]
        p = segment(1, seq, 100, six=True, dress=chain(*kinds))
        p.key = p.key if len(kinds) <= 4 else None
        packets.append(p)
        if k % 10 == 0:
            packets.append(other(ip6(extension(60, 6, 20) + tcp(seq, 100), 1, 60)))
            packets.append(segment(1, seq + 50, 50, six=True))
    judge(program, tmp_path, spaced(packets))


def test_tags_and_queues(program, tmp_path):
    """A VLAN makes another flow and so does a queue; each of two tags counts, priorities do not, and ID 0 is no VLAN."""
    packets = []
    tags = [
        b"",
        *(CTAG + bytes([0, vlan]) for vlan in (1, 2)),
        *(STAG + bytes([0, s]) + CTAG + bytes([0, c]) for s in (1, 3) for c in (1, 2, 4)),
    ]
    for k in range(200):
        for queue in range(3):
            tag = tags[k % len(tags)]
            priority = 0x20 * (k % 8)  # the same VLAN
            dressed = tag[:2] + bytes([priority]) + tag[3:] if tag else [b"", CTAG + bytes([priority, 0])][k % 2]
            seq = 100 * (k if k % 17 < 14 else k - 30)
            packets.append(segment(1, seq, tag=dressed, queue=queue, six=k % 2 > 0))
            packets[-1].key = (*packets[-1].key[:4], tag)
    judge(program, tmp_path, spaced(packets), kinds=("3cpm", "wpm", "apm"))


def test_keep_alives_on_a_closed_window(program, tmp_path):
    """Without payload nothing happens; with a byte each one behind the first looks like a loss."""
    packets, seq = [], 0
    for k in range(30):
        for _ in range(k % 9):
            seq += 100
            packets.append(segment(1, seq, 100))
        for _ in range(k % 5):
            packets.append(Packet(MACS + ip4(tcp(seq + 99, k % 2, window=0), 1), packets[0].key if packets else None))
            packets[-1].seq, packets[-1].payload = seq + 99, k % 2
    packets = [p for p in packets if p.key]
    events, _ = judge(program, tmp_path, spaced(packets, 10**8))
    assert events["loss"] > 10


def test_half_open_and_idle_flows_age(program, tmp_path):
    """SYNs that are never followed up, flows that are slow from the start, silences on both sides of either age."""
    packets = []
    for source in range(1, 41):
        start, gap = source * 10**7, [2.9, 3.1, 59.5, 60.5, 0.5][source % 5]
        flags = [SYN, ACK][source % 2]
        for k in range(9):
            data = k > source % 3
            ns = start + int(k * gap * SECOND)
            packets.append(segment(source, 100 * k, 100 * data, ACK if data else flags, ns))
    packets.sort(key=lambda p: p.ns)
    events, _ = judge(program, tmp_path, packets)
    assert events["aged_out"] > 20


def test_one_flow_back_to_back_at_line_rate(program, tmp_path):
    """Then two and three flows in turn: 60-byte frames without a gap between them."""
    rng, packets = random.Random(3), []
    print("seed 3")
    for flows in (1, 2, 3):
        for k in range(1500):
            source = 10 * flows + k % flows
            again = rng.random() < 0.05
            packets.append(segment(source, 6 * (k - 5 * again), 6, SYN if k < flows else ACK))
    events, _ = judge(program, tmp_path, packets, "--rate", 100_000_000_000)
    assert events["probe"] > 50 and events["loss"] > 100


def flooded(rng, flood, established=60, every=10):
    """Settled flows first, then `flood` with one of their packets behind `every` of it."""
    sources = range(1, established + 1)
    packets = [segment(s, 100 * k, 100 * (k > 0), ACK if k else SYN) for k in range(5) for s in sources]
    seq = dict.fromkeys(sources, 400)
    for number, p in enumerate(flood):
        packets.append(p)
        if number % every == 0:
            source = 1 + number // every % established
            seq[source] += rng.choice([100, 100, 100, 100, -200])
            packets.append(segment(source, seq[source]))
    for number, p in enumerate(packets):
        p.ns = number * 1000
    return packets


FLOODS = {
    "SYNs from everywhere": lambda r, k: segment(0x40000000 + k, r.getrandbits(32), 0, SYN),
    "SYNs from all of IPv6": lambda r, k: segment(r.getrandbits(100) << 16 | k, r.getrandbits(32), 0, SYN, six=True),
    "a port scan": lambda r, k: segment(0x50000000, r.getrandbits(32), 0, SYN, ports=(4000, k)),
    "data from everywhere": lambda r, k: segment(0x40000000 + k, r.getrandbits(32), 6),
}


EVERY_RUN = ("SYNs from all of IPv6", "data from everywhere")


@pytest.mark.parametrize("name", [name if name in EVERY_RUN else nightly(name) for name in FLOODS])
def test_a_flood_fills_the_table_and_touches_no_settled_flow(program, tmp_path, name):
    """20,000 flows into 4,096 entries: each gets one, the last ones another half-open flow's; the settled are as if alone."""
    rng, count, entries, settled = random.Random(name), 20_000, 4096, 60
    print(f"seed {name}")
    packets = flooded(rng, [FLOODS[name](rng, k) for k in range(count)], settled)
    events, rules = judge(program, tmp_path, packets, exact=False)
    displaced = count + settled - entries
    crowded = {"collision": displaced, "displaced": displaced, "table_full": 0, "aged_out": 0}
    assert events == {name: rules.events[name] for name in EVENTS} | crowded
    assert events["adopted"] == (count if name.startswith("data") else 0) and events["loss"] > 100


def test_anything_at_once(program, tmp_path):
    """Sixty flows of three kinds in three queues, losses, jumps, flags, tags, both IP versions, noise between, at three paces."""
    rng, packets, seq = random.Random(4), [], {}
    print("seed 4")
    for _ in range(6000):
        source, queue, six = rng.randrange(20), rng.randrange(3), rng.randrange(2) > 0
        key = source, queue, six
        seq[key] = (seq.get(key, rng.getrandbits(32)) + 100) % 2**32
        at, flags, payload, kind = seq[key], ACK, rng.choice([1, 100, 700]), rng.random()
        if kind < 0.1:
            at -= rng.choice([0, 100, 300, *DISTANCES])
        elif kind < 0.14:
            flags, payload = rng.randrange(256), rng.choice([0, 1, 100])
        elif kind < 0.2:
            payload = 0
        tag = rng.choice([b"", b"", CTAG + b"\0\1"])
        packets.append(segment(source, at % 2**32, payload, flags, six=six, queue=queue, tag=tag))
        if rng.random() < 0.1:
            packets.append(other(rng.choice([b"\x08\x06", b"\x86\xdd", b"\x08\0\x40"]) + bytes(rng.randrange(120))))
    for number, p in enumerate(packets):
        p.ns = packets[number - 1].ns + rng.choice([0, 1000, 10**6]) if number else 0
    events, _ = judge(program, tmp_path, packets, kinds=("3cpm", "wpm", "apm"))
    assert min(events[name] for name in ("adopted", "loss", "jump", "probe")) > 20
