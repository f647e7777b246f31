"""ns-3's RedQueueDisc beside the model: its average is read as it stands, its drops are counted. ns-3 comes from PyPI, as for the experiments."""

import json
import math
import random
import tempfile
from itertools import pairwise
from pathlib import Path

from vermilion.experiments import network
from vermilion.toolchain import build

from . import floyd, lanes, linux
from .rows import Finding, Row

NAME = "ns3-red"
SOURCE = build.ROOT / "sim" / "experiments" / "ns3" / "oracle" / "red.cpp"
SEED = 20234
RATE, PACKET_BYTES = 10**7, 1000
PACKET_NS = 8 * lanes.SECOND * PACKET_BYTES // RATE
DOUBLES = 1e-9  # of the longest queue: ns-3 and floyd.py both have doubles


def program(say=build.quiet) -> tuple[Path, str]:
    folder, version = network.ns3(say)
    made = build.BUILD / "oracle-ns3"
    command = [
        "g++",
        *build.CXX_FLAGS,
        "-isystem",
        folder / "include",
        SOURCE,
        *network.linked(folder, version),
        "-o",
        made,
    ]
    with build.locked(f"{made.name}.lock"):
        action = lambda: build.run(command, build.BUILD / "oracle-ns3.log")
        build.step(made, build.digest([SOURCE], *command), say, "ns-3's RED", action)
    return made, version


def attributes(weight: float, size: str, low: float, high: float, p: float = 0.1, wait: bool = True) -> dict[str, str]:
    return {
        "MaxSize": size,
        "QW": repr(weight),
        "MinTh": repr(float(low)),
        "MaxTh": repr(float(high)),
        "LInterm": repr(1 / p),
        "Gentle": "false",
        "Wait": str(wait).lower(),
        "UseHardDrop": "true",
        "MeanPktSize": str(PACKET_BYTES),
        "LinkBandwidth": f"{RATE}bps",
    }


