"""Rates of drops and marks where more than the drop curve has a say."""

from bench.build import run


def test_rates_with_ecn_thresholds_size_weighting_and_bytes_are_the_documented_ones():
    run("PolicyPipeline", "blocks.policy_rates.own_rates_bench", "lab-without-victims")


def test_idle_spells_age_as_in_the_model_also_where_commits_change_the_decay():
    run("PolicyPipeline", "blocks.policy_rates.commit_bench", "lab-without-victims")
