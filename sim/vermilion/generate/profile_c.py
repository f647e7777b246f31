"""The driver's library from the description of a profile: structs, ranges and defaults, and the writes of the shadow record."""

from collections.abc import Iterator
from fractions import Fraction

from vermilion.values.fields import COLOURS, DEPTH_MAX, RATE_MAX, RATE_MIN, RATE_TEXT, SHORTEST

from .records import EXACT, HEAD, SPDX, Bits, Group, Marker, Profile, Setting, Sub, Table, Word, of_queue

TOP = f"/* {HEAD} */\n/* {SPDX} */\n/* clang-format off */\n"


def upper(*words: str) -> str:
    return "_".join(words).replace(".", "_").replace("-", "_").upper()


# ---- structs ----


def settings_struct(profile: Profile, table: Table) -> list[str]:
    lines = [f"/* {table.doc} */", f"struct vm_{table.name} {{"]
    for each in table.fields:
        if isinstance(each, Sub):
            size = "[VM_COLOURS][2]" if each.names else ""
            lines.append(f"\tstruct vm_{each.table} {each.table}{size};")
        else:
            size = "[VM_COLOURS]" if each.for_each else ""
            lines.append(f"\t{each.c_type} {each.name}{size}; /* {comment(each)} */")
    return [*lines, "};", ""]


def comment(each: Setting) -> str:
    unit = {"bytes": "bytes", "packets": "packets", "depth": "bytes", "rate": "bits/s", "time": "ns"}.get(each.type, "")
    words = ", ".join(each.words) if each.enum else ""
    unset = f"{each.none}: not set" if each.none is not None else ""
    return each.doc.rstrip(".") + "".join(f"; {part}" for part in (unit, words, unset) if part)


def members(registers: tuple[Word | Group, ...]) -> dict[str, str]:
    """Members of an image and their types with `@` for the name, in the order of the registers; those within another have its name and a point."""
    found: dict[str, str] = {}
    for each in registers:
        if isinstance(each, Group):
            size = f"[{each.count}]" if each.count > 1 else ""
            found[each.group] = f"struct vm_{each.group}_image @{size}"
            continue
        size = f"[{each.count}]" if each.count > 1 else ""
        for part in each.bits:
            name, _, index = part.member.partition("[")
            if part.top:
                continue
            if index:
                found[name] = f"u32 @[{max(int(index[:-1]) + 1, size_of(found.get(name, '')))}]"
            elif "." in name:
                found[name] = "u32 @"
                found.setdefault(f"{name.split('.')[0]}.", size)
            else:
                found[name] = f"u32 @{size}"
        if not each.bits:
            kind = "struct vm_scaled" if each.factor else "u64" if each.width > 32 else "u32"
            found[each.member] = f"{kind} @{size}"
    return found


def size_of(shown: str) -> int:
    return int(shown.partition("[")[2].rstrip("]") or 0)


def image_structs(name: str, registers: tuple[Word | Group, ...]) -> list[str]:
    found, lines, inner = members(registers), [], []
    groups = list(dict.fromkeys(member.split(".")[0] for member in found if "." in member))
    for group in groups:
        inner += [f"struct vm_{group}_image {{"]
        inner += [
            f"\t{kind.replace('@', member.split('.')[1])};"
            for member, kind in found.items()
            if member.startswith(f"{group}.") and not member.endswith(".")
        ]
        inner += ["};", ""]
    for member, kind in found.items():
        if "." not in member:
            lines.append(f"\t{kind.replace('@', member)};")
    lines += [f"\tstruct vm_{group}_image {group}{found[group + '.']};" for group in groups if f"{group}." in found]
    return [*inner, f"struct vm_{name}_image {{", *lines, "};", ""]


def marker_types(profile: Profile) -> list[str]:
    codes = {marker.kind: marker.code for marker in profile.markers.values() if marker.flow is None}
    codes = {"none": 0} | codes | {"flow": profile.flow_code}
    entries = ", ".join(f"VM_MARKS_{kind.upper()} = {code}" for kind, code in codes.items())
    return [
        "",
        "/* What marks a queue's packets, as the registers have it. */",
        f"enum vm_marker_code {{ {entries} }};",
        "",
        "/* A token bucket: the rate that fills it, bits/s, and the depths that it holds together, bytes. */",
        "struct vm_bucket {",
        "\tu64 rate;",
        f"\tu32 depth[{most_depths(profile)}];",
        "};",
    ]


