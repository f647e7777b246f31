"""The policy pipeline against the bit-exact model: every decision of random traffic at random and at full pace."""

from bench.build import emit, lint, run


def test_policy_pipeline_decides_as_the_model_does():
    run("PolicyPipeline", "blocks.policy.policy_bench", "lab-without-victims")


def test_drop_rates_over_each_curve_are_the_documented_ones():
    run("PolicyPipeline", "blocks.policy.rates_bench", "lab-without-victims")


def test_wred_rio_c_and_rio_dc_average_what_the_papers_say():
    run("PolicyPipeline", "blocks.policy.variants_bench", "lab-without-victims")


def test_policy_pipeline_with_the_victim_search_elaborates_and_has_no_lint():
    folder = emit("PolicyPipeline", "lab")
    assert "pushOuts_arrival_valid" in (folder / "PolicyPipeline.sv").read_text()
    lint("PolicyPipeline", folder)
