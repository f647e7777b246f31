"""Synthesises one design with open Yosys for `vermilion area`, `timing` and `place`: FOLDER with .sv or .v files, TOP, FAMILY (xcup, xc7 or ecp5), OUT.json.

OUT holds `cells` {type: number}, `memories` [[name, depth, width, is a ROM, {type: number} of the cells that it became]] and
`ports` {type: {port: [is an output, width]}}. Beside it stands the netlist,
OUT.netlist (Verilog), its cells named by the nets that they drive; for ecp5 OUT.placeable (JSON of Yosys) as nextpnr reads it.

Chisel leaves open what a read sees that meets a write to its address, but firtool's Verilog reads the new word. Yosys would add logic for
that; Vivado by default does not (UG901, RW_ADDR_COLLISION). So memories are told here that such a read is undefined, as Chisel has it.

LUTs are chosen by what Yosys believes of delays, and of UltraScale+ it believes what Artix-7 has, where a carry chain takes three times as long: beside such
chains all else seems to have time, and is made small and deep. And it has block RAM and UltraRAM as early as a register, and their inputs as late. So for xcup cells
get their delays of `fpga/timing/delays.toml` first, those by which `vermilion timing` judges. Still Yosys's own: 0.3 ns a net, and wide multiplexers of LUTs 7 and 8
(so those are made of LUTs more often). LUTs are chosen in three rounds then, each behind a restructuring of the logic, and the last counts; for the other
families in Yosys's one.

A shift register costs a LUT, and a device has twice as many flip-flops as LUTs: chains of fewer than eight registers stay flip-flops for
Xilinx devices, as fpga/vivado/build.tcl has it. ECP5 has no shift registers.
"""

import collections
import json
import re
import sys
import tomllib
from pathlib import Path

from pyosys import libyosys as yosys

# The pass, and its step at which memories become those of the device.
XILINX = "synth_xilinx -family {} -noiopad -noclkbuf -flatten"
DELAYS = Path(__file__).parents[1] / "timing" / "delays.toml"
# How ABC chooses LUTs for xcup. Yosys puts the delays of nets and a target into MAP.
MAP = "&if {W} {D} -v"
BALANCE = "&if -g -K 6; &synch2"
ROUNDS = f"+&scorr; &sweep; {BALANCE}; {MAP}; &st; {BALANCE}; {MAP}; &st; &dch -f; {MAP}; &mfs"
SHORTEST_SHIFT = 8  # registers; -shreg_min_size of build.tcl
BLOCK_RAM = {
    "CLKARDCLK": ("DOUTP?A", "ADDRA|DINP?A|ENA|WEA"),
    "CLKBWRCLK": ("DOUTP?B", "ADDRB|DINP?B|ENB|WEB"),
}
# Cell: where its delays stand, and by clock how the names of its outputs and inputs begin.
RAMS = {
    "RAMB18E2": ("blockram", BLOCK_RAM),
    "RAMB36E2": ("blockram", BLOCK_RAM),
    "URAM288": ("ultraram", {"CLK": ("DOUT_", "ADDR_|BWE_|DIN_|EN_|RDB_WR_")}),
}
LUTRAMS = ("RAM32M16", "RAM64M8")  # of which Yosys has no delays
REGISTERS = ("FDRE", "FDSE", "FDCE", "FDPE")
TIMES = [f"T_{edge}_{case}" for edge in ("RISE", "FALL") for case in ("MIN", "TYP", "MAX")]
LIMITS = [f"T_LIMIT{which}_{case}" for which in ("", "2") for case in ("MIN", "TYP", "MAX")]
FLOWS = {
    "xcup": (XILINX.format("xcup") + " -uram", "map_memory"),
    "xc7": (XILINX.format("xc7"), "map_memory"),
    "ecp5": ("synth_ecp5", "map_ram"),
}


