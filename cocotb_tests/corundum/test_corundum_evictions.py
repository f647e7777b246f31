"""Tags where lanes to the wire can evict host frames that are queued."""

from bench.build import run_app
from corundum.shapes import benches, parameters


def test_queued_host_frames_that_are_evicted():
    run_app(benches("tags"), "app10g-2-evict", parameters(2, 1, 64), EVICTS="1")
