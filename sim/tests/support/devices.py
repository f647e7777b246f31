"""Devices for tests: each a process of its own, ended by the test that started it, by its pid."""

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from vermilion.hardware import vfio_user
from vermilion.toolchain import build


class Device:
    def __init__(self, process, folder):
        self.process, self.folder = process, folder
        self.socket, self.control = folder / "device", folder / "control"

    def client(self, **words):
        return vfio_user.Client(self.socket, **words)

    def channel(self):
        return vfio_user.Control(self.control)

    def log(self) -> list[str]:
        return (self.folder / "log").read_text().splitlines()


@contextmanager
def running(program, *options, wait=300):
    """A device that listens; whatever the test has left of it is killed. Sockets' paths must be short: not in pytest's folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [program, "--socket", folder / "device", "--control", folder / "control", "--wait", str(wait)]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(
                [str(word) for word in (*command, *options)], stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            assert process.stdout.readline() == f"listening {folder / 'device'}\n", (folder / "log").read_text()
            yield Device(process, folder)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def configure(client, program, words):
    """Gives the lane a whole configuration through BAR 0, as a driver does."""
    listed = subprocess.run([program, "--list-writes", words], capture_output=True, text=True, check=True).stdout
    writes = [tuple(int(word, 0) for word in line.split()) for line in listed.splitlines()]
    for address, value in writes:
        client.write32(address, value, posted=True)
    return writes


def registers_page() -> str:
    return (build.ROOT / "docs/registers.md").read_text()
