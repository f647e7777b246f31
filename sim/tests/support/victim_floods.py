"""Push-out with a frame in every clock: a build for it, floods of short frames, and both engines on them."""

import csv
import io
import json
import random
import subprocess
import tomllib

from support.victims import CODES, ip
from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.toolchain import build

# A build for tests: push-outs in the first four queues, and a buffer that runs full.
NAME, SHAPE = "nic100g-victims", build.Preset(data_bits=512, inputs=2, stallable=0b10, cells=1024, victims=4)


def short(rng, codes, near):
    """A frame of one beat; `near`: all have come as far."""
    frame = bytes(12) + b"\x08\0" + ip(rng, rng.choice(codes), 7 if near else rng.randrange(64), 4)
    return frame + bytes(60 - len(frame))


def floods(seed):
    """Frames for all classes, or for one and then another, from anywhere or from one distance."""
    rng, frames = random.Random(seed), []
    for number in range(12000):
        if number % 1500 == 0:
            near, codes = rng.random() < 0.3, rng.choice([sum(CODES.values(), []), *CODES.values()])
        frames.append((number, short(rng, codes, near), 60))
    return frames


def engines(program, folder, text, capture, shape=SHAPE, pace=("--rate", 200_000_000_000)):
    """Both engines on the same capture; the RTL's figures and trace."""
    asked = config.parse(tomllib.loads(text), shape.queues, shape.victims)
    (folder / "words.json").write_text(json.dumps(quantise.hardware(asked)))
    got = {}
    for engine in ("rtl", "model"):
        names = {name: folder / f"{engine}.{name}" for name in ("out", "trace", "stats")}
        command = [
            program,
            "--in",
            capture,
            "--config-words",
            folder / "words.json",
            "--engine",
            engine,
            *pace,
        ]
        command += ["--out", names["out"], "--trace", names["trace"], "--stats-json", names["stats"]]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]
        got[engine] = names
    rtl, model = got["rtl"], got["model"]
    for one, other in zip(rtl["trace"].read_text().splitlines(), model["trace"].read_text().splitlines(), strict=True):
        assert one == other
    assert rtl["out"].read_bytes() == model["out"].read_bytes()
    stats, modelled = (json.loads(names["stats"].read_text()) for names in (rtl, model))
    assert stats["queues"] == modelled["queues"] and stats["clocks"] == modelled["clocks"]
    assert stats["replay"]["decisions"] == stats["replay"]["agreed"] > 0 and stats["accounting"]["errors"] == 0
    return stats, list(csv.DictReader(io.StringIO(rtl["trace"].read_text())))
