"""vermilionctl in the sandbox's guest: it runs on the host, in the folder where the sandbox was started, and its netlink messages go to the guest's kernel.

The guest has no Python. Its `vermilionctl` sends its words over a serial line: a line of base64, of words that end in a zero byte, the first the
netdev's number. The reply is a line "STATUS BASE64" with what the program said. A second line carries netlink (netlink_relay.py).
"""

import base64
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from vermilion.toolchain import build

from .netlink_relay import Relay

RUNNER = "vermilion.commands.sandbox_ctl"
GONE = 125
SCRIPT = """#!/bin/bash
until mkdir /tmp/vermilionctl 2> /dev/null; do sleep 0.1; done
trap 'rmdir /tmp/vermilionctl' EXIT
exec 9<> /dev/ttyS2
stty -F /dev/ttyS2 raw -echo
printf '%s\\n' "$(printf '%s\\0' "$(cat /sys/class/net/lane/ifindex)" "$@" | base64 -w 0)" >&9
read -r status data <&9
base64 -d <<< "$data"
exit "$status"
"""


def relay_program(say=build.quiet) -> bytes:
    """netlink_relay for the guest, linked statically."""
    source, target = build.ROOT / "sw_driver/tests/netlink_relay.c", build.BUILD / "netlink_relay"
    command = ["gcc", "-O1", "-static", "-I", build.ROOT / "sw_driver/netlink", source, "-o", target]
    with build.locked("netlink_relay.lock"):
        build.step(
            target,
            build.digest([source], *map(str, command)),
            say,
            "the guest's netlink relay",
            lambda: build.run(command, target.with_name("netlink_relay.log")),
        )
    return target.read_bytes()


class Host(threading.Thread):
    """Answers the guest's calls until QEMU closes the line."""

    def __init__(self, words: Path, netlink: Path):
        super().__init__(daemon=True)
        self.words, self.netlink = words, netlink

    def run(self):
        try:
            with connected(self.words) as line, line.makefile("rb") as asked:
                relay = None
                for request in asked:
                    relay = relay or Relay(self.netlink)
                    index, *words = base64.b64decode(request).decode(errors="replace").split("\0")[:-1]
                    status, said = call(relay, index, words)
                    line.sendall(b"%d %s\n" % (status, base64.b64encode(said)))
        except OSError:
            return  # QEMU is gone


def connected(path: Path) -> socket.socket:
    """The socket that QEMU makes as it starts."""
    until = time.monotonic() + 60
    while True:
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(str(path))
            return line
        except OSError:
            line.close()
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def call(relay: Relay, index: str, words: list[str]) -> tuple[int, bytes]:
    try:
        line = relay.fresh()
    except TimeoutError as error:
        return GONE, f"vermilionctl: {error}\n".encode()
    with line:
        command = [sys.executable, "-m", RUNNER, str(line.fileno()), index, *words]
        done = subprocess.run(
            command,
            pass_fds=[line.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    return done.returncode, done.stdout
