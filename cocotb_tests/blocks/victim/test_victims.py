"""The victim search against its models: the Verilated block under a C++ bench, as Python is too slow for a million operations."""

import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from bench.build import BENCH, ROOT, emit, tool
from blocks.units.unkind_rams import make_unkind
from nightly import nightly
from vermilion.build import MAKE_VARIABLES, STANDARD, versions
from vermilion.steps import CORES, content, kept
from vermilion.verilated import whole

HERE = ROOT / "cocotb_tests/blocks/victim"
MODEL = ROOT / "sim/model"
CELLS = {"lab-few-cells": 256, "nic100g": 16384}
SEED = 20260101


def program(preset: str, folder=None, optimise: str = BENCH):
    """The bench with VictimPipeline in the build `preset`; `folder` holds other SystemVerilog for it."""
    verilog = sorted((folder or emit("VictimPipeline", preset)).glob("*.sv"))
    sources = [HERE / "victims_bench.cpp", MODEL / "victims.cpp", MODEL / "clocked_victims.cpp"]
    verilate = ["verilator", "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert"]
    verilate += ["-Wno-fatal", "--prefix", "VVictimPipeline", "--top-module", "VictimPipeline", "-o", "victims_bench"]
    verilate += ["-CFLAGS", f"-I{MODEL}"]
    make = ["make", "-f", "VVictimPipeline.mk", f"-j{CORES}"]

    def build(work):
        failure = "the bench of VictimPipeline could not be built"
        tool([*verilate, "--Mdir", work, *verilog, *sources], work, failure)
        tool([*make, *whole(work, "VVictimPipeline", optimise, STANDARD), *MAKE_VARIABLES], work, failure)

    made_from = [*verilog, *sources, *HERE.glob("*.h"), *MODEL.glob("*.h"), Path(inspect.getsourcefile(whole))]
    key = content(made_from, *verilate, *make, optimise, STANDARD, *MAKE_VARIABLES, *versions())
    return kept("victims-bench", key, build) / "victims_bench"


def unkind(folder, garbled: str):
    """A copy of the block whose RAMs give something else where an address is read while it is written: only forwarding makes it right."""
    shutil.copytree(emit("VictimPipeline", "lab-few-cells"), folder)
    assert make_unkind(folder, garbled) == 10  # all that lie in block RAM
    return folder


def run(bench, scenario: str, preset: str):
    return subprocess.run([bench, scenario, str(SEED), str(CELLS[preset])], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "scenario, preset",
    [
        ("spaced", "lab-few-cells"),
        ("spaced", "nic100g"),
        ("full-pace", "lab-few-cells"),
        ("resets", "lab-few-cells"),
        ("line-rate", "nic100g"),
    ],
)
def test_victims_survivors_order_and_clocks_are_the_models(scenario, preset):
    done = run(program(preset), scenario, preset)
    print(done.stdout)
    assert done.returncode == 0 and "\nok " in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


# The complement, and the lowest bit alone: of two bits that say which bank was written last the complement can read as another name of the same.
@pytest.mark.parametrize("garbled", ["~writeData", "writeData ^ 1"])
def test_nothing_counts_on_what_a_ram_gives_for_an_address_that_is_being_written(garbled, tmp_path):
    bench = program("lab-few-cells", unkind(tmp_path / "sv", garbled))
    for scenario in ("full-pace", "spaced"):
        done = run(bench, scenario, "lab-few-cells")
        assert done.returncode == 0 and "\nok " in done.stdout, done.stdout[-2000:]


def test_a_block_that_forwards_nothing_is_caught(tmp_path):
    folder, times = unkind(tmp_path / "sv", "~writeData"), 0
    for source in folder.glob("*.sv"):
        text, here = re.subn(r"^( +)(\w+_hit(?:_\d+)?) <= [^;]*;", r"\1\2 <= 1'h0;", source.read_text(), flags=re.M)
        source.write_text(text)
        times += here
    assert times > 30
    assert run(program("lab-few-cells", folder), "full-pace", "lab-few-cells").returncode != 0


