"""`vermilion vivado`: a lane or an application block for Vivado, ready to run, and its reports read back.

    write    DIR/rtl/*.sv, DIR/build.tcl, DIR/run.sh, DIR/build.json
    run.sh   DIR/reports/*.rpt                                            Vivado, where it is installed
    report   one file with the reports and what they are of               to send to the project
    read     docs/results/vivado.md, vivado-app10g-2.md, ... and .json    from that file, or from DIR

Vivado is not part of this project and never run by it: `run.sh` holds the one line to type. A page is written from reports only, never from
anything estimated here.
"""

import json
import lzma
import math
import re
import shutil
import zipfile
import zlib
from pathlib import Path

from vermilion.console.command_line import commit
from vermilion.toolchain import app_presets, build, steps
from vermilion.values.fields import UserError

from . import rtl

SCRIPT = build.ROOT / "fpga" / "vivado" / "build.tcl"
RESULTS = build.ROOT / "docs" / "results"
# Names of presets in vermilion/synthesis/area.py, where they are others.
ESTIMATES = {
    "nic10g": "lane",
    "nic10g-all": "lane-with-victims",
    "nic100g": "lane-512",
    "nic100g-all": "card-1x100g",
}
PART = "xcku3p-ffvb676-2-e"
NEEDED = ("utilization.rpt", "timing.rpt")
REPORTS = (*NEEDED, "methodology.rpt", "drc.rpt", "route.rpt")  # what a packed file holds of them
LONGEST = 64 << 20  # bytes of a member of a packed file
# What build.json says beside the period, as patterns: it comes from strangers and goes into a page.
MADE = {"preset": r"[\w-]{1,80}", "commit": r"[\w -]{1,80}", "part": r"[\w-]{1,80}", "verilog": r"[0-9a-f]{1,128}"}
PERIODS = (1.0, 100.0)  # ns
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
    EOFError,
    OSError,
    ValueError,
)
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
    shape = app_presets.known(preset)
    return {
        "APP_ID": app_presets.APP_ID,
        "IF_COUNT": shape.ports,
        "AXIS_DATA_WIDTH": shape.bits,
        "PTP_TS_ENABLE": int(shape.timestamps),
        "CLK_PERIOD_NS_NUM": shape.clock_ns[0],
        "CLK_PERIOD_NS_DENOM": shape.clock_ns[1],
        "AXIL_APP_CTRL_ADDR_WIDTH": 24,
    }


def clock(preset: str) -> str:
    """Its name in a preset's top module."""
    return "clk" if rtl.is_app(preset) else "clock"


def write(preset: str, folder: Path, part: str, period: float | None, say=build.quiet) -> str:
    """Fills `folder` and returns the command that runs Vivado there. `period`: of the clock in ns; None: that which the preset is built for."""
    if not rtl.is_legal(preset):
        raise UserError(f"--preset is {preset}; legal are {rtl.LEGAL}")
    if period is None:
        num, denom = app_presets.known(preset).clock_ns if rtl.is_app(preset) else (4, 1)
        period = int(1000 * num / denom) / 1000  # down, so that what meets it meets the clock
    if not re.fullmatch(r"[\w-]+", part):
        raise UserError(f"--part is {part!r}; legal are letters, digits, - and _, as in {PART}")
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; name a new folder")
    top = rtl.write(preset, folder / "rtl", say)
    shutil.copy(SCRIPT, folder)
    words = ["rtl", top, clock(preset), part, f"{period:g}", "reports"]
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
    """A digest of what Vivado gets in `folder`: the sources, the script, and the command with part, period and parameters."""
    return steps.content([*(folder / "rtl").rglob("*.*v*"), folder / "build.tcl", folder / "run.sh"])


def of_folder(folder: Path) -> tuple[dict, dict[str, str]]:
    """What build.json of a folder says, and its reports by name."""
    reports = folder / "reports"
    for name in NEEDED:
        if not (reports / name).is_file():
            raise UserError(f"{reports / name} is not there: has run.sh come to its end?")
    for name in REPORTS:
        if (reports / name).is_file() and (reports / name).stat().st_size > LONGEST:
            raise UserError(f"{reports / name} is longer than {LONGEST:,} bytes, the most that is legal")
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
    except (ValueError, RecursionError) as error:
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


def members(path: Path, file: zipfile.ZipFile) -> dict[str, str]:
    """Those members of a packed file that are wanted, as text."""
    held = {each.filename: each for each in file.infolist()}
    for name in ("build.json", *(f"reports/{name}" for name in NEEDED)):
        if name not in held:
            raise UserError(f"{path} holds no {name}: it was not packed by `vermilion vivado report`")
    texts = {}
    for name in ("build.json", *(f"reports/{name}" for name in REPORTS if f"reports/{name}" in held)):
        if held[name].compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UserError(f"{path}: {name} is compressed by another method than deflate")
        with file.open(name) as member:
            text = member.read(LONGEST + 1)  # whatever length it claims
        if len(text) > LONGEST:
            raise UserError(f"{path}: {name} is longer than {LONGEST:,} bytes, the most that is legal")
        texts[name] = text.decode(errors="replace")
    return texts