def limits(profile: Profile) -> list[str]:
    """Limits that rules by hand need: of all rates and depths, of the port's burst, and of a packet."""
    burst = next(each for each in profile.settings["queue"].settings if each.name == "burst")
    low, high = burst.range or (Fraction(0), Fraction(0))
    return [
        f"#define VM_RATE_MIN {literal(Fraction(RATE_MIN))}",
        f"#define VM_RATE_MAX {literal(Fraction(RATE_MAX))}",
        f'#define VM_RATE_LEGAL "{RATE_TEXT}"',
        f"#define VM_BURST_MIN {literal(low)}",
        f"#define VM_BURST_MAX {literal(high)}",
        f'#define VM_BURST_LEGAL "{burst.legal}"',
        f"#define VM_DEPTH_MAX {literal(Fraction(DEPTH_MAX))}",
        f"#define VM_SHORTEST_FRAME {literal(Fraction(SHORTEST['frame']))}",
        f"#define VM_SHORTEST_IP {literal(Fraction(SHORTEST['ip']))}",
        "",
    ]


def most_depths(profile: Profile) -> int:
    return max(len(bucket.depths) for marker in profile.markers.values() for bucket in marker.buckets)


def types(profile: Profile) -> str:
    """The header with all structs: settings of a queue, and the image of its registers."""
    lines = [
        "/* A queue's settings as an operator means them, and their image as the registers hold it. Meaning and legal values: docs/profile.md. */",
        "#ifndef VM_PROFILE_TYPES_H",
        "#define VM_PROFILE_TYPES_H",
        "",
        '#include "vm_types.h"',
        "",
    ]
    for enum in profile.enums.values():
        entries = ", ".join(enum.constant(entry) for entry in enum.entries)
        lines += [f"enum vm_{enum.name.replace('-', '_')} {{ {entries} }};"]
    lines += [*marker_types(profile), "", *limits(profile)]
    for table in profile.settings.values():
        lines += settings_struct(profile, table)
    for name, registers in profile.image.items():
        lines += image_structs(name, registers)
    lines += [
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* Calls `visit` with each register of the shadow record and its value, until it returns other than 0, and returns that. */",
        "typedef int vm_visit(void *context, u32 address, u32 value);",
        "int vm_queue_visit(const struct vm_queue_image *image, vm_visit *visit, void *context);",
        "",
        "/* The word of a kind of marker, by the codes of marker.flags and marker.flow. */",
        "const char *vm_marker_word(u32 code, u32 flow);",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
    ]
    return TOP + "\n".join([*lines, "#endif", ""])


# ---- ranges and defaults ----


def number(x: Fraction) -> str:
    """`struct vm_number` of a decimal, with the fewest digits."""
    tens = 0
    while (x * 10**tens).denominator != 1:
        tens += 1
    return f"{{ {x * 10**tens}, 1, {tens} }}"


def literal(x: Fraction) -> str:
    return f"{x}ull" if x >= 1 << 31 else f"{x}u"


def range_check(each: Setting, member: str) -> str | None:
    """The C expression that is false with a refusal where the setting is out of its range; None where a rule by hand has it."""
    if each.type in ("depth", "length") or each.range is None:
        return None
    low, high = each.range
    text = f'"{each.legal}"'
    if each.type == "number":
        bounds = f"{low.numerator}, {low.denominator}, {high.numerator}, {high.denominator}"
        return f'vm_check_number(fault, place, "{each.name}", {member}, {bounds}, {text})'
    if each.type == "power":
        return f'vm_check_power(fault, place, "{each.name}", {member}, {text})'
    call = f'vm_check_range(fault, place, "{each.name}", {member}, {literal(low)}, {literal(high)}, {text})'
    return f"({member} == {each.none}u || {call})" if each.none is not None else call


def checks(table: Table, kind: str | None = None) -> Iterator[str]:
    for each in table.settings:
        if kind is not None and (each.name == "kind" or each.read_by and kind not in each.read_by):
            continue
        if not each.for_each and (made := range_check(each, f"s->{each.name}")):
            yield made
    for part in table.fields:
        if isinstance(part, Sub) and not part.names and part.table != "marker":
            yield f'vm_{part.table}_ranges(&s->{part.table}, "{part.table}", fault)'


def joined(found: list[str]) -> str:
    return " &&\n\t       ".join(found) or "true"


