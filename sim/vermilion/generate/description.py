"""The description of a queue's profile, `hw/regs/profile.yaml`, as records for the generators.

A `Setting` is what an operator sets: a field of the configuration file and a member of a C struct. A `Value` is what registers hold.
"""

import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from vermilion.toolchain import build
from vermilion.values.fields import COLOURS, LEN_MAX, RATE_MAX, RATE_MIN, UserError
from vermilion.values.marker_kind import Bucket, MarkerKind

SOURCE: Path = build.ROOT / "hw" / "regs" / "profile.yaml"
HEAD = "Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit."
SPDX = "SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0"
KEEP = 64  # of a `dscp`: packets keep theirs
TYPES: tuple[str, ...] = ("flag", "enum", "number", "count", "bytes", "packets", "length", "depth", "rate", "time")
TYPES += ("dscp", "colours", "power")
LONG = ("rate", "time")  # u64 in C; the others are u32, numbers struct vm_number
EXACT = ("number", "power")


@dataclass(frozen=True)
class Enum:
    name: str
    prefix: str
    entries: tuple[str, ...]

    def constant(self, entry: str) -> str:
        return f"{self.prefix}_{entry}".replace("-", "_").upper()


@dataclass(frozen=True)
class Setting:
    """A field: `type` as profile.yaml explains, `range` inclusive, `none` a number outside of it that is legal, too."""

    name: str
    type: str
    doc: str
    enum: Enum | None = None
    words: tuple[str, ...] = ()  # of its enum, those that are legal
    range: tuple[Fraction, Fraction] | None = None
    none: int | None = None
    legal: str = ""
    default: Fraction = Fraction(0)
    default_word: str | None = None
    optional: bool = False
    read_by: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()
    in_file: bool = True
    required: bool = False
    for_each: str | None = None

    @property
    def c_type(self) -> str:
        return "struct vm_number" if self.type in EXACT else "u64" if self.type in LONG else "u32"

    @property
    def netlink_type(self) -> str:
        return "nest" if self.type in EXACT else self.c_type

    def word(self, number: int) -> str:
        return self.enum.entries[number] if self.enum else str(number)


@dataclass(frozen=True)
class Sub:
    """A table within a table. `names`: it is there once for each; `beside`: the name of a second one of the same form in it."""

    table: str
    names: tuple[str, ...] = ()
    beside: str | None = None
    doc: str = ""


@dataclass(frozen=True)
class Table:
    name: str
    doc: str
    fields: tuple[Setting | Sub, ...]

    @property
    def settings(self) -> tuple[Setting, ...]:
        return tuple(each for each in self.fields if isinstance(each, Setting))


@dataclass(frozen=True)
class Bits:
    """A field of a register. `top`: it is bit 32 of the value of that name."""

    name: str
    low: int
    high: int
    member: str
    doc: str
    most: int
    top: str | None = None


@dataclass(frozen=True)
class Word:
    """A register, or `count` of them: with `bits`, or one value of `width` bits or of `factor` = (mantissa's bits, shift's bits)."""

    name: str
    at: int
    doc: str
    member: str
    count: int = 1
    stride: int = 0
    width: int = 0
    factor: tuple[int, int] | None = None
    shift_most: int = 0
    bits: tuple[Bits, ...] = ()
    top: bool = False  # bit 32 is in a field of another register

    @property
    def wide(self) -> bool:
        """In two registers, _low and _high."""
        return self.width > 32 and not self.top


@dataclass(frozen=True)
class File:
    """A group of registers within another, `count` times."""

    file: str
    at: int
    doc: str
    count: int = 1
    stride: int = 0


@dataclass(frozen=True, kw_only=True)
class Marker(MarkerKind):
    """A kind of marker with its word and its codes. `code` is in the register marker.flags; `flow`, of a marker by flow, in marker.flow."""

    kind: str
    code: int
    flow: int | None

    @property
    def depths(self) -> tuple[str, ...]:
        """The settings of its depths, each once."""
        return tuple(dict.fromkeys(depth for bucket in self.buckets for depth in bucket.depths))


@dataclass
class Profile:
    enums: dict[str, Enum] = field(default_factory=dict)
    markers: dict[str, Marker] = field(default_factory=dict)
    flow_code: int = 0
    settings: dict[str, Table] = field(default_factory=dict)
    image: dict[str, tuple[Word | File, ...]] = field(default_factory=dict)


def refuse(where: str, what: str):
    raise UserError(f"{SOURCE.name}: {where} {what}")


def fraction(raw: Any) -> Fraction:
    """0.002, 5 or 2^-15."""
    power = re.fullmatch(r"(\d+)\^(-?\d+)", str(raw))
    return Fraction(int(power[1])) ** int(power[2]) if power else Fraction(str(raw))


