"""Linux's `include/net/red.h`, compiled in user space, beside the model.

The header comes from Debian's linux-source package, unpacked into `.vermilion` (sim/oracles/linux). The model decides; Linux's RED sees the same queue at
the same times, and where the queue was empty, since when. Weights are powers of two here, as Linux has no others. departure.py uses the same sources for
CoDel and PIE.
"""

import math
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from statistics import fmean

from vermilion.guests import guest
from vermilion.guests.driver_guest import once
from vermilion.toolchain import build

from . import floyd, lanes
from .rows import Finding, Row

NAME = "linux-red"
PACKAGE = "linux-source-6.1"
TC_TESTS = "tools/testing/selftests/tc-testing/tc-tests/qdiscs"  # option lists of the kernel's own tests
WANTED = (
    "include/net/red.h",
    "include/net/codel.h",
    "include/net/codel_impl.h",
    "include/net/pie.h",
    "net/sched/sch_pie.c",
    "include/linux/reciprocal_div.h",
    "lib/math/reciprocal_div.c",
    *(f"{TC_TESTS}/{name}.json" for name in ("codel", "red", "fifo")),
)
SOURCES = build.ROOT / "sim" / "oracles" / "linux"
MOST = 2**32 - 1
SEED = 20232


def sources(say=build.quiet) -> Path:
    """The folder with the files of the kernel, and an empty file for each other that they include."""

    def make(root: Path):
        guest.apt(root, root / "log", "apt-get", "-q", "download", PACKAGE)
        version = next(iter((root / "debs").glob("*.deb"))).name.split("_")[1]
        unpacked = root / "debs" / "unpacked"
        guest.unpack(root / "debs", unpacked)
        archive = next(unpacked.glob("usr/src/*.tar.xz"))
        names = [f"*/{name}" for name in WANTED]
        command = ["tar", "xJf", str(archive), "-C", str(root), "--strip-components=1", "--wildcards", *names]
        subprocess.run(command, check=True)
        shutil.rmtree(unpacked)
        (root / "version").write_text(version)
        empty(root)

    return once("linux-files", make, say)


def empty(root: Path):
    """Writes an empty header for each that the files name and that is not there: kernel.h has what is used of them."""
    text = "".join((root / name).read_text() for name in WANTED)
    for name in re.findall(r"^#include <(.+?)>", text, re.M):
        path = root / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.touch()


def compiled(name: str, files: list, words: list, say) -> Path:
    """A program of `files` and of the kernel's sources. `words` are of its command."""
    root = sources(lambda text: say(text, "fetching", "fetched"))
    version, made = (root / "version").read_text(), build.BUILD / name
    own = build.files("sim/oracles/linux", "*.c", "*.h") + build.files("sim/oracles", "*.h")
    command = ["gcc", "-O2", "-std=gnu11", "-w", "-include", SOURCES / "kernel.h", "-isystem", root / "include"]
    command += [*words, *files, "-o", made]
    with build.locked(f"{name}.lock"):
        action = lambda: build.run(command, build.BUILD / f"{name}.log")
        build.step(made, build.digest(own, version, *command), say, "Linux's code", action)
    return made


def program(say=build.quiet) -> tuple[Path, str]:
    """The program that runs Linux's RED, and the version of Linux."""
    root = sources(say)
    files = [SOURCES / "red.c", root / "lib/math/reciprocal_div.c", "-lm"]
    return compiled("oracle-linux", files, [], say), (root / "version").read_text()


class Red:
    """A queue as both have it."""

    def __init__(self, rate: int, low: int, high: int, p: float, wlog: int, avpkt: int = 1000, fault=None, **queue):
        average = {"weight": 2.0**-wlog, "idle_packet": avpkt}
        self.lane = lanes.lane(rate, average, fault, **lanes.red(low, high, p), **queue)
        self.scale, self.low, self.high, self.p = 2**wlog, low, high, p
        self.words: list[float] = [low, high, wlog, round(p * MOST), avpkt, rate]

    def linux(self, made: Path, events: list[tuple[int, int, int]], seed: int = SEED) -> list[tuple[float, int]]:
        """(average in bytes, action) of each packet."""
        text = "".join(f"{ns} {queued} {since}\n" for ns, queued, since in events)
        lines = lanes.feed([made, *self.words, seed], text).splitlines()
        return [(int(average) / self.scale, int(action)) for average, action in map(str.split, lines)]


