"""The report's figures that are SVG elements in the page, and what the others share with them.

Text and axes take the page's colour (`currentColor`), so that one drawing does for light, dark and paper. Nothing that a
configuration names is read as mathematics.
"""

import io
import os
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vermilion.console.narrow import cut
from vermilion.console.screen import any_glyph
from vermilion.profile import curves, quantise
from vermilion.profile.record import QueueRecord
from vermilion.toolchain import build
from vermilion.values.fields import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from vermilion.simulation.result import Fates

INK = {"green": "#2e9e43", "yellow": "#c99300", "red": "#d8403a"}
FATES = {
    "enqueued": "#5b8fc0",
    "marked": "#8d6cc9",
    "early": "#e39a35",
    "forced": "#d2603a",
    "tail": "#a8324a",
    "nobuf": "#8c8c8c",
    "bad": "#c46aa8",
    "policed": "#4b5d67",
    "evicted": "#b98b6b",
    "departure_marked": "#b79ae0",
    "departure_dropped": "#8a5a2b",
}
FATE_TEXT = {"enqueued": "enqueued, unmarked", "marked": "enqueued, CE chosen", "nobuf": "no buffer"}
FATE_TEXT |= {"departure_marked": "CE at departure", "departure_dropped": "dropped at departure"}
# Reasons of drops and marks (sim/model/report.h).
REASONS = {name: ink for name, ink in FATES.items() if name != "enqueued"}
REASONS |= {"pool": "#7f6a93", "victim_marked": "#9fb6d9", "flushed": "#c9c9c9"}
REASON_TEXT = FATE_TEXT | {"marked": "CE chosen", "victim_marked": "CE chosen, queued", "pool": "no room in the pool"}
VERDICT_MARKS = {
    1: ("mark", "^"),
    2: ("early", "x"),
    3: ("forced", "v"),
    4: ("tail", "_"),
    5: ("no buffer", "s"),
    7: ("policed", "D"),
}
LINES_MAX, EVENTS_MAX = 2500, 900  # points of a line, verdicts drawn, each a queue
MOST_CELLS = 32  # of a queue's name in a figure
FEW = 10  # an operating point of fewer decisions says nothing and is not drawn
FAMILIES = {"red": "RED", "gentle": "gentle RED", "exred": "ExRED"}
Draw = Callable[["Figure"], None]  # draws on an empty figure
_TEXT, _GRID = "#010203", "#040506"  # stand for currentColor
_STYLE: dict[Any, Any] = {
    "text.parse_math": False,
    "axes.unicode_minus": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "vermilion",
    "font.size": 9,
    "axes.titlesize": 10,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "axes.edgecolor": _TEXT,
    "axes.titlecolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.5,
    "axes.axisbelow": True,
}


def figure(name: str, label: str, height: float, draw: Draw) -> str:
    """Runs `draw(figure)` on an empty figure 9 inches wide and gives it as an <svg> with ids that begin with `name`."""
    os.environ.setdefault("MPLCONFIGDIR", str(build.HOME / "matplotlib"))
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE), any_glyph():
        made, out = Figure(figsize=(9, height), layout="constrained"), io.StringIO()
        draw(made)
        made.savefig(out, format="svg", transparent=True)
    return inlined(out.getvalue(), name, label)


def picture(path: Path, height: float, draw: Draw) -> None:
    """The same as a PNG for a page that is read where there are no scripts and styles; on white."""
    os.environ.setdefault("MPLCONFIGDIR", str(build.HOME / "matplotlib"))
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE | {"grid.color": "#dddddd"}), any_glyph():
        made = Figure(figsize=(9, height), layout="constrained", facecolor="white")
        draw(made)
        made.savefig(path, format="png", dpi=96, metadata={"Software": None})


def inlined(svg: str, name: str, label: str) -> str:
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{name}-", svg)
    svg = svg.replace(_TEXT, "currentColor").replace(f"stroke: {_GRID}", "stroke: currentColor; stroke-opacity: 0.16")
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg", f'<svg id="{name}" role="img" aria-label="{label}"', 1)


