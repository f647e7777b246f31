"""Each block of the policy pipeline by itself: against the bit-exact model, or plain bookkeeping, at a vector a clock. With so many queues that
records lie in block RAMs, and with so few that they lie in LUTs.
"""

import pytest

from bench.build import emit, run
from blocks.units.unkind_rams import make_unkind

RAMS = {"lab": 0, "lab-128-queues": 7}


@pytest.fixture(scope="module", params=["lab-128-queues", "lab"])
def preset(request):
    """With RAMs that forward nothing by themselves."""
    assert make_unkind(emit("PolicyBlocks", request.param)) == RAMS[request.param]
    return request.param


def test_idle_age_curve_size_weight_and_classes_are_the_models(preset):
    run("PolicyBlocks", "blocks.units.numbers_bench", preset)


def test_averages_are_the_models_at_every_look_ahead(preset):
    run("PolicyBlocks", "blocks.units.average_bench", preset)


def test_what_averages_see_is_of_the_lookups_own_clock(preset):
    run("PolicyBlocks", "blocks.units.lookup_bench", preset)


def test_verdicts_and_spacing_are_the_models(preset):
    run("PolicyBlocks", "blocks.units.verdict_bench", preset)


def test_backlog_and_limit_count_every_packet_in_its_clock(preset):
    run("PolicyBlocks", "blocks.units.backlog_bench", preset)
