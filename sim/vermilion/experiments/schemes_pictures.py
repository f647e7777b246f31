"""The pictures of `vermilion experiment schemes`."""

from statistics import fmean
from typing import TYPE_CHECKING, Any

from . import drawing, intervals, pages, runs, schemes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = {  # figure: (title, whether more is better)
    "delay": ("Mean sojourn time at cr, ms", False),
    "goodput": ("Goodput of all flows, Mb/s", True),
    "short_s": ("Time of a short flow, s", False),
    "fairness": ("Fairness of the long flows (Jain)", True),
}
BESIDE = {
    "goodput": "goodput, Mb/s",
    "delay": "delay, ms",
    "loss": "loss, %",
    "fairness": "fairness",
    "short_s": "short flow, s",
}
WITH = {"drop": "without ECN", "mark": "with ECN"}
SHAPES = "osD^v*"
DELAYS = (25, 50, 100, 200, 400)  # ms


def field(of: schemes.Schemes, measured: runs.Figures, what: str, more_is_better: bool) -> drawing.Draw:
    """Queues and ECN down, markers across; the darker the better."""

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        lines = [(queue, ecn) for queue in of.queue for ecn in schemes.ECN]
        markers = list(of.marker)
        values = [[fmean(measured[f"{queue}.{ecn}.{m}.{what}"]) for m in markers] for queue, ecn in lines]
        shades = "Greens" if more_is_better else "Greens_r"
        axis.pcolormesh(values, cmap=shades, alpha=0.75, edgecolors="white", linewidth=0.5)
        low, high = min(map(min, values)), max(map(max, values))
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                depth = (value - low) / (high - low) if high > low else 0.0
                dark = (depth if more_is_better else 1 - depth) > 0.6
                ink = "#ffffff" if dark else "#222222"
                axis.text(x + 0.5, y + 0.5, f"{pages.three(value)}", ha="center", va="center", color=ink, fontsize=7)
        axis.set_xticks([x + 0.5 for x in range(len(markers))], markers)
        axis.set_yticks([y + 0.5 for y in range(len(lines))], [q + (", ECN" if e == "mark" else "") for q, e in lines])
        axis.invert_yaxis()
        axis.grid(False)

    return draw


def logarithmic(axis: "Axes") -> None:
    axis.set_xscale("log")
    axis.set_xticks(DELAYS, [str(ms) for ms in DELAYS])
    axis.set_xticks([], minor=True)


def frontier(of: schemes.Schemes, measured: runs.Figures) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, len(schemes.ECN), sharex=True, sharey=True)
        for axis, ecn in zip(axes, schemes.ECN, strict=True):
            for queue, ink in drawing.inks(of.queue, {}).items():
                for marker, shape in zip(of.marker, SHAPES, strict=True):
                    name = f"{queue}.{ecn}.{marker}"
                    at = fmean(measured[f"{name}.delay"]), fmean(measured[f"{name}.goodput"])
                    axis.plot(*at, shape, color=ink, markersize=5)
                axis.plot([], [], "o", color=ink, label=queue)
            logarithmic(axis)
            axis.set(xlabel="delay at cr, ms", title=WITH[ecn])
        for marker, shape in zip(of.marker, SHAPES, strict=True):
            axes[1].plot([], [], shape, color="#777777", label=marker)
        axes[0].set_ylabel("goodput, Mb/s")
        axes[1].legend(fontsize=6, ncols=2)

    return draw


def beside(of: schemes.Schemes, measured: runs.Figures) -> drawing.Draw:
    """A panel for each figure, queues down: ours and ns-3's, with the 95 % intervals of their means."""

    def draw(figure: "Figure") -> None:
        queues = schemes.beside(of)
        axes = figure.subplots(1, len(BESIDE), sharey=True)
        for axis, (what, title) in zip(axes, BESIDE.items(), strict=True):
            for number, (ecn, ink) in enumerate(zip(schemes.ECN, drawing.INKS, strict=False)):
                for half, (prefix, shape) in enumerate((("", "o"), (schemes.NS3, "x"))):
                    each = [
                        intervals.of_mean(measured[f"{prefix}{queue}.{ecn}.{schemes.ALONE}.{what}"]) for queue in queues
                    ]
                    at = [y + 0.36 * number + 0.14 * half - 0.25 for y in range(len(queues))]
                    middles = [made.mean for made in each]
                    bars = [made.mean - made.low if made.seeds > 1 else 0.0 for made in each]
                    style: dict[str, Any] = {"color": ink, "markersize": 4, "elinewidth": 0.8}
                    label = f"{'ns-3' if prefix else 'ours'}, {WITH[ecn]}"
                    axis.errorbar(middles, at, xerr=bars, fmt=shape, label=label, **style)
            if what == "delay":
                logarithmic(axis)
            axis.set(xlabel=title)
        axes[0].set_yticks(range(len(queues)), queues)
        axes[0].invert_yaxis()
        axes[-1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return draw


def pictures(of: schemes.Schemes, measured: runs.Figures) -> list[drawing.Picture]:
    made: list[drawing.Picture] = [
        ("beside", "Ours and ns-3's without a marker; bars: 95 % intervals of the means", 3.4, beside(of, measured)),
        ("frontier", "Goodput against delay: a colour for each queue, a shape for each marker", 3.8, frontier(of, measured)),
    ]  # fmt: skip
    for what, (title, more) in DRAWN.items():
        made.append((what.replace("_", "-"), f"{title}; the darker the better", 5.2, field(of, measured, what, more)))
    return made
