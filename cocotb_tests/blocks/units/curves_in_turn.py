"""Drives CurveInTurn: commits and averages in slots of their own, eight clocks apart or more, in any order, for all queues and colours.

Every average meets the curves that the last commit before it gave its queue, all of them; inputs are there only in the clocks in which they have to be.
"""

from collections import defaultdict

import model_bindings as mb
from bench import queues
from bench.bundle import plain, ports
from blocks.units.stream import any_size, gap
from cocotb.triggers import FallingEdge, ReadOnly

QUEUES, COLOURS = 16, 3
AVERAGE = 5  # clocks from the request to the average
RATIO = (-3, 4)  # clocks from the average in which inputs and outputs stand, first and last
HERE = (0, 1)
FORCED = (2, 9)
PROBABILITY = (9, 16)
COMMIT = (-5, 2)  # in one of these


class Bench:
    def __init__(self, dut, random, curves):
        self.dut, self.random, self.curves = dut, random, curves
        self.acts, self.checks = defaultdict(list), defaultdict(list)
        self.records = [None] * QUEUES
        self.corners = {}
        self.clock, self.made = 8, 0  # of the next request; pairs of curves
        self.kinds = {"0": 0, "1 within": 0, "1 over the end": 0, "between": 0, "marked": 0}

    def commit(self, queue):
        """A slot that changes all curves of a queue."""
        record = mb.Queue()
        for colour in range(COLOURS):
            (drop, mark), self.corners[queue, colour] = self.curves(self.random, self.made)
            record.colour[colour] = mb.Colour(drop=drop, ecn_own=self.random.random() < 0.7, ecn=mark)
            self.made += 1
        self.records[queue] = record
        at = self.clock + AVERAGE + self.random.randint(*COMMIT)
        bits = {"queue": queue, "colours": queues.bundle(record)["colours"]}
        self.acts[at].append(lambda: self.show("commit", True, bits))
        self.acts[at + 1].append(lambda: self.show("commit", False, {"queue": queue}))
        self.clock += gap(self.random)

    def show(self, name, valid, bits):
        getattr(self.dut, f"curve_{name}_valid").value = valid
        ports(self.dut, f"curve_{name}_bits", bits)

    def stand(self, clocks, values, otherwise):
        """These inputs in these clocks behind the average's; others behind them, which an input that is next may replace."""
        base = self.clock + AVERAGE
        self.acts[base + clocks[1] + 1].insert(0, lambda: ports(self.dut, "curve", otherwise))
        self.acts[base + clocks[0]].append(lambda: ports(self.dut, "curve", values))

    def meet(self, queue, colour, average):
        """A slot whose average meets its curves."""
        r, record = self.random, self.records[queue].colour[colour]
        ratio, can_mark = r.choice([4096, 4096, any_size(r, 20)]), r.random() < 0.7
        self.acts[self.clock].append(lambda: self.show("request", True, {"queue": queue, "colour": colour}))
        other = {"queue": r.randrange(QUEUES), "colour": r.randrange(COLOURS)}
        self.acts[self.clock + 1].append(lambda: self.show("request", False, other))
        self.stand(RATIO, {"ratio": ratio}, {"ratio": any_size(r, 20)})
        self.stand(HERE, {"average": average, "canMark": can_mark}, {"average": r.getrandbits(43), "canMark": 1})
        over = mb.u32()
        value = mb.library().vm_curve_probability
        p = value(mb.byref(record.drop), average, ratio, mb.byref(over))
        forced = over.value
        by_mark = can_mark and record.ecn_own and not forced
        if by_mark:
            p = value(mb.byref(record.ecn), average, ratio, mb.byref(over))
        self.kinds["1 over the end" if over.value else {0: "0", mb.ONE: "1 within"}.get(p, "between")] += 1
        self.kinds["marked"] += bool(by_mark)
        about = (
            f"queue {queue}, colour {colour}, average {average}, ratio {ratio}, can mark {can_mark}: {plain(record)}"
        )
        for name, clocks, expected in (("forced", FORCED, forced), ("probability", PROBABILITY, p)):
            for behind in clocks:
                self.checks[self.clock + AVERAGE + behind].append((name, expected, about))
        self.clock += gap(r)

    async def play(self):
        for clock in range(self.clock + AVERAGE + PROBABILITY[1] + 1):
            for act in self.acts.pop(clock, ()):
                act()
            await ReadOnly()
            for name, expected, about in self.checks.pop(clock, ()):
                got = int(getattr(self.dut, f"curve_{name}").value)
                assert got == expected, f"{name} is {got}, the model's {expected}: {about}"
            await FallingEdge(self.dut.clock)


async def play(dut, random, curves):
    """`curves(random, k)` makes a drop curve, a mark curve and a list of averages to try."""
    bench = Bench(dut, random, curves)
    for queue in range(QUEUES):
        bench.commit(queue)
    for _ in range(100):
        queue = random.randrange(QUEUES)
        for colour in range(COLOURS):
            corners = bench.corners[queue, colour]
            for average in random.sample(corners, min(12, len(corners))):
                bench.meet(queue, colour, average)
                if random.random() < 0.1:  # another queue's, mostly
                    bench.commit((queue + random.randrange(1, QUEUES)) % QUEUES)
        bench.commit(queue)
        bench.meet(queue, 0, bench.corners[queue, 0][0])
    await bench.play()
    dut._log.info(f"{bench.made} pairs of curves, probabilities {bench.kinds}")
    assert min(bench.kinds.values()) > 100, "some kind of probability was hardly met"
