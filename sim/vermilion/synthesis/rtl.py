"""SystemVerilog for synthesis, of a lane or of the application block, written into a folder."""

from pathlib import Path

from vermilion.toolchain import app_presets, build, chisel
from vermilion.values.fields import UserError

from . import hdl

PRESETS = [*build.PRESETS, *app_presets.PRESETS]  # what a release holds, if nobody names others
EVERYTHING = ["nic10g-all", "nic100g-all"]  # and these can be named: lanes with the victim search in all queues
LEGAL = f"{', '.join([*build.PRESETS, *EVERYTHING])}, {app_presets.LEGAL}"  # a sentence
SHELL = build.ROOT / "fpga" / "corundum" / "rtl"  # what is written by hand round an application block
GENERATED_APP = "vermilion_app"


def is_app(preset: str) -> bool:
    return app_presets.app(preset) is not None


def is_legal(preset: str) -> bool:
    return preset in [*build.PRESETS, *EVERYTHING] or is_app(preset)


def module(preset: str) -> str:
    """The top module of a preset that others take into their design."""
    return GENERATED_APP if is_app(preset) else f"vermilion_{preset}".replace("-", "_")


def write(preset: str, folder: Path, say=build.quiet, prefixed: bool = False) -> str:
    """Fills `folder` and returns the top module's name; of an application block that is the shell, which is copied too.

    `prefixed`: names of modules begin with that of the block (hdl.py, `prefix`).
    """
    if not is_legal(preset):
        raise UserError(f"preset is {preset}; legal are {LEGAL}")
    folder.mkdir(parents=True)
    emitter = "vermilion.nic.EmitApp" if is_app(preset) else "vermilion.lane.EmitLane"
    with build.locked(f"rtl-{preset}.lock"):
        say(f"Chisel to SystemVerilog, preset {preset}")
        chisel.run(build.BUILD / f"rtl-{preset}.log", emitter, preset, str(folder.resolve()), "synthesis")
    top = GENERATED_APP if is_app(preset) else build.top_module(folder)
    if prefixed:
        name = module(preset)
        hdl.prefix(folder, f"{name}_", top, name)
        top = name
    if not is_app(preset):
        return top
    for source in sorted(SHELL.iterdir()):
        (folder / source.name).write_bytes(source.read_bytes())
    return "mqnic_app_block"


def sources(folder: Path) -> list[Path]:
    """The files to compile, without headers, in an order that is always the same."""
    return sorted(path for path in folder.iterdir() if path.suffix in (".sv", ".v"))


def headers(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.vh"))
