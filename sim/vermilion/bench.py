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

Made by `./vermilion bench {presets}--packets {packets} --publish`. Frames back to back on one input, every decision replayed in the model and
agreed, every frame accounted for, the lane's counters those of the harness. What is sent and configured: `sim/harness/bench.h`.

* `bubbles`: clocks lost against line rate. `lost`: frames left out by the input or `nobuf`, which would skip averages, curves and spacing.
* Latencies are the least seen, in clocks from tlast: to the verdict, to the first beat out.
* Queues have a curve from p = 1/16 at an empty queue, uniform spacing, and a limit of half of the buffer's cells. Not measured: shaped
  queues ([limits](../limits.md), scheduler).
"""

MARKED = """
### Markers, 64 bytes

`one`: one TCP flow, so the same queue, bucket, set of the flow table and state in every clock. `random`: 1,024 flows over all queues, the seven kinds in
turn, colour-aware and by factor from the second turn on. One segment in 16 is sent again. `policed`: REDP's dropper.
"""


def cells(row: dict) -> list:
    lost = row["verdicts"]["nobuf"] + sum(each["packets"] for each in row.get("lost", []))
    return [f"{row['clocks_per_decision']:g}", row["bubbles"], lost, row["latency_verdict_clocks"]]


def table(head: list[str], words: int, rows: list[list]) -> str:
    """Markdown; the first `words` columns are text, the others numbers."""
    form = lambda cell: f"{cell:,}" if isinstance(cell, int) else str(cell)
    line = lambda cells: "| " + " | ".join(map(form, cells)) + " |\n"
    return line(head) + line(["---"] * words + ["---:"] * (len(head) - words)) + "".join(map(line, rows))


def page(rows: list[dict], packets: int, named: tuple[str, ...]) -> str:
    text = INTRODUCTION.format(presets="".join(f"--preset {name} " for name in named), packets=packets)
    shared = ["clocks per decision", "bubbles", "lost", "to the verdict"]
    for preset in dict.fromkeys(row["preset"] for row in rows):
        mine = [row for row in rows if row["preset"] == preset]
        text += f"\n## {build.PRESETS[preset].data_bits} bits, `{preset}`, {packets:,} packets a row\n\n"
        plain = [
            [row["spread"], row["frame"], *cells(row), row["latency_total_clocks"]]
            + [row["verdicts"][name] for name in ("enqueue", "early")]
            for row in mine
            if row["marker"] == "none"
        ]
        text += table(["flows", "frame", *shared, "to the first beat out", "enqueued", "early"], 1, plain) + MARKED + "\n"
        marked = [
            [row["spread"], row["marker"], *cells(row), *row["marked"], row["verdicts"]["policed"], row["verdicts"]["early"]]
            + [row["flow_events"][name] for name in ("loss", "probe")]
            for row in mine
            if row["marker"] != "none"
        ]
        text += table(["flows", "marker", *shared, *"green yellow red policed early losses probes".split()], 2, marked)
    return text


def publish(rows: list[dict], packets: int, named: tuple[str, ...]) -> None:
    PAGE.write_text(page(rows, packets, named))
