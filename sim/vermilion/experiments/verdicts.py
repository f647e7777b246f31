"""From figures to the results' table: what a row wants, what it got, and the verdict.

Figures are a list for each name, one number a seed, in the order of the seeds; a row's own is their mean. Not a number (nan) is a figure that
a run could not give, such as the time of flows of which none ended; no bound holds for it.
"""

import math
from dataclasses import asdict, dataclass
from statistics import mean, stdev

from .. import build
from .rows import Line

WORDS = {"below": "<", "above": ">", "at_most": "<=", "at_least": ">="}
HOLDS = {
    "below": lambda a, b: a < b,
    "above": lambda a, b: a > b,
    "at_most": lambda a, b: a <= b,
    "at_least": lambda a, b: a >= b,
}
VERDICTS = {"gate": ("held", "NOT HELD"), "band": ("in", "OUT"), "report": ("", "")}


def number(figure: float | None) -> float | None:
    """A figure as JSON can hold it: what is not a number is null."""
    return figure if figure is not None and math.isfinite(figure) else None


@dataclass(frozen=True)
class Judged:
    of: str
    class_: str
    paper: float | None
    wanted: str
    ours: float  # in a record null where it is not a number, as the others
    spread: float  # standard deviation over seeds
    seeds: int
    other: float | None  # the mean of the figure that it is compared with
    verdict: str
    good: bool

    def record(self) -> dict:
        made = {name: number(value) if isinstance(value, float) else value for name, value in asdict(self).items()}
        made["class"] = made.pop("class_")
        return made

    @classmethod
    def read(cls, record: dict) -> "Judged":
        """The row of a record."""
        return cls(**{"class_" if name == "class" else name: value for name, value in record.items()})


def shown(number: float | None) -> str:
    if number is None:
        return ""
    if number == 0 or 1e-3 <= abs(number) < 1e6:
        if abs(number) < 999.95:
            return f"{number:.4g}"
        return f"{number:,.1f}" if abs(number) < 10_000 else f"{number:,.0f}"
    return f"{number:.3g}"


def judge(line: Line, figures: dict[str, list[float]], asked_seeds: int) -> Judged:
    """`asked_seeds`: how many the settings have; where fewer were run, `in_seeds` falls in proportion."""

    def of(name: str) -> list[float]:
        if not figures.get(name):
            raise build.BuildError(f'the row "{line.of}" asks for {name}, which the experiment does not give')
        return figures[name]

    ours = of(line.value)
    value, other = mean(ours), None
    reference = line.exact if line.exact is not None else line.paper
    good, wanted = True, ""
    if line.within is not None:
        good, wanted = abs(value / line.exact - 1) <= line.within, f"{shown(line.exact)} within {line.within:.0%}"
    elif line.factor is not None:
        low, high = line.paper / line.factor, line.paper * line.factor
        good, wanted = low <= value <= high, f"{shown(low)} to {shown(high)}"
    elif line.relation:
        word, name, times = line.relation
        theirs = of(name)
        other = mean(theirs)
        factor = f"{times:g} x " if times != 1 else ""
        count = sum(HOLDS[word](a, times * b) for a, b in zip(ours, theirs))
        wanted = f"{WORDS[word]} {factor}{shown(other)}"
        if line.in_seeds:
            least = math.ceil(line.in_seeds * len(ours) / asked_seeds)
            good, wanted = count >= least, f"{wanted} in {least} seeds; it is in {count} of {len(ours)}"
        else:
            good, wanted = (
                HOLDS[word](value, times * other),
                f"{wanted} by the means; it is in {count} of {len(ours)} seeds",
            )
    elif line.low is not None or line.high is not None:
        good = (line.low is None or value >= line.low) and (line.high is None or value <= line.high)
        wanted = f"{shown(line.low)} to {shown(line.high)}"
        if line.low is None or line.high is None:
            wanted = f"at most {shown(line.high)}" if line.low is None else f"at least {shown(line.low)}"
    # statistics.stdev takes finite numbers only.
    spread = (stdev(ours) if all(map(math.isfinite, ours)) else math.nan) if len(ours) > 1 else 0.0
    verdict = VERDICTS[line.class_][not good]
    return Judged(line.of, line.class_, reference, wanted, value, spread, len(ours), other, verdict, good)


def counted(judged: list[Judged]) -> str:
    """How many gates held and bands were met, in a sentence."""
    out = []
    for class_, word in (("gate", "held"), ("band", "met")):
        rows = [row for row in judged if row.class_ == class_]
        if rows:
            out.append(f"{sum(row.good for row in rows)} of {len(rows)} {class_}s {word}")
    return ", ".join(out) or "nothing to judge"


HEADS = ["row", "class", "paper", "ours", "+-", "wanted", "verdict"]


def cells(row: Judged) -> list[str]:
    return [row.of, row.class_, shown(row.paper), shown(row.ours), shown(row.spread), row.wanted, row.verdict]