def events(decisions: list[lanes.Decision]) -> list[tuple[int, int, int]]:
    """(ns, queued bytes, empty since), as each decision of the model found them."""
    out, updated = [], 0
    for d in decisions:
        out.append((d.ns, sum(d.queued_bytes), max(*d.departed, updated)))
        updated = d.ns
    return out


def busy(made: Path, cases: int, count: int, fault, note) -> list[Row]:
    """A queue that is never empty after its first packet: averages are the same but for what each rounds off."""
    worst, packets, differ = 0.0, 0, 0
    for number in range(cases):
        note(f"busy queue {number + 1} of {cases}")
        wlog = (9, 4, 1, 7, 11)[number % 5]
        red = Red(10**7, 20_000, 60_000, 0.1, wlog, fault=fault, limit="90KB")
        sent = lanes.random_packets(f"{SEED} {number}", count, 10**7, 2.0, (400, 1500))
        sent = [lanes.Packet(1000, 1500)] * 40 + [p for p in sent if p.ns > 1000]
        decisions = red.lane.decisions(sent, SEED)
        tolerance = 1 + 2**-16 * red.scale
        for d, (average, action) in zip(decisions, red.linux(made, events(decisions)), strict=True):
            worst = max(worst, abs(d.avg - average) / tolerance)
            forced = d.avg >= red.high  # a packet for which there is no room, too
            differ += forced != (action == 2) and abs(d.avg - red.high) > tolerance
        packets += len(decisions)
    reason = "Linux cuts a step to 2^-Wlog B, in all 1 B; ours 2^-16 / w"
    return [
        Row("average, busy queue", worst, 1, "of tolerance", packets, reason, "Linux: integers"),
        Row("average >= max on one side only", differ, 0, "packets", packets, "within that of max", "none"),
    ]


def spell(red: Red, made: Path, ns: int, rate: float) -> tuple[float, float]:
    """What an idle spell of `ns` leaves of the average: ours with the packet that ends it, and Linux's; its table for `rate`."""
    first = [lanes.Packet(1000, 1486)] * 200
    since = max(red.lane.decisions([*first, lanes.Packet(10 * lanes.SECOND, 60)], SEED)[-1].departed)
    decisions = red.lane.decisions([*first, lanes.Packet(since + ns, 60)], SEED)
    found = events(decisions)
    red.words[-1] = rate
    theirs = red.linux(made, found)
    return decisions[-1].avg / decisions[-2].avg, theirs[-1][0] / theirs[-2][0]


def halvings(made: Path, fault, note) -> Row:
    """Idle spells after which Linux's table has just reached k halvings, k = 1 to 12.

    The table is made for another rate here, so that it counts halvings and microseconds: tc's own counts neither.
    """
    worst, spells = 0.0, (1, 2, 3, 5, 8, 12)
    for k in spells:
        note(f"an idle spell of {k} halvings")
        red = Red(10**6, 5000, 15_000, 0.1, 7, fault=fault)
        packet_us, weight = 8000, 2**-7
        per_us = -math.log2(1 - weight) / packet_us
        rate = 10**6 * 1000 / 64 / math.log(2)
        words = [*red.words[:-1], rate, 0, "table"]
        cell = 2 ** int(lanes.feed([made, *words], ""))
        us = math.ceil(k / per_us / cell + 0.001 * k) * cell  # the table's rate is rounded by up to 2^-12
        ours, theirs = spell(red, made, us * 1000, rate)
        over = us * per_us - k  # what Linux leaves out, in halvings
        tolerance = 0.002 + 0.0035 * k  # rounding of ours and of the quotient; average.h
        worst = max(
            worst, abs(ours / theirs / (2.0**-over * (1 - weight)) - 1) / tolerance, abs(theirs * 2**k - 1) * 1000
        )
    reason = "0.35 % a halving (average.h) and 0.2 %; step and cut of Linux known"
    return Row(
        "average after one idle spell", worst, 1, "of tolerance", len(spells), reason, "Linux: no step, whole halvings"
    )


