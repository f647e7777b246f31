"""The lane as a PCI device: its configuration space, registers, interrupts and memory, its beginning and end."""

import errno
import os
import re
import select
import signal
import subprocess
import sys

import pytest

from support.devices import registers_page, running
from support.pci_config import MSIX_ENABLE, MSIX_MASK, capabilities, enable, number
from support.runs import ROOT, environment
from vermilion.hardware import vfio_user
from vermilion.hardware.vfio_user import ACTION_MASK, ACTION_TRIGGER, BAR0, BAR2, CONFIG, DATA_BOOL, DATA_NONE
from vermilion.toolchain import build

pytestmark = pytest.mark.slow


def fired(eventfd, seconds=2.0):
    """How often the interrupt has come since the last look."""
    if not select.select([eventfd], [], [], seconds)[0]:
        return 0
    return os.eventfd_read(eventfd)


def test_what_the_device_says_of_itself(client):
    flags, regions, kinds = client.info()
    assert (flags, regions, kinds) == (3, 9, 5)  # reset, PCI
    sizes = {index: client.region(index).size for index in range(regions)}
    assert {index: size for index, size in sizes.items() if size} == {BAR0: 1 << 24, BAR2: 1 << 14, CONFIG: 4096}
    assert all(client.region(index).flags == (3 if size else 0) for index, size in sizes.items())
    assert [client.interrupts(kind) for kind in range(kinds)] == [0, 0, 4, 0, 0]
    assert client.version == (0, 1) and client.capabilities.keys() == vfio_user.CAPABILITIES.keys()


def test_the_capabilities_agreed_on_are_among_those_offered(device):
    with device.client(capabilities={"pgsizes": 4096, "something_new": True}) as client:
        assert client.capabilities == {"pgsizes": 4096}


def test_the_configuration_space_is_an_express_endpoint(client):
    assert (number(client, 0, 2), number(client, 2, 2)) == (0x1AF4, 0x10F5)
    assert (number(client, 0x2C, 2), number(client, 0x2E, 2)) == (0x1AF4, 0x564D)
    assert number(client, 8) >> 8 == 0x028000 and number(client, 0x0E, 1) == 0
    assert number(client, 6, 2) & 0x10, "no capability list"
    found = capabilities(client)
    assert found.keys() == {0x01, 0x10, 0x11}
    express = number(client, found[0x10] + 2, 2)
    assert express & 15 == 2 and express >> 4 & 15 == 0
    msix = found[0x11]
    assert (number(client, msix + 2, 2) & 0x7FF) + 1 == 4
    table, pending = number(client, msix + 4), number(client, msix + 8)
    assert table & 7 == pending & 7 == BAR2
    assert (table & ~7) + 4 * 16 <= pending & ~7 and (pending & ~7) + 8 <= client.region(BAR2).size
    assert client.read(CONFIG, 0, 4096) == b"".join(client.read(CONFIG, at, 4) for at in range(0, 4096, 4))


def test_as_a_nic_it_has_its_registers_in_bar_2_and_corundums_identity(device_program):
    with running(device_program, "--nic") as device, device.client() as client:
        assert number(client, 0) == number(client, 0x2C) == 0x1001_1234
        sizes = {index: client.region(index).size for index in (BAR0, BAR2)}
        assert sizes == {BAR0: 1 << 14, BAR2: 1 << 24}
        assert (client.read32(0, BAR2), client.read32(0, BAR0)) == (0x564D0001, 0)
        client.write32(0x2000, 1, BAR0)
        assert client.read32(0x2004, BAR0) == 1
        assert [number(client, capabilities(client)[0x11] + at) & 7 for at in (4, 8)] == [0, 0]
        with pytest.raises(OSError):
            client.read(BAR0, 1 << 14, 4)


def test_bars_tell_their_size_and_keep_an_address(client):
    for index, bar in ((0, BAR0), (2, BAR2)):
        at = 0x10 + 4 * index
        kind = number(client, at) & 15
        assert kind == 4, "64 bits, memory, not prefetchable"
        client.write(CONFIG, at, b"\xff" * 8)
        assert (1 << 64) - (number(client, at, 8) & ~15) == client.region(bar).size
        client.write(CONFIG, at, (0x12_3456_7000_0000 | 9).to_bytes(8, "little"))
        assert number(client, at, 8) == 0x12_3456_7000_0000 | kind
    assert client.read(CONFIG, 0x20, 8) == bytes(8)


def test_only_what_a_host_may_write_can_be_written(client):
    before = client.read(CONFIG, 0, 4096)
    control = capabilities(client)[0x10] + 9  # its top bit resets the function
    for at in range(4096):
        client.write(CONFIG, at, b"\x7f" if at == control else b"\xff")
    after = client.read(CONFIG, 0, 4096)
    changed = [at for at in range(4096) if before[at] != after[at]]
    msix, power, express = (capabilities(client)[name] for name in (0x11, 0x01, 0x10))
    allowed = {4, 5, 0x0C, *range(0x10, 0x20), 0x3C, msix + 3, power + 4, express + 8, express + 9, express + 16}
    assert set(changed) <= allowed | {express + 0x30}
    assert {4, 5, *range(0x13, 0x18), *range(0x19, 0x20), msix + 3} <= set(changed)
    client.reset()
    assert client.read(CONFIG, 0, 4096) == before


