"""Clones of this checkout for tests, each with tools' state of its own, as a user has it who copies a checkout with its `.vermilion`."""

import os
import shutil
import subprocess
from pathlib import Path

from vermilion import build

# What a run needs of the state. Models of benches, guests, ns-3 and the compiler's cache stay out: the copy takes seconds without them.
STATE = ("bin", "venv", "mill", "place", "ready", "build/lab", "build/*.so", "build/*.so.made", "build/*.classpath")


def link(source, target):
    """A hard link, or a copy where the folders lie on different disks. Tools replace files of the virtual environment as a whole."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def clone(folder: Path) -> Path:
    """A fresh clone of the last commit at `folder`, with a copy of the state; nothing is set up there yet."""
    subprocess.run(["git", "clone", "-q", build.ROOT, folder], check=True)
    for pattern in STATE:
        for path in build.HOME.glob(pattern):
            target = folder / ".vermilion" / path.relative_to(build.HOME)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, target, symlinks=True, copy_function=link if pattern == "venv" else shutil.copy2)
            else:
                shutil.copy2(path, target)
    return folder


def environment() -> dict[str, str]:
    """That of a user's shell: nothing in it leads to the tools of the checkout under test."""
    own = ("PYTHONPATH", "VERILATOR_ROOT", "MILL_OUTPUT_DIR", "CCACHE_DIR", "CCACHE_BASEDIR", "VIRTUAL_ENV")
    places = [each for each in os.environ["PATH"].split(":") if not Path(each).is_relative_to(build.HOME)]
    kept = {name: value for name, value in os.environ.items() if name not in own and not name.startswith("PYTEST_")}
    return kept | {"PATH": ":".join(places), "COLUMNS": "80"}
