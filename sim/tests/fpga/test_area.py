"""The area of two blocks stays what `fpga/resources.toml` says; the lanes are the command's own affair (minutes each)."""

import json

import pytest

from support.nightly import nightly
from vermilion.synthesis import area, area_data


@pytest.mark.slow
@pytest.mark.parametrize("design", [*map(nightly, area.SMALL)])
def test_area_is_as_pinned(design):
    pins = area.pins()
    measured = area.measure([design])[design]
    for figure in area.FIGURES:
        pinned = pins[design][figure]
        found = measured[figure]
        assert abs(found - pinned) <= pins["tolerance"] * pinned, (
            f"{design}: {figure} is {found}, pinned {pinned}; if that is meant, run `./vermilion area --publish`"
        )


def test_pins_are_of_designs_that_there_are():
    assert {"tolerance", *area.SMALL} <= set(area.pins()) <= {"tolerance", *area.DESIGNS}


def test_cells_are_counted_as_said():
    cells = {"LUT1": 1, "LUT6": 2, "RAM32M16": 1, "SRL16E": 3, "FDRE": 4, "FDSE": 1, "RAMB36E2": 2, "RAMB18E2": 1}
    memories = [["state", 16, 10, False], ["table", 1024, 18, True]]
    row = area.figures(cells | {"DSP48E2": 5, "INV": 9, "CARRY4": 7}, memories)
    assert (row["lut"], row["lutram"], row["srl"], row["ff"]) == (1 + 2 + 8 + 3, 8, 3, 5)
    assert (row["bram"], row["uram"], row["dsp"], row["memory_bits"]) == (2.5, 0, 5, 160)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["xcup", "xc7"])
def test_chains_from_eight_registers_on_are_shift_registers(tmp_path, family):
    chains = {"seven": 7, "eight": 8, "twenty": 20}
    inputs, outputs = (", ".join(f"{way}put {way}_{name}" for name in chains) for way in ("in", "out"))
    source = [f"module t(input clock, {inputs}, {outputs});"]
    for name, n in chains.items():
        source.append(f"  reg [{n - 1}:0] {name}; always @(posedge clock) {name} <= {{{name}, in_{name}}};")
        source.append(f"  assign out_{name} = {name}[{n - 1}];")
    source.append("endmodule")
    (tmp_path / "t.sv").write_text("\n".join(source))
    made = area.synthesis(tmp_path, "t", family)
    row = area.figures(made["cells"], made["memories"])
    assert (row["lut"], row["srl"], row["ff"]) == (2, 2, 7)


def test_cell_that_cannot_be_counted_is_refused():
    with pytest.raises(area.build.BuildError, match="RAM512X1S"):
        area.figures({"RAM512X1S": 1}, [])


def test_a_scale_has_the_sizes_that_were_measured_and_their_share_of_the_lane():
    row = dict.fromkeys(area.FIGURES, 0)
    result = {"lane": row | {"lut": 200}, "queues-1024": row | {"lut": 250, "bram": 7.5}}
    lines = area.scale("queues", result, lambda name: area.DESIGNS[name][1] + " *" * (name == "lane")).splitlines()
    assert [line.split(" | ")[:3] for line in lines[2:]] == [["| 16 *", "1.000", "200"], ["| 1,024", "1.250", "250"]]
    assert "| 7.5 |" in lines[3]
    for kind, sizes in area.SCALES.items():
        assert set(sizes.values()) <= set(area.SHOWN) and list(sizes) == sorted(sizes), kind


def test_a_cards_memories_are_told_by_shape_with_what_they_take_at_least():
    """A block RAM holds 36,864 bits, an UltraRAM 294,912."""
    made = {
        "memories": [
            ["cells", 8192, 512, False, {"URAM288": 16}],
            ["link", 8192, 13, False, {"RAMB36E2": 3, "RAMB18E2": 1}],
            ["link2", 8192, 13, False, {"RAMB36E2": 3, "RAMB18E2": 1}],
            ["bits129", 2048, 129, False, {"RAMB36E2": 7, "RAMB18E2": 1}],
            ["table", 64, 90, False, {"RAM64M8": 13}],
            ["sines", 1024, 18, True, {"RAMB18E2": 1}],
            ["bits", 16, 1, False, {"RAM32M16": 1}],
        ]
    }
    rows = area_data.memories(made, area.LUTRAM)
    assert [(row["words"], row["bits"], row["number"]) for row in rows] == [
        (8192, 512, 1),
        (2048, 129, 1),
        (8192, 13, 2),
        (64, 90, 1),
        (16, 1, 1),
    ]
    lines = area_data.table(rows, area.XCKU3P).splitlines()[2:]
    assert lines[0] == "| 8,192 x 512 | 1 | 4,194,304 | 0 |  | 16 | 15 | 0 |"
    assert lines[1] == "| 2,048 x 129 | 1 | 264,192 | 7.5 | 7.5 | 0 |  | 0 |"
    assert lines[2] == "| 8,192 x 13 | 2 | 212,992 | 7 | 6 | 0 |  | 0 |"
    assert lines[3] == "| 64 x 90 | 1 | 5,760 | 0 |  | 0 |  | 104 |"
    assert lines[4].startswith("| smaller ones | 1 | 16 |")
    assert lines[5] == "| all | 6 | 4,677,264 | 14.5 of 360 | | 16 of 48 | | 112 |"


def test_published_figures_of_the_designs_are_those_of_the_pins():
    data = json.loads(area.PAGE.with_suffix(".json").read_text())
    pins = area.pins()
    assert data.keys() == pins.keys() - {"tolerance"}
    for name, row in data.items():
        assert (row["lut"], row["ff"], row["bram36"], row["uram"], row["dsp"]) == tuple(
            pins[name][figure] for figure in ("lut", "ff", "bram", "uram", "dsp")
        ), name
