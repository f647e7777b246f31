"""The driver's netlink family: `sw_driver/netlink/family.yaml` with the settings of `hw/regs/profile.yaml` is `vermilion.yaml` (the kernel's YNL form).

That becomes the numbers of attributes and commands for C programs, the module's policies and its table of settings, and a page of the documentation.
`python -m vermilion.generate.netlink_spec` writes the committed files anew; with `--check` it writes nothing and fails if one is stale.
Names in C are those that the kernel's own generator gives: VERMILION_A_QUEUE_WEIGHT, VERMILION_CMD_QUEUE_SET.
"""

import json
import re
import sys

from vermilion.toolchain import build

from . import committed, netlink_settings

FAMILY = build.ROOT / "sw_driver" / "netlink" / "family.yaml"
SOURCE = FAMILY.with_name("vermilion.yaml")
NUMBERS = FAMILY.with_name("numbers.json")  # names in the order of their numbers, which programs were compiled with
HEAD = "Generated from sw_driver/netlink/vermilion.yaml by sim/vermilion/generate/netlink_spec.py. Do not edit."
SPDX = "SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0"
# Sets of attributes that are settings: the struct that they fill.
STRUCTS = {
    "curve": "struct vm_curve",
    "colour": "struct vm_curve",
    "marker": "struct vm_marker",
    "queue": "struct vm_queue",
}
NOT_SETTINGS = ("pad", "ifindex", "queue", "defaults", "registers", "owner")
BESIDE = {"sub-type": " of ", "enum": ", "}  # what stands beside an attribute's type
SCALARS = {"u32": "NLA_U32", "u64": "NLA_U64", "flag": "NLA_FLAG"}


def load() -> dict:
    import yaml

    return yaml.safe_load(family())


def family() -> str:
    """The text of vermilion.yaml."""
    text = FAMILY.read_text().replace("# The source of vermilion.yaml:", "# Generated from family.yaml, do not edit:")
    return re.sub(r"^# settings: ([\w-]+)$", lambda found: netlink_settings.part(found[1]), text, flags=re.M)


def sets(spec: dict) -> dict[str, list[dict]]:
    """Each set's attributes, in the order of their numbers, which begin at 1."""
    return {of["name"]: of["attributes"] for of in spec["attribute-sets"]}


def upper(*words: str) -> str:
    return "_".join(words).replace("-", "_").upper()


def attribute(of: str, name: str) -> str:
    return upper("vermilion_a", of, name)


def block(of: str, first: str, rest: list[str]) -> list[str]:
    return [f"enum {of} {{", f"\t{first},", *(f"\t{name}," for name in rest), "};", ""]


def header(spec: dict) -> str:
    """Numbers of enums, attributes and commands, for the module and for programs."""
    lines = [
        f"/* {HEAD} */",
        f"/* {SPDX} */",
        "/* What each one means: docs/driver-netlink.md. */",
        "#ifndef VERMILION_NETLINK_H",
        "#define VERMILION_NETLINK_H",
        "",
        f'#define VERMILION_FAMILY_NAME "{spec["name"]}"',
        "#define VERMILION_FAMILY_VERSION 1",
        "",
    ]
    for of in spec["definitions"]:
        first, *rest = (upper("vermilion", of["name"], entry) for entry in of["entries"])
        lines += block(f"vermilion_{of['name'].replace('-', '_')}", first, rest)
    for of, attributes in sets(spec).items():
        first, *rest = (attribute(of, each["name"]) for each in attributes)
        last = last_of(spec, of)
        lines += ["enum {", f"\t{first} = 1,", *(f"\t{name}," for name in rest)]
        lines += [f"\t{last} = {([first] + rest)[-1]}", "};", ""]
    first, *rest = (upper("vermilion_cmd", each["name"]) for each in spec["operations"]["list"])
    lines += ["enum {", f"\t{first} = 1,", *(f"\t{name}," for name in rest)]
    return "\n".join([*lines, f"\tVERMILION_CMD_MAX = {([first] + rest)[-1]}", "};", "", "#endif", ""])


def last_of(spec: dict, of: str) -> str:
    """The name of a set's greatest number; another one than the kernel's where an attribute is called max."""
    found = next(each for each in spec["attribute-sets"] if each["name"] == of)
    return upper(found.get("attr-max-name", f"vermilion_a_{of}_max"))


def policy(spec: dict, name: str, of: str, attributes: list[dict], wanted: list[str] | None = None) -> list[str]:
    """A policy that lets these attributes of a set pass and no others."""
    lines = [f"const struct nla_policy {name}[{last_of(spec, of)} + 1] = {{"]
    for each in attributes:
        if each["type"] in ("pad", "string", "binary") or (wanted is not None and each["name"] not in wanted):
            continue
        nested = each.get("nested-attributes", "").replace("-", "_")
        how = f"NLA_POLICY_NESTED({nested}_policy)" if nested else f"{{ .type = {SCALARS[each['type']]} }}"
        lines.append(f"\t[{attribute(of, each['name'])}] = {how},")
    return [*lines, "};", ""]


def field(of: str, each: dict) -> str:
    name = attribute(of, each["name"])
    if (of, each["name"]) == ("colour", "ecn"):
        return f"\t{{ {name}, VM_NL_NEST, sizeof(struct vm_curve), &curve_set }},"
    member = netlink_settings.member(of, each["name"])
    if each["type"] == "nest" and each["nested-attributes"] != "number":
        nested = f"{each['nested-attributes']}_set"
        return f"\t{{ {name}, VM_NL_NEST, offsetof({STRUCTS[of]}, {member}), &{nested} }},"
    kind = "NUMBER" if each["type"] == "nest" else each["type"].upper()
    return f"\tFIELD({name}, {kind}, {STRUCTS[of]}, {member}),"


