"""`vermilion area`: what blocks and whole lanes cost in an UltraScale+ device, estimated with open Yosys.

    EmitArea.scala --firtool--> SystemVerilog --synth_xilinx -family xcup--> cells

    LUT    LUT1 to LUT6, memories in LUTs (a RAM32M16 or RAM64M8 is eight) and shift registers; inverters are no LUTs
    FF     FDRE and the like. xcup packs no registers into multipliers: `ff_in_dsp` says how many of them an xc7 build of the design,
           which does, has fewer; the small designs alone are built so, in a lane it stays 0
    BRAM   RAMB36E2 as 1, RAMB18E2 as a half, without output registers; URAM: URAM288; DSP: DSP48E2
           (what lies where: fixed/Memory.scala)
    bits   of all memories as they are written down, ROMs left out

A design whose SystemVerilog has not changed is not synthesised again. `fpga/resources.toml` pins the figures; a test holds the small
designs against it. Yosys runs in a program of its own, one a synthesis: `fpga/area/synthesise.py`.
"""

import importlib.metadata
import json
import shutil
import sys
import tomllib
from pathlib import Path

from vermilion.toolchain import build, chisel

from . import area_data, circuit

PAGE = build.ROOT / "docs" / "results" / "area.md"
PINS = build.ROOT / "fpga" / "resources.toml"
WORK = build.BUILD / "area"
PROGRAM = build.ROOT / "fpga" / "area" / "synthesise.py"
DELAYS = build.ROOT / "fpga" / "timing" / "delays.toml"