def test_a_function_level_reset_resets_lane_and_configuration_space(client):
    before = client.read(CONFIG, 0, 4096)
    enable(client)
    client.write32(0x104, 1234)
    client.write(CONFIG, capabilities(client)[0x10] + 8, b"\x10\xa8")
    assert client.read(CONFIG, 0, 4096) == before
    assert client.read32(0x104) == 0


def test_power_states_that_are_not_there_change_nothing(client):
    at = capabilities(client)[0x01] + 4
    for asked, kept in ((3, 3), (1, 3), (0, 0), (2, 0)):
        client.write(CONFIG, at, bytes([asked]))
        assert number(client, at, 1) & 3 == kept


def test_registers_answer_as_the_map_says(client):
    shape = build.PRESETS["lab"]
    assert client.read32(0) == 0x564D0001
    version = re.search(r"`\.minor` .*Reads 0x(\w+)\.(?:.*\n)*?.*`\.major` .*Reads 0x(\w+)\.", registers_page())
    assert client.read32(4) == int(version[2], 16) << 16 | int(version[1], 16)
    assert [client.read32(at) for at in (0x10, 0x14, 0x18, 0x1C, 0x24, 0x28, 0x2C)] == [
        shape.queues, shape.cells, shape.data_bits, shape.inputs, shape.max_frame_bytes, shape.flows, shape.victims
    ]  # fmt: skip
    client.write32(0, 0)
    assert client.read32(0) == 0x564D0001 and client.read32(0xFF_FFFC) == 0
    assert client.read(BAR0, 0x10, 8) == client.read(BAR0, 0x10, 4) + client.read(BAR0, 0x14, 4)


def test_shadow_registers_keep_what_is_written_and_bytes_have_strobes(client):
    values = {0x104: 0x07FFFFFF, 0x108: 123456, 0x12C: 0x3FFFF, 0x134: 0xDEADBEEF, 0x138: 0x5A}
    for address, value in values.items():
        client.write32(address, value, posted=True)  # no reply: honoured, or the next reply would not fit
    assert {address: client.read32(address) for address in values} == values
    client.write(BAR0, 0x136, b"\x12\x34")
    client.write(BAR0, 0x135, b"\x99")
    assert client.read32(0x134) == 0x341299EF
    assert client.read(BAR0, 0x136, 2) == b"\x12\x34" and client.read(BAR0, 0x137, 1) == b"\x34"
    client.write(BAR0, 0x130, bytes(range(8)))
    assert client.read32(0x134) == 0x07060504
    assert client.read32(0x80) == 0
    client.write32(0x80, 99)
    client.write32(0x84, 1)
    assert client.read32(0x44) >> 8 & 1, "a commit of a queue that is not there"


@pytest.mark.parametrize(
    "offset, count", [(2, 4), (1, 2), (4, 3), (0, 0), (4, 8), (0, 16), ((1 << 24) - 2, 4), (1 << 24, 4), (1 << 63, 4)]
)
def test_other_accesses_to_a_bar_are_refused(client, offset, count):
    with pytest.raises(vfio_user.Refused) as refused:
        client.read(BAR0, offset, count)
    assert refused.value.errno == errno.EINVAL
    with pytest.raises(vfio_user.Refused):
        client.write(BAR0, offset, bytes(count))
    assert client.read32(0) == 0x564D0001


def test_an_interrupt_reaches_its_eventfd(device, client):
    eventfds = [os.eventfd(0) for _ in range(4)]
    client.wire(eventfds)
    enable(client)
    for vector in (2, 0, 3):
        client.write32(0x2000, vector, BAR2)
        assert [fired(each, 0.2 if n != vector else 2) for n, each in enumerate(eventfds)] == [
            n == vector for n in range(4)
        ]
    client.write32(0x2000, 4, BAR2)
    device.channel().ask("interrupt", vector=1)
    client.set_irqs(DATA_NONE | ACTION_TRIGGER, 2, 1)
    client.set_irqs(DATA_BOOL | ACTION_TRIGGER, 0, 4, data=b"\0\0\1\1")
    assert client.read32(0x2004, BAR2) == 7
    assert [fired(each, 0.2) for each in eventfds] == [0, 1, 2, 1]
    client.unwire()
    client.write32(0x2000, 1, BAR2)
    assert fired(eventfds[1], 0.2) == 0 and client.read32(0x1000, BAR2) == 2
    for each in eventfds:
        os.close(each)


