"""Steps of a build: each is skipped while the content that it was made from is the same, told by a hash in `<output>.made`."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from .moved import settled

CHECKOUT = Path(__file__).resolve().parents[3]
INSTALLED = not (
    CHECKOUT / "build.sc"
).exists()  # from a wheel: configurations, capture and programs lie in the package's folder `data`
ROOT = Path(__file__).resolve().parents[1] / "data" if INSTALLED else CHECKOUT
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
HOME = CACHE / "vermilion" if INSTALLED else ROOT / ".vermilion"
UPLOT = (ROOT if INSTALLED else HOME) / "uplot.jar"  # what draws plots in reports
BUILD = HOME / "build"
KEPT = HOME / "kept"  # by content: of use in another checkout, or in continuous integration, as it is
CORES = len(os.sched_getaffinity(0))  # that this process may run on


class BuildError(Exception):
    """A tool failed: a fault of the project or the machine, not of the user's input."""


def quiet(*_words: str):
    """A `say` that says nothing."""


def end_of(log: Path) -> str:
    """Where a log is, and its last lines."""
    return f"log {log}:\n" + "\n".join(log.read_text(errors="replace").splitlines()[-30:])


def environment() -> dict[str, str]:
    """For compilers and Verilator's makefiles: with ccache, if it is installed, in a folder of this checkout or the user's own. Paths
    in this checkout are relative to it, so that another one finds the same.
    """
    # Words of the user's, which Verilator's makefiles would take: no key holds them, and a precompiled header may not fit them.
    own = {
        name: text for name, text in os.environ.items() if name not in ("CXXFLAGS", "CPPFLAGS", "USER_CPPFLAGS", "OPT")
    }
    if not shutil.which("ccache"):
        return own
    places = {"CCACHE_DIR": str(HOME / "ccache"), "CCACHE_BASEDIR": str(ROOT), "CCACHE_NOHASHDIR": "1"}
    sloppiness = ",".join(["pch_defines,time_macros", *filter(None, [own.get("CCACHE_SLOPPINESS")])])
    header = {"CCACHE_SLOPPINESS": sloppiness, "CCACHE_PCH_EXTSUM": "1"}  # verilated.precompiled
    return places | {"OBJCACHE": "ccache"} | own | header


def cached(command: list) -> list:
    """The command through ccache, if that is installed and the command compiles to an object."""
    compiles = command[0] in ("g++", "gcc") and "-c" in command
    return ["ccache", *command] if compiles and shutil.which("ccache") else command


def run(command: list, log: Path, cwd: Path = ROOT, env: dict | None = None):
    """Runs a tool with all it prints in `log`; a failure shows the log's end."""
    command = cached(command)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w") as out:
        try:
            done = subprocess.run(
                [str(c) for c in command],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                cwd=cwd,
                env=environment() if env is None else env,
            )
        except OSError as error:
            raise BuildError(f"{command[0]} cannot be started: {error.strerror}") from None
    if done.returncode:
        raise BuildError(f"{command[0]} failed (status {done.returncode}), {end_of(log)}")


def relocatable(word) -> str:
    """A word of a command without the folder of the checkout, so that keys are the same wherever it lies."""
    return re.sub(rf"{re.escape(str(ROOT))}(?![\w.-])", ".", str(word))


def hashed(pieces) -> str:
    sha = hashlib.sha256()
    for piece in pieces:
        sha.update(piece + b"\0")
    return sha.hexdigest()


def digest(paths, *words) -> str:
    """One hash over names and contents of files of the checkout, and words."""
    named = (piece for path in sorted(paths) for piece in (str(path.relative_to(ROOT)).encode(), path.read_bytes()))
    return hashed([*named, *(relocatable(word).encode() for word in words)])


def content(paths, *words) -> str:
    """The same of files whose folder does not matter, by their names alone."""
    named = (piece for path in sorted(paths) for piece in (path.name.encode(), path.read_bytes()))
    return hashed([*named, *(relocatable(word).encode() for word in words)])


@contextmanager
def locked(name: str):
    """One build at a time of what `name` stands for. Each output has its own lock, so that builds of others go on, in other processes too."""
    settled()
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / name).open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_made(output: Path, key: str) -> bool:
    """Whether `output` was made under this key."""
    stamp = output.with_name(output.name + ".made")
    return output.exists() and stamp.exists() and stamp.read_text() == key


def stamps(*outputs: Path) -> tuple[tuple[Path, str], ...]:
    """Outputs with the keys under which they were made, for `is_made`."""
    return tuple((path, path.with_name(path.name + ".made").read_text()) for path in outputs)


def step(output: Path, key: str, say, text: str, action):
    """Runs `action` unless `output` was made under the same key."""
    if is_made(output, key):
        return
    stamp = output.with_name(output.name + ".made")
    stamp.unlink(missing_ok=True)
    say(text)
    action()
    if not output.exists():
        raise BuildError(f"building {output} ended without an error and without that file")
    stamp.write_text(key)


def kept(name: str, key: str, make, valid=lambda _: True) -> Path:
    """A folder that `make(folder)` fills, kept by its key: whoever asks for the same content shares it. Of several at once one fills it.
    `valid`: whether a folder that was filled before still holds.
    """
    folder = KEPT / f"{name}-{key[:16]}"
    with locked(f"kept-{folder.name}.lock"):
        if not ((folder / "made").exists() and valid(folder)):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            make(folder)
        (folder / "made").touch()  # its time is that of the last use
    return folder


def files(folder: str, *patterns: str) -> list[Path]:
    """Files below a folder of the project whose names match one of the patterns."""
    return [path for pattern in patterns for path in (ROOT / folder).rglob(pattern) if path.is_file()]