# Name in EmitArea.scala: top module, what it is, whether an xc7 build counts registers in multipliers
DESIGNS = {
    "token": ("TokenMarker", "token bucket markers, all four, 16 queues", True),
    "token-leaf": ("TokenMarker", "with the leaf marker alone", True),
    "token-srtcm": ("TokenMarker", "with srTCM alone", True),
    "token-trtcm": ("TokenMarker", "with trTCM alone", True),
    "token-redp": ("TokenMarker", "with REDP and its dropper alone", True),
    "flow-4096": ("FlowMarker", "flow markers, 4,096 flows", True),
    "flow-8192": ("FlowMarker", "flow markers, 8,192 flows, as a card has", False),
    "flow-65536": ("FlowMarker", "flow markers, 65,536 flows", False),
    "codel": ("CodelUnit", "CoDel, 16 queues", False),
    "codel-1024": ("CodelUnit", "CoDel, 1,024 queues", False),
    "pie": ("PieUnit", "PIE, 16 queues", False),
    "pie-1024": ("PieUnit", "PIE, 1,024 queues", False),
    "dualpi2": ("DualPi2Unit", "DualPI2, 8 pairs of queues", False),
    "dualpi2-512": ("DualPi2Unit", "DualPI2, 512 pairs of queues", False),
    "pie-queues": ("PieQueues", "PIE, 16 queues, with settings and updates", False),
    "reports": ("ReportStream", "reports of drops and marks, 64 bits", False),
    "reports-512": ("ReportStream", "reports of drops and marks, 512 bits", False),
    "dualpi2-queues": ("DualPi2Queues", "DualPI2, 8 pairs, with settings, draws and updates", False),
    "curve-marks": ("CurveMarks", "marks of curves at departure, 16 queues", False),
    "curve-marks-1024": ("CurveMarks", "marks of curves at departure, 1,024 queues", False),
    "parser": ("HeaderParser", "the header parser", False),
    "queues": ("EgressQueues", "queues and scheduler, 16 queues", False),
    "queues-protected": ("EgressQueues", "queues and scheduler, 16 queues, protected memories", False),
    "queues-with-victims": ("EgressQueues", "queues and scheduler with the victim search in all 16", False),
    "queues-512": ("EgressQueues", "queues and scheduler, 16,384 cells", False),
    "queues-codel": ("EgressQueues", "queues and scheduler, 16 queues, with CoDel", False),
    "queues-codel-512": ("EgressQueues", "queues and scheduler, 16,384 cells, with CoDel", False),
    "queues-fq": ("EgressQueues", "queues and scheduler, 16 queues, with CoDel and new flows", False),
    "queues-fq-512": ("EgressQueues", "queues and scheduler, 16,384 cells, with CoDel and new flows", False),
    "flow-groups": ("FlowGroups", "the hash that selects a flow's queue, 16 queues", False),
    "flow-groups-1024": ("FlowGroups", "the hash that selects a flow's queue, 1,024 queues", False),
    "rules": ("RuleTable", "rules by any header fields, 64 of them", False),
    "rules-256": ("RuleTable", "rules by any header fields, 256 of them", False),
    "policy-fq": ("PolicyPipeline", "everything that decides, with flows in queues of their own", False),
    "rewrite": ("HeaderRewrite", "writes DSCP, CE and padding", False),
    "average": ("AverageUnit", "averages", False),
    "look": ("QueueStateLookup", "what averages see of a queue", False),
    "curve": ("QueueCurves", "curves of all queues and colours", False),
    "statistics": ("Statistics", "statistics, 16 queues", False),
    "statistics-1024": ("Statistics", "statistics, 1,024 queues", False),
    "control": ("ControlPort", "registers, 16 queues", False),
    "control-1024": ("ControlPort", "registers, 1,024 queues", False),
    "policy": ("PolicyPipeline", "everything that decides, markers included, 16 queues", False),
    "lane": ("LaneWithoutTrace", "nic10g, the whole lane", False),
    "lane-without-token": ("LaneWithoutTrace", "nic10g without token bucket markers", False),
    "lane-without-flow": ("LaneWithoutTrace", "nic10g without flow markers", False),
    "lane-without-markers": ("LaneWithoutTrace", "nic10g without any marker", False),
    "lane-with-victims": (
        "LaneWithoutTrace",
        "nic10g with everything: the victim search (DDRED) in all 16 queues, too",
        False,
    ),
    "lane-10g-lean": ("LaneWithoutTrace", "nic10g without flow markers, 2,048 cells", False),
    "lane-25g-lean": ("LaneWithoutTrace", "128 bits, without flow markers, 2,048 cells", False),
    "lane-512": ("LaneWithoutTrace", "nic100g, the whole lane: 512 bits, 16,384 cells", False),
    "card-1x100g": ("LaneWithoutTrace", "a card of one 100G port: nic100g with everything", False),
    "card-2x10g": ("LaneWithoutTrace", "a card of two 10G ports: four egresses, everything", False),
    "card-2x25g": (
        "LaneWithoutTrace",
        "a card of two 25G ports: four egresses, everything that decides on arrival",
        False,
    ),
    "card-2x25g-codel": ("LaneWithoutTrace", "the same with CoDel", False),
    "card-2x25g-aqm": ("LaneWithoutTrace", "card-2x25g with CoDel, PIE, DualPI2, FQ-CoDel and reports", False),
    "card-1x100g-aqm": ("LaneWithoutTrace", "card-1x100g with all of these", False),
    "queues-64": ("LaneWithoutTrace", "nic10g with 64 queues", False),
    "queues-256": ("LaneWithoutTrace", "nic10g with 256 queues", False),
    "queues-1024": ("LaneWithoutTrace", "nic10g with 1,024 queues", False),
    "cells-256": ("LaneWithoutTrace", "nic10g with 256 cells, 16 KiB", False),
    "cells-16384": ("LaneWithoutTrace", "nic10g with 16,384 cells, 1 MiB", False),
    "cells-32768": ("LaneWithoutTrace", "nic10g with 32,768 cells, 2 MiB", False),
    "app-card-2x25g": ("vermilion_app", "the block in a NIC, card-2x25g: its lane and all beside it", False),
    "lane-ecp5": ("LaneOnFewPins", "lane-10g-lean with 512 cells, for `vermilion place`", False),
}
WHOLES = ("LaneWithoutTrace", "vermilion_app")  # tops of designs that are no single block
CARDS = ("card-2x10g", "card-2x25g", "card-1x100g")  # whose memories are listed
SHOWN = tuple(name for name in DESIGNS if name != "lane-ecp5")  # on the page; that one is for `vermilion place`

# Designs that differ from the lane in one number, by it; the lane itself stands among them.
SCALES = {
    "queues": {16: "lane", 64: "queues-64", 256: "queues-256", 1024: "queues-1024"},
    "cells": {256: "cells-256", 4096: "lane", 16384: "cells-16384", 32768: "cells-32768"},
}
SMALL = ("token", "flow-4096")  # what a test synthesises, the first of them in every run
FIGURES = ("lut", "lutram", "srl", "ff", "ff_in_dsp", "bram", "uram", "dsp", "memory_bits")
XCKU3P = {"lut": 162_720, "ff": 325_440, "bram": 360, "uram": 48, "dsp": 1_368}  # DS922
LUTRAM = {"RAM32M16": 8, "RAM64M8": 8, "RAM32M": 4, "RAM64M": 4, "RAM64X1D": 2, "RAM128X1D": 4, "RAM32X1D": 2}


