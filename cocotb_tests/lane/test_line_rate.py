"""The lane at a frame a clock, and at the rate of a 100G port with a contest at every arrival."""

from bench.build import run


def test_512_bits_take_a_64_byte_frame_and_give_a_decision_in_every_clock():
    run("LaneCore", "lane.line_rate_bench", "nic100g-few-cells")


def test_512_bits_hold_a_contest_at_every_arrival_of_a_100g_port():
    run("LaneCore", "lane.contest_rate_bench", "nic100g-victims", VICTIMS="4")
