"""Fault injection: the checker that is responsible for a fault reports it.

A fault counts as reported only if its own checker's first message has one of the fault's words (`isReported` in `sim/inject/faults.cpp`).
So a checker that reports nothing leaves its faults unreported. `test_faults_of_a_void_checker_are_not_reported` shows it with checkers
that are made void.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from support.nightly import NIGHTLY
from vermilion.commands import cli
from vermilion.measure import inject, injection_captures, injection_traffic
from vermilion.toolchain import build
from vermilion.values.fields import UserError

pytestmark = pytest.mark.slow

PLACES = inject.PLACES if NIGHTLY else 1  # of each fault in each scenario; the published table has three of each


@pytest.fixture(scope="module")
def programs():
    if not (shutil.which("mill") and shutil.which("verilator")):
        pytest.skip("no Mill or Verilator: run through ./vermilion test")
    return {scenario.preset: build.inject(scenario.preset) for scenario in inject.SCENARIOS}


@pytest.fixture(scope="module")
def rows(programs):
    model = build.model_program("lab")
    return inject.campaign(programs, model, [], PLACES, lambda done, total: None)


def test_every_fault_is_reported(rows):
    missed = {row["name"]: row["tries"] for row in rows if not row["named"]}
    assert not missed, json.dumps(missed, indent=1)[:4000]
    assert len(rows) >= 24
    assert inject.summary(rows) == f"{len(rows)} of {len(rows)} faults reported"


@pytest.mark.parametrize("check", inject.CHECKS)
def test_every_checker_has_faults_that_no_other_reports(rows, check):
    alone = {
        row["name"] for row in rows if row["check"] == check for one in row["tries"] if list(one["checks"]) == [check]
    }
    print(check, sorted(alone))
    assert alone
    assert sum(row["check"] == check for row in rows) >= 2


# A checker without its messages: a file of sim/harness, and what is replaced in it.
VOID = {
    "replay": (
        "replay.cpp",
        {
            "  char text[400];\n": "  char text[400];\n  return;\n",
            "if (timeAt(clock) != truncate(now, TimeBits))": "if (0)",
        },
    ),
    "victims": (
        "victim_check.cpp",
        {"  if (found.none()) return;\n": "  return;\n", 'first_ = std::string("victim search: ") + text': "return"},
    ),
    "accounting": (
        "accounting.cpp",
        {"\nnamespace vermilion {\n": "\n#define error(text) static_cast<void>(text)\nnamespace vermilion {\n"},
    ),
    "stream": ("lane_driver.cpp", {"listener_.breach(": "static_cast<void>("}),
    "counters": ("counter_check.cpp", {"breaches_.add(": "static_cast<void>(", "breaches.add(": "static_cast<void>("}),
}


def voided(programs, check, folder):
    """The fault injector of the preset lab with a checker made void."""
    file, changes = VOID[check]
    text = (build.ROOT / "sim" / "harness" / file).read_text()
    for before, after in changes.items():
        assert before in text, f"{file} has no longer {before!r}"
        text = text.replace(before, after)
    (folder / file).write_text(text)
    objects = programs["lab"].parent / "obj"
    includes = [f"-I{build.ROOT / place}" for place in ("sim/model", build.DRIVER, "sim/harness")]
    own = sorted((programs["lab"].parent / "obj-inject").glob("*.o"))
    shared = [path for path in build.harness_objects() if path.stem not in ("main", Path(file).stem)]
    lane = [objects / f"{name}.o" for name in ("verilated_lane", "verilated", "verilated_threads")]
    parts = [*own, *shared, build.shape_object("lab"), *lane]
    program = folder / "vermilion-inject"
    command = ["g++", "-std=gnu++20", "-w", *includes, folder / file, *parts]
    command += [
        objects / f"{build.PREFIX}__ALL.a",
        *build.libraries("").split(),
        build.verilated.LIBRARY,
        "-o",
        program,
    ]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return program


@pytest.mark.parametrize("check", VOID)
def test_faults_of_a_void_checker_are_not_reported(programs, tmp_path, check):
    scenario = inject.SCENARIOS[-1 if check == "stream" else 2]
    names = [fault["name"] for fault in inject.listed(programs["lab"]) if fault["check"] == check]
    found = inject.play(voided(programs, check, tmp_path), scenario, names, 1, lambda done, total: None)["faults"]
    tries = [one for fault in found for one in fault["tries"]]
    assert len(tries) >= 4 and not any(one["named"] or check in one["checks"] for one in tries)


def test_table_is_of_the_faults_that_are_there(programs):
    held = json.loads((inject.RESULTS / "inject.json").read_text())
    assert (inject.RESULTS / "inject.md").read_text() == inject.page(held["faults"], held["places"])
    listed = [[fault[key] for key in ("name", "what", "check", "says")] for fault in inject.listed(programs["lab"])]
    assert [[row[key] for key in ("name", "what", "check", "says")] for row in held["faults"]] == listed
    assert len({fault[0] for fault in listed}) == len(listed) and all(row["named"] for row in held["faults"])


def test_every_fault_has_words_for_its_checkers_message(programs):
    for fault in inject.listed(programs["lab"]):
        assert fault["says"] and all(fault["says"]), fault["name"]


def test_fault_without_an_injection_point_is_not_reported():
    row = inject.joined({"name": "x", "check": "replay"}, {"one": {"x": {"chances": 0, "tries": []}}, "two": {}})
    assert not row["named"] and inject.result(row) == "no injection point"
    assert inject.summary([row]) == "0 of 1 faults reported"


def test_one_unreported_try_makes_a_fault_unreported():
    tries = [{"at": 1, "named": True, "checks": {"replay": "a"}}, {"at": 2, "named": False, "checks": {}}]
    row = inject.joined({"name": "x", "check": "replay"}, {"one": {"x": {"chances": 9, "tries": tries}}})
    assert not row["named"] and inject.result(row) == "1 of 2"


def test_fault_is_injected_at_the_point_that_is_asked_for(programs):
    scenario = inject.Scenario("short", "lab", inject.CONFIGS / "default.toml", injection_traffic.short)
    found = inject.play(programs["lab"], scenario, ["draw:17", "draw:61"], 3, lambda done, total: None)
    first, none = found["faults"]
    assert first["chances"] == 60 and [one["at"] for one in first["tries"]] == [17]
    assert first["tries"][0]["checks"]["replay"].startswith("draw: decision 16 at ")
    assert none["tries"] == []


def test_unreported_fault_ends_the_command_with_status_1(programs, monkeypatch):
    monkeypatch.setattr(inject, "SCENARIOS", inject.SCENARIOS[-1:])  # in which no flow marker works
    done = CliRunner().invoke(cli.cli, ["inject", "flow-credits", "keep-gap"])
    assert isinstance(done.exception, build.BuildError) and "flow-credits" in str(done.exception)
    assert done.output.splitlines()[-1] == "1 of 2 faults reported"
    assert "flow-credits  replay          none  no injection point" in done.output.splitlines()
    assert all(len(line) <= 80 for line in done.output.splitlines())


def test_screen_table_fits_80_columns():
    tried = [{"named": True}] * 12
    row = {"name": "counters-of-another-queue", "check": "accounting", "tries": tried, "also": sorted(inject.CHECKS)}
    table = inject.screen_table([row, row | {"name": "x", "also": []}, row | {"name": "y", "tries": []}])
    assert all(len(line) <= 80 for line in table)
    assert " ".join(line.strip() for line in table[1:-2]).endswith(", ".join(sorted(inject.CHECKS)))
    assert table[-1].endswith("none  no injection point")


def test_unknown_fault_is_refused(programs):
    with pytest.raises(UserError, match="inject gremlin: unknown fault"):
        inject.campaign(programs, build.model_program("lab"), ["gremlin"], 1, lambda done, total: None)


def test_capture_without_a_fault_has_no_warning():
    names = [fault.name for fault in injection_captures.FAULTS]
    assert len(set(names)) == len(names)
    assert all(
        injection_captures.doctored(fault, 5) != injection_captures.frames() for fault in injection_captures.FAULTS
    )
