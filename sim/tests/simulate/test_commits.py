"""Profile changes at line rate: every decision is that of one whole profile, and one bit that was written otherwise than told is found."""

import json
import shutil

import pytest

from vermilion.measure import commits
from vermilion.toolchain import build

SEED = 11


@pytest.fixture(scope="module")
def campaign_program():
    if not (shutil.which("mill") and shutil.which("verilator")):
        pytest.skip("no Mill or Verilator: run through ./vermilion test")
    return build.commits("lab")


@pytest.mark.slow
def test_every_decision_amid_changes_used_the_old_or_the_new_profile_whole(campaign_program):
    print(f"seed {SEED}")
    status, found = commits.campaign("lab", 300, SEED, 0, campaign_program)
    assert (status, found["fault"]) == (0, "")
    assert found["changes"] == 300 and found["decisions"] > 100 * 300
    assert found["changes_with_both"] > 100, "commits fell where nothing could tell the profiles apart"
    for verdict in commits.VERDICTS:
        assert verdict == "nobuf" or found["verdicts"][verdict] > 100, verdict


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [5, 77, 150])
def test_the_last_place_of_a_weight_that_is_not_as_told_is_found(campaign_program, wrong):
    status, found = commits.campaign("lab", 200, SEED, wrong, campaign_program)
    assert status == 1 and "a decision is neither the old profile's nor the new one's" in found["fault"]


def test_the_results_are_of_the_settings_that_are_there():
    held = json.loads((commits.RESULTS / "commits.json").read_text())
    assert (commits.RESULTS / "commits.md").read_text() == commits.page(held)
    assert all(
        each["changes"] >= 10_000 and each["fault"] == "" and each["profiles"] == commits.PROFILES for each in held
    )
    assert all(each["changes_with_both"] > 3000 for each in held)
