"""Groups of queues that hold flows, and FQ-CoDel, in whole lanes: both engines are one, and the order is that of RFC 8290."""

import csv
import math
import random
import struct
from collections import Counter, defaultdict

import pytest
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.engine_outputs import run as ran
from support.engine_outputs import same as equal
from support.engine_outputs import write_words
from support.flow_queues import TCP, Flow, apart, random_flow
from support.nightly import NIGHTLY, nightly
from support.runs import total
from vermilion.configuration import config
from vermilion.oracle import rfc8290
from vermilion.oracle.flows import key
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

SEED, MS = 5, 10**6
CHOSEN_NS = 12  # from the choice of a packet to its departure
LISTED_NS = {"lab": 130, "network-aqm": 106}  # from a packet's time to where it can be chosen


def lane(preset, tmp_path, asked, frames, *options):
    """A run of the RTL, or of the model alone for a build that is not at hand; gives its results."""
    shape = build.shape(preset)
    words = write_words(tmp_path / "words.json", config.parse(asked, shape.queues, shape.victims))
    capture = pcap(tmp_path / "in.pcap", frames)
    if preset == "lab" or NIGHTLY:
        rtl = ran(build.simulator(preset), tmp_path, words, capture, *options)
        rtl.check()
        return rtl
    return ran(build.model_program(preset), tmp_path, words, capture, "--engine", "model", *options)


def group(queues=8, **settings):
    return {"name": "flows", "default": True, "fq": queues, "limit": "1MB"} | settings


def departures(tmp_path, stats) -> list[tuple[int, int, int]]:
    """When each packet was chosen, ns of the lane, with its number and size, in their order."""
    start, found = stats["lane_start_ns"] - stats["capture_start_ns"], []
    with RawPcapNgReader(str(tmp_path / "out.pcapng")) as packets:
        for data, about in packets:
            at = (about.tshigh << 32) + about.tslow + start - CHOSEN_NS
            found.append((at, struct.unpack(">I", data[-4:])[0], len(data)))
    return found


def arrivals(trace) -> list[dict]:
    with open(trace) as file:
        return [row for row in csv.DictReader(file) if row["refresh"] == "0"]


def burst(rng, flows, count, gap):
    """Frames of some flows, some of which send much and others a packet now and then."""
    now, frames, own = 0, [], {}
    weights = [rng.choice((1, 5, 40)) for _ in flows]
    for number in range(count):
        flow = rng.choices(flows, weights)[0]
        size = rng.choice((90, 300, 800, 1514))
        frames.append((now, flow.frame(size, number, rng.randrange(4)), size))
        own[number] = flow
        now += int(rng.expovariate(1 / gap)) + 1
    return frames, own


@pytest.mark.parametrize("preset", ["lab", nightly("network-aqm")])
def test_both_engines_are_one_with_groups(tmp_path, preset):
    """One group or two, with CoDel, PIE or curves, beside queues with DualPI2 and a strict one. The replay computes each verdict from what the lane shows."""
    shape, program = build.shape(preset), build.simulator(preset)
    seen = Counter()
    for seed in range(1, 61 if NIGHTLY else 7):
        print("seed", seed)
        rng = random.Random(f"fq lane {seed}")
        aqms = [
            {
                "aqm": "codel",
                "target": f"{rng.choice((100, 1000))}us",
                "interval": "2ms",
                "mtu": 64,
                "ecn": rng.random() < 0.5,
            }
        ]
        aqms += [{"aqm": "pie", "target": "1ms", "tupdate": "1ms"}, {}]
        queues = [group(rng.choice((2, 4)), limit="30KB", **rng.choice(aqms[:1] * 2 + aqms))]
        queues[0] |= rng.choice(
            (
                {},
                {"quantum": rng.choice((64, 300, 1514))},
                {"victim": "nearest"} if shape.victims and "aqm" not in queues[0] else {},
            )
        )
        more = [{"name": "other", "dscp": ["AF11"], "fq": 2, "aqm": "codel", "target": "100us", "interval": "1ms"}]
        more += [{"name": "strict", "dscp": ["AF12"], "priority": 3, "limit": "5KB"}]
        pair = [
            {"name": name, "dscp": [dscp], "aqm": "dualpi2", "target": "1ms"}
            for name, dscp in (("c", "AF13"), ("l", "AF21"))
        ]
        pair[1].pop("target")
        room = shape.queues // shape.egresses
        queues += rng.choice(([], more, pair, pair + more if room > 8 else more))
        codes = [rng.choice((0, 0, 10, 12, 14, 18)) for _ in range(9)]
        flows = [random_flow(rng, dscp=code) for code in codes]
        frames, _ = burst(rng, flows, 900, rng.choice((350_000, 450_000, 700_000)))
        asked = config.parse({"seed": seed, "port": {"rate": 10**7}, "queue": queues}, room, min(shape.victims, room))
        words, capture = write_words(tmp_path / "words.json", asked), pcap(tmp_path / "in.pcap", frames)
        rtl = ran(program, tmp_path, words, capture)
        rtl.check()
        assert rtl.stats["replay"]["departures"] == rtl.stats["replay"]["departures_agreed"] > 0
        equal(rtl, ran(program, tmp_path, words, capture, "--engine", "model"))
        seen.update(
            {name: total(rtl.stats, name) for name in ("departure_dropped", "departure_marked", "tail", "sent")}
        )
    print(seen)
    assert len(seen) == 4 and min(seen.values()) > 20


