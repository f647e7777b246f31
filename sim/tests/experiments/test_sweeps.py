"""`vermilion sweep`: what its file may say, its points and runs, frontiers, rows; and that a killed sweep repeats and loses nothing."""

import json
import math
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import poisson, runs, work
from vermilion.sweeps import cluster, frontiers, plan, results, spec, survival
from vermilion.toolchain import build
from vermilion.values.fields import UserError

EXAMPLES = sorted((build.ROOT / "sim" / "experiments" / "sweeps").glob("*.toml"))
SMALL = """
title = "small"
base = "p4"
seeds = 3
runs = ["red.*", "tail.*"]

[set]
"traffic.arrivals" = 150_000
"traffic.long_loads" = []
"traffic.loads" = [0.9, 1.2]

[grid]
"scheme.red.p" = [0.02, 0.1]
"lane.queue.0.average.weight" = [0.002, 0.02]

[[plot]]
x = "delay_ms"
y = "loss"
by = ["scheme.red.p"]
"""


def loaded(tmp_path, text):
    path = tmp_path / "x.toml"
    path.write_text(text)
    return spec.load(path), path


@pytest.fixture(scope="session")
def queue():
    return poisson.program("model", build.quiet)


@pytest.fixture
def small(tmp_path, queue):
    """Rows of the small sweep."""
    sweep, path = loaded(tmp_path, SMALL)
    return sweep, plan.rows(sweep, spec.points(sweep, path), queue)


# The file.


@pytest.mark.parametrize(
    "old, new, words",
    [
        ("seeds = 3", "seeds = 0", "seeds"),
        ("seeds = 3", "seeds = [1, 2, 1]", "has a seed twice"),
        ("seeds = 3", "", "seeds is missing"),
        ("seeds = 3", "seeds = 3\nspeed = 9", "speed is no key of a sweep's"),
        ('base = "p4"', 'base = "p9"', 'base is "p9"; legal are .*p4'),
        ('base = "p4"', 'base = "p4"\nengine = "fpga"', 'engine is "fpga"; legal here are model'),
        ("0.02, 0.1]", "0.02, 1.1]", "green.p is 1.1; legal is 0 to 1, at scheme.red.p = 1.1, lane"),
        ("[0.02, 0.1]", "[]", "grid.scheme.red.p"),
        ("traffic.loads", "trafic.loads", "trafic: there is no such table; legal are title, paper, kind"),
        ("queue.0.av", "queue.7.av", "lane.queue.7: the list has entries 0 to 0"),
        ("queue.0.av", "queue.².av", "lane.queue.²: the list has entries 0 to 0"),
        ("average.weight", "average.wait", "wait"),
        ("traffic.loads", "lane.queue.0.average.weight", "in two of set, grid and point"),
        ('by = ["scheme.red.p"]', 'by = ["p"]', 'has a plot by "p"; legal are'),
        ('"red.*", "tail.*"', '"read"', "runs: read is none of the runs at a point; they are tail.0.9"),
        ("[grid]", "[gird]", "gird is no key"),
        ("title =", "title :", "is not TOML"),
    ],
)  # fmt: skip
def test_a_sweep_is_refused_with_a_sentence(tmp_path, queue, old, new, words):
    assert old in SMALL
    path = tmp_path / "x.toml"
    path.write_text(SMALL.replace(old, new, 1))
    done = CliRunner().invoke(cli.cli, ["sweep", str(path), "--out", str(tmp_path / "out")])
    with pytest.raises(UserError, match=f"x.toml: .*{words}") as refused:
        raise done.exception
    assert "\n" not in str(refused.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--scheduler", "tcp://a:1", "--jobqueue", "sge"], "give one"),
        (["--publish"], "--publish is of --survival"),
        (["--survival", "--jobqueue", "lsf"], "leave --scheduler and --jobqueue out"),
    ],
)
def test_options_that_do_not_go_together_are_refused(words, sentence):
    done = CliRunner().invoke(cli.cli, ["sweep", "x.toml", *words])
    assert isinstance(done.exception, UserError) and sentence in str(done.exception)


def test_a_scheduler_that_is_not_there_is_refused_with_a_sentence(tmp_path, queue, monkeypatch):
    monkeypatch.setattr(cluster, "SECONDS_TO_ANSWER", 1)
    path = tmp_path / "x.toml"
    path.write_text(SMALL)
    for address in ("tcp://127.0.0.1:1", "nowhere"):
        words = ["sweep", str(path), "--out", str(tmp_path / "out"), "--scheduler", address]
        done = CliRunner().invoke(cli.cli, words)
        assert isinstance(done.exception, UserError) and "no Dask scheduler answers there" in str(done.exception)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_shipped_sweep_is_complete(path):
    sweep = spec.load(path)
    assert spec.points(sweep, path) and sweep.plot


