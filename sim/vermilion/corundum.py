"""`vermilion corundum overlay`: what is added to a Corundum tree, so that its own build makes a NIC with Vermilion in it.

    DIR/fpga/app/vermilion/rtl/           the application block, generated and hand-written
                           files.mk       its files, for a board's Makefile
                           settings.tcl   its settings, for a board's config.tcl
                           LICENSE, README.md

Nothing of Corundum is in it, and nothing there is changed.
"""

from dataclasses import dataclass
from pathlib import Path

from . import build, rtl
from .corundum_check import APP_ID, PRESETS
from .fields import UserError

README = build.ROOT / "fpga" / "corundum" / "README.md"
# The sync stage alone is in use: without the others the core leaves their logic out.
SETTINGS = {
    "APP_ID": f"32'h{APP_ID:08X}",
    "APP_ENABLE": "1",
    "APP_CTRL_ENABLE": "1",
    "APP_DMA_ENABLE": "0",
    "APP_AXIS_DIRECT_ENABLE": "0",
    "APP_AXIS_SYNC_ENABLE": "1",
    "APP_AXIS_IF_ENABLE": "0",
    "APP_STAT_ENABLE": "1",
    "AXIL_APP_CTRL_DATA_WIDTH": "32",
    "AXIL_APP_CTRL_ADDR_WIDTH": "24",
    "STAT_ENABLE": "1",
    "STAT_INC_WIDTH": "24",
    "STAT_ID_WIDTH": "12",
}


@dataclass(frozen=True)
class Board:
    """A variant of a board in Corundum's `fpga/mqnic`, and the presets that its ports are for."""

    name: str
    variant: str
    part: str
    presets: tuple[str, ...]


BOARDS = (
    Board("Nexus K3P-S, 2 x 10G", "Nexus_K3P_S/fpga_25g/fpga_K3P_10g", "xcku3p", ("app10g-2-lean",)),
    Board("Nexus K3P-S, 2 x 25G", "Nexus_K3P_S/fpga_25g/fpga_K3P", "xcku3p", ("app25g-2-lean",)),
    Board("Nexus K3P-Q, 2 x 10G", "Nexus_K3P_Q/fpga_25g/fpga_10g", "xcku3p", ("app10g-2-lean",)),
    Board("Nexus K3P-Q, 2 x 25G", "Nexus_K3P_Q/fpga_25g/fpga", "xcku3p", ("app25g-2-lean",)),
    Board("Alveo U50, 1 x 100G", "Alveo/fpga_100g/fpga_AU50", "xcu50", ("app100g-1",)),
)


def boards_for(preset: str) -> list[Board]:
    return [board for board in BOARDS if preset in board.presets]


def settings(preset: str) -> str:
    """The lines that a board's config.tcl sources."""
    shape = PRESETS[preset]
    known = "".join(f"#   {board.name}: fpga/mqnic/{board.variant}\n" for board in boards_for(preset))
    known = known or "#   (none is named for this preset)\n"
    lines = "".join(f'dict set params {name} "{value}"\n' for name, value in SETTINGS.items())
    return f"""# Settings of Vermilion's application block, preset {preset}. A board's config.tcl takes them in with
#   source ../app/vermilion/settings.tcl
# behind its own settings and above the first configure_bar. The board itself must have PORTS_PER_IF 1, IF_COUNT {shape.ports},
# PTP_TS_ENABLE {int(shape.timestamps)} and streams of {shape.bits} bits:
{known}{lines}"""


def files(folder: Path) -> str:
    """The lines that a board's Makefile includes; names there are seen from the folder above it."""
    names = [path.name for path in rtl.headers(folder) + rtl.sources(folder)]
    return "# Files of Vermilion's application block, for SYN_FILES of a board's Makefile.\n" + "".join(
        f"SYN_FILES += app/vermilion/rtl/{name}\n" for name in names
    )


def overlay(preset: str, folder: Path, say=build.quiet) -> Path:
    """Writes it below `folder`; returns where."""
    if preset not in PRESETS:
        raise UserError(f"PRESET is {preset}; legal are {', '.join(PRESETS)}")
    target = folder / "fpga" / "app" / "vermilion"
    if target.exists():
        raise UserError(f"{target} is there already; remove it first")
    rtl.write(preset, target / "rtl", say, prefixed=True)
    (target / "files.mk").write_text(files(target / "rtl"))
    (target / "settings.tcl").write_text(settings(preset))
    for source in (README, build.ROOT / "LICENSE"):
        (target / source.name).write_bytes(source.read_bytes())
    return target
