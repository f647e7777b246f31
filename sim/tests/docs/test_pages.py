"""The pages: links and anchors lead somewhere, each page is linked from another, and what the command line offers is told by its help and the page of commands."""

import re
import subprocess

import click
import pytest

from support.prose import prose
from vermilion.commands import cli
from vermilion.toolchain.build import ROOT
from vermilionctl import cli as tools

LISTED = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
PAGES = {name: (ROOT / name).read_text() for name in LISTED.split()}


def anchors(text: str) -> set[str]:
    """Those that GitHub makes of headings."""
    heads = re.findall(r"^#+ (.*)$", prose(text), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def links(name: str):
    """(file, anchor) of every link to something of the project's."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(PAGES[name])):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield ((ROOT / name).parent / path).resolve() if path else ROOT / name, anchor


@pytest.mark.parametrize("name", PAGES)
def test_every_link_and_anchor_leads_somewhere(name):
    for path, anchor in links(name):
        assert path.exists(), path
        if anchor:
            assert anchor in anchors(path.read_text()), f"{path.name}#{anchor}"


def test_every_page_of_the_documentation_is_linked_from_another():
    linked = {path for name in PAGES for path, _ in links(name) if path != ROOT / name}
    for name in PAGES:
        path = ROOT / name
        if name.startswith("docs/"):
            assert path in linked or any(path.is_relative_to(folder) for folder in linked if folder.is_dir()), name


def commands(group, path: str):
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


@pytest.mark.parametrize("group", [cli.cli, tools.cli], ids=["vermilion", "vermilionctl"])
def test_every_command_and_every_option_says_what_it_is_for(group):
    for path, command in commands(group, ""):
        assert command.help, path
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, f"{path} {option.opts[0]}"


def test_the_page_of_commands_names_every_command():
    missing = [name for name in cli.cli.commands if not re.search(rf"`{name}\b", PAGES["docs/commands.md"])]
    assert not missing
