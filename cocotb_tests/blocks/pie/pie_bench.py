"""Bench of PIE: every verdict is the model's, with an arrival and a departure in each cycle and updates at any time."""

import os
import random as randomness
from collections import Counter, deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench.wires import Wires
from support import model_bindings as mb

LATENCY, DEPARTS, UPDATES, QUEUES = 7, 2, 70, 4
BUILT = int(os.environ.get("QUEUES", "16"))
WRAP = 2**42
MAX = 2**56 - 1
STARTS = [10**6, 2**32 - 60_000, WRAP - 60_000]
MET = Counter()  # over all starts
PASS, MARK, DROP, ANY = range(4)  # ANY: the verdict on a packet that is lost has no effect
FIELDS = {"target": "target", "burst": "burst", "alpha": "alpha", "beta": "beta", "mtu": "mtu", "ecn": "ecn"}
FIELDS |= {"byte_mode": "byteMode"}


def settings(r):
    """Times of some hundred units, and gains that are large enough for them."""
    gain = lambda: r.choice([2**20, 2**28, 2**29, 2**30, 2**34 - 1, r.randrange(2**34)])
    return mb.PieSettings(
        target=r.choice([100, 3000, 234_375, 2 * 10**6, 2**26 - 1]),
        burst=r.choice([0, 700, 700, 5000, 2_343_750, 2**26 - 1]), alpha=gain(), beta=gain(),
        mtu=r.choice([1514, 256, 9014, 2**18 - 1]), ecn=r.random() < 0.8, byte_mode=r.random() < 0.3,
    )  # fmt: skip


def copied(state):
    return mb.PieState.from_buffer_copy(bytes(state))


