"""Tags where lanes to the wire can evict host frames that are queued. In every run: the same by one lane, test_corundum_card.py."""

import pytest

from bench.build import run_app
from corundum.shapes import benches, parameters
from support.nightly import nightly


@pytest.mark.parametrize(
    "preset, shape",
    [nightly("app10g-2-evict", parameters(2, 1, 64)), nightly("card-1x100g-few", parameters(1, 1, 512))],
)
def test_queued_host_frames_that_are_evicted(preset, shape):
    run_app(benches("tags"), preset, shape, EVICTS="1")
