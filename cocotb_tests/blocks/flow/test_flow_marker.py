"""The per-flow markers against the bit-exact model: every answer of random traffic, the same flow in every clock included, or in every slot
of the form in turn.
"""

from bench.build import emit, run


def test_flow_marker_marks_as_the_model_does():
    run("FlowMarker", "blocks.flow.marker_bench")


def test_flow_marker_in_turn_marks_as_the_model_does():
    folder = emit("FlowMarker", "lab-in-turn")
    run("FlowMarkerInTurn", "blocks.flow.marker_bench", folder=folder, SLOT_CLOCKS="8")
