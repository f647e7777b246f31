"""`vermilion inject`: injects faults and checks that the responsible checker reports each one.

The C++ program in `sim/inject` has the faults. It records a run of the Verilated lane and replays it, with one fault, to newly created checkers.
Faults of captures are in `injection_captures`. Each fault is injected at several points of each scenario, spread from the first to the last.
A fault without any injection point counts as not reported.
"""

import json
import subprocess
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click

from vermilion.configuration import config_file
from vermilion.console.screen import say, working
from vermilion.profile import quantise
from vermilion.profile.record import LaneRecord
from vermilion.simulation import simulate
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import injection_captures, injection_traffic

RESULTS = build.ROOT / "docs" / "results"
SCENARIOS_AT = build.ROOT / "sim" / "inject" / "scenarios"
CONFIGS = build.ROOT / "sim" / "configs"
PLACES = 3
NO_POINT = "no injection point"
SCREEN = 80  # columns


def shipped(_path: Path) -> Path:
    return build.ROOT / "sim" / "captures" / "default.pcapng"


@dataclass(frozen=True)
class Scenario:
    """A recorded run: a build, a configuration, a capture (shipped, or written to the path given) and the simulator's options."""

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
        "nic10g-two-ports",
        SCENARIOS_AT / "two-inputs.toml",
        injection_traffic.two_inputs,
        ("--rate", 100_000_000_000),
    ),
    Scenario("rules", "lab", SCENARIOS_AT / "rules.toml", shipped, ("--speed", 4)),
    Scenario("streams", "lab", CONFIGS / "default.toml", injection_traffic.short, (), True),
)