def ranges(profile: Profile, table: Table) -> list[str]:
    head = f"bool vm_{table.name}_ranges(const struct vm_{table.name} *s, const char *place, struct vm_refusal *fault)"
    each = next((e for e in table.settings if e.for_each), None)
    if table.name != "marker":
        lines = [head, "{"]
        if each:
            lines += ["\tu32 c;", "", "\tfor (c = 0; c < VM_COLOURS; c++)"]
            low, high = each.range or (Fraction(0), Fraction(0))
            call = f'vm_check_range(fault, "{each.name}", vm_colours[c], s->{each.name}[c], {low}u, {high}u, "{each.legal}")'
            lines += [f"\t\tif (!{call})", "\t\t\treturn false;"]
        return [*lines, f"\treturn {joined([*checks(table)])};", "}", ""]
    enum = table.settings[0].enum
    assert enum is not None
    lines = [head, "{", "\tswitch (s->kind) {"]
    for word in enum.entries:
        lines += [f"\tcase {enum.constant(word)}:"]
        found = ["true"] if word == "none" else [*checks(table, word)]
        lines += [f"\t\treturn {joined(found)};".replace("\n\t", "\n\t\t")]
    last = f'vm_check_range(fault, place, "kind", s->kind, 0, {len(enum.entries) - 1}, "{table.settings[0].legal}")'
    return [*lines, "\tdefault:", f"\t\treturn {last};", "\t}", "}", ""]


def rules(marker: Marker) -> Iterator[str]:
    """Rules of a kind of marker between its settings."""
    if marker.either:
        found = " || ".join(f"s->{depth}" for depth in marker.either)
        others = ", ".join(marker.either[1:])
        text = f"up to 64MiB, and more than 0 where {others} is 0 ({marker.source})"
        yield f'({found} || vm_check_range(fault, place, "{marker.either[0]}", 0, 1, {DEPTH_MAX}u, "{text}"))'
    if marker.not_below:
        high, low = marker.not_below
        text = f"from {low} up to 200Gbit ({marker.source})"
        yield f'vm_check_range(fault, place, "{high}", s->{high}, s->{low}, {RATE_MAX}ull, "{text}")'
    for depth in marker.depths:
        call = f'vm_check_bucket(fault, place, "{depth}", s->{depth}, s)'
        yield f"(!s->{depth} || {call})" if depth in marker.either else call


def marker_functions(profile: Profile) -> list[str]:
    """What C knows of the kinds of markers: rules, colours, buckets and codes."""
    enum = profile.enums["marker-kind"]
    case = lambda marker: f"\tcase {enum.constant(marker.kind)}:"
    head = "bool vm_marker_rules(const struct vm_marker *s, const char *place, struct vm_refusal *fault)"
    lines = [head, "{", "\tswitch (s->kind) {"]
    for marker in profile.markers.values():
        if found := [*rules(marker)]:
            lines += [case(marker), f"\t\treturn {joined(found)};".replace("\n\t", "\n\t\t")]
    lines += ["\tdefault:", "\t\treturn true;", "\t}", "}", ""]
    lines += ["u32 vm_marker_colours(u32 kind)", "{", "\tswitch (kind) {"]
    for marker in profile.markers.values():
        if marker.gives != COLOURS:
            lines += [case(marker), f"\t\treturn {sum(1 << COLOURS.index(colour) for colour in marker.gives)};"]
    lines += ["\tdefault:", "\t\treturn 7;", "\t}", "}", ""]
    lines += ["void vm_marker_buckets(const struct vm_marker *s, struct vm_bucket bucket[2])", "{"]
    lines += ["\tvm_clear(bucket, 2 * sizeof(*bucket));", "\tswitch (s->kind) {"]
    for marker in profile.markers.values():
        if marker.buckets:
            lines.append(case(marker))
        for i, bucket in enumerate(marker.buckets):
            lines.append(f"\t\tbucket[{i}].rate = s->{bucket.rate};")
            lines += [f"\t\tbucket[{i}].depth[{j}] = s->{depth};" for j, depth in enumerate(bucket.depths)]
        if marker.buckets:
            lines.append("\t\tbreak;")
    lines += ["\tdefault:", "\t\tbreak;", "\t}", "}", ""]
    lines += ["void vm_marker_codes(u32 kind, u32 *code, u32 *flow)", "{", "\t*code = 0;", "\t*flow = 0;"]
    lines += ["\tswitch (kind) {"]
    for marker in profile.markers.values():
        lines += [case(marker), f"\t\t*code = {marker.code};"]
        lines += [f"\t\t*flow = {marker.flow};"] * (marker.flow is not None) + ["\t\tbreak;"]
    lines += ["\tdefault:", "\t\tbreak;", "\t}", "}", ""]
    lines += ["const char *vm_marker_word(u32 code, u32 flow)", "{"]
    for marker in profile.markers.values():
        same = f" && flow == {marker.flow}" if marker.flow is not None else ""
        lines += [f"\tif (code == {marker.code}{same})", f'\t\treturn "{marker.kind}";']
    return [*lines, '\treturn "none";', "}", ""]


