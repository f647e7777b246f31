"""Bench of DualPI2: every verdict is the model's, with a packet of any pair in each cycle and updates at any time."""

import os
import random as randomness
from collections import Counter, deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench.wires import Wires
from support import model_bindings as mb

LATENCY, UPDATES, PAIRS = 3, 11, 8
MOST = 2**32 - 1
PASS, MARK, DROP = range(3)
FIELDS = {
    "target": "target",
    "step": "step",
    "alpha": "alpha",
    "beta": "beta",
    "coupling": "coupling",
    "mtu": "mtu",
    "most": "most",
}
FIELDS |= {"drop_overload": "dropOverload"}


def settings(r):
    gain = lambda: r.choice([11_000, 225_000, r.randrange(2**32), 2**32 - 1])
    drops, coupling = r.randrange(2), r.choice([1, 2, 2, 5, 255])
    return mb.DualPi2Settings(
        target=r.choice([1000, 234_375]), step=r.choice([500, 15_625]), alpha=gain(), beta=gain(),
        coupling=coupling, mtu=r.choice([256, 1514]), drop_overload=drops,
        most=MOST if drops else MOST // coupling,
    )  # fmt: skip


class Bench:
    def __init__(self, dut, seed: int):
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.configs = [settings(self.random) for _ in range(PAIRS)]
        self.on = [True] * PAIRS
        self.states = [mb.DualPi2State() for _ in range(PAIRS)]
        self.couplings = [0] * PAIRS  # that of the last update
        self.clock, self.seen, self.waiting = 0, Counter(), deque()
        self.update = None  # (cycle of the write, pair, delay, whether a new state begins)
        self.before = None  # (pair, backlog, draws) of the request of the cycle before

    async def start(self):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        dut.io_request_valid.value = dut.io_update_valid.value = 0
        dut.reset.value = 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        while not int(dut.io_ready.value):
            await FallingEdge(dut.clock)

    def configure(self, port: str, pair: int):
        config, wires = self.configs[pair], self.wires
        getattr(wires, f"{port}_on").value = self.on[pair]
        for ours, theirs in FIELDS.items():
            getattr(wires, f"{port}_{theirs}").value = getattr(config, ours)

    async def tick(self, pair=None, updates=None):
        """One cycle, with a packet of `pair` or none, and an update asked for or none."""
        if self.before is not None:
            before, backlog, draws = self.before
            self.configure("io_seen_config", before)
            self.wires.io_seen_backlog.value = backlog
            for i, draw in enumerate(draws):
                getattr(self.wires, f"io_seen_draws_{i}").value = draw
        if self.update and self.update[0] == self.clock:
            _, at, delay, begins = self.update
            self.update, state = None, self.states[at]
            if begins:
                self.states[at] = state = mb.DualPi2State()
            else:
                mb.library().vm_dualpi2_update(mb.byref(state), mb.byref(self.configs[at]), delay)
            self.couplings[at] = self.configs[at].coupling
            self.seen["begins"] += begins
            self.seen["p' is 0" if not state.prob else "p' is highest" if state.prob == MOST else "p' between"] += 1
        self.ask(updates)
        self.before = self.decide(pair)
        await FallingEdge(self.dut.clock)
        self.clock += 1
        self.check()

    def ask(self, pair):
        wires, r = self.wires, self.random
        wires.io_update_valid.value = pair is not None
        if pair is None:
            return
        target = self.configs[pair].target
        begins = r.random() < 0.1
        delay = r.choice([0, target - 1, target, target + 1, 2 * target, r.randrange(2**26), 2**26 - 1])
        wires.io_update_bits_pair.value = pair
        wires.io_update_bits_delay.value = delay
        wires.io_update_bits_begins.value = begins
        self.configure("io_update_bits_config", pair)
        if wires.io_update_ready.value:
            self.update = (self.clock + UPDATES - 1, pair, delay, begins)

    def decide(self, pair):
        wires, r = self.wires, self.random
        wires.io_request_valid.value = pair is not None
        if pair is None:
            return None
        config, state = mb.DualPi2Settings.from_buffer_copy(self.configs[pair]), self.states[pair]
        config.coupling = self.couplings[pair]
        coupled = min(MOST, state.prob * config.coupling)
        draw = lambda: r.choice(
            [state.prob, min(MOST, state.prob + 1), coupled, min(MOST, coupled + 1), r.getrandbits(32)]
        )
        packet = {
            "pair": pair, "isL": r.randrange(2), "ect": r.random() < 0.8,
            "sojourn": r.choice([0, config.step, config.step + 1]),
        }  # fmt: skip
        backlog, draws = r.choice([2 * config.mtu - 1, 2 * config.mtu, 10**6]), (draw(), draw())
        for name, value in packet.items():
            getattr(wires, f"io_request_bits_{name}").value = int(value)
        verdict = PASS
        if self.on[pair]:
            verdict = mb.library().vm_dualpi2_head(
                mb.byref(state), mb.byref(config), packet["isL"], packet["ect"], packet["sojourn"], backlog, *draws,
            )  # fmt: skip
            self.seen["LC"[not packet["isL"]], verdict] += 1
            self.seen["overload"] += state.prob * config.coupling > MOST
        self.waiting.append((self.clock + LATENCY, verdict, f"{packet}, {backlog=}, {draws=}, {state.prob=}"))
        return pair, backlog, draws

    def check(self):
        want, context = PASS, "no packet"
        if self.waiting and self.waiting[0][0] <= self.clock:
            _, want, context = self.waiting.popleft()
        drop, mark = self.wires.io_drop.value, self.wires.io_mark.value
        assert (drop, mark) == (want == DROP, want == MARK), f"RTL {drop=} {mark=}, model {want}: {context}"


@cocotb.test()
async def every_verdict_is_the_models(dut):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")))
    await bench.start()
    r = bench.random
    for pace, spread in [(1.0, 1), (1.0, 8), (0.4, 3)] * 6:
        base = r.randrange(PAIRS)
        pick = lambda chance: (base + r.randrange(spread)) % PAIRS if r.random() < chance else None
        for _ in range(800):
            if r.random() < 0.005:
                for _ in range(UPDATES + LATENCY):
                    await bench.tick()
                pair = r.randrange(PAIRS)
                bench.configs[pair], bench.on[pair] = settings(r), r.random() < 0.9
            await bench.tick(pick(pace), pick(0.2))
    for _ in range(UPDATES + LATENCY):
        await bench.tick()
    dut._log.info(f"met: {dict(bench.seen)}")
    assert not bench.waiting
    met = [(queue, verdict) for queue in "LC" for verdict in (PASS, MARK, DROP)]
    assert all(
        bench.seen[what] > 50 for what in (*met, "overload", "begins", "p' is 0", "p' is highest", "p' between")
    ), bench.seen
