"""ns-2's dsRED on the bursts of P2's tables 2 to 4, beside the model: what each colour loses, and the averages that its packets meet.

ns-2 counts whole packets, so thresholds are in packets here, the nearest below the paper's KB. Traffic, rates and weights are those of
sim/experiments/settings/p2.toml, but for 100 s and with starts of their own. ns-2 draws its own random numbers and has rules of its own (dsred.py), so
two things are tested: the model against the lane's rules in exact arithmetic, and ns-2 against ns-2's rules in exact arithmetic. A third row is the first
less the second: what is left between model and ns-2 when the rules' difference is taken away.
"""

import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from statistics import fmean, variance

from vermilion.toolchain import build

from . import dsred, lanes
from .rows import Finding, Listing, Row

NAME = "ns2-dsred"
SCRIPT = build.ROOT / "sim" / "oracles" / "dsred.tcl"
BYTES, RATE = 942, 1_700_000
SERVICE_NS = 8e9 * BYTES / RATE
IDLE_BYTES = 170
BURST_GAP, BURST_PACKETS, BURST_PERIOD = 800_000, 150, 2_120_000_000
CHANCE = 1000  # by chance, at most one of so many rows is out of tolerance, as for floyd.KS
SCHEMES = {"RIO-C": "rio-c", "WRED": "wred"}


@dataclass(frozen=True)
class Table:
    name: str
    curves: tuple[dsred.Curve, dsred.Curve]
    per_second: int  # yellow packets


GREEN = dsred.Curve(27, 54, 2**-6)
TABLES = (
    Table("2", (GREEN, dsred.Curve(11, 27, 2**-4)), 1250),
    Table("3", (GREEN, dsred.Curve(11, 54, 2**-4)), 275),
    Table("4", (GREEN, dsred.Curve(27, 54, 2**-4)), 275),
)
PAPER = {("2", "RIO-C"): "0 / 87.53", ("2", "WRED"): "6.85 / 87.43", ("3", "RIO-C"): "0 / 42.72"}
PAPER |= {("3", "WRED"): "10.46 / 46.83", ("4", "RIO-C"): "0 / 42.73", ("4", "WRED"): "12.51 / 46.0"}


def starts(seed: int) -> tuple[int, int]:
    """ns at which yellow and green start: apart by some fraction of a packet's time that no seed shares with another."""
    return 1_000_000 + 37_000 * seed, 1_400_000 + 61_300 * seed


def packets(table: Table, seed: int, seconds: float) -> list[tuple[int, int]]:
    """(ns, colour)."""
    yellow, green = starts(seed)
    end, gap = int(seconds * lanes.SECOND), lanes.SECOND / table.per_second
    out = [(yellow + int(i * gap), 1) for i in range(int((end - yellow) / gap))]
    for burst in range(green, end, BURST_PERIOD):
        out += [(burst + i * BURST_GAP, 0) for i in range(BURST_PACKETS) if burst + i * BURST_GAP < end]
    return sorted(out)


def lane(table: Table, scheme: str, fault) -> lanes.Lane:
    average = {"kind": SCHEMES[scheme], "weight": 0.002, "unit": "packet", "idle_packet": IDLE_BYTES}
    curve = lambda c: {"curve": "red", "min": f"{c.low}p", "max": f"{c.high}p", "p": c.top}
    green, yellow = map(curve, table.curves)
    return lanes.lane(RATE, average, fault, spacing="uniform", green=green, yellow=yellow)


def by_model(table: Table, scheme: str, seed: int, seconds: float, fault) -> list[float]:
    """dsred.Seen.figures, as in all that follow."""
    sent = [lanes.Packet(ns, BYTES, colour) for ns, colour in packets(table, seed, seconds)]
    seen = dsred.Seen([0, 0], [0, 0], [0.0, 0.0])
    for d in lane(table, scheme, fault).decisions(sent, seed):
        seen.came[d.colour] += 1
        seen.lost[d.colour] += d.lost
        seen.averages[d.colour] += d.avg
    return seen.figures