def ask(made: Path, words: dict, arguments: list, text: str) -> list[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(words, file)
        file.flush()
        return lanes.feed([made, file.name, *arguments], text).splitlines()


def follow(made: Path, words: dict, decisions: list[lanes.Decision]) -> list[float]:
    """ns-3's average at each decision of the model."""
    line = lambda d: f"{d.ns} {d.bytes} {sum(d.queued_packets)} {max(d.departed)}\n"
    return list(map(float, ask(made, words, [], "".join(map(line, decisions)))))


def lane(weight: float, unit: str, fault) -> tuple[lanes.Lane, dict]:
    """Without curves on either side: nothing is dropped, so that both see the same queue."""
    average = {"weight": weight, "unit": unit, "idle_packet": PACKET_BYTES}
    size = "1000000000p" if unit == "packet" else "1000000000B"
    return lanes.lane(RATE, average, fault), attributes(weight, size, 5 * 10**8, 6 * 10**8)


def busy(made: Path, cases: int, count: int, fault, note) -> Row:
    worst, packets = 0.0, 0
    for number in range(cases):
        note(f"busy queue {number + 1} of {cases}")
        wlog, unit = (9, 4, 1, 7, 11)[number % 5], ("byte", "packet")[number % 2]
        both, words = lane(2.0**-wlog, unit, fault)
        sent = lanes.random_packets(f"{SEED} {number}", count, RATE, 1.5, (400, 1500))
        sent = [lanes.Packet(1000, 1500)] * 40 + [p for p in sent if p.ns > 1000]
        decisions = both.decisions(sent, SEED)
        tolerance = 2**-16 * (1 + 2**wlog)
        for d, average in zip(decisions, follow(made, words, decisions), strict=True):
            worst = max(worst, abs(d.avg - average) / (tolerance + DOUBLES * d.avg))
        packets += len(decisions)
    reason = "ns-3 has doubles; ours loses 2^-16 / w"
    return Row("average, busy queue", worst, 1, "of tolerance", packets, reason, "ours: rounding")


def spells(made: Path, cases: int, count: int, fault, note) -> Row:
    """Idle spells of whole packet times and 2 to 4 us, which ns-3's cast to an integer leaves out: known, and in the tolerance."""
    worst, packets = 0.0, 0
    for number in range(cases):
        note(f"whole idle spells {number + 1} of {cases}")
        rng = random.Random(f"{SEED} {number}")
        both, words = lane(2.0 ** -(5, 9, 7)[number % 3], "byte", fault)
        now, sent = 300_000_000, [lanes.Packet(1000, 1486)] * 200
        for _ in range(count):
            sent.append(lanes.Packet(now, rng.randint(60, 900)))
            now += PACKET_NS * rng.randint(1, 20) + 3000
        decisions = both.decisions(sent, SEED)
        exact, cut = floyd.Average(*both.exact), 0.0
        for d, average in zip(decisions, follow(made, words, decisions), strict=True):
            queued, departed = sum(d.queued_bytes), max(d.departed)
            if not queued:
                cut += (d.ns - max(departed, exact.updated)) % PACKET_NS * exact.per_ns  # by which ns-3 ages less
            exact.arrive(d.ns, queued, departed)
            worst = max(worst, abs(d.avg - average) / (exact.tolerance + cut * average + LAMBDA * average + 1e-6))
        packets += len(decisions)
    reason = "average.h, and what ns-3's cast leaves out: 4 us a spell"
    return Row("average, idle spells of whole packets", worst, 1, "of tolerance", packets, reason, "ns-3: cast of m")


LAMBDA = 2 * floyd.LAMBDA_ERROR  # weights are powers of two here and exact; the idle packet's time is not


class Cast(floyd.Average):
    """ns-3's rule: the idle packets as an integer."""

    def arrive(self, now: int, queued: int, departed: int):
        since = max(departed, self.updated)
        super().arrive(now if queued else since + (now - since) // PACKET_NS * PACKET_NS, queued, departed)
        self.updated = now


def explained(made: Path, count: int, fault, note) -> tuple[Row, list]:
    """Any idle spells: ns-3 is what floyd.py gives with ns-3's cast, so the cast is all that differs from the exact rule."""
    worst, packets, told = 0.0, 0, []
    for of in floyd.SILENCES[:4]:
        note(of.name)
        both, words = lane(0.002, "byte", fault)
        decisions = both.decisions(of.packets(count), SEED)
        theirs, cast, exact = follow(made, words, decisions), Cast(*both.exact), floyd.Average(*both.exact)
        below = {"lane": "never", "ns-3": "never"}
        for number, (d, average) in enumerate(zip(decisions, theirs, strict=True)):
            queued, departed = sum(d.queued_bytes), max(d.departed)
            for each in (cast, exact):
                each.arrive(d.ns, queued, departed)
            worst = max(worst, abs(cast.avg - average) / 200_000 / DOUBLES)
            for name, now in (("lane", d.avg), ("ns-3", average)):
                if number >= 200 and now < 5000 and below[name] == "never":
                    below[name] = str(number - 200)
        packets += len(decisions)
        told.append(
            (f"packets until the average is below 5 kB: {of.name}", ", ".join(f"{k} {v}" for k, v in below.items()))
        )
    reason = "doubles: 10^-9 of 200 kB"
    return Row("exact rule with ns-3's cast, any spells", worst, 1, "of tolerance", packets, reason, "none"), told


def gaps(made: Path, count: int, fault, note) -> Row:
    """ns-3 counts the first packet after a drop as 1, Floyd 1993's distribution (section 7) as 0: ns-3's is off by p / (1 - p)."""
    worst, drops = 0.0, 0
    for spacing in ("uniform", "wait"):
        for p in (0.01, 0.03):
            note(f"gaps between drops, {spacing}, {p}")
            average = {"weight": 0.0625, "unit": "packet", "idle_packet": PACKET_BYTES}
            both = lanes.lane(RATE, average, fault, spacing=spacing, **lanes.red("10p", "30p", 2 * p))
            ours = floyd.gaps(both.kept(21, count, 1000, SEED), 1000)
            words = attributes(0.0625, "1000000p", 10, 30, 2 * p, spacing == "wait")
            admitted = [line.split()[0] == "1" for line in ask(made, words, [21, count, 1000], "")]
            drawn = [number for number, yes in enumerate(admitted) if not yes]
            theirs = [b - a for a, b in pairwise(drawn) if a > 1000]
            pairs = math.sqrt(len(ours) * len(theirs) / (len(ours) + len(theirs)))
            worst = max(worst, linux.two_samples(ours, theirs) / (floyd.KS + pairs * p / (1 - p)))
            drops += len(ours) + len(theirs)
    reason = "1 in 1,000 by chance, and p / (1-p); seeds fixed"
    return Row("gaps between early drops, two spacings", worst, 1, "of tolerance", drops, reason, "ns-3: counts from 1")


def run(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    made, version = program()
    found = Finding(NAME, f"RedQueueDisc, ns-3 {version}")
    found.rows.append(busy(made, 2 if quick else 10, 2000 if quick else 20_000, fault, note))
    found.rows.append(spells(made, 2 if quick else 9, 1000 if quick else 10_000, fault, note))
    row, found.told = explained(made, 1500 if quick else 5000, fault, note)
    found.rows += [row, gaps(made, 30_000 if quick else 200_000, fault, note)]
    return found


fault = lanes.weight_off_by_one
