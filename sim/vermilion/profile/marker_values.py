"""What a `[[marker]]` table asks for beside what its registers hold: the lines and notes of `vermilion check` and of the report.

A depth or a threshold is held as time; it is shown as the bytes (or packets) that the rate, as held, fills in it. REDP's MAX is held as the
span of its random threshold: MAX = width of the region / span.
"""

from collections.abc import Callable
from fractions import Fraction

from vermilion.configuration.markers import BUCKETS, FIELDS, Marker
from vermilion.configuration.tables import MARKER_RATES
from vermilion.hardware.formats import (
    FLOW_AVERAGE_FRAC,
    FLOW_TICK_NS,
    MARK_DRAW,
    MARK_SPAN_SHIFT,
    Line,
    cost,
    exact,
    line,
    plain,
    rate_line,
    value,
)
from vermilion.values.units import time_text

from .marker_image import depths_ns, marker_record, spans

Text = Callable[[Fraction], str]


def marker_lines(m: Marker) -> list[Line]:
    """Every value of a marker that its registers may hold otherwise than asked."""
    if m.by_flow:
        return flow_lines(m)

    def shown(field: str, asked: Fraction | int, real: Fraction | int, text: Text = plain) -> Line:
        return line(m.queue, f"marker.{field}", Fraction(asked), Fraction(real), text)

    def unit(x: Fraction) -> str:
        return f"{float(x / (m.packet_bytes or 1)):.6g}{'p' if m.packet_bytes else 'B'}"

    lines = [
        rate_line(m.queue, f"marker.{name}", getattr(m, name)) for name in MARKER_RATES if getattr(m, name) is not None
    ]
    for name, ns in depths_ns(m).items():
        lines.append(shown(name, m.in_bytes(getattr(m, name)), ns / value(cost(m.rate_of(name))), unit))
    if m.kind != "redp":
        return lines
    for name, (width, span) in spans(m).items():
        if width:  # else there is no such region
            lines.append(shown(name, exact(m.given(name)), width / (value(span) * 2**MARK_SPAN_SHIFT)))
    record = marker_record(m)
    lines.append(shown("p_drop", exact(m.given("p_drop")), Fraction(record["p_drop"], 2**MARK_DRAW)))
    lines.append(shown("meter", m.given("meter"), record["meter"], time_text))
    return lines


def flow_lines(m: Marker) -> list[Line]:
    """A flow marker's figures, in the order of `FIELDS`; its switches stand in the table of markers."""
    held = marker_record(m)["flow"]
    real = {
        "alpha": Fraction(held["alpha"], 8),
        "a0": Fraction(held["a0"], 2**FLOW_AVERAGE_FRAC),
        "ns": Fraction(held["ns"]),
        "na": Fraction(held["na"]),
        "idle": Fraction(held["idle"] * FLOW_TICK_NS),
        "half_open": Fraction(held["half_open"] * FLOW_TICK_NS),
    }
    return [
        line(
            m.queue,
            f"marker.{name}",
            exact(m.given(name)),
            real[name],
            time_text if name in ("idle", "half_open") else plain,
        )
        for name in FIELDS[m.kind][1]
        if name in real
    ]


def marker_notes(m: Marker) -> list[str]:
    """What is legal and seldom meant, a sentence each."""
    what = "IP packet" if m.ip_length else "frame"
    return [
        f'marker of "{m.queue}": {name} {getattr(m, name)} is less than the longest {what}, {m.longest} B; '
        f"a packet longer than the bucket never fits in it, however long it waits"
        for name in BUCKETS
        if getattr(m, name) is not None and 0 < m.in_bytes(getattr(m, name)) < m.longest
    ]
