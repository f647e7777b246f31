"""Bench of the token bucket markers: every packet's colour and level are the model's, at a packet a clock to one queue and to many."""

import os
import random as randomness
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench import markers
from bench.bundle import plain, ports
from bench.wires import Wires
from support import model_bindings as mb

LATENCY = 7
PERIOD = 4  # ns
WRAP = 2**48
EDGES = (
    2**44 - 1,
    2**47 - 1,
    2**47,
    2**47 + 1,
    WRAP - 1,
)  # longest burst; half of time's round; a clock set back by 1 ns


class Bench:
    def __init__(self, dut, seed: int):
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.configs = [markers.marker(self.random, kind % 6) for kind in range(16)]
        self.models = [mb.library().vm_marker_create() for _ in range(16)]
        self.now = self.random.choice([10**9, WRAP - 50_000])
        self.left = [0] * 16  # of each queue: level of bucket A behind its last packet, U48.16 ns
        self.waiting = []  # (clock, what is expected, context)
        self.clock, self.seen, self.edges, self.length = 0, set(), Counter(), 64
        self.headers = mb.Headers(l3_offset=14)  # of the next packet, as `length` is
        self.next_config = mb.Marker()

    async def start(self):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, PERIOD, unit="ns").start())
        dut.io_request_valid.value, dut.reset.value = 0, 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        while not int(dut.io_ready.value):
            await FallingEdge(dut.clock)

    async def tick(self, request=None, gap=None):
        """One clock, with a packet (queue, None), a new marker (queue, record) or nothing, and `gap()` ns to the next clock; the
        configuration of the request before stands beside it.
        """
        dut, r = self.wires, self.random
        ports(dut, "io_config", markers.bundle(self.next_config))
        dut.io_request_valid.value = request is not None
        if request is not None:
            queue, config = request
            if config is not None:  # no packet: from now on this is the queue's marker
                self.configs[queue] = config
                dut.io_request_valid.value = 0
            else:
                packet = {
                    "queue": queue, "colour": r.randrange(3), "lenBytes": self.length,
                    "l3Offset": self.headers.l3_offset, "ipBytes": self.headers.ip_bytes,
                    "time": self.now, "draw": r.getrandbits(32),
                }  # fmt: skip
                ports(dut, "io_request_bits", packet)
                self.expect(queue, packet)
                self.length = r.choice([64, 1500, 1500, r.randrange(2**16)])
                offset = r.choice([14, 18, 22])
                said = r.choice(
                    [0, 40, self.length - offset, self.length - offset + r.randrange(-2, 3), r.randrange(2**16)]
                )
                self.headers = mb.Headers(l3_offset=offset, ip_bytes=min(max(0, said), 65535))
            self.next_config = self.configs[queue]
        step = r.choice([0, 4, 4, 4, 40, r.randrange(20_000)]) if gap is None else gap()
        self.now = (self.now + step) % WRAP
        await FallingEdge(self.dut.clock)
        self.clock += 1
        self.check()

    def counted(self, config) -> int:
        """What the next packet counts as."""
        return mb.library().vm_marker_bytes(mb.byref(config), mb.byref(self.headers), self.length)

    def expect(self, queue, packet):
        config, marked = self.configs[queue], mb.Marked()
        mb.library().vm_marker_mark(
            self.models[queue], mb.byref(config), packet["time"], packet["colour"], self.counted(config), packet["draw"],
            mb.byref(marked),
        )  # fmt: skip
        price = (self.counted(config) << 16) * config.cost[0].mant >> config.cost[0].shift
        if config.kind in (mb.LEAF, mb.SRTCM, mb.TRTCM, mb.REDP):  # covered, or short of it, by less than a nanosecond
            self.edges["covered" if marked.level >= price else "short"] += abs(marked.level - price) < 2**16
        took = marked.colour == 0 or (config.kind == mb.TRTCM and marked.colour == 1)
        self.left[queue] = max(0, marked.level - took * price)
        self.waiting.append((self.clock + LATENCY, plain(marked), f"{packet} {plain(config)}"))
        self.seen.add((config.kind, packet["colour"], marked.colour, marked.policed))

    def adversarial(self, queue) -> int:
        """A gap at which something changes, or one ns beside it: no time at all, bucket A just covers the next packet, reaches a threshold
        or its brim, the dropper's meter runs out, a bucket is too old to be known."""
        r, c = self.random, self.configs[queue]
        price = (self.counted(c) << 16) * c.cost[0].mant >> c.cost[0].shift
        level = r.choice([price, price, 2 * price, c.low_threshold << 16, c.high_threshold << 16, c.burst[0] << 16])
        until = max(0, -((self.left[queue] - level) >> 16)) if level < WRAP << 16 else 0
        kind = r.random()
        if kind < 0.3:
            return r.choice([0, 0, 1])
        if kind < 0.32:
            return r.choice([*EDGES, c.burst[0], c.burst[1]])
        return max(0, (c.meter if kind < 0.36 else until) + r.choice([-1, 0, 0, 1])) % WRAP

    def check(self):
        if self.waiting and self.waiting[0][0] <= self.clock:
            _, want, context = self.waiting.pop(0)
            got = {name: int(getattr(self.wires, f"io_marked_{name}").value) for name in ("colour", "policed", "level")}
            assert got == want, f"RTL {got}, model {want}: {context}"


