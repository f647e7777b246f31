"""Bench of the rule table downstream of the parser: frames as bytes, against plain comparisons (sim/tests/support/plain_rules.py)."""

import os
import random as randomness
from collections import Counter, deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench.wires import Wires
from support.drawn_rules import DrawnRules, random_action
from support.plain_rules import FOURS, Rule, View, first
from support.rule_image import SIDE, Exact, Image, Ranges, key

LATENCY = 8  # ticks from a frame to its answer
PACKETS = int(os.environ.get("PACKETS", "100000"))
QUEUES = int(os.environ.get("QUEUES", "16"))
RULES = min(max(4 * QUEUES, 16), 256)  # EmitBlock.scala
COMMIT = RULES * (11 * 16 + 1) + 4  # ticks
ALL_OFF = [Rule(on=False)] * RULES


class Bench(DrawnRules):
    """Drives frames and tables, and compares each answer with what the rules of its time say."""

    def __init__(self, dut, number: int):
        seed = 100 * int(os.environ.get("VERMILION_SEED", "1")) + number
        dut._log.info(f"seed {seed}")
        super().__init__(randomness.Random(seed))
        self.dut, self.wires = dut, Wires(dut)
        self.tables = [ALL_OFF]  # of a packet that is sent now: the rules of before a commit, those of after it
        self.waiting, self.clock, self.seen = deque(), 0, Counter()
        self.newer = None  # the table of the last change-over that was seen
        self.counts, self.newest = [[0, 0] for _ in range(RULES)], None

    async def start(self):
        dut, wires = self.dut, self.wires
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        for name in ("frame_valid", "host_write_valid", "host_range_valid", "host_commit", "host_snapshot_valid"):
            getattr(wires, name).value = 0
        dut.reset.value = 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        while not wires.host_ready.value:
            await FallingEdge(dut.clock)

    async def tick(self, frame: bytes | None = None, ingress: int = 0, counts: bool = True):
        """One cycle, with a frame or none."""
        wires, snapshot = self.wires, None
        wires.frame_valid.value = frame is not None
        if frame is not None:
            padded = frame[:128] + bytes(0xAA for _ in range(128 - len(frame)))
            wires.frame_bits_data.value = int.from_bytes(padded, "little")
            wires.frame_bits_bytes.value = min(len(frame), 128)
            wires.frame_bits_input.value = ingress
            wires.frame_bits_lenBytes.value = len(frame)
            wires.frame_bits_counts.value = counts
            self.waiting.append((self.clock, frame, ingress, counts, list(self.tables)))
        if self.random.random() < 0.05:
            snapshot = self.random.randrange(RULES) if self.newest is None else self.newest[0]
            wires.host_snapshot_bits.value = snapshot
        wires.host_snapshot_valid.value = snapshot is not None
        expected = None if snapshot is None else list(self.counts[snapshot])
        if self.newest:  # is added in this cycle
            rule, length = self.newest
            self.counts[rule][0] += 1
            self.counts[rule][1] += length
        self.newest = None
        await FallingEdge(self.dut.clock)
        self.clock += 1
        if expected is not None:
            assert [wires.host_counts_packets.value, wires.host_counts_bytes.value] == expected, snapshot
            self.seen["counts"] += expected[0] > 0
        self.check()

    def check(self):
        wires = self.wires
        due = bool(self.waiting) and self.clock - self.waiting[0][0] == LATENCY
        assert bool(wires.answer_valid.value) == due, f"an answer at {self.clock}, or none"
        if not due:
            return
        _, frame, ingress, counts, tables = self.waiting.popleft()
        got = wires.answer_bits_rule.value if wires.answer_bits_hit.value else None
        view = View(frame)
        if self.newer is not None and tables[-1] is self.newer:
            tables = tables[-1:]  # a packet before has seen the new rules
        table = tables[0]
        wanted = first(table, view, ingress)
        if len(tables) == 2 and not self.same(table, wanted, got):
            self.seen["changed over"] += 1
            table = self.newer = tables[1]
            wanted = first(table, view, ingress)
        assert got == wanted, f"RTL {got}, plain {wanted}: {frame.hex()} of input {ingress}, {view}"
        if wanted is None:
            self.seen["missed"] += 1
            return
        self.seen["hit"] += 1
        self.seen["rule", wanted] += 1
        assert self.action() == table[wanted].action, f"rule {wanted}"
        if counts:
            self.newest = wanted, len(frame)

    def same(self, table, wanted, got) -> bool:
        return wanted == got and (wanted is None or self.action() == table[wanted].action)

    def action(self) -> dict:
        """What is to be done, by the RTL."""
        wires, out = self.wires, {"drop": bool(self.wires.answer_bits_action_drop.value)}
        for name in ("queue", "colour", "dscp", "marker"):
            if getattr(wires, f"answer_bits_action_{name}_valid").value:
                out[name] = getattr(wires, f"answer_bits_action_{name}_bits").value
        return out

    async def write(self, rules: dict[int, Rule], traffic: bool = False):
        """Writes some rules, and the ranges. Nothing of it counts before the commit."""
        wires, r = self.wires, self.random

        async def step():
            await self.tick(*(self.random_frame() if traffic and r.random() < 0.5 else ()))

        for number, rule in rules.items():
            words = list(Image(rule, self.ranges).words().items())
            for word, data in words[:1] if not rule.on and r.random() < 0.5 else words:
                wires.host_write_valid.value = 1
                wires.host_write_bits_rule.value = number
                wires.host_write_bits_word.value, wires.host_write_bits_data.value = word, data
                await step()
        wires.host_write_valid.value = 0
        for side in range(2):
            for i, (low, high) in enumerate(self.ranges.of[side]):
                wires.host_range_valid.value, wires.host_range_bits_range.value = 1, side * SIDE + i
                wires.host_range_bits_low.value, wires.host_range_bits_high.value = low, high
                await step()
        wires.host_range_valid.value = 0

    async def commit(self, table: list[Rule], pace: float = 0.0):
        """Takes a table over, with frames meanwhile."""
        self.tables.append(list(table))

        async def step():
            await self.tick(*(self.random_frame() if self.random.random() < pace else ()))

        self.wires.host_commit.value = 1
        await step()
        self.wires.host_commit.value = 0
        assert self.wires.host_pending.value
        begun = self.clock
        while self.wires.host_pending.value:
            await step()
        assert self.clock - begun == COMMIT - 1, self.clock - begun
        del self.tables[0]

    async def load(self, rules: dict[int, Rule], pace: float = 0.0, traffic: bool = False):
        """Changes these rules of the table."""
        for rule in rules.values():
            rule.action = rule.action or random_action(self.random, QUEUES)
        await self.write(rules, traffic)
        await self.commit([rules.get(n, old) for n, old in enumerate(self.tables[-1])], pace)

    async def answers(self, *inputs: tuple[bytes, int]) -> None:
        """Lets frames through, one per cycle; each answer is checked."""
        for frame, ingress in inputs:
            await self.tick(frame, ingress)
        for _ in range(LATENCY):
            await self.tick()


