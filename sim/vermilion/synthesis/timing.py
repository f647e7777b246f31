"""`vermilion timing`: the longest paths of blocks and whole lanes, estimated with open Yosys and OpenSTA.

    vermilion area's netlist  +  Liberty of published delays (liberty.py, fpga/timing/delays.toml)  --OpenSTA-->  paths

No place and route: a net's delay is a function of its fan-out, fitted to published routed reports, to 30 % or worse, and the order of paths
that lie close together is not kept. Multipliers count as registered on both sides, block RAMs have no output registers (Yosys takes none), a net
with a large fan-out is not replicated, as Vivado would. Inputs and outputs count as registered outside. Another speed grade is that of the estimate times one factor.

Of the paths from one module instance to another the longest stands for all; registers are named by their Chisel signals.
"""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

from vermilion.toolchain import build

from . import area, liberty, netlist

PAGE = build.ROOT / "docs" / "results" / "timing.md"
WORDS = build.ROOT / "fpga" / "timing" / "paths.toml"  # what the longest paths do
LIMIT_NS = 3.0  # of the estimate, for a clock of 4 ns
ANCHOR_NS = 1.4  # what the anchor's authors report for an XCKU3P-2 (picorv32's README)
GRADE = "-2"  # of the delays
ENDPOINTS = 30_000  # looked at, the worst first


def paths(name: str, say=build.quiet) -> list[dict]:
    """The longest path between every two module instances of the design, the longest first."""
    area.tool_version()
    with build.locked("area.lock"):
        area.system_verilog([name], say)
    made = area.synthesise(name, "xcup", say)
    return analyse(area.WORK / name, area.DESIGNS[name][0], made["ports"])


def anchor(sources: list[Path], top: str, clock: str, say=build.quiet) -> list[dict]:
    """The same for any Verilog core, as something known to hold the estimates against."""
    folder = area.foreign(f"anchor-{top}", sources)
    say(f"{top} for xcup")
    return analyse(folder, top, area.synthesis(folder, top, "xcup")["ports"], clock)


def analyse(folder: Path, top: str, ports: dict, clock: str = "clock") -> list[dict]:
    """Runs OpenSTA on the netlist of `folder`."""
    if not shutil.which("sta"):
        raise build.BuildError("timing needs OpenSTA: apt-get install opensta")
    delays = tomllib.loads(area.DELAYS.read_text())
    try:
        text = liberty.library(ports, delays)
    except KeyError as e:
        raise build.BuildError(
            f"the netlist holds {e.args[0]}, of which vermilion/synthesis/liberty.py knows no delay"
        ) from None
    (folder / "cells.lib").write_text(text)
    (folder / "sta.netlist").write_text(netlist.for_sta((folder / "xcup.netlist").read_text()))
    outside = delays["register"]["clock_to_q"] + delays["net"]["first"]
    (folder / "sta.tcl").write_text(
        f"read_liberty {folder}/cells.lib\nread_verilog {folder}/sta.netlist\nlink_design {top}\n"
        f"create_clock -name clock -period 4 [get_ports {clock}]\n"
        f"set_input_delay -clock clock {outside} [all_inputs]\nset_output_delay -clock clock 0 [all_outputs]\n"
        f"report_checks -path_delay max -format full -digits 3 -group_count {ENDPOINTS}\n"
    )
    run = subprocess.run(["sta", "-no_splash", "-exit", folder / "sta.tcl"], capture_output=True, text=True)
    (folder / "sta.log").write_text(run.stdout + run.stderr)
    found = parse(run.stdout, delays)
    if run.returncode or not found:
        raise build.BuildError(f"OpenSTA found no path; what it says is in {folder / 'sta.log'}")
    return found


