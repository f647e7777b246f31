"""Records of the description of a queue's profile (`description.py` reads it), for the generators.

A `Setting` is what an operator sets: a field of the configuration file and a member of a C struct. A `Word` is a register of the image.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from vermilion.toolchain import build
from vermilion.values.fields import COLOURS, UserError
from vermilion.values.marker_kind import MarkerKind

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
    has_default: bool = False  # the description gives one
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
class Group:
    """A group of registers within another, `count` times."""

    group: str
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
    image: dict[str, tuple[Word | Group, ...]] = field(default_factory=dict)


def refuse(where: str, what: str):
    raise UserError(f"{SOURCE.name}: {where} {what}")


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
