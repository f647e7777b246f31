"""The figures of markers: colours in and out over time, tokens, REDP's shares beside eq. (1), A_Y and L_Y of flows.

Colours are never told by colour alone: yellow and red areas are hatched, marks have shapes of their own.
"""

from vermilion.values.fields import COLOURS

from . import marker_points as found
from .plots import _TEXT, EVENTS_MAX, FATES, FEW, INK, LINES_MAX, broken, plain, scaled_time, thinned

HATCH = {"green": "", "yellow": "////", "red": "xxxx", "dropped by the marker": "\\\\\\\\"}
AREA = INK | {"dropped by the marker": FATES["policed"]}
SHAPE = {"green": "o", "yellow": "^", "red": "x"}
EVENT_MARKS = {
    "probe": ("D", INK["red"]),
    "loss": ("x", "#8d6cc9"),
    "adopted": ("s", "#e39a35"),
    "jump": ("*", "#a8324a"),
}
EVENT_TEXT = {"probe": "red: a probe", "loss": "loss seen", "adopted": "adopted", "jump": "jump"}
LINE = FATES["enqueued"]
REGIONS = {"demotion": INK["yellow"], "balanced": "#8c8c8c", "promotion": INK["green"]}


def below(axis, columns: int = 6):
    """The legend under the axis, where it takes no width."""
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncol=columns)


def colours(figure_, seen: found.MarkerSeen):
    """Stacked rates of the colours that came, and of those that left."""
    scale, unit = scaled_time(seen.edges[-1])
    edges = [e / scale for e in seen.edges]
    seconds = (seen.edges[1] - seen.edges[0]) / 1e9
    panels = figure_.subplots(2, 1, sharex=True, sharey=True)
    stacks = [
        dict(zip(COLOURS, seen.came, strict=True)),
        dict(zip(COLOURS, seen.left, strict=True)) | {"dropped by the marker": seen.dropped},
    ]
    for axis, title, stack in zip(panels, ("came", "left"), stacks, strict=False):
        base = [0.0] * found.SPANS
        for name, spans in stack.items():
            top = [low + 8 * n / seconds for low, n in zip(base, spans, strict=False)]
            if any(spans):
                axis.stairs(
                    top, edges, baseline=base, fill=True, facecolor=AREA[name], edgecolor=_TEXT, linewidth=0,
                    hatch=HATCH[name],
                )  # fmt: skip
            base = top
        axis.set_title(title, loc="left")
        axis.set_ylabel("bit/s")
        axis.yaxis.set_major_formatter(plain)
    shown = [name for name in AREA if any(any(stack.get(name, [])) for stack in stacks)]
    for name in shown:
        panels[1].fill_between(
            [], [], [], facecolor=AREA[name], edgecolor=_TEXT, linewidth=0, hatch=HATCH[name], label=name
        )
    panels[1].set(xlabel=f"time since the first frame, {unit}", xlim=(0, edges[-1]))
    panels[1].set_ylim(bottom=0)
    panels[1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.32), ncol=4)


def regions(axis, m, across: bool):
    """REDP's three regions, shaded and named; `across`: the level is on the x axis."""
    low, high, depth = (m.in_bytes(x) for x in (m.low, m.high, m.bucket))
    for (name, ink), begin, end in zip(REGIONS.items(), (0, low, high), (low, high, depth), strict=True):
        if begin == end:
            continue
        (axis.axvspan if across else axis.axhspan)(begin, end, color=ink, alpha=0.13, linewidth=0)
        middle = (begin + end) / 2
        if across:
            axis.text(middle, 1.02, name, transform=axis.get_xaxis_transform(), ha="center", fontsize=8)
        else:
            axis.text(1.01, middle, name, transform=axis.get_yaxis_transform(), va="center", fontsize=8)


def tokens(figure_, m, seen: found.MarkerSeen, depth: int, bucket: str):
    """The level of bucket A that each packet met, with the colour that it left with."""
    scale, unit = scaled_time(seen.edges[-1])
    axis = figure_.subplots()
    if m.kind == "redp":
        regions(axis, m, across=False)
    kept = thinned(seen.levels.kept, LINES_MAX)
    line = broken([p[0] / scale for p in kept], [p[1] for p in kept], seen.edges[-1] / scale)
    axis.plot(*line, color=_TEXT, alpha=0.4, linewidth=0.8)
    marks = thinned(seen.levels.kept, EVENTS_MAX)
    for number, colour in enumerate(COLOURS):
        own = [p for p in marks if p[2] == number and not p[3]]
        if own:
            axis.plot(
                [p[0] / scale for p in own], [p[1] for p in own], SHAPE[colour], color=INK[colour], markersize=3.5,
                markeredgewidth=0.9, alpha=0.8, label=f"left {colour}",
            )  # fmt: skip
    gone = [p for p in marks if p[3]]
    if gone:
        axis.plot(
            [p[0] / scale for p in gone], [p[1] for p in gone], "D", color=FATES["policed"], markersize=3.5,
            markeredgecolor=_TEXT, markeredgewidth=0.4,
            label="dropped by the marker",
        )  # fmt: skip
    axis.axhline(depth, color=_TEXT, linestyle=":", linewidth=0.9, label=f"depth, {bucket}")
    axis.yaxis.set_major_formatter(plain)
    axis.set(xlabel=f"time since the first frame, {unit}", ylabel="tokens, bytes")
    axis.set(xlim=(-0.01 * seen.edges[-1] / scale, 1.01 * seen.edges[-1] / scale), ylim=(0, 1.06 * depth))
    below(axis)


