"""The scripts for Vivado, run against stubs of its commands, and its reports read back. Vivado itself is never run here."""

import json
import re
import subprocess
import zipfile
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from vermilion.commands.cli import cli
from vermilion.synthesis import area, rtl, vivado
from vermilion.toolchain import build, chisel
from vermilion.values.fields import UserError

STUBS = vivado.SCRIPT.with_name("stubs.tcl")
UTILIZATION = """
| Tool Version : Vivado v.2024.1 (lin64) Build 5076996
| Device       : xcku3p-ffvb676-2-e

+-----------------+--------+------------+---------+------+--------+--------+--------+------+------------+
|     Instance    | Module | Total LUTs | LUTRAMs | SRLs |   FFs  | RAMB36 | RAMB18 | URAM | DSP Blocks |
+-----------------+--------+------------+---------+------+--------+--------+--------+------+------------+
| Lane            |  (top) |      12345 |     678 |   90 |  23456 |    100 |      7 |    0 |         11 |
|   (Lane)        |  (top) |         45 |       0 |    0 |     56 |      0 |      0 |    0 |          0 |
|   core          |   Core |      12300 |     678 |   90 |  23400 |    100 |      7 |    0 |         11 |
|     policy      | Policy |       9000 |     100 |   90 |  12000 |     50 |      3 |    0 |         11 |
+-----------------+--------+------------+---------+------+--------+--------+--------+------+------------+
"""
TIMING = """
    WNS(ns)      TNS(ns)  TNS Failing Endpoints  TNS Total Endpoints      WHS(ns)      THS(ns)  THS Failing Endpoints
    -------      -------  ---------------------  -------------------      -------      -------  ---------------------
     -0.123       -1.500                     17                54321        0.010        0.000                      0

Slack (VIOLATED) :        -0.123ns  (required time - arrival time)
  Source:                 core/queues/served_reg[3]/C
                            (rising edge-triggered cell FDRE clocked by clock)
  Destination:            core/queues/firsts_0_reg[5]/D
  Logic Levels:           9  (CARRY8=1 LUT4=2 LUT6=6)

Slack (MET) :             0.250ns  (required time - arrival time)
  Source:                 core/policy/a_reg/C
  Destination:            core/policy/b_reg/D
  Logic Levels:           4  (LUT6=4)
"""


def run_script(tmp_path, text=None, clock="clock", **environment):
    rtl = tmp_path / "rtl"
    rtl.mkdir(exist_ok=True)
    (rtl / "Lane.sv").write_text("module Lane(input clock, input reset); endmodule\n")
    (rtl / "shell.v").write_text("module shell; endmodule\n")
    script = tmp_path / "build.tcl"
    script.write_text(text or vivado.SCRIPT.read_text())
    command = ["tclsh", STUBS, script, rtl, "Lane", clock, vivado.PART, "4.0"]
    command += [tmp_path / "reports", "IF_COUNT=2"]
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"} | environment)


def test_script_runs_from_sources_to_reports(tmp_path):
    done = run_script(tmp_path)
    assert done.returncode == 0, done.stderr
    order = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("stubs:")]
    steps = [
        "read_verilog",
        "synth_design",
        "create_clock",
        "opt_design",
        "place_design",
        "route_design",
        "report_timing_summary",
    ]
    assert [order.index(step) for step in steps] == sorted(order.index(step) for step in steps)
    assert {path.name for path in (tmp_path / "reports").glob("*.rpt")} >= {"utilization.rpt", "timing.rpt"}


def test_clock_that_the_design_does_not_have_is_caught(tmp_path):
    done = run_script(tmp_path, clock="clk")
    assert done.returncode != 0 and "get_ports: no port clk" in done.stderr


def test_missed_period_is_a_failure(tmp_path):
    assert run_script(tmp_path, SLACK="-0.2").returncode == 1


