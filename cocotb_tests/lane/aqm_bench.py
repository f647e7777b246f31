"""Bench of a lane with every AQM: settings change under traffic, with flushes, pauses, stalls, resets, and clocks that jump.

What is checked of every frame: datapath.py. Beside that:
- A packet is dropped or marked at departure only where its queue has had an AQM that does so.
- A packet comes out with CE exactly if it was marked, on arrival or at departure, and otherwise as it came.
- A packet is dropped or marked on arrival only where its queue has had PIE.
- A packet is in the queue of its class, or in L of its pair if its ECN field says so. Where that queue has a group, any queue of the group will do.
- However the clock jumps, the lane comes to rest, and every cell is free then.

Not here: which packet is dropped or marked (the benches of the blocks, and the replay of whole runs).
"""

import itertools
import os
from collections import deque

import cocotb

from bench.bundle import ports
from lane.datapath import CONFIGURATION, FREE, Bench, EcnFrame, Frame, frame
from support import model_bindings as mb

SETTLED = 60  # clocks after which a packet that was chosen before a change has departed
TICK = 1 << 16  # ns
NEVER = 2**31 - 1  # of 1,024 ns
NOT_ECT, ECT1, ECT0, CE = range(4)
NO_AQM = {"group": {"bits": 0}, "config": {"pie": {"pie": {"on": 0}}, "l4sMask": 0, "colours": [{"late": 0}] * 3}}
AQMS = ("none", "codel", "threshold", "marks", "pie", "dualpi2")


