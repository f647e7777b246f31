"""Corundum's side of the application block for tests: its list of ports, an empty `vermilion_app`, the lint of both."""

import csv
import subprocess
from pathlib import Path

from vermilion.toolchain import build

FOLDER = build.ROOT / "fpga" / "corundum"
RTL = [FOLDER / "rtl" / "mqnic_app_block.v", FOLDER / "rtl" / "vermilion_app_check.sv"]
APP_ID = 0x564D0001
# What the block of two 10G ports says it was built for.
BUILT = {
    "PORTS": 2,
    "DATA_BITS": 64,
    "TS_BITS": 96,
    "TAG_BITS": 16,
    "STAT_ID_BITS": 12,
    "STAT_INC_BITS": 24,
    "ADDR_BITS": 24,
    "ID": "32'h564D0001",
    "CLK_NUM": 4,
    "CLK_DENOM": 1,
}
# What a NIC with two 10G ports passes to its block.
FITTING = {"APP_ID": "32'h564D0001", "IF_COUNT": "2", "AXIS_DATA_WIDTH": "64", "AXIL_APP_CTRL_ADDR_WIDTH": "24"}


def interface(path: Path = FOLDER / "app_interface.csv"):
    """{parameter: default} and {port: (direction, width)}, as text and in the order of the file."""
    with path.open() as file:
        rows = list(csv.reader(file))[1:]
    parameters = {name: value for kind, name, value in rows if kind == "parameter"}
    ports = {name: (kind, value) for kind, name, value in rows if kind != "parameter"}
    return parameters, ports


def app_ports(ports: int = 2, bits: int = 64, timestamps: int = 96, address: int = 24):
    """{port: (direction, bits)} of `vermilion_app`."""
    turned = {"input": "output", "output": "input"}

    def stream(name, way, user):
        widths = {"tdata": bits, "tkeep": bits // 8, "tvalid": 1, "tready": 1, "tlast": 1, "tuser": user}
        return {f"{name}_{n}": (turned[way] if n == "tready" else way, ports * w) for n, w in widths.items()}

    def completions(name, way):
        widths = {"ts": 96, "tag": 16, "valid": 1, "ready": 1}
        return {f"{name}_cpl_{n}": (turned[way] if n == "ready" else way, ports * w) for n, w in widths.items()}

    host = "awaddr awvalid wdata wstrb wvalid bready araddr arvalid rready".split()
    widths = {"awaddr": address, "araddr": address, "wdata": 32, "rdata": 32, "wstrb": 4, "bresp": 2, "rresp": 2}
    control = host + "awready wready bresp bvalid arready rdata rresp rvalid".split()
    found = {
        "clk": ("input", 1),
        "rst": ("input", 1),
        "ptp_sync_ts_rel": ("input", 64),
        "ptp_sync_locked": ("input", 1),
    }
    for n in control:
        found[f"s_axil_app_ctrl_{n}"] = ("input" if n in host else "output", widths.get(n, 1))
    for name, way in (("s_axis_sync", "input"), ("m_axis_sync", "output")):
        found |= stream(f"{name}_tx", way, 17) | completions(f"{name}_tx", way)
        found |= stream(f"{name}_rx", way, timestamps + 1)
    statistics = {"tdata": ("output", 24), "tid": ("output", 12), "tvalid": ("output", 1), "tready": ("input", 1)}
    return found | {f"m_axis_stat_{n}": each for n, each in statistics.items()}


def write_stub(folder: Path, drive=lambda name, width: f"{width}'d0", timestamps: int = 96):
    """An empty `vermilion_app` of two 10G ports and its `vermilion_app_params.vh`; `drive` says what an output is."""
    ports = app_ports(timestamps=timestamps)
    lines = [f"  {way} wire [{bits - 1}:0] {name}" for name, (way, bits) in ports.items()]
    outputs = [f"  assign {n} = {drive(n, bits)};" for n, (way, bits) in ports.items() if way == "output"]
    (folder / "vermilion_app.sv").write_text(
        "// verilator lint_off UNUSEDSIGNAL\nmodule vermilion_app (\n"
        + ",\n".join(lines)
        + "\n);\n"
        + "\n".join(outputs)
        + "\nendmodule\n"
    )
    built = BUILT | {"TS_BITS": timestamps}
    text = "".join(f"`define VERMILION_APP_{name} {value}\n" for name, value in built.items())
    (folder / "vermilion_app_params.vh").write_text(text)


def lint(folder: Path, sources: list[Path], **parameters: str) -> subprocess.CompletedProcess:
    """Verilator's lint of the shell round what `folder` holds, with every warning on but those for names without use."""
    command = ["verilator", "--lint-only", "-Wall", "--top-module", "mqnic_app_block", f"-I{folder}", *RTL, *sources]
    command += [f"-G{name}={value}" for name, value in (FITTING | parameters).items()]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)