def drawn(made: Path, p: float, count: int, spacing: str, fault=None) -> tuple[list[int], list[int]]:
    """Gaps between early drops at `p`, the lane's and Linux's, while 20 packets of 1,000 B are queued."""
    red = Red(10**9, 10_000, 30_000, 2 * p, 4, fault=fault, spacing=spacing)
    decisions = red.lane.kept(21, count, 1000, SEED)
    early = [number for number, (_, action) in enumerate(red.linux(made, events(decisions))) if action == 1]
    return floyd.gaps(decisions, 1000), [b - a for a, b in pairwise(early) if a > 1000]


def gaps(made: Path, count: int, fault, note) -> Row:
    worst, drops = 0.0, 0
    for p in (0.02, 0.1):
        note(f"gaps between drops at {p}")
        ours, theirs = drawn(made, p, count, "uniform", fault)
        worst = max(worst, two_samples(ours, theirs))
        drops += len(ours) + len(theirs)
    reason = "1 in 1,000 by chance (Kolmogorov, Smirnov); seeds fixed"
    return Row("gaps between early drops, uniform", worst, floyd.KS, "sqrt(n) D", drops, reason, "chance")


def two_samples(a: list[int], b: list[int]) -> float:
    """The greatest difference of two samples' distributions, times sqrt(n m / (n + m))."""
    share = lambda sample, k: sum(x <= k for x in sample) / len(sample)
    worst = max(abs(share(a, k) - share(b, k)) for k in set(a) | set(b))
    return worst * math.sqrt(len(a) * len(b) / (len(a) + len(b)))


def told(made: Path, count: int) -> list[tuple[str, str]]:
    """What differs for a queue that tc has set: drops by the lane's default spacing, and idle time by tc's own table, here with weight 2^-9."""
    out = []
    for ms in (10, 100, 300, 1000, 10_000):
        red = Red(10**7, 5000, 15_000, 0.1, 9)
        ours, theirs = spell(red, made, ms * 10**6, 10**7)
        out.append((f"remaining share of the average after {ms} ms idle", f"lane {ours:.3f}, Linux {theirs:.3f}"))
    for of in (floyd.SILENCES[1], floyd.SILENCES[5]):
        rate = {"10Mbit": 10**7, "10Gbit": 10**10}[of.rate]
        red = Red(rate, 5000, 15_000, 0.1, 9)
        decisions = red.lane.decisions(of.packets(6000), SEED)[200:]
        linux = red.linux(made, events(red.lane.decisions(of.packets(6000), SEED)))[200:]
        number = lambda averages: next((str(i) for i, avg in enumerate(averages) if avg < red.low), "never")
        pair = number(d.avg for d in decisions), number(avg for avg, _ in linux)
        out.append((f"packets until the average is below min: {of.name}", f"lane {pair[0]}, Linux {pair[1]}"))
    for p in (0.02, 0.1):
        gap, their_gap = (fmean(found) for found in drawn(made, p, count, "geometric"))
        text = f"lane {gap:.1f}, Linux {their_gap:.1f}"
        out.append((f"mean gap between drops at p = {p}, lane with geometric spacing (the driver's default)", text))
    return out


def run(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    made, version = program()
    found = Finding(NAME, f"include/net/red.h, Linux {version}")
    found.rows += busy(made, 2 if quick else 10, 2000 if quick else 20_000, fault, note)
    found.rows.append(halvings(made, fault, note))
    found.rows.append(gaps(made, 20_000 if quick else 200_000, fault, note))
    found.told += told(made, 20_000 if quick else 200_000)
    return found


fault = lanes.weight_off_by_one
