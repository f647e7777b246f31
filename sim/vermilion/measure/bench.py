"""`vermilion bench`: frames back to back on one input, of each length, then of 64 bytes under each marker; with the victim search, under each of its forms.

The program is called as `vermilion-sim --bench --config-words FILE --frame-bytes N --packets N --spread one|random [--colours] --stats-json FILE`
(what it sends: `sim/harness/bench.h`; how the lane stands: `bench_config.py`) and writes `clocks_per_decision`, `bubbles`, `latency_verdict_clocks`,
`latency_total_clocks`, `clocks_per_second`, `packets_per_second`, `verdicts` {name: packets}, `marked` [green, yellow, red],
`flow_events` {name: count}, and `lost` where the input left a frame out: bubbles say something only while no frame is lost or `nobuf`.
"""

import json
import tempfile
from pathlib import Path

from vermilion.profile.record import Record
from vermilion.simulation import simulate
from vermilion.toolchain import build

from . import bench_config
from .bench_config import MARKERS

FRAMES = (64, 128, 256, 512, 1024, 1518, 9000)
PAGE = build.ROOT / "docs" / "results" / "bench.md"

# Frame bytes, spread, marker.
SHAPES = [(frame, "one", "none") for frame in FRAMES] + [(64, "random", "none")]
SHAPES += [(64, "one", marker) for marker in MARKERS] + [(64, "random", "mixed")]
SHORT = [shape for shape in SHAPES if shape[0] == 64]  # for builds for benches with all algorithms
FORMS = ("red", "ecn", "tail")  # of the victim search


def once(program: Path, words: Record, frame: int, spread: str, colours: bool, packets: int, more: tuple = ()) -> dict:
    """The program's figures of one row; a disagreement of the model or a frame unaccounted for ends it as a defect."""
    with tempfile.TemporaryDirectory() as folder:
        record, stats = Path(folder) / "words.json", Path(folder) / "stats.json"
        record.write_text(json.dumps(words))
        arguments = ["--bench", "--config-words", record, "--frame-bytes", frame, "--packets", packets]
        arguments += ["--spread", spread, *["--colours"] * colours, "--stats-json", stats, *more]
        simulate.run(program, arguments, lambda *_: None, lambda *_: None)
        return json.loads(stats.read_text())


def measure(programs: dict, packets: int, note=build.quiet) -> list[dict]:
    """A row for each preset and shape: builds for benches have frames of 64 bytes only, or those of the search alone."""
    rows = []
    for preset, program in programs.items():
        shape = build.shape(preset)
        for frame, spread, marker in SHAPES if preset in build.PRESETS else SHORT if "-all" in preset else ():
            words = bench_config.record(shape, frame, spread, marker)
            note(f"{preset}, {frame} bytes, {spread}, {marker}", "measuring", "measured")
            figures = once(program, words, frame, spread, marker != "none" and spread == "one", packets)
            to = spread if marker == "none" else f"{spread}, {marker}"
            rows.append({"preset": preset, "frame": frame, "spread": spread, "marker": marker, "to": to} | figures)
        for form in FORMS if shape.victims and shape.egresses == 1 else ():
            note(f"{preset}, 64 bytes, victims {form}", "measuring", "measured")
            figures = once(program, bench_config.search(shape, 64, form), 64, "one", False, packets)
            rows.append({"preset": preset, "frame": 64, "form": form, "to": f"one, {form}"} | figures)
    return rows


INTRODUCTION = """# Clocks of the lane

Frames back to back on one input, every decision replayed in the model and agreed, every frame accounted for, the lane's counters those of the
harness. Clocks, not nanoseconds: how long a clock must be is an estimate ([timing](timing.md)).
What is sent: `sim/harness/bench.h`; how the lane stands: `sim/vermilion/measure/bench_config.py`. The figures are kept in [bench.json](bench.json).

* `bubbles`: clocks lost against line rate. `lost`: frames left out by the input or `nobuf`, which would skip averages, curves and spacing.
* Latencies are the least seen, in clocks from tlast: to the verdict, to the first beat out.
* Queues have a curve from p = 1/16 at an empty queue, uniform spacing, and a limit of half of the buffer's cells. Not measured: shaped
  queues ([limits](../limits/traffic.md#scheduler)).
* Flows: `one` TCP flow, so the same queue, bucket, set of the flow table and state in every clock, or 1,024 at `random`, over sixteen queues, as far apart as the build has them.
* Victim search, 64 bytes into one queue, distances at random: `red`, every arrival forced over half of the limit; `ecn`, half of the frames ECT, early drops and marks; `tail`,
  push-outs among the last 16 packets, at the limit. The port is slower than the stream, so that queues stand: a tenth of it, and 55 % for `ecn`. A push-out costs one packet: `evicted`
  or CE-`marked` where it stands, or the arriving one (`itself`, lost or marked). `lost otherwise`: losses without a push-out. `stale`: share of push-outs with a stale candidate, [decision 6](../decisions/0006-victims-by-distance.md). A packet that stays in a queue of
  constant push-outs has come far, so most arriving packets are the nearest themselves.
* Markers, 64 bytes: one kind in all queues, colour-aware, or `mixed`: the seven in turn, colour-aware and by factor from the second
  turn on. Frames come in all three colours. One segment in 16 is sent again (`losses`). `policed`: REDP's dropper.
"""
PLAIN = [
    "flows",
    "frame",
    "clocks per decision",
    "bubbles",
    "lost",
    "to the verdict",
    "to the first beat out",
    "enqueued",
    "early",
]
MARKED = ["flows", "marker", *PLAIN[2:6], "green", "yellow", "red", "policed", "early", "losses", "probes"]
SEARCHED = ["form", *PLAIN[2:7], "lost otherwise", "push-outs", "evicted", "marked", "itself", "stale"]


