"""The kernel's own test scripts for a guest: tools/testing/selftests of Debian's linux-source package, and the programs that they call.

All is fetched once and unpacked in `.vermilion/guest-scripts`; the scripts stay as they are. What connects them with the guest are the files of
`sim/tests/selftests`, which take the place of the kernel's libraries of the same names.
"""

import re
import shutil
import subprocess
from pathlib import Path

from vermilion.guests import driver_guest, guest
from vermilion.toolchain import build

PACKAGE = "linux-source-6.12"
SELFTESTS = "tools/testing/selftests"
# Patterns of the files below SELFTESTS.
WANTED = (
    "net/lib.sh",
    "drivers/net/mlxsw/sch_*.sh",
    "drivers/net/mlxsw/qos_*.sh",
    "net/forwarding/sch_*.sh",
    "tc-testing/*",
)
PROGRAMS = ("bash", "jq", "python3-minimal", "libpython3-stdlib")
OURS = build.ROOT / "sim/tests/selftests"


def setup(say=build.quiet) -> Path:
    """The folder with `system/`, the programs, and `selftests/`, the scripts; `version` holds that of the package."""

    def make(root: Path):
        log = root / "log"
        wanted = ["install", "--no-install-recommends", "--download-only", *PROGRAMS]
        guest.apt(root, log, "apt-get", "-q", "-y", *wanted)
        guest.unpack(root / "cache/archives", root / "system")
        guest.apt(root, log, "apt-get", "-q", "download", PACKAGE)
        version = next(iter((root / "debs").glob("*.deb"))).name.split("_")[1]
        unpacked = root / "debs" / "unpacked"
        guest.unpack(root / "debs", unpacked)
        archive = next(unpacked.glob("usr/src/*.tar.xz"))
        names = [f"*/{SELFTESTS}/{name}" for name in WANTED]
        command = ["tar", "xJf", archive, "-C", root, "--strip-components=3", "--wildcards", *names]
        subprocess.run(command, check=True)
        shutil.rmtree(unpacked)
        (root / "version").write_text(version)

    return driver_guest.once("guest-scripts", make, say)


def tree(folder: Path, under: str) -> dict[str, tuple[int, bytes]]:
    """A folder and all in it, for `guest.archive`."""
    out = {under: (0o40755, b"")}
    for path in sorted(folder.rglob("*")):
        name = f"{under}/{path.relative_to(folder)}"
        out[name] = (0o40755, b"") if path.is_dir() else (0o100755, path.read_bytes())
    return out


def folders(names) -> dict[str, tuple[int, bytes]]:
    """The folders above these names, the outer ones first."""
    above = {str(part): None for name in sorted(names) for part in reversed(Path(name).parents) if str(part) != "."}
    return {name: (0o40755, b"") for name in above}


PYTHON = "usr/lib/python3.11"
# What tdc does not import of Python's library, by the name of a folder or file.
LEFT_OUT = re.compile(
    r"/(lib2to3|pydoc_data|sqlite3|curses|asyncio|xml|wsgiref|ensurepip|distutils|dbm|tkinter|turtledemo)\b"
)


def python(root: Path) -> dict[str, tuple[int, bytes]]:
    """Python as it lies in Debian, below /usr."""
    folder = root / "system" / PYTHON
    library = {name: part for name, part in tree(folder, PYTHON).items() if not LEFT_OUT.search(name)}
    return library | {"bin/python3": (0o100755, (root / "system/usr/bin/python3.11").read_bytes())}


def files() -> dict[str, tuple[int, bytes]]:
    """bash, jq, Python and the scripts, below /selftests, with our libraries in place of the kernel's."""
    root = setup()
    programs = {"bin/jq": root / "system/usr/bin/jq", "bin/bash": root / "system/bin/bash"}
    out = {name: (0o100755, path.read_bytes()) for name, path in programs.items()} | python(root)
    shared = driver_guest.needed(root, [data for _, data in out.values() if data[:4] == b"\x7fELF"])
    out |= {f"lib/{name}": (0o100755, data) for name, data in shared.items()}
    scripts = tree(root / "selftests", "selftests") | tree(OURS, "selftests")
    return folders([*scripts, *out]) | out | scripts