class Bench:
    def __init__(self, dut, seed: int, start: int = 10**6):
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.now = start
        self.names = self.random.sample(range(BUILT), QUEUES)  # numbers that differ in high bits, too
        self.configs = [settings(self.random) for _ in range(QUEUES)]
        self.on = [True] * QUEUES
        self.states = [mb.PieState() for _ in range(QUEUES)]
        for state in self.states:
            mb.library().vm_pie_begin(mb.byref(state))
        self.level = [0] * QUEUES  # sojourn time
        self.begins = 0.05  # how often an update begins a new state
        self.clock, self.seen = 0, Counter()
        self.waiting, self.lost = deque(), deque()  # (cycle, ...)
        self.loss = 0.002  # the chance that a packet is lost for another reason
        self.leaving = [deque() for _ in range(QUEUES)]  # departures that arrivals do not see yet
        self.update = None  # (cycle of the write, queue, delay, isEmpty)
        self.beside = None, None  # queues of the arrival and the departure of the cycle before

    async def start(self):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        dut.io_arrival_valid.value = dut.io_departure_valid.value = dut.io_update_valid.value = dut.io_lost.value = 0
        dut.reset.value = 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        while not int(dut.io_ready.value):
            await FallingEdge(dut.clock)

    def configure(self, port: str, queue):
        if queue is not None:
            getattr(self.wires, f"{port}_on").value = self.on[queue]
            for ours, theirs in FIELDS.items():
                getattr(self.wires, f"{port}_{theirs}").value = getattr(self.configs[queue], ours)

    async def tick(self, arrives=None, departs=None, updates=None):
        """One cycle. Each argument is a queue or None."""
        self.configure("io_config", self.beside[0])
        if self.beside[1] is not None:
            self.wires.io_burst.value = self.configs[self.beside[1]].burst
        self.write()
        for pending, state in zip(self.leaving, self.states, strict=True):
            self.let(pending, state, self.clock - DEPARTS)
        self.ask(updates)
        self.depart(departs)
        self.arrive(arrives)
        self.wires.io_lost.value = self.lost.popleft()[1] if self.lost and self.lost[0][0] == self.clock else 0
        self.beside = arrives, departs
        await FallingEdge(self.dut.clock)
        self.clock += 1
        self.check()

    def let(self, pending, state, until: int):
        """Departures of up to the cycle `until` change the model."""
        while pending and pending[0][0] <= until:
            _, now, enqueued, backlog, config = pending.popleft()
            mb.library().vm_pie_departs(mb.byref(state), mb.byref(config), now, enqueued, backlog)

    def write(self):
        """The update's result is written in this cycle, behind all departures and arrivals before it."""
        if self.update is None or self.update[0] != self.clock:
            return
        _, queue, delay, is_empty, begins = self.update
        self.update, state, config = None, self.states[queue], self.configs[queue]

        def update(of):
            if begins:
                mb.library().vm_pie_restarts(mb.byref(of), delay)
            else:
                mb.library().vm_pie_update(mb.byref(of), mb.byref(config), delay, is_empty)

        after = copied(state)
        after.restarts = 0
        update(after)
        if after.restarts:
            self.let(self.leaving[queue], state, self.clock - 1)
        before = state.prob
        update(state)
        self.seen["begins"] += begins
        self.seen["restarts"] += state.restarts
        self.seen["rises" if state.prob > before else "falls" if state.prob < before else "stays"] += 1
        self.seen[f"scale {len(str(before * 10**7 // MAX))}"] += 1

    def ask(self, queue):
        wires = self.wires
        wires.io_update_valid.value = queue is not None
        if queue is None:
            return
        wires.io_update_bits_queue.value = self.names[queue]
        is_empty = self.random.randrange(2) if self.states[queue].delay == 0 else 0
        begins = int(self.random.random() < self.begins)
        wires.io_update_bits_isEmpty.value = is_empty
        wires.io_update_bits_begins.value = begins
        self.configure("io_update_bits_config", queue)
        if wires.io_update_ready.value:
            self.update = (self.clock + UPDATES - 1, queue, self.states[queue].delay, is_empty, begins)

    def depart(self, queue):
        r, wires = self.random, self.wires
        wires.io_departure_valid.value = queue is not None
        if queue is None:
            return
        sojourn = r.choice([0, 2**26 - 1, 2**26, 2**30]) if r.random() < 0.002 else self.level[queue]
        last = sojourn == 0 or r.random() < 0.01
        wires.io_departure_bits_queue.value = self.names[queue]
        wires.io_departure_bits_now.value = self.now
        wires.io_departure_bits_enqueued.value = (self.now - sojourn) % WRAP
        wires.io_departure_bits_isLast.value = last
        self.leaving[queue].append(
            (self.clock, self.now + WRAP, self.now + WRAP - sojourn, 0 if last else 1, self.configs[queue])
        )

    def arrive(self, queue):
        r, wires = self.random, self.wires
        wires.io_arrival_valid.value = queue is not None
        if queue is None:
            return
        config, state = self.configs[queue], self.states[queue]
        length = min(2**16 - 1, r.choice([64, 1500, config.mtu, config.mtu + 1, r.randrange(1, 2**16)]))
        backlog = r.choice([2 * config.mtu - 1, 2 * config.mtu, 10**6, 10**6])
        ect, draw, lost = r.random() < 0.8, r.getrandbits(32), r.random() < self.loss
        packet = {"queue": self.names[queue], "lenBytes": length, "backlog": backlog, "ect": ect, "draw": draw}
        for name, value in packet.items():
            getattr(wires, f"io_arrival_bits_{name}").value = value
        verdict = PASS
        if lost:
            self.lost.append((self.clock + LATENCY, 1))
            verdict = ANY
            if self.on[queue]:
                mb.library().vm_pie_lost(mb.byref(state))
        elif self.on[queue]:
            verdict = mb.library().vm_pie_arrives(mb.byref(state), mb.byref(config), backlog, length, ect, draw << 24)
            self.seen[verdict] += 1
        prob = state.prob >> 24 if self.on[queue] else 0
        self.waiting.append(
            (self.clock + LATENCY, verdict, prob, f"{packet}, {state.prob / MAX=}, {state.accumulated / MAX=}")
        )

    def check(self):
        want, context = PASS, "no packet"
        if self.waiting and self.waiting[0][0] <= self.clock:
            _, want, prob, context = self.waiting.popleft()
            assert self.wires.io_probability.value == prob, f"probability, model {prob}: {context}"
        drop, mark = self.wires.io_drop.value, self.wires.io_mark.value
        assert want == ANY or (drop, mark) == (want == DROP, want == MARK), (
            f"RTL {drop=} {mark=}, model {want}: {context}"
        )


