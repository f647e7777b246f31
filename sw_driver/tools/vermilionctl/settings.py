"""A queue's settings by the names of the members of `struct vm_queue` (sw_driver/lib/vm_profile.h), as records hold them.

    weight=0.002   average_kind=rio-c   curve.yellow.drops.min=30KB   marker.rate=2Mbit   remark.green=AF11

Names and order come from the header; what a text must be follows from the member's unit. Which values are legal says the library.
A curve's thresholds are in the unit of the queue's averages: packets (`60p`) where `unit_packets` is 1.
"""

import ctypes
import re
from fractions import Fraction

from vermilion.hardware.driver_library import C, fault_of, library, number
from vermilion.profile.settings import AVERAGES, CURVES, FLOW_KINDS, KINDS, SPACINGS
from vermilion.values import units

from .errors import UserError

COLOURS = ("green", "yellow", "red")
WORDS = {
    "average_kind": AVERAGES,
    "spacing": SPACINGS,
    "kind": CURVES,
    "marker.kind": {"none": C.VM_NO_MARKER, **KINDS, "flow": C.VM_FLOW},
    "marker.flow_kind": FLOW_KINDS,
    "marker.out_colour": {"green": 0, "yellow": 1, "red": 2},
}
FLAGS = ("unit_packets", "update_depart", "ecn", "strict", "nearest", "by_colour", "remove_ttl_option")
FLAGS += ("distance_option", "distance_infer", "distance_share")
FLAGS += ("marker.colour_aware", "marker.ip_length", "marker.by_factor", "marker.ack_green")
RATES = ("rate", "marker.rate", "marker.cir", "marker.pir")
DEPTHS = tuple("marker." + name for name in ("burst", "cbs", "ebs", "pbs", "bucket", "low", "high"))
LONGEST = 100  # characters of any value
NOTHING = Fraction(1, 2**64)
SWITCH = {"true": 1, "on": 1, "yes": 1, "1": 1, "false": 0, "off": 0, "no": 0, "0": 0}


def paths():
    """Every name with the way to it: (name, struct members and indices)."""
    for member, _ in C.Queue._fields_:
        if member == "curve":
            for c, colour in enumerate(COLOURS):
                for which, what in ((C.VM_DROPS, "drops"), (C.VM_MARKS, "marks")):
                    for field, _ in C.Curve._fields_:
                        yield f"curve.{colour}.{what}.{field}", ("curve", c, which, field)
        elif member == "remark":
            for c, colour in enumerate(COLOURS):
                yield f"remark.{colour}", ("remark", c)
        elif member == "marker":
            for field, _ in C.Marker._fields_:
                yield f"marker.{field}", ("marker", field)
        elif member != "remark_dscp":
            yield member, (member,)


PATHS = dict(paths())


def of_curve(name: str) -> str | None:
    """The curve's field that a name means."""
    return name.rsplit(".", 1)[1] if name.startswith("curve.") else None


def holder(queue, path):
    """What holds the last member of a path."""
    for step in path[:-1]:
        queue = queue[step] if isinstance(step, int) else getattr(queue, step)
    return queue


def words_of(name: str) -> dict | None:
    return WORDS.get(of_curve(name) or name)


def decimal(x) -> str:
    """A `vm_number` without loss: a decimal where it is one. What every register holds as 0 is 0: its digits would be too many to read."""
    exact = Fraction(x.num, (x.den or 1) * 10**x.tens)
    if exact < NOTHING:
        return "0"
    places = 0
    while (exact * 10**places).denominator != 1 and places < 40:
        places += 1
    if (exact * 10**places).denominator != 1:
        return f"{exact.numerator}/{exact.denominator}"
    digits = str(int(exact * 10**places)).rjust(places + 1, "0")
    return digits[: len(digits) - places] + ("." + digits[len(digits) - places :] if places else "")


def colours(mask: int) -> str:
    return ",".join(colour for c, colour in enumerate(COLOURS) if mask >> c & 1) or "none"


def text(queue, name: str) -> str:
    """A member as set() takes it."""
    path = PATHS[name]
    if path[0] == "remark":
        return units.dscp_name(queue.remark_dscp[path[1]]) if queue.remark >> path[1] & 1 else "keep"
    value = getattr(holder(queue, path), path[-1])
    if isinstance(value, C.Number):
        return decimal(value)
    if words_of(name):
        return next((word for word, held in words_of(name).items() if held == value), str(value))
    if name == "marker.drop_colours":
        return colours(value)
    return str(int(value))


