"""What every bench of the lane's datapath does: drives all inputs and outputs, commits queues, and keeps account of every frame.

Every frame has one fate, and the bench knows it: it is shown as lost, a clock after its last beat; or it gets the next verdict of its
input; and if that was `enqueue`, it is the next frame to come out of its queue, byte for byte. So order is kept per input and queue. At rest
every cell is free but the four that each input holds ready. Input 0 cannot be stalled, with several egresses every even one: its `ready` is 1 in every clock.
Builds with the victim search: push_outs.py, which takes a frame that was evicted out of its queue.

A flush discards packets where they would be sent: whether a departure is flushed is known from the settings of the clock before it, or 3 clocks before
that where packets get a verdict as they leave. Such a verdict may drop a packet that is not flushed.

Now and then `skip` is high for a clock: so many clocks later, always the same number, no packet is decided, and none is taken out of a queue.
Builds with several egresses: the routes of the inputs change under traffic; a frame leaves through the egress that its input had shortly before its decision.

Not here: curves, what a verdict should have been (the policy's bench checks that).
"""

import ctypes
import random as randomness
import struct
from collections import Counter, deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from bench import queues
from bench.bundle import ports
from bench.pipeline import CLASSES_CLEARED
from bench.wires import Wires
from support import model_bindings as mb

FREE = 2**27 - 1
HELD_READY = 4  # cells an input holds: CellsAhead of Ingress.scala
LOST_CLOCKS = 1  # LostLatency of Ingress.scala
SKIP_CLOCKS = 80  # its effect comes sooner
PUSH_OUT_CLOCKS = 8  # so long after a packet has departed a push-out may still tell of one behind it
ROUTE_CLOCKS = 80  # a decision is made within so many clocks of the packet's classification
CONFIGURATION = "io_configuration"
JUDGED_CLOCKS = 3  # of a verdict at departure


def frame(number: int, dscp: int, length: int, random, ecn: int = 0, ttl: int = 64) -> bytes:
    """An IPv4 frame with its number behind the header."""
    words = (0x45, dscp << 2 | ecn, length - 14, 0, ttl, 253, 0, bytes(8))
    head = bytes(12) + b"\x08\x00" + struct.pack(">BBHIBBH8s", *words)
    return head + struct.pack(">I", number) + random.randbytes(length - 38)


class Frame:
    def __init__(self, data: bytes, bad: bool):
        self.data, self.bad = data, bad
        self.at = 0  # bytes taken
        self.since_reset = 0  # of these, behind the reset
        self.ended = None  # clock of the last beat
        self.cut = False
        self.departed = False
        self.gone = None  # clock of the departure in which it was discarded

    def leaves(self) -> bytes:
        """As it must come out."""
        return self.data


class EcnFrame(Frame):
    """A frame that comes out with CE if it was marked."""

    def __init__(self, data: bytes, bad: bool, ecn: int):
        super().__init__(data, bad)
        self.ecn, self.marked = ecn, False

    def leaves(self) -> bytes:
        if not self.marked:
            return self.data
        headers, data = mb.Headers(), ctypes.create_string_buffer(self.data, len(self.data))
        mb.library().vm_parse(self.data, len(self.data), mb.OptionTypes(), headers)
        mb.library().vm_rewrite(data, headers, 1, 0, 0, 0)
        return data.raw


def count(dut, name: str) -> int:
    """How many ports of a name with a number in it there are."""
    return next(i for i in range(17) if not hasattr(dut, name.format(i)))


