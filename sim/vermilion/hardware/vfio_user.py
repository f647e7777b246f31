"""A small vfio-user client: a PCI device behind a Unix socket, used without a virtual machine.

The specification is QEMU's docs/interop/vfio-user.rst; flags and indices are those of Linux' vfio.h. Every call waits at most `timeout`
seconds; where the server is gone, or does not answer, it raises Gone. What the server refuses raises Refused, with its errno.
"""

import array
import json
import mmap
import os
import socket
import struct
from dataclasses import dataclass

HEADER = struct.Struct("<HHIII")  # id, command, size, flags, error
ACCESS = struct.Struct("<QII")  # offset, region, count
REPLY, NO_REPLY, ERROR = 0x1, 0x10, 0x20
VERSION, DMA_MAP, DMA_UNMAP, GET_INFO, GET_REGION_INFO = 1, 2, 3, 4, 5
GET_IRQ_INFO, SET_IRQS, REGION_READ, REGION_WRITE, RESET = 7, 8, 9, 10, 13
BAR0, BAR2, CONFIG = 0, 2, 7
MSIX = 2
DATA_NONE, DATA_BOOL, DATA_EVENTFD, ACTION_MASK, ACTION_TRIGGER = 1, 2, 4, 8, 32
CAPABILITIES = {"max_msg_fds": 8, "max_data_xfer_size": 1 << 20, "max_dma_maps": 64, "pgsizes": 4096}


class Gone(ConnectionError):
    """The server has closed the connection, or does not answer in time."""


class Refused(OSError):
    """The server's answer to a command is an error."""


@dataclass(frozen=True)
class Region:
    """What the server says of a region: VFIO_REGION_INFO_FLAG_*, and its bytes."""

    flags: int
    size: int


class Client:
    """A connection, with the version agreed on. Regions are BAR0, BAR2 and CONFIG; offsets in bytes, words little-endian."""

    def __init__(self, path, timeout: float = 5, capabilities: dict | None = None):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.next_id = 0
        offered = CAPABILITIES if capabilities is None else capabilities
        text = json.dumps({"capabilities": offered}).encode() + b"\0"
        reply = self.command(VERSION, struct.pack("<HH", 0, 1) + text)
        self.version = struct.unpack_from("<HH", reply)
        self.capabilities = json.loads(reply[4:].rstrip(b"\0") or b"{}").get("capabilities", {})

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, raw: bytes, fds=()):
        """Bytes as they are, with file descriptors."""
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            rest = raw[self.socket.sendmsg([raw], ancillary) :]
            if rest:
                self.socket.sendall(rest)
        except OSError as error:
            raise Gone(f"the device takes no message: {error}") from None

    def exactly(self, size: int) -> bytes:
        out = b""
        while len(out) < size:
            try:
                part = self.socket.recv(size - len(out))
            except OSError as error:
                raise Gone(f"the device does not answer: {error}") from None
            if not part:
                raise Gone("the device has closed the connection")
            out += part
        return out

    def receive(self) -> tuple[tuple, bytes]:
        """A reply: its header (id, command, size, flags, error), its payload."""
        header = HEADER.unpack(self.exactly(HEADER.size))
        return header, self.exactly(header[2] - HEADER.size)

    def command(self, number: int, payload: bytes = b"", fds=(), reply: bool = True) -> bytes:
        """Sends a command and gives its reply's payload; without `reply` only sends it."""
        self.next_id = (self.next_id + 1) & 0xFFFF
        flags = 0 if reply else NO_REPLY
        self.send(HEADER.pack(self.next_id, number, HEADER.size + len(payload), flags, 0) + payload, fds)
        if not reply:
            return b""
        (name, echoed, _, flags, error), body = self.receive()
        if (name, echoed, flags & REPLY) != (self.next_id, number, REPLY):
            raise Gone(f"a reply to message {name}, command {echoed} came for {self.next_id}, {number}")
        if flags & ERROR:
            raise Refused(error, os.strerror(error))
        return body

    def info(self) -> tuple[int, int, int]:
        """Flags, number of regions, number of interrupt types."""
        return struct.unpack("<IIII", self.command(GET_INFO, struct.pack("<IIII", 16, 0, 0, 0)))[1:]

    def region(self, index: int) -> Region:
        reply = self.command(GET_REGION_INFO, struct.pack("<IIIIQQ", 32, 0, index, 0, 0, 0))
        _, flags, _, _, size, _ = struct.unpack("<IIIIQQ", reply)
        return Region(flags, size)

    def interrupts(self, index: int) -> int:
        """How many there are of a type."""
        return struct.unpack("<IIII", self.command(GET_IRQ_INFO, struct.pack("<IIII", 16, 0, index, 0)))[3]

    def read(self, region: int, offset: int, count: int) -> bytes:
        return self.command(REGION_READ, ACCESS.pack(offset, region, count))[ACCESS.size :]

    def write(self, region: int, offset: int, data: bytes, posted: bool = False):
        """`posted`: without waiting for the answer, as writes of a bus are."""
        self.command(REGION_WRITE, ACCESS.pack(offset, region, len(data)) + data, reply=not posted)

    def read32(self, address: int, region: int = BAR0) -> int:
        return int.from_bytes(self.read(region, address, 4), "little")

    def write32(self, address: int, value: int, region: int = BAR0, posted: bool = False):
        self.write(region, address, value.to_bytes(4, "little"), posted)

    def reset(self):
        self.command(RESET)

    def set_irqs(self, flags: int, start: int, count: int, fds=(), data: bytes = b"", index: int = MSIX):
        payload = struct.pack("<IIIII", 20 + len(data), flags, index, start, count) + data
        self.command(SET_IRQS, payload, fds)

    def wire(self, eventfds: list[int], start: int = 0):
        """Ties eventfds to vectors."""
        self.set_irqs(DATA_EVENTFD | ACTION_TRIGGER, start, len(eventfds), eventfds)

    def unwire(self):
        """Takes all eventfds away."""
        self.set_irqs(DATA_NONE | ACTION_TRIGGER, 0, 0)

    def dma_map(self, address: int, size: int, fd: int | None = None, offset: int = 0, flags: int = 3):
        """Offers memory to the device: of a file, or by its address alone. `flags`: 1 may be read, 2 written."""
        self.command(DMA_MAP, struct.pack("<IIQQQ", 32, flags, offset, address, size), () if fd is None else (fd,))

    def dma_unmap(self, address: int, size: int, flags: int = 0):
        self.command(DMA_UNMAP, struct.pack("<IIQQ", 24, flags, address, size))


class Memory:
    """Memory that a client shares with the device."""

    def __init__(self, size: int):
        self.fd = os.memfd_create("vfio-user", os.MFD_CLOEXEC)
        os.ftruncate(self.fd, size)
        self.bytes = mmap.mmap(self.fd, size)

    def close(self):
        self.bytes.close()
        os.close(self.fd)


class Control:
    """The device's control channel: sim/harness/device/control_channel.h."""

    def __init__(self, path, timeout: float = 60):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rw")

    def ask(self, word: str, **fields) -> dict:
        """The reply; a refusal raises Refused with the device's sentence."""
        self.lines.write(json.dumps({"do": word, **fields}) + "\n")
        self.lines.flush()
        text = self.lines.readline()
        if not text:
            raise Gone("the device has closed the control channel")
        reply = json.loads(text)
        if not reply["ok"]:
            raise Refused(0, reply["error"])
        return reply

    def close(self):
        self.lines.close()
        self.socket.close()