@pytest.mark.parametrize("preset", ["lab", nightly("network-aqm"), nightly("network-flows")])
def test_both_engines_are_one_when_events_of_lists_meet(tmp_path, preset):
    """Short packets at some Gbit/s: queues become empty, come first and get packets a few cycles apart, and in the same cycle."""
    for seed in range(1, 41 if NIGHTLY else 5):
        print("seed", seed)
        rng = random.Random(f"dense {seed}")
        rate = rng.choice((2, 4, 8) if preset == "lab" else (8, 40, 80)) * 10**9
        flows = [random_flow(rng) for _ in range(rng.choice((3, 6, 12)))]
        now, frames = 0, []
        for number in range(3000):
            size = rng.choice((90, 90, 120, 250))
            frames.append((int(now), rng.choice(flows).frame(size, number), size))
            now += rng.expovariate(rng.choice((0.7, 1, 1.3)) * rate / 8e9 / 138)
        asked = {
            "seed": seed,
            "port": {"rate": rate},
            "queue": [group(rng.choice((4, 8)), limit="20KB", quantum=rng.choice((64, 120, 1514)))],
        }
        shape = build.shape(preset)
        words = write_words(tmp_path / "words.json", config.parse(asked, shape.queues, shape.victims))
        capture = pcap(tmp_path / "in.pcap", frames)
        rtl = ran(build.simulator(preset), tmp_path, words, capture)
        rtl.check()
        equal(rtl, ran(build.simulator(preset), tmp_path, words, capture, "--engine", "model"))
        assert total(rtl.stats, "sent") > 2000


@pytest.mark.parametrize("preset", [nightly("network-flows")])
def test_a_group_of_1024_queues(tmp_path, preset):
    """Both engines are one with 2,000 flows in 1,024 queues, and most of the queues are used."""
    shape, rng = build.shape(preset), random.Random("1024 queues")
    frames, _ = burst(rng, [random_flow(rng) for _ in range(2000)], 6000, 500_000)
    codel = {"aqm": "codel", "target": "1ms", "interval": "5ms", "mtu": 64}
    asked = config.parse({"seed": SEED, "port": {"rate": 10**7}, "queue": [group(1024, **codel)]}, shape.queues)
    words, capture = write_words(tmp_path / "words.json", asked), pcap(tmp_path / "in.pcap", frames)
    rtl = ran(build.simulator(preset), tmp_path, words, capture)
    rtl.check()
    equal(rtl, ran(build.simulator(preset), tmp_path, words, capture, "--engine", "model"))
    used = sum(any(colour["sent"]["packets"] for colour in queue["colours"]) for queue in rtl.stats["queues"])
    print(used, "queues", total(rtl.stats, "departure_dropped"), "dropped")
    assert used > 700 and total(rtl.stats, "departure_dropped") > 50


