"""`vermilion inject`: faults put into what the simulator sees or does, and whether the check that must name each fault names it.

The faults and what they do are in `sim/inject`: a run of the Verilated lane is recorded, and told again to fresh checks with one fault in it.
Faults of captures are `injection_captures`. Each fault is put at several chances, from the first to the last, in each scenario that gives it
one. A fault without a chance anywhere did not happen, which counts as not named.
"""

import json
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from . import build, config, injection_captures, injection_traffic, quantise
from .fields import UserError
from .screen import say, working

RESULTS = build.ROOT / "docs" / "results"
SCENARIOS_AT = build.ROOT / "sim" / "inject" / "scenarios"
CONFIGS = build.ROOT / "sim" / "configs"
PLACES = 3
DID_NOT_HAPPEN = "did not happen"


def shipped(_path: Path) -> Path:
    return build.ROOT / "sim" / "captures" / "default.pcapng"


@dataclass(frozen=True)
class Scenario:
    """A recorded run: a build, a configuration, a capture (made at the path that is given, or shipped) and the simulator's options."""

    name: str
    preset: str
    config: Path
    capture: Callable[[Path], Path]
    options: tuple = ()
    live: bool = False  # for faults that need a run of their own; else all others


SCENARIOS = (
    Scenario("default", "lab", CONFIGS / "default.toml", shipped, ("--speed", 4)),
    Scenario("markers", "lab", CONFIGS / "markers.toml", shipped, ("--speed", 4)),
    Scenario("push-out", "lab", SCENARIOS_AT / "push-out.toml", injection_traffic.push_outs),
    Scenario(
        "two inputs",
        "nic10g",
        SCENARIOS_AT / "two-inputs.toml",
        injection_traffic.two_inputs,
        ("--rate", 100_000_000_000),
    ),
    Scenario("streams", "lab", CONFIGS / "default.toml", injection_traffic.short, (), True),
)


def listed(program: Path) -> list[dict]:
    """The faults, in the table's order: name, what, check."""
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["faults"] + injection_captures.listed()


def record(scenario: Scenario) -> dict:
    shape = build.shape(scenario.preset)
    return quantise.hardware(config.load(scenario.config, shape.queues, shape.victims))


def play(program: Path, scenario: Scenario, faults: list[str], places: int, progress) -> dict:
    """One scenario's run with all of `faults` (`NAME` or `NAME:AT`), as sim/inject/main.cpp tells of it."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.json"
        words.write_text(json.dumps(record(scenario)))
        capture = scenario.capture(Path(folder) / "in.pcap")
        command = [program, "--in", capture, "--config-words", words, "--engine", "rtl", *scenario.options]
        command += ["--faults", ",".join(faults), "--places", places]
        last = ""
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
            for last in process.stdout:
                if last.startswith("progress "):
                    progress(*map(int, last.split()[1:]))
    if process.returncode or not last.startswith("{"):
        raise build.BuildError(f"{program.name}, {scenario.name}: status {process.returncode}: {last.strip()}")
    found = json.loads(last)
    if found["clean"]:
        raise build.BuildError(f"{scenario.name}: a run without a fault is not clean: {found['clean']}")
    return found


def joined(fault: dict, scenarios: dict[str, dict]) -> dict:
    """A fault's row: its chances and tries in all scenarios, and whether each try was named."""
    rows = {name: rows[fault["name"]] for name, rows in scenarios.items() if fault["name"] in rows}
    tries = [{"scenario": name} | one for name, row in rows.items() for one in row["tries"]]
    for one in tries:
        one["checks"] = {check: text[:120] for check, text in one["checks"].items()}
    also = sorted({check for one in tries for check in one["checks"]} - {fault["check"]})
    chances = sum(row["chances"] for row in rows.values())
    named = bool(tries) and all(one["named"] for one in tries)
    return fault | {"chances": chances, "named": named, "also": also, "tries": tries}


def campaign(programs: dict[str, Path], model: Path, asked: list[str], places: int, progress) -> list[dict]:
    """A row for each fault asked for, all where none is."""
    faults = listed(programs["lab"])
    names = [name.partition(":")[0] for name in asked]
    for name in names:
        if name not in [fault["name"] for fault in faults]:
            raise UserError(f"inject {name}: is no fault; --list names them")
    wanted = [fault for fault in faults if not asked or fault["name"] in names]
    found = {}
    for number, scenario in enumerate(SCENARIOS):
        own = [f["name"] for f in wanted if f["check"] != "capture" and (f["check"] == "stream") == scenario.live]
        own = [name for name in asked if name.partition(":")[0] in own] or own
        if own:
            step = lambda done, total, number=number: progress(number + done / total, len(SCENARIOS))
            rows = play(programs[scenario.preset], scenario, own, places, step)["faults"]
            found[scenario.name] = {row["name"]: row for row in rows}
    captures = {fault["name"] for fault in wanted if fault["check"] == "capture"}
    found["captures"] = {row["name"]: row for row in injection_captures.play(model, captures)}
    return [joined(fault, found) for fault in wanted]


