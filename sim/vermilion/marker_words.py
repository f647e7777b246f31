"""From a `[[marker]]` table to the register values of `VmMarker` (sim/model/config.h); formats and rounding: `formats.py`.

Depths and thresholds are held as the time in which the bucket's rate fills them, in whole ns. They are worked out with the cost of a byte as
the hardware has it, and rounded up: what n packets cost is never more than a depth of n packets, so that a full bucket passes them all at
once, and nothing that was asked for becomes 0. srTCM's second bucket is the sum of both depths, each rounded up by itself, for E = T_B - T_A.
REDP's spans follow from the thresholds as held.
"""

from fractions import Fraction

from .fields import COLOURS
from .formats import COST_MANT, FLOW_AVERAGE_FRAC, FLOW_TICK_NS, MARK_DRAW, MARK_SPAN_SHIFT
from .formats import cost, depth_ns, exact, nearest, probability, scaled
from .markers import DEPTHS, Marker

KINDS = {"leaf": 1, "srtcm": 2, "trtcm": 3, "redp": 4}
FLOW, FLOW_KINDS = 5, {"nm": 0, "3cpm": 1, "wpm": 2, "apm": 3}


def depths_ns(m: Marker) -> dict[str, int]:
    """Every depth and threshold that the marker has, by its field."""
    given = [name for name in DEPTHS if getattr(m, name) is not None]
    return {name: depth_ns(m.in_bytes(getattr(m, name)), m.rate_of(name)) for name in given}


def span(ns: Fraction) -> tuple[int, int]:
    """(m, s) of REDP's span: a draw of r = 1, 2^16, gives ((2^16 m) 2^26) >> s in 2^-16 ns."""
    return scaled(Fraction(ns) / 2**MARK_SPAN_SHIFT, COST_MANT)


def spans(m: Marker) -> dict[str, tuple[int, Fraction]]:
    """REDP's regions by the field of their MAX: width in ns as held, and the span asked for, width / MAX."""
    ns = depths_ns(m)
    widths = {"max_demote": ns["low"], "max_promote": ns["bucket"] - ns["high"]}
    return {name: (width, width / exact(m.given(name))) for name, width in widths.items()}


def buckets(m: Marker) -> list[tuple[int, int]]:
    """(rate, depth in bytes) of buckets A and B as asked; srTCM's B holds both depths."""
    depth = lambda name: m.in_bytes(getattr(m, name))
    if m.kind == "srtcm":
        return [(m.cir, depth("cbs")), (m.cir, depth("cbs") + depth("ebs"))]
    if m.kind == "trtcm":
        return [(m.pir, depth("pbs")), (m.cir, depth("cbs"))]
    return [(m.rate, depth("burst" if m.kind == "leaf" else "bucket")), (0, 0)]


def bursts_ns(m: Marker) -> list[int]:
    """Depths of buckets A and B as held."""
    ns = depths_ns(m)
    if m.kind == "srtcm":
        return [ns["cbs"], ns["cbs"] + ns["ebs"]]
    if m.kind == "trtcm":
        return [ns["pbs"], ns["cbs"]]
    return [ns["burst" if m.kind == "leaf" else "bucket"], 0]


def flow_record(m: Marker) -> dict:
    """`VmFlowConfig` (sim/model/flow_records.h)."""
    return {
        "kind": FLOW_KINDS[m.kind],
        "alpha_eighths": int(8 * m.given("alpha")),
        "initial_average": nearest(exact(m.given("a0")) * 2**FLOW_AVERAGE_FRAC),
        "start_credits": m.given("ns"),
        "recovery_credits": m.given("na"),
        "increase_by_factor": int(m.given("increase") == "factor"),
        "ack_green": int(m.given("ack") == "green"),
        "idle_age": nearest(Fraction(m.given("idle"), FLOW_TICK_NS)),
        "half_open_age": nearest(Fraction(m.given("half_open"), FLOW_TICK_NS)),
    }


def marker_record(m: Marker | None) -> dict:
    if m is None:
        return {"kind": 0}
    if m.by_flow:
        return {"kind": FLOW, "drop_colours": m.dropped, "flow": flow_record(m)}
    record = {
        "kind": KINDS[m.kind],
        "colour_aware": int(m.given("colour_aware")),
        "ip_length": int(m.ip_length and not m.packet_bytes),
        "packet_bytes": m.packet_bytes,
        "cost": [list(cost(rate or None)) for rate, _ in buckets(m)],
        "burst_ns": bursts_ns(m),
        "out_colour": COLOURS.index(m.given("out")),
        "drop_colours": m.dropped,
        "low_ns": 0, "high_ns": 0, "demote": [0, 0], "promote": [0, 0], "drop": 0, "yellow_ns": 0,
    }  # fmt: skip
    if m.kind != "redp":
        return record
    ns = depths_ns(m)
    return record | {
        "low_ns": ns["low"],
        "high_ns": ns["high"],
        "demote": list(span(spans(m)["max_demote"][1])),
        "promote": list(span(spans(m)["max_promote"][1])),
        "drop": probability(exact(m.given("p_drop")), MARK_DRAW),
        "yellow_ns": m.given("meter"),
    }
