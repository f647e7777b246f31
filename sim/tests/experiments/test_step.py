"""Step marking: settings, how depths are counted from times, and short runs whose marks are exact to a packet."""

import json
from html import unescape

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import runs, settings, step, step_pages
from vermilion.profile import quantise
from vermilion.toolchain import build
from vermilion.values.fields import UserError

OF = step.load()
TEXT = step.FILE.read_text()


def test_the_grid_has_every_threshold_and_both_ends():
    cases = step.cases(OF)
    assert [run.name for run in step.planned(OF, [1], 1)] == [step.name(case) for case in cases]
    assert len(set(cases)) == len(cases) == 2 * len(OF.mark.k) * len(OF.network.flows)
    assert {case[2] for case in step.cases(OF, "rtl")} == {"enqueue", "dequeue"}
    assert min(OF.seeds) > 1000 and OF.quick.seeds >= 2


def test_the_lane_has_a_step_at_k():
    for at in step.AT:
        (queue,) = quantise.hardware(settings.lane(step.lane(OF, (20, 2, at))))["queues"]
        marks = queue["colour"][0]["curve"][1]
        assert marks["min"] == marks["max"] == 20 and queue["unit"] == 1 and queue["weight"][0] == [256, 0]
        assert queue["mark_late"] == (at == "dequeue") and queue["colour"][0]["curve"][0]["on"] == 0


def test_ends_of_a_seed_have_the_same_traffic():
    one, other = (step.scenario(OF, (20, 2, at), 7, 1) for at in step.AT)
    assert one["bulk"] == other["bulk"] and one["links"][0] == other["links"][0] and one["tcp"] == other["tcp"]


def test_depths_are_counted_from_times_alone():
    """Packets of 64 bytes: their last beat comes 4 ns after the first. The lane decides within 140 ns after that."""
    came = [0, 1000, 2000, 3000, 9000]
    left = [2500, 4012, 5012, 6012, 20000]
    every = [[a, b, 64, 2, 2] for a, b in zip(came, left, strict=True)]
    assert step.depths(every, "dequeue") == [2, 2, 1, 0, None]  # what comes after the last is not in the list
    assert step.depths(every, "enqueue") == [None, None, None, 2, 0]  # nor what left before the first
    near = [[a, b, 64, 2, 2] for a, b in zip([0, 2430], [2500, 9000], strict=True)]
    assert step.depths(near, "dequeue")[0] is None
    assert step.depths([[0, 100, 64, 2, 2], [200, 330, 64, 2, 2], [300, 9000, 64, 2, 2]], "enqueue")[2] is None


def figures(**of):
    return {f"20.2.dequeue.{what}": [float(of.get(what, 9))] for what in step.FIGURES}


def test_a_wrong_mark_and_a_step_that_is_not_met_are_faults():
    names = ["20.2.dequeue"]
    assert step.faults(figures(wrong=0), names) == []
    assert "1 of 9 packets have another mark" in step.faults(figures(wrong=1), names)[0]
    assert "0 of 0 packets" in step.faults(figures(wrong=0, judged=0), names)[0]
    for what in ("last_without", "first_with"):
        assert "no packet met the step" in step.faults(figures(wrong=0, **{what: 0}), names)[0]


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("k = [5, 20, 65] ", "k = [5, 601]", "mark.k.2 is 601; .*less than or equal to 600"),
        ("k = [5, 20, 65] ", "k = [5, 600]", "has mark.k 600; legal is below network.limit_packets"),
        ('at = ["enqueue", "dequeue"]', 'at = ["departure"]', "mark.at.1 is \"departure\""),
        ('rate = "1Gbit"', 'rate = "6Gbit"', "has bottleneck.rate 6000000000; legal is half of network.link"),
        ("warm_up_s = 0.1", "warm_up_s = 1", "bottleneck has warm_up_s 1; legal is less than seconds, 0.3"),
        ("k = [20]", "k = [21]", "has rtl.k 21; legal are 5, 20, 65"),
        ('congestion = "ns3::TcpDctcp"', 'congestion = "dctcp"', "tcp.congestion is .*dctcp"),
        ("[rtl]", "[rtll]", "rtll is no key"),
    ],
)  # fmt: skip
def test_settings_are_refused_with_a_sentence(tmp_path, old, new, words):
    assert old in TEXT
    path = tmp_path / "x.toml"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(UserError, match=f"x.toml: .*{words}") as refused:
        step.load(path)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--seeds", "99"], f"--seeds is 99; experiment step has {len(OF.seeds)}, so legal is 1 to that"),
        (["--quick", "--publish"], "--publish takes every seed and whole runs"),
        (["--engine", "rtl", "--publish"], "--publish takes the engine model"),
    ],
)
def test_the_command_refuses_with_a_sentence(words, sentence):
    done = CliRunner().invoke(cli.cli, ["experiment", "step", *words])
    assert isinstance(done.exception, UserError) and sentence in str(done.exception)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A run of 75 ms for each end, with 20 flows."""
    program = step.program("model", build.quiet, True)
    plan = [runs.Run(at, 1, step.scenario(OF, (20, 20, at), 1, 4), 1) for at in step.AT]
    return {at: made[1] for at, made in runs.Runner(program, tmp_path_factory.mktemp("step"), 1).all(plan).items()}


@pytest.mark.slow
@pytest.mark.parametrize("at", step.AT)
def test_marks_of_a_run_are_exact_to_a_packet(short, at):
    """None is wrong by the run's own threshold and end. By a threshold of one packet more or less, or by the other end, some are."""
    counted = step.of_run(OF, f"20.20.{at}", short[at], 4)
    assert counted["wrong"] == 0 and counted["judged"] > 2000
    assert min(counted["last_without"], counted["first_with"]) > 50
    assert counted["drops"] == 0 and 10 < counted["marks"] < 90 and 900 < counted["goodput"] < 1000
    other = step.AT[step.AT.index(at) - 1]
    for name in (f"19.20.{at}", f"21.20.{at}", f"20.20.{other}"):
        assert step.of_run(OF, name, short[at], 4)["wrong"] > 50, name
    every = short[at]["lanes"]["bottleneck"]["sojourn"]["every"]
    marked = sum(came != 3 and left == 3 for *_, came, left in every)
    assert marked == short[at]["lanes"]["bottleneck"]["queues"]["0"]["ce"]


def made_up():
    return {f"{step.name(case)}.{what}": [5.0, 5.0] for case in step.cases(OF) for what in step.FIGURES}


def test_the_report_shows_every_case(tmp_path):
    made = {"title": OF.title, "engine": "model", "seeds": [1, 2], "quick": "", "versions": {"ns3": "x"}}
    page = tmp_path / "x.html"
    step_pages.write(page, OF, made, made_up())
    shown = unescape(page.read_text())
    assert shown.count("dequeue") >= len(step.cases(OF))
    assert step_pages.page(OF, made, made_up()).count("| 65 | 20 | dequeue |") == 2


def test_the_published_page_is_that_of_the_settings():
    kept = json.loads((step_pages.PUBLISHED / "step.json").read_text())
    page = (step_pages.PUBLISHED / "step.md").read_text()
    assert kept["seeds"] == OF.seeds and not kept["quick"]
    assert list(kept["runs"]) == [step.name(case) for case in step.cases(OF)]
    measured = {f"{run}.{what}": told["seeds"] for run, each in kept["runs"].items() for what, told in each.items()}
    assert step_pages.page(OF, kept, measured) == page
    assert step.faults(measured, list(kept["runs"])) == [] and OF.shows
