"""Which benches share a Verilated model; no model is built here."""

import re

import pytest
from bench import build
from vermilion import steps

pytestmark = pytest.mark.quick


@pytest.fixture
def built(tmp_path, monkeypatch):
    """The folders in which a model was built, with what Verilator was told."""
    monkeypatch.setattr(steps, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(steps, "BUILD", tmp_path / "build")
    commands = {}

    def tool(command, folder, _failure):
        commands.setdefault(folder, []).append([str(word) for word in command])
        (folder / "Vtop.o").write_text("")

    monkeypatch.setattr(build, "tool", tool)
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
    models.append(build.model("A", sources, build.PLAIN, "OPT_FAST=-O0"))
    models.append(build.model("B", sources, build.PLAIN))
    models.append(build.model("A", verilog(tmp_path / "b", "module A; wire a;"), build.PLAIN))
    monkeypatch.setattr(build, "verilator_version", lambda: "1")
    models.append(build.model("A", sources, build.PLAIN))
    assert len(set(models)) == len(built) == 6


def test_model_names_no_folder_of_the_checkout(tmp_path, built):
    """What Verilator writes into a model holds for any place: sources by relative names, libraries from the program's folder."""
    folder = build.model("A", verilog(tmp_path / "a", "module A;"), build.PLAIN)
    verilate = built[folder][0]
    assert "verilog/A.sv" in verilate and str(tmp_path / "a/A.sv") not in verilate
    if (libraries := build.Path(build.cocotb.libs_dir)).is_relative_to(build.ROOT):
        place = re.search(r"-rpath,'\$\$ORIGIN/([^']*)'", verilate[verilate.index("-LDFLAGS") + 1])[1]
        assert (folder / place).resolve() == libraries.resolve()