@cocotb.test()
async def every_answer_is_that_of_plain_comparisons(dut):
    bench = Bench(dut, 1)
    await bench.start()
    r, commits = bench.random, 0
    while (sent := bench.seen["hit"] + bench.seen["missed"]) < PACKETS:
        few = commits % 3 != 0
        if not few:
            bench.ranges = Ranges()
        chosen = r.sample(range(RULES), r.choice([1, 3, 10])) if few else range(RULES)
        await bench.load({n: bench.drawn() for n in chosen}, pace=[1, 0.5, 0][commits % 3], traffic=few)
        commits += 1
        for pace in (1.0, 0.3):
            for _ in range(min(2500, PACKETS)):
                await bench.tick(*(bench.random_frame() if r.random() < pace else ()))
    for _ in range(LATENCY):
        await bench.tick()
    dut._log.info(f"{sent} packets and {commits} commits: {dict(bench.seen)}")
    assert min(bench.seen["hit"], bench.seen["missed"]) > PACKETS // 20 and bench.seen["counts"] > 100, bench.seen
    assert bench.seen["changed over"] > commits // 4, "no commit was seen between two packets"
    dut._log.info(f"rules that won: {len([n for n in range(RULES) if bench.seen['rule', n]])}")
    assert len([n for n in range(RULES) if bench.seen["rule", n]]) > min(RULES, 128) // 2


