"""A Liberty file for OpenSTA of the UltraScale+ cells in a netlist, from the delays in `fpga/timing/delays.toml`.

A net's delay stands in the arcs of the cell that drives it: every input pin has a capacitance of 1, so the load of an output is its fan-out, and

    delay = cell + first + double * log2(fan-out)

The carry chain's own wires cost nothing. Constants drive nothing. Times in ns.
"""

import math
import re

FANOUTS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
DEDICATED = ("CI",)  # pins that a chain feeds without leaving the column


def table(cell: float, delays: dict) -> str:
    net = delays["net"]
    values = (cell + (net["first"] + net["double"] * math.log2(fanout) if fanout else 0) for fanout in FANOUTS)
    return f'(loads) {{ values("{", ".join(f"{value:.4f}" for value in values)}"); }}'


def arc(related: str, cell: float, delays: dict, kind: str = "") -> str:
    values = table(cell, delays)
    slew = '(scalar) { values("0.0"); }'
    timing = f"timing_type : {kind}; " if kind else "timing_sense : non_unate; "
    return (
        f"timing() {{ {related} {timing}cell_rise {values} cell_fall {values} "
        f"rise_transition {slew} fall_transition {slew} }}"
    )


def setup(clock: str, time: float) -> str:
    value = f'(scalar) {{ values("{time:.4f}"); }}'
    return (
        f'timing() {{ related_pin : "{clock}"; timing_type : setup_rising; '
        f"rise_constraint {value} fall_constraint {value} }}"
    )


class Cell:
    """Ports of one cell type, {name: [is an output, width]}, and what each pin says beside its direction."""

    def __init__(self, name: str, ports: dict):
        self.name, self.ports = name, ports
        self.extra: dict[tuple[str, int], list[str]] = {}
        self.clocks: set[str] = set()

    def inputs(self, pattern: str = ".*") -> list[str]:
        return [port for port, (out, _) in self.ports.items() if not out and re.fullmatch(pattern, port)]

    def outputs(self, pattern: str = ".*") -> list[str]:
        return [port for port, (out, _) in self.ports.items() if out and re.fullmatch(pattern, port)]

    def pins(self, port: str) -> list[str]:
        width = self.ports[port][1]
        return [port] if width == 1 else [f"{port}[{bit}]" for bit in range(width)]

    def add(self, port: str, text: str, bit: int | None = None):
        bits = range(self.ports[port][1]) if bit is None else (bit,)
        for one in bits:
            self.extra.setdefault((port, one), []).append(text)

    def related(self, ports: list[str]) -> str:
        return f'related_pin : "{" ".join(pin for port in ports for pin in self.pins(port))}";'

    def text(self) -> str:
        lines = [f"  cell({self.name}) {{ area : 1;"]
        for port, (out, width) in self.ports.items():
            load = 0 if port in DEDICATED else 1
            direction = "direction : output;" if out else f"direction : input; capacitance : {load};"
            clock = " clock : true;" if port in self.clocks else ""

            def pin(name, bit, direction=direction, clock=clock, port=port):
                return f"    pin({name}) {{ {direction}{clock} {' '.join(self.extra.get((port, bit), []))} }}"

            if width == 1:
                lines.append(pin(port, 0))
                continue
            lines.append(f"    bus({port}) {{ bus_type : w{width}; {direction}")
            lines += ["  " + pin(name, bit) for bit, name in enumerate(self.pins(port))]
            lines.append("    }")
        return "\n".join([*lines, "  }"])


def combinational(cell: Cell, time: float, delays: dict):
    for out in cell.outputs():
        cell.add(out, arc(cell.related(cell.inputs()), time, delays))


def clocked(cell: Cell, clocks: list[str], d: dict, delays: dict, enables: str = "$^"):
    """All inputs are taken at the first of the clocks, all outputs come from it."""
    cell.clocks |= set(clocks)
    for port in cell.inputs():
        if port not in clocks:
            hard = re.fullmatch(enables, port) and "setup_enable" in d
            cell.add(port, setup(clocks[0], d["setup_enable"] if hard else d["setup"]))
    for port in cell.outputs():
        cell.add(
            port,
            arc(
                f'related_pin : "{clocks[0]}";',
                d["clock_to_q" if "clock_to_q" in d else "clock_to_out"],
                delays,
                "rising_edge",
            ),
        )