def test_an_interrupt_that_may_not_go_is_pending_until_it_may(client):
    eventfd = os.eventfd(0)
    msix = capabilities(client)[0x11] + 2
    client.wire([eventfd], start=1)

    def held():
        client.write32(0x2000, 1, BAR2)
        assert fired(eventfd, 0.1) == 0 and client.read32(0x1000, BAR2) == 2

    held()  # neither enabled nor a bus master
    client.write(CONFIG, msix, MSIX_ENABLE.to_bytes(2, "little"))
    held()
    client.write(CONFIG, 4, b"\x06\0")
    assert fired(eventfd) == 1 and client.read32(0x1000, BAR2) == 0
    client.write(CONFIG, msix, (MSIX_ENABLE | MSIX_MASK).to_bytes(2, "little"))
    held()
    client.write(CONFIG, msix, MSIX_ENABLE.to_bytes(2, "little"))
    assert fired(eventfd) == 1 and client.read32(0x1000, BAR2) == 0
    with pytest.raises(vfio_user.Refused):
        client.set_irqs(DATA_NONE | ACTION_MASK, 0, 1)
    os.close(eventfd)


def test_the_table_of_interrupts_keeps_what_is_written(client):
    assert client.read(BAR2, 12, 4) == b"\1\0\0\0", "masked after reset"
    for at in range(0, 64, 4):
        client.write32(at, 0xFFFFFFFF, BAR2)
    assert [client.read32(at, BAR2) for at in range(0, 16, 4)] == [0xFFFFFFFC, 0xFFFFFFFF, 0xFFFFFFFF, 1]
    client.reset()
    assert [client.read32(at, BAR2) for at in range(0, 16, 4)] == [0, 0, 0, 1]


def test_memory_is_mapped_and_let_go(device, client):
    control, memory = device.channel(), vfio_user.Memory(1 << 20)
    memory.bytes[0x3010:0x3018] = b"abcdefgh"
    client.dma_map(0x10_0000, 1 << 16, memory.fd, offset=0x3000)
    client.dma_map(0x20_0000, 1 << 16)
    assert control.ask("dma")["regions"] == [
        {"address": 0x10_0000, "bytes": 1 << 16, "flags": 3, "mapped": True},
        {"address": 0x20_0000, "bytes": 1 << 16, "flags": 3, "mapped": False},
    ]
    assert bytes.fromhex(control.ask("dma", address=0x10_0010, bytes=8)["data"]) == b"abcdefgh"
    for address, size in ((0x10_F000, 0x2000), (0xF_F000, 0x2000), (0x10_0000, 1 << 16), (0, 1 << 30)):
        with pytest.raises(vfio_user.Refused) as refused:
            client.dma_map(address, size)
        assert refused.value.errno == errno.EEXIST
    for words in (
        (0x30_0000, 1 << 21, memory.fd),
        (0x30_0800, 0x1000),
        (0x30_0000, 0),
        ((1 << 64) - 4096, 8192),
    ):
        with pytest.raises(vfio_user.Refused) as refused:
            client.dma_map(*words)
        assert refused.value.errno == errno.EINVAL
    for address, count in ((0x10_FFFC, 8), (0x20_0000, 8), (0, 1), (0x10_0000, 1 << 40)):
        with pytest.raises(vfio_user.Refused):
            control.ask("dma", address=address, bytes=count)
    os.ftruncate(memory.fd, 0)  # nothing that a client does to its memory ends the device
    with pytest.raises(vfio_user.Refused, match="shorter"):
        control.ask("dma", address=0x10_0010, bytes=8)
    with pytest.raises(vfio_user.Refused):
        client.dma_unmap(0x10_0000, 0x1000)
    client.dma_unmap(0x10_0000, 1 << 16)
    assert [each["address"] for each in control.ask("dma")["regions"]] == [0x20_0000]
    client.dma_unmap(0, 0, flags=2)
    assert control.ask("dma")["regions"] == []
    os.close(memory.fd)


def test_nobody_comes_and_the_device_ends(device_program):
    with running(device_program, wait=1) as device:
        assert device.process.wait(10) == 4
        assert device.log() == [f"vermilion-device: nobody connected to {device.socket} within 1 s"]
        assert not device.socket.exists() and not device.control.exists()


def test_a_client_goes_and_the_device_ends_or_waits_for_the_next(device_program):
    with running(device_program) as device:
        device.client().close()
        assert device.process.wait(10) == 0 and not device.socket.exists()
    with running(device_program, "--keep") as device:
        with device.client() as first:
            first.write32(0x104, 77)
            first.dma_map(0, 4096)
        with device.client() as second:
            assert second.read32(0x104) == 77, "the device's state is kept"
            assert device.channel().ask("dma")["regions"] == []
        device.process.send_signal(signal.SIGTERM)
        assert device.process.wait(10) == 0 and device.log() == [] and not device.socket.exists()


def test_the_command_builds_and_starts_a_device(tmp_path, device_program):
    short = f"/tmp/vermilion-{os.getpid()}"
    command = [sys.executable, "-m", "vermilion", "device", short, "--config", str(ROOT / "sim/configs/default.toml")]
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == f"listening {short}\n"
            with vfio_user.Client(short) as client:
                assert client.read32(0x40) in (0, 1) and client.read32(0x104) != 0, "no configuration was given"
            assert process.wait(10) == 0
        finally:
            process.kill()
