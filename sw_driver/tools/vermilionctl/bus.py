"""The ways to a card's registers, as the driver library's bus: 32-bit words at byte offsets of the blocks' address space.

    pci:0000:03:00.0   the function's BAR 0, mapped from sysfs; no driver may be bound, as the library's state would be shared. Of a Corundum NIC the BAR 2,
                       that of its application block; Corundum's own driver may be bound, Vermilion's not
    unix:SOCKET        the lane in simulation (`./vermilion device SOCKET --keep`), by the vfio-user protocol

A way that breaks reads as all ones from then on, as a card does that was pulled out, and keeps the reason: an exception must not pass through C.
"""

import ctypes
import mmap
import os
import re
import struct
from pathlib import Path

from vermilion.hardware import vfio_user
from vermilion.hardware.driver_library import C

from .errors import DeviceError, UserError

ALL_ONES = 0xFFFFFFFF
SYSFS = Path("/sys/bus/pci/devices")
IDENTITY = {"vendor": 0x1AF4, "device": 0x10F5, "subsystem_vendor": 0x1AF4, "subsystem_device": 0x564D}
CORUNDUM = {"vendor": 0x1234, "device": 0x1001}  # whatever its board is
APP_BLOCK = C.VM_VENDOR << 16 | 2  # the first word of a NIC's block of registers
AUXILIARY = "mqnic.app_564d0001.*/driver"  # a link, where Vermilion's driver has the block
PATIENCE_S = 10


class Bus:
    """`read(offset)` and `write(offset, value)` of a subclass, as `C.Bus`; `broken` is why all reads give all ones."""

    def __init__(self, name: str, size: int):
        self.name = name
        self.broken: BaseException | None = None
        kinds = dict(C.Bus._fields_)
        calls = [kinds["read"](self._read), kinds["write"](self._write), kinds["pause"]()]
        self.as_c = C.Bus(*calls, None, 0, min(size, ALL_ONES))

    def _read(self, _context, offset: int) -> int:
        if self.broken is None:
            try:
                return self.read(offset)
            except BaseException as error:  # Ctrl-C too
                self.broken = error
        return ALL_ONES

    def _write(self, _context, offset: int, value: int):
        if self.broken is None:
            try:
                self.write(offset, value)
            except BaseException as error:
                self.broken = error

    def read(self, offset: int) -> int:
        raise NotImplementedError

    def write(self, offset: int, value: int):
        raise NotImplementedError

    def close(self):
        pass


def number_in(path: Path) -> int:
    return int(path.read_text(), 16)


