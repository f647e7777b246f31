"""The block in front of a Corundum NIC's lanes by its registers: where frames of each port go, when the host gets completions, whose time the lanes have.

Registers and fields are those of `vm_app_regs.h` (docs/app-registers.md), which is generated from the same source as the hardware.
"""

import re
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from vermilion.hardware.driver_library import CARRIED

from . import bus as buses
from . import record
from .errors import DeviceError, UserError

HEADER = (
    CARRIED if CARRIED.exists() else Path(__file__).resolve().parents[3] / "sw_driver" / "kernel"
) / "vm_app_regs.h"
NOWHERE = 0xFF  # in `ways`: not built
TX = ("bypass", "lane")  # of route.tx, in the order of their numbers
RX = ("bypass", "host-lane", "forward", "drop")  # of route.rx
SWITCH = ("off", "on")
TIMES = ("own", "ptp")
COUNTERS: tuple[str, ...] = ("taken", "for_drop", "for_eviction", "at_enqueue", "of_mac", "ptp")
COUNTERS += ("forwarded", "rx_lost", "rx_cut", "rx_dropped")
FIELDS = {"tx": ("port_route", TX), "rx": ("port_route", RX), "at_enqueue": ("port_completion", SWITCH)}


@cache
def definitions() -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    """Registers, {name: (address, stride)}, and fields, {register_field: (shift, mask)}."""
    text = HEADER.read_text()
    found = {}
    for name, address, stride in re.findall(
        r"^#define VM_APP_REG_(\w+?)(?<!_MASK)(?<!_RESET)(?:\(i\))? \(?0x(\w+?)u(?: \+ 0x(\w+?)u \* \(u32\)\(i\)\))?$",
        text,
        re.M,
    ):
        found[name.lower()] = int(address, 16), int(stride or "0", 16)
    shifts = dict(re.findall(r"^#define VM_APP_REG_(\w+)_SHIFT (\d+)$", text, re.M))
    masks = dict(re.findall(r"^#define VM_APP_REG_(\w+)_MASK (0x\w+?)u$", text, re.M))
    return found, {name.lower(): (int(shift), int(masks[name], 16)) for name, shift in shifts.items()}


def legal(words) -> str:
    return ", ".join(words)


