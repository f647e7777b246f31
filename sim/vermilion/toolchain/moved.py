"""Tools' state in `.vermilion` belongs to one place: in a checkout that was copied or moved, what names the old place goes.

Mill's state holds absolute paths. In a copy, Mill would delete and write classes in the checkout that was copied. The folder that the
state belongs to stands in `.vermilion/place`. Where it is another one, this module deletes what would be used from there, and changes
the folder's name in scripts. It reads and writes below its own checkout alone. What is keyed by content stays: programs, libraries,
SystemVerilog, models of benches. Where the old place is named in those, as in messages and in makefiles of what is finished, nothing opens it again.

`./vermilion` runs this file when it sets up, by any Python; builds call `settle` before their first step. So the file imports nothing of
this project.
"""

import fcntl
import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# Below `.vermilion`: what holds absolute paths and is made again.
DELETED = (
    "mill",  # classes and Mill's notes of them
    "ready",  # so that `./vermilion` sets up again
    "build/*.classpath",
    "build/**/obj*",  # dependencies of objects, by which make would look at headers there
    "kept/verilated.h-*",  # read by later builds, and names where headers lie
    "build/module-*",  # kernel modules' objects, with the commands that made them
    "build/mqnic-*",
)
# Below `.vermilion`: texts that keep what they say, of the new folder.
REWRITTEN = (
    "bin/*",
    "venv/bin/*",
    "venv/pyvenv.cfg",
    "dask/*/bin/*",
    "guest*/apt.conf",
    "guest-*/system/usr/src/linux-headers-*/Makefile",
)


def place(home: Path) -> str | None:
    """The checkout that the state belongs to; of a state without that note, what `./vermilion` noted when it set up."""
    try:
        return (home / "place").read_text().removesuffix("\n")
    except OSError:
        pass
    try:
        found = re.fullmatch(r"\d+ \S+ (/.*) \d+ \d+\n", (home / "ready").read_text())
    except OSError:
        return None
    return found[1] if found else None


def replace(path: Path, text: bytes):
    """Writes a file anew, with its mode: a copy may share the old one's content by a hard link."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(text)
    shutil.copymode(path, fresh)
    fresh.replace(path)


def note(home: Path, root: str):
    """Notes whose the state is."""
    fresh = home / "place.new"
    fresh.write_text(f"{root}\n")
    fresh.replace(home / "place")


def clean(home: Path, old: str, new: str):
    """Takes the old place out of the state."""
    for pattern in DELETED:
        for path in sorted(home.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)  # what lay in a folder is gone with it
    named = re.compile(re.escape(os.fsencode(old)) + rb"(?=/\.vermilion)")
    for pattern in REWRITTEN:
        for path in home.glob(pattern):
            if path.is_file() and not path.is_symlink():
                text = path.read_bytes()
                changed = named.sub(lambda _: os.fsencode(new), text)
                if changed != text:
                    replace(path, changed)


def settle(root: Path = ROOT) -> bool:
    """Makes the state that of this checkout; returns whether it was another's."""
    home = root / ".vermilion"
    if not home.is_dir():
        return False
    old = place(home)
    if old == str(root) and (home / "place").exists():
        return False
    foreign = old is not None and old != str(root)
    if old is not None and foreign:
        note(home, old)  # until all is clean, so that what is interrupted is done again
        clean(home, old, str(root))
    note(home, str(root))
    return foreign


@cache
def settled():
    """The same, once in a process, and in one process at a time."""
    home = ROOT / ".vermilion"
    if home.is_dir() and place(home) != str(ROOT):
        with (home / "lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            settle()


if __name__ == "__main__":
    if settle():
        print(f"vermilion: {ROOT} was copied or moved: the state of tools that held paths was deleted", file=sys.stderr)
