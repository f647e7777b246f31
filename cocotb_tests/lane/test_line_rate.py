"""The lane at a frame a clock, and at the rate of a 100G port with a push-out at every arrival."""

from bench.build import run


def test_512_bits_take_a_64_byte_frame_and_give_a_decision_in_every_clock():
    run("LaneCore", "lane.line_rate_bench", "nic100g-few-cells")


def test_512_bits_push_out_at_every_arrival_of_a_100g_port():
    run("LaneCore", "lane.push_out_rate_bench", "nic100g-victims", VICTIMS="4")