class Nic:
    """The block behind a bus. Everything raises DeviceError where the card does not do as told."""

    def __init__(self, bus):
        self.bus = bus
        kind = self.read("block_type")
        wanted = buses.APP_BLOCK
        if kind != wanted:
            raise UserError(
                f"{bus.name}: no block of a NIC is behind this address, whose first word is 0x{kind:08x}, not 0x{wanted:08x}; "
                "a card of its own has lanes alone"
            )
        major = self.field("version", "major")
        if major != 1:
            raise DeviceError(f"{bus.name}: the block's registers have major version {major}; this program knows 1")
        self.ports = self.read("ports")
        self.has_host, self.has_ptp_time = self.field("features", "host_lanes"), self.field("features", "ptp_time")

    def address(self, name: str, port: int = 0) -> int:
        base, stride = definitions()[0][name]
        return base + stride * port

    def read(self, name: str, port: int = 0) -> int:
        value = self.bus._read(None, self.address(name, port))
        if self.bus.broken is not None:
            if not isinstance(self.bus.broken, Exception):
                raise self.bus.broken
            raise DeviceError(f"{self.bus.name}: the card is gone: {self.bus.broken}") from None
        if value == buses.ALL_ONES and self.bus._read(None, self.address("block_type")) == buses.ALL_ONES:
            raise DeviceError(f"{self.bus.name}: the card does not answer: reads give all ones")
        return value

    def field(self, name: str, field: str, port: int = 0) -> int:
        shift, mask = definitions()[1][f"{name}_{field}"]
        return (self.read(name, port) & mask) >> shift

    def write_fields(self, name: str, fields: dict[str, int], port: int = 0):
        """Changes fields of a register at once and looks whether it holds them."""
        word = self.read(name, port)
        for field, value in fields.items():
            shift, mask = definitions()[1][f"{name}_{field}"]
            word = word & ~mask | value << shift
        self.bus._write(None, self.address(name, port), word)
        if self.read(name, port) != word:
            raise DeviceError(f"{self.bus.name}: {name} of port {port} does not hold what was written")

    def count(self, name: str, port: int) -> int:
        return self.read(f"port_{name}_low", port) | self.read(f"port_{name}_high", port) << 32

    def route(self, register: str, port: int) -> dict:
        return {"tx": TX[self.field(register, "tx", port)], "rx": RX[self.field(register, "rx", port)]}

    def way(self, name: str, port: int):
        """{lane, egress}, or None where it is not built. Blocks of before version 1.1 do not say: a lane for each way."""
        lane, egress = self.field("port_ways", f"{name}_lane", port), self.field("port_ways", f"{name}_egress", port)
        if self.field("version", "minor") < 1:
            each = 1 + self.has_host
            lane, egress = (each * port + (name == "host"), 0) if name == "wire" or self.has_host else (NOWHERE, 0)
        return None if lane == NOWHERE else {"lane": lane, "egress": egress}

    def port(self, port: int) -> dict:
        asked, effect = self.route("port_route", port), self.route("port_route_in_effect", port)
        return {
            **asked,
            "in_effect": effect,
            "at_enqueue": SWITCH[self.field("port_completion", "at_enqueue", port)],
            "wire": self.way("wire", port),
            "host": self.way("host", port),
            "counters": {name: self.count(name, port) for name in COUNTERS},
        }

    def state(self) -> dict:
        """All that `nic show` shows."""
        return {
            "version": f"{self.field('version', 'major')}.{self.field('version', 'minor')}",
            "lanes": self.read("lanes"),
            "data_bits": self.read("data_bits"),
            "clock_ns": [self.read("clock_num"), self.read("clock_denom")],
            "time_source": TIMES[self.field("control", "time_source")],
            "ptp_locked": bool(self.field("status", "ptp_locked")),
            "now_ns": self.read("now_low") | self.read("now_high") << 32,
            "ports": [self.port(i) for i in range(self.ports)],
        }

    def change(self, port: int, pairs: list[tuple[str, str]]):
        """Sets fields of a port; all of them are looked at before the first is written."""
        if not 0 <= port < self.ports:
            raise UserError(f"PORT is {port}; legal are 0 to {self.ports - 1}")
        wanted = {}
        for field, word in pairs:
            if field not in FIELDS:
                raise UserError(f"{field} is no field of a port; legal are {legal(FIELDS)}")
            words = FIELDS[field][1]
            if word not in words:
                raise UserError(f"{field} is {word}; legal are {legal(words)}")
            if field == "rx" and word == "host-lane" and not self.has_host:
                raise UserError(
                    "rx is host-lane; this build has no lanes towards the host: legal are bypass, forward, drop"
                )
            if field in wanted:
                raise UserError(f"{field} is given twice")
            wanted[field] = words.index(word)
        for register in dict.fromkeys(FIELDS[field][0] for field in wanted):
            ours = {field: number for field, number in wanted.items() if FIELDS[field][0] == register}
            self.write_fields(register, ours, port)

    def set_time(self, source: str):
        if source == "ptp" and not self.has_ptp_time:
            raise UserError("the time source is ptp; this build has no PTP time: legal is own")
        self.write_fields("control", {"time_source": TIMES.index(source)})


@contextmanager
def opened(device: str):
    """The block of a NIC for as long as the body lasts; no other program of this host changes it meanwhile."""
    if device.startswith("netlink:"):
        raise UserError(
            f"--device is {device}; legal for nic is pci:0000:03:00.0: the kernel's driver sets the routes itself"
        )
    with record.locked(device, "nic"):
        bus = buses.opened(device)
        try:
            yield Nic(bus)
        finally:
            bus.close()


def print_state(screen, state: dict):
    """The same for people."""
    from .counters import table

    num, denom = state["clock_ns"]
    period = f"{num / denom:g} ns"
    screen.print(
        f"NIC block {state['version']}: {len(state['ports'])} ports of {state['data_bits']} bits, {state['lanes']} lanes, clock {period}; "
        f"time {state['time_source']}, {state['now_ns']:,} ns" + (", PTP clock locked" if state["ptp_locked"] else "")
    )
    place = lambda way: "-" if way is None else f"{way['lane']}/{way['egress']}"
    shown = table("Ports", ["port", "tx", "rx", "at_enqueue", "to wire", "to host"], [])
    for i, port in enumerate(state["ports"]):
        cell = lambda field: (
            port[field] + ("" if port["in_effect"][field] == port[field] else f" (still {port['in_effect'][field]})")
        )
        shown.add_row(str(i), cell("tx"), cell("rx"), port["at_enqueue"], place(port["wire"]), place(port["host"]))
    screen.print(shown)
    counts = table("Frames", ["counter"], [f"port {i}" for i in range(len(state["ports"]))])
    for name in COUNTERS:
        counts.add_row(name, *(f"{port['counters'][name]:,}" for port in state["ports"]))
    screen.print(counts)
