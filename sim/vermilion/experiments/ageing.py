"""`vermilion experiment ageing`: P2 and P3 with three rules for the average of an idle queue, paired by seed; docs/results/ageing.{md,json}.

Settings: sim/experiments/compare/ageing.toml. A variant is the model compiled with the definition VERMILION_AGEING; the one without a number is the
model as it is, so its runs are those of the experiments themselves. The RTL has that one rule only.
"""

import fnmatch
import itertools
import json
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from vermilion.console import screen
from vermilion.console.tables import table
from vermilion.toolchain import build
from vermilion.values.fields import Strict, UserError, read_toml

from . import intervals, pages, papers, progress, rows, runs, settings, verdicts

FILE = build.ROOT / "sim" / "experiments" / "compare" / "ageing.toml"


class Variant(Strict):
    ageing: Annotated[int, Field(ge=0, le=2)] | None = None  # VERMILION_AGEING; None: the model as it is
    is_: Annotated[str, Field(alias="is")]


class Base(Strict):
    seeds: rows.Count  # the first of the experiment's
    runs: Annotated[list[str], Field(min_length=1)]  # which of its runs, by name


class Row(Strict):
    base: str
    of: str
    value: rows.Name
    each: dict[str, list[str]] = {}
    paper: rows.Told = None
    ns2: rows.Told = None


class Ageing(Strict):
    title: str
    shows: list[str]
    variant: Annotated[dict[str, Variant], Field(min_length=2)]
    base: Annotated[dict[str, Base], Field(min_length=1)]
    row: Annotated[list[Row], Field(min_length=1)]

    @model_validator(mode="after")
    def parts_fit_each_other(self) -> Self:
        for name in self.base:
            if name not in settings.names():
                raise ValueError(f"has base.{name}; legal are {', '.join(settings.names())}")
        for row in self.row:
            if row.base not in self.base:
                raise ValueError(f'has the row "{row.of}" with base "{row.base}"; legal are {", ".join(self.base)}')
        return self


def load(path: Path = FILE) -> Ageing:
    raw = read_toml(path)
    try:
        return Ageing.model_validate(raw)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UserError(f"{path}: {settings.sentence(first).replace('an experiment', 'the comparison')}") from None


def planned(base: Base, of: rows.Experiment, seeds: list[int], shorter: int) -> list[runs.Run]:
    every = papers.module(of).planned(of, seeds, shorter)
    return [run for run in every if any(fnmatch.fnmatchcase(run.name, pattern) for pattern in base.runs)]


def compared(of: Ageing, measured: dict[tuple[str, str], dict[str, list[float]]]) -> list[dict[str, Any]]:
    """The rows: each variant's mean, and the last variant's less each other's. `measured`: figures by base and variant."""
    out, *others, last = [], *of.variant
    for row in of.row:
        for values in itertools.product(*row.each.values()):
            names = dict(zip(row.each, values, strict=True))
            first = values[0] if values else ""
            numbers = {name: measured[row.base, name][row.value.format(**names)] for name in of.variant}
            made: dict[str, Any] = {"base": row.base, "of": row.of.format(**names)}
            made |= {"paper": rows.pick(row.paper, first), "ns2": rows.pick(row.ns2, first)}
            made["means"] = {name: verdicts.number(intervals.of_mean(each).mean) for name, each in numbers.items()}
            made["less"] = {name: vars(intervals.difference(numbers[last], numbers[name])) for name in others}
            out.append(made | {"seeds": numbers})
    return out


def refuse_alike(made: list[dict[str, Any]]) -> None:
    """Variants that give the same everywhere are no variants: the model does not read the definition."""
    for name in made[0]["less"]:
        if all(row["seeds"][name] == list(row["seeds"].values())[-1] for row in made):
            raise build.BuildError(
                f"variant {name} gives the same figures as the last: does sim/model read VERMILION_AGEING?"
            )


def heads(of: Ageing) -> tuple[list[str], list[str]]:
    *others, last = of.variant
    return ["row"], [*of.variant, *(f"{last} - {name}, 95 %" for name in others), "ns-2", "paper"]


def cells(row: dict[str, Any]) -> list[str]:
    less = [
        f"{verdicts.effect(each['mean'], 'difference')} ({verdicts.span(each['low'], each['high'])})"
        for each in row["less"].values()
    ]
    told = [*row["means"].values(), *less, row["ns2"], row["paper"]]
    return [row["of"], *(each if isinstance(each, str) else verdicts.shown(each) for each in told)]


