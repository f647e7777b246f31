"""What a sweep is: one TOML file, read strictly (docs/sweeps.md).

A point is a choice of values: every combination of `grid`, with every table of `point` in turn. Its settings are those of the base
experiment with `set` and the point's values put in at their paths, and are checked as an experiment's are.
"""

import copy
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from vermilion.experiments import settings
from vermilion.experiments.rows import Experiment
from vermilion.values import units
from vermilion.values.fields import Strict, UserError, read_toml

Text = Annotated[str, Field(min_length=1)]
Seed = Annotated[int, Field(ge=1, le=400_000_000)]  # of lanes it makes up to ten, of 32 bits
MOST_POINTS = 1_000_000


class Plot(Strict):
    """Figure against figure, a mark for each point's mean over seeds, and the frontier: the points that no other is better than in both."""

    x: Text
    y: Text
    better: Annotated[list[Literal["low", "high"]], Field(min_length=2, max_length=2)] = ["low", "low"]
    runs: Annotated[list[Text], Field(min_length=1)] = ["*"]  # which of them, by name
    by: list[Text] = ["run"]  # parameters, or run: a colour and a frontier for each of their values


class Sweep(Strict):
    title: Text
    base: Text
    engine: Text = "model"
    seeds: Annotated[int, Field(ge=1, le=100_000)] | Annotated[list[Seed], Field(min_length=1)]
    runs: Annotated[list[Text], Field(min_length=1)] = ["*"]
    set: dict[str, Any] = {}
    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    point: list[dict[str, Any]] = []
    plot: list[Plot] = []

    @model_validator(mode="after")
    def parts_fit_each_other(self):
        if isinstance(self.seeds, list) and len(set(self.seeds)) != len(self.seeds):
            raise ValueError("has a seed twice in seeds")
        for other in self.point:
            if other.keys() != self.point[0].keys():
                raise ValueError("has points with different parameters; give each of them every one")
        twice = (self.set.keys() & self.grid.keys()) | ((self.set.keys() | self.grid.keys()) & set(self.listed()))
        if twice:
            raise ValueError(f"has {sorted(twice)[0]} in two of set, grid and point; one may")
        known = {"run", *self.parameters()}
        for plot in self.plot:
            for name in plot.by:
                if name not in known:
                    raise ValueError(f"has a plot by {units.shown(name)}; legal are {', '.join(sorted(known))}")
        count = max(1, len(self.point))
        for values in self.grid.values():
            count *= len(values)
        if count > MOST_POINTS:
            raise ValueError(f"has {count} points; legal are up to {MOST_POINTS}")
        return self

    def listed(self) -> list[str]:
        return list(self.point[0]) if self.point else []

    def parameters(self) -> list[str]:
        return [*self.listed(), *self.grid]

    def all_seeds(self) -> list[int]:
        return self.seeds if isinstance(self.seeds, list) else list(range(1, self.seeds + 1))


@dataclass(frozen=True)
class Point:
    values: dict[str, Any]
    of: Experiment


def where(values: dict[str, Any]) -> str:
    """Behind a sentence about a point."""
    shown = lambda value: str(value)[: units.SHOWN_MOST] if isinstance(value, (dict, list)) else units.shown(value)
    return f", at {', '.join(f'{name} = {shown(value)}' for name, value in values.items())}" if values else ""


def put(raw: dict, path: str, value: Any):
    """Sets what `path` names: keys of tables and numbers of lists, with dots between."""
    at, parts = raw, path.split(".")
    for i, part in enumerate(parts):
        last, here = i == len(parts) - 1, ".".join(parts[: i + 1])
        if isinstance(at, list):
            entry = units.bare(part)
            if entry is None or entry >= len(at):
                raise UserError(f"{here}: the list has entries 0 to {len(at) - 1}")
            part = entry
        elif not isinstance(at, dict):
            raise UserError(f"{here}: what stands before {units.shown(part)} is no table and no list")
        elif not last and part not in at:
            raise UserError(f"{here}: there is no such table; legal are {', '.join(map(str, at))}")
        if last:
            at[part] = copy.deepcopy(value)
        else:
            at = at[part]


def base(sweep: Sweep, near: Path) -> dict:
    """The settings that a sweep begins with: an experiment's by its name, or a file beside the sweep's."""
    path = settings.FOLDER / f"{sweep.base}.toml" if sweep.base in settings.names() else near.parent / sweep.base
    if not path.is_file():
        legal = ", ".join(settings.names())
        raise UserError(f"base is {units.shown(sweep.base)}; legal are {legal}, or a file of an experiment's settings")
    return read_toml(path)


def points(sweep: Sweep, near: Path) -> list[Point]:
    raw = base(sweep, near)
    out = []
    for chosen in sweep.point or [{}]:
        for values in itertools.product(*sweep.grid.values()):
            mine = chosen | dict(zip(sweep.grid, values, strict=True))
            changed = copy.deepcopy(raw)
            try:
                for path, value in (sweep.set | mine).items():
                    put(changed, path, value)
                out.append(Point(mine, settings.checked(changed)))
            except UserError as error:
                raise UserError(f"{error}{where(mine)}") from None
    return out


def load(path: Path) -> Sweep:
    """Reads and checks a sweep's file."""
    raw = read_toml(path)
    try:
        return Sweep.model_validate(raw)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UserError(f"{path}: {settings.sentence(first).replace('an experiment', 'a sweep')}") from None
