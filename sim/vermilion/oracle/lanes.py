"""Packets through the bit-exact model, for comparison with other implementations: configurations, arrivals, decisions.

A configuration goes through `config.py` and `quantise.py` as a user's does, so the quantiser is part of what is compared. A fault, where one is
asked for, changes the hardware record after that: the model then has numbers that the configuration does not ask for.
"""

import json
import math
import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vermilion.configuration import config
from vermilion.hardware.formats import AVG_FRAC, IDLE_FRAC, PROB_FRAC, value
from vermilion.profile import quantise
from vermilion.profile.record import LaneRecord
from vermilion.toolchain import build
from vermilion.values.fields import COLOURS

HERE = build.ROOT / "sim" / "oracles"
SECOND = 10**9
ENQUEUE, MARK, EARLY, FORCED, TAIL = range(5)


@dataclass(frozen=True)
class Packet:
    ns: int
    bytes: int
    colour: int = 0


@dataclass(frozen=True)
class Decision:
    """What one decision of the model saw and gave. Backlogs and departures are by colour; `avg` in bytes or packets."""

    ns: int
    colour: int
    bytes: int
    verdict: int
    avg: float
    p: float
    queued_bytes: tuple[int, ...]
    queued_packets: tuple[int, ...]
    departed: tuple[int, ...]
    look_ahead: int

    @property
    def lost(self) -> bool:
        return self.verdict > MARK


@dataclass(frozen=True)
class Lane:
    """A queue behind a port, as a user configures it, and as the hardware has it."""

    asked: dict
    record: LaneRecord

    @property
    def exact(self) -> tuple[float, float, float]:
        """Weight, decay of the average a ns and decay with the arriving packet (natural logarithms), as asked."""
        parsed = config.parse(self.asked)
        average = parsed.queue[0].average
        packet_ns = 8 * SECOND * average.idle_packet.value / parsed.port.rate
        step = -math.log1p(-average.weight)
        return average.weight, step / packet_ns, step

    @property
    def held(self) -> tuple[float, float, float]:
        """The same as the hardware holds it, without a fault."""
        queue = clean(self.asked)["queues"][0]
        halvings = math.log(2) / 2**IDLE_FRAC
        per_ns = float(value(queue["lambda"])) * halvings
        return float(value(queue["weight"][0], 8)), per_ns, queue["idle_step"] * 2.0 ** -queue["lambda"][1] * halvings

    @property
    def masks(self) -> list[int]:
        return self.record["queues"][0]["masks"]

    def decisions(self, packets: list[Packet], seed: int = 1) -> list[Decision]:
        text = "".join(f"{p.ns} {p.bytes} {p.colour}\n" for p in packets)
        return self._run([str(seed)], text)

    def kept(self, keep: int, count: int, bytes_: int, seed: int = 1) -> list[Decision]:
        """`count` decisions while `keep` packets are queued."""
        return self._run([str(seed), str(keep), str(count), str(bytes_)], "")

    def _run(self, words: list[str], text: str) -> list[Decision]:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(self.record, file)
            file.flush()
            out = feed([program(), file.name, *words], text)
        return [decision(list(map(int, line.split()))) for line in out.splitlines()]


def decision(words: list[int]) -> Decision:
    head, each = words[:6], words[6:15]
    avg, p = head[4] / 2**AVG_FRAC, head[5] / 2**PROB_FRAC
    return Decision(
        head[0], head[1], head[2], head[3], avg, p, tuple(each[0::3]), tuple(each[1::3]), tuple(each[2::3]), words[15]
    )


def feed(command: list, text: str) -> str:
    """What a program prints for `text` on its standard input."""
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True)
    if done.returncode:
        raise build.BuildError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return done.stdout


def program(say=build.quiet) -> Path:
    library, source = build.model_library(say), HERE / "lane.cpp"
    made = build.BUILD / "oracle-lane"
    command = ["g++", *build.CXX_FLAGS, *build.MODEL_FLAGS, source, *build.linked(library), "-o", made]
    key = build.digest([source, *build.model_inputs()], *command)
    if not build.is_made(made, key):
        with build.locked(f"{made.name}.lock"):
            build.step(made, key, say, "the model's side", lambda: build.run(command, build.BUILD / "oracle-lane.log"))
    return made


def clean(asked: dict) -> LaneRecord:
    return quantise.hardware(config.parse(asked))


def lane(rate: str | int, average: dict, fault=None, **queue) -> Lane:
    """A port of `rate` with one queue over AF11 to AF13; `queue` has its other settings, `fault` changes the record."""
    dscp = {"green": ["AF11"], "yellow": ["AF12"], "red": ["AF13"]}
    table = {"name": "q", "default": True, "dscp": dscp, "average": average, **queue}
    asked = {"port": {"rate": rate}, "queue": [table]}
    record = clean(asked)
    if fault:
        fault(record)
    return Lane(asked, record)


def red(low, high, p, curve="red") -> dict:
    """The three colours with one curve."""
    each = {"curve": curve, "min": low, "max": high, "p": p}
    return dict.fromkeys(COLOURS, each)


def random_packets(seed, count: int, rate: int, load: float, sizes=(60, 1500), burst: int = 1) -> list[Packet]:
    """Poisson arrivals of bursts at `load` times `rate` (bit/s), of random colours; sizes are uniform."""
    rng, now = random.Random(f"packets {seed}"), 1000.0
    out: list[Packet] = []
    mean_ns = 8 * SECOND * sum(sizes) / 2 / rate / load
    while len(out) < count:
        number = min(rng.randint(1, 2 * burst - 1), count - len(out))
        now += rng.expovariate(1 / (mean_ns * burst))
        out += [Packet(int(now), rng.randint(*sizes), rng.choice((0, 0, 1, 2))) for _ in range(number)]
    return out


def off_by(name: str, change: int, most: int):
    """A fault: adds `change` to the mantissas of a queue's "weight" or "lambda", or takes it off where they are above `most` then."""

    def put(record):
        pairs = record["queues"][0][name]
        for pair in pairs if name == "weight" else [pairs]:
            pair[0] += change if pair[0] + change <= most else -change

    return put


weight_off_by_one = off_by("weight", 1, 2**9 - 1)