@pytest.mark.parametrize(
    "right, wrong, sentence",
    [
        ("-hierarchical -file", "-heirarchical -file", "report_utilization: no switch -heirarchical"),
        ("-mode out_of_context", "-mod out_of_context", "synth_design: no switch -mod"),
        ("route_design", "rout_design", "no command rout_design"),
        ("read_verilog -sv $sources", "read_verilog -sv $rtl", "read_verilog: no file"),
        ("-include_dirs $rtl", "-include_dir $rtl", "synth_design: no switch -include_dir"),
        ("lappend generics -generic", "lappend generics -generics", "synth_design: no switch -generics"),
        ("[get_ports $clock]", "[get_ports rest]", "get_ports: no port rest"),
    ],
)
def test_misspelt_script_is_caught(tmp_path, right, wrong, sentence):
    text = vivado.SCRIPT.read_text()
    assert right in text
    done = run_script(tmp_path, text.replace(right, wrong, 1))
    assert done.returncode != 0 and sentence in done.stderr


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["rtl"], "1 arguments"),
        (["rtl", "Lane", "clock", "part", "0.5", "out"], "PERIOD_NS is 0.5"),
        (["nowhere", "Lane", "clock", "part", "4", "out"], "nowhere holds no .sv file"),
        (["rtl", "Lane", "clock", "part", "4", "out", "A B=2"], "A B=2 is no NAME=VALUE"),
    ],
)
def test_wrong_arguments_are_named(tmp_path, arguments, sentence):
    command = ["tclsh", STUBS, vivado.SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and sentence in done.stderr


@pytest.fixture
def ended(tmp_path):
    """A folder as a run leaves it."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl" / "Lane.sv").write_text("module Lane; endmodule\n")
    (tmp_path / "build.tcl").write_text("")
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    made = {"preset": "nic10g", "commit": "1234567", "part": vivado.PART, "period_ns": 4.0}
    made["verilog"] = vivado.verilog(tmp_path)
    (tmp_path / "build.json").write_text(json.dumps(made))
    (tmp_path / "reports" / "utilization.rpt").write_text(UTILIZATION)
    (tmp_path / "reports" / "timing.rpt").write_text(TIMING)
    return tmp_path


def test_reports_are_read_back(ended):
    result = vivado.read(ended)
    assert (result["device"], result["period_ns"], result["preset"]) == ("xcku3p-ffvb676-2-e", 4.0, "nic10g")
    assert [(row["instance"], row["depth"], row["lut"]) for row in result["modules"]] == [
        ("Lane", 0, 12345),
        ("(Lane)", 1, 45),
        ("core", 1, 12300),
        ("policy", 2, 9000),
    ]
    assert result["modules"][0] | {"ff": 23456, "bram36": 100, "bram18": 7, "dsp": 11} == result["modules"][0]
    assert (result["timing"]["wns_ns"], result["timing"]["failing"], result["timing"]["endpoints"]) == (
        -0.123,
        17,
        54321,
    )
    assert [(path["slack_ns"], path["levels"]) for path in result["timing"]["paths"]] == [(-0.123, 9), (0.25, 4)]


def test_page_shows_measured_and_estimated(ended):
    text = vivado.page(vivado.read(ended), {"lut": 14_814, "ff": 23_000, "bram": 101.5, "dsp": 11})
    assert "12,345" in text and "14,814 LUT" in text and "+20% off" in text and "-0.123 ns" in text


@pytest.mark.parametrize("name", ["utilization.rpt", "timing.rpt"])
def test_missing_or_broken_report_is_named(ended, name):
    (ended / "reports" / name).write_text("nothing of the kind")
    with pytest.raises(UserError, match="report|timing.rpt"):
        vivado.read(ended)
    (ended / "reports" / name).unlink()
    with pytest.raises(UserError, match=f"{name} is not there"):
        vivado.read(ended)


@pytest.mark.parametrize("preset, top", [("nic10g", "Lane"), ("nic100g-all", "Lane"), ("app25g-2", "mqnic_app_block")])
def test_folder_is_ready_to_run(tmp_path, monkeypatch, preset, top):
    """As the command leaves it; Chisel's part is stood in for."""

    def emit(log, main, asked, folder, *_words):
        assert asked == preset
        ports = "input clk, input rst" if top == "mqnic_app_block" else "input clock, input reset"
        name = "vermilion_app" if top == "mqnic_app_block" else top
        (Path(folder) / f"{name}.sv").write_text(f"module {name}({ports}); endmodule\n")

    monkeypatch.setattr(chisel, "run", emit)
    done = CliRunner().invoke(cli, ["vivado", "write", str(tmp_path / "out"), "--preset", preset])
    assert done.exit_code == 0, done.output
    words = (tmp_path / "out" / "run.sh").read_text().split("-tclargs ")[1].split()
    assert words[1] == top and ("AXIS_DATA_WIDTH=128" in words) == (preset == "app25g-2")
    command = ["tclsh", STUBS, "build.tcl", *words]
    assert subprocess.run(command, cwd=tmp_path / "out", capture_output=True).returncode == 0
    for name, text in (("utilization.rpt", UTILIZATION), ("timing.rpt", TIMING)):
        (tmp_path / "out" / "reports" / name).write_text(text)
    result = vivado.read(tmp_path / "out")
    assert (result["preset"], result["period_ns"]) == (preset, 4.0)
    again = CliRunner().invoke(cli, ["vivado", "write", str(tmp_path / "out")])
    assert again.exit_code != 0 and "is not empty" in str(again.exception)


def test_each_preset_has_a_page_with_its_own_estimate(ended, tmp_path, monkeypatch):
    monkeypatch.setattr(vivado, "RESULTS", tmp_path)
    estimates = {
        name: {"lut": lut, "ff": 1, "bram": 1, "dsp": 1} for name, lut in (("lane", 11_111), ("app10g-2", 22_222))
    }
    result = vivado.read(ended)
    for preset, page, shown in (
        ("nic10g", "vivado.md", "11,111 LUT"),
        ("app10g-2", "vivado-app10g-2.md", "22,222 LUT"),
        ("nic25g", "vivado-nic25g.md", None),
    ):
        vivado.publish(result | {"preset": preset}, estimates)
        text = (tmp_path / page).read_text()
        assert shown in text if shown else "The estimate" not in text
        assert ("application block" in text.splitlines()[0]) == preset.startswith("app")
        assert json.loads((tmp_path / page).with_suffix(".json").read_text())["preset"] == preset


def test_the_estimates_of_presets_with_other_names_are_there():
    assert all(map(rtl.is_legal, vivado.ESTIMATES)) and set(rtl.EVERYTHING) <= set(build.FOR_BENCHES)
    assert set(vivado.ESTIMATES.values()) <= set(area.SHOWN)


def test_part_that_is_no_name_is_refused(tmp_path):
    with pytest.raises(UserError, match="--part is 'x; y'"):
        vivado.write("nic10g", tmp_path / "out", "x; y", 4.0)


def test_what_a_user_sends_back_reads_as_it_does_there(ended, tmp_path_factory):
    sent = tmp_path_factory.mktemp("sent") / "mine.zip"
    done = CliRunner().invoke(cli, ["vivado", "report", str(ended), "-o", str(sent)])
    assert done.exit_code == 0, done.output
    here = vivado.read(ended)
    assert vivado.read(sent) == here and not here["changed"] and here["commit"] == "1234567"
    again = CliRunner().invoke(cli, ["vivado", "report", str(ended), "-o", str(sent)])
    assert "is there already" in str(again.exception)
    assert "of commit 1234567 (" in vivado.page(here, None)


@pytest.mark.parametrize("name", ["rtl/Lane.sv", "build.tcl", "run.sh"])
def test_what_was_edited_is_said_to_be(ended, tmp_path_factory, name):
    (ended / name).write_text("# another\n")
    sent = tmp_path_factory.mktemp("sent") / "mine.zip"
    vivado.pack(ended, sent)
    result = vivado.read(sent)
    assert result["changed"] and "1234567, edited since" in vivado.page(result, None)


def packed(path: Path, **members: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "/").replace("_rpt", ".rpt").replace("_json", ".json"), text)
    return path


