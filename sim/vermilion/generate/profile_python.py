"""Python from the description of a profile: the tables of the configuration file, and all settings of a queue with their names."""

from collections.abc import Iterator
from fractions import Fraction

from .records import HEAD, Profile, Setting, Table, of_queue

TABLES = f'''# {HEAD}
"""Tables of the configuration file, field by field. What fields have to do with each other is in `config.py` and `markers.py`."""
# fmt: off

from typing import Annotated, Literal

from pydantic import BeforeValidator, StrictBool

from vermilion.values.fields import (
    Burst,
    Depth,
    Probability,
    Rate,
    Strict,
    Threshold,
    amount,
    duration,
    number,
    power_of_two,
)
from vermilion.values.marker_kind import Bucket, MarkerKind
from vermilion.values.units import Amount
'''
FIELDS = f'''# {HEAD}
"""All settings of a queue: `struct vm_queue` (sw_driver/lib/vm_profile_types.h) by the names of the configuration file."""
# fmt: off

from fractions import Fraction
from typing import NamedTuple

KEEP = 64  # of a remark: packets keep their DSCP


class Field(NamedTuple):
    """A setting: its name, the way to its member, its type (hw/regs/profile.yaml), the words of its numbers from 0 on, the number that
    stands for "not set" and the default."""

    name: str
    path: tuple[str | int, ...]
    type: str
    words: tuple[str, ...]
    none: int | None
    default: Fraction
    in_file: bool


'''


def whole(x: Fraction) -> str:
    return str(int(x)) if x.denominator == 1 else repr(float(x))


def annotation(each: Setting) -> str:
    low, high = each.range or (Fraction(0), Fraction(0))
    shown = f'"{each.legal}"'
    if each.type == "enum":
        words = [word for word in each.words if not (each.required and word == "none")]
        return f"Literal[{', '.join(repr(w).replace(chr(39), chr(34)) for w in words)}]"
    if (each.type, low, high, each.legal) == ("number", 0, 1, "0 to 1"):
        return "Probability"
    if (each.type, low, high) == ("bytes", 0, 100_000_000):
        return "Burst"
    simple = {"flag": "StrictBool", "length": "Threshold", "depth": "Depth", "rate": "Rate"}
    simple["colours"] = 'list[Literal["green", "yellow", "red"]]'
    return (
        simple.get(each.type)
        or {
            "number": f"Annotated[float, number({whole(low)}, {whole(high)}, {shown})]",
            "power": "Annotated[float, BeforeValidator(power_of_two)]",
            "count": f"Annotated[int, number({whole(low)}, {whole(high)}, {shown}, whole=True)]",
            "bytes": f'Annotated[Amount, amount({whole(low)}, {whole(high)}, "byte")]',
            "packets": f'Annotated[Amount, amount({whole(low)}, {whole(high)}, "packet")]',
            "time": f"Annotated[int, duration({whole(low)}, {whole(high)}, {shown})]",
        }[each.type]
    )


def default(each: Setting) -> str:
    """What the table holds where the file does not have the field."""
    if each.optional:
        return "None"
    return value(each)


def value(each: Setting) -> str:
    if each.enum:
        return f'"{each.default_word}"'
    if each.type == "flag":
        return str(bool(each.default))
    if each.type == "colours":
        return "[]"
    if each.type in ("bytes", "packets"):
        return f'Amount({whole(each.default)}, "{each.type.removesuffix("s")}")'
    return whole(each.default)


def table_class(table: Table) -> Iterator[str]:
    yield f"class {table.name.capitalize()}Fields(Strict):"
    yield f'    """{table.doc}"""'
    yield ""
    for each in table.settings:
        if each.for_each or not each.in_file:
            continue
        kind = annotation(each) + (" | None" if each.optional else "")
        yield f"    {each.name}: {kind}" + ("" if each.required else f" = {default(each)}") + f"  # {each.doc}"


def marker_kinds(profile: Profile) -> Iterator[str]:
    yield "MARKER_KINDS = {"
    for m in profile.markers.values():
        buckets = "".join(f"Bucket({b.rate!r}, {b.depths!r}, {b.name!r}), " for b in m.buckets).rstrip()
        shown = f"{m.title!r}, {m.source!r}, {m.length!r}, ({buckets}), {m.either!r}, {m.not_below!r}, {m.gives!r}"
        yield f'    "{m.kind}": MarkerKind({shown}),'.replace("'", '"')
    yield "}"


def marker_rules(table: Table) -> Iterator[str]:
    enum = table.settings[0].enum
    assert enum is not None
    yield "# Fields of each kind of marker: needed, and with a default."
    yield "MARKER_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {"
    for kind in enum.entries[1:]:
        needed = tuple(e.name for e in table.settings if kind in e.needed_by)
        other = tuple(
            e.name for e in table.settings if kind in e.read_by and kind not in e.needed_by and e.name != "packet"
        )
        yield f'    "{kind}": ({needed!r}, {other!r}),'.replace("'", '"')
    yield "}"
    yield "MARKER_DEFAULTS: dict[str, object] = {"
    for each in table.settings:
        if each.optional and each.read_by and not each.needed_by and each.none is None and each.name != "length":
            yield f'    "{each.name}": {value(each)},'
    yield "}"
    depths = tuple(e.name for e in table.settings if e.type == "depth")
    yield f"MARKER_DEPTHS = {depths!r}".replace("'", '"')
    rates = tuple(e.name for e in table.settings if e.type == "rate")
    yield f"MARKER_RATES = {rates!r}".replace("'", '"')


def tables(profile: Profile) -> str:
    lines = []
    for table in profile.settings.values():
        lines += ["", "", *table_class(table)]
    lines += ["", "", *marker_kinds(profile), "", *marker_rules(profile.settings["marker"])]
    return TABLES + "\n".join([*lines, ""])


def fields(profile: Profile) -> str:
    lines = ["FIELDS = ("]
    for each in of_queue(profile):
        s = each.setting
        words = s.enum.entries if s.enum else ()
        shown = f"{each.name!r}, {each.path!r}, {s.type!r}, {words!r}, {s.none!r}".replace("'", '"')
        lines.append(f"    Field({shown}, {s.default!r}, {s.in_file}),")
    return FIELDS + "\n".join([*lines, ")", "BY_NAME = {each.name: each for each in FIELDS}", ""])
