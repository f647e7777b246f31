"""Cards and a kernel's side for the tools' tests; each test has a folder of its own for the host's records."""

import struct

import pytest

from support.netlink_stand_in import StandIn
from support.pci_function import ADDRESS, STATUS
from support.register_file import Lane
from support.tool_cards import Bench
from vermilionctl import bus as buses
from vermilionctl import netlink


@pytest.fixture(autouse=True)
def own_records(state):
    """Each test has the host's records in its own folder."""


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


@pytest.fixture
def kernel(monkeypatch):
    from contextlib import contextmanager

    stand_in = StandIn()

    @contextmanager
    def opened(name):
        yield netlink.Kernel(name, 3, stand_in.ask)

    monkeypatch.setattr(netlink, "opened", opened)
    return stand_in


@pytest.fixture
def function(tmp_path, monkeypatch):
    """A function's folder; its BAR keeps what is written, as a lane does that has done all it was told."""
    folder = tmp_path / "devices" / ADDRESS
    folder.mkdir(parents=True)
    for name, number in buses.IDENTITY.items():
        (folder / name).write_text(f"0x{number:04x}\n")
    (folder / "enable").write_text("1\n")
    bar = bytearray(1 << 16)
    for at, word in Lane().words.items():
        struct.pack_into("<I", bar, at, word)
    (folder / "resource0").write_bytes(bar)
    monkeypatch.setattr(buses, "SYSFS", tmp_path / "devices")
    write = buses.PciBus.write  # a file cannot clear what is cleared by writing 1
    monkeypatch.setattr(buses.PciBus, "write", lambda bus, at, word: None if at == STATUS else write(bus, at, word))
    return folder
