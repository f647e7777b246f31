"""Bench of the token bucket markers: every packet's colour and level are the model's, at a packet a clock to one queue and to many."""

import os
import random as randomness

import cocotb
import model_bindings as mb
from bench import markers
from bench.bundle import plain, ports
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

LATENCY = 7  # TokenMarker.Latency
WRAP = 2**48


class Bench:
    def __init__(self, dut, seed: int):
        self.dut, self.random = dut, randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.configs = [markers.marker(self.random, kind % 6) for kind in range(16)]
        self.models = [mb.library().vm_marker_create() for _ in range(16)]
        self.now = self.random.choice([10**9, WRAP - 50_000])
        self.waiting = []  # (clock, what is expected, context)
        self.clock, self.seen = 0, set()
        self.next_config = mb.Marker()

    async def start(self):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        dut.io_request_valid.value, dut.reset.value = 0, 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        while not int(dut.io_ready.value):
            await FallingEdge(dut.clock)

    async def tick(self, request=None):
        """One clock, with a request or none; the configuration of the request before stands beside it."""
        dut, r = self.dut, self.random
        ports(dut, "io_config", markers.bundle(self.next_config))
        dut.io_request_valid.value = request is not None
        if request is not None:
            queue, commit = request
            packet = {
                "queue": queue, "colour": r.randrange(3), "lenBytes": r.choice([64, 1500, r.randrange(2**16)]),
                "time": self.now, "draw": r.getrandbits(32), "commit": commit,
            }  # fmt: skip
            ports(dut, "io_request_bits", packet)
            if commit:
                self.configs[queue] = markers.marker(r, r.randrange(6))
                mb.library().vm_marker_configure(self.models[queue])
            else:
                self.expect(queue, packet)
            self.next_config = self.configs[queue]
        self.now = (self.now + r.choice([0, 4, 4, 4, 40, r.randrange(20_000)])) % WRAP
        await FallingEdge(dut.clock)
        self.clock += 1
        self.check()

    def expect(self, queue, packet):
        config, marked = self.configs[queue], mb.Marked()
        mb.library().vm_marker_mark(
            self.models[queue], mb.byref(config), packet["time"], packet["colour"], packet["lenBytes"], packet["draw"],
            mb.byref(marked),
        )  # fmt: skip
        self.waiting.append((self.clock + LATENCY, plain(marked), f"{packet} {plain(config)}"))
        self.seen.add((config.kind, packet["colour"], marked.colour, marked.policed))

    def check(self):
        if self.waiting and self.waiting[0][0] == self.clock:
            _, want, context = self.waiting.pop(0)
            got = {name: int(getattr(self.dut, f"io_marked_{name}").value) for name in ("colour", "policed", "level")}
            assert got == want, f"RTL {got}, model {want}: {context}"


@cocotb.test()
async def every_colour_and_level_is_the_models(dut):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")))
    await bench.start()
    r = bench.random
    for pace, spread in [(1.0, 1), (1.0, 2), (1.0, 16), (0.3, 3), (0.5, 16)] * 4:
        base = r.randrange(16)
        for _ in range(1000):
            queue = (base + r.randrange(spread)) % 16
            await bench.tick((queue, r.random() < 0.003) if r.random() < pace else None)
    for _ in range(LATENCY + 1):
        await bench.tick()
    assert not bench.waiting
    kinds = {kind: len({s for s in bench.seen if s[0] == kind}) for kind in range(6)}
    dut._log.info(f"kinds and the different outcomes that were met: {kinds}")
    assert all(kinds[k] >= 6 for k in (mb.LEAF, mb.SRTCM, mb.TRTCM, mb.REDP)), kinds
