"""Random configurations of a lane with several egresses, and runs of the RTL with them: each egress has one of its own, and a pool is drawn in three of
four. Inputs are routed to egresses at random, several to one among them.
"""

import csv
import dataclasses
import json
import random
from pathlib import Path

from support import random_lanes
from support.engine_outputs import Outputs, run
from vermilion.profile import quantise
from vermilion.toolchain import build

FRAMES = 400


def pool(rng, shape: build.Preset) -> dict:
    """Reserves, caps and a size so short that each rule refuses something."""
    reserve = [rng.choice((0, 0, 4, rng.randrange(80))) for _ in range(shape.egresses)]
    cap = [rng.choice((0, 0, each + rng.randrange(1, 200))) for each in reserve]
    return {"size": sum(reserve) + rng.choice((0, 10, rng.randrange(600))) + 1, "reserve": reserve, "cap": cap}


def drawn(folder: Path, seed: int, shape: build.Preset):
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


def ran(folder: Path, seed: int, preset: str) -> tuple[Outputs, list[int], int]:
    """A run from random state, with random bits where a read meets a write in a RAM, and with random stalls and pauses if the seed is odd: its outputs, the
    routes, and how many packets the pool refused. Every decision is the model's, and every frame and byte is accounted for, or it fails.
    """
    words, capture, routes = drawn(folder, seed, build.shape(preset))
    options = ["--collisions", seed, "--power-up", seed, *["--stalls"] * (seed % 2), "--trace", folder / "trace.csv"]
    rtl = run(build.simulator(preset, "undefined"), folder, words, capture, *options)
    rtl.check()
    with (folder / "trace.csv").open() as lines:
        return rtl, routes, sum(line["pool_full"] == "1" for line in csv.DictReader(lines))


def used(outputs: Outputs, shape: build.Preset) -> set[int]:
    """The egresses that sent something."""
    share = shape.queues // shape.egresses
    queues = outputs.stats["queues"]
    return {each["index"] // share for each in queues if any(colour["sent"]["packets"] for colour in each["colours"])}