@cocotb.test()
@cocotb.parametrize(start=STARTS)
async def every_verdict_is_the_models(dut, start):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")) + start % 1000, start)
    await bench.start()
    r = bench.random
    for pace, spread in [(1.0, 1), (1.0, 4), (0.3, 2), (0.6, 4)] * 8:
        base = r.randrange(QUEUES)
        bench.loss = r.choice([0.002, 0.002, 0.3])
        pick = lambda chance: (base + r.randrange(spread)) % QUEUES if r.random() < chance else None
        for _ in range(1000):
            if r.random() < 0.005:
                queue = r.randrange(QUEUES)
                target = bench.configs[queue].target
                bench.level[queue] = r.choice(
                    [0, target // 2 - 1, target, *(target + r.randrange(span) for span in (500, 10**5, 10**7, 2**25))]
                )
            if r.random() < 0.001:
                await bench.quiet()
                queue = r.randrange(QUEUES)
                bench.configs[queue], bench.on[queue] = settings(r), r.random() < 0.9
            await bench.tick(pick(pace), pick(pace / 2), pick(0.2))
            bench.now = (bench.now + (r.randrange(10**6) if r.random() < 0.002 else r.choice([0, 1, 20]))) % WRAP
    await bench.quiet()
    dut._log.info(f"met: {dict(bench.seen)}")
    assert not bench.waiting
    MET.update(bench.seen)
    if start == STARTS[-1]:
        assert all(MET[what] > 10 for what in (DROP, MARK, "restarts", "rises", "falls", "begins")), MET
        assert sum(MET[f"scale {digits}"] > 3 for digits in range(1, 9)) >= 5, MET


@cocotb.test()
async def a_restart_renews_the_burst_allowance_and_forgets_the_accumulated_probability(dut):
    """Rounds of a queue that is loaded, waits no longer until it restarts, and is loaded again. No packet comes then before the probability has risen to 2 or 15 %.

    Half of the time the clock stands from then on: the allowance lasts, and 100 packets pass. Otherwise it is used up, and 25 packets come.
    """
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")))
    bench.begins = 0
    bench.configs[0] = mb.PieSettings(target=2 * 10**6, burst=2000, alpha=2**33, beta=2**20, mtu=256)
    state = bench.states[0] = mb.PieState()
    mb.library().vm_pie_begin(mb.byref(state))
    await bench.start()

    async def until(done, pace=0.0, step=20):
        """Packets arrive at `pace` a cycle."""
        for cycle in range(4000):
            if done():
                return
            arrives = pace == 0.5 and cycle % 2 == 0 or pace != 0.5 and bench.random.random() < pace
            await bench.tick(0 if arrives else None, 0, 0)
            bench.now = (bench.now + step) % WRAP
        raise AssertionError("the queue does not come to this state")

    for turn in range(96):
        bench.level[0] = 10**7
        await until(lambda: state.prob > 0.2 * MAX and 0.3 * MAX < state.accumulated < 0.8 * MAX, pace=1)
        bench.level[0], restarts = 0, bench.seen["restarts"]
        # Packets may come while it restarts: none, in each cycle, in each second one, or now and then.
        await until(lambda restarts=restarts: bench.seen["restarts"] > restarts, pace=[0, 1, 0.5, 0.1][turn // 2 % 4])
        if turn % 3:  # the next update finds a delay; otherwise it would restart the queue once more
            bench.level[0] = 10**7
            for _ in range(8):
                await bench.tick(None, 0, None)
        if turn % 3 == 0:  # off, over more restarts than are counted, with packets in flight
            bench.on[0] = False
            for _ in range(6 * UPDATES):
                await bench.tick(0, 0, 0)
            await bench.quiet()
            bench.on[0] = True
        bench.level[0] = 10**7
        least = 0.15 if turn // 2 % 4 else 0.02
        await until(lambda least=least: state.prob > least * MAX, step=0 if turn % 2 else 40)
        if turn % 2 == 0:
            await until(lambda: not state.restarts and state.burst_left == 0)
        await bench.quiet()
        for _ in range(100 if turn % 2 else 25):
            await bench.tick(0, None, None)
    await bench.quiet()
    assert not bench.waiting and bench.seen["restarts"] >= 96


async def quiet(bench):
    """Until nothing is under way."""
    for _ in range(UPDATES + LATENCY + 1):
        await bench.tick()


Bench.quiet = quiet
