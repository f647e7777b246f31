"""Builds the site: stages the pages, makes the reference, runs MkDocs; serves it while pages change."""

import json
import os
import shutil
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import click

from vermilion.toolchain import chisel, steps
from vermilion.toolchain.build import HOME, ROOT

from . import reference, stage

DEFAULT = HOME / "docs" / "site"
LOG = HOME / "docs" / "mkdocs.log"
WATCHED = ("docs", "mkdocs.yml", *stage.BESIDE)
FORWARD = '<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={0}/index.html"><a href="{0}/index.html">{0}</a>\n'

Groups = dict[str, click.Group]


def version() -> str:
    """The project's version, as its package has it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]["version"]


def site(
    out: Path,
    groups: Groups,
    say: Callable[[str], None] = steps.quiet,
    versioned: bool = False,
    epoch: int | None = None,
    api: bool = False,
) -> None:
    """Writes the site to the folder `out`. A link that leads nowhere, or a page that no menu names, is an error.

    epoch: the time that its files tell, in seconds; None: now
    api: with the Scaladoc of the RTL, which Mill makes
    """
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder) / "pages"
        staged = stage.Site(pages)
        staged.stage()
        for place, text in reference.pages(groups, api).items():
            staged.write(place, text)
        if not versioned:
            staged.write("assets/versions.js", "")  # there is no list of versions to ask for
        say(f"site of {len(list(pages.rglob('*.md')))} pages")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", ROOT / "mkdocs.yml"]
        made = Path(folder) / "site"
        env = os.environ | {"VERMILION_PAGES": str(pages), "VERMILION_VERSION": version(), "NO_MKDOCS_2_WARNING": "1"}
        if epoch is not None:
            env["SOURCE_DATE_EPOCH"] = str(epoch)
        steps.run([*command, "-d", made], LOG, env=env)
        if api:
            say("Scaladoc of the RTL")
            shutil.copytree(chisel.scaladoc(), made / reference.SCALADOC)
        shutil.rmtree(out, ignore_errors=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, out)


def add_version(folder: Path, groups: Groups, say: Callable[[str], None] = steps.quiet) -> Path:
    """The site in a folder of versions, each in a folder of its name; their list is a script, so that it works from disk, too."""
    place = folder / version()
    site(place, groups, say, versioned=True)
    names = sorted((path.parent.name for path in folder.glob("*/index.html")), key=ordered, reverse=True)
    (folder / "versions.js").write_text(f"window.vermilionVersions = {json.dumps(names)};\n")
    (folder / "index.html").write_text(FORWARD.format(names[0]))
    return place


def ordered(name: str) -> list[tuple[int, str]]:
    """A version's parts, numbers by their value."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.split(".")]


def changed() -> Iterator[float]:
    """When the sources of pages were last written."""
    for name in WATCHED:
        path = ROOT / name
        for each in [path, *path.rglob("*")] if path.is_dir() else [path]:
            yield each.stat().st_mtime


def serve(
    out: Path, groups: Groups, port: int, say: Callable[[str], None], stop: threading.Event | None = None
) -> None:
    """Serves the site to this machine, and builds it anew when a page changes, until SIGINT or `stop`."""
    stop = stop or threading.Event()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(out)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say(f"http://127.0.0.1:{server.server_port}/")
    seen = max(changed())
    while not stop.wait(1):
        now = max(changed())
        if now > seen:
            seen = now
            try:
                site(out, groups)
                say("built again")
            except steps.BuildError as error:
                say(str(error))
    server.shutdown()
    server.server_close()
