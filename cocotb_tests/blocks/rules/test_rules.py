"""The rule table downstream of the parser, against plain comparisons of frames as bytes; and faults that the bench must find."""

import pytest

from bench.build import run
from bench.faults import must_be_found
from support.nightly import NIGHTLY, nightly

# A fault of each kind: its module, what stands in the SystemVerilog, and what it becomes.
FAULTS = {
    "a rule that is off matches": ("RuleWriter", r"s1On <= _s1On_T\[0\]", "s1On <= 1'h1"),
    "columns go to the bank that packets read": ("RuleTable", r"\.io_writeBank(\s+)\(~bank\)", r".io_writeBank\1(bank)"),
    "a packet has the actions of the other bank": ("RuleTable", r"s3Bank <= s3Bank_held_1", "s3Bank <= ~s3Bank_held_1"),
    "ranges change with the commit, not with the rules": ("RuleTable", r"if \(follows\) begin", "if (io_host_commit) begin"),
    "a packet's action is that of the newest table": ("RuleTable", r"s3Bank <= s3Bank_held_1", "s3Bank <= bank"),
    "a bit outside the mask is not compared": ("RuleWriter", r"== _array_readData\[3:0\]", "== (_array_readData[3:0] & _array_1_readData[3:0])"),
    "each packet is counted": ("RuleTable", r"counts_held_3 <= counts_held_2", "counts_held_3 <= 1'h1"),
    "bytes are those of another packet": ("RuleTable", r"sum_bytes_held_3 <= sum_bytes_held_2", "sum_bytes_held_3 <= sum_bytes_held_1"),
    "the table after a reset has rules": ("RuleTable", r"hasRules <= 1'h0;", "hasRules <= 1'h1;"),
    "a tag that the frame's end cuts counts": ("RulesAlone", r"\(\|\(held_bytes\[7:4\]\)\)", "1'h1"),
}  # fmt: skip
EVERY_RUN = list(FAULTS)[:2]


def test_every_answer_is_that_of_plain_comparisons():
    run("RulesAlone", "blocks.rules.rules_bench", PACKETS="1000000" if NIGHTLY else "100000")


@pytest.mark.parametrize("preset, queues", [nightly("odd", "2"), nightly("many-queues", "1024")])
def test_16_and_256_rules_are_those_of_plain_comparisons(preset, queues):
    run("RulesAlone", "blocks.rules.rules_bench", preset, PACKETS="100000", QUEUES=queues)


@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in FAULTS])
def test_a_fault_of_each_kind_is_found(fault, tmp_path):
    module, *change = FAULTS[fault]
    must_be_found("RulesAlone", "blocks.rules.rules_bench", tuple(change), tmp_path, module, PACKETS="200000")
