"""`vermilion corundum check`: what fits is let pass, what does not is named; Tcl is read as far as boards use it."""

import random
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner

from support.corundum_boards import BOARD
from vermilion.commands.cli import cli
from vermilion.corundum import corundum_check, tcl
from vermilion.corundum.corundum_check import PRESETS, App, check
from vermilion.toolchain import app_presets, build


@pytest.fixture
def sentences(tmp_path):
    """What is wrong with the board's configuration with lines changed: pairs of (what stands there, what is put in its place)."""

    def run(*changes, preset="app10g-2"):
        text = BOARD
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / "config.tcl").write_text(text)
        return check(tmp_path / "config.tcl", preset).wrong

    return run


def test_a_configuration_that_fits_is_let_pass(sentences):
    assert sentences() == [] and sentences(preset=None) == [] and sentences(preset="app10g-2-wire") == []
    assert sentences(('IF_COUNT "2"', 'IF_COUNT "1"'), preset="app10g-1") == []
    assert sentences(("10.3125", "25.78125"), preset="app25g-2") == []
    assert sentences(('IF_COUNT "2"', 'IF_COUNT "1"'), ('ENABLE_DIC "1"', 'MAC_100G "1"'), preset="app100g-1") == []


def setting(name, old, new):
    return (f'{name} "{old}"', f'{name} "{new}"')


@pytest.mark.parametrize(
    "change, sentence",
    [
        (setting("APP_ENABLE", 1, 0), "APP_ENABLE is 0; legal is 1"),
        (('dict set params APP_ENABLE "1"\n', ""), "APP_ENABLE is 0; legal is 1"),
        (setting("APP_ID", "32'h564D0001", "32'h12340001"), "APP_ID is 32'h12340001; legal is 32'h564D0001"),
        (setting("APP_CTRL_ENABLE", 1, 0), "APP_CTRL_ENABLE is 0; legal is 1"),
        (setting("APP_AXIS_SYNC_ENABLE", 1, 0), "APP_AXIS_SYNC_ENABLE is 0; legal is 1"),
        (setting("APP_STAT_ENABLE", 1, 0), "APP_STAT_ENABLE is 0; legal is 1"),
        (setting("params STAT_ENABLE", 1, 0), "STAT_ENABLE is 0; legal is 1"),
        (setting("STAT_ID_WIDTH", 12, 10), "STAT_ID_WIDTH is 10; legal is 12"),
        (setting("STAT_INC_WIDTH", 24, 16), "STAT_INC_WIDTH is 16; legal is 24"),
        (setting("TX_TAG_WIDTH", 16, 8), "TX_TAG_WIDTH is 8; legal is 16"),
        (setting("AXIL_APP_CTRL_ADDR_WIDTH", 24, 16), "AXIL_APP_CTRL_ADDR_WIDTH is 16; legal is 24 to 64"),
        (setting("AXIL_CTRL_DATA_WIDTH", 32, 64), "AXIL_APP_CTRL_DATA_WIDTH is 64; legal is 32"),
        (setting("CLK_PERIOD_NS_NUM", 4, 5), "CLK_PERIOD_NS_NUM/CLK_PERIOD_NS_DENOM is 5/1 ns; legal is 4/1"),
        (setting("IF_COUNT", 2, 4), "IF_COUNT is 4, so 4 ports; legal is 2, the ports of app10g-2"),
        (setting("PTP_TS_ENABLE", 1, 0), "PTP_TS_ENABLE is 0; legal is 1"),
        (
            ("10.3125", "25.78125"),
            "the streams have 128 bits (AXIS_ETH_SYNC_DATA_WIDTH_DOUBLE is 1), as 25G ports have",
        ),
        (('dict set params ENABLE_DIC "1"\n', ""), "the streams have 512 bits (its MACs are for 100G)"),
        (('ENABLE_DIC "1"', 'MAC_100G "1"'), "the streams have 512 bits"),
    ],
)
def test_what_does_not_fit_is_named_alone(sentences, change, sentence):
    found = sentences(change)
    assert len(found) == 1 and found[0].startswith(sentence), found


def test_interface_with_more_ports_is_named(sentences):
    found = sentences(setting("PORTS_PER_IF", 1, 2), setting("IF_COUNT", 2, 1))
    assert found == ["PORTS_PER_IF is 2; legal is 1, a port an interface"]


