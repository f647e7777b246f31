"""The command `docs`."""

from pathlib import Path

import click

from vermilion.console.screen import say, working
from vermilion.values.fields import UserError


@click.command()
@click.option("--out", metavar="DIR", help="Folder of the site. Default: .vermilion/docs/site.")
@click.option("--versions", metavar="DIR", help="Writes the site to DIR/VERSION, and a list of the versions there.")
@click.option(
    "--api", is_flag=True, help="With the Scaladoc of the RTL, below Reference; not with --versions or --serve."
)
@click.option("--serve", is_flag=True, help="Serves the site to this machine, and builds it again when a page changes.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="For --serve; 0: any.")
@click.pass_context
def docs(context, out, versions, api, serve, port):
    """Builds the documentation as a site that a browser opens from disk: with search, and without a network."""
    from vermilion.site import build
    from vermilionctl import cli as tools

    if api and (versions or serve):
        raise UserError("--api with --versions or --serve; legal is --api alone, or with --out")
    if out and versions:
        raise UserError("--out and --versions: give one of them")
    for name, given in (("--out", out), ("--versions", versions)):
        if given and Path(given).exists() and not allowed(Path(given), name):
            raise UserError(
                f"{name} {given}: is no folder of an earlier site; legal is a new or empty folder, or one with a site"
            )
    groups = {"./vermilion": context.find_root().command, "vermilionctl": tools.cli}
    place = Path(out) if out else build.DEFAULT
    with working() as note:
        if versions:
            place = build.add_version(Path(versions), groups, note)
        else:
            build.site(place, groups, note, api=api)
    say(f"site: {place / 'index.html'}")
    if serve:
        build.serve(place, groups, port, say)


def allowed(folder: Path, option: str) -> bool:
    """Whether a folder may be written: its files are replaced."""
    mark = "versions.js" if option == "--versions" else "sitemap.xml"
    return folder.is_dir() and (not any(folder.iterdir()) or (folder / mark).is_file())
