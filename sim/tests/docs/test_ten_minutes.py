"""The page of the first ten minutes: its commands, typed into one shell in a fresh clone, print what the page shows.

The clone has a copy of this checkout's tools and programs, which `./vermilion` takes over as in any checkout that was copied
(`checkouts.py`). So it sets itself up from what is there, and compiles nothing that is compiled here.
"""

import os
import re
import shutil
import subprocess
import threading
import time

import pytest

from support import checkouts
from support.prose import sentences
from support.shown_commands import follows, shown
from vermilion.toolchain import build

TEXT = (build.ROOT / "docs/ten-minutes.md").read_text()
COMMANDS = shown(TEXT)
READS = "./vermilion ctl stats"  # repeated until the device has carried the capture
PATIENCE = 600  # s for a command; a busy machine may need some of it


def test_what_is_shown_is_compared():
    assert follows(["a", "...", "c"], ["a", "b", "c"]) is None and follows(["a", "c"], ["a", "b", "c"]) == "c"
    assert follows(["x ... y"], ["x 1 y"]) is None and follows(["c", "a"], ["a", "b", "c"]) == "a"


def test_commands_and_here_documents_are_found():
    text = "```console\n$ a\nb\n$ cat > c <<'E'\n$ d\n\nE\n$ f\n...\n```\ntext\n```console\n$ g &\n```\n"
    assert shown(text) == [("a", ["b"]), ("cat > c <<'E'\n$ d\n\nE", []), ("f", ["..."]), ("g &", [])]


def test_the_page_is_plain_and_shows_every_step():
    assert not [" ".join(words) for words in sentences(TEXT) if len(words) > 25]
    words = [command.split()[1] for command, _ in COMMANDS if command.startswith("./vermilion ")]
    assert {"run", "check", "curves", "device", "ctl"} == set(words)


class Shell:
    """One bash, to which commands are given as to a shell that somebody types into."""

    def __init__(self, folder, environment):
        script, self.typed = os.pipe()
        self.process = subprocess.Popen(
            ["bash", f"/dev/fd/{script}"], cwd=folder, env=environment, pass_fds=[script], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        os.close(script)
        os.write(
            self.typed, b"trap 'kill $(jobs -p) 2> /dev/null' EXIT\n"
        )  # the device goes with the shell, and that with this process
        self.lines, self.ends = [], {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            end = re.fullmatch(r"ended (\d+) (\d+)\n", line)
            if end:
                self.ends[int(end[1])] = int(end[2])
            else:
                self.lines.append(line.removesuffix("\n"))

    def type(self, command: str, lines: list[str]) -> list[str]:
        """What a command printed, once it has ended with status 0; in the background, once it has printed these lines."""
        began, number = len(self.lines), len(self.ends)
        os.write(self.typed, f"{command}\necho ended {number} $?\n".encode())
        until, background = time.monotonic() + PATIENCE, command.endswith(" &")
        while number not in self.ends or background and follows(lines, self.lines[began:]):
            assert time.monotonic() < until and self.process.poll() is None, (command, self.lines[began:])
            time.sleep(0.05)
        assert self.ends[number] == 0, (command, self.lines[began:])
        return self.lines[began:]

    def close(self):
        """Ends the shell, once its last command has ended."""
        os.close(self.typed)
        self.process.wait(60)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    if not (shutil.which("mill") and shutil.which("verilator") and shutil.which("git")):
        pytest.skip("no Mill, Verilator or git: run through ./vermilion test")
    build.device("lab")  # and with it the simulator
    return checkouts.clone(tmp_path_factory.mktemp("ten") / "vermilion")


def arrived(lines: list[str]) -> list[int]:
    """The packets that arrived, of each row of the counters."""
    return [int(count.replace(",", "")) for count in re.findall(r"^ \w+ +green +([\d,]+) ", "\n".join(lines), re.M)]


@pytest.mark.slow
def test_every_command_prints_what_the_page_shows(clone, tmp_path_factory):
    """Set-up, run, own capture, own configuration, curves, and the device's counters read and set by ctl."""
    place = tmp_path_factory.mktemp("lane") / "lane"
    assert len(os.fsencode(place)) < 100
    environment = checkouts.environment() | {"VERMILION_STATE": str(place.parent / "state")}
    shell, counted = Shell(clone, environment), []
    try:
        for command, lines in COMMANDS:
            command, *lines = (each.replace("/tmp/lane", str(place)) for each in (command, *lines))
            printed, until = shell.type(command, lines), time.monotonic() + PATIENCE
            while command == READS and (follows(lines, printed) or 0 in arrived(printed)):
                assert time.monotonic() < until, (follows(lines, printed), "\n".join(printed))
                printed = shell.type(command, lines)
            assert follows(lines, printed) is None, (command, follows(lines, printed), printed)
            counted += [arrived(printed)] if command == READS else []
    finally:
        shell.close()
    assert len(counted) == 2 and len(counted[0]) == 3 and counted[1] == [1000, 333, 400]
    for name in ("out/own.pcap", "out/curves.svg", "out/report.html", ".vermilion/report.html"):
        assert (clone / name).stat().st_size > 1000, name
    status = subprocess.run(["git", "status", "--short"], cwd=clone, capture_output=True, text=True, check=True).stdout
    assert status == "", "the page's files are left where git does not look"
