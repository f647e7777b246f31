"""Other widths and shapes of the NIC's block."""

import pytest

from bench.build import run_app
from corundum.shapes import ALL, FEW, benches, parameters
from support.nightly import nightly


@pytest.mark.parametrize(
    "modules, preset, shape",
    [
        nightly(ALL, "app25g-2-few", parameters(2, 1, 128)),
        (benches("tags", "line"), "app100g-1-few", parameters(1, 1, 512)),
        nightly(benches("routes", "registers"), "app100g-1-few", parameters(1, 1, 512)),
        nightly(FEW, "app10g-1-bare", parameters(1, 1, 64, PTP_TS_ENABLE=0)),
        nightly(FEW, "app10g-1-few-nots", parameters(1, 1, 64, PTP_TS_ENABLE=0)),
    ],
)
def test_other_widths_and_shapes(modules, preset, shape):
    run_app(modules, preset, shape, optimise="-O0")  # runs for less time than -O1 takes to compile
