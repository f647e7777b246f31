"""`vermilion release`: SystemVerilog for those who have no Scala, as an archive that FuseSoC takes as it is.

    vermilion-VERSION/nic10g/vermilion_nic10g.core, rtl/, ports.md, ooc.xdc      a lane; so for each preset
                      app10g-2/...                                              an application block for Corundum, with its shell
                      registers/                                                the register maps, as Markdown, HTML and SystemRDL
                      README.md, LICENSE

Every module's name begins with that of its block. Each block is elaborated by slang and linted by Verilator before it is packed. The same
sources give the same archive, byte for byte.
"""

import gzip
import io
import re
import shutil
import tarfile
from pathlib import Path

from . import build, hdl, registers, rtl
from .corundum_check import APP_ID, PRESETS as APPS
from .fields import UserError
from .vivado import PART

PERIOD_NS = 4.0


def shell_parameters(preset: str) -> dict[str, int]:
    """Parameters of the shell that a NIC for this preset has; all others may be as they are."""
    shape = APPS[preset]
    return {
        "APP_ID": APP_ID,
        "IF_COUNT": shape.ports,
        "AXIS_DATA_WIDTH": shape.bits,
        "PTP_TS_ENABLE": int(shape.timestamps),
        "AXIL_APP_CTRL_ADDR_WIDTH": 24,
    }


def clock(ports: list[hdl.Port]) -> str:
    return next(port.name for port in ports if port.name in ("clock", "clk"))


def port_table(preset: str, top: str, ports: list[hdl.Port]) -> str:
    text = f"# Ports of `{top}`, preset {preset}\n\nIn the order of the module; one clock, `{clock(ports)}`.\n\n"
    text += "| port | direction | bits |\n| --- | --- | ---: |\n"
    return text + "".join(f"| `{port.name}` | {port.way} | {port.bits} |\n" for port in ports)


def constraints(ports: list[hdl.Port]) -> str:
    name = clock(ports)
    reset = {"clock": "reset", "clk": "rst"}[name]
    return f"""# The block alone, out of context, at {1000 / PERIOD_NS:g} MHz. In a design its clock is the design's, and the block needs no constraints.
create_clock -name {name} -period {PERIOD_NS:.3f} [get_ports {name}]
# The reset is held for many clocks; nothing waits for its edge.
set_false_path -from [get_ports {reset}]
"""


def core(preset: str, version: str, folder: Path, top: str, parameters: dict[str, int]) -> str:
    """A core description of FuseSoC (CAPI2)."""
    listed = "".join(
        f"      - rtl/{path.name}{': {is_include_file: true}' if path.suffix == '.vh' else ''}\n"
        for path in rtl.headers(folder / "rtl") + rtl.sources(folder / "rtl")
    )
    what = "application block for a Corundum NIC" if rtl.is_app(preset) else "egress lane"
    library = "app" if rtl.is_app(preset) else "lane"
    taken = f"    parameters: [{', '.join(parameters)}]\n" if parameters else ""
    declared = "".join(
        f"  {name}: {{datatype: int, default: {value}, paramtype: vlogparam}}\n" for name, value in parameters.items()
    )
    return f"""CAPI=2:
name: vermilion:{library}:{preset}:{version}
description: Vermilion, DiffServ marking and active queue management, {what}, preset {preset}

filesets:
  rtl:
    files:
{listed}    file_type: systemVerilogSource
  ooc:
    files:
      - ooc.xdc
    file_type: xdc

targets:
  default:
    filesets: [rtl]
    toplevel: {top}
{taken}  lint:
    filesets: [rtl]
    toplevel: {top}
{taken}    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [{', '.join(hdl.LINT)}]
  synth:
    filesets: [rtl, ooc]
    toplevel: {top}
{taken}    flow: vivado
    flow_options:
      part: {PART}
      pnr: none
""" + (f"\nparameters:\n{declared}" if declared else "")