class Bench:
    queues = (0, 1, 2, 3)  # that are used of each egress
    skip_share = 1 / 40  # of the clocks

    def __init__(self, dut, seed: int):
        self.dut, self.random = Wires(dut), randomness.Random(seed)
        self.clock_port, self.log = dut.clock, dut._log
        self.log.info(f"seed {seed}")
        self.inputs, self.egresses = count(dut, "io_in_{}_valid"), count(dut, "io_out_{}_valid")
        self.share = (
            2 ** len(dut.io_decision_bits_queue) // self.egresses
        )  # queues of an egress, rounded up to a power of two
        self.stallable = [i > 0 if self.egresses == 1 else i % 2 == 1 for i in range(self.inputs)]
        self.lanes = len(dut.io_out_0_bits_keep)
        self.cells = 2 ** (len(dut.io_freeCells) - 1)
        self.waiting = [deque() for _ in range(self.inputs)]  # frames, the first may be partly in
        self.inside = [deque() for _ in range(self.inputs)]  # all beats in, no verdict
        self.queued: dict[int, deque] = {}  # by queue: admitted frames
        self.commits: deque = deque()  # (queue, record)
        self.shown = None  # the one on the port
        self.partial, self.holding = [b""] * self.egresses, [False] * self.inputs
        self.fates, self.number, self.now, self.clocks, self.gone = Counter(), 0, 1000, 0, 0
        self.waits = [None] * self.egresses  # the beat that the port left on the way out
        self.routes = [i % self.egresses for i in range(self.inputs)]
        self.routed = [
            {egress: 0} for egress in self.routes
        ]  # by input: egresses, with the last clock in which they were its route
        self.paused = [False] * self.egresses
        self.flushed, self.flushed_queue = [False] * self.egresses, None  # which egresses, and which queue
        self.judges = hasattr(self.dut, "io_departed_bits_dropped")
        # From the clock in which what departs now was chosen.
        self.flushes = deque([(self.flushed[:], None)], maxlen=1 + self.judges * JUDGED_CLOCKS)
        self.discarded: deque = deque()  # lines of frames with their newest that was discarded, for a few clocks
        self.skip_random, self.skips = randomness.Random(seed + 1), deque()
        # Clocks behind a skip in which none was seen; where it skips nothing, soon none of them is left.
        self.empty = {"decision": set(range(SKIP_CLOCKS)), "departed": set(range(SKIP_CLOCKS))}
        self.stalled, self.dissolved = 0, 0  # the second: queued frames that a reset took

    # ---- Configuration ----
    def entry(self, dscp: int, egress: int) -> dict:
        """The class of a DSCP at an egress, each its own; by the number of its queue there."""
        return {"queue": self.queues[(dscp + egress) % 4], "colour": 0}

    def all_queues(self) -> list[int]:
        return [egress * self.share + queue for egress in range(self.egresses) for queue in self.queues]

    def configure_nothing(self):
        """Sets the configuration ports to what changes nothing."""
        dut = self.dut
        shapers = [f"portShaper_{egress}" for egress in range(self.egresses)]
        for name in "service classWrite seed commit hostRead reports_select".split() + shapers:
            if hasattr(dut, f"{CONFIGURATION}_{name}_valid"):
                getattr(dut, f"{CONFIGURATION}_{name}_valid").value = 0
        dut.io_configuration_departureUpdates.value, dut.io_ready.value = 0, 1

    def record(self, limit_packets: int):
        return mb.queue(limit=FREE, limit_packets=limit_packets)

    def committed(self, record) -> dict:
        """What the port of a commit has beside the queue."""
        return {"config": queues.bundle(record)}

    async def start(self, limit_packets: int, pace: float = 0.0, reset_clocks: int = 4):
        """Reset, classes and queues; with a pace, traffic goes on all the while."""
        dut = self.dut
        if not self.clocks:
            cocotb.start_soon(Clock(self.clock_port, 4, unit="ns").start())
            self.configure_nothing()
        for _ in range(reset_clocks):
            await self.clock(pace, 1.0, reset=True)
        for _ in range(CLASSES_CLEARED * self.egresses):
            await self.clock(pace, 1.0)
        for egress in range(self.egresses):
            for dscp in range(65):
                entry = self.entry(dscp, egress)
                entry["queue"] += egress * self.share
                ports(dut, f"{CONFIGURATION}_classWrite_bits", {"address": dscp, "entry": entry})
                dut.io_configuration_classWrite_valid.value = 1
                await self.clock(pace, 1.0)
        dut.io_configuration_classWrite_valid.value = 0
        self.commits.extend((queue, self.record(limit_packets)) for queue in self.all_queues())
        while self.commits:
            await self.clock(pace, 1.0)
        if not pace:  # a frame that cannot wait would be lost before the lane opens
            await self.rest()

    async def rest(self):
        for _ in range(60000):
            await self.clock(1.0, 1.0)
            if not any(self.waiting) and not any(self.inside) and not any(self.queued.values()):
                if not int(self.dut.io_busy.value):
                    return
        raise AssertionError("the lane did not come to rest")

    # ---- Traffic ----
    def feed(self, source: int, length: int | None = None):
        """One more frame for an input."""
        random = self.random
        length = length or random.choice([60, 64, 65, 128, 1514, random.randrange(42, 3000)])
        self.waiting[source].append(self.make(length, random.random() < 0.1))
        self.number += 1

    def make(self, length: int, bad: bool) -> Frame:
        return Frame(frame(self.number, self.random.randrange(4), length, self.random), bad)

    def offers(self, i: int, pace: float) -> bool:
        """Whether input `i` brings a beat now."""
        return self.random.random() < pace

    def takes(self, take: float) -> bool:
        """Whether the port takes a beat now."""
        return self.random.random() < take

    def drive(self, i: int, pace: float):
        if not self.holding[i] and self.waiting[i] and self.offers(i, pace):
            f = self.waiting[i][0]
            beat = f.data[f.at : f.at + self.lanes]
            last = f.at + self.lanes >= len(f.data)
            bits = {"data": int.from_bytes(beat, "little"), "keep": 2 ** len(beat) - 1, "last": last}
            ports(self.dut, f"io_in_{i}_bits", bits | {"bad": last and f.bad})
            self.holding[i] = True
        getattr(self.dut, f"io_in_{i}_valid").value = self.holding[i]

    async def clock(self, pace: float, take: float, reset: bool = False):
        """One clock: a beat to each input with probability `pace`, the output ready with probability `take`."""
        dut = self.dut
        dut.reset.value = reset
        for i in range(self.inputs):
            self.drive(i, pace)
        commit = bool(self.commits) and not reset
        dut.io_configuration_commit_valid.value = commit
        if commit and self.commits[0] is not self.shown:
            self.shown = self.commits[0]
            queue, record = self.shown
            ports(dut, f"{CONFIGURATION}_commit_bits", {"queue": queue} | self.committed(record))
        for egress in range(self.egresses):
            getattr(dut, f"io_out_{egress}_ready").value = self.takes(take)
            getattr(dut, f"{CONFIGURATION}_paused_{egress}").value = self.paused[egress]
            getattr(dut, f"{CONFIGURATION}_flush_egresses_{egress}").value = self.flushed[egress]
        dut.io_configuration_flush_queue_valid.value = self.flushed_queue is not None
        dut.io_configuration_flush_queue_bits.value = self.flushed_queue or 0
        if self.egresses > 1:
            if self.random.random() < 0.003:
                self.routes = [self.random.randrange(self.egresses) for _ in self.routes]
            for i, egress in enumerate(self.routes):
                getattr(dut, f"{CONFIGURATION}_routes_{i}").value = egress
        for routed, egress in zip(self.routed, self.routes, strict=True):
            routed[egress] = self.clocks
        skip = self.skip_random.random() < self.skip_share and not reset
        dut.io_skip.value = skip
        if skip:
            self.skips.append(self.clocks)
        self.now += 4
        dut.io_now.value = self.now
        await ReadOnly()
        if not reset:
            self.look(commit)
        for i in range(self.inputs):
            self.accept(i, reset)
        if reset:
            self.forget()
        self.flushes.append((self.flushed[:], self.flushed_queue))
        self.clocks += 1
        await FallingEdge(self.clock_port)

    # ---- Checks, clock by clock ----
    def accept(self, i: int, reset: bool):
        ready = int(getattr(self.dut, f"io_in_{i}_ready").value)
        assert ready or self.stallable[i], f"clock {self.clocks}: input {i} is not ready"
        if not self.holding[i]:
            return
        self.stalled += not ready
        if not ready:
            return
        self.holding[i] = False
        f = self.waiting[i][0]
        size = min(self.lanes, len(f.data) - f.at)
        f.at += size
        f.since_reset += 0 if reset else size
        if f.at == len(f.data):
            f.ended = self.clocks
            self.inside[i].append(self.waiting[i].popleft())

    def look(self, commit: bool):
        dut = self.dut
        if commit and int(dut.io_configuration_commit_ready.value):
            self.commits.popleft()
        for i in range(self.inputs):
            if int(getattr(dut, f"io_lost_{i}_valid").value):
                f = next((f for f in self.inside[i] if f.ended == self.clocks - LOST_CLOCKS), None)
                assert f, f"clock {self.clocks}: input {i} lost a frame that did not end {LOST_CLOCKS} clocks ago"
                assert not self.stallable[i] or f.cut, "an input that can be stalled lost a frame"
                assert int(getattr(dut, f"io_lost_{i}_bits").value) == f.since_reset
                self.inside[i].remove(f)
                self.fates["lost"] += 1
        decided = int(dut.io_decision_valid.value) and not int(dut.io_decision_bits_refresh.value)
        while self.skips and self.skips[0] <= self.clocks - SKIP_CLOCKS:
            self.skips.popleft()
        for name, seen in {"decision": decided, "departed": int(dut.io_departed_valid.value)}.items():
            if seen and self.skips:
                self.empty[name].difference_update(self.clocks - skip for skip in self.skips)
                assert self.empty[name], f"clock {self.clocks}: a {name} is shown at any time behind a skip"
        if decided:
            self.decided()
        if int(dut.io_departed_valid.value):
            self.departed()
        while self.discarded and self.discarded[0][1].gone < self.clocks - PUSH_OUT_CLOCKS:
            line, f = self.discarded.popleft()
            line.remove(f)
        for egress in range(self.egresses):
            self.look_at_output(egress)

    def look_at_output(self, egress: int):
        port = f"io_out_{egress}"
        ready, beat = int(getattr(self.dut, f"{port}_ready").value), None
        if int(getattr(self.dut, f"{port}_valid").value):
            beat = [int(getattr(self.dut, f"{port}_bits_{name}").value) for name in ("data", "keep", "last", "bad")]
        if self.waits[egress]:
            assert beat == self.waits[egress], f"clock {self.clocks}: a beat changes while it waits"
        self.waits[egress] = None if ready else beat
        if ready and beat:
            data, keep, last, _bad = beat
            self.partial[egress] += data.to_bytes(self.lanes, "little")[: keep.bit_count()]
            if last:
                self.left(self.partial[egress], egress)
                self.partial[egress] = b""

    def decided(self):
        bits = {
            name: int(getattr(self.dut, f"io_decision_bits_{name}").value) for name in ("lenBytes", "queue", "verdict")
        }
        source = int(self.dut.io_decision_bits_input.value) if self.inputs > 1 else 0
        assert self.inside[source], f"clock {self.clocks}: a verdict for input {source}, which has no frame"
        f = self.inside[source].popleft()
        assert bits["lenBytes"] == len(f.data), f"clock {self.clocks}: the verdict is of another frame"
        assert not f.cut, "a frame that a reset cut has a verdict"
        assert (bits["verdict"] == mb.BAD) == f.bad
        self.fates[bits["verdict"]] += 1
        egress = bits["queue"] // self.share
        recent = [at for at, clock in self.routed[source].items() if clock >= self.clocks - ROUTE_CLOCKS]
        assert egress in recent, f"clock {self.clocks}: input {source} was not routed to egress {egress}"
        if bits["verdict"] != mb.NOBUF:  # else its head may not have been stored
            of_dscp = self.entry(f.data[15] >> 2, egress)["queue"] + egress * self.share
            assert self.may_be(bits["queue"], of_dscp, f), (
                f"clock {self.clocks}: queue {bits['queue']} in place of {of_dscp}"
            )
        if bits["verdict"] in (mb.ENQUEUE, mb.MARK):
            self.queued.setdefault(bits["queue"], deque()).append(f)
        return f, bits

    def may_be(self, queue: int, of_class: int, f: Frame) -> bool:
        """Whether a frame of this class may be in the queue."""
        return queue == of_class

    def departed(self):
        queue, flushed = (int(getattr(self.dut, f"io_departed_bits_{name}").value) for name in ("queue", "flushed"))
        f = next((f for f in self.queued.get(queue, ()) if not f.departed), None)
        assert f, f"clock {self.clocks}: a departure from queue {queue}, which is empty"
        assert int(self.dut.io_departed_bits_lenBytes.value) == len(f.data)
        egresses, alone = self.flushes[0]
        asked = egresses[queue // self.share] or queue == alone
        assert flushed == asked, f"clock {self.clocks}: a packet of queue {queue} is {'' if flushed else 'not '}flushed"
        dropped = self.judges and int(self.dut.io_departed_bits_dropped.value)
        assert not (dropped and flushed), f"clock {self.clocks}: a packet is flushed and dropped"
        f.departed = True
        if flushed or dropped:
            f.gone = self.clocks
            self.discarded.append((self.queued[queue], f))
            self.fates["flushed" if flushed else "dropped"] += 1
            self.fates["flushed in a pause"] += flushed and self.paused[queue // self.share]
        return queue, f

    def left(self, data: bytes, egress: int):
        lines = [line for number, line in self.queued.items() if number // self.share == egress]
        firsts = [(line, next((f for f in line if f.gone is None), None)) for line in lines]
        at = next(((line, f) for line, f in firsts if f and f.leaves() == data), None)
        assert at, f"clock {self.clocks}: what came out of egress {egress} is not at the head of any of its queues"
        assert at[1].departed, f"clock {self.clocks}: a frame came out that has not departed"
        at[0].remove(at[1])
        self.fates["sent"] += 1
        self.fates["sent by", egress] += 1

    def forget(self):
        """A clock of reset: what was in is gone, what is still coming is cut."""
        self.gone += sum(map(len, self.inside))
        for frames in self.inside:
            frames.clear()
        self.dissolved += sum(f.gone is None for line in self.queued.values() for f in line)
        self.discarded.clear()
        self.queued, self.partial, self.waits = {}, [b""] * self.egresses, [None] * self.egresses
        self.commits.clear()
        for frames in self.waiting:
            if frames and frames[0].at:
                frames[0].cut, frames[0].since_reset = True, 0

    async def finish(self):
        """Until the lane is at rest; then every frame has had its fate and every cell is back."""
        await self.rest()
        for _ in range(2 * self.cells):
            await self.clock(1.0, 1.0)
        free = int(self.dut.io_freeCells.value)
        assert free == self.cells - HELD_READY * self.inputs, f"{free} of {self.cells} cells are free"
        outputs = [int(getattr(self.dut, f"io_out_{egress}_valid").value) for egress in range(self.egresses)]
        assert not any(self.partial) and not any(outputs)
        fates = self.fates["lost"] + sum(n for fate, n in self.fates.items() if isinstance(fate, int))
        assert fates + self.gone == self.number, "a frame has no fate, or two"
        came = self.fates[mb.ENQUEUE] + self.fates[mb.MARK]
        left = self.fates["sent"] + self.fates["evicted"] + self.fates["flushed"] + self.fates["dropped"]
        assert came == left + self.dissolved, "a frame that was queued has no fate, or two"
        self.log.info(f"{self.number} frames, {dict(self.fates)}, {self.gone} gone, {self.stalled} stalls")
