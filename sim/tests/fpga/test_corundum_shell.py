"""The hand-written application block: Corundum's whole interface, every port in place, every wrong parameter named."""

import csv
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

from support import corundum_shell as shell
from vermilion.toolchain import build

# A folder with corundum_app_params.csv and corundum_app_ports.csv, made from Corundum's sources by others: docs/changing/tests.md
LISTS = Path(os.environ.get("VERMILION_CORUNDUM_LISTS", build.ROOT / "lists"))
PARAMETERS, PORTS = shell.interface()


def declared():
    """The same from the shell's own text."""
    text = re.sub(r"//.*", "", shell.RTL[0].read_text())
    head, ports = re.search(r"module mqnic_app_block #\((.*?)\n\) \((.*?)\n\);", text, re.S).groups()
    parameters = dict(
        re.split(r"\s*=\s*", each.strip(), maxsplit=1) for each in re.split(r",\s*", head.replace("parameter", ""))
    )
    found, way, width = {}, None, None
    for each in re.split(r",\s*", ports):
        start = re.match(r"\s*(input|output)\s+wire\s+(?:\[(.*?)\]\s*)?", each)
        if start:
            way, bits = start.groups()
            high = bits.removesuffix(":0") if bits else "0"
            width = str(int(high) + 1) if high.isdigit() else high.removesuffix("-1")
        found[each[start.end() if start else 0 :].strip()] = (way, width)
    return parameters, found


def test_parameters_and_ports_are_those_of_the_list():
    parameters, ports = declared()
    assert parameters == PARAMETERS and len(parameters) == 105
    assert ports == PORTS and len(ports) == 336


def test_the_list_is_that_of_others():
    for name in ("corundum_app_params.csv", "corundum_app_ports.csv"):
        if not (LISTS / name).exists():
            pytest.skip(f"VERMILION_CORUNDUM_LISTS names no folder with {name}")
    rows = [list(csv.reader((LISTS / f"corundum_app_{kind}.csv").open()))[1:] for kind in ("params", "ports")]
    assert {name: default for name, default in rows[0]} == PARAMETERS
    assert {name: (way, width) for way, name, width in rows[1]} == PORTS


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stub")
    shell.write_stub(folder)
    return folder


def test_fitting_parameters_lint_clean(stub):
    done = shell.lint(stub, [stub / "vermilion_app.sv"])
    assert done.returncode == 0 and "%" not in done.stderr, done.stderr


WRONG = [
    ({"APP_ID": "32'h12340001"}, "APP_ID is 32'h12340001; legal is 32'h564d0001"),
    ({"APP_CTRL_ENABLE": "0"}, "APP_CTRL_ENABLE is 0; legal is 1"),
    ({"APP_AXIS_SYNC_ENABLE": "0"}, "APP_AXIS_SYNC_ENABLE is 0; legal is 1"),
    ({"APP_STAT_ENABLE": "0"}, "APP_STAT_ENABLE or STAT_ENABLE is 0; legal is 1"),
    ({"IF_COUNT": "1", "PORTS_PER_IF": "2"}, "PORTS_PER_IF is 2; legal is 1"),
    ({"IF_COUNT": "1"}, "PORT_COUNT is 1; legal is 2"),
    ({"CLK_PERIOD_NS_NUM": "10", "CLK_PERIOD_NS_DENOM": "3"}, "CLK_PERIOD_NS_NUM/_DENOM is 10/3 ns; legal is 4/1"),
    ({"PTP_TS_ENABLE": "0"}, "PTP_TS_ENABLE is 0; legal is 1"),
    ({"PTP_TS_WIDTH": "64"}, "PTP_TS_WIDTH is 64; legal is 96"),
    ({"TX_TAG_WIDTH": "8"}, "TX_TAG_WIDTH is 8; legal is 16"),
    ({"AXIL_APP_CTRL_DATA_WIDTH": "64"}, "AXIL_APP_CTRL_DATA_WIDTH is 64; legal is 32"),
    ({"AXIL_APP_CTRL_ADDR_WIDTH": "16"}, "AXIL_APP_CTRL_ADDR_WIDTH is 16; legal is 24 to 64"),
    ({"AXIS_SYNC_DATA_WIDTH": "128"}, "AXIS_SYNC_DATA_WIDTH is 128; legal is 64"),
    ({"AXIS_SYNC_KEEP_WIDTH": "4"}, "AXIS_SYNC_KEEP_WIDTH is 4; legal is 8"),
    ({"AXIS_SYNC_TX_USER_WIDTH": "18"}, "AXIS_SYNC_TX_USER_WIDTH is 18; legal is 17"),
    ({"AXIS_SYNC_RX_USER_WIDTH": "81"}, "AXIS_SYNC_RX_USER_WIDTH is 81; legal is 97"),
    ({"STAT_INC_WIDTH": "16"}, "STAT_INC_WIDTH is 16; legal is 24"),
    ({"STAT_ID_WIDTH": "8"}, "STAT_ID_WIDTH is 8; legal is 12"),
]


