"""The harness's register access in C++, as a program without the Verilated lane: `sim/tests/driver/register_writes.cpp`."""

import subprocess
from pathlib import Path

from vermilion.toolchain import build


def program(folder: Path) -> Path:
    """Compiles the program into the folder."""
    made = folder / "register_writes"
    model = [f"model/{name}.cpp" for name in ("config_json", "image_reader", "random")]
    sources = ["sim/" + name for name in ("tests/driver/register_writes.cpp", "harness/control_access.cpp", *model)]
    command = ["g++", *build.CXX_FLAGS, "-ffunction-sections", "-Wl,--gc-sections", *build.MODEL_FLAGS]
    command += ["-Isim/harness", "-o", made, *sources, build.driver_library()]
    subprocess.run(command, check=True, cwd=build.ROOT)
    return made
