"""Reads the description of a queue's profile, `hw/regs/profile.yaml`, and refuses what is wrong in it."""

import re
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

from vermilion.values.fields import COLOURS, DEPTH_MAX, LEN_MAX, RATE_MAX, RATE_MIN, RATE_TEXT
from vermilion.values.marker_kind import Bucket

from .description_checks import check_image, check_markers, check_settings
from .records import KEEP, SOURCE, TYPES, Bits, Enum, Group, Marker, Profile, Setting, Sub, Table, Word, refuse


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
    texts = {"flag": "0 and 1", "rate": RATE_TEXT, "colours": "a mask of three colours, 0 to 7"}
    texts["power"] = "a power of two from 2^-7 (0.0078125) to 8"
    texts["dscp"] = f"0 to 63, or {KEEP} to keep the packet's"
    return texts.get(type_, f"{low}{unit} to {high}{unit}")


RANGES: dict[str, tuple[int | str, int]] = {
    "flag": (0, 1),
    "rate": (RATE_MIN, RATE_MAX),
    "length": (0, LEN_MAX),
    "depth": (0, DEPTH_MAX),
}
RANGES |= {"colours": (0, 7), "dscp": (0, KEEP), "power": ("2^-7", 8)}


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
    if enum and words not in {
        enum.entries[i:j] for i in range(len(enum.entries)) for j in range(i + 1, len(enum.entries) + 1)
    }:
        refuse(name, f"has words {', '.join(words)}; legal are consecutive ones of {', '.join(enum.entries)}")
    fixed = enum is not None or raw["type"] in RANGES
    if fixed == ("range" in raw):
        refuse(
            name, f"has {'a' if fixed else 'no'} range; type {raw['type']} {'has its own' if fixed else 'needs one'}"
        )
    if enum:
        low, high = (Fraction(enum.entries.index(word)) for word in (words[0], words[-1]))
    else:
        low, high = (fraction(each) for each in raw.get("range", RANGES.get(raw["type"], ())))
    default, word = raw.get("default", raw.get("none", KEEP if raw["type"] == "dscp" else 0)), None
    if enum:
        word = default or enum.entries[0]
        if word not in words:
            refuse(name, f"has default {word}; legal are {', '.join(words)}")
        default = enum.entries.index(word)
    value = fraction(int(default) if isinstance(default, bool) else default)
    if "default" in raw and not low <= value <= high:
        refuse(name, f"has default {raw['default']}; legal is {low} to {high}")
    return Setting(
        name=name,
        type=raw["type"],
        doc=raw["doc"],
        enum=enum,
        words=words,
        range=(low, high),
        none=raw.get("none"),
        legal=raw.get("legal") or legal_text(raw["type"], low, high, words, enum),
        default=value,
        default_word=word,
        optional=raw.get("optional", False),
        read_by=tuple(raw.get("needs", [])) + tuple(raw.get("for", [])),
        needed_by=tuple(raw.get("needs", [])),
        has_default="default" in raw,
        in_file=raw.get("file", True),
        required=raw.get("required", False),
        for_each=raw.get("for-each"),
    )


def entry(raw: dict, enums: dict[str, Enum]) -> Setting | Sub:
    if "table" in raw:
        return Sub(raw["table"], tuple(raw.get("name", ())), raw.get("beside"), raw.get("doc", ""))
    return setting(raw, enums)


BIT_KEYS = {"name", "bits", "member", "doc", "most", "top"}
REGISTER_KEYS = {"register", "at", "doc", "member", "count", "stride", "width", "factor", "shift-most", "fields"}
GROUP_KEYS = {"group", "at", "doc", "count", "stride"}


def check_keys(where: str, raw: dict, legal: set[str], needed: set[str]) -> None:
    if unknown := raw.keys() - legal:
        refuse(where, f"has {', '.join(sorted(unknown))}; legal are {', '.join(sorted(legal))}")
    if missing := needed - raw.keys():
        refuse(where, f"has no {', '.join(sorted(missing))}")


def bits(register: str, raw: dict) -> Bits:
    check_keys(f"{register}.{raw.get('name', '?')}", raw, BIT_KEYS, {"name", "bits"})
    high, _, low = str(raw["bits"]).partition(":")
    top, bottom = int(high), int(low or high)
    if not 0 <= bottom <= top < 32:
        refuse(f"{register}.{raw['name']}", f"has bits {raw['bits']}; legal is HIGH:LOW within 31:0")
    most = raw.get("most", (1 << (top - bottom + 1)) - 1)
    return Bits(raw["name"], bottom, top, raw.get("member", raw["name"]), raw.get("doc", ""), most, raw.get("top"))


def register(raw: dict) -> Word | Group:
    if "group" in raw:
        check_keys(raw["group"], raw, GROUP_KEYS, {"at", "doc"})
        return Group(raw["group"], raw["at"], raw["doc"], raw.get("count", 1), raw.get("stride", 0))
    check_keys(raw.get("register", "?"), raw, REGISTER_KEYS, {"register", "at", "doc"})
    if len(raw.keys() & {"fields", "width", "factor"}) != 1:
        refuse(raw["register"], "needs one of fields, width and factor")
    factor = raw.get("factor")
    fields = tuple(bits(raw["register"], each) for each in raw.get("fields", []))
    for number, one in enumerate(fields):
        for other in fields[:number]:
            if one.low <= other.high and other.low <= one.high:
                refuse(f"{raw['register']}.{one.name}", f"has bits that {other.name} has")
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
        bits=fields,
    )


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
    check_image(found)
    check_settings(found)
    check_markers(found)
    return found


@cache
def load() -> Profile:
    import yaml

    return read(yaml.safe_load(SOURCE.read_text()))
