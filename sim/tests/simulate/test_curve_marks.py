"""Marks of curves as packets leave: both engines decide the same, and as RED does in exact fractions; a step is exact to a packet."""

import csv
import io
import random
import re
from collections import Counter, deque
from fractions import Fraction

import pytest
from scapy.utils import RawPcapNgReader

from support import random_lanes
from support.captures import pcap
from support.engine_outputs import run as ran
from support.engine_outputs import same as equal
from support.engine_outputs import write_words
from support.nightly import NIGHTLY, nightly
from support.runs import run, total
from support.tc_traffic import frame
from vermilion.oracle.xoshiro import Source, words
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

SEED = 5
TAKEN_NS = 12  # from the choice of a packet to its departure
LISTED_NS = 116  # from a packet's time to where it counts as queued


@pytest.mark.parametrize("preset", ["lab", nightly("nic100g-codel")])
def test_both_engines_are_one_with_marks_at_departure(tmp_path, preset):
    """Random queues of all kinds, of which those with curves mark at departure. The replay computes each verdict from what the lane shows."""
    shape, program = build.shape(preset), build.simulator(preset)
    marks = Counter()
    for seed in range(1, 101 if NIGHTLY else 17):
        print("seed", seed)
        rng = random.Random(f"curve marks {seed}")
        asked = random_lanes.configuration(rng, shape, late_share=0.7)
        made = write_words(tmp_path / "words.json", asked)
        capture = random_lanes.capture(tmp_path / "in.pcap", rng, 400)
        rtl = ran(program, tmp_path, made, capture)
        rtl.check()
        assert rtl.stats["replay"]["departures"] == rtl.stats["replay"]["departures_agreed"] > 0
        equal(rtl, ran(program, tmp_path, made, capture, "--engine", "model"))
        late = [queue for queue in asked.queue if queue.mark_at == "dequeue"]
        marks["by curve"] += len(re.findall(rb"by=curve", rtl.why))
        marks["depth"] += sum(queue.average.weight == 1 for queue in late)
        marks["average"] += sum(queue.average.weight < 1 for queue in late)
    print(marks)
    assert marks["by curve"] > 100 and min(marks["depth"], marks["average"]) > 1


CONFIG = """
seed = SEED

[port]
rate = "100Mbit"

[[queue]]
name    = "all"
default = true
dscp    = ["default"]
limit   = "LIMIT"
ecn     = true
mark_at = "MARK_AT"
average = { weight = WEIGHT, unit = "UNIT", kind = "KIND" }
green   = GREEN
EXTRA
"""


class Run:
    """A run of the RTL, from the captures that go in and out and from the trace: for each packet that leaves what the level was."""

    def __init__(self, tmp_path, frames, engine="rtl", **of):
        text = CONFIG
        for name, value in ({"SEED": SEED, "LIMIT": "1MB", "EXTRA": "", "KIND": "wred"} | of).items():
            text = text.replace(name, str(value))
        file, out, why, trace = (tmp_path / name for name in ("config.toml", "out.pcapng", "why.pcapng", "trace.csv"))
        file.write_text(text)
        more = ("--config", file, "--out", out, "--why", why, "--trace", trace, "--engine", engine)
        self.stats = run(tmp_path, pcap(tmp_path / "in.pcap", frames), *more)
        rows = list(csv.DictReader(io.StringIO(trace.read_text())))
        self.rows = [row for row in rows if row["refresh"] == "0"]
        start = self.stats["lane_start_ns"] - self.stats["capture_start_ns"]
        self.left, self.out_ecn, self.reasons = {}, {}, {}  # by frame
        with RawPcapNgReader(str(out)) as packets:
            for data, about in packets:
                number = int.from_bytes(data[50:54], "big")
                self.left[number] = (about.tshigh << 32) + about.tslow + start
                self.out_ecn[number] = data[15] & 3
        with RawPcapNgReader(str(why)) as packets:
            for _, about in packets:
                reason, number = re.match(rb"reason=(\w+) frame=(\d+)", about.comments[0]).groups()
                self.reasons[int(number)] = reason.decode()
        # What is queued behind each packet as it is taken, and the averages then; from the times alone.
        events = [(int(row["time"]) + LISTED_NS, 0, number) for number, row in enumerate(self.rows)]
        events += [(at - TAKEN_NS, 1, number) for number, at in self.left.items()]
        refreshes = [row for row in rows if row["refresh"] == "1"]
        events += [(int(row["time"]) + LISTED_NS, 2, number) for number, row in enumerate(refreshes)]
        behind, self.packets, self.bytes, self.averages, self.order = deque(), {}, {}, {}, []
        averages = [Fraction(0)] * 3
        for _, kind, number in sorted(events):
            row = refreshes[number] if kind == 2 else self.rows[number]
            if kind == 1:
                assert behind.popleft() == number, "not first in, first out"
                self.packets[number] = len(behind)
                self.bytes[number] = sum(int(self.rows[other]["len_bytes"]) for other in behind)
                self.averages[number] = averages[int(row["colour"])]
                self.order.append(number)
                continue
            averages = [Fraction(int(row[f"average_{colour}"]), 2**16) for colour in range(3)]
            if kind == 0 and number in self.left:
                behind.append(number)
        assert not behind


