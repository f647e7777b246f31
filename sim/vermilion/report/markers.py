"""The report's section on markers: for each queue that has one, what came and left in which colour, tokens, and flows.

Counters come from the run's JSON, everything over time from the trace (`marker_points`); figures: `marker_plots`.
"""

from vermilion.configuration.config import Config
from vermilion.configuration.markers import Marker
from vermilion.profile import marker_image
from vermilion.simulation.result import MarkerResult, QueueResult, Result, count
from vermilion.simulation.show import EVENT_TEXT, FLOW_EVENTS
from vermilion.values.fields import COLOURS

from . import marker_plots, marker_points, plots, tables

NO_MARKER: MarkerResult = {"kind": "none"}


def title(m: Marker) -> str:
    return f"{m.rules.title} ({m.rules.source})" if m.rules.source else m.rules.title


def bucket_text(m: Marker) -> str:
    """Bucket A, whose level the trace has."""
    first, *others = m.rules.buckets
    if not others:
        return "the bucket"
    return f"the {first.name} bucket (the trace has no {others[0].name} bucket)"


def section(made, config: Config, stats: Result, trace):
    """The whole section on `made` (a Page); nothing where no queue has a marker."""
    by_name = {m.queue: m for m in config.marker}
    markers = {q.at: by_name[q.name] for q in config.queue if q.name in by_name}
    if not markers:
        return
    made.section("markers", "Markers")
    made.text(
        "Each marker gives its queue's packets their colour before averages, curves and counters ask for it. Rates are of frames "
        "that came in, by colour; what the queue dropped later is among those that left the marker. Figures draw evenly spaced packets where there are many; "
        "their tables count all."
    )
    seen = marker_points.collect(markers, stats, trace)
    if not seen:
        made.text(
            "Without a trace there is nothing over time here: no colours, tokens, or states of flows. Run with --trace or let "
            "the run write the report itself."
        )
    by_flow = [q for q in stats.get("queues", []) if "flow_events" in q.get("marker", NO_MARKER)]
    if by_flow:
        made.part("marker-events", "Events of flows")
        made.body.append(events(by_flow, stats))
    queues = {q["index"]: q for q in stats.get("queues", [])}
    for q in config.queue:
        if q.at in markers:
            made.part(f"marker-{q.index}", f"{q.name}: {title(markers[q.at])}")
            of_queue(made, q, markers[q.at], queues.get(q.at), seen.get(q.at))


def events(queues: list[QueueResult], stats: Result) -> str:
    """Per queue by the model, and in all by the lane's registers (or the model alone)."""
    rows = [[str(q["name"]), *(f"{q['marker']['flow_events'][e]:,}" for e in FLOW_EVENTS)] for q in queues]
    total = stats.get("flow_events")
    if total:
        what = "all, by the hardware's registers" if stats.get("engine") == "rtl" else "all, by the model"
        rows.append([what, *(f"{total[e]:,}" for e in FLOW_EVENTS)])
    return tables.table(["queue"], [EVENT_TEXT[e] for e in FLOW_EVENTS], rows)


def of_queue(made, queue, m, found: QueueResult | None, seen):
    if found is None or not any(map(any, found.get("colours_in_out", []))):
        made.text("No packet came to this queue.")
        return
    made.body.append(in_out(found))
    if seen:
        made.figure(
            f"plot-colours-{queue.index}",
            f"Queue {queue.name}: rates by colour as packets came (above) and as they left the marker (below).",
            3.6,
            lambda f: marker_plots.colours(f, seen),
        )
        made.details("Colours over time as numbers, in bytes", colours(seen))
        if not m.by_flow:
            tokens(made, queue, m, seen)
        elif any(flow.points.kept for flow in seen.flows.values()):
            flow_figure(made, queue, m, found["marker"], seen)
    if m.by_flow and m.kind != "nm":
        flow_table(made, m, found.get("marker", NO_MARKER))


def in_out(found: QueueResult) -> str:
    """Packets by the colour they came with and the one they left with."""
    rows = [
        [tables.coloured(colour), *(f"{n:,}" if n else "" for n in row), f"{sum(row):,}"]
        for colour, row in zip(COLOURS, found["colours_in_out"], strict=True)
        if any(row)
    ]
    policed = [count(found["colours"][c], "policed")["packets"] for c in range(len(COLOURS))]
    if any(policed):
        rows.append(["of these dropped", *(f"{n:,}" if n else "" for n in policed), f"{sum(policed):,}"])
    return tables.table(["came"], [*(f"left {colour}" for colour in COLOURS), "in all"], rows)


def colours(seen) -> str:
    scale, unit = plots.scaled_time(seen.edges[-1])
    columns = [*seen.came, *seen.left, seen.dropped]
    rows = []
    for i in range(marker_points.SPANS):
        if any(column[i] for column in columns):
            rows.append(
                [f"{seen.edges[i] / scale:.4g}", *(f"{column[i]:,}" if column[i] else "" for column in columns)]
            )
    names = [f"{way} {colour}" for way in ("came", "left") for colour in COLOURS] + ["dropped"]
    return tables.table([f"from, {unit}"], names, rows)


