"""Builds the tools' package: vermilionctl, what it shares with the simulator, and the driver's library.

The modules of `sim/vermilion` are those that read a configuration and speak with the library (docs/decisions/0012-tools-share-the-simulators-reader.md).
"""

import os
import subprocess
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("__init__", "command_line", "config", "driver_library", "fields", "formats", "markers", "settings", "units")
SHARED += ("egresses", "refusals", "rules", "vfio_user")
FLAGS = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC"]


class Build(build_py):
    def run(self):
        super().run()
        into = Path(self.build_lib) / "vermilion"
        self.mkpath(str(into / "driver"))
        for name in SHARED:
            self.copy_file(str(ROOT / "sim" / "vermilion" / f"{name}.py"), str(into))
        lib = ROOT / "sw_driver" / "lib"
        for header in sorted(lib.glob("*.h")):
            self.copy_file(str(header), str(into / "driver"))
        self.copy_file(str(ROOT / "sw_driver" / "kernel" / "vm_app_regs.h"), str(into / "driver"))
        netlink = ROOT / "sw_driver" / "netlink" / "vermilion.yaml"
        if netlink.exists():
            self.copy_file(str(netlink), str(into / "driver"))
        target = into / "driver" / "libvermilion_driver.so"
        command = [os.environ.get("CC", "cc"), *FLAGS, "-o", str(target), *map(str, sorted(lib.glob("*.c")))]
        subprocess.run(command, check=True)


class Binary(Distribution):
    """Not for every machine: the library is inside."""

    def has_ext_modules(self):
        return True


setup(packages=["vermilionctl"], cmdclass={"build_py": Build}, distclass=Binary)
