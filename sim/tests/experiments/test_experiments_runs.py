"""Runs of experiments: each is done once and kept, whatever happens to the command; the longest first; progress; the whole command in short."""

import dataclasses
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from vermilion.commands import cli
from vermilion.experiments import network, poisson, progress, runs, settings
from vermilion.toolchain import build


def stub(tmp_path, text):
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return runs.Program(path, "d", {"engine": "stub"})


def test_a_run_is_not_kept_when_its_program_is_built_anew_meanwhile(tmp_path):
    """Its key would name sources that did not make it."""
    stamp = tmp_path / "program.made"
    stamp.write_text("old")
    program = stub(tmp_path, f"cat > /dev/null; echo new > {stamp}; echo '{{}}'")
    program = dataclasses.replace(program, stamps=build.stamps(program.path))
    with pytest.raises(build.BuildError, match="built anew while runs were under way"):
        runs.Runner(program, tmp_path / "out", 1).all([runs.Run("a", 1, {}, 1)])
    assert list((tmp_path / "out/runs").iterdir()) == []


class Counted(progress.Silent):
    def __init__(self):
        self.kept, self.made = 0, []

    def begin(self, kept, missing, weight):
        self.kept = kept

    def done(self, weight):
        self.made.append(weight)


def test_a_run_is_done_once_and_again_when_its_input_changes(tmp_path):
    program = stub(tmp_path, f"echo x >> {tmp_path}/calls; cat > /dev/null; echo '{{\"n\": 1}}'")
    calls = lambda: len((tmp_path / "calls").read_text().split())
    plan = [runs.Run("a", seed, {"seed": seed}, 1) for seed in (1, 2)]
    told = Counted()
    assert runs.Runner(program, tmp_path / "out", 2).all(plan, told) == {"a": {1: {"n": 1}, 2: {"n": 1}}}
    assert calls() == 2 and told.kept == 0 and told.made == [1, 1]
    runs.Runner(program, tmp_path / "out", 2).all(plan, told)
    assert calls() == 2 and told.kept == 2 and told.made == [1, 1]
    twice = [runs.Run(name, 7, {"seed": 7}, 1) for name in "ab"]  # two names of one run
    got = runs.Runner(program, tmp_path / "twice", 2).all(twice, told)
    assert got == {"a": {7: {"n": 1}}, "b": {7: {"n": 1}}} and calls() == 3 and told.made == [1, 1, 1]
    runs.Runner(program, tmp_path / "out", 2).all([runs.Run("a", 1, {"seed": 1, "more": 2}, 1)])
    assert calls() == 4
    record = json.loads(next((tmp_path / "out/runs").glob("*.json")).read_text())
    assert record.keys() == {"run", "seed", "versions", "wall_seconds", "settings", "results"}


def test_a_run_that_fails_stops_the_others_and_leaves_nothing(tmp_path):
    program = stub(tmp_path, "grep -q 3 || exec sleep 60; echo broken >&2; exit 1")
    with pytest.raises(build.BuildError, match="run a, seed 3, ended with status 1\nbroken"):
        runs.Runner(program, tmp_path / "out", 2).all([runs.Run("a", seed, {"seed": seed}, 1) for seed in (2, 3, 4)])
    assert list((tmp_path / "out/runs").iterdir()) == []


def test_runs_of_several_experiments_share_processors_and_the_longest_comes_first(tmp_path):
    program = stub(tmp_path, f"cat >> {tmp_path}/calls; echo >> {tmp_path}/calls; echo '{{}}'")
    plans = [
        [runs.Run(name, 1, {name: 1}, weight) for name, weight in each] for each in ([("a", 1), ("b", 9)], [("c", 2)])
    ]
    parts = [runs.Part(runs.Runner(program, tmp_path / f"{i}", 1), plan) for i, plan in enumerate(plans)]
    assert [list(each) for each in runs.pooled(parts, 1)] == [["a", "b"], ["c"]]
    assert (tmp_path / "calls").read_text().split() == ['{"b":', "1}", '{"a":', "1}", '{"c":', "1}"]


