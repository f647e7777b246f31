"""The reader of a queue's image in the hardware configuration (JSON), from the description of a profile."""

from collections.abc import Iterator

from .profile_c import members
from .records import HEAD, Group, Profile, Word


def value_lines(name: str, member: str, count: int, call: str) -> str:
    if count > 1:
        return f'  o.each("{member}", {count}, [&](const Value& v, std::size_t i) {{ out.{name}[i] = {call}; }});'
    return f'  out.{name} = {call.replace("v.", f"""o.value("{member}").""", 1)};'


def limits(registers: tuple[Word | Group, ...]) -> Iterator[tuple[str, int, str]]:
    """Member, count and the C++ that reads it, of every value."""
    seen = set()
    for each in registers:
        if isinstance(each, Group):
            continue
        for part in each.bits:
            if not part.top and (name := part.member.partition("[")[0]) not in seen:
                seen.add(name)
                yield name, each.count, f"v.number({part.most}u)"
        if each.factor:
            yield each.member, each.count, f"v.scaled({each.factor[0]}, {each.shift_most}u)"
        elif each.width > 32:
            most = (1 << 32) if each.top else (1 << each.width) - 1
            yield each.member, each.count, f"v.number({most}ull)"
        elif not each.bits:
            yield each.member, each.count, f"v.small({(1 << each.width) - 1}u)"


def reader(name: str, registers: tuple[Word | Group, ...]) -> list[str]:
    found = members(registers)
    keys = [member for member in found if "." not in member]
    groups = list(dict.fromkeys(member.split(".")[0] for member in found if "." in member))
    lines, inner = [], []
    values = [*limits(registers)]
    for group in groups:
        mine = [(member.split(".")[1], call) for member, _, call in values if member.startswith(f"{group}.")]
        names = ", ".join(f'"{member}"' for member, _ in mine)
        inner += [f"void read(const Object& o, vm_{group}_image& out) {{", f"  o.knows({{{names}}});"]
        inner += [value_lines(member, member, 1, small(call)) for member, call in mine]
        inner += ["}", ""]
    for member, count, call in values:
        if "." not in member:
            size = int(found[member].partition("[")[2].rstrip("]") or 0)
            lines.append(value_lines(member, member, size or count, small(call)))
    for each in registers:
        if isinstance(each, Group):
            lines.append(nested(each.group, each.count))
    lines += [nested(group, int(found[f"{group}."].strip("[]") or 1)) for group in groups]
    shown = ", ".join(f'"{key}"' for key in (*keys, *groups))
    signature = f"void read(const Object& o, vm_{name}_image& out) {{"
    if name == "queue":
        signature = "void readQueueImage(const Object& o, vm_queue_image& out) {"
        shown = f'"index", "name", {shown}'
    return [*inner, signature, f"  o.knows({{{shown}}});", *lines, "}", ""]


def small(call: str) -> str:
    """Numbers of up to 32 bits."""
    return call.replace("number(", "small(") if call.endswith("u)") and not call.endswith("ull)") else call


def nested(name: str, count: int) -> str:
    if count > 1:
        return (
            f'  o.objects("{name}", {count}, [&](const Object& each, std::size_t i) {{ read(each, out.{name}[i]); }});'
        )
    return f'  o.object("{name}", [&](const Object& each) {{ read(each, out.{name}); }});'


def reading(profile: Profile) -> str:
    lines = [
        f"// {HEAD}",
        "// A queue's image from the hardware configuration; the form: docs/hardware-configuration.md, ranges: docs/profile.md.",
        "// clang-format off",
        '#include "image_json.h"',
        "",
        "namespace vermilion {",
        "",
        "namespace {",
        "",
    ]
    for name, registers in profile.image.items():
        lines += reader(name, registers)
    text = "\n".join([*lines, "}  // namespace vermilion", ""])
    return text.replace("void readQueueImage", "}  // namespace\n\nvoid readQueueImage", 1)
