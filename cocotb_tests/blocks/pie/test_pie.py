"""PIE against the bit-exact model: every verdict, at an arrival and a departure per cycle, with updates at any time; and faults that the bench must find."""

import pytest

from bench.build import run
from bench.faults import must_be_found
from support.nightly import nightly

# A fault of each kind: what stands in the SystemVerilog, and what it becomes.
FAULTS = {
    "the sum of the packet one cycle before is not seen": (r"source_kept <= ", "source_kept <= 1'h0 & "),
    "a restart keeps the accumulated probability": (r"_sumRestart_readData \+ 2'h1", "_sumRestart_readData"),
    "a delay counts with nothing behind the packet": (r"d1_isLast \| d1Sojourn", "d1Sojourn"),
    "a restart keeps the burst allowance": (r"_burstRestart_readData \+ 2'h1", "_burstRestart_readData"),
    "a lost packet leaves its sum to the one after it": (r"= again & io_lost", "= 1'h0"),
    "a lost packet leaves its sum to the one two after it": (r"a5Second & io_lost", "1'h0"),
    "a lost packet leaves its sum in the memory": (r"a8Lost <= io_lost", "a8Lost <= 1'h0"),
    "a sum under way is not seen three packets later": (r"a5Third = ", "a5Third = 1'h0 & "),
    "a restart is not seen by the packet behind": (r"a6Restart != a5Restart", "1'h0"),
    "a delay above 250 ms adds nothing": (r"uDelay > 26'h3B9ACA \?", "1'h0 ?"),
    "packets are early below half of the target": (r"& ~a2Low", ""),
    "packets are early with 2 mtu behind them and no more": (r"< (\{8'h0, io_config_mtu, 1'h0\})", r"<= \1"),
    "a packet of mtu bytes counts as longer": (r"<= io_config_mtu;", "< io_config_mtu;"),
}
EVERY_RUN = list(FAULTS)[:2]


@pytest.mark.parametrize(
    "preset, queues", [("lab", "16"), nightly("many-queues", "1024")]
)  # memories in LUTs, in block RAM
def test_every_verdict_is_the_models(preset, queues):
    run("PieUnit", "blocks.pie.pie_bench", preset, QUEUES=queues)


@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in FAULTS])
def test_a_fault_of_each_kind_is_found(fault, tmp_path):
    must_be_found("PieUnit", "blocks.pie.pie_bench", FAULTS[fault], tmp_path)
