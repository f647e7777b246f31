"""What `vermilion corundum overlay` adds: a board that takes it in has all files, and settings that fit.

Chisel's part is stood in for.
"""

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from support import corundum_shell as shell
from support.corundum_boards import BOARD
from vermilion.commands.cli import cli
from vermilion.corundum import corundum, corundum_check
from vermilion.synthesis import area
from vermilion.toolchain import app_presets, build, chisel
from vermilion.values.fields import UserError


@pytest.fixture
def emitted(monkeypatch):
    """Presets asked for; an empty block is emitted for each."""
    asked = []

    def emit(log, main, preset, folder, *_words):
        assert main == "vermilion.nic.EmitApp"
        asked.append(preset)
        shell.write_stub(build.Path(folder))

    monkeypatch.setattr(chisel, "run", emit)
    return asked


# A board's variant as Corundum has them, in the project's own words: names in Makefiles are seen from the folder above.
MAKEFILE = """
SYN_FILES = rtl/fpga.v
include ../app/vermilion/files.mk
seen:
	@echo $(foreach name,$(SYN_FILES),../$(name))
"""


def test_a_board_takes_the_overlay_in(emitted, tmp_path):
    done = CliRunner().invoke(cli, ["corundum", "overlay", "app10g-2-lean", str(tmp_path)])
    assert done.exit_code == 0 and emitted == ["app10g-2-lean"], done.output
    assert "Nexus K3P-S, 2 x 10G: fpga/mqnic/Nexus_K3P_S/fpga_25g/fpga_K3P_10g" in done.output
    variant = tmp_path / "fpga/mqnic/board/variant"
    variant.mkdir(parents=True)
    (variant.parent / "app").symlink_to("../../app")
    (variant / "Makefile").write_text(MAKEFILE)
    off = BOARD.replace("32'h564D0001", "32'h00000000").replace('APP_ENABLE "1"', 'APP_ENABLE "0"')
    (variant / "config.tcl").write_text(
        off.replace("configure_bar", "source ../app/vermilion/settings.tcl\nconfigure_bar")
    )
    assert corundum_check.check(variant / "config.tcl", "app10g-2-lean").wrong == []
    (variant / "plain.tcl").write_text(off)
    assert len(corundum_check.check(variant / "plain.tcl", "app10g-2-lean").wrong) == 2
    seen = subprocess.run(["make", "-s", "-C", variant, "seen"], capture_output=True, text=True).stdout.split()
    found = {(variant / name).resolve().name for name in seen[1:] if (variant / name).is_file()}
    assert len(seen) == 1 + len(found)
    assert found == {"mqnic_app_block.v", "vermilion_app_check.sv", "vermilion_app.sv", "vermilion_app_params.vh"}
    sources = [variant / name for name in seen[1:] if not name.endswith((".vh", "_block.v", "_check.sv"))]
    done = shell.lint((variant / seen[1]).parent, sources)
    assert done.returncode == 0, done.stderr


PLAIN = BOARD.replace("32'h564D0001", "32'h00000000").replace('APP_ENABLE "1"', 'APP_ENABLE "0"')
DEFINES = {"PORTS": 2, "DATA_BITS": 64, "TS_BITS": 96, "CLK_NUM": 4, "CLK_DENOM": 1}


def tree_of(tmp_path, config=PLAIN, makefile="SYN_FILES = rtl/fpga.v\ninclude ../common/vivado.mk\n"):
    variant = tmp_path / "fpga/mqnic/board/fpga_25g/fpga"
    variant.mkdir(parents=True)
    (tmp_path / "fpga/app").mkdir()
    (variant.parent / "app").symlink_to("../../../app/")
    (variant / "config.tcl").write_text(config)
    (variant / "Makefile").write_text(makefile)
    (variant / "fpga.runs").mkdir()
    return variant


def with_board(tree, preset="app10g-2"):
    return CliRunner().invoke(cli, ["corundum", "overlay", preset, str(tree), "--board", "board/fpga_25g/fpga"])


@pytest.fixture
def defines(monkeypatch, emitted):
    """What the header of an emitted block says; a test changes it."""
    held = dict(DEFINES)
    lines = lambda: "".join(f"`define VERMILION_APP_{name} {value}\n" for name, value in held.items())
    monkeypatch.setattr(shell, "write_stub", lambda folder: stub(folder) or HEADER(folder).write_text(lines()))
    stub = ORIGINAL
    return held


ORIGINAL, HEADER = shell.write_stub, lambda folder: build.Path(folder) / "vermilion_app_params.vh"


@pytest.mark.parametrize("comment", ["", "# PCIe IP core settings\n"])
def test_a_boards_copy_is_ready_for_make(defines, tmp_path, monkeypatch, comment):
    variant = tree_of(tmp_path, PLAIN.replace("configure_bar $pcie", f"{comment}configure_bar $pcie"))
    with (variant / "Makefile").open("ab") as file:
        file.write(b"# by \xe9\n")  # no UTF-8
    text = lambda path: path.read_text(errors="surrogateescape")
    before = {name: text(variant / name) for name in ("config.tcl", "Makefile")}
    done = with_board(tmp_path)
    copy = variant.with_name("fpga_vermilion")
    assert done.exit_code == 0 and f"ready for make: {copy}" in done.output, done.output
    assert before == {name: text(variant / name) for name in before}, "the board's own files were changed"
    assert sorted(path.name for path in copy.iterdir()) == ["Makefile", "config.tcl"]
    for name, line in (("config.tcl", corundum.SOURCE), ("Makefile", corundum_check.INCLUDE)):
        lines = text(copy / name).splitlines()
        assert [each for each in lines if each != line] == before[name].splitlines() and lines.count(line) == 1
    checked = CliRunner().invoke(cli, ["corundum", "check", str(copy / "config.tcl")])
    assert checked.exit_code == 0 and "fits the overlay in" in checked.stdout, checked.output
    assert "is there already" in str(with_board(tmp_path).exception)
    monkeypatch.chdir(copy)
    (tmp_path / "fpga/app/vermilion/files.mk").unlink()
    assert "names no files" in corundum_check.check(Path("config.tcl")).wrong[0], "the overlay was not seen from inside"


