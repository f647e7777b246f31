"""Each block of the policy pipeline by itself, in one build: against the bit-exact model, or plain bookkeeping, at a vector a clock."""

from bench.build import run


def test_idle_age_curve_size_weight_and_classes_are_the_models():
    run("PolicyBlocks", "blocks.units.numbers_bench")


def test_averages_are_the_models_at_every_look_ahead():
    run("PolicyBlocks", "blocks.units.average_bench")


def test_verdicts_and_spacing_are_the_models():
    run("PolicyBlocks", "blocks.units.verdict_bench")


def test_backlog_and_limit_count_every_packet_in_its_clock():
    run("PolicyBlocks", "blocks.units.backlog_bench")
