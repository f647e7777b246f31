"""The lane in builds at the ends of what is legal: 128 bits, 2 and 1,024 queues, 3 inputs, the longest frames.

With 1,024 queues the scheduler's flip-flops make 34 MB of C++, minutes to compile; so by default that build is only elaborated and linted
(every warning is an error), and the frames run where VERMILION_LONG is set.
"""

import os

import pytest
from bench.build import emit, lint, run


def test_lane_with_2_queues_3_inputs_and_frames_as_long_as_its_buffer():
    run("LaneCore", "lane.ends_bench", "odd", MAX_FRAME_BYTES="16320")


def test_lane_with_1024_queues_elaborates_and_has_no_lint():
    lint("LaneCore", emit("LaneCore", "many-queues"))


@pytest.mark.skipif("VERMILION_LONG" not in os.environ, reason="minutes of compilation; set VERMILION_LONG=1")
def test_lane_with_1024_queues():
    run("LaneCore", "lane.ends_bench", "many-queues")
