"""Makes the benches, the package `vermilion` and the model's bindings importable, here and in the simulator (which gets sys.path)."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / folder) for folder in ("cocotb_tests", "sim", "sim/tests")]

import pytest

from vermilion.testing import suite

# These files begin first, so that no worker ends with one of them alone.
LONGEST = (
    "test_corundum",
    "test_lane",
    "test_victims",
    "test_corundum_widths",
    "test_corundum_card",
    "test_corundum_evictions",
)
LONGEST += ("test_policy", "test_upsets", "test_ends", "test_line_rate")


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(items):
    """A bench builds RTL: it is slow if it is marked as nothing else."""
    suite.mark_quick(items, "slow")
    rank = {name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.stem, len(rank)))