# Points and runs.


def test_points_are_the_list_times_the_grid(tmp_path):
    text = SMALL + '\n[[point]]\n"scheme.red.max" = "30p"\n[[point]]\n"scheme.red.max" = "60p"\n'
    sweep, path = loaded(tmp_path, text)
    points = spec.points(sweep, path)
    got = [tuple(point.values.values()) for point in points]
    assert got == [(m, p, w) for m in ("30p", "60p") for p in (0.02, 0.1) for w in (0.002, 0.02)]
    for point, (most, p, weight) in zip(points, got, strict=True):
        assert (point.of.scheme["red"]["max"], point.of.scheme["red"]["p"]) == (most, p)
        assert point.of.lane["queue"][0]["average"]["weight"] == weight and point.of.traffic.loads == [0.9, 1.2]


def test_runs_that_points_share_are_one(small):
    sweep, rows = small
    assert len(rows) == 4 * 2 * 2 * 3  # points, loads, schemes, seeds
    keys = lambda scheme: {row.key for row in rows if row.run.name.startswith(scheme)}
    assert (
        len(keys("red")) == 24 and len(keys("tail")) == 12
    )  # tail drop does not know max_p, but its average has a weight
    assert [row.run.seed for row in rows[:4]] == [1, 2, 3, 1]


def test_a_worker_does_a_run_once_and_says_so(small, queue, tmp_path):
    _, rows = small
    task = plan.task(rows[0], queue, tmp_path)
    Path(task["place"]).parent.mkdir()
    assert work.execute(task) == work.execute(task) == task["place"]
    assert len((tmp_path / plan.LOG).read_text().splitlines()) == 1
    stored = runs.stored(Path(task["place"]))
    assert stored["settings"] == rows[0].run.asked and stored["results"]["arrived"] == 150_000
    Path(task["place"]).write_text("{")
    assert runs.stored(Path(task["place"])) is None
    with pytest.raises(work.Failed, match="ended with status 2"):
        work.execute(task | {"place": str(tmp_path / "other"), "asked": {"lane": {}}})
    assert not (tmp_path / "other").exists()


# Results.


@pytest.mark.parametrize(
    "better, wanted",
    [
        (["low", "low"], [(1, 5), (2, 2), (4, 1)]),
        (["low", "high"], [(1, 5), (3, 6)]),
        (["high", "low"], [(4, 1)]),
        (["high", "high"], [(3, 6), (4, 1)]),
    ],
)
def test_the_frontier_is_of_points_that_no_other_is_better_than(better, wanted):
    points = [(1, 5), (2, 2), (2, 4), (3, 3), (3, 6), (4, 1)]
    assert frontiers.frontier(points, better) == wanted


def test_columns_have_one_type():
    assert results.column([1, 2]) == [1, 2] and results.column([1, 0.5]) == [1.0, 0.5]
    assert results.column([1, "5p"]) == ["1", "5p"] and results.column([True, [1]]) == ["true", "[1]"]


def test_a_batch_job_is_one_worker_with_our_packages():
    target = cluster.packages(build.quiet)
    for kind, word in (("lsf", "#BSUB"), ("slurm", "#SBATCH"), ("sge", "#$")):
        made = cluster.queue(kind, target, 0)
        script = made.job_script()
        made.close()
        assert word in script and str(target) in script and "--nthreads 1" in script


# The promise, with 36 runs; `vermilion sweep sim/experiments/sweeps/red.toml --survival` shows it with 200.


@pytest.mark.slow
def test_a_killed_sweep_repeats_and_loses_nothing(small, tmp_path):
    _, rows = small
    folder = tmp_path / "ways"
    folder.mkdir()
    made = survival.show(tmp_path / "x.toml", folder, len({row.key for row in rows}), 2, print)
    assert [each.runs for each in made] == [36, 36, 36] and all(18 <= each.stored_before < 36 for each in made[1:])
    page = (folder / "whole" / "x" / "report.html").read_text()
    assert page.count('class="live"') == 1
    cluster.packages(build.quiet)  # in the path of this process, too
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(folder / "killed" / "x" / "results.parquet").to_pydict()
    assert table["run"] == [row.run.name for row in rows] and table["key"] == [row.key for row in rows]
    for row, loss, delay in zip(rows, table["loss"], table["delay_ms"], strict=True):
        result = json.loads((folder / "scheduler" / "runs" / f"{row.key}.json").read_text())["results"]
        of_run = poisson.of_run(result)
        assert math.isclose(loss, of_run["loss"]) and math.isclose(delay, of_run["delay_ms"])
    assert tomllib.loads(SMALL)["seeds"] == len(set(table["seed"]))
