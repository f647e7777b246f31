"""`vermilion bench`: frames back to back on one input, of each length, then of 64 bytes under each marker.

The program is called as `vermilion-sim --bench --frame-bytes N --packets N --spread one|random --marker KIND --stats-json FILE` (what it
sends and configures: `sim/harness/bench.h`) and writes `clocks_per_decision`, `bubbles`, `latency_verdict_clocks`,
`latency_total_clocks`, `clocks_per_second`, `packets_per_second`, `verdicts` {name: packets}, `marked` [green, yellow, red],
`flow_events` {name: count}, and `lost` where the input left a frame out: bubbles say something only while no frame is lost or `nobuf`.
"""

import json
import tempfile
from pathlib import Path

from . import build, simulate

FRAMES = (64, 128, 256, 512, 1024, 1518, 9000)
MARKERS = ("leaf", "srtcm", "trtcm", "redp", "3cpm", "wpm", "apm")
PAGE = build.ROOT / "docs" / "results" / "bench.md"

# Frame bytes, spread, marker.
SHAPES = [(frame, "one", "none") for frame in FRAMES] + [(64, "random", "none")]
SHAPES += [(64, "one", marker) for marker in MARKERS] + [(64, "random", "mixed")]


def measure(programs: dict, packets: int) -> list[dict]:
    """A row for each preset and shape; a disagreement of the model or a frame unaccounted for ends it as a defect."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        for preset, program in programs.items():
            for frame, spread, marker in SHAPES:
                arguments = ["--bench", "--frame-bytes", frame, "--packets", packets, "--spread", spread]
                arguments += ["--marker", marker, "--stats-json", stats]
                simulate.run(program, arguments, lambda *_: None, lambda *_: None)
                to = spread if marker == "none" else f"{spread}, {marker}"
                row = {"preset": preset, "frame": frame, "spread": spread, "marker": marker, "to": to}
                rows.append(row | json.loads(stats.read_text()))
    return rows


INTRODUCTION = """# Clocks of the lane

Frames back to back on one input, every decision replayed in the model and agreed, every frame accounted for, the lane's counters those of the
harness. What is sent and configured: `sim/harness/bench.h`. The figures are kept in [bench.json](bench.json).

* `bubbles`: clocks lost against line rate. `lost`: frames left out by the input or `nobuf`, which would skip averages, curves and spacing.
* Latencies are the least seen, in clocks from tlast: to the verdict, to the first beat out.
* Queues have a curve from p = 1/16 at an empty queue, uniform spacing, and a limit of half of the buffer's cells. Not measured: shaped
  queues ([limits](../limits.md), scheduler).
* Flows: `one` TCP flow, so the same queue, bucket, set of the flow table and state in every clock, or 1,024 at `random` over all queues.
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


def cells(row: dict) -> list:
    """A row of the page: of `PLAIN` without a marker, else of `MARKED`."""
    verdicts, events = row["verdicts"], row["flow_events"]
    lost = verdicts["nobuf"] + sum(each["packets"] for each in row.get("lost", []))
    shared = [f"{row['clocks_per_decision']:g}", row["bubbles"], lost, row["latency_verdict_clocks"]]
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


def section(preset: str, packets: int, plain: list[list], marked: list[list]) -> str:
    text = f"\n## {build.PRESETS[preset].data_bits} bits: `./vermilion bench --preset {preset} --packets {packets} --publish`\n\n"
    return text + table(PLAIN, 1, plain) + "\n" + table(MARKED, 2, marked)


def publish(rows: list[dict], packets: int) -> None:
    """Writes the page and, beside it, the same as JSON; presets that were not measured now stay as they were."""
    kept = PAGE.with_suffix(".json")
    known = json.loads(kept.read_text()) if kept.exists() else {}
    for preset in {row["preset"] for row in rows}:
        mine = [(row["marker"] == "none", cells(row)) for row in rows if row["preset"] == preset]
        plain, marked = ([row for kind, row in mine if kind == want] for want in (True, False))
        known[preset] = {"packets": packets, "plain": plain, "marked": marked}
    ordered = {preset: known[preset] for preset in reversed(build.PRESETS) if preset in known}
    kept.write_text(json.dumps(ordered, indent=1) + "\n")
    PAGE.write_text(INTRODUCTION + "".join(section(preset, **figures) for preset, figures in ordered.items()))