def tell_delays(design):
    """Tells Yosys the delays of UltraScale+, in ps, in place of those that it has, or has not: those by which `vermilion timing` judges.

    LUTs, their multiplexers and carry chains; registers; outputs and inputs of RAMs. What is read of a memory in LUTs is taken to come as from a register in front of it.
    """
    delays = tomllib.loads(DELAYS.read_text())

    def through(name: str, source: str, sink: str) -> float | None:
        if name.startswith("LUT"):
            return delays["lut"]["delay"]
        if name.startswith("MUXF"):
            return delays["lut"]["mux"]
        if name == "CARRY4":
            carried = delays["carry"]["pass" if sink == "CO" else "end"]
            return carried if source == "CI" else delays["carry"]["start"]
        return None

    def port(cell, which: str) -> str:
        return cell.getPort(yosys.IdString(f"\\{which}")).as_chunk().wire.name.str().lstrip("\\")

    def tell(cell, names: list[str], ns: float):
        for name in names:
            cell.setParam(yosys.IdString(f"\\{name}"), yosys.Const(round(1000 * ns), 32))

    told = set()
    for module in list(design.modules_.values()):
        name = module.name.str().lstrip("\\")
        register = delays["register"] if name in REGISTERS else None
        for cell in list(module.cells_.values()):
            kind = cell.type.str()
            if kind == "$specify2":
                ns = through(name, port(cell, "SRC"), port(cell, "DST"))
            elif kind == "$specify3" and register:
                ns = register["clock_to_q"]
            elif kind == "$specrule" and register:
                tell(cell, LIMITS, register["setup" if port(cell, "SRC") == "D" else "setup_enable"])
                continue
            else:
                continue
            if ns is not None:
                told.add(name)
                tell(cell, TIMES, ns)
    untold = {*(f"LUT{inputs}" for inputs in range(1, 7)), "CARRY4", "FDRE"} - told
    if untold:
        raise SystemExit(f"Yosys has no delays to change of {', '.join(sorted(untold))}")
    net = delays["net"]
    sinks = net["first"] + 2 * net["double"]  # four of them
    for name, (section, clocks) in RAMS.items():
        for clock, (outputs, inputs) in clocks.items():
            for wire in ports(design, name, outputs):
                tell(check(design, name, "$specify3", clock, wire), TIMES, delays[section]["clock_to_out"])
            for wire in ports(design, name, inputs):
                tell(check(design, name, "$specrule", clock, wire), LIMITS, delays[section]["setup"])
    for name in LUTRAMS:
        for wire in ports(design, name, "DO"):
            read = delays["register"]["clock_to_q"] + sinks + delays["lutram"]["read"]
            tell(check(design, name, "$specify3", "WCLK", wire), TIMES, read)


def ports(design, name: str, begins: str) -> list:
    """Wires of a cell's ports whose names begin so."""
    wires = design.module(yosys.IdString(f"\\{name}")).wires_.values()
    found = [wire for wire in wires if wire.port_id and re.match(begins, wire.name.str().lstrip("\\"))]
    if not found:
        raise SystemExit(f"Yosys has no port of {name} whose name begins with {begins}")
    return found


def check(design, name: str, kind: str, clock: str, wire):
    """A new timing check of a cell: `(posedge clock => (wire : 0))`, a $specify3, or `$setup(wire, posedge clock)`, a $specrule. Its times are not set."""
    module = design.module(yosys.IdString(f"\\{name}"))
    made = module.addCell(yosys.IdString(f"\\{wire.name.str()[1:]}_by_{clock}"), yosys.IdString(kind))
    one, of = yosys.SigSpec(yosys.Const(1, 1)), yosys.SigSpec(wire)
    to = yosys.SigSpec(module.wire(yosys.IdString(f"\\{clock}")))
    if kind == "$specify3":
        held = {"EN": one, "SRC": to, "DST": of, "DAT": yosys.SigSpec(yosys.Const(0, wire.width))}
        widths, flags = (1, wire.width), ("SRC_DST_PEN", "SRC_DST_POL", "DAT_DST_PEN", "DAT_DST_POL")
        ones = ("FULL", "EDGE_EN", "EDGE_POL")
    else:
        held, widths, ones = (
            {"SRC_EN": one, "DST_EN": one, "SRC": of, "DST": to},
            (wire.width, 1),
            ("DST_PEN", "DST_POL"),
        )
        flags = ("SRC_PEN", "SRC_POL")
        made.setParam(yosys.IdString("\\TYPE"), yosys.Const("$setup"))
    for port, signal in held.items():
        made.setPort(yosys.IdString(f"\\{port}"), signal)
    for parameter, value in [*zip(("SRC_WIDTH", "DST_WIDTH"), widths, strict=False)]:
        made.setParam(yosys.IdString(f"\\{parameter}"), yosys.Const(value, 32))
    for parameter in (*flags, *ones):
        made.setParam(yosys.IdString(f"\\{parameter}"), yosys.Const(int(parameter in ones), 1))
    return made


