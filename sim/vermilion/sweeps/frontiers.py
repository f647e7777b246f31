"""The data of a sweep's plot for report/live.js: points with the swept values as labels, by groups, with each group's frontier.

A label holds the parameters whose values differ among the plot's points, but not those that the groups stand for. Parameters that have
the same last name and always the same value are one, so that `red.p` and `exred.p`, swept together, are `p`.
"""

import fnmatch
import math
from collections.abc import Sequence
from statistics import fmean

from vermilion.console.narrow import cut
from vermilion.experiments.drawing import INKS

from . import spec

MOST_CELLS = 24, 200  # of a value in a label; beside the cursor
MOST_LABEL = 48  # cells of a label


def frontier(points: list[tuple[float, float]], better: Sequence[str]) -> list[tuple[float, float]]:
    """Those that no other beats: one that is better in one coordinate and no worse in the other. By their first coordinate."""
    sign = [1 if each == "low" else -1 for each in better]
    out, best = [], math.inf
    for x, y in sorted(points, key=lambda point: (sign[0] * point[0], sign[1] * point[1])):
        if sign[1] * y < best:
            out.append((x, y))
            best = sign[1] * y
    return sorted(out)


def data(plot: spec.Plot, parameters: list[str], grouped: list) -> dict:
    """`grouped` is that of `results.means`: (parameters and run, figures)."""
    found = []
    for at, values in grouped:
        point = fmean(values[plot.x]), fmean(values[plot.y])
        if any(fnmatch.fnmatchcase(at["run"], each) for each in plot.runs) and all(map(math.isfinite, point)):
            found.append((at, point))
    names = labelled([at for at, _ in found], [name for name in [*parameters, "run"] if name not in plot.by])
    groups: dict[str, list] = {}
    for at, point in found:
        groups.setdefault(", ".join(str(at[name]) for name in plot.by) or "all", []).append((at, point))
    out = []
    for i, (name, members) in enumerate(groups.items()):
        beats = set(frontier([point for _, point in members], plot.better))
        points, front = [], [j for j, (_, point) in enumerate(members) if point in beats]
        for at, point in members:
            brief, text = ([cut(str(at[each]), most) for each in names] for most in MOST_CELLS)
            points.append(
                [
                    *point,
                    cut(", ".join(brief), MOST_LABEL),
                    ", ".join(f"{a} {b}" for a, b in zip(names.values(), text, strict=False)),
                ]
            )
        out.append({"label": cut(name, MOST_CELLS[1]), "ink": INKS[i % len(INKS)], "points": points, "front": front})
    axes = {"x": plot.x, "y": plot.y}
    axes |= {
        f"{one}Label": f"{name} ({best} is better)"
        for (one, name), best in zip(axes.items(), plot.better, strict=False)
    }
    return {"kind": "points", "names": list(names.values()), "groups": out} | axes


def labelled(points: list[dict], names: list[str]) -> dict[str, str]:
    """The parameters of labels, each with a short name: the last parts of its path, as many as tell it from the others."""
    columns = {name: [str(at[name]) for at in points] for name in names}
    kept: list[str] = []
    for name, values in columns.items():
        twin = any(columns[other] == values and ending(other, 1) == ending(name, 1) for other in kept)
        if len(set(values)) > 1 and not twin:
            kept.append(name)
    out = {}
    for name in kept:
        parts = 1
        while any(ending(other, parts) == ending(name, parts) for other in kept if other != name):
            parts += 1
        out[name] = ending(name, parts)
    return out


def ending(path: str, parts: int) -> str:
    return ".".join(path.split(".")[-parts:])
