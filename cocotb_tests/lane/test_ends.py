"""The lane in builds at the ends of what is legal: 128 bits, 2 and 1,024 queues, 3 inputs, the longest frames."""

from bench.build import emit, lint, run
from support.nightly import at_night


def test_lane_with_2_queues_3_inputs_and_frames_as_long_as_its_buffer():
    run("LaneCore", "lane.ends_bench", "odd", MAX_FRAME_BYTES="16320")


def test_lane_with_1024_queues_elaborates_and_has_no_lint():
    lint("LaneCore", emit("LaneCore", "many-queues"))


@at_night
def test_lane_with_1024_queues():
    run("LaneCore", "lane.ends_bench", "many-queues")