@cocotb.test()
async def every_bit_of_the_key_is_compared(dut):
    """A rule asks for exactly the key of a frame, and others for the same with one bit changed: only the first fits."""
    bench = Bench(dut, 2)
    await bench.start()
    bench.ranges = Ranges(
        [(0, 40_000), (1, 65535), *[(port, port + 9) for port in range(0, 60, 10)]], [(400, 500)] * SIDE
    )
    kinds, starts = {}, range(0, Image.BITS, RULES - 1)
    while len(kinds) < 3:
        frame = next(bench.source)
        view = View(frame)
        kinds.setdefault(
            (view.version, view.ports is not None, view.tag is not None) if view.ports or not view.version else 0, frame
        )
    for frame in kinds.values():
        value, mask = key(View(frame), 2, bench.ranges), (1 << Image.BITS) - 1
        for low in starts:
            bits = range(low, min(low + RULES - 1, Image.BITS))
            rules = {n: Exact(value=value ^ 1 << bit, mask=mask, ranges=bench.ranges) for n, bit in enumerate(bits)}
            await bench.load(rules | {RULES - 1: Exact(value=value, mask=mask, ranges=bench.ranges)})
            await bench.answers((frame, 2), (frame, 3), *(bench.random_frame()[:2] for _ in range(20)))
    assert bench.seen["rule", RULES - 1] >= len(starts) * len(kinds)


@cocotb.test()
async def nothing_counts_before_the_commit(dut):
    bench = Bench(dut, 3)
    await bench.start()
    inputs = [bench.random_frame()[:2] for _ in range(50)]
    await bench.answers(*inputs)
    rules = {0: Rule(action={"drop": True})}
    await bench.write(rules)
    await bench.answers(*inputs)
    assert bench.seen["hit"] == 0
    await bench.load(rules)
    await bench.answers(*inputs)
    assert bench.seen["rule", 0] == len(inputs), "a mask without bits matches every packet"
    await bench.write({0: Rule(on=False)})
    await bench.answers(*inputs)
    assert bench.seen["rule", 0] == 2 * len(inputs)


@cocotb.test()
async def the_first_rule_wins_and_the_next_takes_its_place(dut):
    bench = Bench(dut, 4)
    await bench.start()
    udp = next(
        frame for frame in bench.source if (view := View(frame)).version == 4 and view.protocol == 17 and view.ports
    )
    middle, last = RULES * 5 // 8, RULES - 1
    await bench.load({3: Rule(protocol=17), middle: Rule(protocol=17, version=4), last: Rule(), 2: Rule(never=True)})
    await bench.answers((udp, 0))
    await bench.load({3: Rule(on=False)})
    await bench.answers((udp, 0))
    await bench.load({middle: Rule(protocol=17, version=6)})
    await bench.answers((udp, 0))
    await bench.load({0: Rule(protocol=17)})
    await bench.answers((udp, 0))
    assert [bench.seen["rule", n] for n in (3, middle, last, 0, 2)] == [1, 1, 1, 1, 0]


@cocotb.test()
async def ranges_have_both_their_ends(dut):
    bench = Bench(dut, 5)
    await bench.start()
    ends = [(1, 3), (0, 2), (65533, 65535), (5060, 5061), (3478, 3481), (9, 8), (1, 65535), (7, 7)]
    bench.ranges = Ranges(ends, [(low + 1, high + 1) for low, high in ends[:2]] + ends[2:])

    def frame(source, destination, fragment=0):
        ports = source.to_bytes(2, "big") + destination.to_bytes(2, "big")
        ip = (
            bytes.fromhex("45000028 0000")
            + fragment.to_bytes(2, "big")
            + bytes.fromhex("4011 0000")
            + FOURS[0].to_bytes(4, "big") * 2
        )
        return bytes(12) + b"\x08\0" + ip + ports + bytes(20)

    edges = sorted(
        {port + d & 0xFFFF for pair in bench.ranges.of[0] + bench.ranges.of[1] for port in pair for d in (-1, 0, 1)}
    )
    for i in range(SIDE):
        source = Rule(source_port=bench.ranges.of[0][i], never=False)
        destination = Rule(destination_port=bench.ranges.of[1][i])
        Image.forced = True
        await bench.load({0: source, 1: destination})
        Image.forced = False
        frames_ = [frame(port, other) for port in edges for other in bench.random.sample(edges, 3)]
        frames_ += [frame(port, port, fragment) for port in edges[:4] for fragment in (0, 0x2000, 1)]
        await bench.answers(*((each, 0) for each in frames_))
    assert bench.seen["rule", 0] > 100 and bench.seen["rule", 1] > 30 and bench.seen["missed"] > 100
