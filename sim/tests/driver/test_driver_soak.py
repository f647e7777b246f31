"""The soak's page is of its JSON, and what it looks at in a guest's console would show; the soak itself is not run here."""

import json
import subprocess

import pytest

from campaigns import driver_soak

CONSOLE = "uses 100 of 100\r\ngrown __alloc+0x1/0x2 5 105\r\nsites 1234\r\n"


def test_the_page_is_of_the_runs_figures():
    held = json.loads((driver_soak.RESULTS / "driver-soak.json").read_text())
    assert (driver_soak.RESULTS / "driver-soak.md").read_text() == driver_soak.page(held)
    assert held["steps"] >= 1_000_000 and held["loads"] >= 100 and held["ended"]
    assert held["messages"] == sum(held["messages_by_errno"].values())
    assert not held["grown_call_sites"] and not held["splats"]


def test_what_is_wrong_stands_on_the_page():
    held = json.loads((driver_soak.RESULTS / "driver-soak.json").read_text())
    bad = driver_soak.page(held | {"ended": False, "splats": ["BUG: x"], "grown_call_sites": ["f 1 101"]})
    assert all(word in bad for word in ("did not come to their end", "    BUG: x", "    grown: f 1 101"))


def test_growth_failed_uses_and_missing_books_are_seen():
    assert driver_soak.grown(CONSOLE) == ["__alloc+0x1/0x2 5 105"] and driver_soak.uses(CONSOLE) == 100
    with pytest.raises(AssertionError):
        driver_soak.grown(CONSOLE + "use failed: ethtool -S eth0 no\r\n")
    with pytest.raises(AssertionError):
        driver_soak.grown(CONSOLE.replace("1234", "3"))


@pytest.mark.parametrize("loads, least", [(12, 10), (20, 18), (100, 98), (3, 10)])
def test_a_call_site_that_grows_with_the_loads_is_told(tmp_path, loads, least):
    """An object for each load but two is growth, ten at least; one less is none. Lines of one call site are added up."""
    before, behind = tmp_path / "before", tmp_path / "behind"
    before.write_text("leaks 5\nsame 70\ngone 9\nnearly 1\nnearly 2\n")
    behind.write_text(f"leaks {4 + least}\nleaks 1\nsame 70\nfresh {least}\nnearly {2 + least}\n")
    words = ["awk", "-v", f"loads={loads}", driver_soak.COMPARE, before, behind]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert sorted(told) == sorted([f"grown leaks 5 {5 + least}", f"grown fresh 0 {least}", "sites 4"])
