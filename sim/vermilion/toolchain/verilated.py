"""Compiles what Verilator has written for less work: two compilations for a model, one of all its fast code and one of all its slow code.

Verilator's makefile compiles every file alone, behind two precompiled headers of some 90 MB, which take as long as a small model
itself, and of which no cache has use: every model's headers are its own. Verilator's own header is the same for all, and is precompiled
once.
"""

import os
import re
import subprocess
from functools import lru_cache
from pathlib import Path

from . import steps

CXX = "clang++"  # compiles a lane in half of the time of g++, and the model is a tenth faster
LIBRARY = "-latomic"  # Verilator's library uses it; g++ would put its code in place
STANDARD = "-std=gnu++17"  # shorter headers than those of C++20
COMPILER = [f"CXX={CXX}", f"LINK={CXX}", f"LOADLIBES={LIBRARY}"]  # for `make`


@lru_cache(None)
def compiler_version() -> str:
    """What the compiler says of itself and of the GCC whose library it uses: part of the key of what it has compiled. Empty where it is
    not installed.
    """
    try:
        return subprocess.run([CXX, "-v"], capture_output=True, text=True).stderr
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


def settings(work: Path, prefix: str) -> list[str]:
    """The compiler's words that a model's makefiles hold and that a precompiled header must have been made with."""
    listed = (work / f"{prefix}_classes.mk").read_text()
    makefile = (work / f"{prefix}.mk").read_text()
    parts = re.findall(r"^(VM_(?:COVERAGE|TIMING|TRACE\w*)) = (\d)$", listed, re.M)
    parts += re.findall(r"^(VM_SC) = (\d)$", makefile, re.M)
    flags = re.search(r"^VM_USER_CFLAGS = \\\n((?:.*\\\n)*)", makefile, re.M)
    if flags is None:
        raise steps.BuildError(f"{work / prefix}.mk names no VM_USER_CFLAGS; is this another version of Verilator?")
    own = flags[1].replace("\\\n", " ").split()
    return [f"-D{name}={value}" for name, value in parts] + [
        word for word in own if not word.startswith(("-I", "-D", "-W"))
    ]


def read_by(header: Path) -> str:
    """A hash of all files that a precompiled header was made from; empty if one is gone."""
    listed = header.with_suffix(".d").read_text().replace("\\\n", " ").partition(": ")[2]
    named = [re.sub(r"\\(.)", r"\1", name) for name in re.findall(r"(?:\\.|\S)+", listed)]
    try:
        return steps.hashed(Path(name).read_bytes() for name in named)
    except OSError:
        return ""


def precompiled(words: list[str]) -> Path:
    """`verilated.h`, compiled with these words. It takes most of the time that a small model does, and a model is compiled with it twice.

    It is made anew where a file that it was made from has changed or lies elsewhere: clang++ itself sees only another size. ccache does not
    read it: the file `verilated.pch.sum` stands for it, so that what another checkout has compiled is found.
    """
    include = Path(os.environ.get("VERILATOR_ROOT", "")) / "include"
    command = [CXX, *words, f"-I{include}", f"-I{include / 'vltstd'}", "-DVERILATOR=1", "-Xclang", "-fno-pch-timestamp"]
    key = steps.content([], *words, compiler_version())

    def make(folder: Path):
        header = folder / "verilated.pch"
        more = ["-MD", "-MF", header.with_suffix(".d"), "-x", "c++-header", include / "verilated.h", "-o", header]
        steps.run([*command, *more], folder / "log", env=steps.environment())
        if not (content := read_by(header)):
            raise steps.BuildError(f"{header.with_suffix('.d')} names a file that is not there")
        (folder / "include").write_text(str(include))
        header.with_suffix(".pch.sum").write_text(key + content)

    def valid(folder: Path) -> bool:
        header = folder / "verilated.pch"
        made_of = header.with_suffix(".pch.sum").read_text()
        return (folder / "include").read_text() == str(include) and made_of == key + read_by(header)

    return steps.kept("verilated.h", key, make, valid) / "verilated.pch"


def whole(work: Path, prefix: str, fast: str, standard: str = STANDARD) -> list[str]:
    """Writes the two files to compile instead of Verilator's, and returns the words for `make` that have it take them.

    `fast`: how much the fast code is optimised.
    """
    listed = (work / f"{prefix}_classes.mk").read_text()
    for kind in ("FAST", "SLOW"):
        names = re.findall(rf"^VM_(?:CLASSES|SUPPORT)_{kind} \+= \\\n((?:  .*\n)*)", listed, re.M)
        includes = [f'#include "{name}.cpp"' for name in " ".join(names).replace("\\", "").split()]
        text = "\n".join(["#define VL_INCLUDE_OPT include", *includes, ""])
        (work / f"{prefix}__All{kind.title()}.cpp").write_text(text)
        (work / f"{prefix}__pch.h.{kind.lower()}.gch").touch()  # taken for made, and not read
    alike = [standard, *settings(work, prefix)]
    classes = [f"VM_CLASSES_FAST={prefix}__AllFast", f"VM_CLASSES_SLOW={prefix}__AllSlow"]
    return classes + [
        "VM_SUPPORT_FAST=",
        "VM_SUPPORT_SLOW=",
        f"OPT_FAST={fast}",
        f"VK_PCH_I_FAST=-include-pch {precompiled([fast, *alike])}",
        f"VK_PCH_I_SLOW=-include-pch {precompiled(alike)}",
        "VM_PARALLEL_BUILDS=1",
        *COMPILER,
        f"CFG_CXXFLAGS_STD={standard}",
    ]