def figures(cells: dict, memories: list) -> dict:
    """The figures of a netlist: `cells` {type: number}, `memories` [name, depth, width, is ROM]."""
    strange = [name for name in cells if name.startswith("RAM") and not name.startswith("RAMB") and name not in LUTRAM]
    if strange:
        raise build.BuildError(
            f"the netlist holds {', '.join(strange)}, which vermilion/synthesis/area.py cannot count"
        )
    lutram = sum(cells.get(name, 0) * luts for name, luts in LUTRAM.items())
    srl = cells.get("SRL16E", 0) + cells.get("SRLC32E", 0)
    return {
        "lut": sum(cells.get(f"LUT{n}", 0) for n in range(1, 7)) + lutram + srl,
        "lutram": lutram,
        "srl": srl,
        "ff": sum(count for name, count in cells.items() if name in ("FDRE", "FDSE", "FDCE", "FDPE")),
        "bram": halved(2 * cells.get("RAMB36E2", 0) + cells.get("RAMB18E2", 0)),
        "uram": cells.get("URAM288", 0),
        "dsp": cells.get("DSP48E2", 0) + cells.get("DSP48E1", 0),
        "memory_bits": sum(depth * width for _, depth, width, rom, *_ in memories if not rom),
    }


def halved(number: int) -> int | float:
    """The half, without a fraction where there is none."""
    return number / 2 if number % 2 else number // 2


def system_verilog(names: list[str], say=build.quiet):
    """Writes the designs named, those of one Chisel run."""
    digests = {name: digest_of_sources(name) for name in names}  # before, as sources may change meanwhile
    old = [name for name in names if not is_fresh(WORK / name / "sv.made", digests[name])]
    if not old:
        return
    say("Chisel to SystemVerilog")
    for name in old:
        for file in (WORK / name).glob("*.sv"):
            file.unlink()
    chisel.emit(WORK, build.BUILD / "area-chisel.log", "vermilion.lane.EmitArea", str(WORK), *old)
    for name in old:
        (WORK / name / "sv.made").write_text(digests[name])


def digest_of_sources(name: str = "lane") -> str:
    """Of what a design is made from: the NIC's block is made from lanes, and they from nothing of it but the sizes of lean ones."""
    sources = chisel.sources()
    if not (name.startswith("app") or name.endswith("lean")):
        sources = [path for path in sources if path.parent.name != "nic"]
    return chisel.key(sources)


def circuits(names, say=build.quiet) -> dict:
    """{design: digest of the circuit that the sources give now}: a figure of the same circuit holds, whatever else has changed in the sources."""
    with build.locked("area.lock"):
        system_verilog(list(names), say)
    return {name: circuit.digest(WORK / name, DESIGNS[name][0]) for name in names}


def is_fresh(stamp: Path, key: str) -> bool:
    return stamp.exists() and stamp.read_text() == key


def synthesise(name: str, family: str, say) -> dict:
    """Cells and memories of a design, in a Yosys of its own."""
    folder, top = WORK / name, DESIGNS[name][0]
    out = folder / f"{family}.json"
    key = build.digest([*folder.glob("*.sv"), PROGRAM, DELAYS], tool_version(), family)
    build.step(out, key, say, f"{name} for {family}", lambda: synthesis(folder, top, family))
    return json.loads(out.read_text())


def synthesis(folder: Path, top: str, family: str) -> dict:
    """What Yosys makes of the sources in a folder, there."""
    out = folder / f"{family}.json"
    build.run([sys.executable, PROGRAM, folder, top, family, out], folder / f"{family}.log")
    return json.loads(out.read_text())


def foreign(name: str, sources: list[Path]) -> Path:
    """A folder with copies of Verilog files that are not ours, for a synthesis."""
    folder = WORK / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for source in sources:
        shutil.copy(source, folder)
    return folder


def tool_version() -> str:
    try:
        return importlib.metadata.version("pyosys")
    except importlib.metadata.PackageNotFoundError:
        raise build.BuildError("area needs Yosys as a Python package: pip install pyosys") from None


def measure(names, say=build.quiet) -> dict:
    """{design: figures} of the designs named."""
    tool_version()
    with build.locked("area.lock"):
        system_verilog(list(names), say)
    out = {}
    for name in names:
        made = synthesise(name, "xcup", say)
        out[name] = figures(made["cells"], made["memories"]) | {"ff_in_dsp": 0}
        if DESIGNS[name][2] and out[name]["dsp"]:
            packed = synthesise(name, "xc7", say)
            out[name]["ff_in_dsp"] = out[name]["ff"] - figures(packed["cells"], packed["memories"])["ff"]
    return {name: {figure: out[name][figure] for figure in FIGURES} for name in out}


