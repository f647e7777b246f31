"""`vermilion vivado`: a lane or an application block for Vivado, ready to run, and its reports read back.

    write    DIR/rtl/*.sv, DIR/build.tcl, DIR/run.sh, DIR/build.json
    run.sh   DIR/reports/*.rpt                                            Vivado, where it is installed
    report   one file with the reports and what they are of               to send to the project
    read     docs/results/vivado.md, vivado-app10g-2.md, ... and .json    from that file, or from DIR

Vivado is not part of this project and never run by it: `run.sh` holds the one line to type. A page is written from reports only, never from
anything estimated here.
"""

import json
import re
import shutil
import zipfile
import zlib
from pathlib import Path

from . import build, rtl, steps
from . import corundum_check as corundum
from .command_line import commit
from .fields import UserError

SCRIPT = build.ROOT / "fpga" / "vivado" / "build.tcl"
RESULTS = build.ROOT / "docs" / "results"
# Names of presets in vermilion/area.py, where they are others.
ESTIMATES = {
    "nic10g": "lane",
    "nic10g-all": "lane-with-victims",
    "nic100g": "lane-512",
    "nic100g-all": "lane-512-with-victims",
}
PART = "xcku3p-ffvb676-2-e"
NEEDED = ("utilization.rpt", "timing.rpt")
REPORTS = (*NEEDED, "methodology.rpt", "drc.rpt", "route.rpt")  # what a packed file holds of them
LONGEST = 64 << 20  # bytes of a member of a packed file
# What build.json says beside the period, as patterns: it comes from strangers and goes into a page.
MADE = {"preset": r"[\w-]{1,80}", "commit": r"[\w -]{1,80}", "part": r"[\w-]{1,80}", "verilog": r"[0-9a-f]{1,128}"}
PERIODS = (1.0, 100.0)  # ns
# What a row of utilization.rpt's table by module counts, by its column in Vivado's words.
COLUMNS = {
    "lut": "Total LUTs",
    "lutram": "LUTRAMs",
    "srl": "SRLs",
    "ff": "FFs",
    "bram36": "RAMB36",
    "bram18": "RAMB18",
    "uram": "URAM",
    "dsp": "DSP Blocks",
}


def parameters(preset: str) -> dict[str, int]:
    """Parameters of a preset's top module: those that a NIC gives the shell of an application block; a lane has none."""
    if not rtl.is_app(preset):
        return {}
    shape = corundum.app(preset)
    return {
        "APP_ID": corundum.APP_ID,
        "IF_COUNT": shape.ports,
        "AXIS_DATA_WIDTH": shape.bits,
        "PTP_TS_ENABLE": int(shape.timestamps),
        "CLK_PERIOD_NS_NUM": shape.clock_ns[0],
        "CLK_PERIOD_NS_DENOM": shape.clock_ns[1],
        "AXIL_APP_CTRL_ADDR_WIDTH": 24,
    }


def clock_and_reset(preset: str) -> tuple[str, str]:
    """Their names in a preset's top module."""
    return ("clk", "rst") if rtl.is_app(preset) else ("clock", "reset")


def write(preset: str, folder: Path, part: str, period: float, say=build.quiet) -> str:
    """Fills `folder` and returns the command that runs Vivado there."""
    if not re.fullmatch(r"[\w-]+", part):
        raise UserError(f"--part is {part!r}; legal are letters, digits, - and _, as in {PART}")
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; name a new folder")
    top = rtl.write(preset, folder / "rtl", say)
    shutil.copy(SCRIPT, folder)
    words = ["rtl", top, *clock_and_reset(preset), part, f"{period:g}", "reports"]
    words += [f"{name}={value}" for name, value in parameters(preset).items()]
    command = f"vivado -mode batch -source build.tcl -tclargs {' '.join(words)}"
    run = folder / "run.sh"
    run.write_text(
        f'#!/bin/sh\n# Preset {preset} of Vermilion, out of context.\ncd "$(dirname "$0")" && exec {command}\n'
    )
    run.chmod(0o755)
    made = {"preset": preset, "commit": commit(), "part": part, "period_ns": period, "verilog": verilog(folder)}
    (folder / "build.json").write_text(json.dumps(made, indent=1) + "\n")
    return command


def verilog(folder: Path) -> str:
    """A digest of the sources that Vivado gets in `folder`, its script included."""
    return steps.content([*(folder / "rtl").rglob("*.*v*"), folder / "build.tcl"])


