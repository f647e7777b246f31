"""DPDK's `rte_meter` (srTCM, trTCM) and `rte_red` beside the model's markers and averages. Debian's libdpdk-dev."""

import json
import math
import random
import re
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.profile.record import LaneRecord
from vermilion.toolchain import build

from . import floyd, lanes, linux
from .rows import Finding, Row

HERE = build.ROOT / "sim" / "oracles" / "dpdk"
HEADERS = Path("/usr/include/dpdk")
ARCH = Path("/usr/include/x86_64-linux-gnu/dpdk")
FLAGS = [f"-I{HEADERS}", f"-I{ARCH}", "-include", ARCH / "rte_config.h", "-march=corei7", "-DALLOW_INTERNAL_API"]
SEED = 20233


def version() -> str:
    text = (ARCH / "rte_build_config.h").read_text() + (HEADERS / "rte_version.h").read_text()
    parts = [re.search(rf"RTE_VER_{part} (\d+)", text) for part in ("YEAR", "MONTH", "MINOR")]
    return "{}.{:02}.{}".format(*(int(part[1]) for part in parts if part)) if all(parts) else "of this system"


def compiled(name: str, text: str, command: list, sources: list, say) -> Path:
    if not (ARCH / "rte_config.h").exists():
        raise build.BuildError("DPDK's headers for x86-64 are missing: Debian's package libdpdk-dev has them")
    made = build.BUILD / name
    with build.locked(f"{name}.lock"):
        key = build.digest(sources, version(), *command)
        build.step(made, key, say, text, lambda: build.run([*command, "-o", made], build.BUILD / f"{name}.log"))
    return made


def meter_program(say=build.quiet) -> Path:
    library, source = build.model_library(say), HERE / "meter.cpp"
    command = ["g++", *build.CXX_FLAGS, *build.MODEL_FLAGS, "-w", *FLAGS, source, *build.linked(library), "-lrte_meter"]
    sources = [source, *build.model_inputs()]
    return compiled("oracle-meter", "DPDK's meters", command, sources, say)


def red_program(say=build.quiet) -> Path:
    source = HERE / "red.c"
    return compiled("oracle-rte-red", "DPDK's RED", ["gcc", "-O2", "-w", *FLAGS, source, "-lrte_sched"], [source], say)


# Rates whose time of a byte the hardware holds exactly, so that what differs does not grow with time. bit/s.
RATES = (10**7, 10**8, 10**9, 2 * 10**9, 4 * 10**9)


