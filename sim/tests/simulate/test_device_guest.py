"""A Linux guest drives the lane in simulation: QEMU as the client of the device, without a driver yet."""

import re
import signal
import threading
import time

import pytest

from support.captures import pcap
from support.devices import running
from support.frames import mixed
from support.run_counts import counted
from vermilion.guests import guest

pytestmark = pytest.mark.guest

FIND = """
device=$(grep -l 0x10f5 /sys/bus/pci/devices/*/device); device=${device%/device}
echo 1 > $device/enable
bar0=$(dd if=$device/resource bs=18 count=1 2>/dev/null)
"""


@pytest.fixture(scope="session")
def system():
    try:
        return guest.setup()
    except guest.Unavailable as error:
        pytest.skip(str(error))


def said(console: str, word: str) -> list[str]:
    """What stands behind `word` in the last line that begins with it."""
    found = re.findall(rf"^{word} (.*?)\r?$", console, re.M)
    assert found, console
    return found[-1].split()


def wait_for(console, word: bytes):
    """Until the guest has said it."""
    until = time.monotonic() + 500
    while time.monotonic() < until and not (console.exists() and word in console.read_bytes()):
        time.sleep(0.1)


def test_a_guest_finds_the_device_and_reads_what_the_harness_counts(tmp_path, system, device_program, words):
    capture = pcap(tmp_path / "in.pcap", mixed(500))
    script = (
        FIND
        + """
echo who $(cat $device/vendor $device/device $device/class $device/subsystem_vendor $device/subsystem_device)
echo resource $(cat $device/resource)
echo first $(devmem $bar0 32) $(devmem $((bar0 + 0x10)) 32)
devmem $((bar0 + 0x134)) 32 0xdeadbeef
devmem $((bar0 + 0x136)) 8 0x12
echo shadow $(devmem $((bar0 + 0x134)) 32)
dscp=0
while [ $dscp -lt 64 ]; do
  devmem $((bar0 + 0x70)) 32 $dscp
  devmem $((bar0 + 0x74)) 32 $((dscp / 2 % 8 | dscp / 16 % 3 << 16))
  dscp=$((dscp + 1))
done
echo ready
arrived=0
while [ $arrived -lt 500 ]; do
  arrived=0
  for queue in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    devmem $((bar0 + 0x80)) 32 $queue
    devmem $((bar0 + 0x88)) 32 1
    while [ $(($(devmem $((bar0 + 0x44)) 32) & 4)) != 0 ]; do :; done
    for colour in 0 1 2; do
      at=$((bar0 + 0x1000 + 0x100 * colour))
      here=$(devmem $at 32)
      arrived=$((arrived + here))
      echo counted.$queue.$colour $here $(devmem $((at + 8)) 32)
    done
  done
done
"""
    )
    with running(device_program, "--config-words", words, wait=300) as device:
        control, seen = device.channel(), {}

        def feed():
            wait_for(tmp_path / "console", b"ready")
            control.ask("feed", capture=str(capture), rate=1e9)
            control.ask("idle")
            seen.update(counted(control.ask("counters")))

        feeder = threading.Thread(target=feed)
        feeder.start()
        console = guest.boot(device.socket, script, tmp_path, lambda: device.process.poll() is None)
        feeder.join()
        assert device.process.wait(10) == 0
        assert [line for line in device.log() if str(capture) not in line] == []
    assert said(console, "who") == ["0x1af4", "0x10f5", "0x028000", "0x1af4", "0x564d"]
    ends = [int(word, 16) for word in said(console, "resource")]
    sizes = [end - start + 1 if end else 0 for start, end in zip(ends[::3], ends[1::3], strict=True)]
    assert sizes[:6] == [1 << 24, 0, 1 << 14, 0, 0, 0] and not any(sizes[6:])
    assert ends[0] % (1 << 24) == 0 and ends[6] % (1 << 14) == 0
    assert said(console, "first") == ["0x564D0001", "0x00000010"] and said(console, "shadow") == ["0xDE12BEEF"]
    assert sum(parts["arrived"][0] for parts in seen.values()) == 500
    # What the guest wrote into the class table, for the DSCPs that mixed() has.
    assert {queue for (queue, _), parts in seen.items() if parts["arrived"][0]} == {0, 1, 2, 3, 5, 6, 7}
    for (queue, colour), parts in seen.items():
        assert [int(word, 16) for word in said(console, f"counted.{queue}.{colour}")] == parts["arrived"]


def test_a_device_that_is_killed_ends_the_guest_within_seconds(tmp_path, system, device_program):
    script = FIND + "echo loops\nwhile true; do devmem $bar0 32 > /dev/null; done\n"
    with running(device_program, wait=300) as device:
        killed = []

        def kill():
            wait_for(tmp_path / "console", b"loops")
            time.sleep(0.5)
            device.process.send_signal(signal.SIGKILL)
            killed.append(time.monotonic())

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            # QEMU may find out by itself, and end; else it is ended.
            guest.boot(device.socket, script, tmp_path, lambda: device.process.poll() is None)
        except guest.Ended as ended:
            assert "the device is gone" in str(ended)
        killer.join()
        assert time.monotonic() - killed[0] < 5
    assert b"loops" in (tmp_path / "console").read_bytes()
