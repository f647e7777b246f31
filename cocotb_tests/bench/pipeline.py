"""What every bench of the policy pipeline does first: clock and reset, and a queue's configuration handed over."""

from cocotb import start_soon
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench import queues
from bench.bundle import ports

CLASSES_CLEARED = 64  # clocks from a reset to the first write of a class: CodePoints of Classifier.scala


async def reset(dut, now: int = 1000, departure_updates: int = 0):
    """Runs the clock and resets until classes can be written; nothing is offered on any input."""
    start_soon(Clock(dut.clock, 4, unit="ns").start())
    for name in ("descriptor", "departed", "commit", "hostRead", "classWrite", "seed"):
        getattr(dut, f"io_{name}_valid").value = 0
    dut.io_departureUpdates.value, dut.io_now.value, dut.reset.value = departure_updates, now, 1
    for _ in range(4):
        await FallingEdge(dut.clock)
    dut.reset.value = 0
    for _ in range(CLASSES_CLEARED):
        await FallingEdge(dut.clock)


async def commit(dut, index: int, record, each_clock=lambda: None):
    """Offers a configuration until it is taken, which also waits for the tables to be cleared after a reset."""
    ports(dut, "io_commit_bits", {"queue": index, "config": queues.bundle(record)})
    dut.io_commit_valid.value = 1
    taken = False
    while not taken:
        await FallingEdge(dut.clock)
        taken = bool(int(dut.io_commit_ready.value))
        each_clock()
    await FallingEdge(dut.clock)
    each_clock()
    dut.io_commit_valid.value = 0
