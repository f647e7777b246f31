"""`vermilion fairness`: how evenly REDP demotes flows of equal rate, by the phases of their packets, beside a plain bucket.

Six UDP flows of equal packets and equal rate come to one marker, 10^5 packets in all, together at 1.2 to 3 times its rate. How they lie to each
other is the pattern; the demoted packets of the flow with most over those of the flow with fewest is the measure. Marker and random source are
the model's (`sim/fairness/demotions.cpp`), configured through `quantise.py` as a lane's are.
"""

import json
import random
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.toolchain import build

FLOWS, PACKETS, PACKET_BYTES, RATE = 6, 100_000, 1000, 10**9
PERIOD_NS = (
    FLOWS * 8 * 10**9 * PACKET_BYTES // RATE
)  # between packets of a flow where all together have the marker's rate
LOADS, SEEDS = (1.2, 1.5, 2.0, 3.0), (1, 2, 3, 4, 5)
DRIFT = 1e-4  # of a clock, either way
PAGE = build.ROOT / "docs" / "results" / "redp-fairness.md"

# Where in the period each flow's packets lie. At the same place flows come in the order of their numbers.
PHASES: dict[str, tuple[float, ...] | None] = {
    "even": tuple(i / FLOWS for i in range(FLOWS)),
    "random, kept": None,
    "one and five": (0, 0.5, 0.5, 0.5, 0.5, 0.5),
    "three and three": (0, 0, 0, 0.5, 0.5, 0.5),
    "all at once": (0,) * FLOWS,
}
PATTERNS = (*PHASES, "all at once, in a new order each time", "drifting", "random gaps")
TEXT = {
    "even": "a sixth of the period apart",
    "random, kept": "drawn once, by the seed",
    "one and five": "five at once, the sixth half a period off",
    "three and three": "three at once, three half a period off",
    "all at once": "always in the same order",
    "all at once, in a new order each time": "the order drawn anew in each period",
    "drifting": "all at once at first; each flow's clock is off by up to 100 parts in a million",
    "random gaps": "exponential gaps, each flow by itself (Poisson)",
}
REDP = {"kind": "redp", "bucket": "60p", "low": "15p", "high": "45p"}
MARKERS = {
    "redp": REDP,
    "deep": REDP | {"bucket": "240p", "low": "60p", "high": "180p"},
    "leaf": {"kind": "leaf", "burst": "60p", "out": "yellow"},
}


