"""The Python packages that only a release needs, of the versions in requirements.txt beside this file: fetched once, into .vermilion/release."""

import hashlib
import sys
from pathlib import Path

from vermilion.toolchain import build

WANTED = Path(__file__).with_name("requirements.txt")


def tools(say=build.quiet) -> Path:
    """Their folder."""
    target = build.HOME / "release" / hashlib.sha256(WANTED.read_bytes()).hexdigest()[:12]
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--target", str(target), "-r", str(WANTED)]
    with build.locked("release-lock"):
        action = lambda: build.run(command, build.BUILD / "release-tools.log")
        build.step(target, build.digest([WANTED]), say, "tools of a release", action)
    return target
