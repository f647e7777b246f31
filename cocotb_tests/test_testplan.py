"""The testplan names every block of the RTL, and only tests that there are."""

import re
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).resolve().parents[1]
ENTRIES = tomllib.loads((ROOT / "cocotb_tests/testplan.toml").read_text())["entry"]


def exists(test: str) -> bool:
    """Whether FILE or FILE::TEST is there; a Scala test is named by the words between its quotes."""
    name, _, inside = test.partition("::")
    path = ROOT / name
    if not path.is_file():
        return False
    text = path.read_text()
    return not inside or (f'"{inside}"' in text if path.suffix == ".scala" else f"def {inside}(" in text)


def test_every_test_that_the_plan_names_exists():
    missing = [test for entry in ENTRIES for test in entry["tests"] if not exists(test)]
    assert not missing, missing
    assert not exists("cocotb_tests/none_bench.py") and not exists("cocotb_tests/test_testplan.py::no_such_test")


def test_every_block_of_the_rtl_is_in_the_plan_with_an_intent_and_a_test():
    listed = re.findall(r"\.\./hw/src/vermilion/(\S+)\.scala", (ROOT / "docs/blocks.md").read_text())
    planned = [block for entry in ENTRIES for block in entry["blocks"]]
    assert len(listed) > 40 and sorted(planned) == sorted(listed), set(planned) ^ set(listed)
    assert all(entry["name"] and entry["intent"] and entry["tests"] for entry in ENTRIES)