@pytest.mark.slow
def test_a_run_is_kept_by_its_sources_wherever_they_lie(tmp_path, monkeypatch):
    """Another checkout of the same sources finds the runs of this one; only what a run depends on is in its key."""
    net, queue = network.program("model", build.quiet), poisson.program("model", build.quiet)
    for program, make in ((net, network.program), (queue, poisson.program)):
        monkeypatch.setattr(build, "BUILD", tmp_path)
        monkeypatch.setattr(build, "step", lambda *_: None)
        monkeypatch.setattr(build, "locked", lambda *_: open(os.devnull))
        monkeypatch.setattr(build, "stamps", lambda *_: ())
        monkeypatch.setattr(network, "ns3", lambda note: (tmp_path, net.versions["ns3"]))
        moved = make("model", build.quiet)
        assert str(moved.path).startswith(str(tmp_path)) and moved.digest == program.digest
        monkeypatch.undo()


RESUMED = """
import sys
from pathlib import Path
from vermilion.experiments import runs
program = runs.Program(Path("/bin/sh"), "x", {}, ("-c", "asked=$(cat); echo $asked >> calls; sleep 0.2; echo '{}'"))
plan = [runs.Run("a", seed, {"seed": seed}, 1.0) for seed in range(12)]
print(len(runs.Runner(program, Path("."), 2).all(plan)["a"]))
"""


def test_what_was_done_when_a_command_is_killed_is_not_done_again(tmp_path):
    words = dict(cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(build.ROOT / "sim")}, stdout=subprocess.PIPE)
    kept = lambda: [json.loads(path.read_text())["seed"] for path in (tmp_path / "runs").glob("*.json")]
    process = subprocess.Popen([sys.executable, "-c", RESUMED], **words)
    while len(kept()) < 4:
        assert process.poll() is None, "it has ended by itself"
        time.sleep(0.02)
    process.kill()
    process.wait()
    before = kept()
    assert 4 <= len(before) < 12
    done = subprocess.run([sys.executable, "-c", RESUMED], **words, check=True)
    assert done.stdout == b"12\n" and sorted(kept()) == list(range(12))
    # A run that was killed before it had its input may leave an empty line.
    calls = [json.loads(line)["seed"] for line in (tmp_path / "calls").read_text().split("\n") if line]
    assert set(calls) == set(range(12)) and all(calls.count(seed) == 1 for seed in before)


def test_progress_tells_the_time_left_where_there_is_no_terminal(capsys):
    bar = progress.Bar("all")
    bar.begin(3, 2, 40.0)
    for _ in range(2):
        bar.done(20.0)
    bar.end()
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "all, 2 runs (3 more are kept)" and told[-1] == "all: 100% done, 0 minutes left"
    assert len(told) == 3 and told[1].startswith("all: 50% done, 0 minutes left")


@pytest.mark.slow
def test_a_quick_experiment_ends_well_and_says_what_it_is(tmp_path):
    """From the command to its pages; 400 times shorter than the settings' runs, with its own seeds."""
    text = (settings.FOLDER / "p4.toml").read_text().replace("shorter = 20", "shorter = 400")
    done = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "FOLDER", tmp_path)
        (tmp_path / "p4.toml").write_text(text)
        done = CliRunner().invoke(cli.cli, ["experiment", "all", "--quick", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    said = "--quick: 2 seeds other than the table's, runs 400 times shorter; not for comparison"
    assert f"seeds 1, 2, {said}" in done.output and "75 rows of class must hold not judged" in done.output
    record = json.loads((tmp_path / "out/p4/model/quick-table.json").read_text())
    assert {row["verdict"] for row in record["rows"] if row["class"] == "must hold"} == {"not judged"}
    assert len(list((tmp_path / "out/p4/model/runs").iterdir())) == 2 * 3 * 16


KILLED = """
import sys
from pathlib import Path
from vermilion.experiments import runs
program = runs.Program(Path("/bin/sh"), "x", {}, ("-c", "echo $$ > pid.part; mv pid.part pid; exec sleep 600"))
runs.Runner(program, Path("."), 1).all([runs.Run("a", 1, {}, 1.0)])
"""


def test_a_run_ends_with_the_one_that_waits_for_it(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(build.ROOT / "sim")}
    )
    while not (tmp_path / "pid").exists():
        assert process.poll() is None, "it has ended by itself"
        time.sleep(0.02)
    place = Path("/proc") / (tmp_path / "pid").read_text().strip()
    assert place.exists()
    process.kill()
    process.wait()
    for _ in range(500):
        if not place.exists():
            break
        time.sleep(0.02)
    assert not place.exists(), "the run goes on"
