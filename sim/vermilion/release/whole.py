"""All artefacts of a release, checked by a second build."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from vermilion.site.build import Groups, site
from vermilion.synthesis import release as systemverilog
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import dkms, image, materials, notes, wheel
from .archive import tar
from .checkout import Checkout, checkout

Say = Callable[..., None]
SUMS = "SHA256SUMS"


def release(
    folder: Path, presets: list[str], groups: Groups, say: Say, with_changes: bool = False, container: bool = True
) -> list[Path]:
    """Writes a release to `folder`, which must be new or empty; returns its files.

    presets   : whose SystemVerilog it has
    container : with the container, which needs mmdebstrap
    """
    check_folder(folder)
    if container:
        image.check_tools()
    of = checkout(with_changes)
    folder.mkdir(parents=True, exist_ok=True)
    before = os.umask(0o022)
    try:
        with tempfile.TemporaryDirectory() as work:
            artefacts(of, Path(work), folder, presets, groups, say, container, with_changes)
    finally:
        os.umask(before)
    return sorted(folder.iterdir())


def check_folder(folder: Path) -> None:
    """Refuses a folder in which something is."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} is not empty; legal is a new or empty folder")


def artefacts(
    of: Checkout, work: Path, out: Path, presets: list[str], groups: Groups, say: Say, container: bool, draft: bool
) -> None:
    def place(name: str) -> Path:
        path = work / name
        path.mkdir()
        return path

    packed = systemverilog.release(place("systemverilog"), presets, of.version, say)
    made = [Path(shutil.move(packed, out / packed.name))]
    say("the wheel", "building", "built")
    made.append(wheel.wheel(of, place("wheel"), out))
    made.append(dkms.package(of, place("dkms"), out))
    say("the site", "building", "built")
    site(work / "site" / "pages", groups, epoch=of.epoch, api=True)
    name = f"vermilion-{of.version}-site"
    made.append(tar(work / "site" / "pages", out / f"{name}.tar.gz", of.epoch, top=name))
    packages: dict[str, str] = {}
    if container:
        say("the container", "building", "built")
        made.append(image.image(of, made[1], place("image"), out))
        packages = image.installed(made[-1])
    made.append(materials.materials(of, made, out, packages, say))
    (out / "notes.md").write_text(notes.notes(of, [path.name for path in made], draft))
    (out / SUMS).write_text(sums(out))


def sums(folder: Path) -> str:
    """As `sha256sum` prints them, of all files but its own."""
    paths = sorted(path for path in folder.iterdir() if path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)


def compare(first: Path, second: Path) -> None:
    """Two builds of one release must have the same bytes."""
    read = lambda folder: dict(reversed(line.split()) for line in (folder / SUMS).read_text().splitlines())
    one, other = read(first), read(second)
    differ = sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    if differ:
        raise build.BuildError(f"built twice, and not the same: {', '.join(differ)}; both are in {first} and {second}")
