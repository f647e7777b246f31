"""What the benches of single blocks share: a reset, and a vector a clock through a pipeline of known latency."""

import os
import random as randomness

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

VALIDS = (
    "classifier_write_valid backlog_admitted_valid backlog_departed_valid backlog_evicted_valid average_request_valid limit_departed_valid "
    "limit_admit limit_lost_valid verdict_inputs_valid look_start look_admitted_valid look_departed_valid look_evicted_valid limit_ahead_valid size_valid"
).split()
IN_TURN = "curve_commit_valid curve_request_valid".split()  # in builds that decide every eight clocks
APART = 8  # clocks between two requests in these


def in_turn(dut) -> bool:
    return hasattr(dut, IN_TURN[0])


def gap(random) -> int:
    """Clocks from a request to the next one: as few as may be, or more."""
    return APART + random.choice([0, 0, 0, random.randrange(12)])


def apart(random, vectors):
    """The same vectors with as many `None` between them as there must be clocks."""
    return [slot for vector in vectors for slot in (vector, *[None] * (gap(random) - 1))]


async def start(dut, number: int):
    """A clock of 4 ns and a reset, nothing valid; the random numbers of test `number`."""
    seed = 100 * int(os.environ.get("VERMILION_SEED", "1")) + number
    dut._log.info(f"seed {seed}")
    cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
    for name in VALIDS + IN_TURN:
        if hasattr(dut, name):  # not every build has every port
            getattr(dut, name).value = 0
    dut.reset.value = 1
    for _ in range(4):
        await FallingEdge(dut.clock)
    dut.reset.value = 0
    return randomness.Random(seed)


def in_turn(dut) -> bool:
    """Is this a build whose requests are eight clocks apart? There one estimator is shown what it sees after another."""
    return not hasattr(dut, "average_request_bits_seen_1_length")


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
