"""Bench of the lane's datapath in builds at the ends of what is legal: as lane_bench, for any number of inputs and queues.

Frames of every length, too long ones among them, go to the first and the last queue and two in between, from every input at once. Input 0
cannot be stalled, the others can.
"""

import os
from collections import Counter

import cocotb
from cocotb.clock import Clock

from bench.bundle import ports
from bench.pipeline import CLASSES_CLEARED
from lane.datapath import CONFIGURATION, FREE, Bench, Frame, frame
from support import model_bindings as mb

MAX_FRAME = int(os.environ.get("MAX_FRAME_BYTES", "9728"))


class EndsBench(Bench):
    def __init__(self, dut, seed: int):
        super().__init__(dut, seed)
        last = 2 ** len(dut.io_decision_bits_queue) - 1
        self.classes = sorted({0, last // 3, 2 * last // 3, last})
        self.admitted = Counter()

    def entry(self, dscp: int, egress: int) -> dict:
        return {"queue": self.classes[dscp], "colour": 0}

    async def start(self, limit_packets: int):
        dut = self.dut
        cocotb.start_soon(Clock(self.clock_port, 4, unit="ns").start())
        self.configure_nothing()
        for _ in range(4):
            await self.clock(0.0, 1.0, reset=True)
        for _ in range(CLASSES_CLEARED):
            await self.clock(0.0, 1.0)
        for dscp in range(len(self.classes)):
            ports(dut, f"{CONFIGURATION}_classWrite_bits", {"address": dscp, "entry": self.entry(dscp, 0)})
            dut.io_configuration_classWrite_valid.value = 1
            await self.clock(0.0, 1.0)
        dut.io_configuration_classWrite_valid.value = 0
        self.commits.extend((queue, self.record(limit_packets)) for queue in self.classes)
        while self.commits:
            await self.clock(0.0, 1.0)
        await self.rest()

    def feed(self, source: int):
        random = self.random
        length = random.choice(
            [60, 64, 65, 127, 128, 129, 1514, random.randrange(42, 3000), random.randrange(42, 9000)]
        )
        if random.random() < 0.05:
            length = MAX_FRAME + random.choice([1, 64, 100])
        data = frame(self.number, random.randrange(len(self.classes)), length, random)
        self.number += 1
        self.waiting[source].append(Frame(data, random.random() < 0.05))

    def decided(self):
        before = self.fates[mb.ENQUEUE]
        super().decided()
        if self.fates[mb.ENQUEUE] > before:
            queue = int(self.dut.io_decision_bits_queue.value)
            source = int(self.dut.io_decision_bits_input.value) if self.inputs > 1 else 0
            assert self.queued[queue][-1].data[15] >> 2 == self.classes.index(queue), (
                "the frame is in another class's queue"
            )
            assert len(self.queued[queue][-1].data) <= MAX_FRAME
            self.admitted[source, queue] += 1


@cocotb.test()
@cocotb.parametrize(take=[1.0, 0.5])
async def frames_of_every_input_leave_every_queue_as_they_came(dut, take):
    bench = EndsBench(dut, 100 * int(os.environ.get("VERMILION_SEED", "1")) + 40 + round(take * 2))
    await bench.start(FREE)
    for pace in (0.2, 1.0):
        for _ in range(30):
            for source in range(bench.inputs):
                bench.feed(source)
        while any(bench.waiting):
            await bench.clock(pace, take)
    await bench.finish()
    assert bench.fates["lost"] == 0 and bench.fates[mb.NOBUF] and bench.fates[mb.BAD]
    places = {(source, queue) for source in range(bench.inputs) for queue in bench.classes}
    assert set(bench.admitted) == places, f"nothing came through from {places - set(bench.admitted)}"