def summary(rows: list[dict]) -> str:
    return f"{sum(row['named'] for row in rows)} of {len(rows)} faults named"


def result(row: dict) -> str:
    if not row["tries"]:
        return DID_NOT_HAPPEN
    return f"{sum(one['named'] for one in row['tries'])} of {len(row['tries'])}"


def screen_table(rows: list[dict]) -> list[str]:
    lines = [f"{'fault':22}{'check':10}{'named':>9}  named too by"]
    for row in rows:
        count = result(row) if row["tries"] else "none"
        note = ", ".join(row["also"]) if row["tries"] else DID_NOT_HAPPEN
        lines.append(f"{row['name']:22}{row['check']:10}{count:>9}  {note}".rstrip())
    return lines


def page(rows: list[dict], places: int) -> str:
    lines = [
        "# Faults that the checks must name",
        "",
        *HEAD,
        "",
        f"**{summary(rows)}**, each at up to {places} chances",
    ]
    lines[-1] += " a scenario."
    for check, text in CHECKS.items():
        own = [row for row in rows if row["check"] == check]
        lines += ["", f"## {check}", "", text, "", "| fault | what is wrong | tries named | named too by |"]
        lines += ["| --- | --- | ---: | --- |"]
        lines += [f"| `{r['name']}` | {r['what']} | {result(r)} | {', '.join(r['also'])} |" for r in own]
    return "\n".join(lines) + "\n"


HEAD = [
    "`./vermilion inject --publish`; each try with the sentence that names it: [inject.json](inject.json).",
    "",
    "A check that finds nothing proves little, unless it is known to find something. So the simulator records what the lane shows in a run: decisions, departures,",
    "frames and registers. It puts one fault into the recording and gives it to fresh checks. The fault counts as named if the right check reports it,",
    "with the right field in its first sentence, at every chance that was tried. A fault that had no chance counts as not named.",
    "",
    "Scenarios: the shipped capture with `default.toml` and `markers.toml`; push-outs of every kind; two inputs of a 10G lane with frames that are",
    "left out or too long (`sim/inject/scenarios`). Faults at the stream ports get short runs of their own.",
]
CHECKS = {
    "replay": "The model replays each decision from what went in, and compares every field (`sim/harness/replay.h`).",
    "victims": "The model of the victim search works out each push-out's victim (`sim/harness/victim_check.h`).",
    "accounting": "Every frame has one fate, and comes out as it went in but for header edits (`sim/harness/accounting.h`).",
    "stream": "The driver checks the rules of the streams at the lane's ports (`sim/harness/lane_driver.h`).",
    "counters": "The lane's registers are read at the end and compared with what the harness counted (`sim/harness/counter_check.h`).",
    "engines": "The lane and the clocked model run the same capture; results and output captures must be equal (`sim/tests/test_engines.py`).",
    "capture": "The capture reader carries odd frames and warns of each (`sim/harness/capture_reader.h`, `header_check.h`).",
}


@click.command()
@click.argument("faults", nargs=-1, metavar="[FAULT[:AT]]...")
@click.option("--list", "listing", is_flag=True, help="Names the faults and what each does, and runs none.")
@click.option(
    "--places", type=click.IntRange(1, 1000), default=PLACES, show_default=True, help="Chances to try in each scenario."
)
@click.option("--json", "json_file", metavar="FILE", help="The rows as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/inject.md and .json.")
def inject(faults, listing, places, json_file, publish):
    """Puts faults into what the simulator sees; each must be named by the check that is there for it.

    FAULT:AT puts a fault at its AT-th chance alone. Exit status 1: some fault was not named.
    """
    from . import simulate
    from .show import with_progress

    if publish and faults:
        raise UserError("--publish goes with all faults; leave the names out")
    with working() as note:
        presets = ["lab"] if listing else list(dict.fromkeys(scenario.preset for scenario in SCENARIOS))
        programs = {preset: build.inject(preset, note) for preset in presets}
        model = build.model_program("lab", note)
    if listing:
        for fault in listed(programs["lab"]):
            say(f"{fault['name']:22}{fault['check']:12}{fault['what']}")
        return
    with simulate.Outputs() as outputs:
        place = outputs.add("--json", json_file)
        got = []
        action = lambda progress, _: got.append(campaign(programs, model, list(faults), places, progress))
        with_progress(action, [], "injecting")
        if place:
            place.write_text(json.dumps(got[0], indent=1) + "\n")
    if publish:
        lines = ",\n".join(json.dumps(row) for row in got[0])
        (RESULTS / "inject.json").write_text(f'{{"places": {places}, "faults": [\n{lines}\n]}}\n')
        (RESULTS / "inject.md").write_text(page(got[0], places))
    say("\n".join(screen_table(got[0])))
    if not all(row["named"] for row in got[0]):
        say(summary(got[0]))
        raise build.BuildError("not named: " + ", ".join(row["name"] for row in got[0] if not row["named"]))
    say(summary(got[0]))