KEYS = {"name", "type", "enum", "words", "range", "none", "legal", "default", "optional", "for", "needs", "doc", "file"}
KEYS |= {"for-each", "required"}


def legal_text(type_: str, low: Fraction, high: Fraction, words: tuple[str, ...], enum: Enum | None) -> str:
    """What is legal, in words, where the description does not say it."""
    if enum and words != enum.entries:
        return f"{', '.join(words)} ({' and '.join(str(enum.entries.index(word)) for word in words)})"
    if enum:
        return f"{', '.join(words)} (0 to {len(words) - 1})"
    unit = {"bytes": "B", "packets": "p"}.get(type_, "")
    texts = {"flag": "0 and 1", "rate": "64kbit to 200Gbit", "colours": "a mask of three colours, 0 to 7"}
    texts["dscp"] = f"0 to 63, or {KEEP} to keep the packet's"
    return texts.get(type_, f"{low}{unit} to {high}{unit}")


RANGES = {"flag": (0, 1), "rate": (RATE_MIN, RATE_MAX), "length": (0, LEN_MAX), "depth": (0, 64 << 20)}
RANGES |= {"colours": (0, 7), "dscp": (0, KEEP)}


def setting(raw: dict, enums: dict[str, Enum]) -> Setting:
    name = raw.get("name", "?")
    if unknown := raw.keys() - KEYS:
        refuse(name, f"has {', '.join(sorted(unknown))}; legal are {', '.join(sorted(KEYS))}")
    if raw["type"] not in TYPES:
        refuse(name, f"has type {raw['type']}; legal are {', '.join(TYPES)}")
    enum = enums.get(raw["enum"]) if "enum" in raw else None
    if (raw["type"] == "enum") != (enum is not None):
        refuse(name, f"has enum {raw.get('enum')}; legal are {', '.join(enums)}, for type enum")
    words = tuple(raw.get("words", enum.entries if enum else ()))
    if enum:
        low, high = (Fraction(enum.entries.index(word)) for word in (words[0], words[-1]))
    else:
        low, high = (fraction(each) for each in raw.get("range", RANGES.get(raw["type"], ())))
    default, word = raw.get("default", raw.get("none", KEEP if raw["type"] == "dscp" else 0)), None
    if enum:
        word = default or enum.entries[0]
        default = enum.entries.index(word)
    return Setting(
        name=name,
        type=raw["type"],
        doc=raw["doc"],
        enum=enum,
        words=words,
        range=(low, high),
        none=raw.get("none"),
        legal=raw.get("legal") or legal_text(raw["type"], low, high, words, enum),
        default=fraction(int(default) if isinstance(default, bool) else default),
        default_word=word,
        optional=raw.get("optional", False),
        read_by=tuple(raw.get("needs", [])) + tuple(raw.get("for", [])),
        needed_by=tuple(raw.get("needs", [])),
        in_file=raw.get("file", True),
        required=raw.get("required", False),
        for_each=raw.get("for-each"),
    )


def entry(raw: dict, enums: dict[str, Enum]) -> Setting | Sub:
    if "table" in raw:
        return Sub(raw["table"], tuple(raw.get("name", ())), raw.get("beside"), raw.get("doc", ""))
    return setting(raw, enums)


def bits(raw: dict) -> Bits:
    high, _, low = str(raw["bits"]).partition(":")
    top, bottom = int(high), int(low or high)
    most = raw.get("most", (1 << (top - bottom + 1)) - 1)
    return Bits(raw["name"], bottom, top, raw.get("member", raw["name"]), raw.get("doc", ""), most, raw.get("top"))


def register(raw: dict) -> Word | File:
    if "file" in raw:
        return File(raw["file"], raw["at"], raw["doc"], raw.get("count", 1), raw.get("stride", 0))
    factor = raw.get("factor")
    return Word(
        name=raw["register"],
        at=raw["at"],
        doc=raw["doc"],
        member=raw.get("member", raw["register"]),
        count=raw.get("count", 1),
        stride=raw.get("stride", 0),
        width=raw.get("width", 0),
        factor=tuple(factor) if factor else None,
        shift_most=raw.get("shift-most", (1 << factor[1]) - 1 if factor else 0),
        bits=tuple(bits(each) for each in raw.get("fields", [])),
    )


def width(found: Profile, register: str, part: str) -> int:
    """How many codes a field of a marker's register has."""
    word = next(each for each in found.image["marker"] if isinstance(each, Word) and each.name == register)
    return next(each.most + 1 for each in word.bits if each.name == part)


