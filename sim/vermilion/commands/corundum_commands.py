"""The commands `vermilion corundum`, a NIC's configuration checked and what is added to a Corundum tree."""

import sys
from pathlib import Path

import click

from vermilion.console.screen import working
from vermilion.values.fields import UserError


@click.group()
def corundum():
    """Vermilion as the application block of a Corundum NIC (fpga/corundum/README.md)."""


@corundum.command()
@click.argument("config", type=click.Path(path_type=Path), required=False)
@click.option("--preset", metavar="PRESET", help="The build of the block; without it, whichever has the board's ports.")
@click.option(
    "--all",
    "tree",
    metavar="TREE",
    type=click.Path(path_type=Path),
    help="Every board configuration of a Corundum tree.",
)
def check(config, preset, tree):
    """Says what in a board's CONFIG.tcl, and in the overlay of its tree, does not fit the block, a sentence each, on standard error.

    With --all: which presets each board configuration of TREE takes. Status 0: it fits, 1: it does not, 2: there is nothing to check.
    """
    from vermilion.corundum import corundum_check

    if (config is None) == (tree is None):
        raise UserError("corundum check takes a CONFIG.tcl or --all TREE, one of them")
    if tree and preset:
        raise UserError("--preset is for a CONFIG.tcl; --all tries every preset")
    warn = lambda text: click.echo(text, err=True)
    if tree:
        sys.exit(corundum_check.report_all(tree, click.echo, warn))
    sys.exit(corundum_check.report(config, preset, click.echo, warn))


@corundum.command()
@click.argument("preset")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--board",
    "variants",
    multiple=True,
    metavar="VARIANT",
    help="A folder in fpga/mqnic, as Nexus_K3P_S/fpga_25g/fpga_K3P: its copy VARIANT_vermilion takes the block in. May be given again.",
)
def overlay(preset, folder, variants):
    """Writes the block built for PRESET below DIR, the root of a copy of Corundum, with what a board needs to take it in.

    Presets, and which board takes which: fpga/corundum/README.md, and `corundum check --all DIR`.
    """
    from vermilion.corundum import corundum as tree

    with working() as note:
        target = tree.overlay(preset, folder, note, variants)
    for variant in dict.fromkeys(variants):
        click.echo(f"ready for make: {tree.copy_of(folder / 'fpga' / 'mqnic' / variant)}")
    click.echo(f"written to {target}; how to go on is in its README.md")
    if variants:
        return
    for board in tree.boards_for(preset):
        click.echo(f"  {board.name}: fpga/mqnic/{board.variant}")
