"""What every experiment's settings file has: seeds, and the rows of its table: which figure, what the paper has, and what ours must be.

A row's class says what becomes of it: a `gate` must hold, a `band` is a range that ours should lie in, a `report` is printed beside the paper's and
judged by nobody.
"""

import itertools
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..fields import Strict

Above0 = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(min_length=1)]  # of a figure
RELATIONS = ("below", "above", "at_most", "at_least")


class Quick(Strict):
    """What `--quick` makes of it."""

    seeds: Count
    shorter: Count  # runs are so many times shorter


class Row(Strict):
    """A row of the results' table, or several of them: `each` gives names their values, and texts name them in braces.

    `paper` is what the paper has, `exact` what a formula of its gives; a table of both goes by the first of `each`. Then at most one of:
    `within` (a relative error of `exact`), `factor` (of `paper`, either way), `low` and `high`, or a relation with another figure, which counts
    `times` as much. A relation with `in_seeds` must hold in so many seeds by themselves, else between the means.
    """

    of: str
    value: Name
    class_: Annotated[Literal["gate", "band", "report"], Field(alias="class")]
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
    times: Above0 = 1.0
    in_seeds: Count | None = None

    @model_validator(mode="after")
    def fields_fit_each_other(self):
        given = [name for name in ("within", "factor", *RELATIONS) if getattr(self, name) is not None]
        given += ["low, high"] * (self.low is not None or self.high is not None)
        if len(given) > 1:
            raise ValueError(f"has {' and '.join(given)}; one may")
        if not given and self.class_ != "report":
            raise ValueError(f'has class "{self.class_}" and nothing to judge by; give a bound, or class "report"')
        for bound, of in (("within", "exact"), ("factor", "paper")):
            if getattr(self, bound) is not None and getattr(self, of) is None:
                raise ValueError(f"has {bound} without {of}")
        related = given and given[0] in RELATIONS
        if not related and (self.times != 1 or self.in_seeds):
            raise ValueError(f"has times or in_seeds, which belong to {', '.join(RELATIONS)}")
        if self.within and 0 in (self.exact.values() if isinstance(self.exact, dict) else [self.exact]):
            raise ValueError("has within and an exact of 0, of which nothing is a share; give low and high")
        return self


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
    relation: tuple[str, str, float] | None  # word, the other figure, times
    in_seeds: int | None


def lines(rows: list[Row]) -> list[Line]:
    out = []
    for row in rows:
        for values in itertools.product(*row.each.values()):
            names = dict(zip(row.each, values))
            pick = lambda given: given[values[0]] if isinstance(given, dict) else given
            relation = next(
                ((n, getattr(row, n).format(**names), row.times) for n in RELATIONS if getattr(row, n)), None
            )
            out.append(
                Line(
                    row.of.format(**names),
                    row.value.format(**names),
                    row.class_,
                    pick(row.paper),
                    pick(row.exact),
                    row.within,
                    row.factor,
                    row.low,
                    row.high,
                    relation,
                    row.in_seeds,
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
    def seeds_differ(self):
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError("has a seed twice in seeds")
        for row in self.row:
            for text in (row.of, row.value, *(getattr(row, name) or "" for name in RELATIONS)):
                try:
                    text.format(**{name: "" for name in row.each})
                except (KeyError, IndexError, ValueError):
                    raise ValueError(f'has the row "{row.of}", which names in braces what its each lacks') from None
            for table in (row.paper, row.exact):
                if isinstance(table, dict) and set(table) != set(next(iter(row.each.values()), [])):
                    raise ValueError(
                        f'has the row "{row.of}", whose table has other entries than the first of its each'
                    )
        return self
