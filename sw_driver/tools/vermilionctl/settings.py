"""A queue's settings by the names and words of the configuration file (docs/profile.md), as `set` takes them, `show` prints them and records hold them.

    average.weight=0.02   limit=50KB   green.p=0.5   yellow.ecn.min=30KB   marker.rate=2Mbit   remark.green=AF11

Names, members and words are generated (`profile_fields.py`); what a text must be follows from the field's type. Which values are legal says the
library. Thresholds are in the unit of the queue's averages: packets (`60p`) where `average.unit` is packet.
"""

import ctypes
import difflib
import re
from fractions import Fraction
from typing import Any

from vermilion.hardware.driver_library import C, fault_of, library, number
from vermilion.hardware.profile_fields import BY_NAME, FIELDS, KEEP, Field
from vermilion.profile.settings import get, put
from vermilion.values import units

from . import old_names
from .errors import UserError
from .switch import SWITCH

COLOURS = ("green", "yellow", "red")
LONGEST = 100  # characters of any value
NOTHING = Fraction(1, 2**64)
NAMES = [field.name for field in FIELDS if field.in_file]


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
    """A field as `assign` takes it."""
    field = BY_NAME[name]
    value = get(queue, field)
    if field.type in ("number", "power"):
        return decimal(value)
    if field.type == "dscp":
        return units.dscp_name(value) if value < KEEP else "keep"
    if field.type == "colours":
        return colours(value)
    if field.type == "flag":
        return "true" if value else "false"
    return field.words[value] if value < len(field.words) else str(value)


def as_dict(queue) -> dict[str, str]:
    return {field.name: text(queue, field.name) for field in FIELDS}


def shown(queue) -> dict[str, str]:
    """The fields of the file: a queue is strict and has a priority, or it shares and has a quantum; the other one is none."""
    left_out = "quantum" if queue.strict else "priority"
    return {name: "none" if name == left_out else text(queue, name) for name in NAMES}


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


def length(raw: str, packets: bool, reason: str = "") -> int:
    value = units.amount(raw)
    wanted = "packet" if packets else "byte"
    if value.unit not in (None, wanted):
        raise ValueError(f"legal are {wanted}s here{reason}")
    return value.value


def word_of(field: Field, raw: str) -> int:
    if raw in field.words:
        return field.words.index(raw)
    raise ValueError(f"legal are {', '.join(field.words)}")


def colours_of(raw: str) -> int:
    chosen = [] if raw == "none" else raw.split(",")
    if not set(chosen) <= set(COLOURS):
        raise ValueError("legal are colours with commas between them, or none")
    return sum(1 << COLOURS.index(colour) for colour in set(chosen))


def flag_of(raw: str) -> int:
    if raw.lower() in SWITCH:
        return SWITCH[raw.lower()]
    raise ValueError("legal are true and false, 1 and 0, on and off")


def time_of(raw: str) -> int:
    bare = units.bare(raw)
    return units.duration(raw) if bare is None else bare


def count_of(raw: str) -> int:
    bare = units.bare(raw)
    if bare is None:
        raise ValueError(f"legal are whole numbers of up to {units.WHOLE_DIGITS} digits")
    return bare


def alpha_of(raw: str) -> Any:
    """Checked whatever the marker's kind, as the register has whole eighths."""
    made = exact(raw)
    eighths = Fraction(8 * made.num, (made.den or 1) * 10**made.tens)
    if eighths.denominator != 1 or not 1 <= eighths <= 8:
        raise ValueError("legal is 0.125 to 1 in steps of 0.125")
    return made


READERS = {
    "number": exact,
    "power": exact,
    "colours": colours_of,
    "flag": flag_of,
    "rate": units.rate,
    "time": time_of,
    "count": count_of,
    "packets": lambda raw: length(raw, True),
    "bytes": lambda raw: length(raw, False),
    "depth": lambda raw: length(raw, False),
    "dscp": lambda raw: KEEP if raw == "keep" else dscp(raw),
}


