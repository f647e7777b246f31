"""Clones of this checkout for tests, each with tools' state of its own, as a user has it who copies a checkout with its `.vermilion`."""

import os
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

from vermilion.toolchain import build, steps

# What a run needs of the state, each with the lock that its writers take. Stamps come before what they tell of: an output that is made anew
# meanwhile then has an old stamp. Models of benches, guests, ns-3 and the compiler's cache stay out: the copy takes seconds without them.
STATE = {
    "bin": None,
    "venv": None,
    "place": None,
    "ready": None,
    "uplot.jar": None,
    "build/*.so.made": None,
    "build/libvermilion_model.so": "libvermilion_model.so.lock",
    "build/libvermilion_driver.so": None,  # written beside its place
    "build/lab": "lab.lock",
    "build/*.classpath": "mill-lock",
    "mill": "mill-lock",
}


def link(source, target):
    """A hard link, or a copy where the folders lie on different disks. Tools replace files of the virtual environment as a whole."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def git(folder: Path, *words: str, **about) -> bytes:
    return subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.PIPE, **about).stdout


def clone(folder: Path) -> Path:
    """A clone of this checkout as it stands, changes that are not committed included, with a copy of the state; nothing is set up there yet."""
    git(build.ROOT, "clone", "-q", str(build.ROOT), str(folder))
    changes = git(build.ROOT, "diff", "HEAD", "--binary")
    fresh = git(build.ROOT, "ls-files", "--others", "--exclude-standard", "-z").decode().split("\0")[:-1]
    if changes or fresh:
        if changes:
            git(folder, "apply", "--whitespace=nowarn", input=changes)
        for name in fresh:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(build.ROOT / name, folder / name)
        git(folder, "add", "-A")
        git(folder, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "as it stands")
    with ExitStack() as held:
        for lock in (
            "obj-model.lock",
            *dict.fromkeys(filter(None, STATE.values())),
        ):  # lab's folder holds objects of the model
            held.enter_context(steps.locked(lock))
        for pattern in STATE:
            for path in build.HOME.glob(pattern):
                target = folder / ".vermilion" / path.relative_to(build.HOME)
                target.parent.mkdir(parents=True, exist_ok=True)
                if path.is_dir():
                    copy = link if pattern == "venv" else shutil.copy2
                    shutil.copytree(path, target, symlinks=True, copy_function=copy)
                else:
                    shutil.copy2(path, target)
    return folder


def environment() -> dict[str, str]:
    """That of a user's shell: nothing in it leads to the tools of the checkout under test."""
    own = ("PYTHONPATH", "VERILATOR_ROOT", "MILL_OUTPUT_DIR", "CCACHE_DIR", "CCACHE_BASEDIR", "VIRTUAL_ENV")
    places = [each for each in os.environ["PATH"].split(":") if not Path(each).is_relative_to(build.HOME)]
    kept = {name: value for name, value in os.environ.items() if name not in own and not name.startswith("PYTEST_")}
    return kept | {"PATH": ":".join(places), "COLUMNS": "80"}
