"""The driver library as a kernel wants it: no warning, no libc, no floating point, no helper of the compiler's; and nothing undefined on any input."""

import ctypes
import re
import subprocess

import pytest

from vermilion.hardware.driver_library import C
from vermilion.testing import suite
from vermilion.toolchain import build

LIB = build.ROOT / "sw_driver" / "lib"
SOURCES = sorted(LIB.glob("*.c"))
SWEEP = build.ROOT / "sw_driver" / "tests" / "sweep.c"
STRICT = ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wdeclaration-after-statement", "-Wvla"]
# As x86 kernels are compiled: no registers of floats or vectors; a frame of more than 1 KB would be too much of an 8 KB stack.
KERNEL = [
    "-ffreestanding",
    "-fno-pic",
    "-mno-sse",
    "-mno-mmx",
    "-mno-80387",
    "-msoft-float",
    "-Wframe-larger-than=1024",
]


def compiled(command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, cwd=build.ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("level", ["-O2", "-Os"])
@pytest.mark.parametrize("bits, machine", [(64, "elf_x86_64"), (32, "elf_i386")])
def test_nothing_outside_the_library_is_called(tmp_path, bits, machine, level):
    """On 32 bits a division of u64 would be a call of libgcc's. -Os may copy structs by the kernel's own memcpy."""
    objects = []
    for source in SOURCES:
        objects.append(tmp_path / f"{source.stem}.o")
        compiled([*STRICT, *KERNEL, f"-m{bits}", level, "-c", source, "-o", objects[-1]])
    whole = tmp_path / "whole.o"
    compiled(["ld", "-m", machine, "-r", "-o", whole, *objects])
    missing = set(compiled(["nm", "-u", whole]).split()) - {"U"}
    assert missing <= ({"memcpy"} if level == "-Os" else set()), missing
    assert "vm_queue_convert" in compiled(["nm", whole])


def test_the_kernels_types_are_all_it_takes_from_the_kernel(tmp_path):
    """No system header is there; u64 is what the kernel has for it."""
    types = "typedef unsigned char u8; typedef unsigned short u16; typedef unsigned int u32; typedef unsigned long long u64;"
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux" / "types.h").write_text(
        f"{types} typedef _Bool bool; enum {{ false, true }};\n#define NULL ((void *)0)\n"
    )
    for source in SOURCES:
        compiled([*STRICT, *KERNEL, "-nostdinc", "-D__KERNEL__", "-I", tmp_path, "-fsyntax-only", source])


def sweep(tmp_path, name, *options):
    program = tmp_path / name
    compiled([*STRICT, *options, "-I", LIB, SWEEP, *SOURCES, "-o", program])
    done = subprocess.run([program, "300"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "", done.stderr[-2000:]
    return done.stdout


def test_illegal_settings_and_mad_cards_do_nothing_undefined_and_the_same_at_every_optimisation(tmp_path):
    careful = ["-fsanitize=undefined,address", "-fno-sanitize-recover=all", "-g", "-O1"]
    said = {sweep(tmp_path, "careful", *careful), sweep(tmp_path, "plain", "-O0"), sweep(tmp_path, "fast", "-O3")}
    assert len(said) == 1 and re.fullmatch("[0-9a-f]{16}\n", said.pop())


def test_structs_in_python_are_laid_out_as_the_compilers(tmp_path):
    """Sizes, and where every member begins."""
    lines, wanted = [], []
    text = "\n".join(path.read_text() for path in LIB.glob("*.h"))
    for name in re.findall(r"^struct (vm_\w+) \{", text, re.M):
        made = getattr(C, "".join(word.capitalize() for word in name.split("_")[1:]), None)
        if made is None:  # vm_wide and vm_ratio are the library's own
            continue
        for member, _ in made._fields_:
            lines.append(f"offsetof(struct {name}, {member})")
            wanted.append(getattr(made, member).offset)
        lines.append(f"sizeof(struct {name})")
        wanted.append(ctypes.sizeof(made))
    assert len(wanted) > 180
    program = tmp_path / "layout.c"
    prints = "".join(f'printf("%zu\\n", {line});' for line in lines)
    program.write_text(
        f'#include <stddef.h>\n#include <stdio.h>\n#include "vm_access.h"\n#include "vm_rule.h"\nint main(void) {{ {prints} }}\n'
    )
    compiled(["gcc", "-I", LIB, program, "-o", tmp_path / "layout"])
    assert [int(x) for x in compiled([tmp_path / "layout"]).split()] == wanted


def test_every_source_says_its_licence_and_is_in_the_kernels_form():
    sources = [*SOURCES, *LIB.glob("*.h"), SWEEP]
    for path in sources:
        assert "SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0" in "".join(path.open().readlines()[:2]), path.name
    compiled(["clang-format", "--dry-run", "-Werror", *(path for path in sources if not suite.generated(path))])


def test_the_library_is_built_once_and_again_when_its_sources_change(monkeypatch, tmp_path):
    said = []
    monkeypatch.setattr(build, "BUILD", tmp_path)
    library = build.driver_library(said.append)
    first = library.stat().st_ino
    assert build.driver_library(said.append) == library and len(said) == 1 and library.stat().st_ino == first
    (tmp_path / "libvermilion_driver.so.made").write_text("another key")
    assert build.driver_library(said.append).stat().st_ino != first and len(said) == 2