class AqmBench(Bench):
    def __init__(self, dut, seed: int):
        super().__init__(dut, seed)
        # By queue, with the clock of each one's end: its AQM, bits of its group and mask of its pair, and whether it has PIE.
        self.had: dict[int, deque] = {}
        self.places: dict[int, deque] = {}
        self.pies: dict[int, deque] = {}
        self.jumps = True

    def make(self, length: int, bad: bool) -> Frame:
        ecn = self.random.choice([NOT_ECT, ECT1, ECT0, ECT0, CE])
        data = frame(self.number, self.random.randrange(4), length, self.random, ecn)
        return EcnFrame(data, bad, ecn)

    # ---- settings
    def service(self, queue: int, aqm: str, strict: bool) -> dict:
        random = self.random
        curve = {"on": 1, "min": random.choice([0, 300]), "max": random.choice([300, 2000]), "second": 500}
        curve |= {"first": curve["max"] - curve["min"], "p": random.choice([2**32 - 1, 2**31, 2**29])}
        time = lambda: random.choice([1, 1, 2, 4])  # of 1,024 ns, or of 64 ns
        return {
            "queue": queue,
            "strict": strict,
            "priority": random.randrange(8),
            "quantum": random.choice([64, 300, 1514]),
            "codel": {
                "on": aqm in ("codel", "threshold"),
                "target": time() if aqm == "codel" else NEVER,
                "interval": time(),
                "ceThreshold": time() if aqm == "threshold" else NEVER,
                "mtu": random.choice([64, 1514]) if aqm == "codel" else FREE,
                "ecn": random.random() < 0.6,
                "ceMask": random.choice([0, 1]),
                "ceSelector": 0,
            },
            "marks": {"on": aqm == "marks", "packets": 0, "isDepth": random.randrange(2), "curves": [curve] * 3},
            "dualPi2": {
                "dualPi2": {
                    "on": aqm == "dualpi2",
                    "target": 16 * time(),
                    "step": 16 * time(),
                    "alpha": random.getrandbits(random.randrange(1, 33)),
                    "beta": random.getrandbits(random.randrange(1, 33)),
                    "coupling": random.choice([1, 2, 255]),
                    "most": 2**32 - 1,
                    "mtu": random.choice([64, 1514]),
                    "dropOverload": random.randrange(2),
                },
                "interval": 1,
            },
            "flows": aqm in ("none", "codel") and random.randrange(2),
        }

    async def set_service(self, queue: int, aqm: str):
        self.follows(self.had, queue, aqm)
        ports(self.dut, f"{CONFIGURATION}_service_bits", self.service(queue, aqm, self.random.random() < 0.2))
        getattr(self.dut, f"{CONFIGURATION}_service_valid").value = 1
        await self.clock(self.pace, self.take)
        getattr(self.dut, f"{CONFIGURATION}_service_valid").value = 0
        await self.clock(self.pace, self.take)

    async def change(self):
        """Of one queue, or of a pair: another AQM, another group, other packets in L."""
        random = self.random
        queue, aqm = random.choice(self.all_queues()), random.choice(AQMS)
        if aqm == "dualpi2" or any(what == "dualpi2" for what, _ in list(self.had.get(queue, ()))[-1:]):
            pair = (queue & ~1, queue | 1)
            mask = random.choice([0, 1, 3]) if aqm == "dualpi2" else 0
            for each in pair:
                await self.set_service(each, aqm)
                self.commits.append((each, self.extended(each, aqm, 0, mask)))
        else:
            await self.set_service(queue, aqm)
            self.commits.append((queue, self.extended(queue, aqm, random.choice([0, 0, 1, 2]), 0)))

    def extended(self, queue: int, aqm: str, bits: int, mask: int):
        """A record with what a model's does not have: the bits of the queue's group, PIE, and which packets go to L."""
        random, record = self.random, self.record(self.random.choice([FREE, FREE, 20]))
        pie = {"on": aqm == "pie", "target": 16, "burst": 0, "alpha": random.getrandbits(34), "beta": 0}
        pie |= {"mtu": 64, "ecn": random.randrange(2), "byteMode": random.randrange(2)}
        config = {"pie": {"pie": pie, "interval": 1}, "l4sMask": mask, "colours": [{"late": aqm == "marks"}] * 3}
        return record, {"group": {"bits": bits}, "config": config}

    def committed(self, record) -> dict:
        record, more = record if isinstance(record, tuple) else (record, NO_AQM)
        made = super().committed(record)
        colours = [
            each | other for each, other in zip(made["config"]["colours"], more["config"]["colours"], strict=True)
        ]
        return {"config": made["config"] | more["config"] | {"colours": colours}, "group": more["group"]}

    async def clock(self, pace: float, take: float, reset: bool = False):
        if self.jumps and self.random.random() < 0.002:
            step = self.random.choice([TICK, 40 * TICK, 2**34, -TICK, -(2**34), 2**46])
            self.now = (self.now + step) % 2**48
        self.now %= 2**48
        self.dut.reports_ready.value = self.random.random() < 0.9
        await super().clock(pace, take, reset)

    # ---- checks
    def recent(self, of: dict, queue: int) -> set:
        """What a queue has, and had in the last clocks."""
        return {what for what, end in of.get(queue, ()) if end is None or end >= self.clocks - SETTLED}

    def may_be(self, queue: int, of_class: int, f: Frame) -> bool:
        none = {(0, 0)}
        both = [self.recent(self.places, each) or none for each in (of_class & ~1, of_class | 1)]
        for (_, mask), (_, of_l) in itertools.product(*both):
            place = of_class | 1 if f.ecn & mask and of_l else of_class
            if any(queue >> bits == place >> bits for bits, _ in self.recent(self.places, place) or none):
                return True
        return False

    def look(self, commit: bool):
        if commit and int(self.dut.io_configuration_commit_ready.value):
            queue, record = self.commits[0]
            more = record[1] if isinstance(record, tuple) else NO_AQM
            self.follows(self.places, queue, (more["group"]["bits"], more["config"]["l4sMask"]))
            self.follows(self.pies, queue, bool(more["config"]["pie"]["pie"]["on"]))
        super().look(commit)

    def follows(self, of: dict, queue: int, what):
        line = of.setdefault(queue, deque())
        if line:
            line[-1] = (line[-1][0], self.clocks)
        line.append((what, None))

    def decided(self):
        f, bits = super().decided()
        f.marked = bits["verdict"] == mb.MARK
        if bits["verdict"] in (mb.EARLY, mb.MARK):
            assert True in self.recent(self.pies, bits["queue"]), f"clock {self.clocks}: no PIE has decided this"
        return f, bits

    def departed(self):
        queue, f = super().departed()
        marked = int(self.dut.io_departed_bits_marked.value)
        recent = self.recent(self.had, queue)
        if f.gone == self.clocks and not int(self.dut.io_departed_bits_flushed.value):
            assert recent & {"codel", "dualpi2"}, f"clock {self.clocks}: queue {queue} drops with {recent}"
            self.fates[("dropped by", *sorted(recent & {"codel", "dualpi2"}))] += 1
        elif marked:
            assert not f.marked and f.gone is None, f"clock {self.clocks}: a mark of a packet that has one, or is gone"
            assert f.ecn != NOT_ECT, f"clock {self.clocks}: a mark of a packet that is not ECN-capable"
            assert recent - {"none", "pie"}, f"clock {self.clocks}: queue {queue} marks with {recent}"
            f.marked = True
            self.fates["marked at departure"] += 1
            if len(recent) == 1:
                self.fates[("marked by", *recent)] += 1
        return queue, f

    def forget(self):
        super().forget()
        for of in (self.had, self.places, self.pies):
            of.clear()