def fields(profile: Profile) -> str:
    """Ranges of single settings, what kinds of markers have, and defaults. Other rules between settings: vm_check.c and vm_check_marker.c."""
    lines = [
        '#include "vm_profile.h"',
        "",
        'const char *const vm_colours[VM_COLOURS] = { "green", "yellow", "red" };',
        "",
    ]
    for table in profile.settings.values():
        lines += ranges(profile, table)
    lines += marker_functions(profile)
    lines += ["void vm_queue_defaults(struct vm_queue *queue)", "{", "\tvm_clear(queue, sizeof(*queue));"]
    for each in of_queue(profile):
        if not each.setting.default and each.setting.type not in EXACT:
            continue
        if each.setting.type in EXACT:
            parts = number(each.setting.default).strip("{ }").split(", ")
            lines += [
                f"\tqueue->{each.c_member}.{part} = {value};"
                for part, value in zip(("num", "den", "tens"), parts, strict=True)
                if value != "0"
            ]
        else:
            lines.append(f"\tqueue->{each.c_member} = {literal(each.setting.default)};")
    return TOP + "\n".join([*lines, "}", ""])


# ---- register writes ----


def address(prefix: str, indices: list[str]) -> str:
    return f"VM_REG_{prefix}" + (f"({', '.join(indices)})" if indices else "")


def field_value(word: Word, part: Bits, holder: str, index: str, prefix: str) -> str:
    if part.top:
        value = f"(u32)({holder}{part.top} >> 32)"
    elif "." in part.member:
        group, name = part.member.split(".")
        value = f"{holder}{group}{index}.{name}"
    else:
        value = f"{holder}{part.member}{index}"
    return f"VM_PUT({upper('VM_REG', prefix, part.name)}, {value})"


def writes(profile: Profile, name: str, path: str, holder: str, indices: list[str], depth: int) -> Iterator[str]:
    """C statements that put each register of a group."""
    for each in profile.image[name]:
        looped, tab = each.count > 1, "\t" * depth
        # a value in one register needs no loop of its own where it is there once
        index = "ijk"[len(indices)] if looped else ""
        inner = [*indices, index] if looped else indices
        if looped:
            yield f"{tab}for ({index} = 0; {index} < {each.count}; {index}++) {{"
            tab += "\t"
        at = f"[{index}]" if looped else ""
        if isinstance(each, Group):
            yield from writes(
                profile, each.group, f"{path}_{each.group}", f"{holder}{each.group}{at}.", inner, len(tab)
            )
        else:
            yield from word_writes(each, f"{path}_{each.name}", holder, at, inner, tab)
        if looped:
            yield "\t" * depth + "}"


def word_writes(word: Word, path: str, holder: str, at: str, indices: list[str], tab: str) -> Iterator[str]:
    value = f"{holder}{word.member}{at}"
    if word.bits:
        parts = [field_value(word, part, holder, at, path) for part in word.bits]
        joined_parts = f" |\n{tab}\t".join(parts)
        yield f"{tab}put(&walk, {address(upper(path), indices)},\n{tab}\t{joined_parts});"
    elif word.factor:
        yield f"{tab}put(&walk, {address(upper(path), indices)}, {value}.mant | {value}.shift << 24);"
    elif word.wide:
        for part, shown in (("low", f"(u32){value}"), ("high", f"(u32)({value} >> 32)")):
            yield f"{tab}put(&walk, {address(upper(path, part), indices)}, {shown});"
    else:
        yield f"{tab}put(&walk, {address(upper(path), indices)}, (u32){value});"


def visit(profile: Profile) -> str:
    lines = [
        "/* The shadow record: which value of a queue's image stands in which register. */",
        '#include "vm_profile.h"',
        '#include "vm_regs.h"',
        "",
        "struct walk {",
        "\tvm_visit *visit;",
        "\tvoid *context;",
        "\tint result;",
        "};",
        "",
        "static void put(struct walk *walk, u32 address, u32 value)",
        "{",
        "\tif (!walk->result)",
        "\t\twalk->result = walk->visit(walk->context, address, value);",
        "}",
        "",
        "int vm_queue_visit(const struct vm_queue_image *image, vm_visit *visit, void *context)",
        "{",
        "\tstruct walk walk = { visit, context, 0 };",
        "\tu32 i, j;",
        "",
        *writes(profile, "queue", "shadow", "image->", [], 1),
        "\treturn walk.result;",
        "}",
        "",
    ]
    return TOP + "\n".join(lines)
