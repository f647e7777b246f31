"""Changes the emitted SystemVerilog so that a simulation can make random what the RTL leaves undefined.

Power-up: firtool writes no initial values (`--disable-all-randomization`), so Verilator chooses them: at random with `--x-initial unique`. But it
gives all words of a memory one value, so memories are filled here, under the plusarg `+power-up`. Only `POWER_UP_ZERO` begins at 0.

Collisions: a synchronous RAM gives random bits where a read meets a write to its address. A block RAM gives old data, new data
or neither. The design forwards by itself where it needs either, so these bits must change nothing. The RAMs are those of `Memory.scala` and
`WideWriteRam.scala`, and the few that are a `SyncReadMem`, which firtool writes as modules of its own.
A RAM in LUTs, which gives the newest data, has no such case and stays as it is.

The bits are random under the plusarg `+collisions` alone; `$urandom` gives them, whose seed the simulator sets.
"""

import re
from pathlib import Path

from .steps import BuildError

# Registers that no reset clears and that must power up at 0, as an FPGA's do: `Ingress.scala`, docs/nic.md.
POWER_UP_ZERO = {"Ingress": ("open", "cut")}
SYNCHRONOUS = re.compile(r"^  always @\(posedge RW?\d+_clk\)", re.M)
READ = re.compile(r"^  assign (R\d+)_data = _\1_en_d0 \? Memory\[_\1_addr_d0\] : (\d+)'bx;$", re.M)
WRITE = re.compile(r"^    if \((W\d+)_en\b", re.M)
ARRAY_READ = re.compile(r"^  always @\(posedge clock\) held <= memory\[readAddress\];$", re.M)
WIDE_WRITE = re.compile(r"^module WideWriteRam_.*?memory\[\{row, i\[(\d+):0\]\}\].*?^endmodule", re.M | re.S)
WIDE_READ = re.compile(r"^  always @\(posedge clock\) part <= memory\[address\];$", re.M)
MEMORY = re.compile(r"^ .*\breg +(?:\[(\d+):0\] +)?([Mm]emory) *\[0:(\d+)\];$", re.M)
SWITCH = '  reg collisions;\n  initial collisions = $test$plusargs("collisions") != 0;\n'


def random_bits(width: int) -> str:
    return "{" + ", ".join(["$urandom"] * -(-width // 32)) + "}"


def read_port(found: re.Match, writes: dict[str, str]) -> str:
    """A read port of firtool's RAM with the case of a collision. `writes`: names of write ports, when each writes."""
    port, width = found[1], int(found[2])
    meets = " | ".join(f"({writing} & {write}_addr == {port}_addr)" for write, writing in writes.items())
    return (
        f"  reg _{port}_collides;\n  reg [{width - 1}:0] _{port}_random;\n"
        f"  always @(posedge {port}_clk) begin\n"
        f"    _{port}_collides <= collisions & {port}_en & ({meets});\n"
        f"    if (collisions & {port}_en & ({meets})) _{port}_random <= {random_bits(width)};\n"
        f"  end\n"
        f"  assign {port}_data = _{port}_collides ? _{port}_random : {found[0].split(' = ')[1]}"
    )


def width_of(port: str, text: str) -> int:
    """Bits of a port of a module, by the pattern of its declaration."""
    found = re.search(port, text)
    if found is None:
        raise ValueError(f"a memory has no port {port}: firtool or the sources of the memories have changed")
    return int(found[1]) + 1


def collide_wide(text: str, part_bits: int) -> str:
    """`WideWriteRam`: its row is written, a part of it is read."""
    width = width_of(r"output reg \[(\d+):0\] part", text)
    meets = f"collisions & write & (address >> {part_bits}) == row"
    read = f"  always @(posedge clock) part <= {meets} ? {random_bits(width)} : memory[address];"
    return WIDE_READ.sub(lambda _: SWITCH + read, text)


def collide_array(text: str) -> str:
    """`MemoryArray` of block RAM or UltraRAM."""
    width = width_of(r"input \[(\d+):0\] writeData", text)
    meets = "collisions & write & writeAddress == readAddress"
    read = f"  always @(posedge clock) held <= {meets} ? {random_bits(width)} : memory[readAddress];"
    return ARRAY_READ.sub(lambda _: SWITCH + read, text)


def collide(text: str, name: str = "") -> str:
    """A module's text with collisions; raises BuildError on a synchronous RAM of a form that is not known."""
    if wide := WIDE_WRITE.search(text):
        made = collide_wide(text, int(wide[1]) + 1)
    elif re.search(r"^module (Block|Ultra)Ram_", text, re.M):
        made = collide_array(text)
    elif SYNCHRONOUS.search(text) and " Memory[0:" in text:
        masked = lambda write: f" & (|{write}_mask)" if f" {write}_mask" in text else ""
        writes = {write: f"{write}_en{masked(write)}" for write in sorted(set(WRITE.findall(text)))}
        made = READ.sub(lambda found: read_port(found, writes), text)
        made = made.replace("  reg ", SWITCH + "  reg ", 1)
    else:
        return text
    reads = len(SYNCHRONOUS.findall(text)) or 1
    if sum(map(made.count, ("_random <= ", "part <= collisions", "held <= collisions"))) != reads:
        raise BuildError(f"{name}: a synchronous RAM of a form in which collisions cannot be put")
    return made


def filled(found: re.Match) -> str:
    """A memory's declaration, and random words for it."""
    width, memory, last = int(found[1] or 0) + 1, found[2], int(found[3])
    return (
        f'{found[0]}\n  integer _word;\n  initial\n    if ($test$plusargs("power-up") != 0)\n'
        f"      for (_word = 0; _word <= {last}; _word = _word + 1) {memory}[_word] = {random_bits(width)};"
    )


def power_up(text: str, name: str) -> str:
    """A module's text with random words for its memory, and initial values for its registers of `POWER_UP_ZERO`."""
    text = MEMORY.sub(filled, text)
    for register in POWER_UP_ZERO.get(re.sub(r"_\d+$", "", name), ()):
        text, found = re.subn(rf"^  reg +{register};$", rf"\g<0>\n  initial {register} = 1'h0;", text, flags=re.M)
        if found != 1:
            raise BuildError(f"{name}: has no register {register}, which must power up at 0")
    return text


def rewrite(source: Path, target: Path) -> int:
    """Writes the modules of one folder to another with both changes; returns how many RAMs have collisions."""
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.sv"):
        old.unlink()
    changed = 0
    for path in sorted(source.glob("*.sv")):
        text = path.read_text()
        made = collide(text, path.stem)
        changed += made != text
        (target / path.name).write_text(power_up(made, path.stem))
    return changed