class PciBus(Bus):
    """A BAR of a PCI function. Each access is one aligned 32-bit load or store."""

    def __init__(self, address: str, sysfs: Path | None = None):
        folder = (sysfs or SYSFS) / address
        name, bar = f"pci:{address}", 0
        try:
            found = {what: number_in(folder / what) for what in IDENTITY}
            if CORUNDUM.items() <= found.items():
                bar = 2
            elif found != IDENTITY:
                shown = ":".join(f"{found[what]:04x}" for what in IDENTITY)
                wanted = ":".join(f"{number:04x}" for number in IDENTITY.values())
                raise UserError(f"{name} is no Vermilion: its numbers are {shown}, not {wanted}")
            driver = (folder / "driver").resolve().name if (folder / "driver").exists() else None
            if bar and list(folder.glob(AUXILIARY)):
                driver = "vermilion"
            if driver and not (bar and driver == "mqnic"):
                through = (
                    "; go through it: --device netlink:IFNAME"
                    if driver == "vermilion"
                    else ", which must let go of it first"
                )
                raise UserError(f"{name} belongs to the kernel's driver {driver}{through}")
            if (folder / "enable").read_text().strip() == "0":
                raise DeviceError(f"{name} is not enabled; as root: echo 1 > {folder / 'enable'}")
            handle = os.open(folder / f"resource{bar}", os.O_RDWR | os.O_SYNC | os.O_CLOEXEC)
            try:
                size = os.fstat(handle).st_size
                self.map = mmap.mmap(handle, size) if size else None
            finally:
                os.close(handle)
        except FileNotFoundError:
            numbers = ":".join(f"{CORUNDUM[what]:04x}" for what in CORUNDUM) if bar else "1af4:10f5"
            raise UserError(
                f"{name}: there is no such PCI function with a BAR {bar}; see lspci -D -d {numbers}"
            ) from None
        except PermissionError as error:
            needs = "it takes root, and a kernel that is not locked down"
            raise UserError(f"{name}: may not be accessed: {error.strerror}; {needs}") from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            hint = "; a kernel that keeps a driver's BARs to it needs iomem=relaxed" if bar and driver else ""
            raise DeviceError(f"{name}: cannot be mapped: {why}{hint}") from None
        if not self.map:
            raise DeviceError(f"{name}: its BAR {bar} is empty")
        self.words = (ctypes.c_uint32 * (size // 4)).from_buffer(self.map)
        super().__init__(name, size)
        if bar and self.words[0] != APP_BLOCK:
            first = self.words[0]
            self.close()
            raise UserError(
                f"{name} is a Corundum NIC whose application block is not Vermilion's: BAR 2 begins with 0x{first:08x}, not 0x{APP_BLOCK:08x}"
            )

    def read(self, offset: int) -> int:
        return self.words[offset // 4]

    def write(self, offset: int, value: int):
        self.words[offset // 4] = value

    def close(self):
        del self.words  # the map may not close while it is looked at
        self.map.close()


class SocketBus(Bus):
    """BAR 0 of a vfio-user server. Writes are posted: a later read finds out whether they came."""

    def __init__(self, path: str):
        name = f"unix:{path}"
        try:
            self.client = vfio_user.Client(path, timeout=PATIENCE_S)
            size = self.client.region(vfio_user.BAR0).size
        except (FileNotFoundError, ConnectionRefusedError):
            raise UserError(f"{name}: nobody listens there; start ./vermilion device {path} --keep") from None
        except PermissionError:
            raise UserError(f"{name}: may not be accessed by this user; the socket is its owner's alone") from None
        except vfio_user.Gone as gone:
            raise DeviceError(f"{name}: {gone}; a device serves one client at a time") from None
        except (OSError, vfio_user.Refused, ValueError, struct.error) as error:
            raise DeviceError(f"{name}: is no vfio-user device: {error}") from None
        super().__init__(name, size)

    def read(self, offset: int) -> int:
        return self.client.read32(offset)

    def write(self, offset: int, value: int):
        self.client.write32(offset, value, posted=True)

    def close(self):
        self.client.close()


def normal(device: str) -> str:
    """The one name of a card that may be written in several ways: with or without PCI domain, by a relative path or through a link."""
    kind, _, place = device.partition(":")
    if kind == "pci":
        found = re.fullmatch(r"([0-9a-f]{4,8}:)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", place.lower())
        if found:
            return f"pci:{found[1] or '0000:'}{found[2]}"
    if kind == "unix" and place and "\0" not in place:
        try:
            return f"unix:{Path(place).resolve()}"
        except (OSError, RuntimeError) as error:  # links in a ring
            raise UserError(f"{device}: cannot be found: {getattr(error, 'strerror', None) or error}") from None
    raise UserError(f"--device is {device}; legal are pci:0000:03:00.0, unix:SOCKET and netlink:IFNAME")


def opened(device: str) -> Bus:
    """The way to a card that `--device` names, `pci:` or `unix:`."""
    kind, _, place = device.partition(":")
    if kind == "pci":
        return PciBus(normal(device).removeprefix("pci:"))
    normal(device)  # what is neither is refused
    return SocketBus(place)  # as it was written: a resolved path may be longer than a socket's may be
