"""A guest with the driver in conversation with a test: the guest's script stops at steps, the test does something there and lets it go on.

In the script: `step N` stops until the test has done its N-th action, which it says by an interrupt of the card; `shadow NAME` prints the
lane's shadow record, `counters NAME` what `tc -s` says, `refused NAME` the driver's last refusal, `splats` what no log should have.
"""

import ctypes
import json
import re
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from support.devices import running
from vermilion.configuration import config
from vermilion.guests import driver_guest, guest
from vermilion.hardware.driver_library import library
from vermilion.profile import quantise

# For a script that resets the card: a reset sets the count of interrupts, by which a step ends, to 0. `before` is the number of steps until then.
STEPS_OVER_RESETS = """before=0
step() { echo "step $1"; while [ $(($(devmem $((interrupts + 0x2004)) 32))) -lt $(($1 - before)) ]; do sleep 0.1; done; }
"""
WORDS = """
step() { echo "step $1"; while [ $(($(devmem $((interrupts + 0x2004)) 32))) -lt $1 ]; do sleep 0.1; done; }
shadow() {
  words=
  for at in ADDRESSES; do words="$words $(devmem $((registers + at)) 32)"; done
  echo "shadow.$1 $words"
}
tc() { /bin/tc "$@" || echo "failed $*"; }
counters() { echo "counters.$1 $(/bin/tc -s -j qdisc show dev $lane)"; }
refused() { echo "refused.$1 $(cat /sys/kernel/debug/vermilion/$card/lane0/refused)"; }
owners() { echo "owners.$1 $(cat /sys/kernel/debug/vermilion/$card/lane0/owners | tr '\\n' ',')"; }
splats() {
  bad='BUG|WARNING|Oops|Call Trace|KASAN|UBSAN|blocked for more|soft lockup|GRED: '
  dmesg | grep -q -E "$bad" && dmesg | grep -E -B 20 -A 60 "$bad"
  echo "splats.${1:-end} $(dmesg | grep -c -E "$bad")"
}
"""
PORT = 10**10  # of a build of 64 bits


def visited(words) -> dict[int, int]:
    """The shadow record of a queue's words: {address: value}."""
    out = {}
    visit = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint32)
    library().vm_queue_visit(ctypes.byref(words), visit(lambda _, at, word: out.update({at: word}) or 0), None)
    return out


def expected(port=PORT, queues=16, **queue) -> dict[int, int]:
    """The shadow record of a queue as the configuration file would have it, in a lane of so many queues."""
    asked = config.parse({"port": {"rate": port}, "queue": [{"name": "a"} | queue]}, pool_elsewhere=True)
    return visited(quantise.queue_image(asked.queue[0], asked.port.rate, queues, None))


def by_tc(average=None, **queue) -> dict[int, int]:
    """The shadow record of a queue of tc's: its average is the queue itself, unless a parameter of devlink says otherwise."""
    return expected(average={"weight": 1} | (average or {}), **queue)


ADDRESSES = sorted(expected())


def reachable(place: str) -> bool:
    try:
        socket.create_connection((urlsplit(place).hostname, 80), 5).close()
    except OSError:
        return False
    return True


def check_machine(*needs):
    """Skips where no guest can be had, or without a network to fetch it; where there is one, what cannot be fetched is a failure."""
    try:
        guest.check_system()
        guest.mirror()
    except guest.Unavailable as error:
        pytest.skip(str(error))
    try:
        for need in needs or (guest.setup, driver_guest.tools):
            need()
        for version in driver_guest.KERNELS:
            driver_guest.kernel(version)
    except guest.Unavailable as error:
        if reachable(guest.mirror()):
            raise
        pytest.skip(f"no network: {error}")


class Talk:
    """What came of a run: the console, and what the actions returned."""

    def __init__(self, console: str, results: list):
        self.console, self.results = console, results

    def said(self, word: str) -> str:
        found = re.findall(rf"^{re.escape(word)}(?: (.*?))?\r?$", self.console, re.M)
        assert found, self.console
        return found[-1]

    def shadow(self, name: str) -> dict[int, int]:
        return dict(zip(ADDRESSES, (int(word, 16) for word in self.said(f"shadow.{name}").split()), strict=True))

    def qdiscs(self, name: str) -> dict[str, dict]:
        """What `tc -s` shows, by handle."""
        return {each["handle"]: each for each in json.loads(self.said(f"counters.{name}"))}


def talk(
    version: str, program, script: str, *actions, folder: Path, options=(), through=None, timeout=900, **boot
) -> Talk:
    """Boots the guest with `script`. `actions`: what to do at steps 1, 2 and so on, with the device; `through(socket)`: what stands between;
    `boot`: more for `driver_guest.boot`. An action that fails ends the guest."""
    console, results, failures = folder / "console", [], []
    driver_guest.files(version)  # built before the device begins to wait
    with running(program, *options, wait=300) as device:

        def follow():
            control = device.channel()
            for number, action in enumerate(actions, 1):
                until = time.monotonic() + timeout
                while not (console.exists() and re.search(rb"^step %d\r?\n" % number, console.read_bytes(), re.M)):
                    if time.monotonic() > until or ended.is_set():
                        failures.append(f"the guest did not come to step {number}")
                        return
                    time.sleep(0.05)
                try:
                    results.append(action(device, control))
                    if device.process.poll() is None:
                        control.ask("interrupt", vector=0)
                except Exception as error:  # shown by the test, which cannot end this thread
                    failures.append(repr(error))
                    return

        ended, place = threading.Event(), device.socket
        follower = threading.Thread(target=follow)
        follower.start()
        try:
            if through is not None:
                place = through(device.socket)
            words = WORDS.replace("ADDRESSES", " ".join(map(str, ADDRESSES)))
            there = (lambda: True) if through else (lambda: device.process.poll() is None)
            alive = lambda: not failures and there()
            text = driver_guest.boot(version, place, words + script + "\nsplats\n", folder, alive, timeout, **boot)
        except guest.Ended as error:
            failures.append(str(error))
            text = console.read_text(errors="replace")
        finally:
            ended.set()
            follower.join()
    assert not failures and "failed /modules" not in text, (failures, text)
    return Talk(text, results)


def counts(control) -> dict:
    """The harness's own counters: {(queue, colour): {name: (packets, bytes)}}."""
    seen = control.ask("counters")
    assert seen["accounting"] == {"errors": 0, "first_error": ""}
    return {
        (queue["index"], colour): {
            name: (part["packets"], part["bytes"]) for name, part in parts.items() if isinstance(part, dict)
        }
        for queue in seen["queues"]
        for colour, parts in enumerate(queue["colours"])
    }


def warnings(log) -> list[str]:
    return [line for line in log.read_text().splitlines() if re.search(r"\b(warning|error)\b", line, re.I)]
