"""DualPI2 against the bit-exact model: every verdict, with a packet of any pair in each cycle; and faults that the bench must find."""

import pytest

from bench.build import run
from bench.faults import must_be_found
from support.nightly import nightly

# A fault of each kind: what stands in the SystemVerilog, and what it becomes.
FAULTS = {
    "one draw decides on a packet of C": (r"(s2Draws_0 <= s2Base) & s2Draws_1 <= s2Base", r"\1"),
    "a new state keeps its probability": (r"u_begins \| (\$signed\(uNew\) < )", r"\1"),
    "a negative change is rounded away from 0": (r"\? 9'hFF : 9'h0", "? 9'h0 : 9'h0"),
    "L in overload is dropped where it may not be": (r"overload & s2MayDrop & squared", "overload & squared"),
    "C in overload is marked": (r"squared & s2_ect & ~overload", "squared & s2_ect"),
    "L in overload without ECT is dropped by one draw": (r"\n    & \(s2_ect \| ~overload\)", ""),
    "p' exceeds its limit": (r"\? u_config_most : uNew", "? uNew[31:0] : uNew"),
    "2 mtu of backlog are not enough": (r">= (\{8'h0, io_seen_config_mtu, 1'h0\})", r"> \1"),
    "the step marks nothing": (r"s2Stepped <= s1_sojourn", "s2Stepped <= 1'h0 & s1_sojourn"),
}
EVERY_RUN = list(FAULTS)[:2]


def test_every_verdict_is_the_models():
    run("DualPi2Unit", "blocks.dualpi2.dualpi2_bench", "lab")


@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in FAULTS])
def test_a_fault_of_each_kind_is_found(fault, tmp_path):
    must_be_found("DualPi2Unit", "blocks.dualpi2.dualpi2_bench", FAULTS[fault], tmp_path)
