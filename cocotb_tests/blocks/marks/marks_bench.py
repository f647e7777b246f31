"""Bench of marks of curves at departure: every mark is RED's in exact fractions, with a packet of any queue in each cycle, and averages, settings and seeds
that change meanwhile."""

import os
import random as randomness
from collections import Counter, deque
from fractions import Fraction

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench.wires import Wires
from vermilion.oracle.xoshiro import Source

LATENCY, QUEUES, COLOURS = 3, 16, 3
AT_RESET = [0xB7E15162, 0xDEADBEEF, 0x9E3779B9, 0x243F6A88]
ONE = 2**32  # of a probability


def red(level: Fraction, curve: dict) -> Fraction:
    """The probability of Floyd's curve at a level: gentle, or 1 from `max` on."""
    low, high, end, p = curve["min"], curve["max"], curve["end"], Fraction(curve["p"], ONE)
    if level < low:
        return Fraction(0)
    if level < high:
        return p * (level - low) / (high - low)
    if level < end:
        return p + (1 - p) * (level - high) / (end - high)
    return Fraction(1)


class Bench:
    def __init__(self, dut, seed: int):
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.settings = [{"on": 0} for _ in range(QUEUES)]
        self.averages = [[None] * COLOURS for _ in range(QUEUES)]
        self.source, self.next_source = Source(AT_RESET), None
        self.clock, self.seen, self.waiting = 0, Counter(), deque()
        self.before = None  # the packet of the cycle before: bytes and packets behind it

    async def start(self):
        dut, wires = self.dut, self.wires
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        for name in ("configure_valid", "taken_valid", "flushed", "ports_seed_valid", "ports_averaged_valid"):
            getattr(wires, f"io_{name}").value = 0
        dut.reset.value = 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        for _ in range(QUEUES + 1):
            await FallingEdge(dut.clock)

    def curve(self) -> dict:
        r = self.random
        low = r.choice([0, 1, 20, 5000, r.randrange(2**20)])
        high = low + r.choice([0, 0, 1, 7, 40, 3000, r.randrange(2**20)])
        end = high + r.choice([0, 0, 10, high])
        p = r.choice([ONE, ONE // 2, ONE // 10, 0, 1, r.randrange(ONE)])
        return {"on": r.random() < 0.9, "min": low, "max": high, "end": end, "p": p}

    def configure(self, queue):
        """For packets of this cycle and of later ones; or nothing."""
        wires, r = self.wires, self.random
        wires.io_configure_valid.value = queue is not None
        if queue is None:
            return
        made = {name: r.random() < 0.8 for name in ("on", "packets", "isDepth")} | {
            "curves": [self.curve() for _ in range(COLOURS)]
        }
        wires.io_configure_bits_queue.value = queue
        for name in ("on", "packets", "isDepth"):
            getattr(wires, f"io_configure_bits_settings_{name}").value = made[name]
        for c, curve in enumerate(made["curves"]):
            words = {name: curve[name] for name in ("on", "min", "max", "p")}
            words |= {"first": curve["max"] - curve["min"], "second": curve["end"] - curve["max"]}
            for name, value in words.items():
                getattr(wires, f"io_configure_bits_settings_curves_{c}_{name}").value = int(value)
        self.settings[queue] = made

    def average(self, happens: bool):
        """Averages of a decision. They count for packets of this cycle and of later ones."""
        wires, r = self.wires, self.random
        wires.io_ports_averaged_valid.value = happens
        if not happens:
            return
        queue = r.randrange(QUEUES)
        wires.io_ports_averaged_bits_queue.value = queue
        for e in range(COLOURS):
            value, counts = self.level(queue, e, 2**16), r.random() < 0.7
            getattr(wires, f"io_ports_averaged_bits_average_{e}").value = value
            getattr(wires, f"io_ports_averaged_bits_updated_{e}").value = counts
            if counts:
                self.averages[queue][e] = Fraction(value, 2**16)

    def level(self, queue, colour, unit=1) -> int:
        """A level near the thresholds of a curve, or on them."""
        r, settings = self.random, self.settings[queue]
        if not settings.get("curves"):
            return r.randrange(1000 * unit)
        curve = settings["curves"][colour]
        near = r.choice([curve["min"], curve["max"], curve["end"], r.randint(curve["min"], curve["end"])])
        return max(0, near * unit + r.choice([-1, 0, 0, 1, unit // 2]))

    def seed(self, words):
        wires = self.wires
        if self.next_source:
            self.source, self.next_source = self.next_source, None
        wires.io_ports_seed_valid.value = words is not None
        if words is None:
            return
        wires.io_ports_seed_bits.value = sum(word << 32 * i for i, word in enumerate(words))
        if any(words):
            self.next_source = Source(words[2:] + words[:2])

    async def tick(self, queue=None, configures=None, averages=False, seed=None):
        """One cycle, with a packet of `queue` or none."""
        wires = self.wires
        if self.before:
            wires.io_behind.value, wires.io_packetsBehind.value = self.before
        self.average(averages)
        self.seed(seed)
        self.before = None
        self.configure(configures)
        wires.io_taken_valid.value = queue is not None
        if queue is not None:
            self.take(queue)
        await FallingEdge(self.dut.clock)
        self.clock += 1
        self.check()

    def take(self, queue):
        wires, r, settings = self.wires, self.random, self.settings[queue]
        colour, ecn, kind, flushed = r.randrange(COLOURS), r.randrange(4), r.randrange(5), r.random() < 0.1
        wires.io_taken_bits_queue.value = queue
        wires.io_taken_bits_queueEntry_colour.value = colour
        wires.io_taken_bits_queueEntry_dsField.value = r.randrange(64) << 2 | ecn
        wires.io_taken_bits_queueEntry_isIp4.value = kind in (1, 2)
        wires.io_taken_bits_queueEntry_isIp6.value = kind in (3, 4)
        wires.io_flushed.value = flushed
        self.before = self.level(queue, colour), min(self.level(queue, colour), 2**13 - 1)
        marked = False
        if kind and ecn and not flushed and settings["on"]:
            curve = settings["curves"][colour]
            level = Fraction(self.before[settings["packets"]]) if settings["isDepth"] else self.averages[queue][colour]
            u, v = Fraction(self.source.draw(), ONE), Fraction(self.source.draw() >> 15, 2**17)
            p, chance = Fraction(curve["p"], ONE), red(level, curve)
            # The random number of [0, 1) that belongs to u and v.
            marked = curve["on"] and (p * v if u < p else p + (1 - p) * v) < chance
            where = "none" if not chance else "all" if chance == 1 else "first" if level < curve["max"] else "second"
            form = "depth" if settings["isDepth"] else "average"
            self.seen[form, where if curve["on"] else "off", marked] += 1
        self.waiting.append((self.clock + LATENCY, marked, f"{queue=} {colour=} {settings} {self.before}"))

    def check(self):
        want, context = False, "no packet"
        if self.waiting and self.waiting[0][0] <= self.clock:
            _, want, context = self.waiting.popleft()
        mark = self.wires.io_mark.value
        assert mark == want, f"RTL {mark}, expected {want}: {context}"


@cocotb.test()
async def every_mark_is_that_of_red_in_fractions(dut):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")))
    await bench.start()
    r = bench.random
    for queue in range(QUEUES):
        await bench.tick(configures=queue)
    while any(None in averages for averages in bench.averages):  # a packet has an average before it leaves
        await bench.tick(averages=True)
    for rate, spread in [(1.0, 1), (1.0, 16), (0.5, 3)] * 6:
        first = r.randrange(QUEUES)
        for _ in range(1200):
            queue = (first + r.randrange(spread)) % QUEUES if r.random() < rate else None
            configures = r.randrange(QUEUES) if r.random() < 0.02 else None
            words = [r.getrandbits(32) for _ in range(4)] if r.random() < 0.9 else [0] * 4
            await bench.tick(queue, configures, r.random() < 0.4, words if r.random() < 0.003 else None)
    for _ in range(LATENCY):
        await bench.tick()
    dut._log.info(f"met: {dict(bench.seen)}")
    assert not bench.waiting
    for form in ("depth", "average"):
        wanted = [
            ("none", False),
            ("all", True),
            ("first", False),
            ("first", True),
            ("second", False),
            ("second", True),
        ]
        assert all(bench.seen[form, *what] > 20 for what in wanted), bench.seen
        assert not bench.seen[form, "none", True] and not bench.seen[form, "all", False]
