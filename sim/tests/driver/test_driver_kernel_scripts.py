"""The page of the kernel's own scripts is of its JSON; in the nightly run the scripts give again what it says."""

import json

import pytest

from campaigns import kernel_scripts
from support import driver_bench
from support.nightly import at_night

HELD = json.loads((kernel_scripts.RESULTS / "kernel-scripts.json").read_text())
CONSOLE = """script.begins sch_offload.sh\r
TEST: root-TBF offloaded                                            [ OK ]\r
TEST: root-DRR not offloaded                                        [FAIL]\r
script.begins tdc:tbf.json\r
offloaded 6430 tbf 0 tbf 1: rate is 10000; legal is 64kbit to 200Gbit\r
offloaded 0518 tbf 1 \r
ok 1 6430 - Create TBF with mandatory parameters\r
not ok 2 0518 - Create TBF with mtu\r
"""


def test_the_page_is_of_the_runs_results():
    assert (kernel_scripts.RESULTS / "kernel-scripts.md").read_text() == kernel_scripts.page(HELD)


def test_a_failure_and_a_refusal_stand_on_the_page():
    found = kernel_scripts.rows(CONSOLE)
    assert [(row["passed"], row["refused"]) for row in found] == [
        (True, None),
        (False, None),
        (True, "rate is 10000; legal is 64kbit to 200Gbit"),
        (False, ""),
    ]
    page = kernel_scripts.page(HELD | {"rows": found})
    for line in (
        "| sch_offload.sh | 2 | 1 | 1 | 0 | 0 | ",
        "| sch_offload.sh | root-DRR not offloaded |",
        "| tdc:tbf.json | 6430 | rate is 10000; legal is 64kbit to 200Gbit |",
    ):
        assert line in page


@at_night
@pytest.mark.guest
@pytest.mark.parametrize("part", HELD["drivers"])
def test_the_scripts_give_what_the_page_says(part):
    driver_bench.check_machine()
    found = kernel_scripts.rows(kernel_scripts.played(part, HELD["kernel"]))
    assert found == [row for row in HELD["rows"] if kernel_scripts.part_of(row["script"]) == part]