def parse(text: str, delays: dict) -> list[dict]:
    """The paths in OpenSTA's report, one for each pair of module instances."""
    best: dict[tuple[str, str], dict] = {}
    for block in text.split("Startpoint: ")[1:]:
        steps = [
            (float(delay), register(cell), pin, kind)
            for delay, cell, pin, kind in re.findall(r"^ *(-?[\d.]+) +[\d.]+ [v^] (\S+)/(\S+) \((\w+)\)$", block, re.M)
        ]
        arrival = re.search(r"^ +(-?[\d.]+)   data arrival time", block, re.M)
        slack = re.search(r"(-?[\d.]+)   slack", block)
        if not arrival or not slack:
            continue
        start = register(block.split(" ", 1)[0])
        end = register(re.findall(r"^Endpoint: (\S+)", block, re.M)[0])
        levels = [kind for _, _, _, kind in steps[1:] if re.match("LUT|MUXF|CARRY4", kind)]
        ns = 4 - float(slack.group(1))
        path = {
            "ns": round(ns, 2),
            "from": start,
            "to": end,
            "luts": sum(kind.startswith("LUT") for kind in levels),
            "carries": sum(kind == "CARRY4" for kind in levels),
            "logic_ns": round(logic(steps, delays), 2),
            "through": [cell for _, cell, _, _ in steps[2:-1] if cell != "(unnamed)"],
        }
        pair = (instance(start), instance(end))
        if pair not in best or best[pair]["ns"] < path["ns"]:
            best[pair] = path
    return sorted(best.values(), key=lambda path: -path["ns"])


def logic(steps: list, delays: dict) -> float:
    """What of a path is cells and not nets."""
    net = delays["net"]
    return sum(delay if delay < net["first"] else min(delay, cell_delay(kind, delays)) for delay, _, _, kind in steps)


def cell_delay(kind: str, delays: dict) -> float:
    for pattern, group, key in (
        ("LUT", "lut", "delay"),
        ("MUXF", "lut", "mux"),
        ("CARRY", "carry", "end"),
        ("FD", "register", "clock_to_q"),
        ("RAMB", "blockram", "clock_to_out"),
        ("URAM", "ultraram", "clock_to_out"),
        ("DSP", "multiplier", "clock_to_out"),
        ("RAM|SRL", "lutram", "read"),
    ):
        if re.match(pattern, kind):
            return delays[group][key]
    return 0.0


def instance(name: str) -> str:
    """The module instance that a register stands in; of the top module's own registers, the register."""
    return name.rpartition(".")[0] or name


def register(cell: str) -> str:
    """The Chisel name of a register or memory, from its cell's: `a.b.c_reg[3]\\FDRE` is a.b.c_reg."""
    name = cell.split("\\")[0] or cell.replace("\\", "")
    name = re.sub(r"_(FD[RSCP]E|LUT\d|CARRY4|MUXF\d|RAM\w+|SRL\w+|DSP48E2)(_\d+)?$", "", name)
    name = re.sub(r"(_ext\.Memory)?(\.\d+)+$", "", name)
    return "(unnamed)" if re.fullmatch(r"_\d+_", name) else re.sub(r"\[\d+\]$", "", name).strip()


def does(path: dict, words: list[dict]) -> str:
    """What a path works out, by the first entry of fpga/timing/paths.toml that fits both its ends; empty where none does."""
    fits = (each["what"] for each in words if all(re.search(each[end], path[end]) for end in ("from", "to")))
    return next(fits, "")


def show(screen, name: str, found: list[dict], count: int):
    """The table on the screen."""
    from vermilion.console.tables import table

    made = table(f"Longest paths of {name}, estimated", ["from", "to"], ["ns", "of it logic", "LUTs", "carries"])
    for path in found[:count]:
        cells = (f"{path['ns']:.2f}", f"{path['logic_ns']:.2f}", str(path["luts"]), str(path["carries"]))
        made.add_row(path["from"], path["to"], *cells)
    screen.print(made)


def calibration(rows: dict) -> str:
    """How far the anchor's estimate lies from its authors' figure: with the net of its reset register, which a placer would replicate, and without."""
    if "anchor" not in rows:
        return ""
    longest = rows["anchor"]["paths"][0]["ns"]
    within = [path["ns"] for path in rows["anchor"]["paths"] if not path["from"].startswith("delay_resetn")]
    away = lambda ns: f"{ns:.2f} ns ({100 * ns / ANCHOR_NS - 100:+.0f} %)"
    if not within:
        return f" Here it has {away(longest)}; every path that was kept begins at the net of its reset, so what it has without that is not told."
    inside = max(within)
    if inside == longest:
        return (
            f" Here it has {away(longest)}.\nSo by the anchor a figure of this page is worth {ANCHOR_NS / longest:.2f} of itself in that device,"
            " if lanes behave as that core does."
        )
    return (
        f" Here it has {away(longest)}, which is the net\nof its reset; without that {away(inside)}. So by the anchor a figure of this page is worth"
        f" {ANCHOR_NS / longest:.2f} to {ANCHOR_NS / inside:.2f} of itself in that device, if lanes behave as that core does."
    )


