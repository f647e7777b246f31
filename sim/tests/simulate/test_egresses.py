"""A lane with several egresses, held against the model and its own accounts.

Each egress has a random configuration of its own; the inputs are routed to egresses at random, several to one among them.
"""

import dataclasses
import json
import subprocess

import pytest

from campaigns import egress_campaign
from support import egress_lanes
from support.egress_lanes import drawn, ran, used
from support.nightly import NIGHTLY
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

PRESET = "lab-egresses"
SHAPE = build.shape(PRESET)
SEEDS = 250 if NIGHTLY else 12


def refusal(folder, change=lambda record: None, program=(PRESET, "undefined"), shape=SHAPE) -> str:
    """What the simulator says to a record of a build of the shape `shape`, changed by `change`."""
    words, capture, _ = drawn(folder, 1, shape)
    record = json.loads(words.read_text())
    change(record)
    words.write_text(json.dumps(record))
    command = [build.simulator(*program), "--config-words", words, "--in", capture, "--out", folder / "out.pcap"]
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 2, result
    return result.stdout + result.stderr


def test_a_record_that_is_not_the_builds_is_refused(tmp_path):
    def three(record):
        record["egresses"].pop()

    def one(record):
        record["egresses"], record["routes"] = record["egresses"][:1], [0, 0, 0, 0]
        record.pop("pool", None)

    def nowhere(record):
        record["routes"][2] = 4

    assert "egresses: must be a list of 1, 2, 4 or 8 egresses" in refusal(tmp_path, three)

    def too_large(record):
        record["pool"] = {"size": 1000, "reserve": [0] * 4, "cap": [0, 0, 1025, 0]}

    def too_much(record):
        record["pool"] = {"size": 100, "reserve": [50, 30, 21, 0], "cap": [0] * 4}

    def below(record):
        record["pool"] = {"size": 100, "reserve": [0, 30, 0, 0], "cap": [0, 29, 0, 0]}

    assert "pool.cap[2] is 1025, this build has 1024 cells" in refusal(tmp_path, too_large)
    assert "pool.reserve: adds up to 101 cells, more than the pool's size of 100" in refusal(tmp_path, too_much)
    assert "pool.cap: has 29 for egress 1, less than its reserve of 30" in refusal(tmp_path, below)
    assert "has 1 egresses, this build 4" in refusal(tmp_path, one)
    few = dataclasses.replace(SHAPE, queues=16)
    every = "has 16 queues; a build with 4 egresses needs all its 32, an equal share each"
    assert every in refusal(tmp_path, shape=few)
    assert "has 4 egresses, this build 1" in refusal(tmp_path, program=("lab",), shape=few)
    assert "routes" in (said := refusal(tmp_path, nowhere)) and "3" in said and "4" in said


@pytest.mark.parametrize("turn", range(4))
def test_every_decision_and_byte_is_the_models_under_random_configurations(tmp_path, turn):
    seen, refused = set(), 0
    for seed in range(1 + turn, 1 + SEEDS, 4):
        print("seed", seed)
        rtl, routes, full = ran(tmp_path, seed, PRESET)
        sent = used(rtl, SHAPE)
        assert sent <= set(routes), f"seed {seed}: egresses {sent} have sent, the routes are {routes}"
        seen |= sent
        refused += full
    assert len(seen) == SHAPE.egresses and refused > 100


def test_the_page_of_the_campaign_is_made_of_its_data():
    rows = json.loads(egress_campaign.DATA.read_text())
    assert egress_campaign.PAGE.read_text() == egress_campaign.page(rows)
    assert sum(row["configurations"] for row in rows["rows"]) >= 1000
    assert {row["egresses"] for row in rows["rows"]} == {1, 2, 4, 8}
    for row in rows["rows"]:
        assert row["egresses_that_sent"] == row["egresses"] and row["pool_refusals"] > 100
        assert (
            row["decisions"] == row["configurations"] * egress_lanes.FRAMES
            and row["refreshes"] > 0
            and row["evicted"] > 0
        )
