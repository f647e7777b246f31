"""From a `[[marker]]` table to the register values of `VmMarker` (sim/model/config.h), by the driver's library (`sw_driver/lib/vm_marker.c`).

Depths and thresholds are held as the time in which the bucket's rate fills them, in whole ns, rounded up, with the cost of a byte as the hardware
has it. srTCM's second bucket is the sum of both depths, each rounded up by itself. REDP's spans follow from the thresholds as held.
"""

import ctypes

from vermilion.configuration.markers import DEPTHS, Marker
from vermilion.hardware.driver_library import C, library, number, pair
from vermilion.hardware.formats import depth_ns, exact

from .settings import marker_settings


def depths_ns(m: Marker) -> dict[str, int]:
    """Every depth and threshold that the marker has, by its field."""
    given = [name for name in DEPTHS if getattr(m, name) is not None]
    return {name: depth_ns(m.in_bytes(getattr(m, name)), m.rate_of(name)) for name in given}


def spans(m: Marker) -> dict[str, tuple[int, tuple[int, int]]]:
    """REDP's regions by the field of their MAX: width in ns as held, and the span (m, s) as held: a draw of r = 1, 2^16, gives
    ((2^16 m) 2^26) >> s in 2^-16 ns."""
    ns = depths_ns(m)
    widths = {"max_demote": ns["low"], "max_promote": ns["bucket"] - ns["high"]}
    span = lambda name, width: pair(library().vm_span(width, number(exact(m.given(name)))))
    return {name: (width, span(name, width)) for name, width in widths.items()}


def buckets(m: Marker) -> list[tuple[int, int]]:
    """(rate, depth in bytes) of buckets A and B as asked; srTCM's B holds both depths."""
    depth = lambda name: m.in_bytes(getattr(m, name))
    if m.kind == "srtcm":
        return [(m.cir, depth("cbs")), (m.cir, depth("cbs") + depth("ebs"))]
    if m.kind == "trtcm":
        return [(m.pir, depth("pbs")), (m.cir, depth("cbs"))]
    return [(m.rate, depth("burst" if m.kind == "leaf" else "bucket")), (0, 0)]


def marker_dict(w) -> dict:
    """The part of the record; fields that a kind does not have are left out."""
    if w.kind == C.VM_NO_MARKER:
        return {"kind": 0}
    if w.kind == C.VM_FLOW:
        return {
            "kind": w.kind,
            "drop_colours": w.drop_colours,
            "flow": {
                "kind": w.flow_kind,
                "alpha_eighths": w.alpha_eighths,
                "initial_average": w.initial_average,
                "start_credits": w.start_credits,
                "recovery_credits": w.recovery_credits,
                "increase_by_factor": w.by_factor,
                "ack_green": w.ack_green,
                "idle_age": w.idle_age,
                "half_open_age": w.half_open_age,
            },
        }
    return {
        "kind": w.kind,
        "colour_aware": w.colour_aware,
        "ip_length": w.ip_length,
        "packet_bytes": w.packet_bytes,
        "cost": [list(pair(cost)) for cost in w.cost],
        "burst_ns": list(w.burst_ns),
        "out_colour": w.out_colour,
        "drop_colours": w.drop_colours,
        "low_ns": w.low_ns,
        "high_ns": w.high_ns,
        "demote": list(pair(w.demote)),
        "promote": list(pair(w.promote)),
        "drop": w.drop,
        "yellow_ns": w.yellow_ns,
    }


def marker_record(m: Marker | None) -> dict:
    """A marker's part of the record; kind 0 for None."""
    settings, words = marker_settings(m), C.MarkerWords()
    library().vm_marker_convert(ctypes.byref(settings), ctypes.byref(words))
    return marker_dict(words)


def flow_record(m: Marker) -> dict:
    """`VmFlowConfig` (sim/model/flow_records.h)."""
    return marker_record(m)["flow"]
