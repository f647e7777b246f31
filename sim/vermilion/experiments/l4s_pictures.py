"""The pictures of `vermilion experiment l4s`, and the means that they share with its tables."""

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

from . import drawing, intervals, l4s, runs
from .l4s import OVERLOADS, Case, L4s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUEUES = {
    "dualpi2": "DualPI2",
    "pie": "PIE, one queue",
    "nostep": "no step in L",
    "bursts": "senders not paced",
    "equal": "equal round trips",
    "drop": "overload = drop",
    "mark": "overload = mark",
}


def figure(measured: runs.Figures, case: Case, what: str) -> list[float]:
    return [math.nan if x is None else x for x in measured[f"{l4s.name(case)}.{what}"]]


def mean(measured: runs.Figures, case: Case, what: str) -> float:
    return fmean(figure(measured, case, what))


def ratio(measured: runs.Figures, case: Case) -> intervals.Interval:
    """Scalable over classic, the geometric mean."""
    return intervals.ratio(*(figure(measured, case, flow) for flow in ("scalable", "classic")))


def panels(of: L4s, figure_: "Figure", label: str) -> "list[tuple[Axes, str]]":
    """A panel for each rate: base round trips across, both scales logarithmic."""
    axes = figure_.subplots(1, len(of.rate), sharey=True, squeeze=False)[0]
    for axis, rate in zip(axes, of.rate.values(), strict=True):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter("{x:g}")
        axis.yaxis.set_minor_formatter("")
        axis.set_xticks(of.network.rtt_ms, [f"{x:g}" for x in of.network.rtt_ms], minor=False)
        axis.set_xticks([], minor=True)
        axis.set(title=f"{rate.bottleneck / 1e6:g} Mbit/s", xlabel="base round trip, ms")
    axes[0].set_ylabel(label)
    return list(zip(axes, of.rate, strict=True))


def drawn_ratio(of: L4s, measured: runs.Figures) -> drawing.Draw:
    """Bars are from the least to the greatest seed."""

    def draw(figure_: "Figure") -> None:
        lines = [*((classic, "dualpi2") for classic in of.classic), (next(iter(of.classic)), "pie")]
        names = [f"{classic}, {QUEUES[queue]}" for classic, queue in lines]
        inks = drawing.inks(names, {})
        every = panels(of, figure_, "DCTCP's rate over classic")
        for axis, rate in every:
            axis.axhspan(1 / of.targets.ratio, of.targets.ratio, color="#e6e6e6")
            for number, ((classic, queue), label) in enumerate(zip(lines, names, strict=True)):
                cases = [case for case in l4s.grid(of, classic, queue) if case[0] == rate]
                middles = [ratio(measured, case).mean for case in cases]
                reach = drawing.reach(middles, [figure(measured, case, "ratio") for case in cases])
                at = [case[1] * 1.05 ** (number - 1.5) for case in cases]
                style: dict[str, Any] = {"color": inks[label], "markersize": 4, "elinewidth": 0.8, "linewidth": 0.6}
                axis.errorbar(at, middles, reach, fmt="x" if number else "o-", label=label, **style)
        every[-1][0].legend(fontsize=5)

    return draw


def drawn_delay(of: L4s, measured: runs.Figures) -> drawing.Draw:
    def draw(figure_: "Figure") -> None:
        first = next(iter(of.classic))
        inks = drawing.inks(["L", "C"], {})
        every = panels(of, figure_, "sojourn time, ms")
        for axis, rate in every:
            cases = [case for case in l4s.grid(of, first, "dualpi2") if case[0] == rate]
            for queue in "LC":
                for what, shape in (("median", "o-"), ("p99", "^--")):
                    numbers = [mean(measured, case, f"{queue.lower()}_{what}") for case in cases]
                    style: dict[str, Any] = {"color": inks[queue], "markersize": 4, "linewidth": 0.8}
                    axis.plot([case[1] for case in cases], numbers, shape, label=f"{queue}, {what}", **style)
            for number in (of.targets.median_ms, of.targets.p99_ms, of.pair.target_ms):
                axis.axhline(number, color="#999999", linewidth=0.6, linestyle=":")
        every[0][0].legend(fontsize=5)

    return draw


def drawn_share(of: L4s, measured: runs.Figures) -> drawing.Draw:
    def draw(figure_: "Figure") -> None:
        axis = figure_.subplots()
        bars = [(classic, queue) for classic in ("udp", next(iter(of.classic))) for queue in OVERLOADS]
        names = [f"{classic} in C, overload = {queue}" for classic, queue in bars]
        inks = drawing.inks(names, {})
        for number, ((classic, queue), label) in enumerate(zip(bars, names, strict=True)):
            cases = l4s.grid(of, classic, queue)
            at = [x + 0.2 * number for x in range(len(cases))]
            axis.bar(at, [mean(measured, case, "share") for case in cases], 0.18, color=inks[label], label=label)
        axis.axhline(of.targets.share, color="#555555", linewidth=0.8, linestyle="--")
        ticks = [f"{of.rate[rate].bottleneck / 1e6:g}" for rate in of.rate]
        axis.set_xticks([x + 0.3 for x in range(len(ticks))], ticks)
        axis.set(xlabel="bottleneck, Mbit/s", ylabel="C's share, %")
        axis.legend(fontsize=6)

    return draw


def pictures(of: L4s, measured: runs.Figures) -> list[drawing.Picture]:
    return [
        ("ratio", "DCTCP's rate over the classic flow's; the band is the target", 3.8, drawn_ratio(of, measured)),
        (
            "delay",
            "Sojourn times beside the first classic flow; dotted: the targets of L and of C",
            3.8,
            drawn_delay(of, measured),
        ),
        ("share", "C's share while UDP overloads L; dashed: the target", 3.4, drawn_share(of, measured)),
    ]
