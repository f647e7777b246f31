"""The lane's datapath as a whole, with 256 cells: frames in, frames out, nothing lost that was not counted; with the victim search, too."""

import pytest

from bench.build import run
from support.nightly import nightly


@pytest.mark.parametrize("preset", [*map(nightly, ("lab-few-cells", "nic100g-few-cells", "egresses-few-cells"))])
def test_lane_keeps_every_byte_under_stalls_and_backpressure(preset):
    run("LaneCore", "lane.lane_bench", preset)


@pytest.mark.parametrize("preset", ["egresses-aqm-few-cells"])
def test_lane_with_every_aqm_keeps_every_byte_under_changes(preset):
    run("LaneCore", "lane.aqm_bench", preset)


@pytest.mark.parametrize(
    "preset, victims",
    [
        nightly("lab-victims-few-cells", "8"),
        nightly("nic100g-victims-few-cells", "2"),
        ("egresses-victims-few-cells", "16"),
    ],
)
def test_lane_with_victims_keeps_every_byte_under_stalls_and_backpressure(preset, victims):
    run("LaneCore", "lane.lane_bench", preset, VICTIMS=victims)
