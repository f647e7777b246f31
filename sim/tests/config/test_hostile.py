"""Hostile configuration files, each wrong in one way: the whole message of the command that reads it, and what every message must hold.

The files lie in `hostile`; how their messages are made anew stands at the head of each.
"""

import re

import pytest

from support import hostile_files
from vermilion.configuration import config, egresses
from vermilion.toolchain import build

CASES = hostile_files.cases()
LONGEST = 500  # characters of a message
# Why a message names no field, no value, or nothing that is legal.
LACKS = {
    "missing": "a field that is missing has no value",
    "key": "a key that is none is field and value at once",
    "not TOML": "the file has no tables, so no fields: the place is the line and column, as the reader of TOML gives them",
}
TABLES = {*config.MODELS.values(), config.EcnCurve, egresses.File, egresses.Egress, egresses.Share, egresses.OwnPort}


@pytest.fixture(scope="module", autouse=True)
def library():
    """Built before the first file is read."""
    build.driver_library()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message(tmp_path, case):
    """The file ends the command with status 2, the message of the data file, and nothing else."""
    status, out, err = hostile_files.answer(case, tmp_path)
    assert (status, out, err) == (2, "", f"{hostile_files.START}{case.message}\n")


def flaws(case):
    """What a message must hold, and does not."""
    text = case.message
    if not text.isprintable() or len(text) > LONGEST or "Traceback" in text:
        yield "is no short line of printable characters"
    if len(re.findall(r"[.?!](?= |$)", text)) > 2:
        yield "is more than two sentences"
    yield from (f"does not hold {part}" for part in case.says if part not in text)
    if all(case.says) != (case.lacks is None) or case.lacks not in (None, *LACKS):
        yield "names field, value and what is legal, or lacks one of them for a reason"
    if case.lacks == "not TOML" and not re.search(r"not TOML|nested too deeply|more than \d+ digits", text):
        yield "is no message of the reader of TOML"


def test_property():
    """A message names field, value and what is legal, in at most two sentences of printable characters."""
    assert not {str(case): (case.message, found) for case in CASES if (found := list(flaws(case)))}


def test_cases():
    """No two cases have a name, or a file and a command; each reason is needed."""
    assert len({str(case) for case in CASES}) == len({(case.content, case.command) for case in CASES}) == len(CASES)
    assert {case.lacks for case in CASES} == {None, *LACKS}


def test_fields():
    """Each field of each table of a file has a case."""
    told = {word for case in CASES for word in re.findall(r"\w+", case.says[0])}
    assert {name for table in TABLES for name in table.model_fields} - told == set()


def test_anew(tmp_path):
    """Messages made anew are those of the data files, byte for byte."""
    path = hostile_files.FOLDER / "file.toml"
    assert hostile_files.anew(path, tmp_path) == path.read_text(encoding="utf-8")
