"""Hostile configuration files (sim/tests/config/hostile), and what the commands answer to them.

`python -m support.hostile_files` shows where today's messages differ from those of the data files; with `--write` the files get today's.
"""

import contextlib
import difflib
import io
import json
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from vermilion.commands import cli
from vermilion.toolchain import build

FOLDER = Path(__file__).resolve().parents[1] / "config" / "hostile"
FILE = "case.toml"
START = f"vermilion: {FILE}: "  # of every answer; `message` is the rest
MESSAGE = "message = "  # begins a case's line of its message
BUILDS = ("simulator", "model_program", "device", "model_library")


@dataclass(frozen=True)
class Case:
    """A file's name, its content, the command that reads it, and the answer that is wanted."""

    file: str
    name: str
    content: bytes
    command: tuple[str, ...]
    says: tuple[str, str, str]  # field, value, what is legal; each stands in the message
    lacks: str | None
    message: str

    def __str__(self):
        return f"{Path(self.file).stem}: {self.name}"


def content(raw: dict, before: str) -> bytes:
    if "bytes" in raw:
        return bytes.fromhex(raw["bytes"])
    text = raw["text"] if raw.get("whole") else before + raw["text"]
    if "times" in raw:
        text = text.replace("@", raw["fill"] * raw["times"])
    return f"{text}\n".encode()


def read(path: Path) -> list[Case]:
    held = tomllib.loads(path.read_text(encoding="utf-8"))
    made = []
    for raw in held["case"]:
        words = raw.get("run", "check").split()
        words += ["--config", FILE] if words[0] == "run" else [FILE]
        about = (tuple(words), tuple(raw["says"]), raw.get("lacks"), raw["message"])
        made.append(Case(path.name, raw["name"], content(raw, held["before"]), *about))
    return made


def cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.toml")) for case in read(path)]


def answer(case: Case, folder: Path) -> tuple[int, str, str]:
    """Status, standard output and standard error of the case's command, in this process. A build that begins is an error."""
    (folder / FILE).write_bytes(case.content)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as held:
        for name in BUILDS:
            began = AssertionError(f"{case}: is accepted, a build begins")
            held.enter_context(mock.patch.object(build, name, side_effect=began))
        held.enter_context(mock.patch.object(sys, "argv", ["vermilion", *case.command]))
        held.enter_context(contextlib.chdir(folder))
        held.enter_context(contextlib.redirect_stdout(out))
        held.enter_context(contextlib.redirect_stderr(err))
        try:
            cli.main()
        except SystemExit as end:
            return end.code or 0, out.getvalue(), err.getvalue()
    raise AssertionError(f"{case}: {' '.join(case.command)} does not end")


def quoted(text: str) -> str:
    """A string of TOML, literal where it can be."""
    return f"'{text}'" if "'" not in text and text.isprintable() else json.dumps(text, ensure_ascii=False)


def anew(path: Path, folder: Path) -> str:
    """A data file with today's messages."""
    told = (answer(case, folder)[2].removeprefix(START).removesuffix("\n") for case in read(path))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    made = (f"{MESSAGE}{quoted(next(told))}\n" if line.startswith(MESSAGE) else line for line in lines)
    return "".join(list(made))


def main(words: list[str]):
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(FOLDER.glob("*.toml")):
            before, after = path.read_text(encoding="utf-8"), anew(path, Path(folder))
            names = (str(path), f"{path}, today")
            sys.stdout.writelines(difflib.unified_diff(before.splitlines(True), after.splitlines(True), *names, n=7))
            if "--write" in words and after != before:
                path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
