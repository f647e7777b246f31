"""`vermilion release`: SystemVerilog for those who have no Scala, as an archive that FuseSoC takes.

    vermilion-VERSION/nic10g/nic10g.core, rtl/, ports.md, ooc.xdc   a lane; so for each preset
                      app10g-2/...                                    an application block for Corundum, with its shell
                      registers/                                      the register maps, as Markdown and SystemRDL
                      README.md, LICENSE

Every module's name begins with that of its block. Each block is elaborated by slang and linted by Verilator before it is
packed. The same files give the same archive, byte for byte.
"""

import gzip
import io
import re
import shutil
import tarfile
from pathlib import Path

from vermilion.generate import registers
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import hdl, rtl
from .vivado import PART, clock, parameters

PERIOD_NS = 4.0


def port_table(preset: str, top: str, ports: list[hdl.Port]) -> str:
    text = f"# Ports of `{top}`, preset {preset}\n\nIn the order of the module; one clock, `{clock(preset)}`.\n\n"
    text += "| port | direction | bits |\n| --- | --- | ---: |\n"
    return text + "".join(f"| `{port.name}` | {port.way} | {port.bits} |\n" for port in ports)


def constraints(preset: str) -> str:
    name = clock(preset)
    return f"""# The block alone, out of context, at {1000 / PERIOD_NS:g} MHz. In a design its clock is the design's, and the block needs no constraints.
create_clock -name {name} -period {PERIOD_NS:.3f} [get_ports {name}]
"""


def core(preset: str, version: str, folder: Path, top: str) -> str:
    """A core description of FuseSoC (CAPI2)."""
    listed = "".join(
        f"      - rtl/{path.name}{': {is_include_file: true}' if path.suffix == '.vh' else ''}\n"
        for path in rtl.headers(folder / "rtl") + rtl.sources(folder / "rtl")
    )
    what = "application block for a Corundum NIC" if rtl.is_app(preset) else "egress lane"
    given = parameters(preset)
    taken = f"    parameters: [{', '.join(given)}]\n" if given else ""
    declared = "".join(
        f"  {name}: {{datatype: int, default: {value}, paramtype: vlogparam}}\n" for name, value in given.items()
    )
    return f"""CAPI=2:
name: {vlnv(preset, version)}
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
      verilator_options: [{", ".join(hdl.LINT)}]
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
    sources = folder / "rtl"
    top = rtl.write(preset, sources, say, prefixed=True)
    for left in sources.glob("*.f"):
        left.unlink()
    say(f"{preset} with slang and Verilator", "checking", "checked")
    files = rtl.sources(sources)
    ports = hdl.elaborate(files, top, sources, parameters(preset))
    hdl.lint(files, top, sources, parameters(preset))
    shown = top
    if rtl.is_app(preset):  # the shell's ports are Corundum's, and have the widths of its parameters
        shown = rtl.GENERATED_APP
        ports = hdl.elaborate(files, shown, sources)
    (folder / "ports.md").write_text(port_table(preset, shown, ports))
    (folder / "ooc.xdc").write_text(constraints(preset))
    (folder / f"{preset}.core").write_text(core(preset, version, folder, top))


def vlnv(preset: str, version: str) -> str:
    """Vendor, library, name and version by which FuseSoC knows a preset."""
    return f"vermilion:{'app' if rtl.is_app(preset) else 'lane'}:{preset}:{version}"


def readme(presets: list[str], version: str) -> str:
    tops = {name: "`mqnic_app_block`" if rtl.is_app(name) else f"`{rtl.module(name)}`" for name in presets}
    rows = "".join(
        f"| `{vlnv(name, version)}` | {top} | [{name}/ports.md]({name}/ports.md) |\n" for name, top in tops.items()
    )
    return f"""# Vermilion {version}

DiffServ marking and active queue management as SystemVerilog for synthesis, generated from Chisel; nothing but a tool for
Verilog is needed to use it.

| core of FuseSoC | top module | ports |
| --- | --- | --- |
{rows}
```
fusesoc --cores-root DIR run --target=lint {vlnv(presets[0], version)}      # DIR: the folder of this file
```

Without FuseSoC: the files of a core's `rtl/`, with that folder as include path. There is one clock, and a reset that is
synchronous and active high. It goes to one register, so no timing exception is needed; it takes effect a clock later.

* A lane is wired by `io_in`, `io_out`, `io_control` and `io_now` (ns, counted up in every clock). `io_paused_0` stops its output
  between two frames; wire it to 0 if nothing pauses. Its other outputs show a
  simulation what it does; leave them open. After a reset every queue's limit is 0, so all is dropped until a queue is
  configured.
* `mqnic_app_block` is the application block of a Corundum NIC, round `vermilion_app`, whose ports are in the table. Builds of
  it have the same names of modules, so one design holds one of them.
* `registers/` has the register maps of both.
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
    if not re.fullmatch(r"\d+(\.\d+){0,2}", version, re.ASCII):
        raise UserError(f"--version is {version}; legal are up to three numbers with dots, such as 0.1.0")
    for preset in presets:
        if not rtl.is_legal(preset):
            raise UserError(f"--preset is {preset}; legal are {rtl.LEGAL}")
    root = folder / f"vermilion-{version}"
    if root.exists():
        raise UserError(f"{root} is there already; remove it first")
    root.mkdir(parents=True)
    for preset in presets:
        block(preset, version, root / preset, say)
    (root / "registers").mkdir()
    for of in (registers.LANE, registers.APP):
        shutil.copy(of.path, root / "registers")
        shutil.copy(build.ROOT / "docs" / of.page, root / "registers")
    shutil.copy(build.ROOT / "LICENSE", root)
    (root / "README.md").write_text(readme(presets, version))
    return archive(root)