def check_markers(found: Profile) -> None:
    """Kinds of markers fit the settings, the codes and the registers that they name."""
    kinds = found.enums["marker-kind"].entries
    if ("none", *found.markers) != kinds:
        refuse("markers", f"has {', '.join(found.markers)}; marker-kind has {', '.join(kinds)}")
    settings = {each.name: each for each in found.settings["marker"].settings}
    taken = {("code", 0): "none", ("code", found.flow_code): "flow"}
    for m in found.markers.values():
        field, code = ("code", m.code) if m.flow is None else ("flow", m.flow)
        codes = width(found, "flags" if m.flow is None else "flow", "kind")
        if not 0 <= code < codes:
            refuse(m.kind, f"has {field} {code}; legal is 0 to {codes - 1}, what its register holds")
        if (field, code) in taken:
            refuse(m.kind, f"has {field} {code}, which {taken[field, code]} has")
        taken[field, code] = m.kind
        rates = {*(bucket.rate for bucket in m.buckets), *m.not_below}
        for type_, names in (("rate", rates), ("depth", {*m.depths, *m.either})):
            legal = [name for name, each in settings.items() if each.type == type_ and m.kind in each.needed_by]
            if wrong := sorted(names - set(legal)):
                refuse(m.kind, f"has {type_} {', '.join(wrong)}; legal are those that it needs: {', '.join(legal)}")
        if wrong := sorted(set(m.gives) - set(COLOURS)):
            refuse(m.kind, f"gives {', '.join(wrong)}; legal are {', '.join(COLOURS)}")
        if (m.either or m.not_below) and not m.source:
            refuse(m.kind, "has a rule between settings and no source; name the RFC, which messages name")


MARKER_KEYS = {"title", "code", "flow", "source", "length", "a", "b", "either", "not-below", "gives"}


def marker(kind: str, raw: dict, flow_code: int) -> Marker:
    if unknown := raw.keys() - MARKER_KEYS:
        refuse(kind, f"has {', '.join(sorted(unknown))}; legal are {', '.join(sorted(MARKER_KEYS))}")
    if ("code" in raw) == ("flow" in raw) or ("flow" in raw) == ("a" in raw):
        refuse(kind, "needs code and bucket a, or flow and neither")
    if "title" not in raw:
        refuse(kind, "has no title")
    buckets = (raw[each] for each in ("a", "b") if each in raw)
    return Marker(
        kind=kind,
        title=raw["title"],
        code=raw.get("code", flow_code),
        flow=raw.get("flow"),
        source=raw.get("source", ""),
        length=raw.get("length", "frame"),
        buckets=tuple(Bucket(each["rate"], tuple(each["depths"]), each.get("name", "")) for each in buckets),
        either=tuple(raw.get("either", ())),
        not_below=tuple(raw.get("not-below", ())),
        gives=tuple(raw.get("gives", COLOURS)),
    )


def read(raw: dict) -> Profile:
    """The records of a parsed file."""
    enums = {name: Enum(name, each["c"], tuple(each["entries"])) for name, each in raw["enums"].items()}
    enums["colour"] = Enum("colour", "VM_COLOUR", COLOURS)
    code = raw["flow-code"]
    found = Profile(enums, {kind: marker(kind, each, code) for kind, each in raw["markers"].items()}, code)
    for name, table in raw["settings"].items():
        found.settings[name] = Table(name, table["doc"], tuple(entry(each, enums) for each in table["fields"]))
    for name, registers in raw["image"].items():
        made = [register(each) for each in registers]
        tops = {each.top for word in made if isinstance(word, Word) for each in word.bits if each.top}
        found.image[name] = tuple(replace(w, top=w.name in tops) if isinstance(w, Word) else w for w in made)
    check_markers(found)
    return found


@cache
def load() -> Profile:
    import yaml

    return read(yaml.safe_load(SOURCE.read_text()))


@dataclass(frozen=True)
class Named:
    """A setting of a queue with all its names. `path`: members and indices from `struct vm_queue` on."""

    name: str  # average.weight, green.ecn.min, remark.green, marker.rate
    path: tuple[str | int, ...]
    setting: Setting

    @property
    def c_member(self) -> str:
        return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)[1:]


def of_queue(profile: Profile, table: str = "queue", name: str = "", path: tuple = ()) -> list[Named]:
    """All settings of a queue, in the order of the description."""
    found: list[Named] = []
    for each in profile.settings[table].fields:
        if isinstance(each, Setting):
            if each.for_each:
                found += [Named(f"{name}{each.name}.{c}", (*path, each.name, i), each) for i, c in enumerate(COLOURS)]
            else:
                found.append(Named(name + each.name, (*path, each.name), each))
        elif each.names:
            for number, colour in enumerate(each.names):
                inner = (f"{colour}.", f"{colour}.{each.beside}.")
                for which, start in enumerate(inner):
                    found += of_queue(profile, each.table, start, (*path, each.table, number, which))
        else:
            found += of_queue(profile, each.table, f"{name}{each.table}.", (*path, each.table))
    return found