def as_dict(queue) -> dict[str, str]:
    return {name: text(queue, name) for name in PATHS}


def exact(raw: str):
    found = re.fullmatch(r"\d{1,40}(\.\d{1,40})?|\d{1,40}/0*[1-9]\d{0,39}", raw, re.ASCII)
    if not found:
        raise ValueError("legal are numbers such as 0.002 and 1/512")
    return number(Fraction(raw))


def short(raw: str) -> str:
    """ValueError before a number has so many digits that Python will not read it."""
    if len(raw) > LONGEST:
        raise ValueError(f"legal are values of up to {LONGEST} characters")
    return raw


def dscp(raw: str) -> int:
    number_ = units.bare(raw)
    return units.dscp(raw if number_ is None else number_, "is")


def length(raw: str, name: str, packets: bool) -> int:
    value = units.amount(raw)
    wanted = "packet" if packets else "byte"
    if value.unit not in (None, wanted):
        raise ValueError(f"legal are {wanted}s here" + ("" if of_curve(name) is None else ", as average.unit says"))
    return value.value


def value_of(queue, name: str, raw: str):
    """The member's value of a text; ValueError with what would be legal."""
    field = of_curve(name) or name
    if isinstance(getattr(holder(queue, PATHS[name]), PATHS[name][-1]), C.Number):
        return exact(raw)
    if words_of(name):
        if raw in words_of(name):
            return words_of(name)[raw]
        raise ValueError(f"legal are {', '.join(words_of(name))}")
    if name in FLAGS:
        if raw.lower() in SWITCH:
            return SWITCH[raw.lower()]
        raise ValueError("legal are 1 and 0, on and off")
    if name == "marker.drop_colours":
        chosen = [] if raw == "none" else raw.split(",")
        if not set(chosen) <= set(COLOURS):
            raise ValueError("legal are colours with commas between them, or none")
        return sum(1 << COLOURS.index(colour) for colour in set(chosen))
    if name in RATES:
        return units.rate(raw)
    if name.endswith("_ns"):
        bare = units.bare(raw)
        return units.duration(raw) if bare is None else bare
    if field in ("min", "max", "end"):
        return length(raw, name, bool(queue.unit_packets))
    if name == "limit_packets":
        return length(raw, name, True)
    if name.endswith("_bytes") or name in DEPTHS:
        return length(raw, name, False)
    bare = units.bare(raw)
    if bare is None:
        raise ValueError(f"legal are whole numbers of up to {units.WHOLE_DIGITS} digits")
    return bare


def assign(queue, name: str, raw: str, called: str | None = None):
    """Sets one member from a text; UserError with field, as it was called, value and what is legal."""
    path, called = PATHS[name], called or name
    try:
        short(raw)
        if path[0] == "remark":
            code = None if raw == "keep" else dscp(raw)
            queue.remark = queue.remark & ~(1 << path[1]) | (code is not None) << path[1]
            queue.remark_dscp[path[1]] = code or 0
            return
        value = value_of(queue, name, raw)
    except ValueError as error:
        reason = str(error)
        legal = reason[reason.index("legal") :] if "legal" in reason else reason
        raise UserError(f"{called} is {raw}; {legal}") from None
    at = holder(queue, path)
    if isinstance(value, int):
        most = 2 ** (8 * ctypes.sizeof(dict(type(at)._fields_)[path[-1]])) - 1
        if value > most:
            raise UserError(f"{called} is {raw}; legal is 0 to {most}")
    setattr(at, path[-1], value)


def defaults():
    """A queue as the library has it before anybody sets something."""
    made = C.Queue()
    library().vm_queue_defaults(ctypes.byref(made))
    return made


def from_dict(fields: dict[str, str]):
    """What as_dict() gave; fields that it lacks are the library's defaults. A unit comes before what is counted in it."""
    made = defaults()
    for name in sorted(fields, key=lambda name: name != "unit_packets"):
        assign(made, name, fields[name])
    return made


def words(queue, port, name: str):
    """The register words, or UserError with the library's refusal."""
    fault = fault_of(queue, port)
    if fault:
        raise UserError(f"queue {name}: {fault}")
    made = C.QueueWords()
    library().vm_queue_convert(ctypes.byref(queue), ctypes.byref(port), ctypes.byref(made))
    return made