NOTE = json.dumps({"preset": "nic10g", "commit": "1", "part": vivado.PART, "period_ns": 4.0, "verilog": "00"})
SENT = {"build_json": NOTE, "reports__utilization_rpt": UTILIZATION, "reports__timing_rpt": TIMING}


@pytest.mark.parametrize(
    "members, sentence",
    [
        ({"build_json": None}, "holds no build.json"),
        ({"reports__timing_rpt": None}, "holds no reports/timing.rpt"),
        ({"build_json": "{"}, "build.json is no JSON"),
        ({"build_json": "[]"}, "preset is None; legal is what matches"),
        ({"build_json": NOTE.replace("4.0", '"x"')}, "period_ns is 'x'; legal are numbers from 1 to 100"),
        ({"build_json": NOTE.replace("nic10g", "../x")}, "preset is '../x'; legal is what matches"),
        ({"build_json": NOTE.replace("nic10g", "nic11g")}, "preset is 'nic11g'; legal are "),
        ({"build_json": NOTE.replace("4.0", "NaN")}, "period_ns is nan; legal are"),
        ({"build_json": NOTE.replace('"1"', '"<b>"')}, "commit is '<b>'"),
        ({"reports__timing_rpt": "nothing"}, "timing.rpt holds no design timing summary"),
        ({"build_json": "[" * 100_000}, "build.json is no JSON"),
        ({"reports__timing_rpt": TIMING.replace("-0.123 ", "    NA ")}, "a report has NA where a number is expected"),
        ({"reports__timing_rpt": TIMING.replace("-1.500", "   inf")}, "a report has inf where a number is expected"),
        ({"reports__timing_rpt": "WNS(ns) TNS(ns)\n---\n1 2\n"}, "timing.rpt holds no design timing summary"),
        ({"reports__utilization_rpt": UTILIZATION.replace("12345", "9" * 400)}, "a report has 999"),
        ({"reports__utilization_rpt": UTILIZATION.replace("12345", "   1x")}, "a report has 1x where a number is"),
        (
            {"reports__utilization_rpt": UTILIZATION.replace("xcku3p-", "xc7k70t-")},
            "the reports are of xc7k70t-ffvb676",
        ),
    ],
)
def test_packed_files_that_are_none_are_refused_with_a_sentence(tmp_path, members, sentence):
    path = packed(tmp_path / "x.zip", **{name: text for name, text in (SENT | members).items() if text is not None})
    with pytest.raises(UserError, match=re.escape(sentence)):
        vivado.read(path)


