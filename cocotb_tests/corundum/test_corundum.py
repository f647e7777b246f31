"""The app block in the shell that Corundum's core instantiates, among models of that core's engines, MACs and host.

A port an interface throughout: the shell refuses any `PORTS_PER_IF` but 1 on purpose, as every parameter that does not
fit. What it refuses, and in which words, is tested in sim/tests/test_corundum_shell.py.

25G and the build without timestamps are run with `VERMILION_LONG=1` alone: the suite's time is for the widest and the narrowest.
"""

import os

import pytest
from bench.build import run_app

APP_ID = 0x564D0001


def parameters(interfaces: int, ports: int, bits: int, **others: int) -> dict[str, int]:
    """What Corundum sets for so many interfaces, ports each, and bits of the sync stage."""
    direct = 64 if bits == 128 else bits  # at 25G the MACs have 64 bits
    widths = {"AXIS_DATA_WIDTH": direct, "AXIS_SYNC_DATA_WIDTH": bits, "AXIL_APP_CTRL_ADDR_WIDTH": 24}
    return {"APP_ID": APP_ID, "IF_COUNT": interfaces, "PORTS_PER_IF": ports} | widths | others


def benches(*names: str) -> str:
    return ",".join(f"corundum.{name}_bench" for name in names)


LONG = [
    pytest.mark.long,
    pytest.mark.skipif(not os.environ.get("VERMILION_LONG"), reason="run with VERMILION_LONG=1"),
]

ALL = benches("tags", "line", "routes", "registers")
FEW = benches("routes", "registers")


def test_two_ports_of_10g():
    run_app(ALL, "app10g-2-few", parameters(2, 1, 64))


def test_queued_host_frames_that_are_evicted():
    run_app(benches("tags"), "app10g-2-evict", parameters(2, 1, 64), EVICTS="1")


def test_two_ports_of_10g_by_one_lane():
    run_app(benches("tags", "routes", "registers"), "card-2x10g-few", parameters(2, 1, 64))
    run_app(benches("tags"), "card-2x10g-few", parameters(2, 1, 64), EVICTS="1")


@pytest.mark.parametrize(
    "modules, preset, shape",
    [
        pytest.param(ALL, "app25g-2-few", parameters(2, 1, 128), marks=LONG),
        (ALL, "app100g-1-few", parameters(1, 1, 512)),
        pytest.param(benches("line"), "card-2x10g-few", parameters(2, 1, 64), marks=LONG),
        pytest.param(FEW, "app10g-1-bare", parameters(1, 1, 64, PTP_TS_ENABLE=0), marks=LONG),
    ],
)
def test_other_widths_and_shapes(modules, preset, shape):
    run_app(modules, preset, shape, optimise="-O0")  # runs for less time than -O1 takes to compile


def test_what_the_shell_refuses_is_not_built():
    with pytest.raises(RuntimeError, match="PORTS_PER_IF is 2; legal is 1"):
        run_app(FEW, "app10g-2-few", parameters(1, 2, 64))
