"""What any test may ask for, and how each run of the tests begins."""

import json
import shutil

import pytest

pytest.register_assert_rewrite("support")

from support import exact_words
from vermilion.configuration import config_file
from vermilion.profile import quantise
from vermilion.testing import suite
from vermilion.toolchain import build

worked_out = quantise.hardware


def hardware(config, egresses=1):
    """Whatever configuration a test asks for: the driver library's record is that of exact fractions."""
    record = worked_out(config, egresses)
    assert record == exact_words.hardware(config, egresses)
    return record


quantise.hardware = hardware


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    suite.mark_quick(items)
    # Its builds are its own, a minute each: at the end one core would have no work.
    suite.interleave(items, first=("test_undefined.py",))


def needs_tools():
    if not (shutil.which("mill") and shutil.which("verilator")):
        pytest.skip("no Mill or Verilator: run through ./vermilion test")


@pytest.fixture(scope="session")
def program():
    """The simulator's program of the preset `lab`."""
    needs_tools()
    return build.simulator("lab")


@pytest.fixture(scope="session")
def words(tmp_path_factory):
    """The hardware's record of the default configuration, as a file."""
    path = tmp_path_factory.mktemp("config") / "words.json"
    path.write_text(json.dumps(quantise.hardware(config_file.load(build.ROOT / "sim/configs/default.toml", 16))))
    return path


@pytest.fixture(scope="session")
def device_program():
    """The program of the simulated PCI device with a lane `lab`."""
    needs_tools()
    return build.device("lab")


@pytest.fixture
def state(monkeypatch, tmp_path):
    """The host's records lie in the test's folder."""
    monkeypatch.setenv("VERMILION_STATE", str(tmp_path / "state"))
    return tmp_path / "state"
