"""Tags where lanes to the wire can evict host frames that are queued. In every run: the same by one lane, test_corundum_card.py."""

import pytest
from bench.build import run_app
from corundum.shapes import benches, parameters
from nightly import nightly


@pytest.mark.parametrize("preset", [nightly("app10g-2-evict")])
def test_queued_host_frames_that_are_evicted(preset):
    run_app(benches("tags"), preset, parameters(2, 1, 64), EVICTS="1")
