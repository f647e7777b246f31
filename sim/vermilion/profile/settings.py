"""A queue of the configuration file, and its marker, as the driver's library takes them: `sw_driver/lib/vm_profile.h`."""

from vermilion.configuration.config import Curve, Queue
from vermilion.configuration.markers import DEPTHS, Marker
from vermilion.hardware.driver_library import C, number
from vermilion.hardware.formats import exact
from vermilion.values.fields import COLOURS

CURVES = {"tail": C.VM_TAIL, "red": C.VM_RED, "gentle": C.VM_GENTLE, "exred": C.VM_EXRED}
AVERAGES = {
    "red": C.VM_AVERAGE_RED,
    "wred": C.VM_AVERAGE_WRED,
    "rio-c": C.VM_AVERAGE_RIO_C,
    "rio-2": C.VM_AVERAGE_RIO_2,
    "rio-dc": C.VM_AVERAGE_RIO_DC,
}
SPACINGS = {"geometric": C.VM_GEOMETRIC, "uniform": C.VM_UNIFORM, "wait": C.VM_WAIT}
KINDS = {"leaf": C.VM_LEAF, "srtcm": C.VM_SRTCM, "trtcm": C.VM_TRTCM, "redp": C.VM_REDP}
FLOW_KINDS = {
    "nm": C.VM_FLOW_NONE,
    "3cpm": C.VM_FLOW_THREE_COLOUR,
    "wpm": C.VM_FLOW_WEB,
    "apm": C.VM_FLOW_ADAPTIVE,
}
DEFAULT_QUANTUM, DEFAULT_BURST = 1522, 3044  # vm_queue_defaults()


def curve_settings(curve: Curve | None):
    """`struct vm_curve`; None is tail drop."""
    if curve is None or curve.curve == "tail":
        return C.Curve()
    end = curve.end.value if curve.end else 0
    return C.Curve(CURVES[curve.curve], curve.min.value, curve.max.value, end, number(exact(curve.p)))


def marker_settings(m: Marker | None):
    """`struct vm_marker`, with defaults filled in; depths and thresholds in bytes."""
    out = C.Marker()
    if m is None:
        return out
    out.drop_colours = m.dropped
    if m.by_flow:
        out.kind, out.flow_kind = C.VM_FLOW, FLOW_KINDS[m.kind]
        out.alpha_eighths = int(8 * m.given("alpha"))
        out.initial_average = number(exact(m.given("a0")))
        out.start_credits, out.recovery_credits = m.given("ns"), m.given("na")
        out.by_factor, out.ack_green = m.given("increase") == "factor", m.given("ack") == "green"
        out.idle_ns, out.half_open_ns = m.given("idle"), m.given("half_open")
        return out
    out.kind = KINDS[m.kind]
    out.colour_aware, out.ip_length, out.packet_bytes = m.given("colour_aware"), m.ip_length, m.packet_bytes
    out.rate, out.cir, out.pir = m.rate or 0, m.cir or 0, m.pir or 0
    for name in DEPTHS:
        setattr(out, name, m.in_bytes(getattr(m, name)) if getattr(m, name) is not None else 0)
    out.out_colour = COLOURS.index(m.given("out"))
    for name in ("max_demote", "max_promote", "p_drop"):
        setattr(out, name, number(exact(m.given(name))))
    out.meter_ns = m.given("meter")
    return out


def queue_settings(queue: Queue, marker: Marker | None):
    """`struct vm_queue`, with its marker."""
    average, amount = queue.average, lambda asked, default=0: asked.value if asked else default
    out = C.Queue(
        weight=number(exact(average.weight)),
        average_kind=AVERAGES[average.kind],
        unit_packets=average.unit == "packet",
        update_depart=average.update == "both",
        idle_packet_bytes=average.idle_packet.value,
        spacing=SPACINGS[queue.spacing],
        size_weight_bytes=amount(queue.size_weight),
        ecn=queue.ecn,
        limit_bytes=amount(queue.limit),
        limit_packets=amount(queue.limit_packets),
        alpha=number(exact(queue.alpha or 0)),
        strict=queue.priority is not None,
        priority=queue.priority or 0,
        quantum_bytes=amount(queue.quantum, DEFAULT_QUANTUM),
        rate=queue.rate or 0,
        burst_bytes=amount(queue.burst, DEFAULT_BURST),
        distance_option=queue.distance.option,
        distance_infer=queue.distance.infer,
        distance_share=queue.distance.share,
        remove_ttl_option=queue.ttl_option == "remove",
        nearest=queue.victim == "nearest",
        by_colour=queue.victim_by_colour,
        window=queue.victim_window or 0,
        marker=marker_settings(marker),
    )
    for number_, colour in enumerate(COLOURS):
        drop, code = getattr(queue, colour), getattr(queue.remark, colour)
        out.curve[number_][C.VM_DROPS] = curve_settings(drop)
        out.curve[number_][C.VM_MARKS] = curve_settings(drop.ecn)
        if code is not None:
            out.remark |= 1 << number_
            out.remark_dscp[number_] = code
    return out
