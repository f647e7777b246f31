"""Drops of the nearest packet through the whole lane: both engines are one, the victim is the right one, the counters say so, and hops are saved."""

import csv
import io

import pytest

from support.nightly import nightly
from support.runs import SHIPPED, check, run, same, total, vermilion
from support.victims import CONFIG, TAILED, check_tail_drops, traffic


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed, longest, rate, pace",
    [
        (1, 1400, "2Gbit", ("--speed", 1)),
        nightly(2, 1400, "7Gbit", ("--rate", 15_000_000_000)),
        nightly(3, 40, "150Mbit", ("--speed", 1)),
        (4, 40, "7Gbit", ("--rate", 15_000_000_000)),
    ],
    ids=["mixed", "mixed-at-wire-rate", "short", "short-at-wire-rate"],
)
def test_both_engines_are_one_with_push_outs(tmp_path, seed, longest, rate, pace):
    file = tmp_path / "config.toml"
    file.write_text(CONFIG % rate)
    capture = traffic(tmp_path / "in.pcap", seed, 6000, longest=longest)
    stats, trace = same(tmp_path, capture, "--config", file, *pace, traced=True)
    queues = {q["name"]: q for q in stats["queues"]}
    rows = [row for row in csv.DictReader(io.StringIO(trace)) if row["evicted"]]
    evicted = [row for row in rows if row["evicted"] == "1"]
    marked = [row for row in rows if row["victim_marked"] == "1"]
    stale = [row for row in rows if row["stale"] == "1"]
    print({"push_outs": len(rows), "evicted": len(evicted), "marked": len(marked), "stale": len(stale)})
    assert len(evicted) > 100 and len(marked) > 20
    assert all(int(row["victim_distance"]) <= int(row["distance"]) for row in evicted + marked)
    for row in evicted + marked:  # who arrives is in, in the other's stead
        assert row["verdict"] == "0" and row["provisional_verdict"] in "123" and row["stale"] == "0"
    coloured = [row for row in evicted + marked if row["queue"] == "2"]
    assert coloured and all(row["victim_colour"] >= row["colour"] for row in coloured)
    assert all(row["provisional_verdict"] != "3" for row in marked), "a forced drop is never a mark"
    for name, queue in queues.items():
        assert ("push_outs" in queue) == (name in ("plain", "ecn", "coloured"))
        lost = sum(packets for _, packets in queue["lost_by_distance"]) + queue["lost_without_distance"]
        names = ("early", "forced", "tail", "evicted")
        assert lost == sum(per[kind]["packets"] for per in queue["colours"] for kind in names)
        assert queue["wasted_hops"] == sum(d * packets for d, packets in queue["lost_by_distance"])


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed, longest, rate, pace",
    [(11, 1400, "2Gbit", ("--speed", 1)), (12, 40, "6Gbit", ("--rate", 15_000_000_000))],
    ids=["mixed", "short-at-wire-rate"],
)
def test_both_engines_are_one_where_the_nearest_of_the_last_pays_for_a_tail_drop(tmp_path, seed, longest, rate, pace):
    file = tmp_path / "config.toml"
    file.write_text(TAILED % rate)
    stats, trace = same(
        tmp_path, traffic(tmp_path / "in.pcap", seed, 6000, longest=longest), "--config", file, *pace, traced=True
    )
    check_tail_drops(csv.DictReader(io.StringIO(trace)))
    assert total(stats, "evicted") > 100


@pytest.mark.slow
def test_hops_are_saved(tmp_path):
    """The same traffic through the same curves, with the arriving packet and with the nearest: as many losses, fewer hops each."""
    capture, mean = traffic(tmp_path / "in.pcap", 5, 8000, classes=("plain",)), {}
    for victim in ("arriving", "nearest"):
        file = tmp_path / f"{victim}.toml"
        file.write_text((CONFIG % "3Gbit").replace('"nearest"', f'"{victim}"').replace("victim_by_colour = true", ""))
        stats = run(tmp_path, capture, "--config", file, "--engine", "model")
        queue = stats["queues"][0]
        lost = sum(packets for _, packets in queue["lost_by_distance"])
        assert lost > 500
        mean[victim] = queue["wasted_hops"] / lost
    print(mean)
    assert mean["nearest"] < 0.6 * mean["arriving"]


