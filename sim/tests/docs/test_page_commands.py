"""What the pages show: their commands print it, and their configurations are legal."""

import re
import shutil
import subprocess

import pytest

from support import driver_bench, page_shell
from support.shown_commands import follows, shown
from vermilion.configuration import egresses
from vermilion.guests import driver_guest, guest, sandbox_guest
from vermilion.toolchain import build
from vermilion.toolchain.build import ROOT

PAGES = {
    name: (ROOT / name).read_text()
    for folder in ("tutorials", "howto", "explanation", "project")
    for name in sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs" / folder).glob("*.md"))
}
SHOWING = [name for name, text in PAGES.items() if "```console" in text]
TABLES = [
    (name, text) for name, page in PAGES.items() for text in re.findall(r"^```toml\n(.*?)^```", page, re.M | re.S)
]


def test_every_tutorial_shows_commands():
    tutorials = {name for name in PAGES if "/tutorials/" in name and not name.endswith("/index.md")}
    assert tutorials <= set(SHOWING)


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWING)
def test_commands_print_what_the_page_shows(name, tmp_path):
    if not shutil.which("verilator"):
        pytest.skip("no Verilator: run through ./vermilion test")
    build.simulator("lab", "")
    if "vermilion sandbox" in PAGES[name]:
        driver_bench.check_machine(guest.setup, driver_guest.tools, sandbox_guest.packages)
    folder = page_shell.checkout(tmp_path)
    for command, lines in shown(PAGES[name]):
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=page_shell.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stdout + done.stderr)
        printed = done.stdout.splitlines()
        assert follows(lines, printed) is None, (command, follows(lines, printed), done.stdout)


@pytest.mark.parametrize(("name", "text"), TABLES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(TABLES)])
def test_configurations_are_legal(name, text, tmp_path):
    file = tmp_path / "shown.toml"
    file.write_text(text)
    assert egresses.load_one(str(file), 0)


def test_commands_that_are_only_named_exist():
    """`./vermilion NAME` in the text of a page is a command."""
    from vermilion.commands.cli import cli

    for name, text in PAGES.items():
        for word in re.findall(r"`\./vermilion ([a-z][\w-]*)", text):
            assert word in cli.commands, (name, word)