def cells_of(memories: list[str], module) -> dict[str, dict[str, int]]:
    """{memory: {type: number}} of the RAM cells that each memory became: their names begin with its own."""
    out = {name: collections.Counter() for name in memories}
    for cell in module.cells_.values():
        kind, name = cell.type.str().lstrip("\\"), cell.name.str().lstrip("\\")
        if not re.match("RAM|URAM", kind):
            continue
        while name and name not in out:
            name = name.rpartition(".")[0]
        if not name:
            raise SystemExit(f"{cell.name.str()}, a {kind}, is of no memory that was written down")
        out[name][kind] += 1
    return out


def main(folder: str, top: str, family: str, out: str):
    """Synthesises one design and writes its cells and memories."""
    design = yosys.Design()
    flow, memory_step = FLOWS[family]
    flow += f" -top {top}"
    files = " ".join(str(path) for path in sorted([*Path(folder).glob("*.sv"), *Path(folder).glob("*.v")]))
    yosys.run_pass(f"read_verilog -sv {files}", design)
    yosys.run_pass(f"{flow} -run begin:{memory_step}", design)
    if family == "xcup":
        tell_delays(design)
        yosys.run_pass(f'scratchpad -set abc9.script "{ROUNDS}"', design)
    memories = []
    for cell in (cell for module in design.modules_.values() for cell in module.cells_.values()):
        if cell.type.str() != "$mem_v2":
            continue

        def parameter(name):
            return cell.getParam(yosys.IdString(f"\\{name}"))

        writers = parameter("WR_PORTS").as_int()
        clocked = parameter("RD_CLK_ENABLE").as_string()  # a bit a read port; the masks have one a read and write port
        undefined = "".join(bit * writers for bit in clocked)
        if "1" in undefined:
            cell.setParam(yosys.IdString("\\RD_TRANSPARENCY_MASK"), yosys.Const("0" * len(undefined)))
            cell.setParam(yosys.IdString("\\RD_COLLISION_X_MASK"), yosys.Const(undefined))
        rom = writers == 0
        name = parameter("MEMID").decode_string().lstrip("\\")
        memories.append([name, parameter("SIZE").as_int(), parameter("WIDTH").as_int(), rom])
    yosys.run_pass(f"{flow}{'' if family == 'ecp5' else ' -nosrl'} -run {memory_step}:", design)
    if family != "ecp5":
        yosys.run_pass(f"xilinx_srl -fixed -minlen {SHORTEST_SHIFT}", design)
        yosys.run_pass("techmap -map +/xilinx/cells_map.v", design)
        yosys.run_pass("clean", design)
    module = design.top_module()
    became = cells_of([name for name, *_ in memories], module)
    memories = [[*memory, became[memory[0]]] for memory in memories]
    cells = collections.Counter(cell.type.str().lstrip("\\") for cell in module.cells_.values())
    ports = {}
    for name in (name for name in cells if not name.startswith("$")):
        wires = design.module(yosys.IdString("\\" + name)).wires_.values()
        ports[name] = {wire.name.str().lstrip("\\"): [wire.port_output, wire.width] for wire in wires if wire.port_id}
    yosys.run_pass("rename -wire", design)
    if family == "ecp5":
        yosys.run_pass(f"write_json {Path(out).with_suffix('.placeable')}", design)
    yosys.run_pass(f"write_verilog -noattr -noexpr -defparam {Path(out).with_suffix('.netlist')}", design)
    Path(out).write_text(json.dumps({"cells": cells, "memories": memories, "ports": ports}, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