def of_folder(folder: Path) -> tuple[dict, dict[str, str]]:
    """What build.json of a folder says, and its reports by name."""
    reports = folder / "reports"
    for name in NEEDED:
        if not (reports / name).is_file():
            raise UserError(f"{reports / name} is not there: has run.sh come to its end?")
    note = folder / "build.json"
    if not note.is_file():
        raise UserError(f"{note} is not there: {folder} was not written by `vermilion vivado write`")
    made = checked(note.read_text(errors="replace"), str(note))
    made["changed"] = verilog(folder) != made["verilog"]
    return made, {name: (reports / name).read_text(errors="replace") for name in REPORTS if (reports / name).is_file()}


def checked(text: str, place: str) -> dict:
    """What a build.json says, or a sentence about what is wrong with it."""
    try:
        made = json.loads(text)
    except ValueError as error:
        raise UserError(f"{place} is no JSON: {error}") from None
    made = made if isinstance(made, dict) else {}
    for field, pattern in MADE.items():
        if not isinstance(made.get(field), str) or not re.fullmatch(pattern, made[field], re.A):
            raise UserError(f"{place}: {field} is {made.get(field)!r}; legal is what matches {pattern}")
    if not rtl.is_legal(made["preset"]):
        raise UserError(f"{place}: preset is {made['preset']!r}; legal are {rtl.LEGAL}")
    period = made.get("period_ns")
    if not isinstance(period, (float, int)) or not PERIODS[0] <= period <= PERIODS[1]:
        raise UserError(f"{place}: period_ns is {period!r}; legal are numbers from {PERIODS[0]:g} to {PERIODS[1]:g}")
    return {field: made[field] for field in (*MADE, "period_ns")} | {"changed": bool(made.get("changed"))}


def pack(folder: Path, target: Path) -> dict:
    """Writes one file that holds the reports of a run and what they are of. What could not be read from it is refused. Returns what it says."""
    result = read(folder)
    made, reports = of_folder(folder)
    if target.exists():
        raise UserError(f"{target} is there already; name a new file")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("build.json", json.dumps(made, indent=1) + "\n")
        for name, text in reports.items():
            file.writestr(f"reports/{name}", text)
    return result


def of_file(path: Path) -> tuple[dict, dict[str, str]]:
    """What a packed file holds. Its members are read by their names; nothing is unpacked."""
    try:
        with zipfile.ZipFile(path) as file:
            sizes = {each.filename: each.file_size for each in file.infolist()}
            wanted = ["build.json", *(f"reports/{name}" for name in REPORTS if f"reports/{name}" in sizes)]
            for name in ("build.json", *(f"reports/{name}" for name in NEEDED)):
                if name not in sizes:
                    raise UserError(f"{path} holds no {name}: it was not packed by `vermilion vivado report`")
            for name in wanted:
                if sizes[name] > LONGEST:
                    raise UserError(f"{path}: {name} has {sizes[name]:,} bytes; legal are at most {LONGEST:,}")
            texts = {name: file.read(name).decode(errors="replace") for name in wanted}
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error) as error:
        raise UserError(f"{path} cannot be read as a packed report: {error}") from None
    made = checked(texts.pop("build.json"), f"{path}: build.json")
    return made, {name.removeprefix("reports/"): text for name, text in texts.items()}


def header(text: str, field: str) -> str:
    """A line of the head of a report, as `| Device : xcku3p-... |`."""
    found = re.search(rf"^\|\s*{field}\s*:\s*(.*?)\s*\|?\s*$", text, re.M)
    if not found:
        raise UserError(f"the report has no line {field!r} in its head: it is none of Vivado's, or cut off")
    return found.group(1)


def utilization(text: str) -> list[dict]:
    """The table by module of utilization.rpt: name, module, depth from 0, and the counts of COLUMNS."""
    rows, heads = [], []
    for line in text.splitlines():
        if not line.startswith("|"):
            continue
        cells = line.split("|")[1:-1]
        words = [cell.strip() for cell in cells]
        if words[:2] == ["Instance", "Module"]:
            heads = words
        elif heads and len(words) == len(heads):
            values = dict(zip(heads, words))
            depth = (len(cells[0]) - len(cells[0].lstrip()) - 1) // 2
            counts = {key: int(values[column]) for key, column in COLUMNS.items() if column in values}
            rows.append({"instance": words[0], "module": words[1], "depth": depth} | counts)
    if not rows:
        raise UserError("utilization.rpt holds no table by module; build.tcl asks for one with -hierarchical")
    return rows


