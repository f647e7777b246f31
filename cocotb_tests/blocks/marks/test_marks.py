"""Marks of curves at departure against exact fractions; and faults that the bench must find."""

import pytest

from bench.build import run
from bench.faults import must_be_found
from support.nightly import nightly

BENCH = "blocks.marks.marks_bench"

# A fault of each kind: what stands in the SystemVerilog, and what it becomes.
FAULTS = {
    "a packet at the step itself is not marked": (r"\(s3IsStep \| ", "("),
    "a level below the segment is marked": (r"\$signed\(s3Distance\) > -45'sh1\n    & ", ""),
    "packets are not counted but bytes": (r"\? \{14'h0, io_packetsBehind\} :", "? io_behind :"),
    "the average is that of another colour": (r"(io_ports_averaged_valid & io_ports_averaged_bits_updated_)1", r"\g<1>0"),
    "two packets in a row have one draw": (r"draws_io_next = s1Decides \| stale", "draws_io_next = s1Decides & ~s2Decides | stale"),
    "a new seed comes a packet late": (r"stale <= io_ports_seed_valid & \(\|io_ports_seed_bits\)", "stale <= 1'h0"),
    "a flushed packet takes a draw": (r"\n? *& ~io_flushed", ""),
    "a packet that is not IP is marked": (r"\(io_taken_bits_queueEntry_isIp4 \| io_taken_bits_queueEntry_isIp6\)", "1'h1"),
    "a segment begins at max": (r"s2From <= s1IsFirst \?", "s2From <= 1'h0 ?"),
    "a threshold has other bits of the draw": (r"s2Share <= v\[31:15\]", "s2Share <= v[30:14]"),
}  # fmt: skip
EVERY_RUN = list(FAULTS)[:2]


def test_every_mark_is_that_of_red_in_fractions():
    run("CurveMarks", BENCH, "lab")


@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in FAULTS])
def test_a_fault_of_each_kind_is_found(fault, tmp_path):
    must_be_found("CurveMarks", BENCH, FAULTS[fault], tmp_path)