def of_file(path: Path) -> tuple[dict, dict[str, str]]:
    """What a packed file holds. Its members are read by their names; nothing is unpacked."""
    try:
        with zipfile.ZipFile(path) as file:
            texts = members(path, file)
    except UNREADABLE as error:
        raise UserError(f"{path} cannot be read as a packed report: {error}") from None
    made = checked(texts.pop("build.json"), f"{path}: build.json")
    return made, {name.removeprefix("reports/"): text for name, text in texts.items()}


def plain(text: str) -> str:
    """Text of a report for a page: what could be markup there is a question mark."""
    return re.sub(r"[^\w .,:;()\[\]{}/$#@+=*-]", "?", text, flags=re.A)


def number(text: str, kind=float):
    """A number of a report; UserError if it is none."""
    try:
        value = kind(text)
        finite = math.isfinite(value)
    except (ValueError, OverflowError):
        finite = False
    if not finite:
        raise UserError(f"a report has {plain(text)[:40]} where a number is expected")
    return value


def header(text: str, field: str) -> str:
    """A line of the head of a report, as `| Device : xcku3p-... |`."""
    for line in text.splitlines():
        name, colon, value = line.strip(" |").partition(":")
        if line.startswith("|") and colon and name.strip() == field:
            return plain(value.strip())
    raise UserError(f"the report has no line {field!r} in its head: it is none of Vivado's, or cut off")


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
            values = dict(zip(heads, words, strict=False))
            depth = (len(cells[0]) - len(cells[0].lstrip()) - 1) // 2
            counts = {key: number(values[column], int) for key, column in COLUMNS.items() if column in values}
            rows.append({"instance": plain(words[0]), "module": plain(words[1]), "depth": depth} | counts)
    if not rows:
        raise UserError("utilization.rpt holds no table by module; build.tcl asks for one with -hierarchical")
    return rows


def timing(text: str) -> dict:
    """Slacks and failing endpoints of timing.rpt's summary, and its longest paths."""
    lines = text.splitlines()
    heads = [i for i, line in enumerate(lines) if re.match(r"\s*WNS\(ns\)\s+TNS\(ns\)", line)]
    row = lines[heads[0] + 2].split() if heads and len(lines) > heads[0] + 2 else []
    if len(row) < 5:
        raise UserError("timing.rpt holds no design timing summary")
    wns, tns, failing, total, whs = row[:5]
    paths = []
    for line in lines:
        slack = re.match(r"Slack \(\w+\) :\s+(-?[\d.]+)ns", line)
        if slack:
            paths.append({"slack_ns": number(slack[1]), "from": "", "to": "", "levels": 0})
        name, colon, value = line.strip().partition(":")
        first = value.split()[0] if value.split() else ""
        if paths and colon and name in ("Source", "Destination"):
            paths[-1]["from" if name == "Source" else "to"] = plain(first)
        elif paths and colon and name == "Logic Levels":
            paths[-1]["levels"] = number(first, int)
    return {
        "wns_ns": number(wns),
        "tns_ns": number(tns),
        "failing": number(failing, int),
        "endpoints": number(total, int),
        "whs_ns": number(whs),
        "paths": sorted(paths, key=lambda path: path["slack_ns"])[:10],
    }


def read(place: Path) -> dict:
    """What the reports in a folder or a packed file say."""
    made, reports = of_folder(place) if place.is_dir() else of_file(place)
    used, timed = (reports[name] for name in NEEDED)
    device, family = header(used, "Device"), re.match(r"[a-z0-9]+", made["part"], re.I)
    if family and not device.replace("-", "").lower().startswith(family[0].lower()):
        raise UserError(f"{place}: the reports are of {device}; the run was written for {made['part']}")
    return {
        "preset": made["preset"],
        "commit": made["commit"],
        "verilog": made["verilog"],
        "changed": made["changed"],  # whether somebody has edited what Vivado got
        "device": device,
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

Made by `./vermilion vivado read FILE --publish` from the reports of `fpga/vivado/build.tcl`. {result["tool"]}, {result["device"]}, preset {result["preset"]}, out of context, clock of
{result["period_ns"]:g} ns: worst slack {t["wns_ns"]:.3f} ns (setup), {t["whs_ns"]:.3f} ns (hold), {t["failing"]:,} of {t["endpoints"]:,} endpoints fail.
The sources are those of commit {result["commit"]}{", edited since" if result["changed"] else ""} (digest {result["verilog"][:12]}).

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
    from vermilion.console.tables import table

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