def test_settings_that_come_too_late_are_named(sentences):
    lines = "\ndict set params APP_ENABLE 1\ndict set params APP_ID 32'h564D0001\n"
    off = setting("APP_ENABLE", 1, 0), setting("APP_ID", "32'h564D0001", "32'h00000000")
    behind = sentences(*off, ("lappend param_list $name=$value\n}\n", "lappend param_list $name=$value\n}\n" + lines))
    assert any(
        each.startswith("set behind the loop that gives the settings to the NIC: APP_ENABLE, APP_ID") for each in behind
    )
    between = sentences(*off, ("dict for", lines + "dict for"))
    assert between == ["APP_ENABLE is set behind the line that makes the application BAR; set it above that"]


def test_without_a_preset_the_ports_decide(sentences):
    found = sentences(setting("IF_COUNT", 2, 3), preset=None)
    assert found == ["no preset has 3 ports of 64 bits with PTP timestamps; name one with --preset to see what differs"]


@pytest.mark.parametrize(
    "changes, preset",
    [
        ([setting("PTP_TS_ENABLE", 1, 0)], "app10g-2-nots"),
        ([setting("CLK_PERIOD_NS_NUM", 4, 10), setting("CLK_PERIOD_NS_DENOM", 1, 3)], "app10g-2-300mhz"),
        (
            [
                setting("PTP_TS_ENABLE", 1, 0),
                setting("CLK_PERIOD_NS_NUM", 4, 20),
                setting("CLK_PERIOD_NS_DENOM", 1, 6),
            ],
            "card-2x10g-nots-300mhz",
        ),
    ],
)
def test_endings_of_a_presets_name(sentences, changes, preset):
    assert sentences(*changes, preset=preset) == [] == sentences(*changes, preset=None)
    assert len(sentences(*changes, preset="app10g-2")) == preset.count("-nots") + preset.count("-300mhz")
    assert sentences(preset=preset) != []


def test_names_with_wrong_endings_are_refused(tmp_path):
    (tmp_path / "config.tcl").write_text(BOARD)
    for name in ("app10g-2-300mhz-nots", "app10g-2-nots-nots", "-nots", "app10g-2-", "app10g-2-250mhz"):
        with pytest.raises(tcl.Unreadable, match="each may end in -nots, -300mhz or both"):
            check(tmp_path / "config.tcl", name)
    names = [each for preset in PRESETS for each in app_presets.variants(preset)]
    assert len(set(names)) == 4 * len(PRESETS) and all(map(app_presets.app, names))


def test_all_boards_of_a_tree(tmp_path):
    boards = {
        "one/fpga": BOARD.replace('APP_ENABLE "1"', 'APP_ENABLE "0"'),  # the overlay will set it
        "one/fpga_app_dma_bench": BOARD,  # another application's
        "two/fpga": BOARD.replace('PTP_TS_ENABLE "1"', 'PTP_TS_ENABLE "0"'),
        "two/fpga_4": BOARD.replace('PORTS_PER_IF "1"', 'PORTS_PER_IF "4"'),
        "two/fpga_3": BOARD.replace('IF_COUNT "2"', 'IF_COUNT "3"'),
        "two/fpga_5": "puts {",
        "two/fpga_vermilion": BOARD,  # a copy with the overlay in it
    }
    for folder, text in boards.items():
        (tmp_path / "fpga/mqnic" / folder).mkdir(parents=True)
        (tmp_path / "fpga/mqnic" / folder / "config.tcl").write_text(text)
    done = CliRunner().invoke(cli, ["corundum", "check", "--all", str(tmp_path)])
    assert done.exit_code == 0 and done.stdout.splitlines() == [
        "one/fpga",
        "    2 ports of 64 bits with PTP timestamps",
        "    fits app10g-2, app10g-2-wire, app10g-2-lean, card-2x10g, card-2x10g-aqm",
        "two/fpga",
        "    2 ports of 64 bits without PTP timestamps",
        "    fits app10g-2-nots, app10g-2-wire-nots, app10g-2-lean-nots, card-2x10g-nots, card-2x10g-aqm-nots",
        "two/fpga_3",
        "    3 ports of 64 bits with PTP timestamps",
        "    fits none: no preset has this shape",
        "two/fpga_4",
        "    8 ports of 64 bits with PTP timestamps",
        "    fits none: PORTS_PER_IF is 4; legal is 1, a port an interface",
        "two/fpga_5",
        "    cannot be read",
        f"    fits none: {tmp_path}/fpga/mqnic/two/fpga_5/config.tcl is no Tcl script: line 1: {{ is not closed",
        "2 of 5 board configurations fit a preset, by ports, widths, timestamps and clock; area is not looked at",
    ]
    none = CliRunner().invoke(cli, ["corundum", "check", "--all", str(tmp_path / "fpga")])
    assert none.exit_code == 2 and "is no Corundum tree" in none.stderr
    for words in ([], ["--all", str(tmp_path), "config.tcl"], ["--all", str(tmp_path), "--preset", "app10g-1"]):
        assert CliRunner().invoke(cli, ["corundum", "check", *words]).exit_code != 0


