"""A folder in which the commands of a page run as in a checkout: `./vermilion` without its set-up, and the project's files beside it."""

import os
import sys
from pathlib import Path

from vermilion.toolchain.build import HOME, ROOT

START = '#!/bin/sh\nexec "{python}" -m vermilion "$@"\n'


def checkout(folder: Path) -> Path:
    """What `./vermilion` writes below `.vermilion` goes to this checkout's; all else stays in the folder."""
    for path in ROOT.iterdir():
        if path.name not in ("vermilion", "out", ".git", ".vermilion"):
            (folder / path.name).symlink_to(path)
    (folder / ".vermilion").symlink_to(HOME)
    (folder / "vermilion").write_text(START.format(python=sys.executable))
    (folder / "vermilion").chmod(0o755)
    return folder


def environment() -> dict[str, str]:
    paths = [str(ROOT / "sim"), str(ROOT / "sw_driver" / "tools"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": ":".join(filter(None, paths)), "COLUMNS": "130"}