@pytest.mark.parametrize("quantum", [1514, 700])
@pytest.mark.parametrize("preset", ["lab", "network-aqm"])
def test_the_order_is_that_of_rfc_8290(tmp_path, preset, quantum):
    """Flows of any kind, more than queues: each packet is in the queue that its hash selects, and each is next when the lists of the RFC say so.
    `lab` has the victim search, `network-aqm` has not."""
    rng, bits = random.Random(f"order {preset} {quantum}"), 3
    flows = [random_flow(rng) for _ in range(12)]
    frames, own = burst(rng, flows, 1500, 520_000)
    asked = {"seed": SEED, "port": {"rate": 10**7}, "queue": [group(8, quantum=quantum)]}
    trace = tmp_path / "trace.csv"
    found = lane(preset, tmp_path, asked, frames, "--trace", trace)
    rows, left = arrivals(trace), departures(tmp_path, found.stats)
    assert len(rows) == len(left) == len(frames)
    secret = key(SEED)
    for number, row in enumerate(rows):
        assert int(row["queue"]) == own[number].place(secret, bits), own[number]
    assert len({row["queue"] for row in rows}) > 4
    events = [(int(row["time"]) + LISTED_NS[preset], 0, number) for number, row in enumerate(rows)]
    events += [(at, 1, number) for at, number, _ in left]
    order = rfc8290.Flows(dict.fromkeys(range(8), quantum), waits=preset == "lab")
    passed = Counter()
    for _, leaves, number in sorted(events):
        if leaves:
            passed["new"] += bool(order.new)
            assert order.leaves() == number
        else:
            row = rows[number]
            passed["old again"] += not order.packets[int(row["queue"])] and int(row["queue"]) in order.old
            order.arrives(int(row["queue"]), number, int(row["len_bytes"]))
    print(passed, order.turns)
    assert passed["new"] > 50 and passed["old again"] > 10 and order.turns > 300


@pytest.mark.parametrize("preset", ["lab", "network-aqm"])
def test_collisions_are_those_of_names_and_departures(tmp_path, preset):
    """The lane's count is that of packets that were enqueued behind others, the last of them of a flow with another hash. Which queues are empty follows from departures:
    a packet that left well before a decision is gone, one that left after it is not. Where they meet within 200 ns, the decision's own view is taken."""
    secret, sums, close = key(SEED), Counter(), 0
    for seed in range(6):
        print("seed", seed)
        rng = random.Random(f"collisions {seed}")
        bits = rng.choice((1, 3))
        flows = [random_flow(rng) for _ in range(rng.choice((3, 12)))]
        frames, own = burst(rng, flows, 1500, rng.choice((300_000, 560_000, 900_000)))
        asked = {"seed": SEED, "port": {"rate": 10**7}, "queue": [group(2**bits, limit="20KB")]}
        trace = tmp_path / "trace.csv"
        found = lane(preset, tmp_path, asked, frames, "--trace", trace)
        rows, left = arrivals(trace), {number: at for at, number, _ in departures(tmp_path, found.stats)}
        last, inside, expected = {}, defaultdict(list), 0
        for number, row in enumerate(rows):
            if row["verdict"] != "0":
                assert number not in left
                continue
            queue, now, name = own[number].place(secret, bits), int(row["time"]), own[number].name(secret)
            assert queue == int(row["queue"])
            gone = [at + CHOSEN_NS for at in inside[queue]]
            inside[queue] = [at for at in inside[queue] if at + CHOSEN_NS > now - 200]
            holds = any(at > now + 200 for at in gone)
            if holds or not inside[queue]:
                assert holds == (row["queued_packets"] != "0"), number
            else:
                close, holds = close + 1, row["queued_packets"] != "0"
            differs = queue in last and last[queue] != name
            expected += holds and differs
            sums.update({"behind another": holds and differs, "behind its own": holds and not differs})
            sums.update({"another, but empty": differs and not holds, "enqueued": 1})
            last[queue] = name
            inside[queue].append(left[number])
        of_queues = [queue.get("flow_collisions") for queue in found.stats["queues"]]
        assert found.stats["flow_collisions"] == expected == sum(each or 0 for each in of_queues)
        assert None not in of_queues[: 2**bits] and not any(of_queues[2**bits :])
        sums["refused"] += len(rows) - len(left)
    print(sums, close, "close")
    assert min(sums.values()) > 100 and close < 20


CODEL = {"aqm": "codel", "target": "1ms", "interval": "10ms", "mtu": "64B"}


