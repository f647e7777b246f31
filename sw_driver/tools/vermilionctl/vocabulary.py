"""Fields of a queue by the names and words of the configuration file (docs/configuration.md), as `set` takes them and `show` prints them.

    average.weight=0.02   limit=50KB   green.p=0.5   yellow.ecn.min=30KB   marker.rate=2Mbit   remark.green=AF11

Records of this host and messages to the kernel have the names of `struct vm_queue` (settings.py); `set` takes those, too. A name that is
not in STRUCT is the same in both.
"""

import difflib
from fractions import Fraction

from vermilion.profile.settings import FLOW_KINDS, KINDS

from . import settings
from .errors import UserError

STRUCT = {f"average.{name}": member for name, member in (("weight", "weight"), ("kind", "average_kind"))}
STRUCT |= {
    "average.unit": "unit_packets",
    "average.update": "update_depart",
    "average.idle_packet": "idle_packet_bytes",
}
STRUCT |= {name: f"{name}_bytes" for name in ("size_weight", "limit", "quantum", "burst")}
STRUCT |= {
    "ttl_option": "remove_ttl_option",
    "victim": "nearest",
    "victim_by_colour": "by_colour",
    "victim_window": "window",
}
STRUCT |= {f"distance.{name}": f"distance_{name}" for name in ("option", "infer", "share")}
for _colour in settings.COLOURS:
    for _where, _what in ((_colour, "drops"), (f"{_colour}.ecn", "marks")):
        STRUCT |= {f"{_where}.{name}": f"curve.{_colour}.{_what}.{name}" for name in ("min", "max", "end", "p")}
        STRUCT[f"{_where}.curve"] = f"curve.{_colour}.{_what}.kind"
_MARKER = {
    "drop": "drop_colours",
    "packet": "packet_bytes",
    "length": "ip_length",
    "out": "out_colour",
    "meter": "meter_ns",
}
_MARKER |= {"alpha": "alpha_eighths", "a0": "initial_average", "ns": "start_credits", "na": "recovery_credits"}
_MARKER |= {"increase": "by_factor", "ack": "ack_green", "idle": "idle_ns", "half_open": "half_open_ns"}
STRUCT |= {f"marker.{name}": f"marker.{member}" for name, member in _MARKER.items()}
FILE = {member: name for name, member in STRUCT.items()}
HINTS = FILE | {"strict": "priority or quantum", "marker.flow_kind": "marker.kind"}
NAMES = [FILE.get(member, member) for member in settings.PATHS if member not in ("strict", "marker.flow_kind")]
# Words of the file for the numbers 0 and 1.
WORDS = {"average.unit": ("byte", "packet"), "average.update": ("arrival", "both"), "ttl_option": ("keep", "remove")}
WORDS |= {"victim": ("arriving", "nearest"), "marker.length": ("frame", "ip")}
WORDS |= {"marker.increase": ("double", "factor"), "marker.ack": ("yellow", "green")}
MARKERS = ("none", *KINDS, *FLOW_KINDS)


def members(name: str, raw: str) -> list[tuple[str, str]]:
    """The members that a field of the file sets, each with its text; ValueError with what would be legal."""
    if name in WORDS:
        if raw not in WORDS[name]:
            raise ValueError(f"legal are {' and '.join(WORDS[name])}")
        return [(STRUCT[name], str(WORDS[name].index(raw)))]
    if name == "priority":  # a strict queue has one, a queue that shares has a quantum
        return [("strict", "0")] if raw == "none" else [("strict", "1"), ("priority", raw)]
    if name == "quantum":
        return [("strict", "0"), ("quantum_bytes", raw)]
    if name == "marker.kind" and raw in FLOW_KINDS:
        return [("marker.kind", "flow"), ("marker.flow_kind", raw)]
    if name == "marker.kind" and raw not in (*MARKERS, "flow"):
        raise ValueError(f"legal are {', '.join(MARKERS)}")
    if name == "marker.alpha":
        number = settings.exact(settings.short(raw))
        eighths = Fraction(8 * number.num, (number.den or 1) * 10**number.tens)
        if eighths.denominator != 1:
            raise ValueError("legal is 0.125 to 1 in steps of 0.125")
        return [("marker.alpha_eighths", str(eighths))]
    return [(STRUCT.get(name, name), raw)]


def change(queue, pairs: list[tuple[str, str]]):
    """Sets fields of a queue; UserError with field, value and what is legal."""
    found = []
    for name, raw in pairs:
        if name not in NAMES and name not in settings.PATHS:
            near = difflib.get_close_matches(name, [*NAMES, *settings.PATHS], 3, 0.6)
            near = list(dict.fromkeys(FILE.get(each, each) for each in near))
            hint = f"did you mean {' or '.join(near)}?" if near else "all names: vermilionctl show QUEUE"
            raise UserError(f"{name} is no field of a queue; {hint}")
        try:
            found += [(member, text, name) for member, text in members(name, raw)]
        except ValueError as error:
            raise UserError(f"{name} is {raw}; {error}") from None
    for member, text, name in sorted(found, key=lambda each: each[0] != "unit_packets"):  # thresholds are in its unit
        settings.assign(queue, member, text, name)


def hints(pairs: list[tuple[str, str]]) -> list[str]:
    """A sentence for each name that is not the file's."""
    return [f"{name} is called {HINTS[name]} in the configuration file" for name, _ in pairs if name in HINTS]


def text(queue, name: str) -> str:
    """A field as `change` takes it; "none" where the file would leave it out."""
    held = settings.text(queue, STRUCT.get(name, name))
    if name in WORDS:
        return WORDS[name][int(held)]
    if name in ("priority", "quantum") and bool(queue.strict) != (name == "priority"):
        return "none"
    if name == "marker.kind" and held == "flow":
        return settings.text(queue, "marker.flow_kind")
    if name == "marker.alpha":
        return f"{int(held) / 8:g}"
    return ("false", "true")[int(held)] if STRUCT.get(name, name) in settings.FLAGS else held


def as_dict(queue) -> dict[str, str]:
    return {name: text(queue, name) for name in NAMES}