@pytest.mark.parametrize("wrong, sentence", WRONG)
def test_wrong_parameter_stops_the_elaboration_with_its_sentence(stub, wrong, sentence):
    done = shell.lint(stub, [stub / "vermilion_app.sv"], **wrong)
    assert done.returncode != 0 and sentence in done.stderr, done.stderr


@pytest.mark.parametrize("interfaces", [1, 2])
def test_two_ports_an_interface_are_refused_whatever_else_fits(stub, interfaces):
    done = shell.lint(stub, [stub / "vermilion_app.sv"], IF_COUNT=str(interfaces), PORTS_PER_IF="2")
    assert done.returncode != 0 and "PORTS_PER_IF is 2; legal is 1, a port an interface" in done.stderr, done.stderr


def test_every_check_has_its_wrong_parameter():
    assert shell.RTL[1].read_text().count("$fatal(") == len(WRONG)


def test_icarus_refuses_too_and_takes_what_fits(stub, tmp_path):
    def run(**parameters):
        command = ["iverilog", "-g2012", "-s", "mqnic_app_block", f"-I{stub}", "-o", tmp_path / "out"]
        values = shell.FITTING | {"APP_ID": str(shell.APP_ID)} | parameters
        command += [f"-Pmqnic_app_block.{name}={value}" for name, value in values.items()]
        built = subprocess.run([*command, *shell.RTL, stub / "vermilion_app.sv"], capture_output=True, text=True)
        assert built.returncode == 0, built.stderr
        return subprocess.run(["vvp", "-n", tmp_path / "out"], capture_output=True, text=True)

    done = run()
    assert done.returncode == 0 and "FATAL" not in done.stdout
    done = run(AXIS_DATA_WIDTH="512")
    assert done.returncode != 0 and "AXIS_SYNC_DATA_WIDTH is 512; legal is 64" in done.stdout


BLOCK = shell.app_ports()
PASSED = re.compile(r"(.)_axis_(direct|if)_(.*)")


def expected(name: str) -> str:
    """What output `name` of the shell is, by what the port is for."""
    if name in BLOCK:
        return f"dut.app.{name}"
    passed = PASSED.fullmatch(name)
    if passed:
        side, stage, rest = passed.groups()
        return f"{'s' if side == 'm' else 'm'}_axis_{stage}_{rest}"
    if name == "jtag_tdo":
        return "jtag_tdi"
    return "{4096{1'b1}}" if re.fullmatch(r"m_ax.*_(bready|rready)", name) else "4096'd0"


def test_every_port_is_where_it_belongs(tmp_path):
    """Random values at every input, unlike ones at every output of the block; all of both sides compared."""
    seed = 1
    print("seed", seed)
    draws = random.Random(seed)
    shell.write_stub(tmp_path, lambda name, bits: f"{bits}'h{draws.getrandbits(bits):x} ^ {{{bits}{{noise}}}}")
    text = (tmp_path / "vermilion_app.sv").read_text().replace(");\n", ");\n  reg noise = 0;\n", 1)
    (tmp_path / "vermilion_app.sv").write_text(text)
    values = shell.FITTING | {"DDR_CH": "2", "HBM_CH": "3", "AXI_DDR_AWUSER_WIDTH": "5", "DMA_IMM_WIDTH": "24"}
    lines = ["module bench;"]
    lines += [f"  localparam {name} = {values.get(name, default)};" for name, default in PARAMETERS.items()]
    for name, (way, width) in PORTS.items():
        lines.append(f"  {'reg' if way == 'input' else 'wire'} [{width}-1:0] {name};")
    parameters = ", ".join(f".{name}({name})" for name in PARAMETERS)
    lines.append(f"  mqnic_app_block #({parameters}) dut ({', '.join(f'.{name}({name})' for name in PORTS)});")
    lines += ["  integer k, i, wrong = 0;", "  initial begin", "    for (k = 0; k < 20; k = k + 1) begin"]
    for name, (way, width) in PORTS.items():
        if way == "input":
            lines.append(f"      for (i = 0; i < {width}; i = i + 1) {name}[i] = $urandom;")
    lines.append("      dut.app.noise = k; #1;")
    for name, (way, width) in PORTS.items():
        if way == "output":
            lines.append(
                f'      if ({name} !== ({expected(name)} & {{({width}){{1\'b1}}}})) begin $display("{name}"); wrong = 1; end'
            )
    for name, (way, bits) in BLOCK.items():
        if way == "input":
            lines.append(
                f'      if (dut.app.{name} !== {name}[{bits - 1}:0]) begin $display("app {name}"); wrong = 1; end'
            )
    lines += ["    end", '    if (!wrong) $display("all in place");', "    $finish(0);", "  end", "endmodule"]
    (tmp_path / "bench.v").write_text("\n".join(lines))
    command = ["iverilog", "-g2012", "-s", "bench", f"-I{tmp_path}", "-o", tmp_path / "out", *shell.RTL]
    built = subprocess.run(
        [*command, tmp_path / "vermilion_app.sv", tmp_path / "bench.v"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    done = subprocess.run(["vvp", "-n", tmp_path / "out"], capture_output=True, text=True)
    assert done.stdout.strip() == "all in place", sorted(set(done.stdout.split("\n")))