@pytest.mark.parametrize("aqm", [{}, CODEL], ids=["tail", "codel"])
@pytest.mark.parametrize("preset", [nightly("lab"), "network-aqm"])
def test_flows_that_want_more_get_equal_shares(tmp_path, preset, aqm):
    """Seven flows with packets of different sizes and twice or three times their share, beside one that sends a little: the seven get the same, to 1 %.
    With CoDel, turns are interrupted by new flows while verdicts are open, and the bytes of dropped packets come back.
    """
    rng = random.Random("shares")
    flows = apart(rng, 8, key(SEED), 3)
    frames, rate = [], 10**8
    for i, flow in enumerate(flows):
        size = (90, 200, 340, 500, 777, 1000, 1300, 1514)[i]
        gap = size * 8 * 8 * 10**9 // rate // (2 + i % 2) if i else 2 * MS
        frames += [(at, flow, size, i) for at in range(i, 160 * MS, gap)]
    frames = [(at, flow.frame(size, i), size) for at, flow, size, i in sorted(frames, key=lambda each: each[0])]
    asked = {"seed": SEED, "port": {"rate": rate}, "queue": [group(8, limit="25KB", quantum="1514B", **aqm)]}
    found = lane(preset, tmp_path, asked, frames)
    shares = Counter()
    left = departures(tmp_path, found.stats)
    for at, number, size in left:
        if left[0][0] + 15 * MS <= at < left[0][0] + 160 * MS:
            shares[number] += size
    del shares[0]
    mean = sum(shares.values()) / 7
    print(
        {number: round(share / mean, 4) for number, share in sorted(shares.items())},
        total(found.stats, "departure_dropped"),
    )
    assert len(shares) == 7 and all(abs(share / mean - 1) < 0.01 for share in shares.values())
    assert (total(found.stats, "departure_dropped") > 100) == bool(aqm)