def page(of: Ageing, made: list[dict[str, Any]], about: dict[str, Any]) -> str:
    left, right = heads(of)
    lines = [
        f"# {of.title}",
        "",
        "Made by `./vermilion experiment ageing --publish`. [P2 and P3](papers.md) run with three rules for the average of an empty queue, by the model. Each rule has the same traffic and the same seeds.",
        "[Decision 16](../decisions/0016-ageing-keeps-its-remainder.md) says why the last one was chosen.",
        "",
        *(f"* **{name}**: {each.is_}" for name, each in of.variant.items()),
        "",
        "A difference is the mean of the differences seed by seed, with its 95 % interval (Student's t) in brackets. ns-2 is dsRED of ns-2.35 in runs of 100 s, with thresholds in whole packets and its own starting times; [its other figures](oracles.md) are with the oracles.",
        "ns-2 takes the same step. What remains between ns-2 and `step` in table 2 is mostly another rule of ns-2, `spell` ([there](oracles.md#what-it-shows)).",
        "Rows and runs were fixed before the first run with these seeds. P2's figures by all three rules were known from seeds 1 to 8 when the rule was chosen, so this is a repetition, not a blind test.",
        "[ageing.json](ageing.json) has each seed's figures.",
        "",
        "## What it shows",
        "",
        *(f"* {each}" for each in of.shows),
    ]
    for name in of.base:
        seeds = pages.numbers(about["seeds"][name])
        lines += ["", f"## {name.upper()}", "", f"Seeds {seeds}.", "", "| " + " | ".join(left + right) + " |"]
        lines.append("| --- | " + " | ".join(["---:"] * len(right)) + " |")
        lines += ["| " + " | ".join(cells(row)) + " |" for row in made if row["base"] == name]
    return "\n".join(lines) + "\n"


def publish(of: Ageing, made: list[dict[str, Any]], about: dict[str, Any]) -> None:
    (pages.PUBLISHED / "ageing.md").write_text(page(of, made, about))
    each = ",\n".join(json.dumps(row) for row in made)
    head = json.dumps(about | {"title": of.title})[:-1]
    (pages.PUBLISHED / "ageing.json").write_text(f'{head}, "rows": [\n{each}\n]}}\n')


def tell(of: Ageing, made: list[dict[str, Any]], about: dict[str, Any]) -> None:
    left, right = heads(of)
    shown = table(of.title, left, right)
    for row in made:
        shown.add_row(*(cell.replace(" (", "\n").removesuffix(")") for cell in cells(row)))
    out = screen.console()
    out.print(shown)
    for name, seeds in about["seeds"].items():
        out.print(f"{name}: seeds {pages.numbers(seeds)}", markup=False)
    if about["quick"]:
        out.print(f"--quick: {about['quick']}; not for comparison", markup=False)


def conduct(engine: str, seeds: int | None, quick: bool, jobs: int, to_publish: bool, home: Path) -> None:
    """The command; `seeds`: the number asked for, `home`: the folder of all runs."""
    of = load()
    if engine != "model":
        raise UserError(f"--engine {engine}: does not serve experiment ageing; legal is model")
    if seeds and seeds > (most := min(base.seeds for base in of.base.values())):
        raise UserError(f"--seeds is {seeds}; experiment ageing has {most}, so legal is 1 to that")
    loaded = {name: papers.load(settings.FOLDER / f"{name}.toml") for name in of.base}
    chosen = {
        name: each.quick.chosen(seeds) if quick else each.seeds[: seeds or of.base[name].seeds]
        for name, each in loaded.items()
    }
    shorter = {name: each.quick.shorter if quick else 1 for name, each in loaded.items()}
    parts, versions = {}, {}
    with screen.working() as note:
        for name, variant in itertools.product(of.base, of.variant):
            number = of.variant[variant].ageing
            program = papers.module(loaded[name]).program("model", note, number)
            folder = home / name / ("model" if number is None else f"model-ageing{number}")
            plan = planned(of.base[name], loaded[name], chosen[name], shorter[name])
            parts[name, variant] = runs.Part(runs.Runner(program, folder, jobs), plan)
            versions[variant] = program.versions["sources"]
    measured = {}
    with closing(runs.pooled(list(parts.values()), jobs, progress.Bar("ageing"))) as done:
        for (name, variant), results in zip(parts, done, strict=True):
            figures = papers.module(loaded[name]).figures
            measured[name, variant] = figures(loaded[name], results, shorter[name])
    made = compared(of, measured)
    short = ", ".join(f"{name}: {each.quick.about(chosen[name])}" for name, each in loaded.items()) if quick else ""
    about = {"engine": "model", "seeds": chosen, "quick": short, "versions": versions}
    tell(of, made, about)
    refuse_alike(made)
    if to_publish:
        publish(of, made, about)
