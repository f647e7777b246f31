"""What every experiment's settings file has: seeds, and the rows of its table: which figure, what the paper has, and what ours must be.

A row's class says what becomes of it: `must hold`; `expected range`, in which the mean should lie; `informational`, which is printed beside the paper's
and not judged.
"""

import itertools
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from vermilion.values.fields import Strict

Above0 = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(min_length=1)]  # of a figure
RELATIONS = ("below", "above", "at_most", "at_least")
MUST, RANGE, TOLD = "must hold", "expected range", "informational"


class Quick(Strict):
    """What `--quick` makes of it. Its seeds are 1, 2, ..., so that nobody sees a run of the table's seeds too early."""

    seeds: Count  # how many
    shorter: Count  # runs are so many times shorter

    def chosen(self, count: int | None) -> list[int]:
        """The first `count` of them, or all."""
        return list(range(1, (count or self.seeds) + 1))

    def about(self, seeds: list[int]) -> str:
        return f"{len(seeds)} seeds other than the table's, runs {self.shorter} times shorter"


class Row(Strict):
    """A row of the results' table, or several of them: `each` gives names their values, and texts name them in braces.

    `paper` is what the paper has, `exact` what a formula of its gives; a table of both goes by the first of `each`. Then at most one of:
    `within` (a relative error of `exact`), `factor` (of `paper`, either way), `low` and `high`, or a relation with another figure. A relation is
    judged by the ratio of the two, which it compares with `times`, or with `by = "difference"` by ours less theirs, which it compares with
    `margin`, in the figures' unit: the least effect that counts. `paper_effect` is the paper's ratio or difference.
    """

    of: str
    value: Name
    class_: Annotated[Literal["must hold", "expected range", "informational"], Field(alias="class")]
    each: dict[str, list[str]] = {}
    paper: float | dict[str, float] | None = None
    exact: float | dict[str, float] | None = None
    within: Above0 | None = None
    factor: Annotated[float, Field(gt=1)] | None = None
    low: float | None = None
    high: float | None = None
    below: Name | None = None
    above: Name | None = None
    at_most: Name | None = None
    at_least: Name | None = None
    by: Literal["ratio", "difference"] = "ratio"
    times: Above0 = 1.0
    margin: float = 0.0
    paper_effect: float | dict[str, float] | None = None

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        given = [name for name in ("within", "factor", *RELATIONS) if getattr(self, name) is not None]
        given += ["low, high"] * (self.low is not None or self.high is not None)
        if len(given) > 1:
            raise ValueError(f"has {' and '.join(given)}; one may")
        if not given and self.class_ != TOLD:
            raise ValueError(f'has class "{self.class_}" and nothing to judge by; give a bound, or class "{TOLD}"')
        for bound, of in (("within", "exact"), ("factor", "paper")):
            if getattr(self, bound) is not None and getattr(self, of) is None:
                raise ValueError(f"has {bound} without {of}")
        related = given and given[0] in RELATIONS
        own = ("by", "times", "margin", "paper_effect")
        if not related and (more := self.model_fields_set & set(own)):
            raise ValueError(f"has {min(more)}, which belongs to {', '.join(RELATIONS)}")
        if (word := {"ratio": "margin", "difference": "times"}[self.by]) in self.model_fields_set:
            raise ValueError(f'has {word}, which does not go with by = "{self.by}"')
        if related and getattr(self, given[0]) == self.value:
            raise ValueError(f"has {given[0]} the row's own figure, {self.value}")
        if self.within and 0 in (self.exact.values() if isinstance(self.exact, dict) else [self.exact]):
            raise ValueError("has within and an exact of 0, of which nothing is a share; give low and high")
        return self


@dataclass(frozen=True)
class Relation:
    word: str
    other: str  # figure
    by: str
    bound: float  # `times` or `margin`
    paper: float | None  # the paper's effect


@dataclass(frozen=True)
class Line:
    """One row, with every name in its place."""

    of: str
    value: str
    class_: str
    paper: float | None
    exact: float | None
    within: float | None
    factor: float | None
    low: float | None
    high: float | None
    relation: Relation | None


Told = float | dict[str, float] | None  # a figure, or one for each of the first of `each`


def pick(told: Told, first: str) -> float | None:
    """The figure of a row whose first name is `first`."""
    return told[first] if isinstance(told, dict) else told


def lines(rows: list[Row]) -> list[Line]:
    out = []
    for row in rows:
        for values in itertools.product(*row.each.values()):
            names = dict(zip(row.each, values, strict=True))
            first = values[0] if values else ""
            word = next((name for name in RELATIONS if getattr(row, name)), None)
            relation = None
            if word:
                bound = row.times if row.by == "ratio" else row.margin
                relation = Relation(
                    word, getattr(row, word).format(**names), row.by, bound, pick(row.paper_effect, first)
                )
            out.append(
                Line(
                    row.of.format(**names),
                    row.value.format(**names),
                    row.class_,
                    pick(row.paper, first),
                    pick(row.exact, first),
                    row.within,
                    row.factor,
                    row.low,
                    row.high,
                    relation,
                )
            )
    return out


class Experiment(Strict):
    """What every experiment has."""

    title: str
    paper: str
    seeds: Annotated[list[Count], Field(min_length=1)]
    quick: Quick
    row: Annotated[list[Row], Field(min_length=1)]

    @model_validator(mode="after")
    def seeds_differ(self) -> Self:
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError("has a seed twice in seeds")
        for row in self.row:
            for text in (row.of, row.value, *(getattr(row, name) or "" for name in RELATIONS)):
                try:
                    text.format(**{name: "" for name in row.each})
                except (KeyError, IndexError, ValueError):
                    raise ValueError(f'has the row "{row.of}", which names in braces what its each lacks') from None
            for table in (row.paper, row.exact, row.paper_effect):
                if isinstance(table, dict) and set(table) != set(next(iter(row.each.values()), [])):
                    raise ValueError(
                        f'has the row "{row.of}", whose table has other entries than the first of its each'
                    )
        return self
