"""The lane at a frame a clock."""

from bench.build import run


def test_512_bits_take_a_64_byte_frame_and_give_a_decision_in_every_clock():
    run("LaneCore", "lane.line_rate_bench", "nic100g-few-cells")
