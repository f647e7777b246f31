"""What the RTL leaves undefined changes nothing: power-up state, don't-cares, and RAMs where a read meets a write.

Builds of the variant "undefined" (`sim/vermilion/toolchain/undefined.py`) run random configurations with short random captures (`random_lanes.py`).
"""

import random
import re
import subprocess

import pytest

from support import random_lanes
from support.engine_outputs import run, same, write_words
from support.nightly import nightly
from vermilion.toolchain import build, undefined

pytestmark = pytest.mark.slow

FRAMES = 300
# Random configurations by build. In the first, records of a queue lie in RAMs that are read a clock later, as in lanes with many queues.
COLLISIONS = {"lab-128-queues": 60, "nic10g-all": 40}


def drawn(tmp_path, preset, seed, frames=FRAMES):
    """Words and capture of one seed."""
    rng, shape = random.Random(seed), build.shape(preset)
    words = write_words(tmp_path / "words.json", random_lanes.configuration(rng, shape))
    return words, random_lanes.capture(tmp_path / "in.pcap", rng, frames)


@pytest.mark.parametrize(
    "preset, variant", [nightly("lab", ""), nightly("lab-128-queues", "undefined"), nightly("nic10g-all", "")]
)
def test_power_up_state_does_not_matter(tmp_path, preset, variant):
    """Ten seeds of random state, with resets of 1 to 8 clocks: outputs equal those of a run that begins with zeros.

    That is a run of the ordinary build; for `lab-128-queues`, of which no other test has one, a run of the same program without seeds.
    """
    plain, random_state = build.simulator(preset, variant), build.simulator(preset, "undefined")
    for seed in range(1, 11):
        print("seed", seed)
        words, capture = drawn(tmp_path, preset, seed, 2 * FRAMES)
        expected = run(plain, tmp_path, words, capture)
        got = run(random_state, tmp_path, words, capture, "--power-up", seed)
        got.check()
        assert got.capture == expected.capture
        assert got.of_the_rtl() == expected.of_the_rtl()


@pytest.mark.parametrize("preset", [*map(nightly, COLLISIONS)])
def test_collisions_do_not_matter(tmp_path, preset):
    """RAMs give random bits where a read meets a write, from random state: replay, accounting and the model's outputs agree."""
    program = build.simulator(preset, "undefined")
    for seed in range(1, COLLISIONS[preset] + 1):
        print("seed", seed)
        words, capture = drawn(tmp_path, preset, seed)
        rtl = run(program, tmp_path, words, capture, "--collisions", seed, "--power-up", seed)
        rtl.check()
        same(rtl, run(program, tmp_path, words, capture, "--engine", "model"))


RAM = """module ram(
  input  [1:0] R0_addr,
  input         R0_en,
                R0_clk,
  output [39:0] R0_data,
  input  [1:0] W0_addr,
  input         W0_en,
                W0_clk,
  input  [39:0] W0_data,
  input  [1:0] W0_mask
);

  reg [39:0] Memory[0:3];
  reg        _R0_en_d0;
  reg [1:0]  _R0_addr_d0;
  always @(posedge R0_clk) begin
    _R0_en_d0 <= R0_en;
    _R0_addr_d0 <= R0_addr;
  end // always @(posedge)
  always @(posedge W0_clk) begin
    if (W0_en & W0_mask[0])
      Memory[W0_addr][32'h0 +: 20] <= W0_data[19:0];
    if (W0_en & W0_mask[1])
      Memory[W0_addr][32'h14 +: 20] <= W0_data[39:20];
  end // always @(posedge)
  assign R0_data = _R0_en_d0 ? Memory[_R0_addr_d0] : 40'bx;
endmodule
"""
ARRAY = """module BlockRam_4x40(
  input clock, write,
  input [1:0] writeAddress, readAddress,
  input [39:0] writeData,
  output [39:0] readData
);
  (* ram_style = "block" *) reg [39:0] memory [0:3];
  reg [39:0] held;
  always @(posedge clock) if (write) memory[writeAddress] <= writeData;
  always @(posedge clock) held <= memory[readAddress];
  assign readData = held;
endmodule
"""
# Its ports as those of firtool's, for the bench; it has no masks, and a read that meets a write gives the old word.
AS_FIRTOOLS = """
module ram(input [1:0] R0_addr, input R0_en, R0_clk, output [39:0] R0_data, input [1:0] W0_addr, input W0_en, W0_clk, input [39:0] W0_data,
  input [1:0] W0_mask);
  BlockRam_4x40 array(.clock(W0_clk), .write(W0_en & |W0_mask), .writeAddress(W0_addr), .writeData(W0_data), .readAddress(R0_addr),
    .readData(R0_data));
endmodule
"""
# Reads meet writes of both halves; then the mask is empty, the addresses differ, and the write is off.
BENCH = """module bench;
  reg clock = 0, writes;
  reg [1:0] at, mask;
  reg [39:0] data = 40'h5;
  wire [39:0] got;
  ram ram(.R0_addr(2'd1), .R0_en(1'b1), .R0_clk(clock), .R0_data(got), .W0_addr(at), .W0_en(writes), .W0_clk(clock),
    .W0_data(data), .W0_mask(mask));
  task clocked(input [1:0] address, input [1:0] bytes, input enable, input [8*10:1] name);
    begin
      at = address; mask = bytes; writes = enable;
      #1 clock = 1; #1 clock = 0;
      $display("%0s %0d", name, got === data);
    end
  endtask
  initial begin
    clocked(1, 3, 1, "meets");
    clocked(2, 3, 1, "apart"); clocked(1, 0, 1, "masked"); clocked(1, 3, 0, "off");
    clocked(1, 2, 1, "half");
    clocked(0, 3, 1, "after");
  end
endmodule
"""


