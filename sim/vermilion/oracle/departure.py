"""Linux's CoDel and PIE beside the model's: the same packets in a queue before a port.

CoDel's state is compared at each departure, with the packet that is sent and the drops and marks so far. PIE's is compared at each update, with the drops
and marks so far and the bytes that are queued.

CoDel is `include/net/codel_impl.h`, PIE is `net/sched/sch_pie.c`, both of Debian's linux-source package (linux.py), compiled in user space with their clock
and random numbers injected. Both sides run the loop of sim/oracles/port.h. Their lines have to be equal to the byte, so the tolerance is 0.

Where Linux's PIE departs from RFC 8033 the model follows the RFC (sim/model/pie.h). The comparison corrects Linux there, from outside of its functions;
`told` counts the cases in which an uncorrected Linux does something else.
"""

import random
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vermilion.toolchain import build

from . import linux
from .lanes import HERE
from .rows import Finding, Row

CODEL, PIE = "linux-codel", "linux-pie"
SEED = 20271
SIZES = (64, 200, 1000, 1500)
NO_DS = 256
STARTS = (10**6, 2**41 - 10**9, 2**42 - 10**9)  # ns; CoDel's clock has half of its range, or all of it, a second later
PIE_MAX, PIE_SECOND = 2**56 - 1, 15_625_000
MS = PIE_SECOND // 1000
MODEL = ("codel.cpp", "pie.cpp", "dualpi2.cpp", "curve_marks.cpp", "random.cpp")


@dataclass(frozen=True)
class Case:
    """A port of `ns_per_byte` with a queue of `limit` packets, whose sources leave out `respond` packets for each drop and mark."""

    ns_per_byte: int
    limit: int
    respond: int
    settings: list[int]

    def words(self, *settings) -> list[str]:
        return [str(word) for word in (self.ns_per_byte, self.limit, self.respond, *settings)]


def port(rng: random.Random, costs: tuple[int, ...], settings: list[int]) -> Case:
    return Case(rng.choice(costs), rng.choice((50, 1000, 16_000)), rng.choice((0, 1, 20, 100)), settings)


def traffic(rng: random.Random, count: int, ns_per_byte: int, loads: tuple[float, ...], often: float) -> str:
    """Packets in bursts, as port.h reads them: the load changes with the chance `often` a burst, and sometimes there is a silence of seconds."""
    at, load, burst, ect = rng.choice(STARTS), rng.choice(loads), rng.choice((1, 4, 50)), rng.choice((0, 0.5, 1))
    lines: list[str] = []
    while len(lines) < count:
        if rng.random() < often:
            load = rng.choice(loads)
        if rng.random() < often / 4:
            at += int(rng.expovariate(1) * 3e9)
        packets = min(count - len(lines), 1 + int(rng.expovariate(1 / burst)))
        for _ in range(packets):
            ecn = rng.randrange(1, 4) if rng.random() < ect else 0
            ds = NO_DS if rng.random() < 0.01 else ecn | rng.randrange(64) << 2
            lines.append(f"{at} {rng.choice(SIZES)} {ds}\n")
        at += int(rng.expovariate(load / (packets * 700 * ns_per_byte)))
    return "".join(lines)


