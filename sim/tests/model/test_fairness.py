"""The published table of REDP's fairness: its traffic, its counts, and that it says what the model does."""

import json
import random
from ctypes import byref

import pytest

from support.marker_lanes import Lane
from support.model_bindings import Marked, draws, library
from vermilion.measure import fairness


@pytest.mark.parametrize("pattern", fairness.PATTERNS)
def test_flows_of_a_pattern_have_equal_rates_that_make_up_the_load(pattern):
    packets = fairness.arrivals(pattern, 1.5, seed=3, packets=30_000)
    assert packets == sorted(packets, key=lambda packet: packet[0]) and len(packets) == 30_000
    assert packets == fairness.arrivals(pattern, 1.5, seed=3, packets=30_000)
    counts = [sum(flow == each for _, flow in packets) for each in range(fairness.FLOWS)]
    spread = 300 if pattern == "random gaps" else 2
    assert all(abs(count - 5000) <= spread for count in counts), counts
    offered = 30_000 * fairness.PACKET_BYTES * 8e9 / packets[-1][0]
    assert abs(offered / (1.5 * fairness.RATE) - 1) < 0.03


def test_patterns_are_what_their_names_say():
    period = fairness.PERIOD_NS / 1.5
    at = lambda name: [
        [int(n % period) for n, flow in fairness.arrivals(name, 1.5, 1, 600) if flow == f] for f in range(6)
    ]
    phase = lambda name: [round(sum(times) / len(times) / period * 6) for times in at(name)]
    assert phase("even") == [0, 1, 2, 3, 4, 5] and phase("all at once") == [0] * 6
    assert phase("one and five") == [0, 3, 3, 3, 3, 3] and phase("three and three") == [0, 0, 0, 3, 3, 3]
    kept = [[flow for _, flow in fairness.arrivals("all at once", 1.5, 1, 60)][i : i + 6] for i in range(0, 60, 6)]
    mixed = fairness.arrivals("all at once, in a new order each time", 1.5, 1, 60)
    assert kept == [list(range(6))] * 10 and len({tuple(f for _, f in mixed[i : i + 6]) for i in range(0, 60, 6)}) > 5


@pytest.mark.parametrize("marker", fairness.MARKERS)
def test_counts_are_those_of_the_model_by_itself(marker):
    packets = fairness.arrivals("three and three", 1.5, 1, 20_000)
    got = fairness.demotions(fairness.program(), marker, packets, seed=7)
    lane = Lane(fairness.lane(marker))
    handle, out, source, want = library().vm_marker_create(), Marked(), draws(7), [0] * fairness.FLOWS
    for ns, flow in packets:
        library().vm_marker_mark(handle, byref(lane.queues[0].marker), ns, 0, 1000, next(source), byref(out))
        want[flow] += out.colour == 1
    library().vm_marker_destroy(handle)
    assert got == want


def test_the_published_rows_are_found_again():
    kept = json.loads(fairness.PAGE.with_suffix(".json").read_text())
    rows, rng = kept["rows"], random.Random()
    assert [(row["pattern"], row["load"]) for row in rows] == [
        (p, x) for p in fairness.PATTERNS for x in fairness.LOADS
    ]
    page = fairness.PAGE.read_text()
    assert all("| " + " | ".join(fairness.cells(row)) + " |\n" in page for row in rows)
    for row in rng.sample(rows, 3):
        number, name = rng.randrange(len(fairness.SEEDS)), rng.choice(list(fairness.MARKERS))
        seed = fairness.SEEDS[number]
        print(row["pattern"], row["load"], name, seed)
        packets = fairness.arrivals(row["pattern"], row["load"], seed)
        assert fairness.demotions(fairness.program(), name, packets, seed) == row[name][number]


def test_what_the_page_says_stands_in_its_figures():
    rows = json.loads(fairness.PAGE.with_suffix(".json").read_text())["rows"]
    at = {(row["pattern"], row["load"]): row for row in rows}
    worst = lambda pattern, load, name: max(map(fairness.ratio, at[pattern, load][name]))
    for load in (1.2, 1.5):
        assert worst("even", load, "redp") < 1.06 and worst("even", load, "leaf") == float("inf")
        share = 1 - 1 / load
        d = 5 * (1 - share) * 0.5 / 15
        told = (share + d / 2) / (share - d / 2)
        assert abs(worst("all at once", load, "redp") / told - 1) < 0.12
        assert worst("all at once", load, "deep") - 1 < (worst("all at once", load, "redp") - 1) / 3
    assert worst("even", 2.0, "redp") > 1.2
    for pattern in ("all at once, in a new order each time", "random gaps"):
        assert max(worst(pattern, load, name) for load in fairness.LOADS for name in fairness.MARKERS) < 1.1
