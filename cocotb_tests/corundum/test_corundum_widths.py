"""Other widths and shapes of the NIC's block."""

import pytest
from bench.build import run_app
from corundum.shapes import ALL, FEW, LONG, parameters


@pytest.mark.parametrize(
    "modules, preset, shape",
    [
        pytest.param(ALL, "app25g-2-few", parameters(2, 1, 128), marks=LONG),
        (ALL, "app100g-1-few", parameters(1, 1, 512)),
        pytest.param(FEW, "app10g-1-bare", parameters(1, 1, 64, PTP_TS_ENABLE=0), marks=LONG),
        pytest.param(FEW, "app10g-1-few-nots", parameters(1, 1, 64, PTP_TS_ENABLE=0), marks=LONG),
    ],
)
def test_other_widths_and_shapes(modules, preset, shape):
    run_app(modules, preset, shape, optimise="-O0")  # runs for less time than -O1 takes to compile
