"""`vermilion release`: somebody else's design takes a lane in through FuseSoC and a frame comes through."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import corundum_shell as shell
from support.nightly import NIGHTLY, at_night, nightly
from vermilion.synthesis import hdl, release, rtl
from vermilion.toolchain import build, chisel
from vermilion.values.fields import UserError

pytestmark = pytest.mark.slow

GUEST = Path(__file__).with_name("guest")
PRESETS = ("nic10g", "app10g-2-wire", *(("nic10g-all",) if NIGHTLY else ()))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """The archive of lanes and an application block, unpacked again."""
    folder = tmp_path_factory.mktemp("release")
    packed = release.release(folder, [*PRESETS], "1.2.3")
    shutil.unpack_archive(packed, folder / "unpacked")
    return folder / "unpacked" / "vermilion-1.2.3"


def fusesoc(cores: list[Path], work: Path, *words) -> str:
    """What FuseSoC prints; it runs as its user would run it."""
    roots = [word for core in cores for word in ("--cores-root", core)]
    command = [sys.executable, "-m", "fusesoc.main", *roots, "run", *words]
    done = subprocess.run([str(word) for word in command], cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


@at_night
def test_a_frame_comes_through_in_somebody_elses_design(released, tmp_path):
    said = fusesoc([GUEST, released], tmp_path, "--target=sim", "somebody:else:guest")
    assert "a frame of 8 beats is through" in said


@pytest.mark.parametrize(
    "preset, name",
    [
        ("nic10g", "vermilion_nic10g"),
        nightly("nic10g-all", "vermilion_nic10g_all"),
        ("app10g-2-wire", "vermilion_app"),
    ],
)
def test_every_module_carries_the_name_of_its_block(released, preset, name):
    sources = rtl.sources(released / preset / "rtl")
    assert len(sources) > 50
    for path in sources:
        assert re.findall(r"^module (\w+)", path.read_text(), re.M) == [path.stem]
        assert path.stem in (name, "mqnic_app_block") or path.stem.startswith(f"{name}_")


@pytest.mark.parametrize(
    "preset, name, reset",
    [("nic10g", "vermilion_nic10g", "reset"), ("app10g-2-wire", "vermilion_app", "rst")],
)
def test_the_reset_goes_to_one_register_and_is_timed(released, preset, name, reset):
    text = (released / preset / "rtl" / f"{name}.sv").read_text()
    body = re.sub(r"//.*", "", text.split(");", 1)[1])  # behind the ports
    uses = [line.strip() for line in body.splitlines() if re.search(rf"(?<!\.)\b{reset}\b", line)]
    assert len(uses) == 1 and re.fullmatch(rf"\.reset +\({reset}\),?", uses[0]), uses
    assert len(re.findall(r"HeldReset \w+ \(", body)) == 1
    assert "false_path" not in (released / preset / "ooc.xdc").read_text()


def test_the_block_has_the_ports_that_the_shell_was_tested_with(released):
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| (\d+) \|$", (released / "app10g-2-wire/ports.md").read_text(), re.M)
    assert {name: (way, int(bits)) for name, way, bits in rows} == shell.app_ports()
    built = dict(
        re.findall(
            r"`define VERMILION_APP_(\w+) (\S+)", next(iter(rtl.headers(released / "app10g-2-wire/rtl"))).read_text()
        )
    )
    assert built == {name: str(value) for name, value in shell.BUILT.items()}


def test_the_archive_has_what_it_is_for(released):
    names = {str(path.relative_to(released)) for path in released.rglob("*") if path.is_file()}
    wanted = {
        "README.md",
        "LICENSE",
        *(f"registers/{name}" for name in ("registers.md", "app-registers.md", "app.rdl")),
    }
    assert wanted | {f"nic10g/{name}" for name in ("nic10g.core", "ports.md", "ooc.xdc")} <= names
    ports = (released / "nic10g/ports.md").read_text()
    for row in (
        "| `clock` | input | 1 |",
        "| `io_in_1_bits_data` | input | 64 |",
        "| `io_out_0_bits_last` | output | 1 |",
    ):
        assert row in ports
    assert "[get_ports clock]" in (released / "nic10g/ooc.xdc").read_text()
    assert "/tmp" not in (released / "README.md").read_text() + (released / "nic10g/nic10g.core").read_text()


def test_the_same_files_are_the_same_archive(released, tmp_path):
    copies = [Path(shutil.copytree(released, tmp_path / name / released.name)) for name in "ab"]
    os.utime(copies[1] / "README.md", (1, 1))
    (copies[1] / "LICENSE").chmod(0o600)
    assert release.archive(copies[0]).read_bytes() == release.archive(copies[1]).read_bytes()


def test_an_application_block_is_a_core_with_its_shell(tmp_path, monkeypatch):
    """Chisel's part is stood in for; slang, Verilator and FuseSoC are not."""

    def emit(log, main, preset, folder, *_words):
        assert (main, preset) == ("vermilion.nic.EmitApp", "app10g-2")
        shell.write_stub(Path(folder))

    monkeypatch.setattr(chisel, "run", emit)
    release.release(tmp_path, ["app10g-2"], "0.1.0")
    block = tmp_path / "vermilion-0.1.0" / "app10g-2"
    assert {path.name for path in (block / "rtl").iterdir()} == {
        "mqnic_app_block.v",
        "vermilion_app.sv",
        "vermilion_app_check.sv",
        "vermilion_app_params.vh",
    }
    assert "| `m_axis_sync_rx_tuser` | output | 194 |" in (block / "ports.md").read_text()
    assert "[get_ports clk]" in (block / "ooc.xdc").read_text()
    fusesoc([tmp_path / "vermilion-0.1.0"], tmp_path, "--target=lint", "vermilion:app:app10g-2")