def savings(result: dict) -> dict:
    """What leaving markers out saves a lane, as far as the lanes were measured."""
    return {
        name: {figure: result["lane"][figure] - result[name][figure] for figure in FIGURES}
        for name in result
        if name.startswith("lane-without") and "lane" in result
    }


def additions(result: dict) -> dict:
    """What the victim search adds to each lane that was measured with it and without."""
    return {
        name: {figure: result[name][figure] - result[without][figure] for figure in FIGURES}
        for name, without in (("lane-with-victims", "lane"), ("card-1x100g", "lane-512"))
        if {name, without} <= set(result)
    }


def scale(kind: str, result: dict, what) -> str:
    """What each size of a lane takes, and its LUTs beside those of the lane; of what was measured."""
    head = ["LUT", "FF", "BRAM36", "DSP", "memory bits"]
    text = f"| {kind} | LUT, of the lane's | {' | '.join(head)} |\n" + "| ---: " * (len(head) + 2) + "|\n"
    for size, name in SCALES[kind].items():
        if name in result and "lane" in result:
            row, old = result[name], " *" * what(name).endswith("*")
            values = [number(row[figure]) for figure in ("lut", "ff", "bram", "dsp", "memory_bits")]
            text += f"| {size:,}{old} | {row['lut'] / result['lane']['lut']:.3f} | {' | '.join(values)} |\n"
    return text


def number(value) -> str:
    return f"{value:,.1f}" if value % 1 else f"{value:,.0f}"


def show(screen, result: dict):
    """The table on the screen."""
    from vermilion.console.tables import table

    made = table("Area, estimated", ["design", "what"], [name.replace("_", " ") for name in FIGURES])
    for name, row in result.items():
        made.add_row(name, DESIGNS[name][1], *(number(row[figure]) for figure in FIGURES))
    for name, row in savings(result).items():
        made.add_row("", f"saved {DESIGNS[name][1]}", *(number(row[figure]) for figure in FIGURES))
    for name, row in additions(result).items():
        made.add_row("", f"added {DESIGNS[name][1]}", *(number(row[figure]) for figure in FIGURES))
    screen.print(made)


def flow() -> str:
    """What of the flow is ours: how a design is synthesised, and by which delays."""
    return build.digest([PROGRAM, DELAYS])


