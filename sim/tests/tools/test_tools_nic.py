"""vermilionctl on the application BAR of a Corundum NIC as sysfs shows it, made of files: routes, completions, time, and lanes behind the block."""

import json
import random
import struct

import pytest

from support.register_file import Lane
from support.tool_cards import ctl
from vermilion.configuration import config_file
from vermilion.generate import registers
from vermilion.hardware.driver_library import C
from vermilion.toolchain import build
from vermilionctl import bus as buses
from vermilionctl import nic, programming
from vermilionctl import registers as lane_registers

ADDRESS = "0000:05:00.0"
WHERE = f"pci:{ADDRESS}"
LANES, HOST = 4, 1
STATUS = lane_registers.at("status")
CONFIG = build.ROOT / "sim/configs/default.toml"
APP = {"_".join(register.path): register for register in registers.read_source(registers.APP)[1]}


def address(name: str, port: int = 0) -> int:
    """By the description of the registers; the tool reads a header that was made of it."""
    register = APP[name]
    return register.address + sum(port * stride for _, _, stride in register.dims)


def field(name: str, of: str, word: int) -> int:
    found = next(each for each in APP[name].fields if each.name == of)
    return word >> found.low & (2 << found.high - found.low) - 1


class Function:
    """A NIC's PCI function: its folder, and the words of its BAR 2."""

    def __init__(self, folder):
        self.folder, self.bar = folder, folder / "resource2"
        folder.mkdir(parents=True)
        numbers = {"vendor": 0x1234, "device": 0x1001, "subsystem_vendor": 0x1C2C, "subsystem_device": 0xA00E}
        for name, number in numbers.items():
            (folder / name).write_text(f"0x{number:04x}\n")
        (folder / "enable").write_text("1\n")
        bar = bytearray(1 << 19)
        put = lambda at, word: struct.pack_into("<I", bar, at, word)
        for name, register in APP.items():
            for port in range(8 if register.dims else 1):
                put(address(name, port), sum((f.reset or 0) << f.low for f in register.fields))
        for name, word in {"ports": 2, "lanes": LANES, "data_bits": 64, "clock_num": 4, "clock_denom": 1}.items():
            put(address(name), word)
        put(address("features"), 0b111)
        put(address("next_block"), 0x10000)
        for port in range(2):
            put(address("port_ways", port), 2 * port | (2 * port + 1) << 16)
            put(address("port_completion", port), 1)
            put(address("port_taken_low", port), 5 + port)
            put(address("port_taken_high", port), 1)
        for number in range(LANES):
            base = (number + 1) << 16
            lane = Lane(next_block=base + 0x10000 if number + 1 < LANES else 0)
            for at, word in lane.words.items():
                put(base + at, word)
        self.bar.write_bytes(bar)

    def word(self, at: int) -> int:
        return struct.unpack_from("<I", self.bar.read_bytes(), at)[0]

    def put(self, at: int, word: int):
        bar = bytearray(self.bar.read_bytes())
        struct.pack_into("<I", bar, at, word)
        self.bar.write_bytes(bar)


@pytest.fixture
def function(tmp_path, monkeypatch):
    monkeypatch.setattr(buses, "SYSFS", tmp_path / "devices")
    write = buses.PciBus.write  # a file cannot clear what is cleared by writing 1
    held = {(number + 1 << 16) + STATUS for number in range(LANES)}
    monkeypatch.setattr(buses.PciBus, "write", lambda bus, at, word: None if at in held else write(bus, at, word))
    return Function(tmp_path / "devices" / ADDRESS)


def test_registers_are_those_of_the_description():
    found, fields = nic.definitions()
    assert {name: at for name, (at, _) in found.items()} == {name: address(name) for name in APP}
    assert {name: stride for name, (_, stride) in found.items() if stride} == {
        name: register.dims[0][2] for name, register in APP.items() if register.dims
    }
    for name, register in APP.items():
        for each in register.fields:
            if each.name != "value":
                assert fields[f"{name}_{each.name}"] == (each.low, (2 << each.high) - (1 << each.low)), (name, each)
    assert buses.APP_BLOCK == C.VM_VENDOR << 16 | field("block_type", "block", 0x564D0002)