def timing(text: str) -> dict:
    """Slacks and failing endpoints of timing.rpt's summary, and its longest paths."""
    table = re.search(r"^\s*WNS\(ns\)\s+TNS\(ns\).*?\n[\s-]+\n\s*(.+)$", text, re.M)
    if not table:
        raise UserError("timing.rpt holds no design timing summary")
    wns, tns, failing, total, whs, *_ = table.group(1).split()
    paths = [
        {"slack_ns": float(slack), "from": source, "to": target, "levels": int(levels)}
        for slack, source, target, levels in re.findall(
            r"^Slack \(\w+\) :\s+(-?[\d.]+)ns.*?\n\s+Source:\s+(\S+).*?\n\s+Destination:\s+(\S+).*?Logic Levels:\s+(\d+)",
            text,
            re.M | re.S,
        )
    ]
    return {
        "wns_ns": float(wns),
        "tns_ns": float(tns),
        "failing": int(failing),
        "endpoints": int(total),
        "whs_ns": float(whs),
        "paths": sorted(paths, key=lambda path: path["slack_ns"])[:10],
    }


def read(place: Path) -> dict:
    """What the reports in a folder or a packed file say."""
    made, reports = of_folder(place) if place.is_dir() else of_file(place)
    used, timed = (reports[name] for name in NEEDED)
    return {
        "preset": made["preset"],
        "commit": made["commit"],
        "verilog": made["verilog"],
        "changed": made["changed"],  # whether somebody has edited what Vivado got
        "device": header(used, "Device"),
        "tool": header(used, "Tool Version"),
        "period_ns": float(made["period_ns"]),
        "modules": utilization(used),
        "timing": timing(timed),
    }


def page(result: dict, estimate: dict | None) -> str:
    """The page, with the estimate of the same design beside the measured row, where there is one."""
    whole = result["modules"][0]
    counts = [key for key in COLUMNS if key in whole]
    head = "| | " + " | ".join(COLUMNS[key] for key in counts) + " |\n| --- |" + " ---: |" * len(counts)
    rows = [
        "| "
        + "&nbsp;" * 2 * row["depth"]
        + f"`{row['instance']}` | "
        + " | ".join(f"{row[key]:,}" for key in counts)
        + " |"
        for row in result["modules"]
        if row["depth"] <= 2
    ]
    beside = ""
    if estimate:
        beside = (
            f"\nThe estimate of the same design ([area](area.md)): {estimate['lut']:,} LUT, {estimate['ff']:,} FF, "
            f"{estimate['bram']:g} BRAM36, {estimate['dsp']:,} DSP; so it is {estimate['lut'] / whole['lut'] - 1:+.0%} off in LUTs.\n"
        )
    slowest = "\n".join(
        f"| `{path['from']}` | `{path['to']}` | {path['slack_ns']:.3f} | {path['levels']} |"
        for path in result["timing"]["paths"]
    )
    t = result["timing"]
    what = "application block" if rtl.is_app(result["preset"]) else "lane"
    return f"""# The {what} in Vivado

Made by `./vermilion vivado read FILE --publish` from the reports of `fpga/vivado/build.tcl`. {result['tool']}, {result['device']}, preset {result['preset']}, out of context, clock of
{result['period_ns']:g} ns: worst slack {t['wns_ns']:.3f} ns (setup), {t['whs_ns']:.3f} ns (hold), {t['failing']:,} of {t['endpoints']:,} endpoints fail.
The sources are those of commit {result['commit']}{', edited since' if result['changed'] else ''} (digest {result['verilog'][:12]}).

{head}
{chr(10).join(rows)}
{beside}
## Longest paths

| from | to | slack, ns | levels |
| --- | --- | ---: | ---: |
{slowest}
"""


def page_of(preset: str) -> Path:
    """Where a preset's page is: the lane of nic10g has the plain name."""
    return RESULTS / ("vivado.md" if preset == "nic10g" else f"vivado-{preset}.md")


def publish(result: dict, estimates: dict):
    """Writes a preset's page and, beside it, the result as JSON; `estimates` are those of the area command by its names."""
    preset, target = result["preset"], page_of(result["preset"])
    target.write_text(page(result, estimates.get(ESTIMATES.get(preset, preset))))
    target.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")


def show(screen, result: dict):
    """The table on the screen."""
    from .show import table

    t = result["timing"]
    made = table(
        f"{result['preset']} on {result['device']}, {result['period_ns']:g} ns: slack {t['wns_ns']:.3f} ns",
        ["module"],
        list(COLUMNS.values()),
    )
    for row in result["modules"]:
        if row["depth"] <= 2:
            made.add_row("  " * row["depth"] + row["instance"], *(f"{row.get(key, 0):,}" for key in COLUMNS))
    screen.print(made)
