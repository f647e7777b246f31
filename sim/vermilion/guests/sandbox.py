"""The sandbox's two programs: the simulated card in real time, and QEMU with a guest that has it. docs/tutorials/sandbox.md."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import termios
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from vermilion.toolchain import build

from . import guest, guest_tools, sandbox_guest

FAILED = 125  # the sandbox, not the command in it
ENDS_S = 3  # for a program that was asked to end
CONNECTS_S = 60  # for QEMU
PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Failed(Exception):
    """The sandbox cannot go on; a sentence."""


def reason(process) -> str:
    """How a program ended."""
    status = process.returncode
    return f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


@contextmanager
def started(command: list, log: Path, **words):
    """A program that is ended at the end of the block, and dies with this one."""
    with log.open("wb") as out:
        process = subprocess.Popen([str(word) for word in command], stderr=out, preexec_fn=end_with_parent, **words)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def terminal_kept():
    """QEMU makes a terminal raw, and leaves it so if it is killed."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


@contextmanager
def card(program: Path, folder: Path):
    """The device, listening at `folder/device`."""
    places = ["--frames-from", folder / "in", "--frames-to", folder / "b"]
    command = [program, "--socket", folder / "device", "--control", folder / "control", "--wait", CONNECTS_S]
    with started([*command, "--real-time", *places], folder / "card.log", stdout=subprocess.PIPE) as process:
        if not process.stdout.readline().startswith(b"listening"):
            process.wait()
            raise Failed(f"the simulated card {reason(process)}: {said(folder / 'card.log')}")
        yield process


def said(log: Path) -> str:
    """The last line of a log."""
    lines = log.read_text(errors="replace").split("\n") if log.exists() else []
    return next((line for line in reversed(lines) if line.strip()), "it said nothing")


class Sandbox:
    """One run. `command`: a script for the guest's shell, or None for a shell at this terminal."""

    def __init__(self, folder: Path, program: Path, command: str | None):
        self.folder, self.program, self.command = folder, program, command
        self.control = folder / "control"

    def prepare(self, say=build.quiet):
        size = shutil.get_terminal_size()
        terminal = size.columns, size.lines, os.environ.get("TERM", "dumb")
        files = sandbox_guest.files(self.command, terminal, say)
        (self.folder / "initramfs").write_bytes(guest.archive(files))

    def run(self, ready=lambda: None) -> int:
        """The status of the guest's command, or of its shell. `ready` is called when the card is there. Raises Failed."""
        console = self.folder / "console"  # what tells the status
        with terminal_kept(), card(self.program, self.folder) as device:
            ready()
            guest_tools.Host(self.folder / "words", self.folder / "netlink").start()
            if self.command is None:
                line = sandbox_guest.machine(self.folder, "mon:stdio", f"file:{console}")
                with started(line, self.folder / "qemu.log") as machine:
                    self.wait(device, machine)
            else:
                line = sandbox_guest.machine(self.folder, f"file:{console}", "stdio")
                streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
                with started(line, self.folder / "qemu.log", **streams) as machine:
                    copying = threading.Thread(target=copy, args=(machine.stdout,), daemon=True)
                    copying.start()
                    self.wait(device, machine)
                    copying.join(ENDS_S)
            found = sandbox_guest.STATUS.findall(console.read_bytes())
            if found:
                return int(found[-1])
            if self.command is None and machine.returncode == 0:
                return 0  # Ctrl-A X
            raise Failed(f"the guest ended without a status: {said(console)}")

    def wait(self, device, machine):
        """Until QEMU ends. The device ends as its client goes, so it may be gone a moment before."""
        while machine.poll() is None:
            if device.poll() is not None:
                try:
                    machine.wait(1)
                except subprocess.TimeoutExpired:
                    raise Failed(f"the simulated card {reason(device)}: {said(self.folder / 'card.log')}") from None
            time.sleep(0.05)
        if machine.returncode != 0:
            raise Failed(f"QEMU {reason(machine)}: {said(self.folder / 'qemu.log')}")
        if device.poll() == 1:  # a defect of the lane
            raise Failed(said(self.folder / "card.log"))


def copy(stream):
    """The command's output to ours, as it comes."""
    while data := os.read(stream.fileno(), 1 << 16):
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            return
