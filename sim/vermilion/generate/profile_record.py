"""Python types of a queue's image, as the hardware's record (JSON) holds it, from the description of a profile."""

import keyword
from collections.abc import Iterator

from .profile_c import members
from .records import HEAD, Group, Profile, Word

TOP = f'''# {HEAD}
"""The types of a queue's image in the hardware's record; `struct vm_..._image` of sw_driver/lib/vm_profile_types.h. docs/profile.md has the meanings.

A scaled number, m 2^-s, is the list [m, s].
"""
# fmt: off

from collections.abc import Sequence
from typing import TypedDict

Scaled = Sequence[int]
'''


def class_name(group: str) -> str:
    return "QueueImage" if group == "queue" else f"{group.capitalize()}Record"


def python_type(kind: str) -> str:
    """Of a C type with `@` in place of the name, as `members` has it."""
    words, _, size = kind.partition("[")
    words = words.replace("@", "").strip()
    one = "Scaled" if words == "struct vm_scaled" else "int"
    if words.endswith("_image"):
        one = class_name(words.removeprefix("struct vm_").removesuffix("_image"))
    return f"list[{one}]" if size else one


def typed(name: str, fields: dict[str, str]) -> Iterator[str]:
    """A class; words of Python's cannot be its fields, so a base by a call has them."""
    odd = {field: kind for field, kind in fields.items() if keyword.iskeyword(field)}
    base = "TypedDict"
    if odd:
        base = f"_{name}Words"
        shown = ", ".join(f'"{field}": {kind}' for field, kind in odd.items())
        yield from ("", "", f'{base} = TypedDict("{base}", {{{shown}}})')
    yield from ("", "", f"class {name}({base}):")
    yield from (f"    {field}: {kind}" for field, kind in fields.items() if field not in odd)


def group_classes(name: str, registers: tuple[Word | Group, ...]) -> Iterator[str]:
    found = members(registers)
    own = {member: python_type(kind) for member, kind in found.items() if "." not in member}
    for part in dict.fromkeys(member.partition(".")[0] for member in found if "." in member):
        inner = {
            member.partition(".")[2]: python_type(kind)
            for member, kind in found.items()
            if member.startswith(f"{part}.")
        }
        yield from typed(class_name(part), {member: kind for member, kind in inner.items() if member})
        own[part] = python_type(f"struct vm_{part}_image @{found.get(f'{part}.', '')}")
    yield from typed(class_name(name), own)


def image(profile: Profile) -> str:
    lines = [line for name, registers in profile.image.items() for line in group_classes(name, registers)]
    return TOP + "\n".join([*lines, ""])