def listed(program: Path) -> list[dict]:
    """The faults, in the table's order: name, what, check, says."""
    done = subprocess.run([program, "--list"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["faults"] + injection_captures.listed()


def record(scenario: Scenario) -> LaneRecord:
    shape = build.shape(scenario.preset)
    return quantise.hardware(
        config_file.load(scenario.config, shape.queues, shape.victims, shape.cells, build_aqms=shape.aqms)
    )


def play(program: Path, scenario: Scenario, faults: list[str], places: int, progress, first: int = 0) -> dict:
    """One scenario's run with all of `faults` (`NAME` or `NAME:AT`): the JSON of sim/inject/main.cpp."""
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words.json"
        words.write_text(json.dumps(record(scenario)))
        capture = scenario.capture(Path(folder) / "in.pcap")
        command = [program, "--in", capture, "--config-words", words, "--engine", "rtl", *scenario.options]
        command += ["--own", ",".join(sorted(simulate.OF_ONE_ENGINE)), "--faults", ",".join(faults), "--places", places]
        command += ["--first", first]
        last = ""
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
            for last in process.stdout or ():
                if last.startswith("progress "):
                    progress(*map(int, last.split()[1:]))
    if process.returncode or not last.startswith("{"):
        raise build.BuildError(f"{program.name}, {scenario.name}: status {process.returncode}: {last.strip()}")
    found = json.loads(last)
    if found["clean"]:
        raise build.BuildError(f"{scenario.name}: a checker reports an error without any fault: {found['clean']}")
    return found


def joined(fault: dict, scenarios: dict[str, dict]) -> dict:
    """A fault's row: its injection points (`chances`) and tries in all scenarios, and whether each try was reported (`named`)."""
    rows = {name: rows[fault["name"]] for name, rows in scenarios.items() if fault["name"] in rows}
    tries = [{"scenario": name} | one for name, row in rows.items() for one in row["tries"]]
    for one in tries:
        one["checks"] = {check: text[:120] for check, text in one["checks"].items()}
    also = sorted({check for one in tries for check in one["checks"]} - {fault["check"]})
    chances = sum(row["chances"] for row in rows.values())
    named = bool(tries) and all(one["named"] for one in tries)
    return fault | {"chances": chances, "named": named, "also": also, "tries": tries}


def check_names(faults: list[dict], asked: list[str]) -> list[str]:
    """The names of the faults asked for; refuses one that there is not."""
    names = [name.partition(":")[0] for name in asked]
    for name in names:
        if name not in [fault["name"] for fault in faults]:
            raise UserError(f"inject {name}: unknown fault; --list shows all faults")
    return names


def campaign(programs: dict[str, Path], model: Path, asked: list[str], places: int, progress) -> list[dict]:
    """A row for each fault asked for, all where none is. Each place changes another bit of its field; with one place, each scenario does."""
    faults = listed(programs["lab"])
    names = check_names(faults, asked)
    wanted = [fault for fault in faults if not asked or fault["name"] in names]
    found = {}
    for number, scenario in enumerate(SCENARIOS):
        own = [f["name"] for f in wanted if f["check"] != "capture" and (f["check"] == "stream") == scenario.live]
        own = [name for name in asked if name.partition(":")[0] in own] or own
        if own:
            step = lambda done, total, number=number: progress(number + done / total, len(SCENARIOS))
            first = number if places == 1 else 0
            rows = play(programs[scenario.preset], scenario, own, places, step, first)["faults"]
            found[scenario.name] = {row["name"]: row for row in rows}
    captures = {fault["name"] for fault in wanted if fault["check"] == "capture"}
    found["captures"] = {row["name"]: row for row in injection_captures.play(model, captures)}
    return [joined(fault, found) for fault in wanted]


def summary(rows: list[dict]) -> str:
    return f"{sum(row['named'] for row in rows)} of {len(rows)} faults reported"


def result(row: dict) -> str:
    if not row["tries"]:
        return NO_POINT
    return f"{sum(one['named'] for one in row['tries'])} of {len(row['tries'])}"


def screen_table(rows: list[dict]) -> list[str]:
    width = max(len(row["name"]) for row in rows) + 2
    head = lambda name, check, count: f"{name:{width}}{check:12}{count:>8}  "
    lines = [head("fault", "checker", "reported") + "also reported by"]
    for row in rows:
        begin = head(row["name"], row["check"], result(row) if row["tries"] else "none")
        note = ", ".join(row["also"]) if row["tries"] else NO_POINT
        lines += textwrap.wrap(begin + note, SCREEN, subsequent_indent=" " * len(begin)) if note else [begin.rstrip()]
    return lines


def page(rows: list[dict], places: int) -> str:
    lines = ["# Fault injection: each checker must report its faults", "", *HEAD, ""]
    lines += [f"**{summary(rows)}**, each at up to {places} injection points per scenario. {TOTALS}"]
    for check, text in CHECKS.items():
        own = [row for row in rows if row["check"] == check]
        lines += ["", f"## {check}", "", text, "", "| fault | change in the recording | reported | also reported by |"]
        lines += ["| --- | --- | ---: | --- |"]
        lines += [f"| `{r['name']}` | {r['what']} | {result(r)} | {', '.join(r['also'])} |" for r in own]
    return "\n".join(lines) + "\n"


HEAD = [
    "Made by `./vermilion inject --publish`. [inject.json](inject.json) has the first message of each checker, for each try.",
    "",
    "A checker that reports nothing proves little, unless it is known to detect errors. The simulator records one run of the lane: decisions,",
    "departures, frames and register values. It puts one fault into the recording and gives the recording to newly created checkers.",
    "",
    "A place where a fault can be applied is an injection point. A fault counts as reported if the intended checker detects it at every injection",
    "point that was tried, and the checker's first message names what the fault changed. Where the first consequence depends on the traffic,",
    "one of a few stated messages is required. A fault without an injection point counts as not reported.",
    "",
    "`one bit of`: the first three points flip the lowest, the highest and the middle bit of the field.",
    "",
    "There are five recorded scenarios. Three use the shipped capture, with `default.toml`, `markers.toml` and rules. One has all kinds of push-outs. One has",
    "two inputs of a 10G lane, with lost and oversized frames (`sim/inject/scenarios`). `stream` and `capture` faults have short runs of their own.",
]
TOTALS = "`12 of 12` means 3 points in each of 4 scenarios. A smaller total means that some scenarios have fewer such points, or none."
CHECKS = {
    "replay": "The model recomputes each decision from the recorded input and compares every field (`sim/harness/replay.h`).",
    "victims": "A model of the victim search computes the victim of each push-out and compares it (`sim/harness/victim_check.h`).",
    "accounting": "Each frame is sent, dropped or pushed out exactly once. A sent frame is unchanged except for header edits (`sim/harness/accounting.h`).",
    "stream": "The test bench checks the AXI-Stream rules at the lane's ports (`sim/harness/lane_driver.h`).",
    "counters": "The lane's registers are read at the end and compared with what the harness counted (`sim/harness/counter_check.h`). "
    "At the end nothing moves, so no fault here is a snapshot that mixes two instants. `StatisticsSpec` and `RecordRamProof` "
    "(`hw/test/src/vermilion/stats`) check that, in full traffic and by proof.",
    "engines": "The RTL and the model run the same capture. Their results and output captures must be equal (`sim/tests/simulate/test_engines.py`).",
    "capture": "The capture reader passes malformed frames on and warns about each (`sim/harness/capture_reader.h`, `header_check.h`).",
}


@click.command()
@click.argument("faults", nargs=-1, metavar="[FAULT[:AT]]...")
@click.option("--list", "listing", is_flag=True, help="Lists the faults and what each one changes; runs nothing.")
@click.option(
    "--places",
    type=click.IntRange(1, 1000),
    default=PLACES,
    show_default=True,
    help="Injection points to try per scenario.",
)
@click.option("--json", "json_file", metavar="FILE", help="The rows as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/inject.md and .json.")
def inject(faults, listing, places, json_file, publish):
    """Injects faults into recorded simulations. The checker responsible for a fault must report it.

    FAULT:AT injects a fault only at its AT-th injection point. Exit status 1 means that a fault was not reported.
    """
    from vermilion.simulation.show import with_progress

    if publish and faults:
        raise UserError("--publish needs a run of all faults; give no fault names")
    with working() as note:
        programs = {"lab": build.inject("lab", note)}
        check_names(listed(programs["lab"]), list(faults))
        if not listing:
            programs |= {scenario.preset: build.inject(scenario.preset, note) for scenario in SCENARIOS}
        model = build.model_program("lab", note)
    if listing:
        for fault in listed(programs["lab"]):
            say(f"{fault['name']:27}{fault['check']:12}{fault['what']}")
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
        raise build.BuildError("faults not reported: " + ", ".join(row["name"] for row in got[0] if not row["named"]))
    say(summary(got[0]))