def test_routes_completions_and_time_reach_the_bar_and_nothing_else_changes(function):
    before = function.bar.read_bytes()
    assert ctl(WHERE, "nic", "set", 1, "tx=lane", "rx=forward", "at_enqueue=off") == (0, "")
    assert ctl(WHERE, "nic", "time", "ptp") == (0, "")
    changed = {at for at in range(0, len(before), 4) if before[at : at + 4] != function.bar.read_bytes()[at : at + 4]}
    assert changed == {address("port_route", 1), address("port_completion", 1), address("control")}
    route = function.word(address("port_route", 1))
    assert (field("port_route", "tx", route), field("port_route", "rx", route)) == (1, 2)
    assert function.word(address("port_completion", 1)) == 0 and function.word(address("control")) == 1
    assert ctl(WHERE, "nic", "set", 1, "tx=bypass") == (0, "")
    assert function.word(address("port_route", 1)) == 2 << 8, "the other route was changed, too"


def test_any_sequence_of_settings_leaves_what_the_last_ones_said(function):
    rng, wanted = random.Random(5), {}
    for _ in range(60):
        port = rng.randrange(2)
        chosen = {name: rng.choice(nic.FIELDS[name][1]) for name in rng.sample(list(nic.FIELDS), rng.randint(1, 3))}
        assert ctl(WHERE, "nic", "set", port, *(f"{name}={word}" for name, word in chosen.items()))[0] == 0
        wanted |= {(port, name): word for name, word in chosen.items()}
    shown = json.loads(ctl(WHERE, "nic", "show", "--json")[1])
    assert {(port, name): shown["ports"][port][name] for port, name in wanted} == wanted


def test_what_is_shown(function):
    function.put(address("port_route", 0), 1 | 1 << 8)
    function.put(address("port_route_in_effect", 0), 1)
    function.put(address("now_high"), 1)
    shown = json.loads(ctl(WHERE, "nic", "show", "--json")[1])
    assert shown["ports"][0]["in_effect"] == {"tx": "lane", "rx": "bypass"}
    assert shown["ports"][1]["wire"] == {"lane": 2, "egress": 0} and shown["ports"][1]["host"]["lane"] == 3
    assert shown["ports"][1]["counters"]["taken"] == (1 << 32) + 6 and shown["now_ns"] == 1 << 32
    text = ctl(WHERE, "nic", "show")[1]
    assert "host-lane (still bypass)" in text and "4,294,967,302" in text and "2 ports of 64 bits, 4 lanes" in text


def test_blocks_of_before_say_nothing_of_ways(function):
    function.put(address("version"), 1 << 16)
    for port in range(2):
        function.put(address("port_ways", port), 0)
    shown = json.loads(ctl(WHERE, "nic", "show", "--json")[1])
    assert [port["host"]["lane"] for port in shown["ports"]] == [1, 3]
    function.put(address("features"), 0)
    shown = json.loads(ctl(WHERE, "nic", "show", "--json")[1])
    assert [(port["wire"]["lane"], port["host"]) for port in shown["ports"]] == [(0, None), (1, None)]


def test_lanes_behind_the_block_are_driven_as_on_any_card(function):
    assert ctl(WHERE, "--lane", 2, "apply", CONFIG)[0] == 0
    wanted = programming.of_config(config_file.load(CONFIG), None)
    for name, at, word in lane_registers.queue(wanted.image(5)):
        assert function.word((3 << 16) + at) == word, name
        assert function.word((2 << 16) + at) != word or word == Lane().words[at], "another lane was written"


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("set", 2, "tx=lane"), "PORT is 2; legal are 0 to 1"),
        (("set", -1, "tx=lane"), "PORT is -1; legal are 0 to 1"),
        (("set", 0, "tx=forward"), "tx is forward; legal are bypass, lane"),
        (("set", 0, "route=1"), "route is no field of a port; legal are tx, rx, at_enqueue"),
        (("set", 0, "tx"), "tx is no setting; legal are FIELD=VALUE"),
        (("set", 0, "tx=lane", "tx=bypass"), "tx is given twice"),
        (("set", 0, "tx=lane", "rx=nowhere"), "rx is nowhere; legal are bypass, host-lane, forward, drop"),
    ],
)
def test_illegal_settings_write_nothing(function, words, sentence):
    before = function.bar.read_bytes()
    status, said = ctl(WHERE, "nic", words[0], "--", *words[1:])
    assert status == 2 and sentence in said
    assert function.bar.read_bytes() == before


