"""Each block of the policy pipeline by itself, in one build: against the bit-exact model, or plain bookkeeping, at a vector a clock."""

import pytest
from bench.build import emit, run
from blocks.units.unkind_rams import make_unkind


@pytest.fixture(autouse=True, scope="module")
def rams_that_forward_nothing():
    assert make_unkind(emit("PolicyBlocks", "lab")) == 5


def test_idle_age_curve_size_weight_and_classes_are_the_models():
    run("PolicyBlocks", "blocks.units.numbers_bench")


def test_averages_are_the_models_at_every_look_ahead():
    run("PolicyBlocks", "blocks.units.average_bench")


def test_verdicts_and_spacing_are_the_models():
    run("PolicyBlocks", "blocks.units.verdict_bench")


def test_backlog_and_limit_count_every_packet_in_its_clock():
    run("PolicyBlocks", "blocks.units.backlog_bench")
