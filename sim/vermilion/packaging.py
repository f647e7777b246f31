"""Builds the wheel: the Python packages, the driver's library, and the simulator's program with the model.

The library needs a C compiler. The program needs a C++20 compiler, libpcap and nlohmann-json; where one of them is missing, the wheel is built without it, and says so.
setuptools loads this file alone, so it imports nothing of the project.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parents[2]
NOWHERE = f"-ffile-prefix-map={ROOT}=."  # the same bytes in each folder
C_FLAGS = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-shared", "-fPIC", NOWHERE]
CXX_FLAGS = ["-O2", "-std=gnu++20", "-DVM_MODEL_ONLY", NOWHERE]
PRESETS = ("lab", "nic10g", "nic25g", "nic100g")  # whose lanes have one egress, as the model alone has


class BuildPy(build_py):
    """The Python files, and what is compiled or copied beside them."""

    def run(self):
        super().run()
        package = Path(self.build_lib) / "vermilion"
        self.driver(package / "hardware" / "driver")
        self.data(package / "data")
        self.model(package / "data" / "bin")

    def copy(self, source: Path, folder: Path):
        self.mkpath(str(folder))
        self.copy_file(str(source), str(folder))

    def driver(self, folder: Path):
        """The library with its headers, and the netlink family's description."""
        driver = ROOT / "sw_driver"
        carried = [
            *sorted((driver / "lib").glob("*.h")),
            driver / "kernel" / "vm_app_regs.h",
            driver / "netlink" / "vermilion.yaml",
        ]
        for source in carried:
            self.copy(source, folder)
        library = folder / "libvermilion_driver.so"
        sources = map(str, sorted((driver / "lib").glob("*.c")))
        subprocess.run([os.environ.get("CC", "cc"), *C_FLAGS, "-o", str(library), *sources], check=True)

    def data(self, folder: Path):
        """Configurations and the capture, in folders as in the checkout; what draws plots, where the checkout has fetched it."""
        for source in sorted((ROOT / "sim" / "configs").glob("*.toml")):
            self.copy(source, folder / "sim" / "configs")
        self.copy(ROOT / "sim" / "captures" / "default.pcapng", folder / "sim" / "captures")
        plots = ROOT / ".vermilion" / "uplot.jar"
        if plots.exists():
            self.copy(plots, folder)

    def model(self, folder: Path):
        """The simulator's program with the model alone, one for each preset."""
        compiler = os.environ.get("CXX", "c++")
        left_out = {*asked("presets.RTL_ONLY"), "build_shape"}
        harness = [path for path in sorted((ROOT / "sim" / "harness").glob("*.cpp")) if path.stem not in left_out]
        shape, sources = (
            ROOT / "sim" / "harness" / "build_shape.cpp",
            [*sorted((ROOT / "sim" / "model").glob("*.cpp")), *harness],
        )
        include, work = (
            [f"-I{ROOT / name}" for name in ("sim/model", "sim/harness", "sw_driver/lib")],
            Path(self.build_lib).parent / "model",
        )
        headers = ["pcap/pcap.h", "nlohmann/json.hpp"]
        text = "".join(f"#include <{name}>\n" for name in headers)
        if (
            not shutil.which(compiler)
            or subprocess.run(
                [compiler, "-std=gnu++20", "-fsyntax-only", "-xc++", "-"], input=text, text=True, capture_output=True
            ).returncode
        ):
            print(
                f"vermilion: no C++20 compiler, or one of {', '.join(headers)} is missing: built without the model",
                file=sys.stderr,
            )
            return
        self.mkpath(str(work))
        self.mkpath(str(folder))
        objects = [str(work / f"{source.stem}.o") for source in sources]
        compiled = [
            [compiler, *CXX_FLAGS, *include, "-c", str(source), "-o", out]
            for source, out in zip(sources, objects, strict=True)
        ]
        for source in sorted((ROOT / "sw_driver" / "lib").glob("*.c")):  # settings and registers are the driver's
            objects.append(str(work / f"driver-{source.stem}.o"))
            compiled.append(
                [os.environ.get("CC", "cc"), "-O2", "-std=gnu11", NOWHERE, "-c", str(source), "-o", objects[-1]]
            )
        finish(compiled)
        for preset in PRESETS:
            own = str(work / f"shape-{preset}.o")
            finish([[compiler, *CXX_FLAGS, *include, *defines(preset), "-c", str(shape), "-o", own]])
            program = str(folder / f"vermilion-model-{preset}")
            finish([[compiler, *objects, own, "-lpcap", "-pthread", "-s", "-o", program]])


def asked(expression: str) -> list[str]:
    """The strings of an expression over the project's presets, in a process of its own."""
    code = f"from vermilion.toolchain import presets; print(*{expression}, sep=chr(10))"
    variables = os.environ | {"PYTHONPATH": str(ROOT / "sim")}
    done = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def defines(preset: str) -> list[str]:
    """What the compiler is told of a preset; its quotes need no escape here, where no shell reads them."""
    return [word.replace("\\", "") for word in asked(f"presets.definitions({preset!r}, '')")]


def finish(commands: list[list[str]]):
    """Runs the commands, as many at once as there are processors. After a failure it waits for those that run."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        if any([done.returncode for done in workers.map(subprocess.run, commands)]):
            raise SystemExit("vermilion: a compiler failed; what it said is above")


class BdistWheel(bdist_wheel):
    """A wheel for any Python 3, but not for any machine: it holds compiled programs."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]
