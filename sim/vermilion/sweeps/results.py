"""What came of a sweep: rows, one a run at a point, as Parquet; and the report with the frontiers.

Columns: the parameters, `run`, `seed`, `key` (of the stored run), then the figures that the experiment's module gives for the run. Rows stand in
the order of points, runs and seeds, and nothing in them tells of time or place, so two ways of making a sweep give the same bytes.
"""

import json
import math
from html import escape
from pathlib import Path
from statistics import fmean, stdev

from vermilion.experiments import runs
from vermilion.experiments.papers import module
from vermilion.report import Page, tables

from . import frontiers, plan, spec

MOST_ROWS = 500  # of the report's table


def figures(row: plan.Row, result: dict) -> dict[str, float]:
    """Of one run, by the experiment's own hand; what takes several runs is not among them."""
    made = module(row.point.of).figures(row.point.of, {row.run.name: {row.run.seed: result}}, 1)
    own = f"{row.run.name}."
    return {name.removeprefix(own): float(of[0]) for name, of in made.items() if name.startswith(own) and len(of) == 1}


def column(values: list) -> list:
    """One type a column: whole numbers, numbers, or text."""
    if all(isinstance(each, int) and not isinstance(each, bool) for each in values):
        return values
    if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in values):
        return [float(each) for each in values]
    return [each if isinstance(each, str) else json.dumps(each, sort_keys=True, default=str) for each in values]


def records(rows: list[plan.Row], folder: Path) -> list[dict[str, float]]:
    """Each row's figures; stored runs are read once however many rows they have."""
    seen: dict[tuple, dict] = {}
    out = []
    for row in rows:
        name = (row.key, row.run.name, id(row.point.of))
        if name not in seen:
            seen[name] = figures(row, runs.results(folder / "runs" / f"{row.key}.json"))
        out.append(seen[name])
    return out


def columns(sweep: spec.Sweep, rows: list[plan.Row], made: list[dict[str, float]]) -> dict[str, list]:
    out = {name: column([row.point.values[name] for row in rows]) for name in sweep.parameters()}
    out |= {"run": [row.run.name for row in rows], "seed": [row.run.seed for row in rows]}
    out["key"] = [row.key for row in rows]
    for name in dict.fromkeys(name for each in made for name in each):
        out[name] = [each.get(name, math.nan) for each in made]
    return out


def write_parquet(path: Path, made: dict[str, list]):
    import pyarrow
    import pyarrow.parquet

    part = path.with_name(path.name + ".part")
    pyarrow.parquet.write_table(pyarrow.table(made), part, compression="zstd")
    part.replace(path)


def means(sweep: spec.Sweep, made: dict[str, list]) -> list[tuple[dict, dict[str, list[float]]]]:
    """Parameters and run, and each figure's values over seeds, in the order of points and runs."""
    names = [*sweep.parameters(), "run"]
    numbers = [name for name in made if name not in (*names, "seed", "key")]
    grouped: dict[tuple, dict[str, list[float]]] = {}
    for i in range(len(made["run"])):
        at = grouped.setdefault(tuple(made[name][i] for name in names), {name: [] for name in numbers})
        for name in numbers:
            at[name].append(made[name][i])
    return [(dict(zip(names, key, strict=True)), values) for key, values in grouped.items()]


def number(values: list[float]) -> str:
    text = f"{fmean(values):.5g}"
    return f"{text} +- {stdev(values):.2g}" if len(values) > 1 else text


def write_report(page: Path, sweep: spec.Sweep, rows: list[plan.Row], made: dict[str, list], versions: dict):
    out, grouped = Page(), means(sweep, made)
    out.section("frontiers", "Frontiers")
    out.text(
        f"{len({row.key for row in rows})} runs at {len({id(row.point) for row in rows})} points, seeds "
        f"{', '.join(map(str, sweep.all_seeds()))}, engine {sweep.engine}. A mark is a point's mean over seeds; the line joins "
        "the points that no other beats in both."
    )
    out.text(
        "Labels beside the points are the swept values; where there is no room for all, the frontier's come first. Drag across a plot to "
        "zoom, which makes room; double-click to see all points again. The cursor shows the figures of the nearest point. Click an entry of the "
        "legend to hide it or show it again.",
        "note",
    )
    for i, plot in enumerate(sweep.plot):
        which = "" if plot.runs == ["*"] else f", runs {', '.join(plot.runs)}"
        made_of = frontiers.data(plot, sweep.parameters(), grouped)
        what = f"{plot.y} against {plot.x}{which}."
        if made_of["names"]:
            what += f" Labels: {', '.join(made_of['names'])}."
        out.live(f"frontier-{i + 1}", what, made_of)
    out.section("table", "Points")
    if len(grouped) > MOST_ROWS:
        out.text(f"The first {MOST_ROWS} of {len(grouped)}; all stand in results.parquet.", "note")
    names = [*sweep.parameters(), "run"]
    shown = list(dict.fromkeys(name for plot in sweep.plot for name in (plot.x, plot.y))) or list(grouped[0][1])[:6]
    cells = [[*(str(at[n]) for n in names), *(number(values[n]) for n in shown)] for at, values in grouped[:MOST_ROWS]]
    out.body.append(tables.table(names, shown, cells))
    out.text("+- is the standard deviation over seeds.", "note")
    out.section("sweep", "The sweep")
    out.body.append(tables.table(["software"], [], [[f"{name} {text}"] for name, text in versions.items()]))
    text = json.dumps(sweep.model_dump(mode="json"), indent=1, default=str)
    out.details("What was asked, as JSON", f"<pre>{escape(text)}</pre>")
    page.write_text(out.html(sweep.title), encoding="utf-8")
