"""vermilionctl on a PCI function's BAR as sysfs shows it, made of files."""

import ctypes
import struct

import pytest

from support.pci_function import ADDRESS, WHERE
from support.register_file import ALL_ONES
from support.tool_cards import ctl
from vermilion.configuration import config_file
from vermilion.toolchain import build
from vermilionctl import bus as buses
from vermilionctl import programming, registers

CONFIG = build.ROOT / "sim/configs/default.toml"


def test_a_configuration_reaches_the_bar(function):
    assert ctl(WHERE, "apply", CONFIG)[0] == 0
    bar = (function / "resource0").read_bytes()
    wanted = programming.of_config(config_file.load(CONFIG), None)
    for name, at, word in registers.lane_wide(wanted) + registers.queue(wanted.image(5)):
        assert struct.unpack_from("<I", bar, at)[0] == word, name
    assert struct.unpack_from("<I", bar, registers.at("commit"))[0] == 1
    assert ctl(WHERE, "dump")[1].splitlines() == registers.lines(registers.table(wanted))
    assert ctl(WHERE.replace("0000:", ""), "stats")[0] == 1  # the window is no snapshot of the queue that was asked for


def test_accesses_are_single_words(function):
    bus = buses.PciBus(ADDRESS)
    bus.write(0x100, 0x12345678)
    assert bus.read(0x100) == 0x12345678 and bus.words._type_ is ctypes.c_uint32
    bus.close()
    assert (function / "resource0").read_bytes()[0x100:0x104] == bytes.fromhex("78563412")


def test_a_card_that_was_pulled_out_reads_all_ones(function):
    (function / "resource0").write_bytes(struct.pack("<I", ALL_ONES) * (1 << 14))
    for command in (("show", "--build"), ("stats",), ("apply", CONFIG)):
        status, said = ctl(WHERE, *command)
        assert status == 1 and said == f"{WHERE}: the card does not answer: reads give all ones"


def test_functions_that_are_not_ours_or_not_free_are_left_alone(function, monkeypatch):
    before = (function / "resource0").read_bytes()
    refused = lambda match, status=2: (lambda got: got[0] == status and match in got[1] or pytest.fail(str(got)))(
        ctl(WHERE, "apply", CONFIG)
    )
    (function / "subsystem_device").write_text("0x0001\n")
    refused("is no Vermilion: its numbers are 1af4:10f5:1af4:0001")
    (function / "subsystem_device").write_text("0x564d\n")
    (function / "enable").write_text("0\n")
    refused("is not enabled; as root: echo 1 >", 1)
    (function / "enable").write_text("1\n")
    (function / "drivers" / "vermilion").mkdir(parents=True)
    (function / "driver").symlink_to(function / "drivers" / "vermilion")
    refused("belongs to the kernel's driver vermilion; go through it: --device netlink:IFNAME")
    (function / "driver").unlink()
    assert (function / "resource0").read_bytes() == before

    def denied(path, *_words):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(buses.os, "open", denied)
        with pytest.raises(buses.UserError, match="may not be accessed: Permission denied; it takes root"):
            buses.PciBus(ADDRESS)
    with monkeypatch.context() as patched:
        patched.setattr(buses.mmap, "mmap", lambda *_: (_ for _ in ()).throw(OSError(12, "Cannot allocate memory")))
        with pytest.raises(buses.DeviceError, match="cannot be mapped: Cannot allocate memory"):
            buses.PciBus(ADDRESS)
    (function / "resource0").write_bytes(b"")
    refused("its BAR 0 is empty", 1)
    (function / "resource0").unlink()
    refused("there is no such PCI function with a BAR 0")
