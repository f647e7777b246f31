"""The report's tables as HTML. Every text goes through `escape`."""

import json
from html import escape
from typing import Literal

from vermilion.configuration.config import Config
from vermilion.configuration.markers import FIELDS
from vermilion.hardware.formats import exact
from vermilion.profile import quantise
from vermilion.profile.record import Record
from vermilion.profile.settings import DEFAULT_QUANTUM
from vermilion.simulation.result import Outcomes, QueueResult, Reported, Result, count
from vermilion.simulation.show import LOSSES, OUTCOME_TEXT, OUTCOMES, limits, loss_rows, percent, remarks
from vermilion.simulation.show_departure import report_rows
from vermilion.values import units
from vermilion.values.fields import COLOURS

from .plots import INK, class_end, duration
from .points import Binned


def table(left: list[str], right: list[str], rows: list[list]) -> str:
    """Columns of text, then of numbers. A cell is text, or a pair (text, class or style) for one that stands out."""
    heads = [f"<th>{escape(h)}</th>" for h in left] + [f'<th class="number">{escape(h)}</th>' for h in right]
    lines = []
    for row in rows:
        cells = []
        for i, cell in enumerate(row):
            text, extra = cell if isinstance(cell, tuple) else (cell, "")
            inner = f'<span class="dot" style="--of: {extra}">{escape(text)}</span>' if extra else escape(str(text))
            kind = ' class="number"' if i >= len(left) else ' class="break"' if len(str(text)) > 32 else ""
            cells.append(f"<td{kind}>{inner}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table><thead><tr>{"".join(heads)}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def coloured(colour: str) -> tuple[str, str]:
    return colour, INK[colour]


def counters(stats: Result) -> list[tuple[QueueResult, str, Outcomes]]:
    """(queue, colour, counters) of all that saw a packet."""
    return [
        (queue, colour, per)
        for queue in stats.get("queues", [])
        for colour, per in zip(COLOURS, queue.get("colours", []), strict=False)
        if any(count(per, name)["packets"] for name in OUTCOMES)
    ]


def reports(config: Config, sent: Reported) -> str:
    """Reports that were sent, by queue and reason."""
    rows = [[queue, reason, f"{packets:,}"] for queue, reason, packets in report_rows(sent, config)]
    return table(["queue", "reason"], ["reports"], rows)


def verdicts(stats: Result, what: Literal["packets", "bytes"]) -> str:
    """Counts by queue and colour; outcomes that no packet had are left out."""
    seen = counters(stats)
    had = [name for name in OUTCOMES if any(count(per, name)[what] for _, _, per in seen)]
    rows = []
    for queue, colour, per in seen:
        numbers = [count(per, name)[what] for name in had]
        rows.append([str(queue["name"]), coloured(colour), *(f"{n:,}" if n else "" for n in numbers)])
    return table(["queue", "colour"], [OUTCOME_TEXT.get(name, name) for name in had], rows)


def losses(stats: Result) -> str:
    return table(["queue"], LOSSES, loss_rows(stats))


def quantile(classes: list, share: float) -> int:
    """The end of the class in which the quantile lies."""
    left = share * sum(packets for _, packets in classes)
    for start, packets in classes:
        left -= packets
        if left <= 0:
            return class_end(start)
    return 0


def latencies(queues: list[QueueResult]) -> str:
    rows = []
    for q in queues:
        longest = q["latency_max_ns"]
        within = [duration(min(quantile(q["latency"], share), longest)) for share in (0.5, 0.9, 0.99, 0.999)]
        held = [f"{q.get('highest_backlog_bytes', 0):,}", f"{q.get('highest_backlog_packets', 0):,}"]
        rows.append([str(q["name"]), *within, duration(longest), *held])
    right = [
        "half within",
        "90 % within",
        "99 % within",
        "99.9 % within",
        "longest",
        "highest backlog, bytes",
        "highest backlog, packets",
    ]
    return table(["queue"], right, rows)


def operating_points(config: Config, binned: dict[tuple[int, int, str], Binned]) -> str:
    names = {q.index: q.name for q in config.queue}
    rows = []
    for (queue, colour, kind), bins in sorted(binned.items()):
        for b in bins.filled():
            low, high = b.interval
            numbers = [f"{b.average:,.1f}", f"{b.decisions:,}", f"{b.hits:,}"]
            rates = [f"{100 * x:.3g} %" for x in (b.rate, low, high)]
            rows.append([names.get(queue, str(queue)), coloured(COLOURS[colour]), kind, *numbers, *rates])
    right = ["mean average", "decisions", "early, marked, forced", "rate", "from", "to (99.9 %)"]
    return table(["queue", "colour", "curve"], right, rows)


def values(config: Config) -> str:
    rows = [[x.queue, x.field, x.asked, x.real, percent(x.error)] for x in quantise.report(config)]
    return table(["queue", "field"], ["asked", "hardware", "error"], rows)


def drop_curves(config: Config) -> str:
    rows = []
    for q in config.queue:
        for colour in COLOURS:
            drop = getattr(q, colour)
            for kind, curve in (("drop", drop), ("ECN", drop.ecn)):
                if curve is None:
                    continue
                head = [q.name, coloured(colour), kind, curve.curve]
                if curve.curve == "tail":
                    rows.append(head + [""] * 5)
                    continue
                low, high, end = quantise.thresholds(curve, q)
                p = exact(curve.p or 0)
                rate = float(quantise.effective(q.spacing, p))
                rows.append(head + [f"{low:,}", f"{high:,}", f"{end:,}", f"{curve.p:g}", f"{rate:.4g}"])
    right = ["min", "max", "end", "p at max", "early rate at that p"]
    return table(["queue", "colour", "for", "curve"], right, rows)


def queues(config: Config) -> str:
    rows = []
    for q in config.queue:
        codes = [f"{units.dscp_name(c)} {colour}" for colour in COLOURS for c in getattr(q.dscp, colour)]
        codes += ["all others"] if q.default else []
        quantum = q.quantum.value if q.quantum else DEFAULT_QUANTUM
        service = f"strict, priority {q.priority}" if q.priority is not None else f"round robin, {quantum:,} B"
        average = f"{q.average.kind}, weight {q.average.weight:g}, {q.average.unit}s"
        rate = units.rate_text(q.rate) if q.rate else "not shaped"
        ecn = "yes" if q.ecn else "no"
        rows.append(
            [
                str(q.index),
                q.name,
                ", ".join(codes),
                remarks(q) or "no",
                average,
                q.spacing,
                ecn,
                service,
                limits(q),
                rate,
            ]
        )
    left = ["number", "name", "DSCPs", "remarked", "average", "spacing", "ECN", "service", "limit", "rate"]
    return table(left, [], rows)


def as_asked(config: Config) -> str:
    """Every field of the file, defaults filled in."""
    every = config.model_dump(exclude_none=True)
    for m, fields in zip(config.marker, every["marker"], strict=False):
        fields |= {name: m.given(name) for name in FIELDS[m.kind][1] if name != "length" or not m.packet_bytes}
    text = json.dumps(every, indent=1, default=str)
    return f"<pre>{escape(text)}</pre>"


def as_held(record: Record) -> str:
    """The record of docs/hardware-configuration.md, a queue a line."""
    held = {key: value for key, value in record.items() if key != "queues"}
    lines = [json.dumps(held)] + [json.dumps(queue) for queue in record["queues"]]
    return f"<pre>{escape(chr(10).join(lines))}</pre>"
