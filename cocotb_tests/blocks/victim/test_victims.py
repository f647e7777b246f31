"""The victim search against its models: the Verilated block under a C++ bench, as Python is too slow for a million operations."""

import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.build import BENCH, ROOT, emit, tool
from blocks.units.unkind_rams import make_unkind
from support.nightly import nightly
from vermilion.toolchain.build import MAKE_VARIABLES, STANDARD, versions
from vermilion.toolchain.steps import CORES, content, kept
from vermilion.toolchain.verilated import whole

HERE = ROOT / "cocotb_tests/blocks/victim"
MODEL = ROOT / "sim/model"
CELLS = {"lab-few-cells": 256, "nic100g": 16384, "lab-128-queues": 4096}
# Kinds of RAMs that are block RAM; with 128 queues those of a record per queue are, too.
IN_BLOCK_RAM = {"lab-few-cells": 8, "lab-128-queues": 15}
SEED = 20260101


def program(preset: str, folder=None, optimise: str = BENCH):
    """The bench with VictimPipeline in the build `preset`; `folder` holds other SystemVerilog for it."""
    verilog = sorted((folder or emit("VictimPipeline", preset)).glob("*.sv"))
    sources = [HERE / "victims_bench.cpp", MODEL / "victims.cpp", MODEL / "clocked_victims.cpp"]
    verilate = ["verilator", "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert"]
    verilate += ["-Wno-fatal", "--prefix", "VVictimPipeline", "--top-module", "VictimPipeline", "-o", "victims_bench"]
    verilate += ["-CFLAGS", f"-I{MODEL} -I{ROOT / 'sw_driver/lib'}"]
    make = ["make", "-f", "VVictimPipeline.mk", f"-j{CORES}"]

    def build(work):
        failure = "the bench of VictimPipeline could not be built"
        tool([*verilate, "--Mdir", work, *verilog, *sources], work, failure)
        tool([*make, *whole(work, "VVictimPipeline", optimise, STANDARD), *MAKE_VARIABLES], work, failure)

    made_from = [
        *verilog,
        *sources,
        *HERE.glob("*.h"),
        *MODEL.glob("*.h"),
        *(ROOT / "sw_driver/lib").glob("*.h"),
        Path(inspect.getsourcefile(whole)),
    ]
    key = content(made_from, *verilate, *make, optimise, STANDARD, *MAKE_VARIABLES, *versions())
    return kept("victims-bench", key, build) / "victims_bench"


def unkind(folder, garbled: str, preset: str = "lab-few-cells"):
    """A copy of the block whose RAMs give something else where an address is read while it is written: only forwarding makes it right."""
    shutil.copytree(emit("VictimPipeline", preset), folder)
    assert make_unkind(folder, garbled) == IN_BLOCK_RAM[preset]
    return folder


def places(preset: str) -> int:
    """Packets of a queue's head: as many as the width of their names says."""
    verilog = (emit("VictimPipeline", preset) / "VictimPipeline.sv").read_text()
    return 2 << int(re.search(r"\[(\d+):0\] *io_newHead_bits_place\b", verilog)[1])


def run(bench, scenario: str, preset: str):
    words = [bench, scenario, str(SEED), str(CELLS[preset]), str(places(preset))]
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "scenario, preset",
    [
        ("spaced", "lab-few-cells"),
        nightly("spaced", "nic100g"),
        ("full-pace", "lab-few-cells"),
        nightly("full-pace", "nic100g"),
        ("resets", "lab-few-cells"),
        ("line-rate", "nic100g"),
    ],
)
def test_victims_survivors_order_and_clocks_are_the_models(scenario, preset):
    done = run(program(preset), scenario, preset)
    print(done.stdout)
    assert done.returncode == 0 and "\nok " in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]


# The complement, and the lowest bit alone: of two bits that say which bank was written last the complement can read as another name of the same.
@pytest.mark.parametrize(
    "preset, garbled",
    [
        ("lab-few-cells", "~writeData"),
        nightly("lab-few-cells", "writeData ^ 1"),
        nightly("lab-128-queues", "~writeData"),
    ],
)
def test_nothing_counts_on_what_a_ram_gives_for_an_address_that_is_being_written(preset, garbled, tmp_path):
    bench = program(preset, unkind(tmp_path / "sv", garbled, preset))
    for scenario in ("full-pace", "spaced"):
        done = run(bench, scenario, preset)
        assert done.returncode == 0 and "\nok " in done.stdout, done.stdout[-2000:]


def test_a_block_that_forwards_nothing_is_caught(tmp_path):
    folder, times = unkind(tmp_path / "sv", "~writeData"), 0
    for source in folder.glob("*.sv"):
        text, here = re.subn(r"\w+_lastEnable(?:_\d+)?\s+&\s+(?=\w+_lastAddress)", "1'h0 & ", source.read_text())
        source.write_text(text)
        times += here
    assert times > 25
    assert run(program("lab-few-cells", folder), "full-pace", "lab-few-cells").returncode != 0


