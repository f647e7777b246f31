import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest  # noqa: E402

import exact_words  # noqa: E402
from vermilion import quantise, suite  # noqa: E402

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