def block(preset: str, version: str, folder: Path, say):
    """One preset, as a folder that is a core."""
    sources, name = folder / "rtl", f"vermilion_{preset.replace('-', '_')}"
    top = rtl.write(preset, sources, say)
    for left in sources.glob("*.f"):
        left.unlink()
    parameters = shell_parameters(preset) if rtl.is_app(preset) else {}
    if rtl.is_app(preset):
        generated, shell = "vermilion_app", {path.name: path.read_text() for path in rtl.SHELL.iterdir()}
        for written in shell:
            (sources / written).unlink()
        hdl.prefix(sources, "vermilion_app_", generated, generated)
        for written, text in shell.items():
            (sources / written).write_text(text)
    else:
        generated = name
        hdl.prefix(sources, f"{name}_", top, name)
        top = name
    say(f"{preset} with slang and Verilator", "checking", "checked")
    files = rtl.sources(sources)
    hdl.elaborate(files, top, sources, parameters)
    hdl.lint(files, top, sources, parameters)
    ports = hdl.elaborate([path for path in files if path.name not in ("mqnic_app_block.v",)], generated, sources)
    (folder / "ports.md").write_text(port_table(preset, generated, ports))
    (folder / "ooc.xdc").write_text(constraints(ports))
    (folder / f"{name}.core").write_text(core(preset, version, folder, top, parameters))


def readme(presets: list[str], version: str) -> str:
    rows = "".join(
        f"| `vermilion:{'app' if rtl.is_app(preset) else 'lane'}:{preset}:{version}` | "
        f"{'`mqnic_app_block`, with `vermilion_app` in it' if rtl.is_app(preset) else f'`vermilion_{preset}`'} | [ports]({preset}/ports.md) |\n"
        for preset in presets
    )
    return f"""# Vermilion {version}

DiffServ marking and active queue management as SystemVerilog for synthesis, generated from Chisel; nothing but a Verilog tool is needed.

| core (FuseSoC) | top module | |
| --- | --- | --- |
{rows}
```
fusesoc library add vermilion DIR          # the folder of this file
fusesoc run --target=lint vermilion:lane:{presets[0] if not rtl.is_app(presets[0]) else 'nic10g'}
```

Without FuseSoC: the files of a core's `rtl/`, with that folder as include path. One clock; a reset that is synchronous and active high. After a reset every queue's limit
is 0, so all is dropped until a queue is configured: `registers/` has the map of a lane and, in an archive with one, of the application block. Outputs that begin with
`io_decision` or `io_refresh` show what the lane decided to a simulation that replays it; leave them open. Two builds of the application block have the same
module names, so one design holds one of them.
"""


def archive(folder: Path) -> Path:
    """The folder as .tar.gz beside it: files in order, without times or owners."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = tarfile.TarInfo(str(path.relative_to(folder.parent)))
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as file:
                tar.addfile(entry, file)
    packed = folder.with_name(folder.name + ".tar.gz")
    with packed.open("wb") as out, gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as zipped:
        zipped.write(held.getvalue())
    return packed


def release(folder: Path, presets: list[str], version: str, say=build.quiet) -> Path:
    """Writes the folder and the archive; returns the archive."""
    if not re.fullmatch(r"\d+(\.\d+){0,2}", version):
        raise UserError(f"--version is {version}; legal are up to three numbers with dots, such as 0.1.0")
    for preset in presets:
        if preset not in rtl.PRESETS:
            raise UserError(f"--preset is {preset}; legal are {', '.join(rtl.PRESETS)}")
    root = folder / f"vermilion-{version}"
    if root.exists():
        raise UserError(f"{root} is there already; remove it first")
    root.mkdir(parents=True)
    for preset in presets:
        block(preset, version, root / preset, say)
    say("the register maps", "writing", "written")
    registers.generate(root / "registers")
    for source in sorted((build.ROOT / "hw" / "regs").glob("*.rdl")):
        shutil.copy(source, root / "registers")
    shutil.copy(build.ROOT / "LICENSE", root)
    (root / "README.md").write_text(readme(presets, version))
    return archive(root)