@pytest.mark.parametrize(
    "config, makefile, sentence",
    [
        (PLAIN.replace('IF_COUNT "2"', 'IF_COUNT "1"'), None, "IF_COUNT is 1, so 1 ports; legal is 2"),
        (PLAIN, "all:\n", "has no place for the line `include"),
        ("puts hello", None, "is no config.tcl of a Corundum board"),
    ],
)
def test_a_board_that_cannot_take_it_in_is_refused(defines, tmp_path, config, makefile, sentence):
    variant = tree_of(tmp_path, config, **({"makefile": makefile} if makefile else {}))
    assert sentence in str(with_board(tmp_path).exception)
    assert not variant.with_name("fpga_vermilion").exists() and not (tmp_path / "fpga/app/vermilion").exists()


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("PORTS", 1, "legal is 1, the ports of the overlay in"),
        ("DATA_BITS", 128, "has 128, for 25G"),
        ("DATA_BITS", 99, "DATA_BITS is 99; legal are 64, 128, 512"),
        ("TS_BITS", 0, "PTP_TS_ENABLE is 1; legal is 0"),
        ("CLK_NUM", 5, "is 4/1 ns; legal is 5/1"),
        ("PORTS", "two", "does not say what the overlay was built for"),
    ],
)
def test_an_overlay_that_is_for_another_board_is_seen(defines, tmp_path, name, value, sentence):
    variant = tree_of(tmp_path)
    defines[name] = value
    with_board(tmp_path)
    found = corundum_check.check(variant.with_name("fpga_vermilion") / "config.tcl").wrong
    assert len(found) == 1 and sentence in found[0], found


def test_an_overlay_that_is_not_whole_is_seen(defines, tmp_path):
    copy = tree_of(tmp_path).with_name("fpga_vermilion")
    with_board(tmp_path)
    (tmp_path / "fpga/app/vermilion/rtl/mqnic_app_block.v").unlink()
    (copy / "Makefile").write_text("# include ../app/vermilion/files.mk\ninclude ../common/vivado.mk\n")
    missing, makefile = corundum_check.check(copy / "config.tcl").wrong
    assert "files of the overlay are missing: rtl/mqnic_app_block.v" in missing
    assert "has no line `include ../app/vermilion/files.mk`" in makefile
    (tmp_path / "fpga/app/vermilion/files.mk").unlink()
    assert "names no files" in corundum_check.check(copy / "config.tcl").wrong[0]


def test_settings_are_parameters_of_the_block(tmp_path):
    parameters, _ = shell.interface()
    assert set(corundum_check.SETTINGS) - {"APP_ENABLE"} <= set(parameters)
    for preset in app_presets.PRESETS:
        (tmp_path / "settings.tcl").write_text(corundum.settings(preset))
        settings = corundum_check.Settings(
            corundum_check.Script(tmp_path / "settings.tcl").params | {"PORTS_PER_IF": "1"}
        )
        corundum_check.check_block(settings)
        assert settings.wrong == [], preset


def test_readme_names_the_boards_in_at_most_ten_steps():
    text = corundum.README.read_text()
    rows = re.findall(r"^\| (.+?) \| `(\S+?)` \| (.*?) \|$", text, re.M)
    assert [(name, variant, tuple(re.findall(r"`(\S+?)`", presets))) for name, variant, presets in rows] == [
        (board.name, board.variant, board.presets) for board in corundum.BOARDS
    ]
    assert {preset for board in corundum.BOARDS for preset in board.presets} <= set(app_presets.PRESETS)
    assert len(re.findall(r"^\d+\. ", text, re.M)) <= 10


# The design whose estimate stands for a preset's lane; card-2x10g is card-2x25g with half the width, and is not estimated itself.
ESTIMATED = {"app10g-2-lean": "lane-10g-lean", "app25g-2-lean": "lane-25g-lean"}
ESTIMATED |= {"card-2x10g": "card-2x25g", "card-2x25g": "card-2x25g"}


def test_lanes_of_a_board_leave_room_in_its_device():
    """By the pinned estimates of its own lane; a NIC needs the rest."""
    rows, device = area.pins(), area.XCKU3P
    for board in corundum.BOARDS:
        for preset in board.presets if board.part == "xcku3p" else ():
            shape = app_presets.PRESETS[preset]
            row = rows[ESTIMATED[preset]]
            lanes = 1 if preset.startswith("card") else shape.ports * (1 + shape.host_lanes)
            assert all(lanes * row[figure] < 0.6 * device[figure] for figure in ("lut", "ff", "bram")), preset
            assert lanes * row["uram"] < 0.86 * device["uram"], preset


def test_what_stands_there_stays(emitted, tmp_path):
    corundum.overlay("app10g-2", tmp_path)
    with pytest.raises(UserError, match="is there already"):
        corundum.overlay("app10g-2", tmp_path)
    with pytest.raises(UserError, match="PRESET is nic10g; legal are app10g-1"):
        corundum.overlay("nic10g", tmp_path / "other")
    assert emitted == ["app10g-2"]
