"""DualPI2, and the marks of curves at departure, in exact arithmetic: RFC 9332 and decision 36, written from their texts, with integers of any size.

Both sides have the same packets and the port of sim/oracles/port.h, which is stated here once more. Their lines have to be equal to the byte, so the
tolerance is 0. The random numbers are those of a lane, from a second statement of the generator (xoshiro.py).

The share of packets that a curve marks is also compared with the curve itself, at each level.
"""

import random
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from . import departure
from .departure import NO_DS, PIE_SECOND, SEED, Case, port, printed, traffic
from .rows import Finding, Row
from .xoshiro import Source, words

DUALPI2, MARKS = "rfc9332", "curve-marks"
TOP = 2**32 - 1
UNIT = 6  # ns of sojourn times, as a power of two
SHARE = 17  # bits of the second draw that count
BINS = 16  # parts of a curve
Packet = tuple[int, int, int]  # ns of its arrival, bytes, DS field
PASS, MARK, DROP = range(3)


class Aqm(Protocol):
    """What is behind a port. `count` packets of `size` bytes are queued."""

    count: int
    size: int
    drops: int
    marks: int

    def arrives(self, packet: Packet) -> None: ...

    def leaves(self, now: int) -> int:
        """Bytes of the packet that is sent; 0 without one."""

    def update(self, now: int) -> None: ...


def behind_port(aqm: Aqm, packets: Iterable[Packet], case: Case, every: int = 0) -> None:
    """A port that takes the next packet when it has sent the last one. Sources leave out packets as an answer. An update comes `every` ns."""
    cost, limit, respond = case.ns_per_byte, case.limit, case.respond
    free, asked, due, left_out = 0, True, 0, 0

    def advance(until: float):
        nonlocal free, asked, due
        while True:
            sends = aqm.count > 0 or not asked
            updates = every and (not sends or due <= free)
            if not (sends or updates) or (due if updates else free) >= until:
                return
            if updates:
                aqm.update(due)
                due += every
            else:
                sent = aqm.leaves(free)
                asked = sent == 0
                free += sent * cost

    for packet in packets:
        now = packet[0]
        due = due or now + every
        advance(now)
        if left_out < respond * (aqm.drops + aqm.marks):
            left_out += 1
        elif aqm.count < limit:
            if aqm.count == 0:
                free = max(free, now)
            aqm.arrives(packet)
    advance(due + 100 * every if every else float("inf"))


class Pair:
    """RFC 9332, appendix A, with Linux's rules that docs/configuration/aqm.md has: L and C, and their base probability p' in units of 2^-32. Which queue is next is
    not the lane's scheduler, but stated on both sides."""

    def __init__(self, settings: list[int], say: Callable[[str], object]):
        (
            self.every,
            self.target,
            self.step,
            self.alpha,
            self.beta,
            self.k,
            self.mtu,
            drops,
            self.mask,
            self.shift,
            seed,
        ) = settings
        self.drops_l, self.say, self.draw = bool(drops), say, Source(words(seed, 2)).draw
        self.l: deque[Packet] = deque()
        self.c: deque[Packet] = deque()
        self.count = self.size = self.drops = self.marks = self.p = self.before = 0

    def arrives(self, packet: Packet):
        ecn = 0 if packet[2] == NO_DS else packet[2] & 3
        (self.l if ecn & self.mask else self.c).append(packet)
        self.count += 1
        self.size += packet[1]

    def leaves(self, now: int) -> int:
        while self.count:
            l_first = self.l and (not self.c or self.l[0][0] - self.shift < self.c[0][0])
            packet = (self.l if l_first else self.c).popleft()
            self.count -= 1
            self.size -= packet[1]
            verdict = self.verdict(now, packet, bool(l_first))
            self.drops += verdict == DROP
            self.marks += verdict == MARK
            self.say(f"{now} {int(bool(l_first))} {packet[1]} {verdict} {self.p}\n")
            if verdict != DROP:
                return packet[1]
        return 0

    def verdict(self, now: int, packet: Packet, is_l: bool) -> int:
        one, other = self.draw(), self.draw()
        ect = packet[2] != NO_DS and packet[2] & 3
        enough = self.size >= 2 * self.mtu
        squared = enough and max(one, other) <= self.p
        saturated = self.k * self.p > TOP  # L's probability is above 1
        if not is_l:
            return PASS if not squared else DROP if saturated or not ect else MARK
        late = (now >> UNIT) - (packet[0] >> UNIT) > self.step
        if saturated:
            if squared and self.drops_l:
                return DROP
            if ect:
                return MARK if enough or late else PASS
            return DROP if late else PASS
        if late or (enough and one <= self.k * self.p):
            return MARK if ect else DROP
        return PASS

    def update(self, now: int):
        heads = [(now >> UNIT) - (queue[0][0] >> UNIT) for queue in (self.l, self.c) if queue]
        delay = max(heads, default=0)
        change = Fraction(self.alpha * (delay - self.target) + self.beta * (delay - self.before), 2**8)
        most = TOP if self.drops_l else TOP // self.k
        self.p = min(max(self.p + int(change), 0), most)  # int() is towards 0
        self.before = delay
        self.say(f"{now} {self.p}\n")


