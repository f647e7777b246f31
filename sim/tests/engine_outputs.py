"""One run of the simulator's program, and what of its outputs does not depend on the engine or on the machine's speed."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from vermilion import quantise

# Of the statistics' file: what differs between engines or from run to run.
SPEEDS = ("wall_seconds", "cpu_seconds", "packets_per_second", "clocks_per_second")
OF_AN_ENGINE = ("engine", "replay", "accounting", "input_stalled_clocks", *SPEEDS)
UNDECIDED = (5, 6, 7)  # verdicts nobuf, bad and policed: no average moves and no probability is drawn against


def decided(row: list) -> list:
    """A sample or event (sim/harness/results.h) without what no decision gave it."""
    time, queue, colour, average, octets, packets, probability, verdict = row
    if verdict in UNDECIDED:
        average = probability = None
    return [time, queue, colour, average, octets, packets, probability, verdict]


@dataclass
class Outputs:
    """`capture` in bytes, `stats` whole."""

    capture: bytes
    stats: dict

    def common(self) -> dict:
        """The statistics that both engines have."""
        out = {name: value for name, value in self.stats.items() if name not in OF_AN_ENGINE}
        return out | {name: [decided(row) for row in out[name]] for name in ("samples", "events")}

    def of_the_rtl(self) -> dict:
        """The statistics that two runs of the RTL have in common."""
        return {name: value for name, value in self.stats.items() if name not in SPEEDS}

    def check(self):
        """Replay agrees with every decision and refresh; every frame is accounted for."""
        replay = self.stats["replay"]
        assert replay["agreed"] == replay["decisions"] == self.stats["packets"] > 0, replay
        assert replay["refreshes_agreed"] == replay["refreshes"], replay
        assert self.stats["accounting"]["errors"] == 0, self.stats["accounting"]


def write_words(path: Path, asked, changes: dict | None = None) -> Path:
    """The hardware's record of a configuration, for --config-words."""
    path.write_text(json.dumps(quantise.hardware(asked) | (changes or {})))
    return path


def run(program: Path, folder: Path, words: Path, capture: Path, *options) -> Outputs:
    """A run that must succeed."""
    out, stats = folder / "out.pcapng", folder / "stats.json"
    command = [program, "--in", capture, "--config-words", words, "--out", out, "--stats-json", stats, *options]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return Outputs(out.read_bytes(), json.loads(stats.read_text()))


def same(one: Outputs, other: Outputs):
    """The engines' outputs are equal: capture to the byte, all statistics that both have."""
    left, right = one.common(), other.common()
    assert left.keys() == right.keys()
    for name in left:
        assert left[name] == right[name], name
    assert one.capture == other.capture, f"the captures differ: {len(one.capture)} and {len(other.capture)} bytes"
