"""Compiles what Verilator has written for less work: two compilations for a model, one of all its fast code and one of all its slow code.

Verilator's makefile compiles every file alone, behind two precompiled headers of some 90 MB, which take as long as a small model
itself, and of which no cache has use: every model's headers are its own.
"""

import re
import subprocess
from functools import lru_cache
from pathlib import Path

CXX = "clang++"  # compiles a lane in half of the time of g++, and the model is a tenth faster
LIBRARY = "-latomic"  # Verilator's library uses it; g++ would put its code in place
STANDARD = "-std=gnu++17"  # shorter headers than those of C++20
COMPILER = [f"CXX={CXX}", f"LINK={CXX}", f"LOADLIBES={LIBRARY}", f"CFG_CXXFLAGS_STD={STANDARD}"]  # for `make`


@lru_cache(None)
def compiler_version() -> str:
    """What the compiler says of itself: part of the key of what it has compiled. Empty where it is not installed."""
    try:
        return subprocess.run([CXX, "--version"], capture_output=True, text=True).stdout
    except OSError:
        return ""


def forget_other_compiler(work: Path):
    """Deletes the objects in a folder that another version of the compiler has made: `make` looks at times alone."""
    note = work / "compiler"
    if not note.exists() or note.read_text() != compiler_version():
        for pattern in ("*.o", "*.a", "*.d"):
            for path in work.glob(pattern):
                path.unlink()
        note.write_text(compiler_version())


def whole(work: Path, prefix: str) -> list[str]:
    """Writes the two files to compile instead of Verilator's, and returns the words for `make` that have it take them."""
    listed = (work / f"{prefix}_classes.mk").read_text()
    for kind in ("FAST", "SLOW"):
        names = re.findall(rf"^VM_(?:CLASSES|SUPPORT)_{kind} \+= \\\n((?:  .*\n)*)", listed, re.M)
        includes = [f'#include "{name}.cpp"' for name in " ".join(names).replace("\\", "").split()]
        text = "\n".join(["#define VL_INCLUDE_OPT include", *includes, ""])
        (work / f"{prefix}__All{kind.title()}.cpp").write_text(text)
        (work / f"{prefix}__pch.h.{kind.lower()}.gch").touch()  # taken for made, and not read
    classes = [f"VM_CLASSES_FAST={prefix}__AllFast", f"VM_CLASSES_SLOW={prefix}__AllSlow"]
    return classes + [
        "VM_SUPPORT_FAST=",
        "VM_SUPPORT_SLOW=",
        "VK_PCH_I_FAST=",
        "VK_PCH_I_SLOW=",
        "VM_PARALLEL_BUILDS=1",
        *COMPILER,
    ]