def value_of(queue, field: Field, raw: str):
    """The member's value of a text; ValueError with what would be legal."""
    if field.name == "marker.alpha":
        return alpha_of(raw)
    if field.words:
        return word_of(field, raw)
    if field.type == "length":
        return length(raw, queue.average.unit == C.VM_UNIT_PACKET, ", as average.unit says")
    return READERS[field.type](raw)


def assign(queue, name: str, raw: str, called: str | None = None):
    """Sets one field from a text; UserError with the field, as it was called, value and what is legal."""
    field, called = BY_NAME[name], called or name
    try:
        value = value_of(queue, field, short(raw))
    except ValueError as error:
        reason = str(error)
        legal = reason[reason.index("legal") :] if "legal" in reason else reason
        raise UserError(f"{called} is {raw}; {legal}") from None
    most = 2 ** (64 if field.type in ("rate", "time") else 32) - 1
    if isinstance(value, int) and value > most:
        raise UserError(f"{called} is {raw}; legal is 0 to {most}")
    put(queue, field, value)


def of_file(name: str, raw: str) -> list[tuple[str, str]]:
    """The fields that one of the file sets: a strict queue has a priority, a queue that shares has a quantum."""
    if name == "priority":
        return [("strict", "false")] if raw == "none" else [("strict", "true"), ("priority", raw)]
    return [("strict", "false"), ("quantum", raw)] if name == "quantum" else [(name, raw)]


def refuse_name(name: str):
    near = difflib.get_close_matches(name, [*NAMES, *old_names.NAMES], 3, 0.6)
    near = list(dict.fromkeys(old_names.NAMES.get(each, each) for each in near))
    hint = f"did you mean {' or '.join(near)}?" if near else "all names: vermilionctl show QUEUE"
    raise UserError(f"{name} is no field of a queue; {hint}")


def change(queue, pairs: list[tuple[str, str]]):
    """Sets fields of a queue by the file's names, or by those of before; UserError with field, value and what is legal."""
    found = []
    for name, raw in pairs:
        if name not in BY_NAME and name not in old_names.NAMES:
            refuse_name(name)
        for new, value in old_names.translated(name, short_or_refused(name, raw), pairs):
            found += [(member, each, name) for member, each in of_file(new, value)]
    for name, raw, called in sorted(found, key=lambda each: each[0] != "average.unit"):  # thresholds are in its unit
        assign(queue, name, raw, called)


def short_or_refused(name: str, raw: str) -> str:
    try:
        return short(raw)
    except ValueError as error:
        raise UserError(f"{name} is {raw}; {error}") from None


def hints(pairs: list[tuple[str, str]]) -> list[str]:
    """A sentence for each name that is not the file's."""
    new = {name: old_names.NAMES.get(name) for name, _ in pairs} | {"strict": "priority or quantum"}
    return [f"{name} is called {new[name]} in the configuration file" for name, _ in pairs if new[name]]


def defaults():
    """A queue as the library has it before anybody sets something."""
    made = C.Queue()
    library().vm_queue_defaults(ctypes.byref(made))
    return made


def from_dict(fields: dict[str, str]):
    """What as_dict() gave, also with names of before; fields that it lacks are the library's defaults. A unit comes before what is counted in it."""
    made, pairs = defaults(), list(fields.items())
    current = [pair for name, raw in pairs for pair in old_names.translated(name, raw, pairs)]
    for name, raw in sorted(current, key=lambda each: each[0] != "average.unit"):
        assign(made, name, raw)
    return made


def image(queue, port, name: str):
    """The register image, or UserError with the library's refusal."""
    fault = fault_of(queue, port)
    if fault:
        raise UserError(f"queue {name}: {fault}")
    made = C.QueueImage()
    library().vm_queue_convert(ctypes.byref(queue), ctypes.byref(port), ctypes.byref(made))
    return made
