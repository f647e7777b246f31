"""The sources of a release: what Git tracks in this checkout, its version, commit and time."""

import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

from vermilion.console.command_line import commit
from vermilion.toolchain.build import ROOT, BuildError
from vermilion.values.fields import UserError


@dataclass(frozen=True)
class Checkout:
    """What is released.

    version : of pyproject.toml, such as 0.1.0
    commit  : 12 hexadecimal digits, with " with changes" behind it if files differ from it
    epoch   : time of the commit in seconds, which all files of the release carry
    """

    version: str
    commit: str
    epoch: int

    @property
    def environment(self) -> dict[str, str]:
        """Tells builders the time to write into their files (reproducible-builds.org)."""
        return {"SOURCE_DATE_EPOCH": str(self.epoch), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def checkout(with_changes: bool = False) -> Checkout:
    """This checkout. Refused: versions that do not agree, no Git, and changes that no commit has unless they are allowed."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    found = re.search(r'VM_DRIVER_VERSION "(.*)"', (ROOT / "sw_driver/kernel/vm_core.h").read_text())
    if not found or found[1] != version:
        of_driver = found[1] if found else "none"
        raise BuildError(f"VM_DRIVER_VERSION is {of_driver}; legal is {version}, the version of pyproject.toml")
    name = commit()
    if name == "unknown":
        raise UserError(f"{ROOT} is no checkout of Git; a release is made from one")
    others = git("ls-files", "--others", "--exclude-standard").split("\n")[0]
    if (name.endswith(" with changes") or others) and not with_changes:
        which = f", such as {others}" if others else ""
        raise UserError(f"the checkout has changes that no commit has{which}; commit them, or give --with-changes")
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    if not cited or cited[1] != version:
        raise BuildError(
            f"version of CITATION.cff is {cited[1] if cited else 'none'}; legal is {version}, that of pyproject.toml"
        )
    return Checkout(version, name, int(git("log", "-1", "--format=%ct")))


def git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"git {words[0]} failed: {done.stderr.strip()}")
    return done.stdout


def export(folder: Path):
    """Copies what Git tracks to a new folder, as it is in the checkout. Modes do not depend on the user's umask."""
    for name in git("ls-files", "-z").split("\0"):
        source = ROOT / name
        if name and source.is_file():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755 if source.stat().st_mode & 0o100 else 0o644)
