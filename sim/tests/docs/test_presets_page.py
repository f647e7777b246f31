"""The table of presets with their size: that of the builds, and of what was measured."""

import json
import re

import pytest

from vermilion.synthesis.area import XCKU3P
from vermilion.toolchain import presets
from vermilion.toolchain.build import ROOT

PAGE = (ROOT / "docs/howto/presets.md").read_text()
RESULTS = ROOT / "docs/results"
AREA, TIMING = (json.loads((RESULTS / f"{name}.json").read_text()) for name in ("area", "timing"))
DESIGNS = {  # a preset, and its design in area.json and timing.json; the others were not measured
    "nic10g": "lane",
    "nic10g-all": "lane-with-victims",
    "nic100g": "lane-512",
    "nic100g-all": "card-1x100g",
    "card-2x10g": "card-2x10g",
    "card-2x25g": "card-2x25g",
    "card-2x25g-aqm": "card-2x25g-aqm",
}
ROWS = {row.split(" | ")[0].strip("|` "): row for row in re.findall(r"^\| `[^`,]+` \| \d+ .*$", PAGE, re.M)}


def row(preset: str) -> str:
    """The row that the page must have; a star where the page of areas has one."""
    build, design = presets.shape(preset), DESIGNS.get(preset, "")
    size, ns = AREA.get(design), TIMING.get(design, {}).get("ns", {}).get("-2", "-")
    lut, bram, uram = (f"{size[name]:,}" if size else "-" for name in ("lut", "bram36", "uram"))
    star = "*" if size and re.search(rf" \* \| {lut} ", (RESULTS / "area.md").read_text()) else ""
    built = f"{build.data_bits} | {build.egresses} | {build.queues} | {build.cells:,}"
    return f"| `{preset}` | {built} | {lut}{star} | {bram} | {uram} | {ns} |"


@pytest.mark.parametrize("preset", ROWS)
def test_a_row_is_what_was_built_and_measured(preset):
    assert ROWS[preset] == row(preset)


def test_each_measured_preset_has_a_row():
    assert set(DESIGNS) <= set(ROWS)


def test_the_instance_of_the_page_is_that_of_the_tested_design():
    """`guest.v` goes through Verilator in `test_release.py`; the page shows more ports, and none is left out."""
    instance = re.search(r"```verilog\n(.*?)```", (ROOT / "docs/howto/datapath.md").read_text(), re.S)[1]
    tested = (ROOT / "sim/tests/fpga/guest/guest.v").read_text()
    assert set(re.findall(r"\.(\w+)\(", tested)) <= set(re.findall(r"\.(\w+)\(", instance))


def test_the_device_is_that_of_the_areas():
    assert f"{XCKU3P['lut']:,} LUT, {XCKU3P['bram']} BRAM36 and {XCKU3P['uram']} UltraRAM" in PAGE