def arrivals(pattern: str, load: float, seed: int = 1, packets: int = PACKETS) -> list[tuple[int, int]]:
    """(ns, flow) of each packet, in the order in which they come."""
    rng, period = random.Random(f"{pattern} {seed}"), PERIOD_NS / load
    rounds = -(-packets // FLOWS)
    if pattern in ("drifting", "random gaps"):
        every = []
        for flow in range(FLOWS):
            own, time = period * (1 + rng.uniform(-DRIFT, DRIFT)), 0.0
            for _ in range(2 * rounds):
                time += own if pattern == "drifting" else rng.expovariate(1 / period)
                every.append((int(time), flow))
        return sorted(every)[:packets]
    phases: Sequence[float] = PHASES.get(pattern) or [0.0] * FLOWS
    if pattern == "random, kept":
        phases = [rng.random() for _ in range(FLOWS)]
    out = []
    for number in range(rounds):
        order = sorted(range(FLOWS), key=lambda flow: phases[flow])
        if pattern.startswith("all at once,"):
            rng.shuffle(order)
        out += [(int((number + phases[flow]) * period), flow) for flow in order]
    return out[:packets]


def lane(marker: str) -> config.Config:
    """A lane with that marker on its one queue."""
    table = {"queue": "flows", "rate": RATE} | MARKERS[marker]
    raw = {"port": {"rate": "100Gbit"}, "queue": [{"name": "flows", "default": True}], "marker": [table]}
    return config.parse(raw)


def program(say=build.quiet) -> Path:
    library, source, made = (
        build.model_library(say),
        build.ROOT / "sim/fairness/demotions.cpp",
        build.BUILD / "demotions",
    )
    command = ["g++", *build.CXX_FLAGS, *build.MODEL_FLAGS, source, *build.linked(library), "-o", made]
    with build.locked(f"{made.name}.lock"):
        key = build.digest([source, *build.model_inputs()], *command)
        build.step(made, key, say, "the count of demotions", lambda: build.run(command, build.BUILD / "demotions.log"))
    return made


def demotions(made: Path, marker: str, packets: list[tuple[int, int]], seed: int) -> list[int]:
    """Demoted packets of each flow."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as words:
        json.dump(quantise.hardware(lane(marker)), words)
        words.flush()
        text = "".join(f"{ns} {PACKET_BYTES} {flow}\n" for ns, flow in packets)
        done = subprocess.run([made, words.name, str(seed)], input=text, capture_output=True, text=True)
    if done.returncode:
        raise build.BuildError(f"{made.name} failed: {done.stderr.strip()}")
    return [int(line.split()[1]) for line in done.stdout.splitlines()]


def measure(made: Path, note=lambda *_: None) -> list[dict]:
    """A row for each pattern and load, with the demoted packets of each flow by marker and seed."""
    rows = []
    for done, (pattern, load) in enumerate((p, x) for p in PATTERNS for x in LOADS):
        note(done, len(PATTERNS) * len(LOADS))
        demoted: dict[str, list[list[int]]] = {name: [] for name in MARKERS}
        for seed in SEEDS:
            packets = arrivals(pattern, load, seed)
            for name in MARKERS:
                demoted[name].append(demotions(made, name, packets, seed))
        rows.append({"pattern": pattern, "load": load, **demoted})
    return rows


def ratio(counts: list[int]) -> float:
    """The most demoted flow's packets over the least demoted one's."""
    return max(counts) / min(counts) if min(counts) else float("inf")


def ratios(row: dict, marker: str) -> str:
    """The least and greatest ratio of the seeds; "none" where a flow is not demoted at all."""
    found = [ratio(counts) for counts in row[marker]]
    form = lambda x: "none" if x == float("inf") else f"{x:.2f}"
    low, high = form(min(found)), form(max(found))
    return low if low == high else f"{low} to {high}"


def share(row: dict, marker: str) -> str:
    """Demoted packets in all."""
    return f"{100 * sum(map(sum, row[marker])) / (PACKETS * len(row[marker])):.1f} %"


HEADS = ["pattern", "load", "demoted", "REDP", "REDP, four times as deep", "plain bucket"]


def cells(row: dict) -> list[str]:
    return [f"{row['load']:g}", share(row, "redp"), *(ratios(row, name) for name in ("redp", "deep", "leaf"))]


INTRODUCTION = f"""# How evenly REDP demotes flows of equal rate

Made by `./vermilion fairness --publish`; figures of each seed and flow: [redp-fairness.json](redp-fairness.json). {FLOWS} flows of {PACKET_BYTES} B
packets at equal rates, {PACKETS:,} packets in all, come green to one marker at `load` times its rate. Each figure is the demoted packets of
the flow with most over those of the flow with fewest, least to greatest of the seeds {SEEDS[0]} to {SEEDS[-1]}; 1 is even, `none`: some flow has no demoted packet at all.
REDP: bucket 60, T_L 15, T_H 45 packets, both MAX 0.5 (P0's); four times as deep: 240, 60, 180; plain bucket: leaf, 60 packets.

"""
DISCUSSION = """
## What it says

* **REDP is even where the packets of the flows are spread evenly and its rate is not passed by far**: 1.02 to 1.05 is what 10^5 packets scatter by chance.
  A plain bucket is not: flows that keep their phases meet it full or empty always at the same turns, and some flow bears no demotion at all.
* **Flows whose packets keep coming together, in the same order, are not treated alike by REDP either.** Its coin is tossed anew for each
  packet, but the chance hangs on the tokens, and the first packets of a burst take tokens from those behind them. With p the share demoted, the last of n finds
  (n-1)(1-p) packets of tokens less than the first, so its chance is higher by d = (n-1)(1-p) MAX_demo / T_L, and the ratio about
  (p + d/2) / (p - d/2). Six at once, T_L = 15, MAX 0.5: 2.4 at load 1.2 (p = 1/6) and 1.4 at 1.5 (p = 1/3). This is eq. (1) of P0, not the
  random source; no independent draw can undo it.
* **At 1 / (1 - MAX_demo) times the rate and above (2 with MAX 0.5) REDP is a plain bucket in part**: eq. (1) demotes at most MAX of the packets, the bucket runs empty, and
  what does not fit is yellow whatever the draw. Then flows of kept phases, evenly spread ones too, are no longer alike. A greater MAX_demo moves the
  border, with 1 it is gone; but d is greater, too, and six at once at load 1.2 then differ by 9.
* **Depth helps**: d goes with 1 / T_L, as the column of the deeper bucket shows, below that border. The price is a larger burst that leaves green.
* **What breaks the lock helps most**: in a new order each time, or with gaps of their own, flows are even at every load. Clocks that drift apart by up to 100 parts
  in a million only soften it within such a run, in which they pass through few rounds of phases. Kept phases are the worst case: flows of one source, or behind one shaper.
* With random gaps or in random order the plain bucket is even as well: what REDP is for is flows of steady pace.
"""


def publish(rows: list[dict]) -> None:
    """Writes the page and, beside it, the same as JSON."""
    about = {
        "flows": FLOWS,
        "packets": PACKETS,
        "packet_bytes": PACKET_BYTES,
        "rate": RATE,
        "seeds": SEEDS,
        "markers": MARKERS,
    }
    lines = [json.dumps(row) for row in rows]
    text = json.dumps(about)[:-1] + ', "rows": [\n' + ",\n".join(lines) + "\n]}\n"
    PAGE.with_suffix(".json").write_text(text)
    page = INTRODUCTION + "| " + " | ".join(HEADS) + " |\n| --- |" + " ---: |" * (len(HEADS) - 1) + "\n"
    for row in rows:
        name = f"{row['pattern']}: {TEXT[row['pattern']]}" if row["load"] == LOADS[0] else ""
        page += f"| {name} | " + " | ".join(cells(row)) + " |\n"
    PAGE.write_text(page + DISCUSSION)
