"""The commands `vermilion corundum`: a NIC's configuration checked, and what is added to a Corundum tree."""

import sys
from pathlib import Path

import click


@click.group()
def corundum():
    """Vermilion as the application block of a Corundum NIC (fpga/corundum/README.md)."""


@corundum.command()
@click.argument("config", type=click.Path(path_type=Path))
@click.option("--preset", metavar="PRESET", help="The build of the block; without it, whichever has the board's ports.")
def check(config, preset):
    """Says what in a board's CONFIG.tcl does not fit the block, a sentence each. Status 0: it fits, 1: it does not."""
    from . import corundum_check

    sys.exit(corundum_check.report(config, preset, click.echo))