def seeded(dut, number: int) -> AqmBench:
    bench = AqmBench(dut, 100 * int(os.environ.get("VERMILION_SEED", "1")) + number)
    bench.pace, bench.take = 1.0, 1.0
    return bench


async def run(bench: AqmBench, turns: int):
    """Traffic, settings, flushes and pauses at random."""
    random, none = bench.random, [False] * bench.egresses
    for turn in range(turns):
        several = [random.random() < 0.3 for _ in range(bench.egresses)]
        bench.paused = random.choice([several, none, none])
        bench.flushed = several if turn % 8 == 0 else none
        bench.flushed_queue = random.choice(bench.all_queues()) if turn % 8 == 4 else None
        bench.pace, bench.take = random.choice([1.0, 1.0, 0.5]), random.choice([1.0, 0.5, 0.2, 0.1])
        await bench.change()
        for _ in range(random.choice([20, 200, 1000])):
            for waiting, source in zip(bench.waiting, range(bench.inputs), strict=False):
                if len(waiting) < 3:
                    bench.feed(source, random.choice([60, 64, 64, 65, 200, 1000]))
            await bench.clock(bench.pace, bench.take)
    bench.paused, bench.flushed, bench.flushed_queue = none[:], none[:], None
    bench.pace = bench.take = 1.0


@cocotb.test()
async def every_aqm_under_changes_flushes_pauses_and_a_clock_that_jumps(dut):
    bench = seeded(dut, 40)
    await bench.start(FREE)
    seen = bench.fates
    met = [("dropped by", who) for who in ("codel", "dualpi2")]
    met += [("marked by", who) for who in ("codel", "threshold", "marks", "dualpi2")]
    met += [mb.EARLY, "flushed", "flushed in a pause", "sent"]
    for _ in range(10):
        await run(bench, 200)
        if all(seen[each] > 20 for each in met):
            break
    await bench.finish()
    assert all(seen[each] > 20 for each in met), dict(seen)


@cocotb.test()
async def resets_under_traffic_with_every_aqm(dut):
    bench = seeded(dut, 41)
    await bench.start(FREE)
    for _ in range(4):
        await run(bench, 12)
        await bench.start(FREE, pace=0.9, reset_clocks=1 + bench.random.randrange(5))
        for _ in range(2000):  # all queues have settings again, without an AQM
            for source in range(bench.inputs):
                if len(bench.waiting[source]) < 3:
                    bench.feed(source, 64)
            await bench.clock(1.0, 1.0)
    await bench.finish()
