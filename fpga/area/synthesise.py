"""Synthesises one design with open Yosys for `vermilion area`, `timing` and `place`: FOLDER with .sv or .v files, TOP, FAMILY (xcup, xc7 or ecp5), OUT.json.

OUT holds `cells` {type: number}, `memories` [[name, depth, width, is a ROM, {type: number} of the cells that it became]] and
`ports` {type: {port: [is an output, width]}}. Beside it stands the netlist,
OUT.netlist (Verilog), its cells named by the nets that they drive; for ecp5 OUT.placeable (JSON of Yosys) as nextpnr reads it.

Chisel leaves open what a read sees that meets a write to its address, but firtool's Verilog reads the new word. Yosys would add logic for
that; Vivado by default does not (UG901, RW_ADDR_COLLISION). So memories are told here that such a read is undefined, as Chisel has it.

LUTs are chosen by what Yosys believes of delays, and of UltraScale+ it believes what Artix-7 has, where a carry chain takes three times as long: beside such
chains all else seems to have time, and is made small and deep. So cells get their delays of `fpga/timing/delays.toml` first, those by which `vermilion timing`
judges. Still Yosys's own: 0.3 ns a net, wide multiplexers of LUTs 7 and 8 (so those are made of LUTs more often), and that what comes out of any RAM is as
early as a register.

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
SHORTEST_SHIFT = 8  # registers; -shreg_min_size of build.tcl
FLOWS = {
    "xcup": (XILINX.format("xcup") + " -uram", "map_memory"),
    "xc7": (XILINX.format("xc7"), "map_memory"),
    "ecp5": ("synth_ecp5", "map_ram"),
}


def tell_delays(design):
    """Tells Yosys: gives LUTs, their multiplexers and carry chains the delays of UltraScale+, in ps, in place of those that Yosys has."""
    delays = tomllib.loads(DELAYS.read_text())

    def delay(name: str, source: str, sink: str) -> float | None:
        if name.startswith("LUT"):
            return delays["lut"]["delay"]
        if name.startswith("MUXF"):
            return delays["lut"]["mux"]
        if name == "CARRY4":
            through = delays["carry"]["pass" if sink == "CO" else "end"]
            return through if source == "CI" else delays["carry"]["start"]
        return None

    def port(cell, which: str) -> str:
        return cell.getPort(yosys.IdString(f"\\{which}")).as_chunk().wire.name.str().lstrip("\\")

    told = set()
    for module in list(design.modules_.values()):
        for cell in [cell for cell in module.cells_.values() if cell.type.str() == "$specify2"]:
            ns = delay(module.name.str().lstrip("\\"), port(cell, "SRC"), port(cell, "DST"))
            if ns is None:
                continue
            told.add(module.name.str().lstrip("\\"))
            for edge in ("RISE", "FALL"):
                for case in ("MIN", "TYP", "MAX"):
                    cell.setParam(yosys.IdString(f"\\T_{edge}_{case}"), yosys.Const(round(1000 * ns), 32))
    untold = {*(f"LUT{inputs}" for inputs in range(1, 7)), "CARRY4"} - told
    if untold:
        raise SystemExit(f"Yosys has no delays to change of {', '.join(sorted(untold))}")


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
