"""The token bucket markers against the bit-exact model, in both forms."""

from bench.build import emit, run


def test_token_bucket_markers_mark_as_the_model_does():
    run("TokenMarker", "blocks.mark.mark_bench")


def test_token_bucket_markers_in_turn_mark_as_the_model_does():
    run("TokenMarkerInTurn", "blocks.mark.mark_bench", folder=emit("TokenMarker", "lab-in-turn"), SPACING="8")
