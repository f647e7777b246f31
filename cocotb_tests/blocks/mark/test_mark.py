"""The token bucket markers against the bit-exact model."""

from bench.build import run


def test_token_bucket_markers_mark_as_the_model_does():
    run("TokenMarker", "blocks.mark.mark_bench")
