"""CoDel against the bit-exact model: every verdict, at a packet per cycle to one queue and to many; and faults that the bench must find."""

import pytest

from bench.build import run
from bench.faults import must_be_found
from support.nightly import nightly

# A fault of each kind: what stands in the SystemVerilog, and what it becomes.
FAULTS = {
    "the state of the packet one cycle before is not seen": (r"s1Again = s2Valid &", "s1Again = 1'h0 &"),
    "a queue counts as settled before its count is written": (r"isSettled = held_changes ==", "isSettled = 1'h1 | held_changes =="),
    "a state that begins soon looks back 8 intervals": (r"\{c3_interval, 4'h0\}", "{1'h0, c3_interval, 3'h0}"),
    "a state that begins soon begins with a count of 1": (r"(c5Count <= c4_enters \?) \(c4Soon", r"\1 (1'h0"),
    "the product y y count is not subtracted from 3": (r"49'h300000000 -", "49'h200000000 -"),
    "a packet with the mtu behind it may be dropped": (r"io_backlog > io_config_settings_mtu", "io_backlog >= io_config_settings_mtu"),
    "the time of the first packet above the target is lost": (r"if \(held_isAbove\) begin", "if (1'h0) begin"),
    "a threshold in time marks nothing": (r"wants \? s2Marks : s2OverThreshold", "wants & s2Marks"),
    "a mark leaves the next drop where it was": (r"wants \? enters \| s2Marks :", "wants ? enters :"),
    "a restart keeps the time above the target": (r"held_isAbove <= _GEN_0 &", "held_isAbove <="),
    "a restart keeps the count": (r"held_isFresh <= ~_GEN_0 \|", "held_isFresh <="),
    "the square is stored a cycle too early": (r"(square = _GEN \? c14Square)", r"\1_held"),
    "busy falls while a count is written": (r"\|\{changing_12,\s+", "|{"),
    "another drop is told only an interval later": (r"\{1'h0, old_step\[31:1\]\}", "old_step"),
}  # fmt: skip
EVERY_RUN = list(FAULTS)[:3]


@pytest.mark.parametrize(
    "preset, queues", [("lab", "16"), nightly("many-queues", "1024")]
)  # memories in LUTs, in block RAM
def test_every_verdict_is_the_models(preset, queues):
    run("CodelUnit", "blocks.codel.codel_bench", preset, QUEUES=queues)


@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in FAULTS])
def test_a_fault_of_each_kind_is_found(fault, tmp_path):
    must_be_found("CodelUnit", "blocks.codel.codel_bench", FAULTS[fault], tmp_path)
