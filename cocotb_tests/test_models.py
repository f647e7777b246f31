"""Which benches share a Verilated model; no model is built here."""

import re
from pathlib import Path

import pytest

from bench import build
from vermilion.toolchain import steps, verilated

pytestmark = pytest.mark.quick


CLASSES = """# As Verilator writes it
VM_CLASSES_FAST += \\
  Vtop \\
  Vtop___024root__0 \\

VM_CLASSES_SLOW += \\
  Vtop___024root__0__Slow \\

VM_SUPPORT_FAST += \\
  Vtop__Dpi \\

VM_SUPPORT_SLOW += \\
  Vtop__Syms__Slow \\

VM_GLOBAL_FAST += \\
  verilated \\

VM_TIMING = 0
VM_TRACE = 1
VM_TRACE_FST = 1
"""
MAKEFILE = """# As Verilator writes it
VM_SC = 0
VM_USER_CFLAGS = \\
  -I/a -DA=\\"a\\" -fPIC \\

"""


@pytest.fixture
def built(tmp_path, monkeypatch):
    """The folders in which a model was built, with what Verilator was told."""
    monkeypatch.setattr(steps, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    commands = {}

    def tool(command, folder, _failure):
        commands.setdefault(folder, []).append([str(word) for word in command])
        (folder / "Vtop.o").write_text("")
        (folder / "Vtop_classes.mk").write_text(CLASSES)
        (folder / "Vtop.mk").write_text(MAKEFILE)

    monkeypatch.setattr(build, "tool", tool)
    monkeypatch.setattr(verilated, "precompiled", lambda words: Path("/".join(words)))
    return commands


def verilog(folder, text):
    folder.mkdir()
    (folder / "A.sv").write_text(text)
    return [folder / "A.sv"]


def test_equal_verilog_is_one_model(tmp_path, built):
    first = build.model("A", verilog(tmp_path / "a", "module A;"), build.PLAIN)
    assert build.model("A", verilog(tmp_path / "b", "module A;"), build.PLAIN) == first
    assert len(built) == 1
    assert (first / "verilog/A.sv").read_text() == "module A;" and not list(first.glob("*.o"))


def test_anything_else_is_another(tmp_path, built, monkeypatch):
    sources = verilog(tmp_path / "a", "module A;")
    models = [build.model("A", sources, build.PLAIN)]
    models.append(build.model("A", sources, [*build.PLAIN, "--public-flat-rw"]))
    models.append(build.model("A", sources, build.PLAIN, "-O0"))
    models.append(build.model("B", sources, build.PLAIN))
    models.append(build.model("A", verilog(tmp_path / "b", "module A; wire a;"), build.PLAIN))
    for versions in (("1", "2"), ("1", "3")):
        monkeypatch.setattr(build, "versions", lambda: versions)
        models.append(build.model("A", sources, build.PLAIN))
    assert len(set(models)) == len(built) == 7


def test_model_names_no_folder_of_the_checkout(tmp_path, built):
    """What Verilator writes into a model holds for any place: sources by relative names, libraries from the program's folder."""
    folder = build.model("A", verilog(tmp_path / "a", "module A;"), build.PLAIN)
    verilate = built[folder][0]
    assert "verilog/A.sv" in verilate and str(tmp_path / "a/A.sv") not in verilate
    if (libraries := Path(build.cocotb.libs_dir)).is_relative_to(build.ROOT):
        place = re.search(r"-rpath,'\$\$ORIGIN/([^']*)'", verilate[verilate.index("-LDFLAGS") + 1])[1]
        assert (folder / place).resolve() == libraries.resolve()


def test_a_models_fast_code_is_one_compilation_and_its_slow_code_another(tmp_path, built):
    folder = build.model("A", verilog(tmp_path / "a", "module A;"), build.PLAIN, "-O1")
    included = lambda kind: re.findall(r'^#include "(\w+)\.cpp"$', (folder / f"Vtop__All{kind}.cpp").read_text(), re.M)
    assert included("Fast") == ["Vtop", "Vtop___024root__0", "Vtop__Dpi"]
    assert included("Slow") == ["Vtop___024root__0__Slow", "Vtop__Syms__Slow"]
    made = built[folder][1]
    assert {"VM_CLASSES_FAST=Vtop__AllFast", "VM_CLASSES_SLOW=Vtop__AllSlow", "OPT_FAST=-O1"} <= set(made)
    alike = f"{verilated.STANDARD}/-DVM_TIMING=0/-DVM_TRACE=1/-DVM_TRACE_FST=1/-DVM_SC=0/-fPIC"
    assert {f"VK_PCH_I_FAST=-include-pch -O1/{alike}", f"VK_PCH_I_SLOW=-include-pch {alike}"} <= set(made)
    assert not any((folder / f"Vtop__pch.h.{kind}.gch").exists() for kind in ("fast", "slow"))
