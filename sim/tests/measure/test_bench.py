"""`--bench`: under every marker and form of the search no clock is lost, each acts, and the page holds what was measured."""

import csv
import json
import subprocess
from itertools import islice

import pytest

from support.token_marker_bench import lane_draws
from vermilion.measure import bench, bench_config
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

LAB = build.PRESETS["lab"]


@pytest.mark.parametrize("marker", [*bench.MARKERS, "mixed"])
def test_every_marker_loses_no_clock_and_acts(program, marker):
    spread = "random" if marker == "mixed" else "one"
    figures = bench.once(program, bench_config.record(LAB, 64, spread, marker), 64, spread, marker != "mixed", 3000)
    assert figures["bubbles"] == 0 and figures["replay"]["agreed"] == 3000 and "lost" not in figures
    assert figures["verdicts"]["nobuf"] == 0 and sum(figures["marked"]) == 3000
    colours = {"leaf": [0, 2], "wpm": [0, 1], "apm": [1, 2]}.get(marker, [0, 1, 2])
    assert [c for c in range(3) if figures["marked"][c]] == colours
    moved = figures["queues"][0]["colours_in_out"]
    if marker != "mixed":
        assert min(map(sum, moved)) > 500  # it met every colour
    if marker in ("srtcm", "trtcm"):
        assert min(moved[0]) > 30 and moved[1][0] == moved[2][0] == moved[2][1] == 0
    if marker == "redp":
        assert min(moved[0][1], moved[1][0]) > 30 and moved[2][:2] == [0, 0]
    events = figures["flow_events"]
    assert (events["loss"] > 30) == (marker in ("3cpm", "wpm", "apm", "mixed"))
    assert (events["probe"] > 0) == (marker in ("3cpm", "apm", "mixed"))
    if marker == "redp":
        assert figures["verdicts"]["policed"] > 10
    assert events["table_full"] == events["collision"] == 0


@pytest.mark.parametrize("marker", ["none", "mixed"])
def test_the_model_alone_takes_the_same_clocks_and_rules_the_same(program, marker):
    words = bench_config.record(LAB, 64, "random", marker)
    rtl, model = (bench.once(program, words, 64, "random", False, 3000, ("--engine", way)) for way in ("rtl", "model"))
    assert rtl["clocks"] == model["clocks"] > 24000 and rtl["queues"] == model["queues"]
    assert rtl["cpu_seconds"] > 0 and model["cpu_seconds"] > 0


@pytest.mark.parametrize("form", bench.FORMS)
def test_every_form_of_the_search_loses_no_cycle(program, form):
    figures = bench.once(program, bench_config.search(LAB, 64, form), 64, "one", False, 12000)
    found = bench.push_outs(figures)
    print(form, found, figures["verdicts"])
    assert figures["bubbles"] == 0 and figures["replay"]["agreed"] == 12000 and "lost" not in figures
    assert figures["verdicts"]["nobuf"] == 0 and found["not_ordered"] == 0 and found["push_outs"] > 1000
    assert found["evicted"] > found["push_outs"] // 10 and (found["marked"] > 100) == (form == "ecn")
    assert found["itself"] + found["evicted"] + found["marked"] == found["push_outs"]


def test_the_page_keeps_what_was_not_measured_now(program, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "PAGE", tmp_path / "bench.md")
    monkeypatch.setattr(bench, "SHAPES", [(64, "one", "none"), (64, "random", "mixed")])
    rows = bench.measure({"lab": program}, 200)
    bench.publish([row | {"preset": "nic10g"} for row in rows], 100)
    bench.publish(rows, 200)
    text = (tmp_path / "bench.md").read_text()
    assert "--preset nic10g --packets 100 " in text and "--preset lab --packets 200 " in text
    assert text.count("| red | 8 | 0 | 0 |") == 2
    assert text.count("| one | 64 | 8 | 0 | 0 |") == text.count("| random | mixed | 8 | 0 | 0 |") == 2


def test_markers_draw_what_the_tests_of_redp_draw(program, tmp_path):
    """eq. (1) is measured in sim/tests/model/test_model_redp.py with the lane's own source, without the lane."""
    trace, words = tmp_path / "trace", tmp_path / "words"
    words.write_text(json.dumps(bench_config.record(LAB, 64, "one", "redp")))
    command = [program, "--bench", "--config-words", words, "--packets", "300", "--colours", "--trace", trace]
    subprocess.run([*command, "--stats-json", tmp_path / "stats"], capture_output=True, check=True)
    with trace.open() as file:
        drawn = [int(row["mark_draw"]) for row in csv.DictReader(file) if row["refresh"] == "0"]
    assert len(drawn) == 300 and drawn == list(islice(lane_draws(1), 300))  # the bench's seed
