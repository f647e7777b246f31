"""From a `[[marker]]` table to the register values of `VmMarker` (sim/model/config.h); formats as in `quantise.py`."""

from fractions import Fraction

from .fields import COLOURS
from .markers import TICK_NS, Marker

KINDS = {"leaf": 1, "srtcm": 2, "trtcm": 3, "redp": 4}
FLOW, FLOW_KINDS = 5, {"nm": 0, "3cpm": 1, "wpm": 2, "apm": 3}
BURST_MAX = 2**44 - 1
COST_MANT, DRAW_BITS, SPAN_SHIFT = 18, 16, 26


def time_ns(bytes_: int, rate: int) -> int:
    """The time in which `rate` fills so many bytes."""
    return min(round(Fraction(8 * 10**9 * bytes_, rate)), BURST_MAX)


def span(ns: Fraction) -> tuple[int, int]:
    """(m, s) of REDP's span: a draw of r = 1, 2^16, gives ((2^16 m) 2^26) >> s in 2^-16 ns."""
    from .quantise import scaled

    return scaled(Fraction(ns) / 2**SPAN_SHIFT, COST_MANT)


def buckets(m: Marker) -> list[tuple[int, int]]:
    """(rate, depth in bytes) of buckets A and B."""
    depth = lambda name: m.in_bytes(getattr(m, name))
    if m.kind == "srtcm":
        return [(m.cir, depth("cbs")), (m.cir, depth("cbs") + depth("ebs"))]
    if m.kind == "trtcm":
        return [(m.pir, depth("pbs")), (m.cir, depth("cbs"))]
    return [(m.rate, depth("burst" if m.kind == "leaf" else "bucket")), (0, 0)]


def flow_record(m: Marker) -> dict:
    """`VmFlowConfig` (sim/model/flow_records.h); the defaults are P1's, ages 60 s and 3 s."""
    from .quantise import exact, nearest

    given = lambda name, default: default if getattr(m, name) is None else getattr(m, name)
    return {
        "kind": FLOW_KINDS[m.kind],
        "alpha_eighths": int(8 * given("alpha", 0.5)),
        "initial_average": nearest(exact(given("a0", 7)) * 2**8),
        "start_credits": given("ns", 5),
        "recovery_credits": given("na", 5),
        "increase_by_factor": int(m.increase == "factor"),
        "ack_green": int(m.ack == "green"),
        "idle_age": round(given("idle", 60 * 10**9) / TICK_NS),
        "half_open_age": round(given("half_open", 3 * 10**9) / TICK_NS),
    }


def marker_record(m: Marker | None) -> dict:
    from .quantise import cost, exact, probability

    if m is None:
        return {"kind": 0}
    if m.by_flow:
        return {"kind": FLOW, "drop_colours": m.dropped, "flow": flow_record(m)}
    filled = buckets(m)
    record = {
        "kind": KINDS[m.kind],
        "colour_aware": int(bool(m.colour_aware)),
        "ip_length": int(m.ip_length and not m.packet_bytes),
        "packet_bytes": m.packet_bytes,
        "cost": [list(cost(rate or None)) for rate, _ in filled],
        "burst_ns": [time_ns(depth, rate) if rate else 0 for rate, depth in filled],
        "out_colour": COLOURS.index(m.out or "red"),
        "drop_colours": m.dropped,
        "low_ns": 0, "high_ns": 0, "demote": [0, 0], "promote": [0, 0], "drop": 0, "yellow_ns": 0,
    }  # fmt: skip
    if m.kind != "redp":
        return record
    time = lambda name: Fraction(8 * 10**9 * m.in_bytes(getattr(m, name)), m.rate)
    maximum = lambda name: exact(getattr(m, name)) if getattr(m, name) is not None else Fraction(1, 2)
    return record | {
        "low_ns": round(time("low")),
        "high_ns": round(time("high")),
        "demote": list(span(time("low") / maximum("max_demote"))),
        "promote": list(span((time("bucket") - time("high")) / maximum("max_promote"))),
        "drop": probability(exact(m.p_drop or 0)) >> (32 - DRAW_BITS),
        "yellow_ns": m.meter if m.meter is not None else 10**8,
    }
