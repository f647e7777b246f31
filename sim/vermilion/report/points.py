"""Operating points: at which averages a curve worked, and how often it said "early" there.

Each curve's average is cut into bins (below min, five from min to max, three from max to the end, above the end). A bin's
rate is hits / decisions with its Clopper-Pearson interval. A decision belongs to the curve that gave its probability: the
ECN curve for ECT and CE packets of a colour that has one of its own, else the drop curve. Left out are decisions that no
curve made: `tail`, `nobuf`, `bad`, `policed`, and forced drops of packets that follow an ECN curve.

All decisions are taken from the trace. Without a trace it is the samples in the run's JSON, which do not tell ECT from
not-ECT, so that colours with an ECN curve of their own get no points.
"""

import csv
import math
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from vermilion.hardware.formats import AVG_FRAC
from vermilion.profile.image_record import CurveRecord
from vermilion.profile.quantise import curve_of
from vermilion.profile.record import Record
from vermilion.simulation.result import Result
from vermilion.values.fields import COLOURS

ENQUEUE, MARK, EARLY, FORCED, TAIL, NOBUF, BAD, POLICED = range(8)  # verdicts, docs/architecture.md
CONFIDENCE = 0.999


@dataclass
class Bin:
    decisions: int = 0
    hits: int = 0
    total: float = 0.0  # of averages

    @property
    def average(self) -> float:
        return self.total / self.decisions

    @property
    def rate(self) -> float:
        return self.hits / self.decisions

    @property
    def interval(self) -> tuple[float, float]:
        return binomial_interval(self.hits, self.decisions)


@dataclass
class Binned:
    """The bins of one curve; `edges` are averages."""

    edges: list[float]
    bins: list[Bin] = field(default_factory=list)

    def __post_init__(self):
        self.bins = [Bin() for _ in range(len(self.edges) + 1)]

    def add(self, average: float, hit: bool):
        found = self.bins[bisect_right(self.edges, average)]
        found.decisions += 1
        found.hits += hit
        found.total += average

    def filled(self, least: int = 1) -> list[Bin]:
        return [b for b in self.bins if b.decisions >= least]


def edges(curve: CurveRecord) -> list[float]:
    low, high, end = curve["min"], curve["max"], curve["end"]
    first = {low + (high - low) * i / 5 for i in range(6)}
    return sorted(first | {high + (end - high) * i / 3 for i in range(4)})


def collect(record: Record, stats: Result, trace) -> dict[tuple[int, int, str], Binned]:
    """Bins for each (queue, colour, "drop" or "ecn") with a curve that made decisions."""
    queues = {q["index"]: q for q in record["queues"]}
    out: dict[tuple[int, int, str], Binned] = {}
    whole = trace is not None and Path(trace).is_file()
    for queue, colour, average, verdict, ecn in from_trace(Path(trace)) if whole else from_samples(stats):
        if queue not in queues or verdict in (TAIL, NOBUF, BAD, POLICED):
            continue
        curves = queues[queue]["colour"][colour]
        own = bool(queues[queue]["ecn"] and curves["ecn_own"])
        if own and ecn is None:
            continue
        kind = "ecn" if own and ecn else "drop"
        if not curve_of(curves, kind)["on"] or (kind == "ecn" and verdict == FORCED):
            continue
        key = (queue, colour, kind)
        if key not in out:
            out[key] = Binned(edges(curve_of(curves, kind)))
        out[key].add(average, verdict in (MARK, EARLY, FORCED))
    return out


def from_trace(path: Path):
    with path.open(newline="") as handle:
        rows = csv.reader(handle)
        names = next(rows, [])
        if not names:
            return
        at = {name: i for i, name in enumerate(names)}
        refresh, queue, colour, verdict, ecn = (
            at[n] for n in ("refresh", "queue", "colour", "provisional_verdict", "ecn")
        )
        average = [at[f"average_{c}"] for c in range(len(COLOURS))]
        for row in rows:
            own = int(row[colour])
            if row[refresh] == "0" and row[average[own]]:  # a frame that updates no average has none
                yield int(row[queue]), own, int(row[average[own]]) / 2**AVG_FRAC, int(row[verdict]), int(row[ecn])


def from_samples(stats: Result):
    for _time, queue, colour, average, _bytes, _packets, _p, verdict in stats.get("samples", []):
        yield queue, colour, average, verdict, None


def binomial_interval(hits: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Clopper and Pearson, 1934: the rates under which neither tail is below (1 - confidence) / 2."""
    tail = (1 - confidence) / 2
    low = _beta_quantile(tail, hits, trials - hits + 1) if hits else 0.0
    high = _beta_quantile(1 - tail, hits + 1, trials - hits) if hits < trials else 1.0
    return low, high


def _beta_quantile(share: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if incomplete_beta(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """I_x(a, b), regularised, by the continued fraction of DLMF 8.17.22 in Lentz's way."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(1 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    tiny = 1e-300
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or tiny)
    result = d
    for m in range(1, 2000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / ((1 + term * d) or tiny)
            c = (1 + term / c) or tiny
            result *= c * d
        if abs(c * d - 1) < 1e-13:
            break
    return math.exp(front) * result / a
