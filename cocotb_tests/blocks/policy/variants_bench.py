"""Bench that tells RED variants apart: the same arrivals and departures into queues that differ in their masks alone.

Each queue's averages must be those of the papers' definitions, worked out here from the packets themselves and not by the model:
WRED averages the whole queue for every colour (P2, SAMT), RIO-C counts green; green and yellow; all (P1, P2), RIO of two precedences
green; all; all (P0), RIO-DC each colour by itself (P2).
"""

import os
import random as randomness
from fractions import Fraction
from math import floor

import cocotb
from cocotb.triggers import FallingEdge

from bench import pipeline
from bench.bundle import ports
from support import model_bindings as mb

COUNTED = {
    "WRED": ("gyr", "gyr", "gyr"),
    "RIO-C": ("g", "gy", "gyr"),
    "two-precedence RIO": ("g", "gyr", "gyr"),
    "RIO-DC": ("g", "y", "r"),
}
WEIGHT = Fraction(1, 50)
PACE = 40  # clocks between packets, longer than the pipeline
PACKETS = 600


def record(variant: str):
    masks = [sum(1 << "gyr".index(colour) for colour in colours) for colours in COUNTED[variant]]
    return mb.queue(masks=masks, weight=WEIGHT)


@cocotb.test()
async def each_variants_averages_are_those_of_its_definition(dut):
    seed = int(os.environ.get("VERMILION_SEED", "1"))
    dut._log.info(f"seed {seed}")
    random = randomness.Random(seed)
    await pipeline.reset(dut)
    for index, variant in enumerate(COUNTED):
        for colour in range(3):
            entry = {"queue": index, "colour": colour}
            ports(dut, "io_classWrite_bits", {"address": 3 * index + colour, "entry": entry})
            dut.io_classWrite_valid.value = 1
            await FallingEdge(dut.clock)
        dut.io_classWrite_valid.value = 0
        await pipeline.commit(dut, index, record(variant))

    weight = record("WRED").weight[0]
    step = Fraction(weight.mant, 2 ** (8 + weight.shift))
    backlog = {variant: [0, 0, 0] for variant in COUNTED}
    average = {variant: [0, 0, 0] for variant in COUNTED}  # U27.16
    apart = set()
    for _ in range(PACKETS):
        colour, leaves = random.choices(range(3), (5, 3, 2))[0], random.random() < 0.45
        for index, variant in enumerate(COUNTED):
            queued = backlog[variant]
            if leaves and queued[colour] > 1:
                left = {"queue": index, "colour": colour, "lenBytes": 500, "arrival": 0}
                ports(dut, "io_departed_bits", left)
                dut.io_departed_valid.value = 1
                await FallingEdge(dut.clock)
                dut.io_departed_valid.value = 0
                queued[colour] -= 1
                for _ in range(PACE):
                    await FallingEdge(dut.clock)
            headers = {"isIp4": 1, "isIp6": 0, "dscp": 3 * index + colour, "ecn": 0}
            fields = {"lenBytes": 500, "headCell": 1, "cells": 1, "bad": 0, "noBuffer": 0, "headers": headers}
            ports(dut, "io_descriptor_bits", fields)
            dut.io_descriptor_valid.value = 1
            await FallingEdge(dut.clock)
            dut.io_descriptor_valid.value = 0
            while not int(dut.io_decision_valid.value):
                await FallingEdge(dut.clock)
            got = [int(getattr(dut, f"io_decision_bits_average_{e}").value) for e in range(3)]
            for e, colours in enumerate(COUNTED[variant]):
                if "gyr"[colour] not in colours:
                    continue
                length = sum(queued["gyr".index(c)] for c in colours)
                old = average[variant][e]
                # An empty count ages; in this bench time stands still, so it keeps the average.
                average[variant][e] = old + floor(step * ((length << 16) - old)) if length else old
                assert got[e] == average[variant][e], f"{variant}, average of {'gyr'[e]}"
            assert int(dut.io_decision_bits_verdict.value) == mb.ENQUEUE
            queued[colour] += 1
            for _ in range(PACE):
                await FallingEdge(dut.clock)
        apart.add(tuple(tuple(average[variant]) for variant in COUNTED))
    final = [tuple(average[variant]) for variant in COUNTED]
    dut._log.info(f"averages at the end, in packets: {[[round(a / 65536, 2) for a in each] for each in final]}")
    assert len(set(final)) == len(COUNTED), "two variants came to the same averages"
    assert len(apart) > PACKETS // 2
