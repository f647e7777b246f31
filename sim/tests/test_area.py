"""The area of the small blocks stays what `fpga/resources.toml` says; the lanes are the command's own affair (minutes each)."""

import pytest
from vermilion import area


@pytest.fixture(scope="module")
def measured():
    return area.measure(area.SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("design", area.SMALL)
def test_area_is_as_pinned(measured, design):
    pins = area.pins()
    for figure in area.FIGURES:
        pinned = pins[design][figure]
        found = measured[design][figure]
        assert (
            abs(found - pinned) <= pins["tolerance"] * pinned
        ), f"{design}: {figure} is {found}, pinned {pinned}; if that is meant, run `./vermilion area --publish`"


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
