"""Makes a build's protected memories open to a bench, and as unkind as a block RAM may be.

A copy of the SystemVerilog is changed: every array of a `ScrubbedRam` can be read and written through VPI, and gives the complement of the word that
is being written to whoever reads it in that clock, and to the port that writes. `fault` in every ScrubbedRam, if not 0, makes it faulty in one of the
ways of FAULTS, from 1; with `+quiet` the assertions of all blocks are silent. `Eye` is what a bench sees of one memory.
"""

import re
import shutil
from pathlib import Path

ARRAY = """module {name}(
  input  [{a}:0] R0_addr,
  input  R0_en, R0_clk,
  output reg [{w}:0] R0_data,
  input  [{a}:0] RW0_addr /*verilator public_flat_rd*/,
  input  RW0_en, RW0_clk, RW0_wmode,
  input  [{w}:0] RW0_wdata /*verilator public_flat_rd*/,
  output reg [{w}:0] RW0_rdata
);
  reg [{w}:0] Memory[0:{last}] /*verilator public_flat_rw*/;
  reg [{a}:0] lastRead /*verilator public_flat_rd*/;
  always @(posedge R0_clk) begin
    lastRead <= R0_addr;
    if (R0_en) R0_data <= RW0_en && RW0_wmode && RW0_addr == R0_addr ? ~RW0_wdata : Memory[R0_addr];
  end
  always @(posedge RW0_clk) if (RW0_en) begin
    RW0_rdata <= RW0_wmode ? ~RW0_wdata : Memory[RW0_addr];
    if (RW0_wmode) Memory[RW0_addr] <= RW0_wdata;
  end
endmodule
"""
SEEN = (
    "io_write_valid",
    "io_events_corrected",
    "io_events_repaired",
    "io_events_uncorrectable",
    "io_events_beyondRepair",
)

# Each must be found out: what, and an expression of every ScrubbedRam with what stands in its place.
FAULTS = {
    "nothing is corrected on its way": (
        r"(?<=assign io_readData =)\s*hit\s*\?\s*held\s*:([^;]*)",
        "hit ? held : _array_ext_R0_data[$bits(io_readData)-1:0]",
    ),
    "nothing is put right where it stands": (r"(?<=fixed <= )[^;]*", "_array_ext_RW0_rdata"),
    "a word that is written back is not forwarded": (r"(?<=hit <= )writes", "io_write_valid"),
    "the scrubber does not see what is written meanwhile": (
        r"(?<=step <= )_GEN\[step\]",
        "step == 2'h1 ? 2'h2 : _GEN[step]",
    ),
}


def opened(source: Path, target: Path) -> Path:
    """A copy of the build in `source` with its protected memories opened."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    arrays = rams = 0
    for path in sorted(source.glob("*.sv")):
        text = path.read_text()
        for condition in ("`STOP_COND_", "`ASSERT_VERBOSE_COND_"):
            text = text.replace(condition, '!$test$plusargs("quiet")')
        if "RW0_rdata" in text and (memory := re.search(r"reg (?:\[(\d+):0\] )?Memory\[0:(\d+)\]", text)):
            last = int(memory[2])
            text = ARRAY.format(name=path.stem, w=memory[1] or 0, last=last, a=last.bit_length() - 1)
            arrays += 1
        if path.stem.startswith("ScrubbedRam"):
            seen = "".join(f",\n    {name}" for name in SEEN)[1:]
            text = text.replace("endmodule", f"  wire [4:0] seen /*verilator public_flat_rd*/ = {{{seen}}};\nendmodule")
            for number, (fault, (pattern, instead)) in enumerate(FAULTS.items(), 1):
                text, times = re.subn(
                    pattern, lambda good, n=number, bad=instead: f" (fault == {n} ? ({bad}) : ({good[0]}))", text
                )
                assert times == 1, f"{path.name}: {fault} fits {times} times"
            text = text.replace("\n);\n", "\n);\n  reg [2:0] fault /*verilator public_flat_rw*/ = 0;\n", 1)
            rams += 1
        (target / path.name).write_text(text)
    assert arrays and rams, "no memory of this build is protected"
    return target


def paths(folder: Path, top: str) -> list[str]:
    """Where the instances of `ScrubbedRam` stand below `top`."""
    found = []

    def below(module: str, at: list[str]):
        source = folder / f"{module}.sv"
        for kind, name in re.findall(r"^  (\w+) (\w+) \($", source.read_text() if source.exists() else "", re.M):
            if kind.startswith("ScrubbedRam"):
                found.append(".".join([*at, name]))
            else:
                below(kind, [*at, name])

    below(top, [])
    return found


class Eye:
    """One protected memory."""

    def __init__(self, dut, path: str):
        self.path = path
        ram = dut
        for name in path.split("."):
            ram = getattr(ram, name)
        self.seen, self.fault, array = ram.seen, ram.fault, ram.array_ext
        self.memory, self.address, self.written, self.read = (
            array.Memory,
            array.RW0_addr,
            array.RW0_wdata,
            array.lastRead,
        )
        self.depth, self.width = len(self.memory), len(array.RW0_wdata)
        self.pending: dict[int, int] = {}  # by address: the word as it should be
        self.used: set[int] = set()  # of these, corrected on their way at least once
        self.noticed = self.repaired = self.corrected = self.overwritten = self.uncorrectable = 0

    def flip(self, random, bits: int, address: int | None = None):
        """Turns `bits` bits of a word over; none that has been turned and not been put right."""
        address = random.randrange(self.depth) if address is None else address
        if address in self.pending:
            return
        word = int(self.memory[address].value)
        self.pending[address] = word
        for bit in random.sample(range(self.width), bits):
            word ^= 1 << bit
        self.memory[address].value = word

    def look(self, clock: int):
        """One clock; checks that what is noticed was injected, and that what is written back is right."""
        seen = int(self.seen.value)
        if not seen:
            return
        write, corrected, repaired, uncorrectable = (seen >> i & 1 for i in (4, 3, 2, 1))
        self.uncorrectable += uncorrectable
        if corrected:
            read = int(self.read.value)
            assert read in self.pending, f"clock {clock}: {self.path} has corrected word {read}, which was right"
            self.corrected += 1
            self.used.add(read)
        if write or repaired:
            address = int(self.address.value)
            word = self.pending.pop(address, None)
            if repaired:
                assert word is not None, f"clock {clock}: {self.path} has repaired word {address}, which was right"
                assert word == int(self.written.value), f"clock {clock}: {self.path} has put word {address} wrong"
                self.repaired += 1
            if word is not None:
                noticed = repaired or address in self.used
                self.noticed += noticed
                self.overwritten += not noticed
                self.used.discard(address)