@pytest.mark.parametrize("preset", ["lab", "network-aqm"])
def test_the_flow_that_holds_most_loses_packets_where_the_pool_is_full(tmp_path, preset):
    """With `alpha` a flood fills its share of the pool alone. The packets of flows that send less than their share find room, all of them."""
    rng = random.Random("pool")
    flood, *others = apart(rng, 8, key(SEED), 3)
    frames = [(at, flood, 1000, 0) for at in range(0, 300 * MS, MS // 4)]
    for i, flow in enumerate(others, 1):
        frames += [(at + i, flow, 500, i) for at in range(0, 300 * MS, 5 * MS)]
    frames = [(at, flow.frame(size, i), size) for at, flow, size, i in sorted(frames, key=lambda each: each[0])]
    asked = {"seed": SEED, "port": {"rate": 10**7}, "queue": [group(8, limit="1MB", alpha=1)], "pool": {"size": "40KB"}}
    found = lane(preset, tmp_path, asked, frames)
    lost = [sum(colour["tail"]["packets"] for colour in queue["colours"]) for queue in found.stats["queues"][:8]]
    place = flood.place(key(SEED), 3)
    assert lost[place] > 500 and sum(lost) == lost[place], lost


@pytest.mark.parametrize("preset", ["lab", "network-aqm"])
def test_a_burst_beside_a_flood_finds_a_quarter_of_the_pool(tmp_path, preset):
    """With alpha = 1 the flood holds half of the pool, and a burst that arrives within 30 us then holds half of the other half: 9 or 10 packets of 16 cells in 640.
    By RFC 8290 the flood would lose packets at its head until the burst held as much, 19 or 20 packets."""
    flood, other = apart(random.Random("burst"), 8, key(SEED), 3)[:2]
    sent = [(at, flood, 1000) for at in range(0, 200 * MS, MS // 4)]
    sent += [(150 * MS + 1000 * i + 77, other, 1000) for i in range(30)]
    frames = [(at, flow.frame(size, 0), size) for at, flow, size in sorted(sent, key=lambda each: each[0])]
    asked = {"seed": SEED, "port": {"rate": 10**7}, "queue": [group(8, limit="1MB", alpha=1)]}
    found = lane(preset, tmp_path, asked | {"pool": {"size": "40KiB"}}, frames)
    colours = found.stats["queues"][other.place(key(SEED), 3)]["colours"]
    kept, lost = (sum(colour[name]["packets"] for colour in colours) for name in ("sent", "tail"))
    print(kept, "kept", lost, "lost")
    assert kept in (9, 10) and kept + lost == 30


@pytest.mark.parametrize("preset", ["lab", "network-aqm"])
def test_a_sparse_flow_passes_full_queues(tmp_path, preset):
    """A packet of a flow that sends less than a quantum at a time is the next that is chosen, behind whatever others have queued. Without `fq` it waits for their turns."""
    rng = random.Random("sparse")
    *full, sparse = apart(rng, 8, key(SEED), 3)
    frames = [(at, flow, 1000) for i, flow in enumerate(full) for at in range(i, 600 * MS, 3 * MS)]
    frames += [(at, sparse, 200) for at in range(50 * MS + 123, 600 * MS, 17 * MS)]
    frames.sort(key=lambda each: each[0])
    data = [(at, flow.frame(size, number), size) for number, (at, flow, size) in enumerate(frames)]
    trace, waited = tmp_path / "trace.csv", {}
    for queues in (
        [group(8, limit="25KB", quantum="1514B")],
        [{"name": f"q{i}", "dscp": [i], "limit": "25KB", "quantum": "1514B"} for i in range(8)],
    ):
        if len(queues) == 8:  # the same by classes
            names = {flow: i for i, flow in enumerate([*full, sparse])}
            data = [
                (at, Flow(**vars(flow) | {"dscp": names[flow]}).frame(size, number), size)
                for number, (at, flow, size) in enumerate(frames)
            ]
        asked = {"seed": SEED, "port": {"rate": 10**7}, "queue": queues}
        found = lane(preset, tmp_path, asked, data, "--trace", trace)
        rows, left = arrivals(trace), departures(tmp_path, found.stats)
        waits = []
        for at, number, _ in left:
            if frames[number][1] == sparse:
                listed = int(rows[number]["time"]) + LISTED_NS[preset]
                waits.append(sum(listed < other < at for other, *_ in left))
        waited[len(queues)] = waits
    print(waited)
    assert len(waited[1]) == len(waited[8]) > 30 and max(waited[1]) == 0 and min(waited[8]) >= 1


def test_fragments_and_frames_without_ip_have_their_queues(tmp_path):
    """Later fragments have no ports, so they have the queue of their addresses and protocol. Frames without IP are in the first queue of the group."""
    rng, secret, rows = random.Random("odd"), key(SEED), defaultdict(list)
    frames, wanted = [], []
    for number in range(64):
        flow = random_flow(rng, six=False, src=rng.getrandbits(32), dst=rng.getrandbits(32), protocol=17, vlan=0)
        frame = bytearray(flow.frame(100, number))
        if number % 2:
            frame[12:14] = b"\x88\xb5"
            wanted.append(0)
        else:
            frame[20:22] = struct.pack(">H", 1 + number)
            wanted.append(Flow(flow.src, flow.dst, (0, 0)).place(secret, 3))
        frames.append((number * MS, bytes(frame), 100))
    asked = {"seed": SEED, "port": {"rate": 10**7}, "queue": [{"name": "voice", "dscp": ["EF"]}, group()]}
    trace = tmp_path / "trace.csv"
    lane("lab", tmp_path, asked, frames, "--trace", trace)
    rows = arrivals(trace)
    assert [int(row["queue"]) for row in rows] == [8 + place for place in wanted]
    assert len(set(wanted)) == 8


@pytest.mark.parametrize("seed", range(1, 7))
def test_flows_of_a_group_use_the_whole_flow_table(tmp_path, seed):
    """The queue of a flow and its set in the flow table come from one seed. As many flows find their set full as if each set were drawn by itself."""
    rng, flows, sets, ways = random.Random(f"sets {seed}"), 2400, 1024, 4
    made = [random_flow(rng, protocol=TCP, vlan=0, six=True) for _ in range(flows)]
    frames = []
    for number, flow in enumerate(made):
        frame = bytearray(flow.frame(100, number))
        frame[66:68] = b"\x50\x10"  # TCP's header has 20 bytes; ACK
        frames.append((100_000 * number, bytes(frame), 100))
    marker = {"queue": "flows", "kind": "3cpm"}
    asked = {"seed": seed, "port": {"rate": 10**9}, "queue": [group(8)], "marker": [marker]}
    events = lane("network-aqm", tmp_path, asked, frames).stats["flow_events"]
    expected = sum(
        (k - ways) * sets * math.comb(flows, k) * (sets - 1) ** (flows - k) / sets**flows for k in range(ways + 1, 40)
    )
    print(events, f"{expected:.1f} collisions are expected")
    assert abs(events["collision"] - expected) < 0.3 * expected