def tables(spec: dict) -> str:
    """The module's table of settings, and the policies of its commands."""
    found = sets(spec)
    lines = [
        f"/* {HEAD} */",
        f"/* {SPDX} */",
        "/* clang-format off */",
        "#include <linux/build_bug.h>",
        "#include <linux/stddef.h>",
        "",
        '#include "vm_netlink.h"',
        "",
        "#define SIZE_U32 sizeof(u32)",
        "#define SIZE_U64 sizeof(u64)",
        "#define SIZE_NUMBER sizeof(struct vm_number)",
        "#define IS_SIZE(kind, type, member) BUILD_BUG_ON_ZERO(sizeof_field(type, member) != SIZE_##kind)",
        "#define FIELD(attribute, kind, type, member) \\",
        "\t{ attribute, VM_NL_##kind, offsetof(type, member) + IS_SIZE(kind, type, member), NULL }",
        "#define SET(fields, last, pad) { fields, ARRAY_SIZE(fields), last, pad }",
        "",
    ]
    for of in ("number", "curve", "colour", "marker", "class-entry"):
        lines += ["static " + policy(spec, f"{of.replace('-', '_')}_policy", of, found[of])[0]]
        lines += policy(spec, "", of, found[of])[1:]
    for operation in spec["operations"]["list"]:
        if "do" in operation:
            of, wanted = operation["attribute-set"], operation["do"]["request"]["attributes"]
            lines += policy(spec, f"vm_nl_{operation['name'].replace('-', '_')}_policy", of, found[of], wanted)
    for of in ("curve", "colour", "marker", "queue"):
        fields = [each for each in found[of] if each["name"] not in NOT_SETTINGS]
        pad = attribute(of, "pad") if any(each["type"] == "pad" for each in found[of]) else "0"
        lines += [
            f"static const struct vm_nl_field {of}_fields[] = {{",
            *(field(of, each) for each in fields),
            "};",
            "",
        ]
        scope, name = ("", "vm_nl_queue") if of == "queue" else ("static ", f"{of}_set")
        lines += [f"{scope}const struct vm_nl_set {name} = SET({of}_fields, {last_of(spec, of)}, {pad});", ""]
    return "\n".join(lines)


def kind_of(each: dict) -> str:
    """An attribute's type, for people."""
    if nested := each.get("nested-attributes"):
        shown = f"[{nested}](#{nested})"
    else:
        shown = each["type"] + "".join(f"{word}{each[key]}" for key, word in BESIDE.items() if key in each)
    return shown + ", repeated" * each.get("multi-attr", False)


def page(spec: dict) -> str:
    """Attributes and commands, for people."""
    lines = ["# Netlink attributes", "", f"<!-- {HEAD} -->", "", " ".join(spec["doc"].split()), ""]
    lines += ["How it is used: [driver-netlink.md](driver-netlink.md).", "", "## Commands"]
    lines += ["| number | command | takes | dump | who may | what |", "| --- | --- | --- | --- | --- | --- |"]
    for number, each in enumerate(spec["operations"]["list"], 1):
        takes = each["do"]["request"]["attributes"] if "do" in each else []
        many = each["name"] == "queue-set"
        shown = "`ifindex`, `queue`, any setting" if many else ", ".join(f"`{name}`" for name in takes)
        who = "CAP_NET_ADMIN" if "admin-perm" in each.get("flags", []) else "all"
        who = f"comes to the group `{each['mcgrp']}`" if "event" in each else who
        dump = "yes" if "dump" in each else ""
        lines.append(f"| {number} | `{each['name']}` | {shown} | {dump} | {who} | {' '.join(each['doc'].split())} |")
    lines += ["", "## Enums", "| enum | values, from 0 | |", "| --- | --- | --- |"]
    lines += [
        f"| `{each['name']}` | {', '.join(each['entries'])} | {each.get('doc', '')} |" for each in spec["definitions"]
    ]
    for of in spec["attribute-sets"]:
        lines += ["", f"## {of['name']}", *([of["doc"].strip()] if "doc" in of else [])]
        lines += ["", "| number | attribute | type | what |", "| --- | --- | --- | --- |"]
        for number, each in enumerate(of["attributes"], 1):
            lines.append(f"| {number} | `{each['name']}` | {kind_of(each)} | {each.get('doc', '')} |")
    return "\n".join([*lines, ""])


def numbers(spec: dict) -> str:
    """The names of each set in the order of their numbers, as JSON. Raises ValueError if a name of NUMBERS would have another number."""
    named = {f"attributes of {of}": [each["name"] for each in attributes] for of, attributes in sets(spec).items()}
    named |= {f"enum {each['name']}": each["entries"] for each in spec["definitions"]}
    named["commands"] = [each["name"] for each in spec["operations"]["list"]]
    for of, held in (json.loads(NUMBERS.read_text()) if NUMBERS.is_file() else {}).items():
        found = named.get(of, [])
        for at, name in enumerate(held):
            if found[at : at + 1] != [name]:
                raise ValueError(f"netlink, {of}: {name} is no longer number {at} of its list; new names go to the end")
    return json.dumps(named, indent=1) + "\n"


GENERATED = {
    SOURCE: lambda _spec: family(),
    NUMBERS: numbers,
    build.ROOT / "sw_driver" / "netlink" / "vermilion_netlink.h": header,
    build.ROOT / "sw_driver" / "kernel" / "vm_netlink_tables.c": tables,
    build.ROOT / "docs" / "netlink-attributes.md": page,
}


def files() -> committed.Files:
    """Each committed file, with what the family's description gives for it."""
    spec = load()
    return {path: make(spec) for path, make in GENERATED.items()}


if __name__ == "__main__":
    sys.exit(committed.run("netlink_spec", files, sys.argv[1:]))
