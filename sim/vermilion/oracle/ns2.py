"""ns-2's dsRED on the bursts of P2's tables 2 to 4, beside the model: what each colour loses, and the averages that its packets meet.

ns-2 counts whole packets, so thresholds are in packets here, the nearest below the paper's KB. Traffic, rates and weights are those of
sim/experiments/settings/p2.toml. ns-2 draws its own random numbers and has rules of its own (dsred.py), so three things are compared: the model with the
lane's rules in exact arithmetic, ns-2 with ns-2's rules in exact arithmetic, and the model with ns-2, less what the rules are told to make.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from statistics import fmean, variance

from .. import build
from . import dsred, lanes
from .rows import Finding, Row

NAME = "ns2-dsred"
SCRIPT = build.ROOT / "sim" / "oracles" / "dsred.tcl"
BYTES, RATE = 942, 1_700_000
SERVICE_NS = 8e9 * BYTES / RATE
IDLE_BYTES = 170
BURST_GAP, BURST_PACKETS, BURST_PERIOD = 800_000, 150, 2_120_000_000
CHANCE = 4.0  # standard errors of the difference, by chance 1 in 16,000
SCHEMES = {"RIO-C": "rio-c", "WRED": "wred"}
COLOURS = ("green", "yellow")


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


def apart(*samples: tuple[int, list[float]], slack: float = 0) -> float:
    """The sum of the samples' means, each times its sign, less `slack`, in standard errors; 0.01 where there is no error or less."""
    total = sum(sign * fmean(sample) for sign, sample in samples)
    error = sum(variance(sample) / len(sample) for _, sample in samples) ** 0.5
    return max(0, abs(total) - slack) / max(error, 0.01)


def means(results: list[list[float]], which: range) -> str:
    return " / ".join(f"{fmean(each[number] for each in results):.2f}" for number in which)


def one_rule(table: Table, seeds, seconds: float) -> list[tuple[str, str]]:
    """What each of ns-2's rules alone changes of the lane's, exactly."""
    out = []
    for scheme in SCHEMES:
        for rule in dsred.RULES:
            lost = [by_rules(table, scheme, seed, seconds, (rule,)) for seed in seeds]
            out.append((f"table {table.name}, {scheme}: the lane's rules with ns-2's `{rule}`", means(lost, LOSSES)))
    return out


def version() -> str:
    if not shutil.which("ns"):
        raise build.BuildError("ns-2 is missing: Debian's package ns2 has it")
    told = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "ns2"], capture_output=True, text=True).stdout
    return re.sub(r"\+.*", "", told) or "of this system"


@dataclass
class Case:
    """Figures of each seed."""

    model: list
    lane_rules: list
    ns2: list
    ns2_rules: list

    def told(self, which: range) -> str:
        pairs = (
            ("lane", self.model),
            ("its rules", self.lane_rules),
            ("ns-2", self.ns2),
            ("its rules", self.ns2_rules),
        )
        return ", ".join(f"{name} {means(results, which)}" for name, results in pairs)

    def apart(self, number: int) -> dict[str, float]:
        """How far one figure is from what it is compared with."""
        model, lane_rules, ns2, ns2_rules = (
            [each[number] for each in results] for results in (self.model, self.lane_rules, self.ns2, self.ns2_rules)
        )
        slack = ROUNDING * fmean(model) if number in AVERAGES else 0
        return {
            "model": apart((1, model), (-1, lane_rules), slack=slack),
            "ns2": apart((1, ns2), (-1, ns2_rules)),
            "both": apart((1, model), (-1, ns2), (-1, lane_rules), (1, ns2_rules), slack=slack),
        }


LOSSES, AVERAGES = range(2), range(2, 4)
# Of an average: the weight 0.002 as held, 0.055 %; average.h: 0.35 % / e of an exponent, 2^-10 halvings.
ROUNDING = 0.0026


def rows(cases: list[Case]) -> list[Row]:
    out = []
    for which, name, more in ((LOSSES, "losses", ""), (AVERAGES, "averages", "; 0.26 % for the lane's rounding")):
        worst = {"model": 0.0, "ns2": 0.0, "both": 0.0}
        for case in cases:
            for number in which:
                worst = {key: max(worst[key], found) for key, found in case.apart(number).items()}
        for key, what, whose in (
            ("model", "model and lane's rules exactly", "chance"),
            ("ns2", "ns-2 and its rules exactly", "chance"),
            ("both", "model and ns-2, less the rules'", "ns-2: idle spells counted again, three more rules"),
        ):
            reason = "1 in 16,000 by chance, seeds fixed" + ("" if key == "ns2" else more)
            out.append(Row(f"{name}, {what}", worst[key], CHANCE, "std errors", 2 * len(cases), reason, whose))
    return out


def run(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    found, cases = Finding(NAME, f"dsRED, ns-2 {version()}"), []
    seeds, seconds = (range(1, 6), 25) if quick else (range(1, 9), 100)
    for table in TABLES[:1] if quick else TABLES:
        for scheme in SCHEMES:
            note(f"table {table.name}, {scheme}")
            over = lambda of, *more: [of(table, scheme, seed, seconds, *more) for seed in seeds]
            case = Case(over(by_model, fault), over(by_rules, ()), over(by_ns2), over(by_rules, dsred.RULES))
            cases.append(case)
            where = f"table {table.name}, {scheme}: green / yellow"
            found.told.append((f"{where} lost, %", f"{case.told(LOSSES)}; paper {PAPER[table.name, scheme]}"))
            found.told.append((f"{where} average, packets", case.told(AVERAGES)))
        if not quick and table is TABLES[0]:
            found.told += one_rule(table, seeds, seconds)
    found.rows = rows(cases)
    return found


def fault(record: dict):
    """Each weight's mantissa is a tenth more."""
    for pair in record["queues"][0]["weight"]:
        pair[0] = min(511, pair[0] + pair[0] // 10)
