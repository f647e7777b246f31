"""Timing estimates on circuits whose paths can be added up by hand from fpga/timing/delays.toml."""

import math
import tomllib

import pytest

from support.nightly import nightly
from vermilion.synthesis import area, liberty, netlist, timing
from vermilion.toolchain import build

D = tomllib.loads(area.DELAYS.read_text())


def net(fanout):
    return D["net"]["first"] + D["net"]["double"] * math.log2(fanout)


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Paths of small circuits, from one synthesis."""
    source = tmp_path_factory.mktemp("timing") / "circuits.v"
    source.write_text("""
module circuits(input clk, input [255:0] in, output reg out);
  reg direct_a, direct_b; always @(posedge clk) begin direct_a <= in[100]; direct_b <= direct_a; end
  reg [35:0] wide; reg narrow; always @(posedge clk) begin wide <= in[35:0]; narrow <= ^wide; end
  reg [15:0] x, y, sum; always @(posedge clk) begin x <= in[116:101]; y <= in[132:117]; sum <= x + y; end
  reg [9:0] address; reg [31:0] data, written; reg [31:0] memory [0:1023];
  always @(posedge clk) begin
    address <= in[149:140]; written <= in[181:150]; data <= memory[address]; if (in[182]) memory[address] <= written;
  end
  reg [31:0] taken; always @(posedge clk) taken <= data;
  (* ram_style = "ultra" *) reg [71:0] deep [0:4095]; reg [71:0] deep_data, deep_taken; reg [11:0] deep_read, deep_write;
  always @(posedge clk) begin
    deep_read <= in[221:210]; deep_write <= in[233:222]; deep_data <= deep[deep_read];
    if (in[183]) deep[deep_write] <= {in[71:0]};
    deep_taken <= deep_data;
  end
  reg hub; reg [15:0] spokes, shifted;
  always @(posedge clk) begin hub <= in[190]; shifted <= in[206:191]; spokes <= shifted & {16{hub}}; end
  always @(posedge clk) out <= direct_b ^ narrow ^ ^sum ^ ^taken ^ ^deep_taken ^ ^spokes;