def by_ns2(table: Table, scheme: str, seed: int, seconds: float) -> list[float]:
    curves = [word for c in table.curves for word in (c.low, c.high, c.top)]
    yellow, green = (ns / lanes.SECOND for ns in starts(seed))
    words = [seed, seconds, scheme, *curves, 1 / table.per_second, yellow, green]
    lines = [list(map(float, line.split())) for line in lanes.feed(["ns", SCRIPT, *words], "").splitlines()]
    return [100 * lost / came for came, lost, _ in lines] + [average for _, _, average in lines]


def by_rules(table: Table, scheme: str, seed: int, seconds: float, rules) -> list[float]:
    sent, idle_ns = packets(table, seed, seconds), 8e9 * IDLE_BYTES / RATE
    curves, shared = list(table.curves), scheme == "WRED"
    return dsred.simulate(sent, curves, shared, rules, seed, SERVICE_NS, idle_ns).figures


@dataclass(frozen=True)
class Difference:
    """A sum of samples' means, each with its sign. Its standard error and degrees of freedom: Welch 1947, Satterthwaite 1946.

    The sides of a seed have the same arrivals, so they can only be nearer to each other than the independent samples that Welch has in mind.
    """

    total: float
    error: float
    freedom: float

    def share(self, figures: int, slack: float = 0.0) -> float:
        """How far the sum is from 0, less `slack`, of what Welch's t allows each of `figures` figures (Bonferroni).

        Where no sample varies there is no t, and the sum has to be 0.
        """
        from scipy.special import stdtrit  # takes 0.3 s, and most commands need none of it

        over = max(0.0, abs(self.total) - slack)
        if not self.error:
            return math.inf if over else 0.0
        return over / (self.error * float(stdtrit(self.freedom, 1 - 1 / (2 * CHANCE * figures))))


def difference(*samples: tuple[int, list[float]]) -> Difference:
    """Of (sign, sample) pairs."""
    parts = [(variance(sample) / len(sample), len(sample) - 1) for _, sample in samples]
    square = sum(part for part, _ in parts)
    freedom = square**2 / sum(part**2 / free for part, free in parts) if square else 0.0
    return Difference(sum(sign * fmean(sample) for sign, sample in samples), math.sqrt(square), freedom)


def pair(results: list[list[float]], which: range) -> str:
    """Means over seeds, green / yellow."""
    return " / ".join(f"{fmean(each[number] for each in results):.2f}" for number in which)


def one_rule(seeds, seconds: float) -> Listing:
    """What each of ns-2's rules alone changes of the lane's, exactly."""
    named = {"none: the lane's": (), **{f"`{rule}`": (rule,) for rule in dsred.RULES}, "all four: ns-2's": dsred.RULES}
    lost = lambda scheme, rules: [by_rules(TABLES[0], scheme, seed, seconds, rules) for seed in seeds]
    title = f"Table {TABLES[0].name} in exact arithmetic, with one of ns-2's rules (`sim/vermilion/oracle/dsred.py`): green / yellow lost, %"
    rows = [[name, *(pair(lost(scheme, rules), LOSSES) for scheme in SCHEMES)] for name, rules in named.items()]
    return Listing(title, ["ns-2's rules", *SCHEMES], rows)


def version() -> str:
    if not shutil.which("ns"):
        raise build.BuildError("ns-2 is missing: Debian's package ns2 has it")
    told = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "ns2"], capture_output=True, text=True).stdout
    return re.sub(r"\+.*", "", told) or "of this system"


LOSSES, AVERAGES = range(2), range(2, 4)
SIDES = ("lane", "exact, lane's rules", "ns-2", "exact, ns-2's rules")
FIGURES = ("green lost, %", "yellow lost, %", "green average, packets", "yellow average, packets")
# Of an average: the weight 0.002 as held, 0.055 %; average.h: 0.35 % / e of an exponent, 2^-10 halvings.
ROUNDING = 0.0026


@dataclass
class Case:
    """Figures of each seed, by dsred.Seen.figures."""

    name: str
    paper: str
    model: list
    lane_rules: list
    ns2: list
    ns2_rules: list

    @property
    def sides(self) -> dict[str, list]:
        return dict(zip(SIDES, (self.model, self.lane_rules, self.ns2, self.ns2_rules), strict=True))

    def differences(self, number: int) -> dict[str, Difference]:
        """Of one figure, by the row that judges it."""
        model, lane_rules, ns2, ns2_rules = ([each[number] for each in side] for side in self.sides.values())
        return {
            "model": difference((1, model), (-1, lane_rules)),
            "ns2": difference((1, ns2), (-1, ns2_rules)),
            "both": difference((1, model), (-1, lane_rules), (-1, ns2), (1, ns2_rules)),
        }

    def slack(self, number: int) -> float:
        return ROUNDING * fmean(each[number] for each in self.model) if number in AVERAGES else 0.0


