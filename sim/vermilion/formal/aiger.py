"""Writes a proof as AIGER with open Yosys, for `vermilion prove`: FOLDER with .sv files, TOP, OUT.aig, RAMS (zeros or unknown).

Every assertion becomes an output that is 1 where it fails, in the order of their labels' numbers, which a solver follows where several fail in one clock; OUT.json
lists the numbers, as a module may be there more than once. Registers and RAMs become flip-flops. RAMS says what stands in a RAM before its first write: zeros, or
unknown bits, each copy's its own, which is what hardware has.
"""

import json
import re
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
    found = [cell for cell in module.cells_.values() if cell.type.str() == "$assert"]
    names = [cell.name.str() for cell in found]
    if not names or not all(re.search(r"property_\d+$", name) for name in names):
        sys.exit(f"{top} needs assertions that are called property_N; it has {', '.join(names) or 'none'}")
    labels = {name: int(name.rsplit("_", 1)[1]) for name in names}
    assertions = sorted(found, key=lambda cell: (labels[cell.name.str()], cell.name.str()))
    Path(out).with_suffix(".json").write_text(json.dumps([labels[cell.name.str()] for cell in assertions]))
    # One wire for all: the outputs of an AIGER file are ordered by wire, those of one wire by bit.
    fails = module.addWire(yosys.IdString("\\fails"), len(assertions))
    fails.port_output = True
    for place, cell in enumerate(assertions):
        holds = module.Not(yosys.IdString(f"\\holds_{place}"), cell.getPort(yosys.IdString("\\A")))
        enable = cell.getPort(yosys.IdString("\\EN"))
        module.addAnd(yosys.IdString(f"\\fails_{place}"), holds, enable, yosys.SigSpec(fails, place, 1))
        module.remove(cell)
    module.fixup_ports()
    zeros = ["zinit -all"] if rams == "zeros" else []
    for each in ("opt -full", "techmap", "opt -full -fine", "dffunmap", "simplemap", *zeros, "aigmap", "opt_clean"):
        yosys.run_pass(each, design)
    yosys.run_pass(f"write_aiger -zinit -symbols {out}", design)


if __name__ == "__main__":
    main(*sys.argv[1:])