class LateMarks:
    """Decision 36: the curve is inverted by two random numbers, u and v. Levels are in units of 2^-16, thresholds of 2^-17."""

    def __init__(self, settings: list[int], say: Callable[[str], object]):
        self.weighted, self.packets, self.low, self.high, self.end, self.p, self.full, seed = settings
        state = words(seed, 2)
        self.say, self.draw = say, Source(state[2:] + state[:2]).draw
        self.queue: deque[Packet] = deque()
        self.count = self.size = self.drops = self.marks = self.average = 0
        self.judged = self.certain = self.wrong = (
            0  # with a verdict; below or above the curve; of these: marks below the curve, or packets above it without one
        )
        self.seen = [
            [0.0] * 3 for _ in range(BINS)
        ]  # in parts of the curve: marks, and their mean and variance by the curve

    def arrives(self, packet: Packet):
        self.average += (((self.count if self.packets else self.size) << 16) - self.average) >> 4
        self.queue.append(packet)
        self.count += 1
        self.size += packet[1]

    def leaves(self, now: int) -> int:
        if not self.queue:
            return 0
        _, size, ds = self.queue.popleft()
        self.count -= 1
        self.size -= size
        if ds == NO_DS or not ds & 3:
            self.say(f"{now} {size} 0 2 0\n")
            return size
        depth = self.count if self.packets else self.size
        level = self.average if self.weighted else depth << 16
        u, v = Fraction(self.draw(), 2**32), self.draw() >> 32 - SHARE
        if u < Fraction(self.p, 2**32):
            start, stop = self.low, self.high
        else:
            start, stop = self.high, self.high if self.full else self.end
        threshold = (start << SHARE) + (stop - start) * v
        marks = level * 2 >= threshold if start == stop else level * 2 > threshold
        self.marks += marks
        self.say(f"{now} {size} {level} {int(marks)} {threshold}\n")
        self.tell(level, marks)
        return size

    def tell(self, level: int, marks: bool):
        share = self.share(level / 2**16)
        self.judged += 1
        if share in (0.0, 1.0):
            self.certain += 1
            self.wrong += marks != share
        else:
            part = self.seen[int(BINS * (level / 2**16 - self.low) / (self.end - self.low))]
            for at, value in enumerate((marks, share, share * (1 - share))):
                part[at] += value

    def update(self, now: int):
        raise AssertionError("marks have no update")

    def share(self, level: float) -> float:
        """The curve itself: the probability of a mark. A level at an end where the curve does not jump belongs to neither part."""
        p = self.p / 2**32
        if level < self.low or level == self.low < self.high:
            return 0.0
        if level < self.high:
            return p * (level - self.low) / (self.high - self.low)
        if self.full or level >= self.end:
            return 1.0
        return p + (1 - p) * (level - self.high) / (self.end - self.high)


