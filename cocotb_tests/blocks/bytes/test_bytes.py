"""Parser, distance and header rewrite by themselves, in one build, against the bit-exact model."""

from bench.build import run


def test_headers_distances_and_edits_are_the_models():
    run("ByteBlocks", "blocks.bytes.bytes_bench")
