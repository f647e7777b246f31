"""Queue numbers with gaps: the hardware scans up to the highest number, not as many queues as there are tables."""

import pytest

from vermilion.configuration import config
from vermilion.profile import quantise

RATE = 10**11


def asked(*indices):
    """Queues of these numbers with a burst of a byte each, which is shorter than a scan of the shapers takes."""
    queues = [{"index": i, "name": str(i), "rate": RATE, "burst": 1522} for i in indices]
    queues[0]["default"] = True
    return config.parse({"port": {"rate": RATE, "burst": 1522}, "queue": queues}, 64, 0)


@pytest.mark.parametrize("indices", [(0, 63), (63,), (5, 40), (31, 2, 17)])
def test_bursts_are_those_of_the_highest_number(indices):
    record = quantise.hardware(asked(*indices))
    whole = quantise.hardware(asked(*range(max(indices) + 1)))
    few = quantise.hardware(asked(*range(len(indices))))
    assert record["port"] == whole["port"] != few["port"]
    bursts = {queue["index"]: queue["burst"] for queue in whole["queues"]}
    assert all(queue["burst"] == bursts[queue["index"]] for queue in record["queues"])
    assert quantise.queue_count(asked(*indices)) == 1 + max(indices)