def test_setting_that_hangs_on_the_tool_is_a_note(tmp_path, sentences):
    assert sentences(("[dict get $params AXIL_CTRL_DATA_WIDTH]", "[get_property WIDTH $port]")) == []
    notes = check(tmp_path / "config.tcl", "app10g-2").notes
    assert notes == ["AXIL_APP_CTRL_DATA_WIDTH is made by a command of the tool, which is not known here"]
    asked = "if {[get_property A $b]} {\n    dict set params APP_ENABLE 0\n}\nconfigure_bar"
    assert sentences(("configure_bar", asked)) == []
    assert any("APP_ENABLE" in note for note in check(tmp_path / "config.tcl", "app10g-2").notes)


@pytest.mark.parametrize(
    "text, value",
    [
        ("dict set params X 3", "3"),
        ("dict set params X {a $b [c]}", "a $b [c]"),
        ('set y 4; dict set params X "${y}2"', "42"),
        ("set y 4\ndict set params X [expr {$y > 3 ? 7 * 2 : 0}]", "14"),
        ("dict set params X [expr 7/2]", "3"),
        ("dict set params X [expr int(ceil(log(100)/log(2)))]", "7"),
        ("dict set params X [expr 1 && !0 || 0]", "1"),
        ('dict set params X [format "32\'h%04x%04x" 0x1c2c 10]', "32'h1c2c000a"),
        ("dict set params X 1 ;# a comment\n# dict set params X 2\n", "1"),
        ("if {1 > 2} {dict set params X 1} elseif {2 > 1} {dict set params X 2} else {dict set params X 3}", "2"),
        ("if {0} {dict set params X 1} else {dict set params X 3}", "3"),
        ("dict set params \\\n  X 5", "5"),
        ("dict set params X [exec date]", tcl.UNKNOWN),
        ("dict set params X [expr [exec date] + 1]", tcl.UNKNOWN),
        ("dict set params X $never", tcl.UNKNOWN),
        ("dict set params X [expr 2 ** 12 + (1 << 3)]", "4104"),
    ],
)
def test_tcl_is_read_as_tcl_reads_it(tmp_path, text, value):
    (tmp_path / "a.tcl").write_text(text)
    assert tcl.Script(tmp_path / "a.tcl").params["X"] == value
    if value is not tcl.UNKNOWN and "exec" not in text:
        (tmp_path / "b.tcl").write_text(text + "\nputs -nonewline [dict get $params X]")
        done = subprocess.run(["tclsh", tmp_path / "b.tcl"], capture_output=True, text=True)
        assert done.stdout == value, done.stderr