def test_what_the_build_lacks_is_refused(function):
    function.put(address("features"), 0)
    assert "no lanes towards the host" in ctl(WHERE, "nic", "set", 0, "rx=host-lane")[1]
    assert "no PTP time" in ctl(WHERE, "nic", "time", "ptp")[1]
    assert ctl(WHERE, "nic", "time", "own")[0] == 0


def test_nics_that_are_not_ours_or_not_free_are_left_alone(function, monkeypatch, tmp_path):
    show = lambda: ctl(WHERE, "nic", "show")
    (function.folder / "drivers/mqnic").mkdir(parents=True)
    (function.folder / "driver").symlink_to(function.folder / "drivers/mqnic")
    assert show()[0] == 0, "Corundum's driver may be bound"
    auxiliary = function.folder / "mqnic.app_564d0001.0"
    auxiliary.mkdir()
    (auxiliary / "driver").symlink_to(function.folder / "drivers/mqnic")
    assert "belongs to the kernel's driver vermilion; go through it" in show()[1]
    (auxiliary / "driver").unlink()
    with monkeypatch.context() as patched:
        patched.setattr(buses.mmap, "mmap", lambda *_: (_ for _ in ()).throw(OSError(22, "Invalid argument")))
        assert show() == (
            1,
            f"{WHERE}: cannot be mapped: Invalid argument; a kernel that keeps a driver's BARs to it needs iomem=relaxed",
        )
    (function.folder / "driver").unlink()
    (function.folder / "drivers/vfio-pci").mkdir()
    (function.folder / "driver").symlink_to(function.folder / "drivers/vfio-pci")
    assert "belongs to the kernel's driver vfio-pci, which must let go of it first" in show()[1]
    (function.folder / "driver").unlink()
    function.put(0, 0x12340001)
    assert "application block is not Vermilion's: BAR 2 begins with 0x12340001, not 0x564d0002" in show()[1]
    function.put(0, buses.APP_BLOCK)
    function.put(address("version"), 2 << 16)
    assert show() == (1, f"{WHERE}: the block's registers have major version 2; this program knows 1")
    function.bar.unlink()
    assert "there is no such PCI function with a BAR 2; see lspci -D -d 1234:1001" in show()[1]
    assert "legal for nic is pci:" in ctl("netlink:eth0", "nic", "show")[1]


def test_a_card_of_its_own_has_no_block(monkeypatch):
    from support.tool_cards import Bench

    bench = Bench(monkeypatch)
    status, said = bench.ctl("nic", "show")
    assert status == 2 and "a card of its own has lanes alone" in said


def test_a_nic_that_was_pulled_out_and_one_that_forgets(function, monkeypatch):
    function.put(address("port_route", 0), 0)
    with monkeypatch.context() as patched:
        patched.setattr(buses.PciBus, "write", lambda *_: None)
        status, said = ctl(WHERE, "nic", "set", 0, "tx=lane")
        assert status == 1 and "port_route of port 0 does not hold what was written" in said
    real = buses.PciBus.read
    with monkeypatch.context() as patched:
        left = [5]

        def read(bus, at):
            left[0] -= 1
            return real(bus, at) if left[0] > 0 else buses.ALL_ONES

        patched.setattr(buses.PciBus, "read", read)
        assert ctl(WHERE, "nic", "show") == (1, f"{WHERE}: the card does not answer: reads give all ones")
