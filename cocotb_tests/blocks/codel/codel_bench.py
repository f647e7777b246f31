"""Bench of CoDel: every verdict is the model's, at a packet per cycle to one queue and to many, with times that wrap and clocks that are set."""

import os
import random as randomness
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench.wires import Wires
from support import model_bindings as mb

LATENCY, SETTLES, QUEUES = 3, 14, 16
BUILT = int(os.environ.get("QUEUES", "16"))
WRAP = 2**32
NOT_IP = 256
STARTS = [10**6, 2**31 - 5000, WRAP - 5000]
MET = Counter()  # over all starts
NEVER = 2**31 - 1
FIELDS = {"target": "target", "interval": "interval", "ce_threshold": "ceThreshold", "mtu": "mtu", "ecn": "ecn"}
FIELDS |= {"ce_mask": "ceMask", "ce_selector": "ceSelector"}
PASS, MARK, DROP = range(3)
BELOW, DROPPED = 0, 3


def settings(r):
    """A CoDel whose interval is some ticks, so that a run of thousands of cycles has many dropping states."""
    target = r.choice([1, 5, 20, 300, 4882])
    mask, selector = r.choice([(0, 0), (3, 1), (252, 40)])
    return mb.CodelSettings(
        target=target, interval=r.choice([2, 8, 30, 400, 5000, 97_656, 2**27]), ce_threshold=r.choice([NEVER, 2 * target]),
        mtu=r.choice([0, 1514, 2**27 - 2]), ecn=r.randrange(2), ce_mask=mask, ce_selector=selector,
    )  # fmt: skip


