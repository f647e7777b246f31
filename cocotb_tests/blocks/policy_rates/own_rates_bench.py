"""Bench of the rates that hang on more than the drop curve: ECN thresholds of their own, size weighting, and bytes as unit.

As in blocks/policy/rates_bench: the average is set by filling a queue with a weight of 1 and no curve, then held by a weight of 0. The
share of each kind of packet that is dropped or marked must lie inside the 99.9 % binomial interval of the documented one.
"""

from collections import Counter
from fractions import Fraction
from math import sqrt

import cocotb
from cocotb.triggers import FallingEdge

from bench.bundle import ports
from blocks.policy.rates_bench import Bench, Z, config, curve, documented
from support import model_bindings as mb

PACKETS = 8000
SPACINGS = [mb.GEOMETRIC, mb.UNIFORM, mb.WAIT]
NOT_ECT, ECT1, ECT0, CE = range(4)


class Own(Bench):
    """Sends IPv4 packets of given lengths and ECN bits; notes what became of each."""

    index = -1

    async def fill(self, lengths, record):
        """A new queue with these packets in it and their sum as its average; then `record` with the average held."""
        self.index += 1
        entry = {"queue": self.index, "colour": 0}
        ports(self.dut, "io_classWrite_bits", {"address": 0, "entry": entry})
        self.dut.io_classWrite_valid.value = 1
        await FallingEdge(self.dut.clock)
        self.dut.io_classWrite_valid.value = 0
        filling = config(mb.Curve(), mb.GEOMETRIC, 256)
        filling.unit = record.unit
        await self.commit(self.index, filling)
        for some in (lengths, [60]):  # the last one comes when all others are in the queue
            assert set(await self.each([(length, NOT_ECT) for length in some])) == {mb.ENQUEUE}
        record.weight = (mb.Scaled * 6)(*([mb.Scaled(0, 0)] * 6))
        await self.commit(self.index, record)

    async def each(self, packets) -> list[int]:
        """The verdicts of these packets of (length, ECN bits), sent back to back."""
        dut, self.verdicts = self.dut, []
        dut.io_descriptor_valid.value = 1
        ports(dut, "io_descriptor_bits", {"headCell": 1, "cells": 1, "bad": 0, "noBuffer": 0})
        ports(dut, "io_descriptor_bits_headers", {"isIp4": 1, "isIp6": 0, "dscp": 0})
        for length, ecn in packets:
            dut.io_descriptor_bits_lenBytes.value, dut.io_descriptor_bits_headers_ecn.value = length, ecn
            await FallingEdge(dut.clock)
            self.look()
        dut.io_descriptor_valid.value = 0
        for _ in range(45):
            await FallingEdge(dut.clock)
            self.look()
        assert len(self.verdicts) == len(packets), "packets and verdicts differ in number"
        return self.verdicts

    def inside(self, what: str, verdicts, kinds, rate):
        """That the share of `kinds` is the documented one, and that no other kind of early fate was met."""
        assert set(verdicts) <= {mb.ENQUEUE, *kinds}, f"{what}: {Counter(verdicts)}"
        share = sum(v in kinds for v in verdicts) / len(verdicts)
        margin = Z * sqrt(rate * (1 - rate) / len(verdicts))
        self.dut._log.info(f"{what}: documented {float(rate):.4f}, measured {share:.4f}")
        assert abs(share - float(rate)) <= margin, f"{what}: {share} is outside {float(rate):.4f} +-{margin:.4f}"


async def started(dut):
    bench = Own(dut)
    await bench.start()
    return bench


@cocotb.test()
@cocotb.parametrize(spacing=SPACINGS)
async def marks_have_the_rate_of_the_ecn_thresholds_and_drops_that_of_the_others(dut, spacing):
    """ECT and CE packets go by the ECN curve, the rest by the drop curve; over the end of the ECN curve every one is marked."""
    bench = await started(dut)
    drop_record, drop_exact = curve("gentle", 40, 80, Fraction(1, 10))
    ecn_record, ecn_exact = curve("red", 10, 60, Fraction(1, 2))
    for average in (9, 30, 50, 60, 100):
        record = config(drop_record, spacing, 0)
        record.ecn = 1
        record.colour[0] = mb.colour(drop_record, ecn_record)
        await bench.fill([60] * average, record)
        for name, bits, kinds, p in (
            ("not ECT", [NOT_ECT], (mb.EARLY,), drop_exact(average)),
            ("ECT or CE", [ECT0, ECT1, CE], (mb.MARK,), ecn_exact(average)),
        ):
            verdicts = await bench.each([(60, bits[k % len(bits)]) for k in range(PACKETS)])
            bench.inside(f"average {average}, {name}", verdicts, kinds, documented(p, spacing))


@cocotb.test()
@cocotb.parametrize(spacing=SPACINGS)
async def drops_are_in_proportion_to_size(dut, spacing):
    """p L / L_mean, at most 1; one length after the other, and where draws are independent all lengths mixed."""
    bench = await started(dut)
    record, exact = curve("red", 32, 128, Fraction(1, 5))
    average, mean = 84, 500
    record = config(record, spacing, 0)
    record.size_weight, record.inv_mean_len = 1, mb.scaled(Fraction(2**12, mean), 16)
    await bench.fill([60] * average, record)
    lengths = [64, 500, 1514, 9000]
    p = {length: min(Fraction(1), exact(average) * length / mean) for length in lengths}
    assert p[9000] == 1 and p[64] < exact(average) < p[1514] < 1
    for length in lengths:
        verdicts = await bench.each([(length, NOT_ECT)] * PACKETS)
        bench.inside(f"{length} bytes", verdicts, (mb.EARLY,), documented(p[length], spacing))
    if spacing == mb.GEOMETRIC:
        packets = [(lengths[k % 4], NOT_ECT) for k in range(2 * PACKETS)]
        verdicts = await bench.each(packets)
        for k, length in enumerate(lengths):
            bench.inside(f"{length} bytes, mixed", verdicts[k::4], (mb.EARLY,), p[length])


@cocotb.test()
@cocotb.parametrize(spacing=SPACINGS)
async def thresholds_in_bytes_meet_the_bytes_in_the_queue(dut, spacing):
    """The same number of bytes in few or in many packets has the same rate; the number of packets has no say."""
    bench = await started(dut)
    curve_record, exact = curve("exred", 10000, 30000, Fraction(1, 10), 90000)
    for lengths in ([1500] * 6 + [999], [2000] * 10, [200] * 100, [9000] * 6, [60] * 900, [45000] * 2):
        average = sum(lengths)
        record = config(curve_record, spacing, 0)
        record.unit = 0
        await bench.fill(lengths, record)
        p = exact(average)
        verdicts = await bench.each([(60, NOT_ECT)] * PACKETS)
        kinds = (mb.EARLY, mb.FORCED) if p == 1 else (mb.EARLY,)
        bench.inside(f"{len(lengths)} packets, {average} bytes", verdicts, kinds, documented(p, spacing))
