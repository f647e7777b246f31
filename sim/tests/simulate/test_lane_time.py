"""Lane time: 64 bits outside, modulo 2^48 ns in the lane; silences of up to 24 hours are carried to the nanosecond."""

import json

import pytest

from support.captures import pcap, stamps
from support.frames import ip4
from support.runs import SHIPPED, check, run

pytestmark = pytest.mark.slow


HOUR = 3600 * 10**9
EPOCH = 1_700_000_000 * 10**9
WRAP = 2**48


def decided(tmp_path, engine, gaps, *arguments):
    """When frames with these silences between them had their verdicts, ns after the first, and the run's figures.

    They leave that much later too, but for the phase of the shaper's scan, some clocks.
    """
    times = [EPOCH + sum(gaps[:i]) for i in range(len(gaps) + 1)]
    capture = pcap(tmp_path / "in.pcap", [(t, ip4(100), 114) for t in times])
    stats = run(tmp_path, capture, "--engine", engine, "--out", tmp_path / "out.pcapng", *arguments)
    assert stats["packets"] == len(times)
    at = [sample[0] for sample in stats["samples"]]
    for seen, out in zip(at, stamps(tmp_path / "out.pcapng"), strict=True):
        assert 0 <= out - EPOCH - (seen - stats["lane_start_ns"]) < 10**6  # behind another at 2 Mbit/s
    return [t - at[0] for t in at], stats


@pytest.mark.parametrize("engine", ["rtl", "model"])
def test_silences_up_to_a_day_are_exact_and_add_up(tmp_path, engine):
    gaps = [24 * HOUR, 23 * HOUR + 4, 10**9, 24 * HOUR]
    got, stats = decided(tmp_path, engine, gaps)
    assert got == [sum(gaps[:i]) for i in range(len(gaps) + 1)]
    assert stats["warnings"] == {} and stats["seconds"] > 71 * 3600
    assert all(sample[0] >= stats["lane_start_ns"] for sample in stats["samples"])


@pytest.mark.parametrize("engine", ["rtl", "model"])
def test_a_longer_silence_is_cut_to_a_day_and_counted(tmp_path, engine):
    got, stats = decided(tmp_path, engine, [24 * HOUR + 4, 1000, 10**5 * HOUR, 1000])
    assert got == [0, 24 * HOUR, 24 * HOUR + 1000, 48 * HOUR + 1000, 48 * HOUR + 2000]
    assert stats["warnings"] == {"time_jump": 2}


def test_a_silence_that_speed_makes_longer_than_a_day_is_cut_as_well(tmp_path):
    got, stats = decided(tmp_path, "model", [HOUR, HOUR // 10], "--speed", "0.01")
    assert got == [0, 24 * HOUR, 34 * HOUR] and stats["warnings"] == {"time_jump": 1}


SECOND, MILLISECOND = 10**9, 10**6
# Steps from frame to frame on the capture's clock, and when the frames come, all ns.
SET_BACK = {
    "a little": ([SECOND, -MILLISECOND, 3 * MILLISECOND], [0, SECOND, SECOND, SECOND + 2 * MILLISECOND]),
    "until it is reached": (
        [SECOND, -MILLISECOND, 400_000, MILLISECOND],
        [0, SECOND, SECOND, SECOND, SECOND + 400_000],
    ),
    "an hour": ([SECOND, -HOUR, MILLISECOND, HOUR], [0, SECOND, SECOND, SECOND, SECOND + MILLISECOND]),
    "over an hour": (
        [SECOND, -HOUR - 4, MILLISECOND, 8],
        [0, SECOND, SECOND, SECOND + MILLISECOND, SECOND + MILLISECOND + 8],
    ),
    "twice": ([SECOND, -2 * HOUR, SECOND, -3 * HOUR, SECOND], [0, SECOND, SECOND, 2 * SECOND, 2 * SECOND, 3 * SECOND]),
}


@pytest.mark.parametrize("name", SET_BACK)
def test_after_a_clock_is_set_back_times_count_from_there(tmp_path, name):
    """Back by up to an hour is disorder: the frame takes the last one's time. Back by more: the clock was set, and counts on."""
    gaps, expected = SET_BACK[name]
    got, stats = decided(tmp_path, "model", gaps)
    # Frames of one time come one behind another, some cycles apart.
    assert all(0 <= at - wanted < 1000 for at, wanted in zip(got, expected, strict=True)), got
    assert stats["warnings"]["time_back"] >= 1


@pytest.mark.parametrize("engine", ["rtl", "model"])
def test_wraps_before_and_within_a_run_change_nothing(tmp_path, engine):
    out, found, samples = {}, {}, None
    for start in (10**6, 3 * WRAP + 10**6, WRAP - 4 * 10**9):
        stats = run(tmp_path, SHIPPED, "--engine", engine, "--out", tmp_path / "out.pcapng", "--start-ns", start)
        assert stats["lane_start_ns"] == start
        for name in ("samples", "events"):
            for item in stats[name]:
                item[0] -= start
        found[start] = json.dumps([stats[name] for name in ("queues", "seconds")])
        if start >= WRAP:  # behind; across a wrap averages may differ a little, docs/limits/policy.md
            assert [stats[name] for name in ("samples", "events")] == samples
        samples = samples or [stats[name] for name in ("samples", "events")]
        out[start] = (tmp_path / "out.pcapng").read_bytes()
        if engine == "rtl":
            check(stats)
    assert len(set(out.values())) == len(set(found.values())) == 1
