"""`vermilion corundum overlay`: what is added to a Corundum tree, so that its own build makes a NIC with Vermilion in it.

    DIR/fpga/app/vermilion/rtl/           the application block, generated and hand-written
                           files.mk       its files, for a board's Makefile
                           settings.tcl   its settings, for a board's config.tcl
                           LICENSE, README.md

With `--board` a copy of the board's variant takes that in:

    DIR/fpga/mqnic/VARIANT_vermilion/     VARIANT, with a line more in its Makefile and one in its config.tcl

Nothing of Corundum is in it, and nothing there is changed.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from vermilion.synthesis import rtl
from vermilion.toolchain import app_presets, build
from vermilion.toolchain.app_presets import LEGAL
from vermilion.values.fields import UserError

from . import corundum_check
from .corundum_check import INCLUDE, SETTINGS
from .tcl import Unreadable

README = build.ROOT / "fpga" / "corundum" / "README.md"
SOURCE = "source ../app/vermilion/settings.tcl"  # by which a board's config.tcl takes the settings in
# What a build leaves in a variant's folder, which a copy does not need.
BUILT = (
    "*.runs",
    "*.cache",
    "*.hw",
    "*.gen",
    "*.srcs",
    "*.ip_user_files",
    "*.xpr",
    "*.bit",
    "*.log",
    "*.jou",
    "rev",
    ".Xil",
)


@dataclass(frozen=True)
class Board:
    """A variant of a board in Corundum's `fpga/mqnic`, and the presets that its ports are for."""

    name: str
    variant: str
    part: str
    presets: tuple[str, ...]


BOARDS = (
    Board("Nexus K3P-S, 2 x 10G", "Nexus_K3P_S/fpga_25g/fpga_K3P_10g", "xcku3p", ("card-2x10g", "app10g-2-lean")),
    Board("Nexus K3P-S, 2 x 25G", "Nexus_K3P_S/fpga_25g/fpga_K3P", "xcku3p", ("card-2x25g", "app25g-2-lean")),
    Board("Nexus K3P-Q, 2 x 10G", "Nexus_K3P_Q/fpga_25g/fpga_10g", "xcku3p", ("card-2x10g", "app10g-2-lean")),
    Board("Nexus K3P-Q, 2 x 25G", "Nexus_K3P_Q/fpga_25g/fpga", "xcku3p", ("card-2x25g", "app25g-2-lean")),
    Board("Alveo U50, 1 x 100G", "Alveo/fpga_100g/fpga_AU50", "xcu50", ("app100g-1",)),
)


def boards_for(preset: str) -> list[Board]:
    return [board for board in BOARDS if preset in board.presets]


def settings(preset: str) -> str:
    """The lines that a board's config.tcl sources."""
    shape = app_presets.known(preset)
    known = "".join(f"#   {board.name}: fpga/mqnic/{board.variant}\n" for board in boards_for(preset))
    known = known or "#   (none is named for this preset)\n"
    lines = "".join(f'dict set params {name} "{value}"\n' for name, value in SETTINGS.items())
    return f"""# Settings of Vermilion's application block, preset {preset}. A board's config.tcl takes them in with
#   source ../app/vermilion/settings.tcl
# behind its own settings and above the first configure_bar. The board itself must have PORTS_PER_IF 1, IF_COUNT {shape.ports},
# PTP_TS_ENABLE {int(shape.timestamps)}, a clock of {shape.clock_ns[0]}/{shape.clock_ns[1]} ns and streams of {shape.bits} bits:
{known}{lines}"""


def files(folder: Path) -> str:
    """The lines that a board's Makefile includes; names there are seen from the folder above it."""
    names = [path.name for path in rtl.headers(folder) + rtl.sources(folder)]
    return "# Files of Vermilion's application block, for SYN_FILES of a board's Makefile.\n" + "".join(
        f"SYN_FILES += app/vermilion/rtl/{name}\n" for name in names
    )


def variant_of(preset: str, tree: Path, board: str) -> Path:
    """The folder of a board's variant in a Corundum tree, if it is one that `preset` fits and that has no copy yet."""
    folder = tree / "fpga" / "mqnic" / board
    config = folder / "config.tcl"
    if not config.is_file() or not (folder / "Makefile").is_file():
        raise UserError(
            f"--board is {board}: {folder} holds no config.tcl and Makefile; legal is as Nexus_K3P_S/fpga_25g/fpga_K3P"
        )
    copy = copy_of(folder)
    if copy.exists():
        raise UserError(f"{copy} is there already; remove it first")
    try:
        settings = corundum_check.Settings(corundum_check.read(config).params | SETTINGS)
    except Unreadable as error:
        raise UserError(str(error)) from None
    corundum_check.check_block(settings)
    corundum_check.check_preset(settings, preset)
    if settings.wrong:
        others = ", ".join(corundum_check.fitting(settings)) or "none"
        raise UserError(
            f"--board is {board}, which {preset} does not fit: {'; '.join(settings.wrong)}. Presets that do: {others}"
        )
    return folder


def copy_of(variant: Path) -> Path:
    """Where a variant is copied to."""
    return variant.with_name(f"{variant.name}_vermilion")


def above(text: str, line: str, patterns: list[str], what: Path) -> str:
    """The text with a line more, above the first that matches the first of the patterns that any does."""
    for pattern in patterns:
        found = re.search(pattern, text, re.M)
        if found:
            return f"{text[: found.start()]}{line}\n{text[found.start() :]}"
    raise UserError(f"{what} has no place for the line `{line}`; put it in by hand")


def with_overlay(variant: Path) -> dict[str, str]:
    """The files of a board's variant that take the overlay in, by name."""
    return {
        "Makefile": above(
            (variant / "Makefile").read_text(errors="surrogateescape"),
            INCLUDE,
            [r"^include \.\./common/"],
            variant / "Makefile",
        ),
        "config.tcl": above(
            (variant / "config.tcl").read_text(errors="surrogateescape"),
            SOURCE,
            [r"^# PCIe IP core settings$", r"^configure_bar ", r"^dict for "],
            variant / "config.tcl",
        ),
    }


def take_in(variant: Path, changed: dict[str, str]):
    """Copies a board's variant, with the changed files in it."""
    copy = copy_of(variant)
    shutil.copytree(variant, copy, symlinks=True, ignore=shutil.ignore_patterns(*BUILT))
    for name, text in changed.items():
        (copy / name).write_text(text, errors="surrogateescape")


def overlay(preset: str, folder: Path, say=build.quiet, boards: tuple[str, ...] = ()) -> Path:
    """Writes it below `folder`, and a copy of the variant of each board; returns where the overlay is."""
    if app_presets.app(preset) is None:
        raise UserError(f"PRESET is {preset}; legal are {LEGAL}")
    target = folder / "fpga" / "app" / "vermilion"
    if target.exists():
        raise UserError(f"{target} is there already; remove it first")
    variants = {each: with_overlay(each) for each in (variant_of(preset, folder, board) for board in boards)}
    rtl.write(preset, target / "rtl", say, prefixed=True)
    (target / "files.mk").write_text(files(target / "rtl"))
    (target / "settings.tcl").write_text(settings(preset))
    for source in (README, build.ROOT / "LICENSE"):
        (target / source.name).write_bytes(source.read_bytes())
    for variant, changed in variants.items():
        take_in(variant, changed)
    return target