def carry(cell: Cell, delays: dict):
    """Four bits of a chain: sum and carry of a bit hang on that bit and those below."""
    d = delays["carry"]
    for port, through in (("CO", d["pass"]), ("O", d["end"])):
        for bit in range(cell.ports[port][1]):
            below = " ".join(f"{port}[{i}]" for port in ("S", "DI") for i in range(bit + 1))
            cell.add(port, arc(f'related_pin : "{below}";', d["start"], delays), bit)
            cell.add(port, arc('related_pin : "CI";', through, delays), bit)
            cell.add(port, arc('related_pin : "CYINIT";', d["start"], delays), bit)


def lut_memory(cell: Cell, delays: dict):
    """RAM in LUTs and shift registers: written at a clock, read by address at once. What a write changes at an output is left out."""
    d = delays["lutram"]
    clock = cell.inputs("W?CLK")[0]
    cell.clocks.add(clock)
    letters = sorted(port[-1] for port in cell.inputs("ADDR[A-H]"))
    written = cell.inputs(f"D[0-9]*|DI.*|WE|CE|ADDR{letters[-1] if letters else '-'}")
    if not cell.name.startswith("SRL"):
        written += cell.inputs("A[0-9]?")
    for port in written:
        cell.add(port, setup(clock, d["setup_enable" if port in ("WE", "CE") else "setup"]))
    ways = [("Q", "A[0-9]?"), ("SPO", "A[0-9]?"), ("DPO", "DPRA[0-9]?"), ("O", "A[0-9]?")]
    ways += [(f"DO{letter}", f"ADDR{letter}") for letter in letters]
    for out, address in ways:
        for port in cell.outputs(out):
            cell.add(port, arc(cell.related(cell.inputs(address)), d["read"], delays))
    if cell.name.startswith("SRL"):
        for port in cell.outputs("Q|Q31"):
            cell.add(port, arc(f'related_pin : "{clock}";', d["clock_to_out"], delays, "rising_edge"))


def library(ports: dict, delays: dict) -> str:
    """The file's text for `ports` {type: {port: [is an output, width]}}; a type that it does not know is a KeyError."""
    cells = []
    for name, of in sorted(ports.items()):
        cell = Cell(name, of)
        if re.fullmatch("LUT[1-6]", name):
            combinational(cell, delays["lut"]["delay"], delays)
        elif re.fullmatch("MUXF[789]", name):
            combinational(cell, delays["lut"]["mux"], delays)
        elif name == "INV":  # goes into the LUT behind it
            combinational(cell, -delays["net"]["first"], delays)
        elif name == "CARRY4":
            carry(cell, delays)
        elif re.fullmatch("FD[RSCP]E", name):
            clocked(cell, ["C"], delays["register"], delays, "CE|R|S|CLR|PRE")
        elif re.fullmatch("SRL.*|RAM[0-9]+[MX].*", name):
            lut_memory(cell, delays)
        elif re.fullmatch("RAMB(18|36)E2", name):
            clocked(cell, cell.inputs("CLK.*"), delays["blockram"], delays)
        elif name == "URAM288":
            clocked(cell, cell.inputs("CLK.*"), delays["ultraram"], delays)
        elif name == "DSP48E2":
            clocked(cell, ["CLK"], delays["multiplier"], delays)
        else:
            raise KeyError(name)
        cells.append(cell.text())
    widths = sorted({width for of in ports.values() for _, width in of.values() if width > 1})
    types = "\n".join(
        f"  type(w{n}) {{ base_type : array; data_type : bit; bit_width : {n}; bit_from : {n - 1}; bit_to : 0; }}"
        for n in widths
    )
    index = ", ".join(str(fanout) for fanout in FANOUTS)
    return f"""library(ultrascaleplus) {{
  delay_model : table_lookup; time_unit : "1ns"; capacitive_load_unit(1, pf); voltage_unit : "1V"; current_unit : "1mA";
  input_threshold_pct_rise : 50; input_threshold_pct_fall : 50; output_threshold_pct_rise : 50; output_threshold_pct_fall : 50;
  slew_lower_threshold_pct_rise : 20; slew_lower_threshold_pct_fall : 20;
  slew_upper_threshold_pct_rise : 80; slew_upper_threshold_pct_fall : 80; bus_naming_style : "%s[%d]";
  default_max_transition : 1000;
  lu_table_template(loads) {{ variable_1 : total_output_net_capacitance; index_1("{index}"); }}
{types}
{chr(10).join(cells)}
}}
"""
