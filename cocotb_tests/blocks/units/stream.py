"""What the benches of single blocks share: a reset, and a vector a clock through a pipeline of known latency."""

import os
import random as randomness

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

VALIDS = (
    "classifier_write_valid backlog_admitted_valid backlog_departed_valid backlog_evicted_valid average_request_valid limit_departed_valid "
    "limit_admit limit_lost_valid verdict_inputs_valid lookup_admitted_valid lookup_departed_valid lookup_evicted_valid limit_ahead_valid"
).split()


async def start(dut, number: int):
    """A clock of 4 ns and a reset, nothing valid; the random numbers of test `number`."""
    seed = 100 * int(os.environ.get("VERMILION_SEED", "1")) + number
    dut._log.info(f"seed {seed}")
    cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
    for name in VALIDS:
        if hasattr(dut, name):  # not every build has every port
            getattr(dut, name).value = 0
    dut.reset.value = 1
    for _ in range(4):
        await FallingEdge(dut.clock)
    dut.reset.value = 0
    return randomness.Random(seed)


async def until_ready(dut, ready, clocks: int):
    """Waits for a block's tables to be clear, which takes exactly so many clocks after the reset."""
    for _ in range(clocks):
        assert not int(ready.value), "ready before its tables are clear"
        await FallingEdge(dut.clock)
    assert int(ready.value), f"not ready after {clocks} clocks"


async def through(dut, vectors, latency: int, drive, look):
    """A vector a clock: `drive(vectors, k)` sets the inputs of clock k, `look(vector)` reads the outputs of `latency` clocks after
    that vector's. Outputs are read with the inputs of their own clock standing, so combinational ones may be looked at too.
    """
    for k in range(len(vectors) + latency):
        drive(vectors, k)
        await ReadOnly()
        if k >= latency:
            look(vectors[k - latency])
        await FallingEdge(dut.clock)


def any_size(random, bits: int) -> int:
    """A number of up to `bits` bits, every magnitude as likely as any other, with both ends."""
    return random.choice([0, (1 << bits) - 1, *(random.getrandbits(random.randrange(1, bits + 1)) for _ in range(8))])