def grades(found: list[dict], delays: dict) -> dict[str, float]:
    """The longest path in each speed grade, in ns."""
    longest = found[0]["ns"]
    return {GRADE: longest} | {grade: round(longest * factor, 2) for grade, factor in delays["grade"].items()}


def publish(result: dict, count: int, say=build.quiet):
    """Writes docs/results/timing.md and .json: the designs measured now, and of the others what was published before."""
    words = tomllib.loads(WORDS.read_text())["path"]
    data = PAGE.with_suffix(".json")
    rows = json.loads(data.read_text()) if data.exists() else {}
    delays, used = tomllib.loads(area.DELAYS.read_text()), area.flow()
    now = area.circuits([name for name in rows | result if name in area.DESIGNS], say)
    for name, found in result.items():
        rows[name] = {
            "what": "a public core, as an anchor",  # if it is none of ours
            "circuit": now.get(name, ""),
            "flow": used,
            "ns": grades(found, delays),
            "over": sum(path["ns"] > LIMIT_NS for path in found),
            "paths": found[:count],
        }
    for name in rows.keys() & area.DESIGNS.keys():
        rows[name]["what"] = area.DESIGNS[name][1]
    data.write_text(json.dumps(rows, indent=1) + "\n")
    parts = []
    for name, row in rows.items():
        old = "" if row.get("circuit") == now.get(name, "") else ", another circuit than the sources give now"
        old += "" if row.get("flow") == used else ", by an earlier flow"
        other = "".join(f" ({ns:.2f} in {grade})" for grade, ns in row.get("ns", {}).items() if grade != GRADE)
        parts.append(f"## {name}: {row['what']}{old}\n")
        parts.append(
            f"Longest {row['paths'][0]['ns']:.2f} ns{other}; {row['over']} pairs of module instances with a path over {LIMIT_NS} ns.\n"
        )
        parts.append(
            "| from | to | ns | of it logic | LUTs | carries | what it does |\n| --- | --- | ---: | ---: | ---: | ---: | --- |"
        )
        parts += [
            f"| `{p['from']}` | `{p['to']}` | {p['ns']:.2f} | {p['logic_ns']:.2f} | {p['luts']} | {p['carries']} | {does(p, words)} |"
            for p in row["paths"]
        ]
        parts.append("")
    body = "\n".join(parts).rstrip()
    PAGE.write_text(f"""# Timing

`./vermilion timing DESIGN... --publish`; how it is made stands in `sim/vermilion/synthesis/timing.py`, the delays and where they were published in
`fpga/timing/delays.toml`. Yosys {area.tool_version()} and OpenSTA, cells of an UltraScale+ device in speed grade {GRADE};
LUTs are mapped by the same delays, in three rounds. For grade -1 all delays are multiplied by {delays["grade"]["-1"]}.

**An estimate, to 30 % or worse, high rather than low**: not placed, not routed; a net's delay is taken from its fan-out, and no net is replicated. The order of paths
that lie close together says nothing. Wanted are {LIMIT_NS} ns, for a clock of 4 ns. nic10g has 64 bits, 16 queues and 4,096 cells; nic100g has 512 bits and
16,384 cells.

The anchor is PicoRV32 (`picorv32_axi` with a two-cycle ALU; github.com/YosysHQ/picorv32, commit 87c89ac, `picorv32.v` and `scripts/vivado/tabtest.v`): its authors report 1.4 ns on an
XCKU3P-2 with Vivado, by a search for the shortest clock that is still met. `--anchor picorv32.v --anchor tabtest.v --anchor-top top` measures it beside.{calibration(rows)}

{body}
""")
