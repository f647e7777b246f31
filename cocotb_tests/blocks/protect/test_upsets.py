"""Bits flipped in the protected memories of a lane under traffic; and faults of the protection, each of which must be found out."""

from functools import cache

import pytest

from bench.build import WORK, emit, run
from blocks.protect.upset_rams import FAULTS, opened, paths
from support.nightly import nightly

LAB, NIC = "lab-protected-few-cells", "nic100g-protected-few-cells"


@cache
def lane(preset: str):
    return opened(emit("LaneCore", preset), WORK / f"upsets-{preset}")


def upsets(preset: str, plusargs: tuple = (), **environment: str):
    where = " ".join(paths(lane(preset), "LaneCore"))
    run("LaneCore", "blocks.protect.upsets_bench", folder=lane(preset), plusargs=plusargs, PATHS=where, **environment)


@pytest.mark.parametrize("preset", [LAB, nightly(NIC)])
def test_a_thousand_upsets_of_every_protected_memory_are_noticed_and_harm_nothing(preset):
    upsets(preset)


def test_two_wrong_bits_stop_the_lane_and_a_reset_brings_every_cell_back():
    # What the blocks assert of each other's words does not hold in the clocks of a failure.
    upsets(LAB, ("+quiet",), DOUBLE="2")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_protection_is_found_out(fault):
    number = 1 + list(FAULTS).index(fault)
    with pytest.raises((AssertionError, SystemExit)):  # cocotb's runner exits where a test fails
        upsets(LAB, ("+quiet",), FAULT=str(number))
