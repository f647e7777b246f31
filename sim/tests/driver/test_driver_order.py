"""The order of the driver library's accesses: what the registers ask for beyond the last value of each (docs/registers.md)."""

import ctypes
from ctypes import byref

import pytest

from support.register_file import Card, Lane
from vermilion.configuration import config_file
from vermilion.hardware.driver_library import C, library
from vermilion.profile import quantise
from vermilion.toolchain import build

RUN = library()


def words(queue=3):
    asked = config_file.load(build.ROOT / "sim/configs/default.toml")
    return quantise.queue_image(asked.queue[queue], asked.port.rate, 6, None)


@pytest.mark.parametrize("polls", [1, 3, 20])
def test_a_commit_under_way_ends_before_the_next_record_is_written(polls):
    """A commit that was given up after its time may still happen: it must not take half of the next record."""
    held = Lane()
    card = Card(held)
    _, lane = card.open(RUN)
    held.pending["commit"] = polls
    assert RUN.vm_lane_write_queue(byref(lane), 4, byref(words())) == 0
    assert card.faults == [] and [*held.committed] == [4]


def test_nothing_of_a_record_is_written_while_a_commit_does_not_end():
    held = Lane()
    card = Card(held)
    _, lane = card.open(RUN)
    before = dict(held.words)
    held.pending["commit"], held.hangs = 1, True
    assert RUN.vm_lane_write_queue(byref(lane), 4, byref(words())) == C.VM_ERROR_TIMEOUT
    assert card.faults == [] and held.words == before and not held.committed


def test_every_seed_is_there_when_the_seeds_take_effect():
    """Seeds take effect with the write of mark_seed[3]; what is written later waits for the next seeding."""
    held = Lane()
    card = Card(held)
    _, lane = card.open(RUN)
    for seed in (3, 2**64 - 1):
        assert RUN.vm_lane_write_seed(byref(lane), ctypes.c_uint64(seed)) == 0
        wanted = {}
        for number, name in enumerate(("seed", "mark_seed", "flow_seed")):
            state = (ctypes.c_uint32 * 4)()
            RUN.vm_seed_words(ctypes.c_uint64(seed), number, state)
            wanted[name] = list(state)
        assert held.seeds == wanted and card.faults == []