@pytest.mark.parametrize("seed", range(20))
def test_a_packed_file_that_is_damaged_is_refused_or_reads_the_same(tmp_path, seed):
    path = packed(tmp_path / "x.zip", **SENT)
    right, bytes_of, random = vivado.read(path), bytearray(path.read_bytes()), Random(seed)
    for _ in range(3):
        bytes_of[random.randrange(len(bytes_of))] = random.randrange(256)
    path.write_bytes(bytes_of[: random.choice([len(bytes_of), random.randrange(len(bytes_of))])])
    try:
        assert vivado.read(path) == right
    except UserError as error:
        assert str(path) in str(error)


def test_a_member_that_is_too_long_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(vivado, "LONGEST", 100)
    with pytest.raises(UserError, match="is longer than 100 bytes"):
        vivado.read(packed(tmp_path / "x.zip", **SENT))


def test_a_report_that_could_not_be_read_again_is_not_packed(ended, tmp_path_factory, monkeypatch):
    monkeypatch.setattr(vivado, "LONGEST", 100)
    sent = tmp_path_factory.mktemp("sent") / "mine.zip"
    with pytest.raises(UserError, match="utilization.rpt is longer than 100 bytes"):
        vivado.pack(ended, sent)
    assert not sent.exists()


def test_what_strangers_write_is_no_markup_in_the_page(tmp_path):
    used = UTILIZATION.replace("v.2024.1", "<b>`|![x](y)").replace("core ", "`<i>`")
    timed = TIMING.replace("core/policy/a_reg/C", "<img>`|")
    path = packed(tmp_path / "x.zip", **(SENT | {"reports__utilization_rpt": used, "reports__timing_rpt": timed}))
    text = vivado.page(vivado.read(path), None)
    assert not set("<>!") & set(text) and "<" in used and "?img??" in text.replace("`", "")


def test_reports_that_are_made_to_be_slow_are_read_at_once():
    """In a time that grows with their length; squares and cubes of it would take minutes."""
    head = "|" + " " * 200_000 + "\n"
    with pytest.raises(UserError, match="no line 'Device'"):
        vivado.header(head, "Device")
    many = TIMING + "Slack (MET) : 1ns\n" * 50_000
    assert len(vivado.timing(many)["paths"]) == 10


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_methods_of_compression_are_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "x.zip", "w", method) as file:
        for name, text in (("build.json", NOTE), ("reports/utilization.rpt", "x"), ("reports/timing.rpt", "x")):
            file.writestr(name, text)
    with pytest.raises(UserError, match="another method than deflate"):
        vivado.read(tmp_path / "x.zip")


def test_result_is_json(ended):
    assert json.loads(json.dumps(vivado.read(ended)))["modules"][0]["instance"] == "Lane"
