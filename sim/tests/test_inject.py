"""The checkers are checked: each fault put into what the simulator sees is named by the check that is there for it.

`Replay::check`, `Accounting::error`, the victim check or the comparison of counters made void turns this file red.
"""

import json
import shutil

import pytest
from click.testing import CliRunner
from vermilion import build, cli, inject, injection_captures, injection_traffic
from vermilion.fields import UserError


@pytest.fixture(scope="module")
def programs():
    if not (shutil.which("mill") and shutil.which("verilator")):
        pytest.skip("no Mill or Verilator: run through ./vermilion test")
    return {scenario.preset: build.inject(scenario.preset) for scenario in inject.SCENARIOS}


@pytest.fixture(scope="module")
def rows(programs):
    model = build.model_program("lab")
    return inject.campaign(programs, model, [], inject.PLACES, lambda done, total: None)


def test_every_fault_is_named(rows):
    unnamed = {row["name"]: row["tries"] for row in rows if not row["named"]}
    assert not unnamed, json.dumps(unnamed, indent=1)[:4000]
    assert len(rows) >= 24
    assert inject.summary(rows) == f"{len(rows)} of {len(rows)} faults named"


@pytest.mark.parametrize("check", inject.CHECKS)
def test_every_check_has_faults_that_no_other_check_sees(rows, check):
    """So a check that finds nothing any more cannot hide behind another."""
    alone = [
        row["name"] for row in rows if row["check"] == check for one in row["tries"] if list(one["checks"]) == [check]
    ]
    print(check, len(alone))
    assert alone or check == "victims"  # a wrong outcome is counted by the lane, too
    assert sum(row["check"] == check for row in rows) >= 2


def test_table_is_of_the_faults_that_are_there(programs):
    held = json.loads((inject.RESULTS / "inject.json").read_text())
    assert (inject.RESULTS / "inject.md").read_text() == inject.page(held["faults"], held["places"])
    listed = [(fault["name"], fault["what"], fault["check"]) for fault in inject.listed(programs["lab"])]
    assert [(row["name"], row["what"], row["check"]) for row in held["faults"]] == listed
    assert len(set(listed)) == len(listed) and all(row["named"] for row in held["faults"])


def test_fault_without_a_chance_did_not_happen():
    row = inject.joined({"name": "x", "check": "replay"}, {"one": {"x": {"chances": 0, "tries": []}}, "two": {}})
    assert not row["named"] and inject.result(row) == "did not happen"
    assert inject.summary([row]) == "0 of 1 faults named"


def test_one_unnamed_try_makes_a_fault_unnamed():
    tries = [{"at": 1, "named": True, "checks": {"replay": "a"}}, {"at": 2, "named": False, "checks": {}}]
    row = inject.joined({"name": "x", "check": "replay"}, {"one": {"x": {"chances": 9, "tries": tries}}})
    assert not row["named"] and inject.result(row) == "1 of 2"


def test_fault_strikes_the_chance_that_is_asked_for(programs):
    scenario = inject.Scenario("short", "lab", inject.CONFIGS / "default.toml", injection_traffic.short)
    found = inject.play(programs["lab"], scenario, ["draw:17", "draw:61"], 3, lambda done, total: None)
    first, none = found["faults"]
    assert first["chances"] == 60 and [one["at"] for one in first["tries"]] == [17]
    assert first["tries"][0]["checks"]["replay"].startswith("draw: decision 16 at ")
    assert none["tries"] == []


def test_unnamed_fault_ends_the_command_with_status_1(programs, monkeypatch):
    monkeypatch.setattr(inject, "SCENARIOS", inject.SCENARIOS[-1:])  # in which no flow marker works
    done = CliRunner().invoke(cli.cli, ["inject", "flow-credits", "keep-gap"])
    assert isinstance(done.exception, build.BuildError) and "flow-credits" in str(done.exception)
    assert done.output.splitlines()[-1] == "1 of 2 faults named"
    assert "flow-credits          replay         none  did not happen" in done.output.splitlines()
    assert all(len(line) <= 80 for line in done.output.splitlines())


def test_unknown_fault_is_refused(programs):
    with pytest.raises(UserError, match="inject gremlin: is no fault"):
        inject.campaign(programs, build.model_program("lab"), ["gremlin"], 1, lambda done, total: None)


def test_capture_without_a_fault_has_no_warning():
    names = [fault.name for fault in injection_captures.FAULTS]
    assert len(set(names)) == len(names)
    assert all(
        injection_captures.doctored(fault, 5) != injection_captures.frames() for fault in injection_captures.FAULTS
    )