def push_outs(row: dict) -> dict:
    """What became of the push-outs of a row's queue, and what it lost without one."""
    queue, verdicts = row["queues"][0], row["verdicts"]
    packets = lambda name: sum(colour[name]["packets"] for colour in queue["colours"])
    evicted, marked = packets("evicted"), packets("marked")  # the second: arriving ones too
    dropped = verdicts["early"] + verdicts["forced"] + verdicts["tail"]
    own = queue["push_outs"] - evicted - (marked - verdicts["mark"])
    return {
        "push_outs": queue["push_outs"],
        "evicted": evicted,
        "marked": marked - verdicts["mark"],
        "itself": own,
        "stale": queue["stale"],
        "not_ordered": dropped + verdicts["mark"] - own,
    }


def cells(row: dict) -> list:
    """A row of the page: of `SEARCHED` with the search, of `PLAIN` without a marker, else of `MARKED`."""
    verdicts, events = row["verdicts"], row["flow_events"]
    lost = verdicts["nobuf"] + sum(each["packets"] for each in row.get("lost", []))
    shared = [f"{row['clocks_per_decision']:g}", row["bubbles"], lost, row["latency_verdict_clocks"]]
    if "form" in row:
        found = push_outs(row)
        stale = f"{100 * found['stale'] / max(found['push_outs'], 1):.1f} %"
        ends = [found[name] for name in ("not_ordered", "push_outs", "evicted", "marked", "itself")]
        return [row["form"], *shared, row["latency_total_clocks"], *ends, stale]
    if row["marker"] == "none":
        ends = [row["latency_total_clocks"], verdicts["enqueue"], verdicts["early"]]
        return [row["spread"], row["frame"], *shared, *ends]
    ends = [*row["marked"], verdicts["policed"], verdicts["early"], events["loss"], events["probe"]]
    return [row["spread"], row["marker"], *shared, *ends]


def table(head: list[str], words: int, rows: list[list]) -> str:
    """Markdown; the first `words` columns are text, the others numbers."""
    form = lambda cell: f"{cell:,}" if isinstance(cell, int) else str(cell)
    line = lambda cells: "| " + " | ".join(map(form, cells)) + " |\n"
    return line(head) + line(["---"] * words + ["---:"] * (len(head) - words)) + "".join(map(line, rows))


OUTDATED = "\nThese figures are of other Verilog than the sources give now.\n"


def section(preset: str, packets: int, old: bool = False, **tables: list[list]) -> str:
    shape = build.shape(preset)
    queues = f", {shape.queues:,} queues, {shape.cells:,} cells, the search in {shape.victims} of them"
    search = queues if preset in build.FOR_BENCHES else ""
    text = f"\n## {shape.data_bits} bits{search}: `./vermilion bench --preset {preset} --packets {packets} --publish`\n"
    heads = {"plain": (PLAIN, 1), "marked": (MARKED, 2), "searched": (SEARCHED, 1)}
    return text + OUTDATED * old + "".join("\n" + table(*heads[name], rows) for name, rows in tables.items() if rows)


def kind(row: dict) -> str:
    return "searched" if "form" in row else "plain" if row["marker"] == "none" else "marked"


def publish(rows: list[dict], packets: int) -> None:
    """Writes the page and, beside it, the same as JSON; presets that were not measured now stay as they were."""
    kept = PAGE.with_suffix(".json")
    known = json.loads(kept.read_text()) if kept.exists() else {}
    for preset in {row["preset"] for row in rows}:
        mine = [row for row in rows if row["preset"] == preset]
        tables = {name: [cells(row) for row in mine if kind(row) == name] for name in ("plain", "marked", "searched")}
        known[preset] = {"packets": packets} | tables
    order = [*reversed(build.PRESETS), *build.FOR_BENCHES]
    ordered = {preset: known[preset] for preset in order if preset in known}
    kept.write_text(json.dumps(ordered, indent=1) + "\n")
    PAGE.write_text(INTRODUCTION + "".join(section(preset, **figures) for preset, figures in ordered.items()))
