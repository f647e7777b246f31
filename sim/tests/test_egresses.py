"""A lane with several egresses, held against the model and its own accounts.

Each egress has a random configuration of its own; the inputs are routed to egresses at random, several to one among them.
"""

import csv
import dataclasses
import json
import random
import subprocess

import pytest
import random_lanes
from engine_outputs import CHECKS, run
from nightly import NIGHTLY

from vermilion import build, quantise

pytestmark = pytest.mark.slow

PRESET, FRAMES = "lab-egresses", 400
SEEDS = 250 if NIGHTLY else 12


def pool(rng, shape: build.Preset) -> dict:
    """Reserves, caps and a size so short that each rule refuses something."""
    reserve = [rng.choice((0, 0, 4, rng.randrange(80))) for _ in range(shape.egresses)]
    cap = [rng.choice((0, 0, each + rng.randrange(1, 200))) for each in reserve]
    return {"size": sum(reserve) + rng.choice((0, 10, rng.randrange(600))) + 1, "reserve": reserve, "cap": cap}


def drawn(folder, seed: int, shape=build.shape(PRESET)):
    """Words and capture of one seed, and the routes."""
    rng = random.Random(seed)
    share = shape.queues // shape.egresses
    one = dataclasses.replace(shape, queues=share, victims=min(shape.victims, share), egresses=1)
    configs = [random_lanes.configuration(rng, one) for _ in range(shape.egresses)]
    routes = [rng.randrange(shape.egresses) for _ in range(shape.inputs)]
    if seed % 3 == 0:
        routes = rng.sample(range(shape.egresses), shape.inputs)
    record = quantise.card(configs, routes, share)
    if rng.random() < 0.75:
        record |= {"pool": pool(rng, shape)}
        for queue in record["queues"]:
            queue["alpha"] = rng.choice((0, 0, *range(1, 12)))
    words = folder / "words.json"
    words.write_text(json.dumps(record))
    return words, random_lanes.capture(folder / "in.pcap", rng, FRAMES), routes


def refusal(folder, change=lambda record: None, program=(PRESET, "undefined"), shape=build.shape(PRESET)) -> str:
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
    few = dataclasses.replace(build.shape(PRESET), queues=16)
    every = "has 16 queues; a build with 4 egresses needs all its 32, an equal share each"
    assert every in refusal(tmp_path, shape=few)
    assert "has 4 egresses, this build 1" in refusal(tmp_path, program=("lab",), shape=few)
    assert "routes" in (said := refusal(tmp_path, nowhere)) and "3" in said and "4" in said


@pytest.mark.parametrize("turn", range(4))
def test_every_decision_and_byte_is_the_models_under_random_configurations(tmp_path, turn):
    """From random state, with random bits where a read meets a write in a RAM, and with random stalls and pauses in half of the runs."""
    program, used, refused = build.simulator(PRESET, "undefined"), set(), 0
    for seed in range(1 + turn, 1 + SEEDS, 4):
        print("seed", seed)
        words, capture, routes = drawn(tmp_path, seed)
        options = [
            "--collisions",
            seed,
            "--power-up",
            seed,
            *["--stalls"] * (seed % 2),
            "--trace",
            tmp_path / "trace.csv",
        ]
        rtl = run(program, tmp_path, words, capture, *options)
        rtl.check()
        share = build.shape(PRESET).queues // build.shape(PRESET).egresses
        sent = {
            queue["index"] // share
            for queue in rtl.stats["queues"]
            if any(colour["sent"]["packets"] for colour in queue["colours"])
        }
        assert sent <= set(routes), f"seed {seed}: egresses {sent} have sent, the routes are {routes}"
        used |= sent
        with (tmp_path / "trace.csv").open() as lines:
            refused += sum(line["pool_full"] == "1" for line in csv.DictReader(lines))
    assert len(used) == build.shape(PRESET).egresses and refused > 100