def test_prefix_renames_modules_and_nothing_else(tmp_path):
    (tmp_path / "Top.sv").write_text(
        "module Top(\n  input clock\n);\n  Queue Queue_1 (\n    .Queue (Queue)\n  );\n  wire Queue = clock;\nendmodule\n"
    )
    (tmp_path / "Queue.sv").write_text("module Queue(\n  input Queue\n);\nendmodule\n")
    hdl.prefix(tmp_path, "x_", "Top", "x")
    assert {path.name for path in tmp_path.iterdir()} == {"x.sv", "x_Queue.sv"}
    assert (tmp_path / "x_Queue.sv").read_text() == "module x_Queue(\n  input Queue\n);\nendmodule\n"
    text = (tmp_path / "x.sv").read_text()
    assert "module x(" in text and "  x_Queue Queue_1 (" in text and ".Queue (Queue)" in text and "wire Queue =" in text
    (tmp_path / "y.sv").write_text("module y; endmodule\nmodule z; endmodule\n")
    with pytest.raises(build.BuildError, match="declares y, z, not y alone"):
        hdl.prefix(tmp_path, "x_", "x", "x")


def test_what_slang_or_verilator_warn_of_is_not_packed(tmp_path, capfd):
    wrong = tmp_path / "a.sv"
    wrong.write_text("module a(input [3:0] b, output [7:0] c);\n  assign c = nowhere;\nendmodule\n")
    with pytest.raises(build.BuildError, match="slang has 1 errors or warnings in a"):
        hdl.elaborate([wrong], "a", tmp_path)
    wrong.write_text("module a(input [7:0] b, output [3:0] c);\n  assign c = b;\nendmodule\n")
    with pytest.raises(build.BuildError, match="WIDTHTRUNC"):
        hdl.lint([wrong], "a", tmp_path)
    wrong.write_text("module a #(parameter N = 1) (input [N-1:0] b, output c);\n  assign c = ^b;\nendmodule\n")
    hdl.lint([wrong], "a", tmp_path, {"N": 3})
    assert hdl.elaborate([wrong], "a", tmp_path, {"N": 3}) == [hdl.Port("b", "input", 3), hdl.Port("c", "output", 1)]


def test_what_cannot_be_packed_is_refused(tmp_path):
    with pytest.raises(UserError, match="--version is 1.2-rc; legal are"):
        release.release(tmp_path, ["nic10g"], "1.2-rc")
    with pytest.raises(UserError, match="--preset is nic1g; legal are lab, nic10g"):
        release.release(tmp_path, ["nic1g"], "1.2")
    (tmp_path / "vermilion-1.2").mkdir()
    with pytest.raises(UserError, match="is there already"):
        release.release(tmp_path, ["nic10g"], "1.2")