@pytest.mark.slow
def test_the_shipped_capture_goes_through_with_push_outs(tmp_path):
    text = (SHIPPED.parents[1] / "configs" / "default.toml").read_text()
    file = tmp_path / "config.toml"
    file.write_text(text.replace("[[queue]]", '[[queue]]\nvictim = "nearest"'))
    for speed in (1, 20):
        stats, _ = same(tmp_path, SHIPPED, "--config", file, "--speed", speed)
    assert total(stats, "evicted") > 0 and total(stats, "nobuf") > 0


def test_a_build_without_the_search_says_so(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(CONFIG % "1Gbit")
    status, out, err = vermilion("run", SHIPPED, "--preset", "nic10g", "--engine", "model", "--config", file)
    assert status == 2 and 'queue "plain", number 0, has victim = "nearest"' in err, out + err
    assert "this build can only drop the arriving packet" in err
    status, out, err = vermilion("check", file, "--victims", 2)
    assert status == 2 and 'queue "coloured", number 2' in err and "in queues 0 to 1" in err, out + err
    status, out, err = vermilion("check", file)
    assert status == 0 and "the nearest, of its colour or worse" in out, out + err
    file.write_text(TAILED % "1Gbit")
    status, out, err = vermilion("check", file)
    assert status == 0 and "the nearest of the last 16, at the limit" in out, out + err
    file.write_text((TAILED % "1Gbit").replace("victim_window = 16", "victim_window = 17"))
    status, out, err = vermilion("check", file)
    assert status == 2 and "victim_window is 17" in err and "1 to 16 packets" in err, out + err


MISUSED = """
[port]
rate = "1Gbit"

[[queue]]
name = "q"
default = true
limit = "20KB"
victim = "nearest"
%s
"""
CURVE = 'green = { curve = "red", min = "5KB", max = "10KB", p = 0.1 }'
ECN_CURVE = 'ecn = true\ngreen = { curve = "tail", ecn = { min = "5KB", max = "10KB", p = 0.1 } }'


@pytest.mark.parametrize(
    "lines, note",
    [
        ("", "nothing is pushed out"),
        (CURVE, None),
        (ECN_CURVE, None),
        ("victim_window = 4", None),
        (CURVE + "\ndistance = { option = false, infer = false }", "all distances are 63"),
        (CURVE + "\ndistance = { option = false }", None),
        (CURVE + "\ndistance = { infer = false }", None),
    ],
)
def test_settings_that_do_nothing_are_noted(tmp_path, lines, note):
    file = tmp_path / "config.toml"
    file.write_text(MISUSED % lines)
    status, out, err = vermilion("check", file)
    assert status == 0 and ("Note:" in out) == (note is not None), out + err
    assert note is None or 'Note: queue "q" has victim = "nearest"' in out and note in out
    capture = traffic(tmp_path / "in.pcap", 1, 20)
    status, out, err = vermilion("run", capture, "--config", file, "--engine", "model")
    assert status == 0 and ("vermilion: note: queue" in err) == (note is not None), out + err
    file.write_text((MISUSED % lines).replace('victim = "nearest"', "").replace("victim_window = 4", ""))
    assert "Note:" not in vermilion("check", file)[1], "where the arriving packet is dropped there is nothing to say"


def test_a_window_without_a_limit_is_refused(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text((MISUSED % "victim_window = 4").replace('limit = "20KB"', ""))
    status, out, err = vermilion("check", file)
    assert status == 2 and 'queue "q"' in err and "victim_window 4" in err and "limit_packets, 1 to 134217727" in err, (
        err
    )
    file.write_text((MISUSED % "victim_window = 4").replace('limit = "20KB"', 'limit_packets = "20p"'))
    assert vermilion("check", file)[0] == 0


@pytest.mark.slow
def test_stalled_beats_change_nothing_that_is_checked(tmp_path):
    """The simulator's own program with random stalls: replay, outcomes and accounting hold."""
    file = tmp_path / "config.toml"
    file.write_text(CONFIG % "5Gbit")
    check(run(tmp_path, traffic(tmp_path / "in.pcap", 9, 3000), "--config", file, "--rate", 8_000_000_000))