def meter_case(number: int, kind: str, fault) -> tuple[LaneRecord, list[int], int]:
    """A hardware record, the others' numbers, and the greater rate."""
    rng = random.Random(f"{SEED} {kind} {number}")
    cir = rng.choice(RATES[:4])
    cbs, other = rng.randint(2000, 60_000), rng.randint(2000, 60_000)
    aware = number % 2 == 1
    marker = {"queue": "q", "kind": kind, "cir": cir, "cbs": cbs, "colour_aware": aware}
    if kind == "srtcm":
        pir, words = cir, [cir // 8, cbs, 0, other]
        marker |= {"ebs": other}
    else:
        pir = RATES[RATES.index(cir) + 1]
        words = [cir // 8, cbs, pir // 8, other]
        marker |= {"pir": pir, "pbs": other}
    asked = {"port": {"rate": "100Gbit"}, "queue": [{"name": "q", "default": True}], "marker": [marker]}
    record = quantise.hardware(config.parse(asked))
    if fault:
        fault(record)
    return record, words, pir


@dataclass
class Colours:
    """Packets by how their colours agree."""

    packets: int = 0
    not_rfc: int = 0  # the model's is not the RFC's
    far: int = 0  # DPDK's, with the RFC's tokens, is not the model's, and no quantum explains it
    explained: int = 0
    apart: int = 0  # DPDK's, with its own tokens, is not the model's
    quantum: int = 0  # bytes


def meter(made: Path, kind: str, cases: int, count: int, fault, note) -> Colours:
    out = Colours()
    for number in range(cases):
        note(f"{kind} {number + 1} of {cases}")
        record, words, rate = meter_case(number, kind, fault)
        load = random.Random(number).uniform(0.8, 3)
        packets = lanes.random_packets(f"{SEED} {number}", count, rate, load, (64, 1500), burst=10)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(record, file)
            file.flush()
            text = "".join(f"{p.ns} {p.bytes} {p.colour}\n" for p in packets)
            lines = [list(map(int, line.split())) for line in lanes.feed([made, file.name, *words], text).splitlines()]
        for ours, rfc, free, aligned, near in lines[:-1]:
            out.packets += 1
            out.not_rfc += ours != rfc
            out.far += aligned != ours and not near
            out.explained += aligned != ours
            out.apart += free != ours
        out.quantum = max(out.quantum, *lines[-1])
    return out


def run_meter(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    made = meter_program()
    found = Finding("dpdk-meter", f"rte_meter, DPDK {version()}")
    cases, count = (2, 60_000) if quick else (12, 300_000)
    for kind, name in (("srtcm", "srTCM"), ("trtcm", "trTCM")):
        seen = meter(made, kind, cases, count, fault, note)
        reason = "a byte's time is exact at these rates"
        found.rows.append(
            Row(f"{name}: colours other than the RFC's", seen.not_rfc, 0, "packets", seen.packets, reason, "none")
        )
        reason = f"DPDK may lack one quantum ({seen.quantum} B) and a byte"
        whose = f"DPDK: tokens in quanta, {seen.explained:,} packets"
        row = Row(
            f"{name}: colours other than DPDK's, both given the RFC's tokens",
            seen.far,
            0,
            "packets",
            seen.packets,
            reason,
            whose,
        )
        found.rows.append(row)
        share = f"{seen.apart / seen.packets:.3%} of {seen.packets:,} packets"
        found.told.append((f"{name}: colours other than DPDK's, each with its own tokens", share))
    return found


def meter_fault(record: dict):
    """The time of a byte is one unit more: 4 to 8 parts in a million."""
    for pair in record["queues"][0]["marker"]["cost"]:
        pair[0] += 1


class Red:
    """A queue of packets as both have it."""

    def __init__(self, low: int, high: int, inverse: int, wlog: int, fault=None, halved: bool = False, **queue):
        average = {"weight": 2.0**-wlog, "unit": "packet", "idle_packet": 1000}
        p = (0.5 if halved else 1.0) / inverse
        self.lane = lanes.lane(10**7, average, fault, **lanes.red(f"{low}p", f"{high}p", p), **queue)
        self.scale, self.words = 2 ** (10 + wlog), [low, high, inverse, wlog, 800_000]

    def dpdk(self, made: Path, events: list[tuple[int, int, int]], draws: str = "fresh") -> list[tuple[float, int]]:
        text = "".join(f"{ns} {queued} {since}\n" for ns, queued, since in events)
        lines = lanes.feed([made, *self.words, SEED, draws], text).splitlines()
        return [(int(average) / self.scale, int(action)) for average, action in map(str.split, lines)]


def events(decisions: list[lanes.Decision]) -> list[tuple[int, int, int]]:
    """(ns, queued packets, empty since)."""
    queued = (sum(d.queued_packets) for d in decisions)
    return [(ns, packets, since) for (ns, _, since), packets in zip(linux.events(decisions), queued, strict=True)]


def red_busy(made: Path, cases: int, count: int, fault, note) -> Row:
    worst, packets = 0.0, 0
    for number in range(cases):
        note(f"busy queue {number + 1} of {cases}")
        wlog = (9, 4, 1, 7, 11)[number % 5]
        red = Red(20, 60, 10, wlog, fault, limit_packets="90p")
        sent = lanes.random_packets(f"{SEED} {number}", count, 10**7, 2.0, (400, 1500))
        sent = [lanes.Packet(1000, 1500)] * 40 + [p for p in sent if p.ns > 1000]
        decisions = red.lane.decisions(sent, SEED)
        tolerance = 2**-10 + 2**-16 * 2**wlog
        for d, (average, _) in zip(decisions, red.dpdk(made, events(decisions)), strict=True):
            worst = max(worst, abs(d.avg - average) / tolerance)
        packets += len(decisions)
    reason = "DPDK cuts a step to 2^-(10+n), in all 2^-10 packets; ours 2^-16 / w"
    return Row("average, busy queue", worst, 1, "of tolerance", packets, reason, "DPDK: fixed point")


def red_spells(made: Path, fault, note) -> Row:
    """What one idle spell of whole packet times leaves of the average, with the packet that ends it: DPDK takes no step for that."""
    worst, spells = 0.0, (3, 8, 20, 50, 100)
    for m in spells:
        note(f"an idle spell of {m} packets")
        red = Red(20, 60, 10, 5, fault)
        first = [lanes.Packet(1000, 1486)] * 200
        since = max(red.lane.decisions([*first, lanes.Packet(10 * lanes.SECOND, 60)], SEED)[-1].departed)
        decisions = red.lane.decisions([*first, lanes.Packet(since + m * 800_000 + 100, 60)], SEED)
        theirs = red.dpdk(made, events(decisions))
        ours = decisions[-1].avg / decisions[-2].avg / (1 - 2**-5)
        left = theirs[-1][0] / theirs[-2][0]
        halvings = -m * math.log2(1 - 2**-5)
        # The table of 2^-x has 16 entries and 10 bits, that of log2(1 - w) has 10 bits; ours: average.h.
        table = 2 ** (1 / 16 + m / 2**11) - 1 + 2**-10 * 2**halvings
        worst = max(worst, abs(ours / left - 1) / (table + 0.0035 * halvings + 0.002))
    reason = "DPDK's tables: 1/16 halving, log2(1-w) to 2^-11; ours average.h"
    return Row(
        "average after one idle spell",
        worst,
        1,
        "of tolerance",
        len(spells),
        reason,
        "DPDK: tables of 16 entries, no step",
    )


def red_gaps(made: Path, count: int, fault, note) -> tuple[Row, list]:
    """DPDK's p_a = p / (2 - count p) is that of Floyd 1993 with p / 2: the lane has half the probability here."""
    worst, drops, told = 0.0, 0, []
    for inverse in (10, 25):
        note(f"gaps between drops at 1/{inverse}")
        red = Red(10, 30, inverse, 4, fault, halved=True, spacing="uniform")
        decisions = red.lane.kept(21, count, 1000, SEED)
        ours = floyd.gaps(decisions, 1000)

        def gaps(draws):
            drawn = [
                number for number, (_, action) in enumerate(red.dpdk(made, events(decisions), draws)) if action == 2
            ]
            return [b - a for a, b in pairwise(drawn) if a > 1000]

        theirs = gaps("fresh")
        worst = max(worst, linux.two_samples(ours, theirs))
        drops += len(ours) + len(theirs)
        means = ", ".join(f"{side} {fmean(each):.1f}" for side, each in (("lane", ours), ("DPDK", gaps("kept"))))
        name = f"mean gap, uniform, lane at p = {0.25 / inverse:g}, DPDK at p = {0.5 / inverse:g} with one random number per gap"
        told.append((name, means))
    reason = "1 in 1,000 by chance (Kolmogorov, Smirnov); seeds fixed"
    whose = "DPDK: p halved, one draw of 22 bits a gap; here a new one of 32"
    return Row("gaps between early drops", worst, floyd.KS, "sqrt(n) D", drops, reason, whose), told


def run_red(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    made = red_program()
    found = Finding("dpdk-red", f"rte_red, DPDK {version()}")
    found.rows.append(red_busy(made, 2 if quick else 10, 2000 if quick else 20_000, fault, note))
    found.rows.append(red_spells(made, fault, note))
    row, found.told = red_gaps(made, 20_000 if quick else 200_000, fault, note)
    found.rows.append(row)
    return found


red_fault = lanes.weight_off_by_one
