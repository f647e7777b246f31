"""Pages of the reference that are made from sources: commands, presets, messages, the model's and Python's interfaces."""

import ast
import inspect
import tomllib
from pathlib import Path

import click

from vermilion.toolchain import presets
from vermilion.toolchain.build import ROOT

HOSTILE = ROOT / "sim/tests/config/hostile"
MODULES = (
    "sim/vermilion/configuration/config_file.py",
    "sim/vermilion/configuration/egresses.py",
    "sim/vermilion/simulation/simulate.py",
    "sim/vermilion/hardware/driver_library.py",
    "sim/vermilion/hardware/vfio_user.py",
    "sw_driver/tools/vermilionctl/programming.py",
    "sw_driver/tools/vermilionctl/registers.py",
)
SCALADOC = "api/rtl"  # its folder in the site
QUIET = "---\nsearch:\n  boost: 0.5\n---\n"


def pages(groups: dict[str, click.Group], api: bool = False) -> dict[str, str]:
    """Each page by its place; `groups` are the command lines by the words that call them. api: the site has the Scaladoc."""
    made = {
        "reference/command-line.md": commands(groups),
        "reference/presets.md": builds(),
        "reference/messages.md": QUIET + messages(),
        "reference/model-api.md": QUIET + model(),
        "reference/python-api.md": QUIET + python(),
    }
    return made | {"reference/index.md": index(api)}


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown; a cell's bar does not end it."""
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in [heads, *rows]]
    cells.insert(1, ["---"] * len(heads))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n"


def commands(groups: dict[str, click.Group]) -> str:
    """Every command with its arguments and options, as `--help` tells them."""
    text = "# Command line\n\nEvery command with its options, made from the program's own help.\n"
    for words, group in groups.items():
        for name, command in sorted(group.commands.items()):
            text += described(f"{words} {name}", command)
    return text


def described(words: str, command: click.Command) -> str:
    context = click.Context(command, info_name=words)
    usage = " ".join([words, *command.collect_usage_pieces(context)])
    text = f"\n## `{words.removeprefix('./')}`\n\n{inspect.cleandoc(command.help or '')}\n\n```\n{usage}\n```\n"
    rows = []
    for option in command.params:
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record:
            name, _, choices = record[0].removesuffix("]").partition("[")
            legal = f" One of: {', '.join(choices.split('|'))}." if choices else ""
            rows.append([f"`{name.strip()}`", record[1] + legal])
    text += "\n" + table(["option", "meaning"], rows) if rows else ""
    for name, each in sorted(command.commands.items()) if isinstance(command, click.Group) else ():
        text += described(f"{words} {name}", each).replace("\n## ", "\n### ", 1)
    return text


def builds() -> str:
    """The presets, with what `LaneParams.scala` builds them from."""
    heads = ["preset", "bits", "inputs", "egresses", "queues", "cells", "flows", "victims", "AQMs at departure"]

    def rows(named: dict[str, presets.Preset]) -> list[list[str]]:
        return [
            [f"`{name}`", *map(str, (p.data_bits, p.inputs, p.egresses, p.queues, p.cells, p.flows, p.victims))]
            + [", ".join(sorted(p.aqms)) or "none"]
            for name, p in named.items()
        ]

    text = "# Presets\n\nA preset is a build of the lane: it defines what takes area. `--preset` of `run` and `device` chooses one.\n"
    text += f"`victims` is the number of queues with the victim search.\n\n## Lanes\n\n{table(heads, rows(presets.PRESETS))}\n"
    return text + f"## Lanes of benches and cards\n\n{table(heads, rows(presets.FOR_BENCHES))}"


def messages() -> str:
    """What `check` says to faulty configurations, from the files that its tests compare with."""
    text = "# Messages of the configuration's check\n\nEach message names the field, its value and what is legal. The tests of the project compare all of them.\n"
    for path in sorted(HOSTILE.glob("*.toml")):
        rows, seen = [], set()
        for case in tomllib.loads(path.read_text())["case"]:
            field = (case["says"] or [case["message"]])[0]
            if case.get("message") and field not in seen:
                seen.add(field)
                rows.append([case["name"], f"`` {case['message']} ``"])
        text += f"\n## {path.stem.capitalize()}\n\n{table(['fault', 'message'], rows)}" if rows else ""
    return text


def model() -> str:
    """The C interface of the model: its headers."""
    text = "# Model API\n\nThe C interface of the bit-exact model. Every function is in `sim/model/vermilion_model.h`; the structs are in `records.h` and `config.h`.\n"
    for name in ("vermilion_model.h", "records.h"):
        text += f"\n## {name}\n\n```c\n{(ROOT / 'sim/model' / name).read_text()}```\n"
    return text


def python() -> str:
    """Public functions and classes of the modules that other programs call."""
    text = "# Python API\n\nPublic functions and classes of the modules that a program of your own can import.\n"
    for name in MODULES:
        tree = ast.parse((ROOT / name).read_text())
        module = ".".join(Path(name).with_suffix("").parts[1 if name.startswith("sim/") else 2 :])
        text += f"\n## `{module}`\n\n{ast.get_docstring(tree) or ''}\n\n"
        rows = []
        for node in tree.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                told = (ast.get_docstring(node) or "").split("\n\n")[0]
                call = f"{node.name}({ast.unparse(node.args)})" if isinstance(node, ast.FunctionDef) else node.name
                rows.append([f"`{call}`", told])
        text += table(["name", "meaning"], rows)
    return text


def index(api: bool) -> str:
    rows = [
        ["commands", "[command line](command-line.md), [by task](../commands.md)"],
        ["configuration", "[file](../configuration.md), [profile fields](../profile.md), [messages](messages.md)"],
        ["registers", "[lane](../registers.md), [app block](../app-registers.md)"],
        ["driver", "[driver](../driver.md), [netlink family](../driver-netlink.md), [netlink attributes](../netlink-attributes.md)"],
        ["builds", "[presets](presets.md), [every block](../blocks.md)"],
        ["interfaces", "[model API](model-api.md), [Python API](python-api.md), [hardware's record](../hardware-configuration.md), [PCI device](../device.md)"],
    ]  # fmt: skip
    if api:
        rows.append(["RTL", f'<a href="../{SCALADOC}/index.html">Scaladoc of every block and bundle</a>'])
    return f"# Reference\n\nExact facts, by subject. Most of these pages are made from the sources of the project.\n\n{table(['subject', 'pages'], rows)}"
