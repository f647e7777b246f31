"""From figures to the results' table: what a row wants, what it got with its 95 % interval, and the verdict.

Figures are a list for each name, one number a seed, in the order of the seeds; a row's own is their mean. Not a number (nan) is a figure that
a run could not give, such as the time of flows of which none ended; no bound holds for it.

    must hold       held where the whole interval is on the right side of the bound; else NOT HELD: `open` where the bound lies within the interval,
                    `contrary` where the whole interval is on the wrong side
    expected range  in or OUT, by the mean
    informational   of a comparison: as the paper, contrary or open, by the interval; else nothing
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import fmean, stdev
from typing import Any

from vermilion.toolchain import build

from . import intervals
from .intervals import Interval
from .rows import MUST, RANGE, Line

WORDS = {"below": "<", "above": ">", "at_most": "<=", "at_least": ">="}
HOLDS: dict[str, Callable[[float, float], bool]] = {
    "below": lambda a, b: a < b,
    "above": lambda a, b: a > b,
    "at_most": lambda a, b: a <= b,
    "at_least": lambda a, b: a >= b,
}
CONTRARY = {"below": "at_least", "above": "at_most", "at_most": "above", "at_least": "below"}
NOT_JUDGED = "not judged"
NOT_HELD = {"wrong": "contrary", "open": "open", "none": "no interval"}


def number(figure: float | None) -> float | None:
    """A figure as JSON can hold it: what is not a number is null."""
    return figure if figure is not None and math.isfinite(figure) else None


@dataclass(frozen=True)
class Judged:
    """A row with its verdict. In a record a number that is none is null."""

    of: str
    class_: str
    paper: float | None
    ours: float
    spread: float  # standard deviation over seeds
    seeds: int
    other: float | None  # the mean of the figure that it is compared with
    by: str | None  # ratio or difference, of a comparison
    effect: float | None  # mean ratio or difference
    low: float  # ends of the 95 % interval: of the effect where there is one, else of ours
    high: float
    paper_effect: float | None
    right: int | None  # seeds in which the comparison's bound is met
    wanted: str
    verdict: str
    good: bool

    def record(self) -> dict[str, Any]:
        made = {name: number(value) if isinstance(value, float) else value for name, value in asdict(self).items()}
        made["class"] = made.pop("class_")
        return made

    @classmethod
    def read(cls, record: dict[str, Any]) -> "Judged":
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


def span(low: float | None, high: float | None) -> str:
    """An interval; of one seed there is none."""
    known = all(each is not None and math.isfinite(each) for each in (low, high))
    return f"{shown(low)} to {shown(high)}" if known else "none"


def bounds(line: Line) -> tuple[float | None, float | None]:
    """Of a row that is no comparison: its least and greatest legal value."""
    if line.within is not None and line.exact is not None:
        around = sorted((line.exact * (1 - line.within), line.exact * (1 + line.within)))
        return around[0], around[1]
    if line.factor is not None and line.paper is not None:
        return line.paper / line.factor, line.paper * line.factor
    return line.low, line.high


def asked(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f"at most {shown(high)}" if low is None else f"at least {shown(low)}"
    return f"{shown(low)} to {shown(high)}"


def side(word: str, interval: Interval, bound: float) -> str:
    """On which side of the bound the whole interval lies: right, wrong or open; none where a seed gave no figure."""
    if math.isnan(interval.low):
        return "none"
    far, near = (interval.high, interval.low) if word in ("below", "at_most") else (interval.low, interval.high)
    if HOLDS[word](far, bound):
        return "right"
    return "wrong" if HOLDS[CONTRARY[word]](near, bound) else "open"


def within(low: float | None, high: float | None, interval: Interval) -> str:
    """As `side`, of a range."""
    ends = {"at_least": low, "at_most": high}
    sides = [side(word, interval, bound) for word, bound in ends.items() if bound is not None]
    return next((found for found in ("none", "wrong", "open") if found in sides), "right")


def sentence(class_: str, found: str, met: bool, compared: bool, certain: str) -> tuple[str, bool]:
    """Verdict, and whether it is good. `met`: the mean is where it should be."""
    if class_ == MUST:
        return ("held", True) if found == "right" else (f"NOT HELD, {NOT_HELD[found]}", False)
    if class_ == RANGE:
        return ("in", True) if met else ("OUT", False)
    if certain:
        return "cannot fail", True
    return ("as the paper" if found == "right" else NOT_HELD[found]) if compared else "", True


def judge(line: Line, figures: dict[str, list[float]], certain: str = "", judging: bool = True) -> Judged:
    """`certain`: why the row cannot fail, if so. Without `judging`, as of short runs, no row is judged; with one seed only expected ranges are."""

    def of(name: str) -> list[float]:
        if not figures.get(name):
            raise build.BuildError(f'the row "{line.of}" asks for {name}, which the experiment does not give')
        return figures[name]

    ours = of(line.value)
    value, interval = fmean(ours), intervals.of_mean(ours)
    other = by = effect = paper_effect = right = None
    if relation := line.relation:
        theirs = of(relation.other)
        other, by, paper_effect = fmean(theirs), relation.by, relation.paper
        interval = (intervals.ratio if by == "ratio" else intervals.difference)(ours, theirs)
        effect = interval.mean
        bounds_ = [relation.bound * b if by == "ratio" else b + relation.bound for b in theirs]
        right = sum(HOLDS[relation.word](a, b) for a, b in zip(ours, bounds_, strict=True))
        found = side(relation.word, interval, relation.bound)
        wanted = f"{WORDS[relation.word]} {shown(relation.bound)}; in {right} of {len(ours)} seeds"
        met = HOLDS[relation.word](effect, relation.bound)
    else:
        low, high = bounds(line)
        found, wanted = within(low, high, interval), asked(low, high)
        met = (low is None or value >= low) and (high is None or value <= high)
    verdict, good = sentence(line.class_, found, met, bool(relation), certain)
    if verdict and not certain and (not judging or (len(ours) < 2 and line.class_ != RANGE)):
        verdict, good = NOT_JUDGED, True
    # statistics.stdev takes finite numbers only.
    spread = (stdev(ours) if all(map(math.isfinite, ours)) else math.nan) if len(ours) > 1 else 0.0
    reference = line.exact if line.exact is not None else line.paper
    low, high = interval.low, interval.high
    about = (line.of, line.class_, reference, value, spread, len(ours), other)
    return Judged(*about, by, effect, low, high, paper_effect, right, wanted, verdict, good)


def counted(judged: list[Judged]) -> str:
    """How many rows that must hold held and how many means lie in their range, in a sentence."""
    out = []
    for class_, told in ((MUST, "rows that must hold held"), (RANGE, "in their expected range")):
        rows = [row for row in judged if row.class_ == class_]
        if rows and all(row.verdict == NOT_JUDGED for row in rows):
            out.append(f"{len(rows)} rows of class {class_} not judged")
        elif rows:
            out.append(f"{sum(row.good for row in rows)} of {len(rows)} {told}")
    return ", ".join(out) or "nothing to judge"


HEADS = ["row", "class", "paper", "ours", "effect", "paper's effect", "95 % interval", "n", "wanted", "verdict"]
NUMBERS = (2, 3, 4, 5, 6, 7)  # of them, the columns of numbers


def effect(number: float | None, by: str | None) -> str:
    """A ratio as x 0.83, a difference with its sign."""
    if number is None or by is None:
        return ""
    return f"x {shown(number)}" if by == "ratio" else ("+" if number > 0 else "") + shown(number)


def cells(row: Judged) -> list[str]:
    """A row of the page's table, one cell for each of HEADS."""
    made = [row.of, row.class_, shown(row.paper), shown(row.ours), effect(row.effect, row.by)]
    made += [effect(row.paper_effect, row.by), span(row.low, row.high), str(row.seeds)]
    return [*made, row.wanted, row.verdict]


BRIEF = ["row", "ours", "effect, 95 %", "paper", "verdict"]


def brief(row: Judged) -> list[str]:
    """The same for a screen of 80 columns."""
    wanted = row.wanted.replace("; in ", ", ").removesuffix(" seeds")
    told = [effect(row.effect, row.by), span(row.low, row.high), wanted]
    paper = effect(row.paper_effect, row.by) or shown(row.paper)
    verdict = "\n".join([row.class_, *row.verdict.split(", ")]).strip()
    return [row.of, shown(row.ours), "\n".join(filter(None, told)), paper, verdict]
