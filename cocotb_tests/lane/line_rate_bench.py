"""Bench of the datapath at a frame a clock: 64-byte frames back to back at 512 bits, and a decision in every clock.

Counts clocks, not time. With a short limit most frames are refused and their cells come back as fast as they are taken; without one the
cells run out, and frames that find none are decided (`nobuf`) in every clock as well. The way out takes a beat in
four clocks. Every frame's fate is checked as in datapath.py.
"""

import os
from itertools import pairwise

import cocotb

from lane.datapath import FREE, Bench, Frame, frame
from support import model_bindings as mb

FRAMES = 5000


class Counting(Bench):
    """Notes the clock of every decision."""

    skip_share = 0

    def __init__(self, dut, seed):
        super().__init__(dut, seed)
        self.decisions = []

    def decided(self):
        super().decided()
        self.decisions.append(self.clocks)


@cocotb.test()
@cocotb.parametrize(spread=[1, 4], limit=[20, FREE])
async def a_frame_a_clock_has_a_decision_in_every_clock(dut, spread, limit):
    bench = Counting(dut, 100 * int(os.environ.get("VERMILION_SEED", "1")) + 60 + spread + (limit == FREE))
    await bench.start(limit)
    for _ in range(FRAMES):
        data = frame(bench.number, bench.random.randrange(spread), 64, bench.random)
        bench.number += 1
        bench.waiting[0].append(Frame(data, False))
    began = bench.clocks
    while bench.waiting[0]:
        await bench.clock(1.0, 0.25)
    assert bench.clocks - began == FRAMES, "an input that cannot be stalled was stalled"
    await bench.finish()
    at = bench.decisions
    gaps = [(a, b) for a, b in pairwise(at) if b != a + 1]
    assert len(at) == FRAMES and not gaps, f"{len(at)} decisions, no decision between clocks {gaps[:5]}"
    assert not bench.fates["lost"] and bench.fates[mb.ENQUEUE] > 200
    assert bench.fates[mb.TAIL if limit < FREE else mb.NOBUF] > FRAMES // 2
    assert limit == FREE or not bench.fates[mb.NOBUF], "cells ran out although a queue's limit is short"
