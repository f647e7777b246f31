"""What `vermilion corundum overlay` adds: a board that takes it in has all files, and settings that fit.

Chisel's part is stood in for.
"""

import re
import subprocess

import corundum_shell as shell
import pytest
from click.testing import CliRunner
from test_corundum_check import BOARD
from vermilion import area, build, chisel, corundum, corundum_check
from vermilion.cli import cli
from vermilion.fields import UserError


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


def test_settings_are_parameters_of_the_block(tmp_path):
    parameters, _ = shell.interface()
    assert set(corundum.SETTINGS) - {"APP_ENABLE"} <= set(parameters)
    for preset in corundum_check.PRESETS:
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
    assert {preset for board in corundum.BOARDS for preset in board.presets} <= set(corundum_check.PRESETS)
    assert len(re.findall(r"^\d+\. ", text, re.M)) <= 10


def test_lanes_of_a_board_leave_room_in_its_device():
    """By the pinned estimates of its own lane; a NIC needs the rest."""
    rows, device = area.pins(), area.XCKU3P
    for board in corundum.BOARDS:
        for preset in board.presets if board.part == "xcku3p" else ():
            shape = corundum_check.PRESETS[preset]
            row = rows[{"app10g-2-lean": "lane-10g-lean", "app25g-2-lean": "lane-25g-lean"}[preset]]
            lanes = shape.ports * (1 + shape.host_lanes)
            assert all(lanes * row[figure] < 0.6 * device[figure] for figure in ("lut", "ff", "bram")), preset


def test_what_stands_there_stays(emitted, tmp_path):
    corundum.overlay("app10g-2", tmp_path)
    with pytest.raises(UserError, match="is there already"):
        corundum.overlay("app10g-2", tmp_path)
    with pytest.raises(UserError, match="PRESET is nic10g; legal are app10g-1"):
        corundum.overlay("nic10g", tmp_path / "other")
    assert emitted == ["app10g-2"]