def traffic(rng, count, mean, sizes=(60, 500, 1500)):
    """Frames of all ECN fields, with their number, for a port of 100 Mbit/s that is overloaded for a while, then not."""
    now, frames = 0, []
    for i in range(count):
        size = rng.choice(sizes)
        data = bytearray(frame(size, ecn=rng.randrange(4)))
        data[50:54] = i.to_bytes(4, "big")
        frames.append((now, bytes(data), size))
        now += rng.choice((1000, mean // 2, 2 * mean)) if i % 300 < 200 else 3 * mean
    return frames


def red(level, low, high, p, gentle):
    """Floyd's curve: the probability at a level, exactly."""
    if level < low:
        return Fraction(0)
    if level < high:
        return p * Fraction(level - low, high - low)
    if gentle and level < 2 * high:
        return p + (1 - p) * Fraction(level - high, high)
    return Fraction(1)


CASES = {
    "red of the depth in bytes": ("ecn", 4000, 30_000, 0.25, False, 1, "byte", "arrival"),
    "gentle of the depth in packets": ("ecn", 3, 20, 0.5, True, 1, "packet", "arrival"),
    "gentle of the average in bytes": ("own", 4000, 20_000, 0.5, True, 0.25, "byte", "arrival"),
    "red of the average with departures": ("ecn", 3000, 25_000, 1.0, False, 0.125, "byte", "both"),
}


@pytest.mark.parametrize("case", CASES)
def test_every_mark_is_that_of_red_in_fractions(tmp_path, case):
    """From times and lengths: each packet is marked if and only if its random number is below RED's probability at its level. The random number is
    one of [0, 1) that two draws of the test's own give: which part of the curve, and where in it."""
    which, low, high, p, gentle, weight, unit, update = CASES[case]
    curve = f'{{ curve = "{"gentle" if gentle else "red"}", min = {low}, max = {high}, p = {p} }}'
    green = f'{{ curve = "tail", ecn = {curve} }}' if which == "ecn" else curve
    frames = traffic(random.Random(case), 2500, 54_000)
    weights = f'{weight}, update = "{update}"'
    seen = Run(tmp_path, frames, MARK_AT="dequeue", WEIGHT=weights, UNIT=unit, GREEN=green)
    state = words(SEED, 2)
    source, met, expected, p = Source(state[2:] + state[:2]), Counter(), 0, Fraction(p)
    for number in seen.order:
        ecn = int(seen.rows[number]["ecn"])
        level = seen.averages[number] if weight < 1 else (seen.packets if unit == "packet" else seen.bytes)[number]
        if not ecn:
            assert seen.out_ecn[number] == 0
            continue
        u, v = Fraction(source.draw(), 2**32), Fraction(source.draw() >> 15, 2**17)
        chance = red(level, low, high, p, gentle)
        draw = p * v if u < p else p + (1 - p) * v
        marked = draw < chance
        assert (seen.reasons.get(number) == "departure_marked") == marked, (number, float(level), float(chance))
        assert seen.out_ecn[number] == (3 if marked else ecn)
        expected += chance
        met["below" if not chance else "above" if chance == 1 else "between", marked] += 1
    print(case, met, float(expected))
    between = met["between", True], met["between", False]
    assert min(between) > 30 and met["below", False] > 30 and not met["below", True] and not met["above", False]
    assert "gentle" in case or met["above", True] > 30
    marks = sum(count for (_, marked), count in met.items() if marked)
    assert abs(marks - expected) < 4 * len(seen.order) ** 0.5 / 2
    assert marks == total(seen.stats, "departure_marked") and total(seen.stats, "marked") == 0
    if which == "own":  # the packets that are not ECT are dropped by the same curve as they arrive
        assert total(seen.stats, "early") > 10 and all(row["ecn"] == "0" for row in seen.rows if row["verdict"] == "2")


STEPS = [("byte", 15_000), ("packet", 15)]


@pytest.mark.parametrize("unit, k", STEPS)
@pytest.mark.parametrize("engine", ["rtl", "model"])
def test_a_step_at_departure_is_exact_to_a_packet(tmp_path, engine, unit, k):
    """DCTCP: min = max = K and a weight of 1. Packets of 1,000 bytes behind which less than K is queued leave without CE, all others with CE. Those
    with one packet less than K and with K itself are met; so are packets that were CE before, and those with a ce_threshold, too."""
    frames = traffic(random.Random(k), 1500, 80_000, sizes=(1000,))
    green = f'{{ curve = "tail", ecn = {{ curve = "red", min = {k}, max = {k}, p = 1 }} }}'
    seen = Run(tmp_path, frames, engine, MARK_AT="dequeue", WEIGHT=1, UNIT=unit, GREEN=green)
    met = Counter()
    for number in seen.order:
        ecn, depth = int(seen.rows[number]["ecn"]), seen.packets[number]
        assert seen.bytes[number] == 1000 * depth
        assert seen.out_ecn[number] == (3 if ecn and depth >= 15 else ecn), (number, depth)
        met[depth, ecn] += 1
    print(sorted(met.items()))
    assert all(met[depth, ecn] > 0 for depth in (13, 14, 15, 16) for ecn in range(4))
    assert total(seen.stats, "departure_marked") == sum(met[at] for at in met if at[0] >= 15 and at[1])


@pytest.mark.parametrize("unit, k", STEPS)
def test_a_step_at_arrival_is_exact_to_a_packet(tmp_path, unit, k):
    """The same on arrival, of packets that come more than 23 cycles apart: what is queued before the packet decides."""
    frames = traffic(random.Random(k), 1500, 80_000, sizes=(1000,))
    green = f'{{ curve = "tail", ecn = {{ curve = "red", min = {k}, max = {k}, p = 1 }} }}'
    seen = Run(tmp_path, frames, MARK_AT="enqueue", WEIGHT=1, UNIT=unit, GREEN=green)
    gone, met = sorted(seen.left.values()), Counter()
    for number, row in enumerate(seen.rows):
        now, ecn = int(row["time"]), int(row["ecn"])
        assert all(abs(now - at) > 8 for at in gone), "a departure is too near to tell"
        depth = number - sum(at < now for at in gone)
        assert seen.out_ecn[number] == (3 if ecn and depth >= 15 else ecn), (number, depth)
        met[depth, ecn] += 1
    assert all(sum(met[depth, ecn] for ecn in range(4)) > 5 for depth in (13, 14, 15, 16))
    assert met[14, 1] and met[15, 1] and met[14, 2] and met[15, 2] and met[14, 3] and met[15, 3]
    assert total(seen.stats, "departure_marked") == 0


def test_a_ce_threshold_and_a_curve_mark_a_packet_once(tmp_path):
    """The frames that leave with CE are those over the threshold in time or in depth, and each counts once."""
    frames = traffic(random.Random(8), 1200, 80_000, sizes=(1000,))
    green = '{ curve = "tail", ecn = { curve = "red", min = "15KB", max = "15KB", p = 1 } }'
    seen = Run(tmp_path, frames, MARK_AT="dequeue", WEIGHT=1, UNIT="byte", GREEN=green, EXTRA='ce_threshold = "1200us"')
    met = Counter()
    for number in seen.order:
        row = seen.rows[number]
        by_time = (seen.left[number] - TAKEN_NS) // 1024 - int(row["time"]) // 1024 > 1_200_000 // 1024
        by_depth = seen.packets[number] >= 15
        if row["ecn"] == "0":
            assert seen.out_ecn[number] == 0
            continue
        assert (seen.reasons.get(number) == "departure_marked") == (by_time or by_depth)
        met[by_time, by_depth] += 1
    print(met)
    assert min(met[pair] for pair in ((True, False), (False, True), (True, True), (False, False))) > 5
    assert total(seen.stats, "departure_marked") == sum(met[pair] for pair in met if any(pair))