def publish(result: dict, say=build.quiet):
    """Writes the page and the pins: the designs measured now, and of the others what was published before."""
    now = circuits(SHOWN, say)
    before = {name: row for name, row in pins().items() if name in SHOWN} if PINS.exists() else {}
    measured = set(result)
    result = {name: row | {"circuit": now[name], "flow": flow()} for name, row in result.items() if name in SHOWN}
    result = {name: result.get(name) or before[name] for name in SHOWN if name in result or name in before}

    found = {name: area_data.memories(synthesise(name, "xcup", say), LUTRAM) for name in CARDS if name in measured}
    data = area_data.write(PAGE.with_suffix(".json"), result, found)
    cards = ""
    for name in CARDS:
        if "memories" in data.get(name, {}):
            cards += f"The memories of `{name}`, without tables of constants, and what an XCKU3P has:\n\n{area_data.table(data[name]['memories'], XCKU3P)}\n"

    def is_new(name):
        return (result[name].get("circuit"), result[name].get("flow")) == (now[name], flow())

    def what(name):
        return DESIGNS[name][1] + ("" if is_new(name) else " *")

    def line(title, row):
        return f"| {title} | " + " | ".join(number(row[figure]) for figure in FIGURES) + " |"

    head = "| | LUT | of it LUTRAM | of it SRL | FF | of it in DSPs | BRAM36 | URAM | DSP | memory bits |\n"
    head += "| --- | " + " | ".join(["---:"] * len(FIGURES)) + " |\n"
    blocks = [line(what(name), result[name]) for name in result if DESIGNS[name][0] not in WHOLES]
    lanes = [line(what(name), result[name]) for name in result if name.startswith(("lane", "card"))]
    apps = [line(what(name), result[name]) for name in result if name.startswith("app")]
    nic = "## In a NIC\n\nThe application block for a Corundum NIC (docs/nic.md), with the lanes in it.\n\n"
    nic = nic + head + "\n".join(apps) + "\n\n" if apps else ""
    alike = {name: row for name, row in result.items() if is_new(name)}

    def differences(rows):
        lines = [line(what(name), row) for name, row in rows.items()]
        return head + "\n".join(lines) if lines else "Not measured in the state of the sources."

    entry = result["flow-4096"]["memory_bits"] // 4096
    share, everything = (
        ", ".join(
            f"{number(result[lane][name])} {name.upper()} of {number(most)} ({100 * result[lane][name] / most:.1f} %)"
            for name, most in XCKU3P.items()
            if result[lane][name]
        )
        for lane in ("lane", "lane-with-victims")
    )
    PAGE.write_text(f"""# Area

`./vermilion area --publish`; how each column is counted stands in `sim/vermilion/synthesis/area.py`. Yosys {tool_version()}, `synth_xilinx -family xcup
-noiopad -noclkbuf -flatten -uram`. nic10g has 64 bits, two inputs, 16 queues, 4,096 cells, 4,096 flows; nic100g has 512 bits and 16,384 cells.
The trace for simulations is left open. A test holds the first
row of each kind of marker against `fpga/resources.toml`.

An estimate with open tools, no result of a device's own. Beside it, what the authors of PicoRV32 (github.com/YosysHQ/picorv32, commit 87c89ac) had from Vivado for an
xc7k70t, and what `fpga/area/synthesise.py FOLDER top_small xc7 OUT.json` makes of their `picorv32.v` and `scripts/vivado/synth_area_top.v` (`top_regular`, `top_large`):

| | LUT, theirs | LUT, here | FF, theirs | FF, here |
| --- | ---: | ---: | ---: | ---: |
| small | 761 | 863 | 442 | 491 |
| regular | 917 | 1,083 | 583 | 628 |
| large | 2,019 | 2,288 | 1,085 | 1,090 |

So 13 to 18 % more LUTs there, where LUTs are chosen in one round, and not in three as for the rows below; it has neither block RAMs nor multipliers. Output registers of block RAMs are never used. Of memories in LUTs Yosys holds the data in flip-flops, where the
RTL holds the address: too many flip-flops are counted there. The flow packs no registers into multipliers; how many an xc7 build packs
stands in "of it in DSPs", for the single blocks alone. It was not placed, routed or run in a device.

Rows with a star are of another circuit than the sources give now, or of an earlier flow; new names alone make no other circuit. These were measured with the time-multiplexed blocks that
[decision 18](../decisions/0018-one-form-of-every-block.md) removed: the 10G lanes without markers and the one of 2,048 cells.

## Single blocks

{head}{chr(10).join(blocks)}

The token bucket markers share buckets, products and the loop, so the four together cost less than the sum of four builds with one each.
A flow marker's memories hold tags of flows with their ages in four ways, the rest of each name, and the state: {entry} bits a flow in all. In builds with UltraRAM the names' rests and the
states lie there, and the tags from 8,192 flows on. An XCKU3P has 360 block RAMs and 48 UltraRAMs.

## The whole lane

{head}{chr(10).join(lanes)}

The lane takes {share} of an XCKU3P.
With everything, the victim search in all queues too, it takes {everything}.

{cards}{nic}## Scale

{chr(10).join(scale(kind, result, what) for kind in SCALES)}
An XCKU3P has 12.7 Mbit of block RAM and 13.5 Mbit of UltraRAM. The cells' bytes lie in UltraRAM from 2,048 cells on: 16,384 take 29 of its 48.
No latency depends on either number.

## What leaving them out saves the lane

More than the blocks alone: what feeds them goes too (addresses and ports of each packet on the way to the flow markers; configuration).

{differences(savings(alike))}

## What the victim search (DDRED) adds

{differences(additions(alike))}
""")
    text = "# Area of each design of sim/vermilion/synthesis/area.py, written by `./vermilion area --publish`, held by sim/tests/fpga/test_area.py.\n"
    text += (
        "# A change that costs or saves more than the tolerance shows here, in the same commit.\n\ntolerance = 0.02\n"
    )
    for name, row in result.items():
        text += f'\n[{name}]\ncircuit = "{row.get("circuit", "earlier")}"\nflow = "{row.get("flow", "earlier")}"\n'
        text += "".join(f"{figure} = {row[figure]:g}\n" for figure in FIGURES if row[figure] < 1e6)
        text += "".join(f"{figure} = {int(row[figure])}\n" for figure in FIGURES if row[figure] >= 1e6)
    PINS.write_text(text)


def pins() -> dict:
    """What `fpga/resources.toml` holds."""
    return tomllib.loads(PINS.read_text())