def tokens(made, queue, m, seen):
    if not seen.levels.kept:
        made.text("No packet was measured by the bucket.")
        return
    depth = marker_image.buckets(m)[0][1]
    units = f" Every packet counts as {m.packet_bytes:,} bytes." if m.packet_bytes else ""
    caption = f"Queue {queue.name}: tokens in {bucket_text(m)}, as each packet met them.{units}"
    shown = m.rules.buckets[0].depths[0].upper() if m.rules.source else f"{depth:,} B"
    if m.kind == "redp":
        caption += " In the demotion region green packets may turn yellow, in the promotion region yellow ones green."
    made.figure(
        f"plot-tokens-{queue.index}",
        caption,
        3.2,
        lambda f: marker_plots.tokens(f, m, seen, depth, shown),
    )
    scale, unit = plots.scaled_time(seen.edges[-1])
    rows = []
    for begin, counts in zip(seen.edges, seen.level_spans, strict=False):
        if counts:
            count, total, least, most = counts
            rows.append([f"{begin / scale:.4g}", f"{count:,}", *(f"{x:,.0f}" for x in (least, total / count, most))])
    made.details(
        "Tokens over time as numbers, in bytes",
        tables.table([f"from, {unit}"], ["packets", "lowest", "mean", "highest"], rows),
    )
    if m.kind == "redp":
        redp(made, queue, m, seen)


def redp(made, queue, m, seen):
    caption = (
        f"Queue {queue.name}: share of green packets demoted and of yellow ones promoted over the level of tokens; points are "
        "classes of at least ten packets with binomial 99.9 % intervals, lines REDP's eq. (1) (docs/markers.md). Left out are packets that the tokens "
        "do not cover, which are never green, and those that the combined dropper took."
    )
    made.figure(f"plot-shares-{queue.index}", caption, 3.2, lambda f: marker_plots.shares(f, m, seen))
    rows = []
    for what, binned, rule in (
        ("green demoted", seen.demoted, marker_points.demotion),
        ("yellow promoted", seen.promoted, marker_points.promotion),
    ):
        for b in binned.filled():
            low, high = b.interval
            shares = [f"{100 * x:.3g} %" for x in (b.rate, low, high, rule(m, b.average))]
            rows.append([what, f"{b.average:,.0f}", f"{b.decisions:,}", f"{b.hits:,}", *shares])
    right = ["mean level, bytes", "packets", "of them", "share", "from", "to (99.9 %)", "eq. (1)"]
    made.details("Demotion and promotion as numbers", tables.table(["what"], right, rows))


def label(flow: dict) -> str:
    return f"flow {flow['flow']}: {flow['from']} to {flow['to']}"


def flow_figure(made, queue, m, marker: MarkerResult, seen):
    shown = [f for f in marker["busiest"] if f["flow"] in seen.flows and seen.flows[f["flow"]].points.kept]
    what = "credits left" if m.kind == "wpm" else "A_Y (thick) and L_Y (thin)"
    caption = f"Queue {queue.name}: {what} after each packet of the {len(shown)} flows with most packets"
    caption += "." if marker["flows"] == len(shown) else f", of {marker['flows']:,}."
    caption += "" if m.kind == "wpm" else " Where L_Y passes A_Y the packet is red, a probe; a loss sets A_Y anew."
    made.figure(
        f"plot-flows-{queue.index}",
        caption,
        0.7 + 1.35 * len(shown),
        lambda f: marker_plots.flows(f, m, seen, {flow["flow"]: label(flow) for flow in shown}),
    )
    scale, unit = plots.scaled_time(seen.edges[-1])
    rows = [
        (time, [str(number), f"{time / scale:.6g}", EVENT_TEXT[event], f"{average:.6g}", f"{burst:,}"])
        for number, flow in seen.flows.items()
        for time, event, average, burst in flow.events.kept
    ]
    if rows:
        left, right = ["flow", f"time, {unit}", "event"], ["A_Y behind it", "L_Y behind it"]
        every = max(flow.events.every for flow in seen.flows.values())
        title = "Events of these flows" + (f", of some flows one in {every:,}" if every > 1 else "")
        made.details(title, tables.table(left, right, [row for _, row in sorted(rows)]))


def flow_table(made, m, marker: MarkerResult):
    if not marker.get("busiest"):
        made.text("No packet of a TCP flow came: neither a SYN nor one with payload.")
        return
    rows = []
    for flow in marker["busiest"]:
        counts = [*flow["packets"], flow["losses"], flow["probes"]]
        state = [] if m.kind == "wpm" else [f"{flow['average']:.6g}", f"{flow['burst']:,}"]
        ends = [str(flow["flow"]), flow["from"], flow["to"], f"{sum(flow['packets']):,}"]
        rows.append([*ends, *(f"{n:,}" if n else "" for n in counts), *state])
    right = ["packets", *COLOURS, "losses", "probes", *([] if m.kind == "wpm" else ["last A_Y", "last L_Y"])]
    made.body.append(tables.table(["flow", "from", "to"], right, rows))
    more = marker["flows"] - len(rows)
    text = "Packets without payload belong to no flow, SYNs aside."
    if more > 0:
        text = f"These are the {len(rows)} flows with most packets; {more:,} more are not shown. {text}"
    made.text(text, "note")