async def finish(bench):
    for _ in range(LATENCY + 1):
        await bench.tick()
    assert not bench.waiting


@cocotb.test()
async def every_colour_and_level_is_the_models(dut):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")))
    await bench.start()
    r = bench.random
    for pace, spread in [(1.0, 1), (1.0, 2), (1.0, 16), (0.3, 3), (0.5, 16)] * 4:
        base = r.randrange(16)
        for _ in range(1000):
            queue = (base + r.randrange(spread)) % 16
            await bench.tick(
                (queue, markers.marker(r, r.randrange(6)) if r.random() < 0.003 else None)
                if r.random() < pace
                else None
            )
    await finish(bench)
    kinds = {kind: len({s for s in bench.seen if s[0] == kind}) for kind in range(6)}
    dut._log.info(f"kinds and the different outcomes that were met: {kinds}")
    assert all(kinds[k] >= 6 for k in (mb.LEAF, mb.SRTCM, mb.TRTCM, mb.REDP)), kinds


def tight(r, kind):
    """A marker whose buckets hold a few packets of 1500 bytes, so that every second packet or so meets an edge."""
    m = markers.marker(r, kind)
    cost = [mb.Scaled(r.randrange(2**8, 2**18), r.randrange(8, 16)) for _ in range(2)]
    m.cost[0], m.cost[1] = cost[0], cost[0] if kind == mb.SRTCM else cost[1]
    for i in range(2):
        units = m.packet or 1500
        m.burst[i] = min(
            int(units * m.cost[i].mant / 2 ** m.cost[i].shift * r.choice([1, 1, 2, 3, r.uniform(0.5, 5)])) + 1, 2**42
        )
    m.burst[1] += m.burst[0] if kind == mb.SRTCM else 0
    m.low_threshold, m.high_threshold = (int(m.burst[0] * r.random()) for _ in range(2))
    shift = max(0, 43 - m.burst[0].bit_length() + r.randrange(3))
    m.demote, m.promote = (mb.Scaled(r.randrange(2**17), shift) for _ in range(2))
    return m


@cocotb.test()
async def colours_are_the_models_where_spacing_hurts_most(dut):
    """120,000 packets, one a clock, most gaps such that the next packet stands at an edge; time
    wraps and goes back."""
    bench = Bench(dut, 1000 + int(os.environ.get("VERMILION_SEED", "1")))
    await bench.start()
    r, packets, wraps = bench.random, 0, 0
    wanted = 120_000
    while packets < wanted:
        kind = r.choice([mb.LEAF, mb.SRTCM, mb.TRTCM, mb.REDP])
        queues = [r.randrange(16) for _ in range(r.choice([1, 1, 1, 2, 16]))]
        for queue in queues:
            await bench.tick((queue, tight(r, kind)))
        if r.random() < 0.3:
            bench.now = WRAP - r.randrange(1, 10**6)
        for _ in range(200):
            before = bench.now
            await bench.tick((r.choice(queues), None), lambda: bench.adversarial(r.choice(queues)))
            packets += 1
            wraps += bench.now < before
    await finish(bench)
    met = {k: len({s for s in bench.seen if s[0] == k}) for k in (mb.LEAF, mb.SRTCM, mb.TRTCM, mb.REDP)}
    dut._log.info(
        f"{packets} packets, {wraps} wraps of time, {dict(bench.edges)} at the edge; kinds and the different outcomes that were met: {met}"
    )
    assert wraps > wanted // 240 and min(bench.edges["covered"], bench.edges["short"]) > wanted // 60, (
        wraps,
        bench.edges,
    )
    assert all(met[k] >= 6 for k in met), met