def pair_case(number: int) -> Case:
    """Every other case has the defaults of Linux 6.17."""
    rng = random.Random(f"{SEED} dualpi2 {number}")
    gain = lambda thousandths: thousandths * 2**40 // 1000 // PIE_SECOND
    every, target, step = rng.choice((1, 4, 32)) * 10**6, rng.choice((1, 5, 50)), rng.choice((1, 100, 5000))
    gains, k = (rng.randrange(1, 8000), rng.randrange(1, 80_000)), rng.choice((1, 2, 3, 7, 255))
    if number % 2:
        every, target, step, gains, k = 16 * 10**6, 15, 1000, (160, 3200), 2
    case = port(rng, (80, 800, 800, 8000), [every, target * PIE_SECOND // 1000, step * PIE_SECOND // 10**6])
    case.settings.extend([*map(gain, gains), k, 1514, rng.randrange(2), rng.choice((1, 3))])
    case.settings.extend([rng.choice((0, 10**6, 50 * 10**6)), rng.getrandbits(63) | 1])
    return case


def marks_case(number: int) -> Case:
    rng = random.Random(f"{SEED} marks {number}")
    case = port(rng, (8, 80, 800, 8000), [])
    packets, limit = rng.randrange(2), case.limit
    longest = limit if packets else limit * 700
    low, high, end = sorted(rng.randrange(longest // rng.choice((2, 4, 20)) + 1) for _ in range(3))
    kind = rng.randrange(4)
    if kind == 0:
        high = end = low  # a step
    elif kind == 1:
        end = high
    full = kind < 3
    p = TOP if kind == 0 else rng.choice((TOP, rng.getrandbits(32), rng.getrandbits(28)))
    case.settings.extend([rng.randrange(2), packets, low, high, end, p, int(full), rng.getrandbits(63) | 1])
    return case


def packets(text: str) -> Iterator[Packet]:
    for line in text.splitlines():
        ns, size, ds = line.split()
        yield int(ns), int(size), int(ds)


def compared(
    name: str, kind: str, make: Callable, of: type, loads: tuple[float, ...], faulty: int | None, quick: bool, note
) -> tuple[int, int, int, list]:
    """Lines that differ, lines, packets, and the stated sides of all cases. `faulty`: the model's setting in this place is too large by one."""
    cases, count = (8, 20_000) if quick else (100, 100_000)
    program, differ, asked, sides = departure.ours(), 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(cases):
            note(f"case {number + 1} of {cases}")
            case, rng = make(number), random.Random(f"{SEED} {name} packets {number}")
            text = traffic(rng, count, case.ns_per_byte, loads, 1e-3)
            (place / "packets").write_text(text)
            given = [each + (at == faulty) for at, each in enumerate(case.settings)]
            model = printed([program, kind, *case.words(*given)], place / "packets", place / "model")
            lines: list[str] = []
            side = of(case.settings, lines.append)
            behind_port(side, packets(text), case, case.settings[0] if kind == "dualpi2" else 0)
            (place / "stated").write_text("".join(lines))
            differ += departure.differing(model, place / "stated")
            asked += len(lines)
            side.queue = None
            sides.append(side)
    return differ, asked, cases * count, sides


def run_pair(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    """`fault`: the model's alpha is too large by one unit."""
    found = Finding(DUALPI2, "RFC 9332, appendix A, in exact arithmetic")
    loads = (0.6, 0.9, 1.0, 1.02, 1.1, 1.5, 4)
    differ, lines, count, sides = compared(
        DUALPI2, "dualpi2", pair_case, Pair, loads, None if fault is None else 3, quick, note
    )
    reason = "the same arithmetic: verdict and base probability, with the model's draws"
    found.rows.append(Row("verdicts at each departure, p' at each update", differ, 0, "lines", lines, reason, "none"))
    drops, marks = (sum(getattr(side, name) for side in sides) for name in ("drops", "marks"))
    found.told.append(("packets", f"{count:,}, of which DualPI2 dropped {drops:,} and marked {marks:,}"))
    return found


def run_marks(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    """`fault`: the model's max is too large by one unit."""
    found = Finding(MARKS, "the curve, inverted in exact arithmetic (decision 36)")
    loads = (0.6, 0.9, 1.0, 1.1, 1.5, 4)
    differ, lines, count, sides = compared(
        MARKS, "marks", marks_case, LateMarks, loads, None if fault is None else 3, quick, note
    )
    reason = "the same arithmetic: level, both draws, threshold and mark"
    found.rows.append(
        Row("level, threshold and mark at each departure", differ, 0, "departures", lines, reason, "none")
    )
    judged, certain = (sum(getattr(side, name) for side in sides) for name in ("judged", "certain"))
    wrong = sum(side.wrong for side in sides)
    reason = "none below min, all from the curve's end on"
    found.rows.append(Row("marks below the curve, or none above it", wrong, 0, "packets", certain, reason, "none"))
    parts = [part for side in sides for part in side.seen if part[2] >= 25]
    worst = max(abs(marks - mean) / variance**0.5 for marks, mean, variance in parts)
    reason = "chance exceeds 5 standard deviations once in 1,700,000 parts; seeds fixed"
    what = f"share of marks in {BINS}ths of each curve"
    found.rows.append(Row(what, worst, 5, "deviations", len(parts), reason, "chance"))
    marked = sum(side.marks for side in sides)
    told = f"{count:,}, of which {judged:,} had a verdict, {judged - certain:,} of them within the curve; {marked:,} were marked"
    found.told.append(("packets", told))
    return found