class Bench:
    def __init__(self, dut, seed: int, start: int):
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.now = start
        self.names = self.random.sample(range(BUILT), QUEUES)  # numbers that differ in high bits, too
        self.configs = [settings(self.random) for _ in range(QUEUES)]
        self.on, self.restarts, self.known = [True] * QUEUES, [False] * QUEUES, [False] * QUEUES
        self.states = [mb.CodelState() for _ in range(QUEUES)]
        self.changed = [-SETTLES] * QUEUES  # the request that changed the count last
        self.sojourn = [0] * QUEUES
        self.told = {}  # what is known of restarts, by cycle
        self.clock, self.waiting, self.seen, self.queue, self.backlog = 0, [], Counter(), None, 0

    async def start(self):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        dut.io_request_valid.value, dut.reset.value = 0, 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        while not int(dut.io_ready.value):
            await FallingEdge(dut.clock)

    async def tick(self, queue=None, ticks: int = 0):
        """One cycle, with a packet of `queue` or none, and `ticks` of CoDel's clock to the next."""
        wires = self.wires
        if self.queue is not None:  # the settings of the request before
            config = self.configs[self.queue]
            wires.io_config_settings_on.value = self.on[self.queue]
            wires.io_config_restarts.value = self.restarts[self.queue]
            wires.io_backlog.value = self.backlog
            for ours, theirs in FIELDS.items():
                getattr(wires, f"io_config_settings_{theirs}").value = getattr(config, ours)
        wires.io_request_valid.value = queue is not None
        self.queue = queue
        if queue is not None:
            self.decide(queue)
        self.now = (self.now + ticks) % WRAP
        await FallingEdge(self.dut.clock)
        self.clock += 1
        self.check()

    def decide(self, queue):
        r, wires, config, state = self.random, self.wires, self.configs[queue], self.states[queue]
        sojourn = self.waits(queue)
        ds = NOT_IP if r.random() < 0.05 else r.choice([r.randrange(256), 40 | r.randrange(4)])
        backlog = r.choice([config.mtu, config.mtu + 1]) if r.random() < 0.1 else 2**27 - 1
        wires.io_request_bits_queue.value = self.names[queue]
        wires.io_request_bits_now.value = self.now
        wires.io_request_bits_enqueued.value = (self.now - sojourn) % WRAP
        wires.io_request_bits_dsField.value = ds % 256
        wires.io_request_bits_isIp.value = ds != NOT_IP
        self.backlog = backlog
        verdict, again = PASS, False
        if self.on[queue]:
            settled = self.clock - self.changed[queue] >= SETTLES
            before, step = (state.phase, state.count), state.step
            enqueued = (self.now - sojourn) % WRAP
            verdict = mb.library().vm_codel_head(
                mb.byref(state), mb.byref(config), self.now, enqueued, ds, backlog, settled
            )
            again = self.due_again(state, step) if verdict == DROP else False
            entered = before[0] == BELOW and state.phase != BELOW
            if entered or state.count != before[1]:
                self.changed[queue] = self.clock
            self.known[queue] = self.restarts[queue]
            self.seen[verdict] += 1
            self.seen["entered at an earlier rate"] += entered and state.count > 1
            self.seen["entered anew"] += entered and state.count == 1
            self.seen["left"] += before[0] != BELOW and state.phase == BELOW
            self.seen["not settled"] += not settled
            by_count = entered or state.count != before[1]
            self.seen["by a selected threshold"] += verdict == MARK and not by_count and config.ce_mask != 0
        if self.on[queue]:
            self.told[self.clock + 2] = (self.names[queue], self.restarts[queue])
        self.waiting.append((self.clock + LATENCY, (verdict, again), f"queue {queue}, {state.phase=}, {state.count=}"))

    def due_again(self, state, step) -> bool:
        """Whether the RTL says that another drop may be due at once, which it must say if one is. `step` is that before the drop."""
        late = (self.now - state.drop_next) % WRAP
        says = state.phase == DROPPED and (late - step // 2) % WRAP < 2**31
        is_due = state.phase == DROPPED and (late - state.step) % WRAP < 2**31
        assert says or not is_due or 2 * state.step + 1 < step, f"{late=} {step=} {state.step=}"
        self.seen["another drop may be due"] += says
        self.seen["another drop is due"] += is_due
        return says

    def waits(self, queue) -> int:
        """A sojourn time that stays above the target for long, now and then falls below it, and seldom makes no sense."""
        r, target = self.random, self.configs[queue].target
        if r.random() < 0.002:
            self.sojourn[queue] = r.choice([0, target - 1, target, target + 1, 3 * target])
        elif self.sojourn[queue] < target and r.random() < 0.02:
            self.sojourn[queue] = target + r.randrange(3 * target)
        return r.choice([2**31 - 1, 2**31, 2**31 + 1, WRAP - 1]) if r.random() < 0.0005 else self.sojourn[queue]

    def check(self):
        wires, told = self.wires, self.told.pop(self.clock, None)
        assert wires.io_known_valid.value == (told is not None), (
            "what is known of a restart comes without a request, or not"
        )
        if told:
            assert (wires.io_known_bits_queue.value, wires.io_known_bits_restarts.value) == told, f"{told=}"
        unsettled = any(2 <= self.clock - changed <= SETTLES for changed in self.changed)
        assert wires.io_busy.value == unsettled, f"busy is {not unsettled}"
        if self.waiting and self.waiting[0][0] <= self.clock:
            _, (want, again), context = self.waiting.pop(0)
            drop, mark, says = self.wires.io_drop.value, self.wires.io_mark.value, self.wires.io_dueAgain.value
            expected = (want == DROP, want == MARK, again)
            assert (drop, mark, says) == expected, f"RTL {drop=} {mark=} {says=}, model {want} {again=}: {context}"
        else:
            assert not self.wires.io_drop.value and not self.wires.io_mark.value, "a verdict on no packet"
            assert not self.wires.io_dueAgain.value, "a drop may be due again that was none"


@cocotb.test()
@cocotb.parametrize(start=STARTS)
async def every_verdict_is_the_models(dut, start):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")) + start % 1000, start)
    await bench.start()
    r = bench.random
    paces = [(1.0, 1, 0.05), (1.0, 2, 1), (1.0, 16, 1), (0.3, 3, 3), (0.5, 16, 0.2), (1.0, 1, 8)]
    for pace, spread, ticks in paces * 3:
        base = r.randrange(QUEUES)
        for _ in range(800):
            queue = (base + r.randrange(spread)) % QUEUES
            if r.random() < 0.002:  # behind the packets that are under way
                for _ in range(3):
                    await bench.tick()
                bench.configs[queue], bench.on[queue] = settings(r), r.random() < 0.9
                if r.random() < 0.6:
                    bench.seen["restarted while dropping"] += bench.states[queue].phase != BELOW
                    bench.restarts[queue], bench.states[queue] = not bench.known[queue], mb.CodelState()
            step = int(ticks) + (r.random() < ticks % 1)
            if r.random() < 0.0003:
                step = r.choice([2**31, WRAP - 10**4, 10**5])
            await bench.tick(queue if r.random() < pace else None, step)
    for _ in range(LATENCY + 1):
        await bench.tick()
    dut._log.info(f"met: {dict(bench.seen)}")
    assert not bench.waiting
    MET.update(bench.seen)
    if start == STARTS[-1]:
        met = (
            DROP,
            MARK,
            "entered at an earlier rate",
            "entered anew",
            "left",
            "not settled",
            "by a selected threshold",
            "another drop is due",
        )
        assert all(MET[what] > 10 for what in met) and MET["restarted while dropping"] > 2, MET