def test_damaged_configurations_are_read_or_refused(tmp_path):
    """Characters lost, added, and the end cut off: never another error than the one that says so."""
    draws, ends = random.Random(7), {True: 0, False: 0}
    print("seed 7")
    for _ in range(300):
        text = list(BOARD)
        for _ in range(draws.randrange(1, 6)):
            at = draws.randrange(len(text))
            if draws.random() < 0.5:
                del text[at : at + draws.randrange(1, 30)]
            else:
                text.insert(at, draws.choice('{}[]"$;\\\n#'))
        (tmp_path / "config.tcl").write_text("".join(text[: draws.randrange(len(text) // 2, len(text))]))
        try:
            check(tmp_path / "config.tcl", "app10g-2")
            ends[True] += 1
        except tcl.Unreadable:
            ends[False] += 1
    assert min(ends.values()) > 30
    (tmp_path / "config.tcl").write_text("dict set params X [expr 9**9**9**9]\ndict set params Y [expr 1/0]\n")
    assert tcl.Script(tmp_path / "config.tcl").params == {"X": tcl.UNKNOWN, "Y": tcl.UNKNOWN}


def test_sourced_settings_count(tmp_path, sentences):
    (tmp_path / "app.tcl").write_text("dict set params APP_ENABLE 1\n")
    assert sentences(('dict set params APP_ENABLE "1"', "source ./app.tcl")) == []
    with pytest.raises(tcl.Unreadable, match="source ./none.tcl: there is no such file"):
        sentences(('dict set params APP_ENABLE "1"', "source ./none.tcl"))


@pytest.mark.parametrize(
    "name, text, sentence",
    [
        ("none.tcl", None, "none.tcl is no file"),
        ("a.tcl", "dict set params X {1\n", "a.tcl is no Tcl script: line 1: { is not closed"),
        ("a.v", "module fpga; endmodule\n", "is no config.tcl of a Corundum board"),
        ("a.bin", "\x00\x01\x02", "is no config.tcl of a Corundum board"),
    ],
)
def test_what_is_no_configuration_is_refused(tmp_path, name, text, sentence):
    if text is not None:
        (tmp_path / name).write_text(text)
    done = CliRunner().invoke(cli, ["corundum", "check", str(tmp_path / name)])
    assert done.exit_code == 2 and sentence in done.stderr and not done.stdout


def test_command_says_what_is_wrong_and_with_which_status(tmp_path):
    path = tmp_path / "config.tcl"
    path.write_text(BOARD)
    good = CliRunner().invoke(cli, ["corundum", "check", str(path), "--preset", "app10g-2"])
    assert (good.exit_code, good.stdout, good.stderr) == (0, f"{path}: fits app10g-2\n", "")
    path.write_text(BOARD.replace('APP_ENABLE "1"', 'APP_ENABLE "0"'))
    bad = CliRunner().invoke(cli, ["corundum", "check", str(path), "--preset", "app10g-2"])
    assert bad.exit_code == 1 and bad.stderr.startswith(f"{path}: APP_ENABLE is 0") and not bad.stdout
    none = CliRunner().invoke(cli, ["corundum", "check", str(path), "--preset", "app40g"])
    assert none.exit_code == 2 and "--preset is app40g; legal are app10g-1" in none.stderr and not none.stdout
    path.write_text(BOARD.replace('APP_ENABLE "1"', "APP_ENABLE [get_property X $y]"))
    noted = CliRunner().invoke(cli, ["corundum", "check", str(path), "--preset", "app10g-2"])
    assert noted.exit_code == 0 and noted.stdout == f"{path}: fits app10g-2\n"
    assert noted.stderr == f"{path}: note: APP_ENABLE is made by a command of the tool, which is not known here\n"


def test_it_runs_without_what_the_project_installs(tmp_path):
    """With no package but Python's own, as on a machine with Vivado and nothing else."""
    (tmp_path / "config.tcl").write_text(BOARD)
    command = [sys.executable, "-I", "-S", "-c"]
    program = f"import sys; sys.path.insert(0, {str(build.ROOT / 'sim')!r}); from vermilion.corundum.corundum_check import main; sys.exit(main())"
    done = subprocess.run([*command, program, tmp_path / "config.tcl"], capture_output=True, text=True)
    assert done.returncode == 0 and "fits app10g-2" in done.stdout, done.stderr


def test_numbers_are_those_of_the_hardware():
    nic = build.ROOT / "hw/src/vermilion/nic"
    params, defines = (nic / "NicParams.scala").read_text(), (nic / "EmitApp.scala").read_text()
    assert int(re.search(r"val AddressBits = (\d+)", params)[1]) == corundum_check.ADDRESS_BITS
    assert int(re.search(r"\"ID\" -> \"32'h(\w+)\"", defines)[1], 16) == app_presets.APP_ID
    named = re.search(r"val byName: Map\[String, NicParams\] = Map\((.*?)\n  \)", params, re.S)[1]
    built = {}
    for name, ports, host, lane in re.findall(
        r'"(app[\w-]+)" -> (?:app\((\d+), |NicParams\((\d+), )(?:lean\()?LaneParams\.(\w+)', named
    ):
        built[name] = App(int(ports or host), build.PRESETS[lane].data_bits, host_lanes=bool(ports))
    bits = {name: lane.data_bits for name, lane in (build.FOR_BENCHES | build.PRESETS).items()}
    for name, form, ports, bench, lane in re.findall(
        r'"(card[\w-]+)" -> (card|wires)\((\d+), LaneParams\.(?:forBenches\("([\w-]+)"\)|(\w+))', named
    ):
        built[name] = App(int(ports), bits[bench or lane], host_lanes=form == "card")
    assert built == PRESETS
    endings = dict(re.findall(r'val (\w+) = "(-\w+)"', params))
    assert list(endings.values()) == list(app_presets.SUFFIXES)
