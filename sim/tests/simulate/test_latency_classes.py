"""The histogram of latencies in a run's JSON, against the trace and the output capture."""

import collections
import csv
import io

import pytest

from support.captures import stamps
from support.runs import SHIPPED, run

pytestmark = pytest.mark.slow

FIFO = """
[port]
rate = "%s"

[[queue]]
name = "all"
default = true
dscp = ["default"]
limit = "2MB"
"""


def lower_bound(ns):
    """Of the class: 16 values of their own, then 8 classes for each doubling."""
    width = 1
    while ns // width >= 16:
        width *= 2
    return ns // width * width


@pytest.mark.parametrize("rate, widest", [("1Mbit", 10**9), ("2Gbit", 10**3)])
def test_the_histogram_is_that_of_the_times_of_decision_and_departure(tmp_path, rate, widest):
    file, out, trace = (tmp_path / name for name in ("c.toml", "out.pcapng", "trace.csv"))
    file.write_text(FIFO % rate)
    stats = run(tmp_path, SHIPPED, "--engine", "model", "--config", file, "--out", out, "--trace", trace)
    rows = [row for row in csv.DictReader(io.StringIO(trace.read_text())) if row["refresh"] == "0"]
    decided = [int(row["time"]) - stats["lane_start_ns"] for row in rows if row["verdict"] in "01"]
    left = [ns - stats["capture_start_ns"] for ns in stamps(out)]
    latencies = [gone - came for came, gone in zip(decided, left, strict=True)]
    assert min(latencies) >= 0 and max(latencies) > widest
    expected = collections.Counter(map(lower_bound, latencies))
    (queue,) = stats["queues"]
    assert queue["latency"] == sorted([at, count] for at, count in expected.items())
    assert queue["latency_max_ns"] == max(latencies)
    assert len(expected) > 8
