"""What takes too long for every run: tests and sizes with `VERMILION_LONG=1` in the environment. docs/changing/tests.md names them, and what every run has in their place."""

import os

import pytest

NIGHTLY = bool(os.environ.get("VERMILION_LONG"))
LONG = [pytest.mark.long, pytest.mark.skipif(not NIGHTLY, reason="run with VERMILION_LONG=1")]


def at_night(test):
    """A test that only the nightly run has."""
    for mark in LONG:
        test = mark(test)
    return test


def nightly(*values):
    """A set of a test's parameters."""
    return pytest.param(*values, marks=LONG)