endmodule""")
    return {(p["from"], p["to"]): p for p in timing.anchor([source], "circuits", "clk")}


def test_register_to_register_is_a_register_and_a_net(measured):
    assert measured["direct_a", "direct_b"]["ns"] == pytest.approx(D["register"]["clock_to_q"] + net(1), abs=0.011)


def test_every_lut_costs_itself_and_its_net(measured):
    path = measured["wide", "narrow"]
    luts = path["luts"]
    assert luts >= 2
    assert path["ns"] == pytest.approx(
        D["register"]["clock_to_q"] + (luts + 1) * net(1) + luts * D["lut"]["delay"], abs=0.011
    )
    assert path["logic_ns"] == pytest.approx(D["register"]["clock_to_q"] + luts * D["lut"]["delay"], abs=0.011)


def test_carry_chain_costs_no_nets_within(measured):
    path = max((measured[key] for key in (("x", "sum"), ("y", "sum")) if key in measured), key=lambda path: path["ns"])
    cells = (
        D["register"]["clock_to_q"]
        + D["lut"]["delay"]
        + D["carry"]["start"]
        + 2 * D["carry"]["pass"]
        + D["carry"]["end"]
    )
    assert path["carries"] == 4
    assert path["ns"] == pytest.approx(
        cells + 3 * net(1), abs=0.08
    )  # an operand feeds the LUT and the chain, so its net has a fan-out of 2 or 3


def test_block_ram_without_output_register_is_slow(measured):
    path = measured["memory", "taken"]
    assert path["ns"] == pytest.approx(D["blockram"]["clock_to_out"] + net(1), abs=0.011)


def test_ultraram_without_output_register_is_slower_still(measured):
    path = measured["deep", "deep_taken"]
    assert path["ns"] == pytest.approx(D["ultraram"]["clock_to_out"] + net(1), abs=0.011)
    assert D["ultraram"]["clock_to_out"] > 2 * D["blockram"]["clock_to_out"]


def test_the_other_speed_grade_is_slower_by_one_factor(measured):
    found = sorted(measured.values(), key=lambda path: -path["ns"])
    both = timing.grades(found, D)
    assert both == {"-2": found[0]["ns"], "-1": pytest.approx(1.22 * found[0]["ns"], abs=0.01)}


def test_fan_out_costs(measured):
    path = measured["hub", "spokes"]
    assert path["ns"] >= D["register"]["clock_to_q"] + net(16) - 0.011


def test_cell_without_delay_is_named():
    with pytest.raises(KeyError, match="GTYE4"):
        liberty.library({"GTYE4": {"O": [True, 1]}}, D)


def test_missing_program_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(timing.shutil, "which", lambda _: None)
    with pytest.raises(build.BuildError, match="apt-get install opensta"):
        timing.analyse(tmp_path, "top", {})


@pytest.mark.slow
@pytest.mark.parametrize("design", [area.SMALL[0], *map(nightly, area.SMALL[1:])])
def test_small_designs_have_paths_that_are_named(design):
    found = timing.paths(design)
    assert found[0]["ns"] == max(path["ns"] for path in found)
    assert sum(path["from"] == "(unnamed)" for path in found) < len(found) / 2


def test_the_first_words_that_fit_both_ends_say_what_a_path_does():
    words = [
        {"from": "a$", "to": "x", "what": "one"},
        {"from": "a", "to": ".", "what": "two"},
    ]
    ends = {("lane.a", "x"): "one", ("lane.a", "y"): "two", ("lane.ab", "x"): "two", ("b", "x"): ""}
    for (start, end), what in ends.items():
        assert timing.does({"from": start, "to": end}, words) == what
    for each in tomllib.loads(timing.WORDS.read_text())["path"]:
        assert set(each) == {"from", "to", "what"}


def test_the_anchor_says_what_a_figure_is_worth_with_its_reset_net_and_without():
    path = lambda start, ns: {"from": start, "ns": ns}
    rows = {"anchor": {"paths": [path("delay_resetn.out", 2.1), path("cpu.a", 1.75), path("cpu.b", 1.4)]}}
    text = timing.calibration(rows)
    assert "2.10 ns (+50 %)" in text and "1.75 ns (+25 %)" in text and "0.67 to 0.80" in text
    inside = timing.calibration({"anchor": {"paths": rows["anchor"]["paths"][1:]}})
    assert "1.75 ns (+25 %)" in inside and "worth 0.80 of itself" in inside and "reset" not in inside
    rows["anchor"]["paths"] = rows["anchor"]["paths"][:1]
    assert "2.10 ns (+50 %)" in timing.calibration(rows) and "worth" not in timing.calibration(rows)
    assert timing.calibration({}) == ""


def test_a_register_is_named_without_what_a_netlist_adds():
    for cell in ("core.next_RAM64M8_3", "core.next\n", "core.next[12]"):
        assert timing.register(cell) == "core.next", cell


def test_joined_assignments_are_taken_apart_for_sta():
    text = """module m(a, y);
  input [3:0] a;
  wire [3:0] a;
  output y;
  wire y;
  wire [5:2] \\w.x ;
  assign { \\w.x [5:4], y } = { a[1:0], 1'h1 };
  assign { \\w.x [3], \\w.x [2] } = 2'hx;
  assign { y } = a[3];
  assign y = a[0];
  defparam cell.INIT = 1;
endmodule
"""
    plain = netlist.for_sta(text)
    assigns = [line.strip() for line in plain.splitlines() if "assign" in line]
    assert assigns == [
        "assign \\w.x [5] = a[1];", "assign \\w.x [4] = a[0];", "assign y  = 1'h1;",
        "assign \\w.x [3] = 1'h0;", "assign \\w.x [2] = 1'h0;", "assign y  = a[3];", "assign y = a[0];",
    ]  # fmt: skip
    assert "defparam" not in plain
    with pytest.raises(ValueError):
        netlist.for_sta("  assign { a, b } = 3'h0;\n")
