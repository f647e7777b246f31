"""The sandbox: TCP of a guest through the RTL, shaped and marked by stock tc and by netlink; and what ends it."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import driver_bench
from support.nightly import at_night
from vermilion.guests import driver_guest, guest, sandbox_guest
from vermilion.toolchain import build

pytestmark = pytest.mark.guest

RATE = 5e6
# A frame of 1514 bytes carries 1448 bytes of TCP payload with timestamps; the shaper counts the bytes of frames.
MOST = RATE * 1448 / 1514
PATIENCE_S = 300
COMMAND = [sys.executable, "-m", "vermilion", "sandbox"]
PRESET = "network-aqm"
DUALPI2 = """
[port]
rate = "5Mbit"
[[queue]]
name = "classic"
default = true
aqm = "dualpi2"
quantum = 1514
[[queue]]
name = "classic-l4s"
aqm = "dualpi2"
quantum = 13626
"""
SCRIPT = """
part() { echo; echo "part.$1"; }
transfer() {
  a iperf3 -c 10.0.0.2 -t SECONDS -O 2 -J > /tmp/iperf &
  sleep $((SECONDS / 2 + 2))
  part $1.ss; a ss -tino dst 10.0.0.2
  wait $!
  part $1.iperf; cat /tmp/iperf
}
part ping; a ping -c 3 -i 0.2 b
part links; ip -br link show lane; a ip -br link show eth0; b ip -br link show eth0
tc qdisc add dev lane root handle 1: tbf rate 5mbit burst 5000 limit 100000
tc qdisc add dev lane parent 1:1 handle 2: red limit 100000 min 9000 max 27000 avpkt 1000 burst 16 probability 0.1 ecn bandwidth 5mbit
transfer red
part red.tc; tc -s -j qdisc show dev lane
tc qdisc del dev lane root
part ctl; vermilionctl apply FILE
transfer dualpi2
part stats; vermilionctl stats --json
part wrong; vermilionctl apply none.toml; echo "ended with $?"
part tools; for each in dcb devlink ethtool tc; do command -v $each; done
exit 7
"""


@pytest.fixture(scope="module", autouse=True)
def machine():
    driver_bench.check_machine(guest.setup, driver_guest.tools, sandbox_guest.packages)
    build.device(PRESET)


def environment(**more):
    return os.environ | {"PYTHONPATH": f"{build.ROOT}/sim:{build.ROOT}/sw_driver/tools"} | more


def start(*words, **more):
    streams = {name: subprocess.PIPE for name in ("stdout", "stderr")}
    return subprocess.Popen([*COMMAND, *words], stdin=subprocess.DEVNULL, text=True, env=environment(**more), **streams)


class Said:
    """One boot with all commands."""

    def __init__(self, folder: Path, seconds: int):
        file = folder / "dualpi2.toml"
        file.write_text(DUALPI2)
        process = start("--run", SCRIPT.replace("SECONDS", str(seconds)).replace("FILE", str(file)))
        self.out, self.err = process.communicate(timeout=PATIENCE_S + 4 * seconds)
        self.status = process.returncode

    def part(self, name: str) -> str:
        found = re.search(rf"^part\.{re.escape(name)}\n(.*?)(?=^part\.|\Z)", self.out, re.M | re.S)
        assert found, self.out + self.err
        return found[1].strip()

    def goodput(self, name: str) -> float:
        return json.loads(self.part(f"{name}.iperf"))["end"]["sum_received"]["bits_per_second"]

    def socket(self, name: str, field: str) -> float:
        """A figure of ss of the connection that carries the data."""
        (data,) = [line for line in self.part(f"{name}.ss").splitlines() if "delivered_ce" in line]
        return float(re.search(rf"\b{field}:([\d.]+)", data)[1])


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    return Said(tmp_path_factory.mktemp("sandbox"), 8)


def test_the_status_of_the_command_comes_back(said):
    assert said.status == 7, said.err
    assert "3 packets transmitted, 3 received, 0% packet loss" in said.part("ping")
    links = said.part("links").splitlines()
    assert [line.split()[0] for line in links] == ["lane", "eth0", "eth0"]
    assert said.part("tools").count("/bin/") == 4


def marked_and_shaped(said, name, low):
    """The shaper is never exceeded. How much of its rate is used depends on the machine: `low` is a share."""
    assert low * MOST < said.goodput(name) < 1.03 * MOST
    assert said.socket(name, "delivered_ce") > 5
    assert " ecn " in said.part(f"{name}.ss")


def test_tcp_is_shaped_and_marked_by_stock_tc(said):
    marked_and_shaped(said, "red", 0.5)
    tbf, red = (
        next(each for each in json.loads(said.part("red.tc")) if each["kind"] == kind) for kind in ("tbf", "red")
    )
    assert tbf["offloaded"] and red["offloaded"]
    assert red["marked"] > 5 and red["packets"] > 500


def test_tcp_is_marked_by_dualpi2_over_netlink(said):
    assert "2 queues" in said.part("ctl")
    marked_and_shaped(said, "dualpi2", 0.5)
    assert "none.toml" in said.part("wrong") and said.part("wrong").endswith("ended with 2")


@at_night
def test_goodput_is_the_shapers_rate_and_delay_the_target(tmp_path):
    """Needs a machine with a free processor."""
    said = Said(tmp_path, 30)
    for name in ("red", "dualpi2"):
        marked_and_shaped(said, name, 0.95)
        assert 10 < said.socket(name, "rtt") < 60


def children(pid: int) -> dict[str, int]:
    """Programs that a process has started: {name: pid}."""
    found = subprocess.run(["ps", "-ww", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    lines = [line.split(None, 1) for line in found.splitlines()]
    names = {"vermilion-device": "card", "qemu-system-x86_64": "machine"}
    return {names[name]: int(number) for number, words in lines for name in names if name in words}


@contextmanager
def begun(*words):
    """A sandbox whose command has begun and sleeps."""
    process = start("--run", "echo begun; sleep 1000", *words)
    try:
        assert process.stdout.readline() == "begun\n", process.stderr.read()
        programs = children(process.pid)
        assert set(programs) == {"card", "machine"}
        yield process, programs
    finally:
        process.kill()
        process.wait()


def alive(pids) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize(("name", "text"), [("card", "the simulated card was killed by SIGKILL"), ("machine", "QEMU was killed by SIGKILL")])  # fmt: skip
def test_a_program_that_is_killed_ends_the_sandbox(name, text):
    with begun() as (process, programs):
        os.kill(programs[name], signal.SIGKILL)
        began = time.monotonic()
        _, err = process.communicate(timeout=60)
    assert time.monotonic() - began < 20
    assert process.returncode == 125 and text in err.splitlines()[-1]
    assert not alive(programs.values())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_of_a_sandbox_that_is_stopped(number):
    with begun() as (process, programs):
        process.send_signal(number)
        process.communicate(timeout=60)
    assert process.returncode == (143 if number == signal.SIGTERM else -number)
    until = time.monotonic() + 20
    while alive(programs.values()) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(programs.values())


def test_bad_input_is_refused(tmp_path):
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    for words, more, text in (
        (["--run", " "], {}, "there is no command"),
        ([], {}, "there is no command"),
        (["--run", "true"], {"TMPDIR": str(deep)}, "legal are 1 to 107"),
        (["--preset", "nic1g"], {}, "--preset"),
    ):
        process = start(*words, **more)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (2, "") and text in err and err.count("\n") == 1


def test_a_shell_at_a_terminal():
    main, other = pty.openpty()
    process = subprocess.Popen(
        COMMAND, stdin=other, stdout=other, stderr=other, env=environment(), start_new_session=True
    )
    os.close(other)
    seen = b""

    def until(text: bytes):
        nonlocal seen
        limit = time.monotonic() + PATIENCE_S
        while text not in seen:
            assert select.select([main], [], [], max(0, limit - time.monotonic()))[0], seen
            seen += os.read(main, 4096)

    try:
        until(b"sandbox# ")
        os.write(main, b"a ping -c 1 b | grep -c 'bytes from'; exit 5\n")
        until(b"\n1\r")
        assert process.wait(60) == 5
    finally:
        process.kill()
        process.wait()
        os.close(main)
