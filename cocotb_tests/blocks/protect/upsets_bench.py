"""Bench of the protected memories in their place: the lane under random traffic and stalls, while bits are flipped in all of them at once.

Every frame is checked as datapath.py says: bytes, order within its queue, and at the end every cell is free again. Of every upset is known what
became of it: it was corrected as the word was used, or repaired by the scrubber, or overwritten before anybody looked at it. The counters must say
the same. In the environment: PATHS, the memories; UPSETS, how many are to be noticed in each; FAULT, the fault that all have; DOUBLE, flip pairs of bits
instead, so often in each.
"""

import os

import cocotb

from blocks.protect.upset_rams import Eye
from lane.datapath import FREE, Bench

UPSETS, DOUBLE = int(os.environ.get("UPSETS", "1000")), "DOUBLE" in os.environ
AT_ONCE = 1 / 8  # of a memory's words are wrong at a time, at most
COUNTERS = "corrected", "repaired", "uncorrectable", "beyondRepair"


class UpsetBench(Bench):
    def __init__(self, dut, number: int):
        super().__init__(dut, 100 * int(os.environ.get("VERMILION_SEED", "1")) + number)
        self.eyes = [Eye(dut, path) for path in os.environ["PATHS"].split()]
        for eye in self.eyes:
            eye.fault.value = int(os.environ.get("FAULT", "0"))
        self.spoiled = 0  # frames that left with `bad`

    def look(self, commit: bool):
        super().look(commit)
        for eye in self.eyes:
            eye.look(self.clocks)

    def left(self, data: bytes, egress: int):
        if int(self.dut.io_out_0_bits_bad.value):
            assert int(self.dut.upsets_failed.value)
            self.spoiled += 1
        else:
            super().left(data, egress)

    def counts(self) -> dict:
        return {name: int(getattr(self.dut, f"upsets_{name}").value) for name in COUNTERS}

    def fill(self, most: int):
        for source in range(self.inputs):
            if len(self.waiting[source]) < most:
                self.feed(source, self.random.choice([60, 64, 64, 65, 200, None]))


@cocotb.test(skip=DOUBLE)
async def every_upset_of_one_bit_is_noticed_and_harms_nothing(dut):
    bench = UpsetBench(dut, 40)
    random = bench.random
    await bench.start(FREE)
    pace = take = 1.0
    most = 60 * (UPSETS + 100)  # a scrubber of 256 words comes by every 768 clocks, or later under full load
    while any(eye.noticed < UPSETS for eye in bench.eyes):
        assert bench.clocks < most, [(eye.path, eye.noticed) for eye in bench.eyes if eye.noticed < UPSETS]
        if bench.clocks % 300 == 0:
            pace, take = random.choice([1.0, 0.8, 0.3]), random.choice([1.0, 0.9, 0.6, 0.2])
        bench.fill(3)
        for eye in bench.eyes:
            if len(eye.pending) < AT_ONCE * eye.depth and eye.noticed < UPSETS and random.random() < 0.2:
                eye.flip(random, 1)
        await bench.clock(pace, take)
    await bench.finish()
    for _ in range(4 * max(eye.depth for eye in bench.eyes)):
        await bench.clock(0.0, 1.0)
    for eye in bench.eyes:
        what = f"{eye.noticed} noticed, {eye.corrected} corrections, {eye.repaired} repaired, {eye.overwritten} overwritten unseen"
        dut._log.info(f"{eye.path} ({eye.depth} x {eye.width}): {what}")
        assert not eye.pending, f"{eye.path}: words {sorted(eye.pending)} are still wrong"
    counts = bench.counts()
    assert counts["corrected"] == sum(eye.corrected for eye in bench.eyes)
    assert counts["repaired"] == sum(eye.repaired for eye in bench.eyes)
    assert not counts["uncorrectable"] and not counts["beyondRepair"] and not int(dut.upsets_failed.value)
    dut._log.info(f"{bench.clocks} clocks, {bench.fates['sent']} frames sent, {counts}")


@cocotb.test(skip=not DOUBLE)
async def a_word_that_cannot_be_corrected_stops_the_lane_and_a_reset_brings_every_cell_back(dut):
    bench = UpsetBench(dut, 41)
    random = bench.random
    await bench.start(FREE)
    for eye in bench.eyes * int(os.environ["DOUBLE"]):
        sent = bench.fates["sent"]
        started = bench.clocks
        while not int(dut.upsets_failed.value):
            assert bench.clocks < started + 8000, f"{eye.path}: no word with two wrong bits was noticed"
            bench.fill(3)
            await bench.clock(1.0, random.choice([1.0, 0.9, 0.5]))
            if bench.clocks > started + 200:
                eye.flip(random, 2)
        assert eye.uncorrectable and not sum(other.uncorrectable for other in bench.eyes if other is not eye), eye.path
        # A frame whose last beat waited in that clock already leaves as it was shown.
        spoiled, good = (
            bench.spoiled,
            bench.fates["sent"] + bool(bench.waits[0] and bench.waits[0][2] and not bench.waits[0][3]),
        )
        for _ in range(600):
            await bench.clock(1.0, 1.0)
        assert bench.fates["sent"] == good, "a frame has left as good behind a failure"
        dut._log.info(f"{eye.path}: {good - sent} frames sent before, {bench.spoiled - spoiled} marked bad")
        for waiting in bench.waiting:
            while len(waiting) > 1:
                waiting.pop()
                bench.number -= 1
        eye.pending.clear()
        eye.used.clear()
        eye.uncorrectable = 0
        await bench.start(FREE, pace=0.5)
        await bench.finish()
        assert not int(dut.upsets_failed.value) and not any(bench.counts().values())
