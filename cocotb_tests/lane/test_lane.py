"""The lane's datapath as a whole: frames in, frames out, nothing lost that was not counted."""

import pytest
from bench.build import run


@pytest.mark.parametrize("preset", ["lab", "nic100g"])
def test_lane_keeps_every_byte_under_stalls_and_backpressure(preset):
    run("LaneCore", "lane.lane_bench", preset)
