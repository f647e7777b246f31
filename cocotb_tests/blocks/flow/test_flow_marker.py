"""The per-flow markers against the bit-exact model: every answer of random traffic, the same flow in every clock included."""

from bench.build import run


def test_flow_marker_marks_as_the_model_does():
    run("FlowMarker", "blocks.flow.marker_bench")
