"""SystemVerilog seen by other tools: elaborated by slang, linted by Verilator; and modules given a prefix."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from vermilion.toolchain import build

# Verilator's warnings that generated text is full of and that say nothing about it: names without use, outputs left open.
LINT = ["-Wall", "-Wno-UNUSED", "-Wno-PINCONNECTEMPTY", "-Wno-VARHIDDEN"]


@dataclass(frozen=True)
class Port:
    name: str
    way: str  # input or output
    bits: int


def elaborate(sources: list[Path], top: str, include: Path, parameters: dict | None = None) -> list[Port]:
    """The ports of `top` as slang has them; an error or warning of slang's is a BuildError."""
    from pyslang import driver

    slang = driver.Driver()
    slang.addStandardArgs()
    words = ["slang", "-Wextra", "--top", top, "-I", str(include), *map(str, sources)]
    words += [f"-G{name}={value}" for name, value in (parameters or {}).items()]
    quoted = " ".join(f'"{word}"' for word in words)
    if not (slang.parseCommandLine(quoted) and slang.processOptions() and slang.parseAllSources()):
        raise build.BuildError(f"slang could not read {top}")
    compilation = slang.createCompilation()
    slang.reportCompilation(compilation, True)
    found = slang.diagEngine.numErrors + slang.diagEngine.numWarnings
    if found:
        raise build.BuildError(f"slang has {found} errors or warnings in {top}, above")
    names = {"In": "input", "Out": "output"}
    ports = compilation.getRoot().topInstances[0].body.portList
    return [Port(port.name, names[port.direction.name], port.type.bitWidth) for port in ports]


def lint(sources: list[Path], top: str, include: Path, parameters: dict | None = None):
    """Verilator's lint; a warning is a BuildError."""
    command = ["verilator", "--lint-only", *LINT, "--top-module", top, f"-I{include}", *sources]
    command += [f"-G{name}={value}" for name, value in (parameters or {}).items()]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode or "%Warning" in done.stderr:
        raise build.BuildError(f"Verilator's lint of {top}:\n" + "\n".join(done.stderr.splitlines()[:20]))


def prefix(folder: Path, first: str, top: str, new_top: str):
    """Calls the top module of a folder of generated files `new_top`, and every other module by its name behind `first`.

    So they meet no module of the same name (`Queue2_UInt8`, `mem_16x32`) that another generated design brings along.
    Files are called by their modules.
    """
    modules = {path.stem: first + path.stem for path in folder.glob("*.sv")} | {top: new_top}
    for path in sorted(folder.glob("*.sv")):
        declared = re.findall(r"^module (\w+)\b", path.read_text(), re.M)
        if declared != [path.stem]:
            raise build.BuildError(f"{path} declares {', '.join(declared) or 'no module'}, not {path.stem} alone")
        name = lambda found: found[1] + modules.get(found[2], found[2])
        renamed = re.sub(r"^(module | +)(\w+)(?=\(| \w+ \()", name, path.read_text(), flags=re.M)
        path.unlink()
        (folder / f"{modules[path.stem]}.sv").write_text(renamed)
