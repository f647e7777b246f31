"""Writes a proof as AIGER with open Yosys, for `vermilion prove`: FOLDER with .sv files, TOP, OUT.aig, RAMS (zeros or unknown).

Every assertion becomes an output that is 1 where it fails, named like its label, and its place among all. Registers and RAMs become flip-flops. RAMS says what stands
in a RAM before its first write: zeros, or unknown bits, each copy's its own, which is what hardware has.
"""

import sys
from pathlib import Path


def main(folder: str, top: str, out: str, rams: str):
    """Translates one design; a Yosys that fails ends the program."""
    from pyosys import libyosys as yosys

    design = yosys.Design()
    files = " ".join(str(path) for path in sorted(Path(folder).glob("*.sv")))
    yosys.run_pass(f"read_verilog -sv -formal {files}", design)
    for each in (f"prep -flatten -top {top}", "memory_map", "async2sync", "chformal -lower"):
        yosys.run_pass(each, design)
    module = design.top_module()
    assertions = [cell for cell in module.cells_.values() if cell.type.str() == "$assert"]
    for place, cell in enumerate(assertions):  # a module may be there more than once
        name = cell.name.str().split(".")[-1].lstrip("\\") + f"_{place}"
        fails = module.addWire(yosys.IdString(f"\\{name}"), 1)
        fails.port_output = True
        holds = module.Not(yosys.IdString(f"\\{name}_not"), cell.getPort(yosys.IdString("\\A")))
        enable = cell.getPort(yosys.IdString("\\EN"))
        module.addAnd(yosys.IdString(f"\\{name}_and"), holds, enable, yosys.SigSpec(fails))
        module.remove(cell)
    module.fixup_ports()
    zeros = ["zinit -all"] if rams == "zeros" else []
    for each in ("opt -full", "techmap", "opt -full -fine", "dffunmap", "simplemap", *zeros, "aigmap", "opt_clean"):
        yosys.run_pass(each, design)
    yosys.run_pass(f"write_aiger -zinit -symbols {out}", design)


if __name__ == "__main__":
    main(*sys.argv[1:])