def simulated(folder, text, *plusargs):
    """What the bench prints of a RAM: whether each clock's read gave the newest data."""
    (folder / "ram.sv").write_text(text)
    (folder / "bench.sv").write_text(BENCH)
    subprocess.run(
        ["iverilog", "-g2012", "-s", "bench", "-o", folder / "out", folder / "ram.sv", folder / "bench.sv"], check=True
    )
    done = subprocess.run(["vvp", folder / "out", *plusargs], capture_output=True, text=True, check=True)
    return {name: number == "1" for name, number in map(str.split, done.stdout.splitlines())}


def test_a_read_that_meets_a_write_is_random(tmp_path):
    """Only such a read is random, only with the plusarg, and the next one gives what was written."""
    newest = dict.fromkeys(("meets", "apart", "masked", "off", "half", "after"), True)
    made = undefined.collide(RAM)
    assert simulated(tmp_path, RAM) == simulated(tmp_path, made) == newest
    assert simulated(tmp_path, made, "+collisions") == newest | {"meets": False, "half": False}


def test_a_read_of_an_array_that_meets_a_write_is_random(tmp_path):
    """The same of the project's own RAM: where a read meets a write it gives the old word, or random bits."""
    old = dict.fromkeys(("meets", "apart", "masked", "half", "off", "after"), True) | {"meets": False}  # nothing before
    made = undefined.collide(ARRAY)
    assert simulated(tmp_path, ARRAY + AS_FIRTOOLS) == simulated(tmp_path, made + AS_FIRTOOLS) == old
    assert simulated(tmp_path, made + AS_FIRTOOLS, "+collisions") == old | {"half": False}
    assert "held <= collisions & write & writeAddress == readAddress ? {$urandom, $urandom}" in made


@pytest.mark.parametrize(
    "old, new", [("_R0_en_d0 ? ", "_R0_en_d1 ? "), ("assign R0_data", "assign  R0_data")], ids=["enable", "spaces"]
)
def test_an_unknown_ram_is_refused(old, new):
    """A synchronous RAM of another form does not stay without collisions unnoticed."""
    with pytest.raises(build.BuildError, match="collisions cannot be put"):
        undefined.collide(RAM.replace(old, new), "ram")


def test_every_synchronous_ram_has_collisions():
    """Of every RAM of the builds that are tested, each read port."""
    for preset in COLLISIONS:
        folder = build.undefined_verilog(preset, build.system_verilog(preset, build.quiet), build.quiet)
        reads = [
            (
                path.name,
                len(re.findall(r"^    _R\d+_addr_d0 <= |held <= .*memory\[readAddress\];$", path.read_text(), re.M)),
            )
            for path in folder.glob("*.sv")
        ]
        collides = {
            path.name: len(re.findall(r"_collides <= |held <= collisions", path.read_text()))
            for path in folder.glob("*.sv")
        }
        assert sum(count for _, count in reads) > 15
        assert all(collides[name] == count for name, count in reads), preset
        assert "initial cut = 1'h0;" in (folder / "Ingress.sv").read_text()


@pytest.mark.parametrize("option", ["--power-up", "--collisions"])
def test_the_plain_build_refuses(tmp_path, option):
    """A seed is refused where nothing would be random."""
    words, capture = drawn(tmp_path, "lab", 1, 10)
    command = [build.simulator("lab"), "--in", capture, "--config-words", words, option, "1"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 2 and f"error {option} is 1" in done.stdout