ROWS = (  # key, what is compared, cause of the difference
    ("model", "model minus exact, lane's rules", "chance"),
    ("ns2", "ns-2 minus exact, ns-2's rules", "chance"),
    ("both", "model minus ns-2, corrected for the rules", "ns-2: four rules of its own"),
)


def rows(cases: list[Case], seeds: int) -> list[Row]:
    out = []
    for which, name in ((LOSSES, "losses"), (AVERAGES, "averages")):
        count = len(which) * len(cases)
        for key, what, whose in ROWS:
            found = [(case.differences(number)[key], case.slack(number)) for case in cases for number in which]
            worst = max(each.share(count, slack if key != "ns2" else 0.0) for each, slack in found)
            reason = f"Welch's t over {seeds} seeds, 1 in {CHANCE:,} by chance"
            if which is AVERAGES and key != "ns2":
                reason += f", and {ROUNDING:.2%} for the lane's rounding"
            if fixed := sum(not each.error for each, _ in found):
                reason += f"; {fixed} of {count} do not vary and have to be equal"
            out.append(Row(f"{name}, {what}", worst, 1, "of tolerance", count, reason, whose))
    return out


def means(cases: list[Case], seeds: int, seconds: float) -> Listing:
    """The figures of all cases, as they are printed."""
    out = []
    for case in cases:
        for which, name, paper in ((LOSSES, "lost, %", case.paper), (AVERAGES, "average, packets", "")):
            out.append(
                [case.name, f"green / yellow {name}", *(pair(side, which) for side in case.sides.values()), paper]
            )
    head = ["case", "figure", *SIDES, "paper"]
    return Listing(f"Means over {seeds} seeds of {seconds} s", head, out, texts=2)


def by_seed(cases: list[Case]) -> list[dict]:
    """All that the rows are made of: `stored` reads it."""
    return [
        {"case": case.name, "paper": case.paper, "figure": name}
        | {side: [each[number] for each in results] for side, results in case.sides.items()}
        for case in cases
        for number, name in enumerate(FIGURES)
    ]


def stored(figures: list[dict]) -> list[Case]:
    """The cases of `by_seed`."""
    out = []
    for first in range(0, len(figures), len(FIGURES)):
        four = figures[first : first + len(FIGURES)]
        sides = [list(map(list, zip(*(each[side] for each in four), strict=True))) for side in SIDES]
        out.append(Case(four[0]["case"], four[0]["paper"], *sides))
    return out


NOTES = [
    f"Each difference is divided by the critical value of Welch's t for its seeds. By chance, at most 1 of {CHANCE:,} rows is out of tolerance.",
    "The third row of losses and of averages is the first minus the second. It follows from both and tests nothing more.",
    "The paper's figures are no target: thresholds are rounded to whole packets here, and starts differ.",
]


def run(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    found, cases = Finding(NAME, f"dsRED, ns-2 {version()}", notes=NOTES), []
    seeds, seconds = (range(1, 6), 25) if quick else (range(1, 9), 100)
    for table in TABLES[:1] if quick else TABLES:
        for scheme in SCHEMES:
            note(f"table {table.name}, {scheme}")
            over = lambda of, *more: [of(table, scheme, seed, seconds, *more) for seed in seeds]
            sides = over(by_model, fault), over(by_rules, ()), over(by_ns2), over(by_rules, dsred.RULES)
            cases.append(Case(f"table {table.name}, {scheme}", PAPER[table.name, scheme], *sides))
    found.rows, found.figures = rows(cases, len(seeds)), by_seed(cases)
    found.tables.append(means(cases, len(seeds), seconds))
    if not quick:
        note("one rule at a time")
        found.tables.append(one_rule(seeds, seconds))
    return found


def fault(record: dict):
    """Each weight's mantissa is a tenth more."""
    for pair in record["queues"][0]["weight"]:
        pair[0] = min(511, pair[0] + pair[0] // 10)
