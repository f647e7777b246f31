"""Bench of the drop rates: an average held still, swept over each curve, and the verdicts counted.

The average is set by filling a queue with a weight of 1 and no curve, and held by a weight of 0. The rate must lie inside the 99.9 %
binomial interval of the documented one (docs/architecture.md): p where draws are independent (geometric); the reciprocal of the mean
gap E[ceil(R/p)] (uniform) or E[ceil((1+R)/p)] (wait), R uniform on [0, 1).
"""

from fractions import Fraction
from math import ceil, sqrt

import cocotb
from cocotb.triggers import FallingEdge

from bench import pipeline
from bench.bundle import ports
from support import model_bindings as mb
from support.nightly import NIGHTLY

PACKETS = 40000
Z = 3.2905  # two-sided 99.9 %
FREE = 2**27 - 1


def curve(kind: str, low: int, high: int, top: Fraction, end: int = 0):
    """The register values of a curve, and the same curve in exact fractions."""
    end = {"red": high, "gentle": 2 * high, "exred": end}[kind]
    slope = (1 - top) if kind == "gentle" else top * (end - high) / (high - low)
    square = 0 if kind != "exred" else 1 - top - slope

    def exact(a: int) -> Fraction:
        if a < low:
            return Fraction(0)
        if a < high:
            return top * Fraction(a - low, high - low)
        y = Fraction(a - high, end - high) if a < end else Fraction(1)
        return top + slope * y + square * y * y if a < end else Fraction(1)

    record = mb.red_curve(low, high, top, end, 0 if end == high else slope, 0 if end == high else square)
    return record, exact


RED, GENTLE, EXRED = (
    curve("red", 32, 128, Fraction(1, 10)),
    curve("gentle", 20, 60, Fraction(1, 10)),
    curve("exred", 10, 30, Fraction(1, 10), 100),
)
# DPDK's own points are 32/128, 1/10 at 60, 84 and 126.
POINTS = [(RED, a) for a in (31, 60, 84, 126, 128)] + [(GENTLE, a) for a in (19, 40, 80, 120)]
POINTS += [(EXRED, a) for a in (9, 20, 50, 90, 100)]


def documented(p: Fraction, spacing: int) -> Fraction:
    """The long-run share of packets dropped."""
    if p in (0, 1) or spacing == mb.GEOMETRIC:
        return p
    shift = 1 if spacing == mb.WAIT else 0
    # E[ceil((shift + R)/p)] = sum over k >= 0 of P(R > k p - shift)
    total = sum(min(Fraction(1), 1 - k * p + shift) for k in range(ceil((1 + shift) / p)))
    return 1 / total


def config(curve_record, spacing: int, weight: int):
    record = mb.queue(masks=(7, 7, 7), spacing=spacing, limit=FREE, limit_packets=FREE)
    record.weight = (mb.Scaled * 6)(*([mb.Scaled(weight, 0)] * 6))
    for c in range(3):
        record.colour[c] = mb.colour(curve_record)
    return record


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.verdicts: list[int] = []

    async def start(self):
        await pipeline.reset(self.dut)

    async def commit(self, index: int, record):
        """Commits a queue's configuration and sends all frames without IP to it."""
        entry = {"queue": index, "colour": 0}
        ports(self.dut, "io_classWrite_bits", {"address": 64, "entry": entry})
        self.dut.io_classWrite_valid.value = 1
        await FallingEdge(self.dut.clock)
        self.dut.io_classWrite_valid.value = 0
        await pipeline.commit(self.dut, index, record, self.look)

    def look(self):
        if self.dut.io_decision_valid.value:
            self.verdicts.append(int(self.dut.io_decision_bits_verdict.value))

    async def send(self, count: int) -> list[int]:
        """Sends packets back to back; their verdicts."""
        dut = self.dut
        self.verdicts = []
        headers = {"isIp4": 0, "isIp6": 0}
        fields = {"lenBytes": 64, "headCell": 1, "cells": 1, "bad": 0, "noBuffer": 0, "headers": headers}
        ports(dut, "io_descriptor_bits", fields)
        dut.io_descriptor_valid.value = 1
        for k in range(count + 45):
            if k == count:
                dut.io_descriptor_valid.value = 0
            await FallingEdge(dut.clock)
            self.look()
        assert len(self.verdicts) == count, "packets and verdicts differ in number"
        return self.verdicts


@cocotb.test()
@cocotb.parametrize(spacing=[mb.GEOMETRIC, mb.UNIFORM, mb.WAIT] if NIGHTLY else [mb.UNIFORM])
async def the_drop_rate_is_the_documented_one_over_each_curve(dut, spacing):
    bench = Bench(dut)
    await bench.start()
    for index, ((record, exact), average) in enumerate(POINTS):
        await bench.commit(index, config(mb.Curve(), spacing, 256))
        for count in (average, 1):  # the last one comes when all others are in the queue
            assert set(await bench.send(count)) == {mb.ENQUEUE}
        await bench.commit(index, config(record, spacing, 0))
        verdicts = await bench.send(PACKETS)
        p = exact(average)
        rate = documented(p, spacing)
        dropped = sum(v in (mb.EARLY, mb.FORCED) for v in verdicts)
        margin = Z * sqrt(rate * (1 - rate) / PACKETS)
        dut._log.info(
            f"average {average}: p {float(p):.4f}, documented {float(rate):.4f}, measured {dropped / PACKETS:.4f}"
        )
        assert abs(dropped / PACKETS - float(rate)) <= margin, f"outside +-{margin:.4f}"
        if p in (0, 1):
            assert dropped == p * PACKETS
