"""`vermilion bench`: frames of each length back to back, one line a (preset, length, destination).

The program is called as `vermilion-sim --bench --frame-bytes N --packets N --spread one|random --stats-json FILE` and writes
`clocks_per_decision`, `bubbles`, `latency_verdict_clocks`, `latency_total_clocks`, `clocks_per_second`, `packets_per_second`, and
`verdicts` {name: packets}: bubbles say something only while few frames are `nobuf`, which skip averages, curves and spacing.
"""

import json
import tempfile
from pathlib import Path

from . import simulate

FRAMES = (64, 128, 256, 512, 1024, 1518, 9000)


def measure(programs: dict, packets: int) -> list[dict]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        stats = Path(folder) / "stats.json"
        for preset, program in programs.items():
            for frame in FRAMES:
                for spread in ("one", "random") if frame == 64 else ("one",):
                    arguments = ["--bench", "--frame-bytes", frame, "--packets", packets, "--spread", spread]
                    simulate.run(program, [*arguments, "--stats-json", stats], lambda *_: None, lambda *_: None)
                    rows.append({"preset": preset, "frame": frame, "to": spread} | json.loads(stats.read_text()))
    return rows