# What must be caught, a fault of each kind: where it is put, what stands there, what it is made, and by which scenario if not full-pace.
FAULTS = {
    "a packet of the window that became first is evicted": (
        "VictimPipeline",
        r"promotions_pipe_v <= _order_io_promoted;",
        "promotions_pipe_v <= 1'h0;",
    ),
    "a marked packet leaves the lists twice": ("DistanceLists", r"& io_promoteListed\b", ""),
    "the newest of before keeps its old link": (
        "QueueOrder",
        r"_e1Newest_array_readData\[8:1\] == victim\b",
        "1'h0",
    ),
    "an unlinked packet's neighbour is not told": ("QueueOrder", r"io_unlink & ~\(_before", "io_unlink & (_before"),
    "a list that is emptied while it grows is lost": (
        "DistanceLists",
        r"(after_valid =\s+popped_has \|) io_push_valid",
        r"\1 1'h0 & io_push_valid",
    ),
    "a packet of the window that was evicted pays again": (
        "VictimPipeline",
        r"evictions_pipe_v <= evicted;",
        "evictions_pipe_v <= 1'h0;",
    ),
    "who became first while the window was looked up is forgotten": (
        "VictimPipeline",
        r"promotions_pipe_v_2 <= promotions_pipe_v_1;",
        "promotions_pipe_v_2 <= 1'h0;",
    ),
    "the window counts who was evicted": ("TailWindow", r"~io_remove\b", "1'h1"),
    "the arriving packet's cells are freed twice": ("VictimPipeline", r"evicted \? s5Cell : ", ""),
    "the second list is never asked": (
        "DistanceLists",
        r"io_wants_1 & _fronts_goes_valid",
        "1'h0 & _fronts_goes_valid",
    ),
    "a list's second packet goes in place of its first": (
        "DistanceLists",
        r"inP1_0 = inP1_REG &",
        "inP1_0 = 1'h1 | inP1_REG &",
    ),
    "a packet that became first in p1 goes": ("DistanceLists", r"inP1_0 = inP1_REG &", "inP1_0 = 1'h0 & inP1_REG &"),
    "a packet that becomes first in p0 goes": ("DistanceLists", r": io_isPromotedIf_[01]_0\b", ": 1'h0"),
    "a packet that becomes first in a victim's place goes": ("DistanceLists", r": io_isPromotedIf_2_0\b", ": 1'h0"),
    "the second list's head goes, first in p0": ("DistanceLists", r"(?<=[?:&] )io_isPromotedIf_[01]_1\b", "1'h0"),
    "the second list's head goes, first in a victim's place": (
        "DistanceLists",
        r"(?<=[?:&] )io_isPromotedIf_2_1\b",
        "1'h0",
    ),
    "who stands behind a promoted head goes, first in p0": (
        "DistanceLists",
        r"(?<=[?:&] )io_isPromotedIf_[01]_2\b",
        "1'h0",
    ),
    "the same in a victim's place": ("DistanceLists", r"(?<=[?:&] )io_isPromotedIf_2_2\b", "1'h0"),
    "who stands behind the victim ahead goes, first in its place": (
        "DistanceLists",
        r"(?<=[?:&] )io_isPromotedIf_2_3\b",
        "1'h0",
    ),
    "the arriving packet goes, first in a victim's place": (
        "DistanceLists",
        r"(?<=[?:&] )io_isPromotedIf_2_4\b",
        "1'h0",
    ),
    "an eviction does not replace the successor": ("QueueOrder", r"replaced =\s+io_unlink &", "replaced = 1'h0 &"),
    "the only packet has joined behind another": ("QueueOrder", r"ownPromoted = replaced", "ownPromoted = 1'h0"),
    "link2 is written one packet late": (
        "DistanceLists",
        r"((?:ofHead|popped)_packet_link2(?:_array \([^;]*\.writeData +\(|_held <= ))io_push_bits",
        r"\1pushTail_cell",
    ),
    "link2 of a packet that has left is written": ("DistanceLists", r"& ~pushToOne;", ";"),
    "a list that an eviction leaves with one packet is not known": (
        "DistanceLists",
        r": popped_has & ~popped_has2\)",
        ": 1'h0)",
    ),
    "a list that a promotion leaves with one packet is not known": (
        "DistanceLists",
        r"(\? ~promoted_has\s+: )promoted_has\s+&",
        r"\g<1>1'h0 &",
    ),
    "a second packet leaves a list with one": (
        "DistanceLists",
        r"io_push_valid & \(pushToEmpty \| pushToOne\)",
        "io_push_valid & pushToEmpty",
    ),
    "eviction and promotion of a list's last two packets leave one": ("DistanceLists", r"& ~together\)", ")"),
    "a cell keeps the link of the packet before": ("DistanceLists", r"io_push_valid & pushed_own;", "1'h0;"),
    "a cell keeps the second link of the packet before": (
        "DistanceLists",
        r"io_push_valid & pushed_own2;",
        "1'h0;",
    ),
    "a contest that a reset cuts off goes on": (
        "VictimPipeline",
        r"s4Wants_REG <= 1'h0",
        "s4Wants_REG <= s3Found_0",
        "resets",
    ),
    "an eviction leaves the bit of a list that it empties": (
        "DistanceLists",
        r"s5Valid & ~after_valid \?",
        "1'h0 & ~after_valid ?",
    ),
}


# A third, some in each block; each needs a build of its own.
EVERY_RUN = (
    "a packet of the window that became first is evicted",
    "the newest of before keeps its old link",
    "a list that is emptied while it grows is lost",
    "the window counts who was evicted",
    "the second list is never asked",
    "a packet that becomes first in p0 goes",
    "the arriving packet goes, first in a victim's place",
    "the only packet has joined behind another",
    "a list that a promotion leaves with one packet is not known",
    "a cell keeps the link of the packet before",
    "a contest that a reset cuts off goes on",
)


def test_every_block_has_a_fault_in_every_run():
    assert {FAULTS[fault][0] for fault in EVERY_RUN} == {block for block, *_ in FAULTS.values()}


def test_the_blocks_own_assertions_are_in_the_bench():
    text = "".join(path.read_text() for path in (program("lab-few-cells").parent).glob("*.cpp"))
    assert text.count("Assertion failed") > 10


@pytest.mark.parametrize("fault", [fault if fault in EVERY_RUN else nightly(fault) for fault in FAULTS])
def test_a_fault_of_each_kind_is_caught(fault, tmp_path):
    block, stands, made, scenario = (*FAULTS[fault], "full-pace")[:4]
    for source in emit("VictimPipeline", "lab-few-cells").glob("*.sv"):
        text = source.read_text()
        if source.stem == block:
            text, times = re.subn(stands, made, text)
            assert times, f"{stands} does not stand in {source}"
        (tmp_path / source.name).write_text(text)
    bench = program("lab-few-cells", tmp_path, "-O0")  # a fault ends it soon
    done = run(bench, scenario, "lab-few-cells")
    assert done.returncode != 0, done.stdout[-2000:]
