"""The commands `vermilion corundum`, a NIC's configuration checked and what is added to a Corundum tree, and `vermilion release`."""

import sys
from pathlib import Path

import click

from .screen import working


@click.group()
def corundum():
    """Vermilion as the application block of a Corundum NIC (fpga/corundum/README.md)."""


@corundum.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--preset", metavar="PRESET", help="The build of the block; without it, whichever has the board's ports.")
def check(config, preset):
    """Says what in a board's CONFIG.tcl does not fit the block, a sentence each, on standard error.

    Status 0: it fits, 1: it does not, 2: there is nothing to check.
    """
    from . import corundum_check

    sys.exit(corundum_check.report(config, preset, click.echo, lambda text: click.echo(text, err=True)))


@corundum.command()
@click.argument("preset")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
def overlay(preset, folder):
    """Writes the block built for PRESET below DIR, the root of a copy of Corundum, with what a board needs to take it in.

    Presets, and which board takes which: fpga/corundum/README.md.
    """
    from . import corundum as tree

    with working() as note:
        target = tree.overlay(preset, folder, note)
    click.echo(f"written to {target}; how to go on is in its README.md")
    for board in tree.boards_for(preset):
        click.echo(f"  {board.name}: fpga/mqnic/{board.variant}")


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--preset", "presets", multiple=True, metavar="PRESET", help="Only this one; may be given again.")
@click.option("--version", default="0.0.0", show_default=True, help="Version of the cores, such as 0.1.0.")
def release(folder, presets, version):
    """Writes the SystemVerilog of every preset below DIR and packs it, for FuseSoC or any other tool."""
    from . import release as packing
    from . import rtl

    with working() as note:
        packed = packing.release(folder, list(presets) or rtl.PRESETS, version, note)
    click.echo(f"written to {packed}")