def codel_case(number: int) -> Case:
    rng = random.Random(f"{SEED} codel {number}")
    case = port(rng, (1, 8, 80, 800, 8000), [])
    target = max(1, case.ns_per_byte * 1500 * rng.choice((2, 5, 20)) // 1024)
    interval = target * rng.choice((3, 20, 100))
    threshold = rng.choice((2**31 - 1, target // 2))
    case.settings.extend([target, interval, rng.choice((0, 1514, 5000)), rng.randrange(2), threshold])
    case.settings.extend(rng.choice(((0, 0), (3, 1), (252, 40))))
    return case


def pie_case(number: int) -> Case:
    """Odd cases have tc's default target, times and gains."""
    rng = random.Random(f"{SEED} pie {number}")
    update, target, gains = (
        rng.choice((1, 4, 32)) * 10**6,
        rng.choice((1, 5, 50)) * MS,
        (rng.randint(1, 32), rng.randint(1, 32)),
    )
    if number % 2:
        update, target, gains = 15 * 10**6, 15 * MS, (2, 20)
    case = port(rng, (80, 800, 800, 8000), [update, target, *gains])
    mtu = 1514 if number % 2 else rng.choice((200, 9014))
    case.settings.extend([mtu, rng.randrange(2) or number % 2, rng.randrange(2), rng.getrandbits(63)])
    return case


def ours(say=build.quiet) -> Path:
    """The program of sim/oracles/departure.cpp."""
    sources = [HERE / "departure.cpp", *(build.ROOT / "sim/model" / name for name in MODEL)]
    made = build.BUILD / "oracle-departure"
    command = ["g++", *build.CXX_FLAGS, *build.MODEL_FLAGS, *sources, "-o", made]
    key = build.digest([*sources, HERE / "port.h", *build.model_headers()], *command)
    with build.locked(f"{made.name}.lock"):
        build.step(made, key, say, "the model's AQMs", lambda: build.run(command, build.BUILD / f"{made.name}.log"))
    return made


def codel_program(say=build.quiet) -> Path:
    return linux.compiled("oracle-linux-codel", [linux.SOURCES / "codel.c"], [], say)


def pie_program(say=build.quiet) -> Path:
    """With the three functions of sch_pie.c that decide; the others are of the qdisc."""
    root = linux.sources(say)
    text, functions = (root / "net/sched/sch_pie.c").read_text(), root / "pie_functions.c"
    part = lambda first, after: text[text.index(first) : text.index(after)]
    wanted = part("bool pie_drop_early(", "static int pie_qdisc_enqueue(") + part(
        "void pie_process_dequeue(", "static void pie_timer("
    )
    if not functions.exists() or functions.read_text() != wanted:
        functions.write_text(wanted)
    return linux.compiled("oracle-linux-pie", [linux.SOURCES / "pie.c"], [f'-DPIE_FUNCTIONS="{functions}"'], say)


def printed(command: list, given: Path, out: Path) -> Path:
    with given.open() as lines, out.open("w") as file:
        done = subprocess.run(
            [str(word) for word in command], stdin=lines, stdout=file, stderr=subprocess.PIPE, text=True
        )
    if done.returncode:
        raise build.BuildError(f"{Path(command[0]).name} failed: {done.stderr.strip()}")
    return out


def differing(a: Path, b: Path) -> int:
    """Lines that differ, and those that only one file has."""
    if a.read_bytes() == b.read_bytes():
        return 0
    one, other = a.read_text().splitlines(), b.read_text().splitlines()
    return abs(len(one) - len(other)) + sum(x != y for x, y in zip(one, other, strict=False))


def last(file: Path) -> list[int]:
    """Numbers of the last line: time, drops, marks, and others."""
    with file.open("rb") as lines:
        lines.seek(max(0, file.stat().st_size - 400))
        return [int(word) for word in lines.read().split(b"\n")[-2].split()]


def run_codel(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    """`fault`: the model's interval is too long by one unit."""
    cases, count = (8, 20_000) if quick else (100, 100_000)
    found = Finding(CODEL, f"include/net/codel_impl.h, Linux {(linux.sources() / 'version').read_text()}")
    differ, asked, drops, marks = 0, 0, 0, 0
    theirs, own = codel_program(), ours()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(cases):
            note(f"case {number + 1} of {cases}")
            case, rng = codel_case(number), random.Random(f"{SEED} codel packets {number}")
            given = place / "packets"
            given.write_text(traffic(rng, count, case.ns_per_byte, (0.3, 0.9, 1.0, 1.1, 1.5, 4), 5e-4))
            one = printed([theirs, *case.words(*case.settings)], given, place / "one")
            settings = [each + (fault is not None and place_of == 1) for place_of, each in enumerate(case.settings)]
            other = printed([own, "codel", *case.words(*settings)], given, place / "other")
            differ += differing(one, other)
            asked += one.read_bytes().count(b"\n")
            drops, marks = drops + last(one)[1], marks + last(one)[2]
    reason = (
        "the same arithmetic: verdicts, count, lastcount, inverse square root, first_above_time, drop_next, dropping"
    )
    found.rows.append(Row("verdicts and state at each departure", differ, 0, "departures", asked, reason, "none"))
    found.told.append(("packets", f"{cases * count:,}, of which CoDel dropped {drops:,} and marked {marks:,}"))
    return found


def run_pie(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    """`fault`: the model's alpha is too large by 2^-20."""
    cases, count = (8, 20_000) if quick else (100, 100_000)
    found = Finding(PIE, f"net/sched/sch_pie.c, Linux {(linux.sources() / 'version').read_text()}")
    differ, updates, drops, marks, above, stuck = 0, 0, 0, 0, 0, 0
    theirs, own = pie_program(), ours()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(cases):
            note(f"case {number + 1} of {cases}")
            case, rng = pie_case(number), random.Random(f"{SEED} pie packets {number}")
            given = place / "packets"
            given.write_text(traffic(rng, count, case.ns_per_byte, (0.6, 0.9, 1.0, 1.02, 1.1, 1.5), 2e-3))
            one = printed([theirs, *case.words(*case.settings), "rfc"], given, place / "one")
            update, target, alpha, beta, *others = case.settings
            gains = [gain * (PIE_MAX // PIE_SECOND) >> 4 for gain in (alpha, beta)]
            gains[0] += gains[0] >> 20 if fault is not None else 0
            other = printed(
                [own, "pie", *case.words(update, target, 150 * MS, *gains, *others)], given, place / "other"
            )
            differ += differing(one, other)
            updates += one.read_bytes().count(b"\n")
            drops, marks = drops + last(one)[1], marks + last(one)[2]
            plain = printed([theirs, *case.words(*case.settings), "linux"], given, place / "plain")
            columns = [line.split() for line in plain.read_text().splitlines()]
            above += any(int(line[3]) > PIE_MAX for line in columns)
            stuck += any(int(line[4]) >= PIE_MAX // 2 * 17 for line in columns)
    reason = "the same arithmetic: drops, marks, probability, accumulated probability, both delays, burst allowance"
    found.rows.append(Row("verdicts and state at each update", differ, 0, "updates", updates, reason, "none"))
    found.told.append(("packets", f"{cases * count:,}, of which PIE dropped {drops:,} and marked {marks:,}"))
    found.told.append(("cases in which Linux's probability exceeds 1, RFC 8033's limit", f"{above} of {cases}"))
    found.told.append(
        (
            "cases in which Linux's accumulated probability is 8.5 or more at an update, as a mark has not reset it",
            f"{stuck} of {cases}",
        )
    )
    return found


def fault(_record):
    raise AssertionError("the programs of this module have no record")