# What must be caught, a fault of each kind: where it is put, what stands there, what it is made, and by which scenario if not full-pace.
FAULTS = {
    "the newest packet goes, and the one before keeps its link": (
        "QueueOrder",
        r"isNewest = _isNewest_array_readData\[8:1\] == ~unlinkComplement",
        "isNewest = 1'h0",
    ),
    "the packet before one that goes is not told": ("QueueOrder", r"= rewrites & ~io_unlinksFirst;", r"= 1'h0;"),
    "the packet behind one that goes is not told": (
        "QueueOrder",
        r"rejoins & ~(\(_after_T_\d+\[0\]\))",
        r"rejoins & \1",
    ),
    "the first packet goes, and nobody is first": ("QueueOrder", r"= rewrites & io_unlinksFirst;", r"= 1'h0;"),
    "a packet that goes becomes head in that clock": (
        "QueueOrder",
        r"firstGoes = io_unlink & ofFirst;",
        r"firstGoes = 1'h0;",
    ),
    "a packet that is marked in a queue is told to nobody": (
        "QueueOrder",
        r"rewrites = io_unlink \| io_mark;",
        r"rewrites = io_unlink;",
    ),
    "a packet becomes head that is marked in that clock": ("QueueOrder", r"= io_mark & ofFirst;", r"= 1'h0;"),
    "a marked packet leaves the lists twice": (
        "QueueOrder",
        r"io_unlinkRank_slot, 2'h1,",
        r"io_unlinkRank_slot, 2'h3,",
    ),
    "a marked packet is not marked": ("QueueOrder", r"io_unlinkRank_slot, 2'h1,", r"io_unlinkRank_slot, 2'h0,"),
    "the only packet goes while another comes": (
        "QueueOrder",
        r"followsIt = io_enqueue_valid &",
        "followsIt = 1'h0 &",
    ),
    "a list that is emptied while it grows is lost": (
        "DistanceLists",
        r"(remainingWith_0_valid =\s+)io_push_valid",
        r"\1 1'h0 & io_push_valid",
    ),
    "the second list is never asked": ("DistanceLists", r"& io_wants_1", "& 1'h0"),
    "a head that was popped two clocks ahead goes": (
        "DistanceLists",
        r"(_s3Heads_T_\d+ =\s+)pops\s+&",
        r"\1 1'h0 &",
    ),
    "the victim of the clock ahead goes again": (
        "DistanceLists",
        r"(popped_[01] <=\s+)popsNext\s+&",
        r"\1io_isListed &",
    ),
    "a packet that became head in the clock ahead goes": (
        "DistanceLists",
        r"(popped_[01] <=\s+)popsNext\s+&",
        r"\1io_candidate_valid_0 &",
    ),
    "a cell keeps the link of the packet before": ("DistanceLists", r"io_push_valid & pushed_own;", "1'h0;"),
    "an eviction leaves the bit of a list that it empties": (
        "DistanceLists",
        r"isVictim & ~\(_remaining_T_\d+\[\d+\]\) \? popBit",
        r"1'h0 ? popBit",
    ),
    "a new head leaves the bit of a list that it empties": (
        "DistanceLists",
        r"\(_remaining_T_\d+\[\d+\] \? 192'h0 : popBit\)",
        r"192'h0",
    ),
    "one place more than there is": ("HeadPlaces", r"!= 3'h4;", "!= 3'h5;"),
    "a packet that is taken asks for nobody": ("HeadPlaces", r"takenAsks =\s+isTaken\s+&", "takenAsks = 1'h0 &"),
    "a packet that is taken asks for one too many": (
        "HeadPlaces",
        r"(: _inBody\w*) > ",
        r"\1 >= ",
    ),
    "a void request keeps its place": ("HeadPlaces", r"\{2'h0, io_void\}", "3'h0"),
    "the only packet becomes head twice": (
        "HeadPlaces",
        r"io_makesHead & s5Queue == makesHeadAhead_held\s+\?",
        "1'h0 ?",
    ),
    "an evicted packet waits for its move to the head": ("HeadPlaces", r"\{8'h0, ~io_evicted\}", "9'h1"),
    "a taken packet's request goes with an enqueued one's": (
        "HeadPlaces",
        r"io_issue & ~first",
        "io_issue",
    ),
    "the window counts who was evicted": ("TailWindow", r"~io_remove\}", "1'h1}"),
    "an evicted packet leaves its gap": ("TailWindow", r"io_remove\s+& (?=\(?(?:hits|_afterGap))", "1'h0 & "),
    "of equals the newer one is the victim": ("TailWindow", r"(readData\[\d+:\d+\]) <= (?=_s1Word)", r"\1 < "),
    "a new head stays in the window": ("TailWindow", r"REG <= io_newHead;", "REG <= 1'h0;"),
    "the arriving packet's cells are freed twice": ("VictimPipeline", r"evicted \? s5Cell : ", ""),
    "a push-out that a reset cuts off goes on": (
        "VictimPipeline",
        r"s4Wants_REG <= 1'h0",
        "s4Wants_REG <= s3Found_0",
        "resets",
    ),
    "a packet of the window that has left is the victim": (
        "VictimPipeline",
        r"unlinks_pipe_v <= order_io_unlink;",
        "unlinks_pipe_v <= 1'h0;",
    ),
    "the first packet of a body is not known as such": (
        "VictimPipeline",
        r"s5Serves \| ~s5Complement == s5First_cell",
        r"s5Serves",
    ),
    "a packet of the tail-drop form comes into a list": (
        "VictimPipeline",
        r"(valids_1 & arrivals_1_action == 2'h0) & ~_s4Admits_T_\d+;",
        r"\1;",
    ),
    "a new head waits for ever": ("VictimPipeline", r"waited == 4'h8", "1'h0"),
    "a new head leaves another queue": (
        "VictimPipeline",
        r"(io_unlinkQueue\s+\()s4Serves \? s4HeadQueue : ",
        r"\1",
    ),
}


# A third, some in each block; each needs a build of its own.
EVERY_RUN = (
    "the newest packet goes, and the one before keeps its link",
    "a packet that goes becomes head in that clock",
    "a list that is emptied while it grows is lost",
    "a packet that became head in the clock ahead goes",
    "a cell keeps the link of the packet before",
    "a void request keeps its place",
    "the only packet becomes head twice",
    "the window counts who was evicted",
    "a packet of the window that has left is the victim",
    "a new head waits for ever",
    "a push-out that a reset cuts off goes on",
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
