"""The command `release`."""

import shutil
from pathlib import Path

import click

from vermilion.console.screen import working
from vermilion.values.fields import UserError


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option("--preset", "presets", multiple=True, metavar="PRESET", help="Only this one; may be given again.")
@click.option("--version", help="Version of the cores, such as 0.1.0. Default: the project's.")
@click.option(
    "--all", "everything", is_flag=True, help="Wheel, Debian package, container, site, notes, checksums, too."
)
@click.option("--once", is_flag=True, help="With --all: no second build that must have the same bytes.")
@click.option("--no-container", is_flag=True, help="With --all: without the container, which needs mmdebstrap.")
@click.option("--with-changes", is_flag=True, help="With --all: also if files differ from the commit.")
@click.pass_context
def release(context, folder, presets, version, everything, once, no_container, with_changes):
    """Writes the SystemVerilog of every preset below DIR and packs it, for FuseSoC or any other tool.

    --all writes all artefacts of a release to DIR, which must be new or empty, with their checksums. It builds them twice and compares.
    """
    from vermilion.site.build import version as of_project
    from vermilion.synthesis import release as packing
    from vermilion.synthesis import rtl

    presets = list(presets) or list(rtl.PRESETS)
    if not everything:
        for given, name in ((once, "--once"), (no_container, "--no-container"), (with_changes, "--with-changes")):
            if given:
                raise UserError(f"{name} has no meaning without --all")
        with working() as note:
            packed = packing.release(folder, presets, version or of_project(), note)
        click.echo(f"written to {packed}")
        return
    if version:
        raise UserError("--version and --all: a release has the version of pyproject.toml")
    from vermilion.release import whole
    from vermilionctl import cli as tools

    again = folder.resolve().with_name(folder.resolve().name + "-again")  # stays there if it differs
    if not once:
        whole.check_folder(again)
    groups = {"./vermilion": context.find_root().command, "vermilionctl": tools.cli}
    with working() as note:
        made = whole.release(folder, presets, groups, note, with_changes, not no_container)
        if not once:
            whole.release(again, presets, groups, note, with_changes, not no_container)
            whole.compare(folder, again)
            shutil.rmtree(again)
    for path in made:
        click.echo(f"{path.stat().st_size:>12,} bytes  {path}")
    if not once:
        click.echo("built twice, the same bytes")
    click.echo(f"to tag it: git tag -a --cleanup=verbatim v{of_project()} -F {folder / 'notes.md'}")
