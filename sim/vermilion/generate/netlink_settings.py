"""The settings of a queue as parts of the netlink family's description, from `hw/regs/profile.yaml`."""

from collections.abc import Iterator

from vermilion.values.fields import COLOURS

from .description import load
from .records import EXACT, Profile, Setting, Sub


def dashed(name: str) -> str:
    return name.replace("_", "-").replace(".", "-")


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def text(each: Setting) -> str:
    """What an attribute is, and what is legal."""
    unit = {"rate": "bits/s", "time": "ns", "depth": "bytes", "bytes": "bytes", "packets": "packets"}.get(each.type, "")
    legal = "" if each.enum or each.type in ("flag", "length", "depth") else each.legal
    unset = f"{each.none} is not set" if each.none is not None else ""
    beside = "; ".join(part for part in (unit, f"legal is {legal}" if legal else "", unset) if part)
    return each.doc.rstrip(".") + (f" ({beside})." if beside else ".")


def attribute(name: str, each: Setting) -> str:
    kind = "nest, nested-attributes: number" if each.type in EXACT else each.c_type
    enum = f", enum: {each.enum.name}" if each.enum else ""
    return f"      - {{ name: {dashed(name)}, type: {kind}{enum}, doc: {quoted(text(each))} }}"


def nest(name: str, of: str, doc: str) -> str:
    return f"      - {{ name: {name}, type: nest, nested-attributes: {of}, doc: {quoted(doc)} }}"


def attributes(profile: Profile, table: str, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Name and line of every attribute of a table."""
    for each in profile.settings[table].fields:
        if isinstance(each, Sub) and each.names:
            yield from ((colour, nest(colour, "colour", each.doc)) for colour in each.names)
        elif isinstance(each, Sub) and each.table == "marker":
            yield "marker", nest("marker", "marker", profile.settings["marker"].doc)
        elif isinstance(each, Sub):
            yield from attributes(profile, each.table, f"{each.table}.")
        elif each.for_each:
            names = (f"{each.name}.{colour}" for colour in COLOURS)
            yield from ((dashed(name), attribute(name, each)) for name in names)
        else:
            name = prefix + each.name
            yield dashed(name), attribute(name, each)


def enums(profile: Profile) -> Iterator[str]:
    used = {s.enum.name: s.enum for table in profile.settings.values() for s in table.settings if s.enum}
    for enum in used.values():
        if enum.name != "colour":  # family.yaml has it, for classes
            yield f"  - type: enum\n    name: {enum.name}\n    entries: [ {', '.join(map(quoted_word, enum.entries))} ]"


def quoted_word(word: str) -> str:
    """YAML takes some bare words for numbers."""
    return quoted(word) if word[0].isdigit() else word


def sets(profile: Profile) -> Iterator[str]:
    curve = [line for _, line in attributes(profile, "curve")]
    yield "  - name: colour\n    attr-max-name: vermilion-a-colour-last\n    doc: A colour's curve of drops, and that of marks of ECN-capable packets.\n    attributes:"
    yield from curve
    yield nest("ecn", "curve", "The curve of marks; curve tail, none of its own. Needs ecn 1.")
    yield "  - name: curve\n    attr-max-name: vermilion-a-curve-last\n    attributes:"
    yield from curve
    yield "  - name: marker\n    attributes:\n      - { name: pad, type: pad }"
    yield from (line for _, line in attributes(profile, "marker"))


def queue(profile: Profile, later: bool) -> Iterator[str]:
    """The lines of a queue's settings up to `marker`, or those that came later: their numbers follow those of `registers` and `owner`."""
    lines = list(attributes(profile, "queue"))
    first = 1 + next(i for i, (name, _) in enumerate(lines) if name == "marker")
    yield from (line for _, line in (lines[first:] if later else lines[:first]))


def part(name: str) -> str:
    """The text in place of the line "# settings: NAME" of family.yaml."""
    profile = load()
    lines = {
        "enums": lambda: enums(profile),
        "queue": lambda: queue(profile, later=False),
        "queue-later": lambda: queue(profile, later=True),
        "sets": lambda: sets(profile),
        "names": lambda: (f"            - {attribute_}" for attribute_, _ in attributes(profile, "queue")),
    }
    return "\n".join(lines[name]())


def member(of: str, name: str) -> str:
    """The member of the set's struct that an attribute fills."""
    profile = load()
    if of == "queue":
        for number, colour in enumerate(COLOURS):
            if name in (colour, f"remark-{colour}"):
                return f"{'curve' if name == colour else 'remark'}[{number}]"
        for each in profile.settings["queue"].fields:
            if isinstance(each, Sub) and not each.names and name.startswith(f"{each.table}-"):
                return f"{each.table}.{name.removeprefix(f'{each.table}-').replace('-', '_')}"
    return name.replace("-", "_")
