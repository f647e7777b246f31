"""One run of the simulator's program, and comparisons of what it wrote."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from support.runs import alike
from vermilion.profile import quantise

# Of the statistics' file: what differs from run to run.
SPEEDS = ("wall_seconds", "cpu_seconds", "packets_per_second", "clocks_per_second")
CHECKS = ("victims", "accounting", "counters", "stream")  # and replay


@dataclass
class Outputs:
    """`capture` and `why`, of the dropped and marked packets, in bytes, `stats` whole."""

    capture: bytes
    why: bytes
    stats: dict

    def of_the_rtl(self) -> dict:
        """The statistics that two runs of the RTL have in common."""
        return {name: value for name, value in self.stats.items() if name not in SPEEDS}

    def check(self):
        """Replay agrees with every decision and refresh; no other check of the run found an error."""
        replay = self.stats["replay"]
        assert replay["agreed"] == replay["decisions"] == self.stats["packets"] > 0, replay
        assert replay["refreshes_agreed"] == replay["refreshes"], replay
        for name in CHECKS:
            assert self.stats[name]["errors"] == 0, self.stats[name]


def write_words(path: Path, asked, changes: dict | None = None) -> Path:
    """The hardware's record of a configuration, for --config-words."""
    path.write_text(json.dumps(quantise.hardware(asked) | (changes or {})))
    return path


def run(program: Path, folder: Path, words: Path, capture: Path, *options) -> Outputs:
    """A run that must succeed."""
    out, why, stats = folder / "out.pcapng", folder / "why.pcapng", folder / "stats.json"
    command = [program, "--in", capture, "--config-words", words, "--out", out, "--why", why, "--stats-json", stats]
    done = subprocess.run([str(word) for word in [*command, *options]], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return Outputs(out.read_bytes(), why.read_bytes(), json.loads(stats.read_text()))


def same(one: Outputs, other: Outputs):
    """The engines' outputs are equal: captures to the byte, all statistics that both have."""
    alike(one.stats, other.stats)
    assert one.capture == other.capture, f"the captures differ: {len(one.capture)} and {len(other.capture)} bytes"
    assert one.why == other.why, "the captures of dropped and marked packets differ"