def thinned(items: list, most: int) -> list:
    return items if len(items) <= most else items[:: -(-len(items) // most)]


def scaled_time(longest_ns: float) -> tuple[float, str]:
    """Nanoseconds in a unit and the unit's name."""
    return next(((n, u) for n, u in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")) if longest_ns >= n), (1.0, "ns"))


def plain(number: float, _position=None) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def broken(times: list[float], values: list[float], span: float) -> tuple[list[float], list[float]]:
    """The line with a break in every silence: longer than a 25th of `span` and 20 times the median step."""
    steps = [b - a for a, b in pairwise(times)]
    least = max(span / 25, 20 * sorted(steps)[len(steps) // 2]) if steps else 0
    out_times, out_values = times[:1], values[:1]
    for step, time, value in zip(steps, times[1:], values[1:], strict=True):
        if step > least:
            out_times.append(time)
            out_values.append(float("nan"))
        out_times.append(time)
        out_values.append(value)
    return out_times, out_values


def drop_curves(figure_, queue, record: QueueRecord, binned: dict):
    """One queue's curves (p, and the long-run rate of its spacing) with operating points; `binned` as points.collect."""
    axis = figure_.subplots()
    on = [(n, k) for n, c in enumerate(record["colour"]) for k in ("drop", "ecn") if quantise.curve_of(c, k)["on"]]
    seen = [b.average for n, k in on if (queue.index, n, k) in binned for b in binned[queue.index, n, k].filled(FEW)]
    ends = [quantise.curve_of(record["colour"][n], k)["end"] for n, k in on]
    top = max(int(max([e * 1.15 for e in ends] + [a * 1.05 for a in seen], default=1)), 1)
    for number, kind in on:
        colour, curve = COLOURS[number], quantise.curve_of(record["colour"][number], kind)
        asked = getattr(queue, colour).ecn if kind == "ecn" else getattr(queue, colour)
        dashed = "--" if kind == "ecn" else "-"
        text = f"{colour}, {FAMILIES[asked.curve]}{' for ECN' if kind == 'ecn' else ''}"
        averages, chances = curves.points(curve, top)
        axis.plot(averages, chances, color=INK[colour], linestyle=dashed, linewidth=1.4, label=f"p: {text}")
        if queue.spacing != "geometric":
            rates = [float(quantise.effective(queue.spacing, Fraction(p))) for p in chances]
            axis.plot(averages, rates, color=INK[colour], linestyle=":", linewidth=1.2)
        bins = binned[queue.index, number, kind].filled(FEW) if (queue.index, number, kind) in binned else []
        if bins:
            limits = [b.interval for b in bins]
            spread = [
                [b.rate - low for b, (low, _) in zip(bins, limits, strict=True)],
                [h - b.rate for b, (_, h) in zip(bins, limits, strict=True)],
            ]
            spread = [[max(0.0, x) for x in side] for side in spread]
            axis.errorbar(
                [b.average for b in bins], [b.rate for b in bins], yerr=spread, fmt="D" if kind == "ecn" else "o",
                color=INK[colour], markersize=4, markerfacecolor="none", elinewidth=0.9, capsize=2.5, clip_on=False,
                zorder=3,
            )  # fmt: skip
    if queue.spacing != "geometric":
        axis.plot([], [], color=_TEXT, linestyle=":", linewidth=1.2, label=f"long-run rate, {queue.spacing}")
    if any(key[0] == queue.index for key in binned):
        axis.errorbar(
            [], [], yerr=[], fmt="o", color=_TEXT, markersize=4, markerfacecolor="none", capsize=2.5, label="measured"
        )
    axis.xaxis.set_major_formatter(plain)
    axis.set(xlim=(0, top), ylim=(-0.02, 1.02), ylabel="share of packets")
    axis.set_xlabel(f"average, {queue.average.unit}s")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def verdict_bars(figure_, rows: list[tuple[str, str, dict]]):
    """Bars of 100 %, one for each (queue, colour, counters by fate)."""
    axis = figure_.subplots()
    left = [0.0] * len(rows)
    for fate, ink in FATES.items():
        wide = [100 * fates[fate] / sum(fates.values()) for _, _, fates in rows]
        if any(wide):
            axis.barh(range(len(rows)), wide, left=left, color=ink, height=0.66, label=FATE_TEXT.get(fate, fate))
            left = [a + b for a, b in zip(left, wide, strict=True)]
    axis.set_yticks(range(len(rows)), [f"{cut(queue, MOST_CELLS)}, {colour}" for queue, colour, _ in rows])
    for tick, (_, colour, _) in zip(axis.get_yticklabels(), rows, strict=False):
        tick.set_color(INK[colour])
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    axis.set(xlim=(0, 100), xlabel="share of the packets that arrived, %")
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def fates_over_time(figure_, fates: "Fates"):
    """Drops and marks in each of the bins of time, stacked by reason."""
    axis, bins = figure_.subplots(), max(map(len, fates["reasons"].values()))
    scale, unit = scaled_time(bins * fates["bin_ns"])
    edges = [i * fates["bin_ns"] / scale for i in range(bins + 1)]
    below = [0] * bins
    for reason in (name for name in REASONS if name in fates["reasons"]):
        above = [a + b for a, b in zip(below, fates["reasons"][reason], strict=True)]
        text = REASON_TEXT.get(reason, reason)
        axis.stairs(above, edges, baseline=below, fill=True, color=REASONS[reason], label=text)
        below = above
    axis.set(xlim=(0, edges[-1]), xlabel=f"time, {unit}", ylabel=f"packets in {duration(fates['bin_ns'])}")
    axis.set_ylim(bottom=0)
    axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def class_end(start_ns: int) -> int:
    """Where a class of the latency histogram ends: 8 classes an octave."""
    return start_ns + (1 << max(0, start_ns.bit_length() - 4))


def duration(ns: float, _position=None) -> str:
    scale, unit = scaled_time(ns)
    return f"{ns / scale:.4g} {unit}"


def latency(figure_, rows: list[tuple[str, list]]):
    """One panel a queue: share of the packets in each class."""
    panels = figure_.subplots(len(rows), 1, sharex=True, squeeze=False)[:, 0]
    longest = max(class_end(start) for _, classes in rows for start, _ in classes)
    least = max(1, min(start for _, classes in rows for start, _ in classes))
    narrow = longest < 30 * least
    for axis, (name, classes) in zip(panels, rows, strict=False):
        total = sum(count for _, count in classes)
        starts = [max(start, 0.5) for start, _ in classes]  # no zero on a logarithmic axis
        wide = [class_end(start) - begin for (start, _), begin in zip(classes, starts, strict=False)]
        axis.bar(starts, [100 * n / total for _, n in classes], width=wide, align="edge", color=FATES["enqueued"])
        axis.set_title(f"{cut(name, 2 * MOST_CELLS)}, {total:,} packets", loc="left")
        axis.set_xscale("log")
        axis.set_ylabel("%")
        axis.set_ylim(bottom=0)
        axis.xaxis.set_major_formatter(duration)
        axis.xaxis.set_minor_formatter(duration if narrow else lambda *_: "")
    if narrow:  # less than a decade and a half: the decades alone would be one or two labels
        from matplotlib.ticker import LogLocator

        panels[-1].xaxis.set_minor_locator(LogLocator(subs=(1.5, 2, 3, 5)))
    panels[-1].set_xlabel("time from decision to departure")
