"""Names of settings before 0.1.0, which this release still understands; `set` prints a hint, and records of this host may hold them."""

from fractions import Fraction

from vermilion.hardware.profile_fields import BY_NAME

from .switch import SWITCH

_QUEUE = {
    "weight": "average.weight",
    "average_kind": "average.kind",
    "unit_packets": "average.unit",
    "update_depart": "average.update",
    "idle_packet_bytes": "average.idle_packet",
    "size_weight_bytes": "size_weight",
    "limit_bytes": "limit",
    "quantum_bytes": "quantum",
    "burst_bytes": "burst",
    "distance_option": "distance.option",
    "distance_infer": "distance.infer",
    "distance_share": "distance.share",
    "remove_ttl_option": "ttl_option",
    "nearest": "victim",
    "by_colour": "victim_by_colour",
    "window": "victim_window",
}
_MARKER = {
    "drop_colours": "drop",
    "packet_bytes": "packet",
    "ip_length": "length",
    "out_colour": "out",
    "meter_ns": "meter",
    "alpha_eighths": "alpha",
    "initial_average": "a0",
    "start_credits": "ns",
    "recovery_credits": "na",
    "by_factor": "increase",
    "ack_green": "ack",
    "idle_ns": "idle",
    "half_open_ns": "half_open",
    "flow_kind": "kind",
}
_CURVES = {
    f"curve.{colour}.{what}.{old}": f"{place}.{new}"
    for colour in ("green", "yellow", "red")
    for what, place in (("drops", colour), ("marks", f"{colour}.ecn"))
    for old, new in (("kind", "curve"), ("min", "min"), ("max", "max"), ("end", "end"), ("p", "p"))
}
NAMES = _QUEUE | {f"marker.{old}": f"marker.{new}" for old, new in _MARKER.items()} | _CURVES


def translated(name: str, raw: str, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """A setting by its name and value of now; `pairs`: all that were given with it."""
    if (name, raw) == ("marker.kind", "flow"):  # the kind itself was another field
        return [] if any(other == "marker.flow_kind" for other, _ in pairs) else [("marker.kind", "nm")]
    if name == "marker.alpha_eighths" and raw.isascii() and raw.isdecimal():
        return [("marker.alpha", str(Fraction(int(raw), 8)))]
    if name == "marker.flow_kind" and ("marker.kind", "flow") not in pairs:
        return []  # records name it for every queue
    new = NAMES.get(name, name)
    words = BY_NAME[new].words if new != name and new in BY_NAME else ()
    if len(words) == 2 and raw.lower() in SWITCH:  # the field was a flag, and is one of two words now
        raw = words[SWITCH[raw.lower()]]
    return [(new, raw)]
