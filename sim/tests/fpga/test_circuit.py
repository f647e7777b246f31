"""The digest of a circuit does not depend on names, and depends on all else."""

import re

import pytest

from vermilion.synthesis import circuit

TOP = """// Generated
module Top(
  input        clock,
  input  [3:0] a,
               b,
  output [3:0] z
);
  (* ram_style = "block" *) reg [3:0] held [0:15];
  wire [3:0] _stage_out;
  Stage stage ( // Top.scala:3
    .clock (clock), .in (a), .other (b), .out (_stage_out)
  );
  always @(posedge clock) held[b] <= a;
  assign z = _stage_out + 4'h3;
endmodule
"""
STAGE = """module Stage(
  input clock, input [3:0] in, other, output [3:0] out
);
  reg [3:0] r;
  always @(posedge clock) r <= in - other;
  assign out = r;
endmodule
"""


def digest(folder, top=TOP, stage=STAGE, name="Stage"):
    for old in folder.glob("*.sv"):
        old.unlink()
    (folder / "Top.sv").write_text(top)
    (folder / f"{name}.sv").write_text(stage)
    return circuit.digest(folder, "Top")


@pytest.mark.parametrize("name", ["held", "_stage_out", "stage", "a"])
def test_renamed_signal_is_the_same_circuit(tmp_path, name):
    assert digest(tmp_path, re.sub(rf"(?<!\.)\b{name}\b", "other_name", TOP)) == digest(tmp_path)


def test_renamed_port_and_module_are_the_same_circuit(tmp_path):
    before = digest(tmp_path)
    assert (
        digest(tmp_path, TOP.replace(".in (", ".left ("), STAGE.replace("in,", "left,").replace("<= in", "<= left"))
        == before
    )
    assert digest(tmp_path, TOP.replace("Stage stage", "Abc stage"), STAGE.replace("Stage", "Abc"), "Abc") == before


def test_comments_layout_and_modules_that_are_not_used_do_not_count(tmp_path):
    before = digest(tmp_path)
    assert digest(tmp_path, TOP.replace("// Top.scala:3", "// Top.scala:9"), STAGE.replace("  ", "\t")) == before
    (tmp_path / "Unused.sv").write_text(STAGE.replace("Stage", "Unused"))
    assert circuit.digest(tmp_path, "Top") == before


@pytest.mark.parametrize(
    "old, new",
    [
        (".in (a), .other (b)", ".in (b), .other (a)"),
        (".in (a), .other (b)", ".in (a), .other (a)"),
        ("4'h3", "4'h2"),
        ('"block"', '"ultra"'),
        ("held[b] <= a", "held[a] <= a"),
        ("_stage_out + ", "_stage_out - "),
        ("Stage stage", "Other stage"),
        ("posedge", "negedge"),
        ("  assign z", "  FDRE cell_0 (.D (a), .Q (z));\n  assign z"),
    ],
)
def test_another_circuit_has_another_digest(tmp_path, old, new):
    assert old in TOP
    assert digest(tmp_path, TOP.replace(old, new)) != digest(tmp_path)


def test_a_change_below_the_top_counts(tmp_path):
    assert digest(tmp_path, stage=STAGE.replace("in - other", "other - in")) != digest(tmp_path)
    assert digest(tmp_path, stage=STAGE.replace("input [3:0] in, other", "input [3:0] other, in")) != digest(tmp_path)


@pytest.mark.parametrize("instance", ["{} flop (.D (a), .Q (z));", "{} #(.INIT (1'h0)) flop (.D (a), .Q (z));"])
def test_a_module_without_a_file_counts_by_its_name_and_its_instance_does_not(tmp_path, instance):
    def made(module, name="flop"):
        return digest(
            tmp_path, TOP.replace("  assign z", instance.format(module).replace("flop", name) + "\n  assign z")
        )

    assert made("FDRE") != made("FDCE") and made("FDRE") == made("FDRE", "other")