def shares(figure_, m, seen: found.MarkerSeen):
    """Measured shares of demoted green and promoted yellow packets over the level, and eq. (1)."""
    axis = figure_.subplots()
    regions(axis, m, across=True)
    low, high, depth = (m.in_bytes(x) for x in (m.low, m.high, m.bucket))
    for name, ends, rule, binned, colour in (
        ("green packets demoted", (0, low), found.demotion, seen.demoted, "yellow"),
        ("yellow packets promoted", (high, depth), found.promotion, seen.promoted, "green"),
    ):
        axis.plot(ends, [rule(m, level) for level in ends], color=INK[colour], linewidth=1.4, label=f"eq. (1): {name}")
        bins = [] if binned is None else binned.filled(FEW)
        if bins:
            limits = [b.interval for b in bins]
            spread = [[max(0.0, b.rate - at) for b, (at, _) in zip(bins, limits, strict=True)]]
            spread += [[max(0.0, at - b.rate) for b, (_, at) in zip(bins, limits, strict=True)]]
            axis.errorbar(
                [b.average for b in bins], [b.rate for b in bins], yerr=spread, fmt=SHAPE[colour], color=INK[colour],
                markersize=4.5, markerfacecolor="none", elinewidth=0.9, capsize=2.5, label=f"measured: {name}",
            )  # fmt: skip
    axis.xaxis.set_major_formatter(plain)
    axis.set(
        xlim=(0, 1.02 * depth), ylim=(0, 1.02), xlabel="tokens before the packet, bytes", ylabel="share of packets"
    )
    below(axis, 2)


def flows(figure_, m, seen: found.MarkerSeen, names: dict[int, str]):
    """One panel a flow: A_Y and L_Y (WPM: credits) after each packet, with probes, losses and green packets."""
    scale, unit = scaled_time(seen.edges[-1])
    shown = [(number, flow) for number, flow in seen.flows.items() if flow.points.kept]
    panels = figure_.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (number, flow) in zip(panels, shown, strict=False):
        points = thinned(flow.points.kept, LINES_MAX)
        times = [p[0] / scale for p in points]
        if m.kind == "wpm":
            axis.plot(times, [p[3] for p in points], color=LINE, linewidth=1.3, drawstyle="steps-post")
        else:
            axis.plot(times, [p[2] for p in points], color=_TEXT, alpha=0.5, linewidth=0.9, drawstyle="steps-post")
            axis.plot(times, [p[1] for p in points], color=LINE, linewidth=1.6, drawstyle="steps-post")
        greens = [p[0] / scale for p in thinned(flow.points.kept, EVENTS_MAX) if p[4] == 0]
        axis.plot(greens, [0.04] * len(greens), "|", color=INK["green"], transform=axis.get_xaxis_transform())
        for event, (shape, ink) in EVENT_MARKS.items():
            own = [e for e in flow.events.kept if e[1] == event]
            on = {"transform": axis.get_xaxis_transform()} if m.kind == "wpm" else {}
            heights = [0.9 if on else e[2] for e in own]
            axis.plot(
                [e[0] / scale for e in own], heights, shape, color=ink, markersize=6, markerfacecolor="none", **on
            )
        axis.set_title(names.get(number, f"flow {number}"), loc="left")
        axis.set_ylabel("packets")
        highest = max(p[3] if m.kind == "wpm" else max(p[1], p[2]) for p in points)
        axis.set_ylim(0, 1.18 * max(highest, 1))
        axis.yaxis.set_major_formatter(plain)
    last = panels[-1]
    if m.kind == "wpm":
        last.plot([], [], color=LINE, linewidth=1.3, label="credits")
    else:
        last.plot([], [], color=LINE, linewidth=1.6, label="A_Y")
        last.plot([], [], color=_TEXT, alpha=0.5, linewidth=0.9, label="L_Y")
    if m.kind != "apm":
        last.plot([], [], "|", color=INK["green"], label="green packet")
    for event, (shape, ink) in EVENT_MARKS.items():
        if any(e[1] == event for _, flow in shown for e in flow.events.kept):
            last.plot([], [], shape, color=ink, markersize=6, markerfacecolor="none", label=EVENT_TEXT[event])
    last.set_xlabel(f"time since the first frame, {unit}")
    last.set_xlim(-0.01 * seen.edges[-1] / scale, 1.01 * seen.edges[-1] / scale)
    last.legend(loc="upper center", bbox_to_anchor=(0.5, -0.35), ncol=7)
