"""Bench of the lane's datapath: random frames on every input at once, random stalls, backpressure.

Queues are told apart by the frame's DSCP, and a frame carries its number, so every byte can be checked at the output, and with one input
the order within a queue. Not here: running out of cells, bad frames, commits under traffic, curves, marks.
"""

import os
import random as randomness
import struct
from collections import Counter, deque

import cocotb
import model_bindings as mb
from bench import queues
from bench.bundle import ports
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

FREE = 2**27 - 1


def frame(number: int, dscp: int, length: int, random) -> bytes:
    """An IPv4 frame with its number behind the header."""
    head = bytes(12) + b"\x08\x00" + struct.pack(">BBHIBBH8s", 0x45, dscp << 2, length - 14, 0, 64, 253, 0, bytes(8))
    return head + struct.pack(">I", number) + random.randbytes(length - 38)


class Bench:
    def __init__(self, dut, seed: int):
        self.dut, self.random = dut, randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.inputs = 1 if not hasattr(dut, "io_in_1_valid") else 2
        self.lanes = len(dut.io_out_bits_keep)
        self.waiting = [deque() for _ in range(self.inputs)]  # beats to drive
        self.expected: dict[int, bytes] = {}
        self.received: list[bytes] = []
        self.partial = b""
        self.verdicts, self.number, self.now = Counter(), 0, 1000
        self.holding = [False] * self.inputs

    async def start(self, limit_packets: int):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        names = [f"io_in_{i}" for i in range(self.inputs)]
        names += [f"io_configuration_{name}" for name in "commit service portShaper classWrite seed".split()]
        for name in names:
            getattr(dut, f"{name}_valid").value = 0
        dut.io_configuration_departureUpdates.value, dut.io_out_ready.value = 0, 0
        dut.io_now.value, dut.reset.value = self.now, 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        prefix = "io_configuration"
        for dscp in range(65):
            entry = {"queue": dscp % 4, "colour": 0, "setDscp": 0, "dscp": 0}
            ports(dut, f"{prefix}_classWrite_bits", {"address": dscp, "entry": entry})
            dut.io_configuration_classWrite_valid.value = 1
            await FallingEdge(dut.clock)
        dut.io_configuration_classWrite_valid.value = 0
        record = mb.queue(limit_bytes=FREE, limit_packets=limit_packets)
        for index in range(4):
            ports(dut, f"{prefix}_commit_bits", {"queue": index, "config": queues.bundle(record)})
            dut.io_configuration_commit_valid.value = 1
            await ReadOnly()
            while not int(dut.io_configuration_commit_ready.value):
                await FallingEdge(dut.clock)
                await ReadOnly()
            await FallingEdge(dut.clock)
        dut.io_configuration_commit_valid.value = 0
        for _ in range(50):
            await FallingEdge(dut.clock)

    def feed(self, source: int):
        """One more frame for an input."""
        length = self.random.choice([60, 64, 65, 128, 1514, self.random.randrange(42, 3000)])
        data = frame(self.number, self.random.randrange(4), length, self.random)
        self.expected[self.number] = data
        self.number += 1
        beats = [data[at : at + self.lanes] for at in range(0, len(data), self.lanes)]
        self.waiting[source].extend((beat, index == len(beats) - 1) for index, beat in enumerate(beats))

    async def clock(self, pace: float, take: float):
        """One clock: a beat to each input with probability `pace`, the output ready with probability `take`."""
        dut = self.dut
        for i in range(self.inputs):
            if not self.holding[i] and self.waiting[i] and self.random.random() < pace:
                beat, last = self.waiting[i][0]
                bits = {"data": int.from_bytes(beat, "little"), "keep": 2 ** len(beat) - 1, "last": last, "bad": 0}
                ports(dut, f"io_in_{i}_bits", bits)
                self.holding[i] = True
            getattr(dut, f"io_in_{i}_valid").value = self.holding[i]
        dut.io_out_ready.value = self.random.random() < take
        self.now += 4
        dut.io_now.value = self.now
        await ReadOnly()
        for i in range(self.inputs):
            if self.holding[i] and int(getattr(dut, f"io_in_{i}_ready").value):
                self.waiting[i].popleft()
                self.holding[i] = False
        if int(dut.io_out_ready.value) and int(dut.io_out_valid.value):
            count = int(dut.io_out_bits_keep.value).bit_count()
            self.partial += int(dut.io_out_bits_data.value).to_bytes(self.lanes, "little")[:count]
            if int(dut.io_out_bits_last.value):
                self.received.append(self.partial)
                self.partial = b""
        if int(dut.io_decision_valid.value):
            self.verdicts[int(dut.io_decision_bits_verdict.value)] += 1
        await FallingEdge(dut.clock)

    async def finish(self):
        for _ in range(200000):
            await self.clock(1.0, 1.0)
            if not any(self.waiting) and sum(self.verdicts.values()) == self.number:
                if len(self.received) == self.verdicts[mb.ENQUEUE] and not int(self.dut.io_busy.value):
                    break
        else:
            raise AssertionError("the lane did not come to rest")

    def check(self):
        """Bytes, order within each queue and input, and the count of what is missing."""
        assert not self.partial
        last: dict[int, int] = {}
        for data in self.received:
            number = struct.unpack(">I", data[34:38])[0]
            assert data == self.expected.pop(number), f"frame {number} changed on its way"
            queue = data[15] >> 2
            if self.inputs == 1:
                assert last.get(queue, -1) < number, f"queue {queue} changed its order"
            last[queue] = number
        assert len(self.expected) == self.number - self.verdicts[mb.ENQUEUE], "frames are missing without a verdict"


@cocotb.test()
@cocotb.parametrize(limit=[FREE, 10], take=[1.0, 0.4])
async def frames_leave_as_they_came_or_are_counted(dut, limit, take):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")) + round(take * 10) + (limit == FREE))
    await bench.start(limit)
    for pace in (1.0, 0.6, 0.05):
        for _ in range(40):
            for source in range(bench.inputs):
                bench.feed(source)
        while any(bench.waiting):
            await bench.clock(pace, take)
    await bench.finish()
    bench.check()
    dut._log.info(f"{bench.number} frames, verdicts {dict(bench.verdicts)}")
    if limit == 10 and take < 1:
        assert bench.verdicts[mb.TAIL], "the limit was never met"
