"""Push-outs under every curve, spacing and kind of frame: both engines are one, every frame is accounted for, and the search meets what it should."""

import csv
import io

import pytest

from support.runs import same
from support.victim_kinds import RED_FORM, mixed

pytestmark = pytest.mark.slow

TAIL_FORM = """
[port]
rate = "%s"

[[queue]]
name = "exred"
dscp = ["AF11", "AF12", "AF13"]
limit = "40KB"
victim = "nearest"
victim_window = 16
spacing = "wait"
size_weight = "700B"
average = { weight = 0.05 }
green = { curve = "exred", min = "20KB", max = "30KB", p = 0.05 }

[[queue]]
name = "own marks"
dscp = ["AF21", "AF22", "AF23"]
limit_packets = "40p"
victim = "nearest"
victim_window = 7
ecn = true
average = { weight = 0.1, unit = "packet" }
green = { curve = "tail", ecn = { min = 10, max = 10, p = 1.0 } }

[[queue]]
name = "six"
dscp = ["AF31", "AF32", "AF33"]
limit = "40KB"
limit_packets = "60p"
victim = "nearest"
victim_window = 16
victim_by_colour = true

[[queue]]
name = "rest"
default = true
limit = "15KB"
victim = "nearest"
victim_window = 1
"""
INFERRED_OF_ZERO = 32  # TTL 0 counts as come from 32


@pytest.mark.parametrize(
    "text, seed, rate, pace",
    [
        (RED_FORM, 31, "600Mbit", ("--speed", 1)),
        (RED_FORM, 32, "3Gbit", ("--rate", 12_000_000_000)),
        (TAIL_FORM, 33, "600Mbit", ("--speed", 1)),
        (TAIL_FORM, 34, "3Gbit", ("--rate", 12_000_000_000)),
    ],
    ids=["red", "red-at-wire-rate", "tail", "tail-at-wire-rate"],
)
def test_both_engines_are_one_with_all_kinds_of_curves_and_frames(tmp_path, text, seed, rate, pace):
    print("seed", seed)
    file = tmp_path / "config.toml"
    file.write_text(text % rate)
    capture = mixed(tmp_path / "in.pcap", seed, 5000)
    stats, trace = same(tmp_path, capture, "--config", file, *pace, traced=True)
    rows = [row for row in csv.DictReader(io.StringIO(trace)) if row["evicted"]]
    lost = [row for row in rows if "1" in (row["evicted"], row["victim_marked"])]
    by_queue = {n: [row for row in lost if row["queue"] == str(n)] for n in range(4)}
    print({n: len(found) for n, found in by_queue.items()})
    assert all(len(found) >= 10 for found in by_queue.values())
    assert all(int(row["victim_distance"]) <= int(row["distance"]) for row in lost)
    victims = lambda name: {int(row[name]) for row in lost}
    assert max(victims("victim_bytes")) > 4000, "no jumbo frame was a victim"
    assert INFERRED_OF_ZERO in {int(row["distance"]) for row in lost}, "no packet of TTL 0 was spared"
    for number, queue in enumerate(stats["queues"]):
        held = [row for row in rows if row["queue"] == str(number)]
        assert (queue["push_outs"], queue["stale"]) == (len(held), sum(row["stale"] == "1" for row in held))
        counted = dict(map(tuple, queue["victims_by_distance"]))
        assert sum(counted.values()) == len(by_queue[number])
        assert all(
            count == sum(int(row["victim_distance"]) == d for row in by_queue[number]) for d, count in counted.items()
        )
    assert stats["queues"][3]["lost_without_distance"] > 0
    if text == RED_FORM:
        assert any(row["victim_marked"] == "1" for row in by_queue[1] + by_queue[2])
        assert {row["provisional_verdict"] for row in rows} == {"1", "2", "3"}
    else:
        assert {row["provisional_verdict"] for row in rows} == {"4"}
        early = sum(
            c[name]["packets"] for q in stats["queues"][:2] for c in q["colours"] for name in ("early", "marked")
        )
        assert early > 0, "the curve beside the tail-drop form did nothing"
