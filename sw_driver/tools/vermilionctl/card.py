"""A lane of a card by its registers: the driver library's calls, whose errors become exceptions with a sentence."""

import ctypes
from contextlib import contextmanager
from ctypes import byref

from vermilion.hardware.driver_library import C, library

from . import bus as buses
from . import registers
from .errors import DeviceError, UserError

MAX_BLOCKS = 64
LANE = C.VM_VENDOR << 16 | C.VM_BLOCK_LANE
MIXED_TRIES = 5


class Lane:
    """One egress of a lane behind a bus, with queues from 0. Everything raises DeviceError where the card does not do as told."""

    def __init__(self, bus, number: int = 0, egress: int = 0):
        self.bus, self.number, self.egress = bus, number, egress
        run, found, blocks = library(), ctypes.c_uint32(), (C.Block * MAX_BLOCKS)()
        self.done(run.vm_blocks(byref(bus.as_c), 0, blocks, MAX_BLOCKS, byref(found)))
        lanes = [block for block in blocks[: min(found.value, MAX_BLOCKS)] if block.type == LANE]
        self.lanes = len(lanes)
        if not lanes:
            raise DeviceError(f"{bus.name}: no lane of Vermilion is behind this address")
        if number >= len(lanes):
            raise UserError(f"--lane is {number}; {bus.name} has lanes 0 to {len(lanes) - 1}")
        self.lane = C.Lane()
        error = run.vm_lane_open(byref(self.lane), byref(bus.as_c), byref(lanes[number]), egress)
        fault, text = C.Refusal(), ctypes.create_string_buffer(256)
        if error == C.VM_ERROR_SHAPE and not run.vm_shape_check(byref(self.has), byref(fault)):
            run.vm_refusal_text(byref(fault), text, len(text))
            raise DeviceError(f"{bus.name}: the registers of lane {number} say that {text.value.decode()}")
        if error == C.VM_ERROR_EGRESS:
            most = max(self.has.egresses, 1) - 1
            legal = f"has egresses 0 to {most}" if most else "has one egress, 0"
            raise UserError(f"--egress is {egress}; lane {number} of {bus.name} {legal}")
        self.done(error)

    @property
    def has(self):
        return self.lane.has

    @property
    def several(self) -> bool:
        """Other egresses share buffer, pool, seeds and the registers by which all are set."""
        return self.has.egresses > 1

    def shows(self, name: str) -> bool:
        """Whether a lane-wide register has the value of this egress: several egresses set their ports by the same registers."""
        return not (self.several and name.startswith("port_")) or (
            self.read(registers.at("port_egress")) == self.egress
        )

    def has_seeds(self) -> bool:
        return any(self.read(registers.at("seed", i)) for i in range(4))

    def pool_cells(self) -> int:
        """The size of the pool, which all egresses share."""
        return self.read(registers.at("pool_size")) if self.has_pool() else 0

    @property
    def version(self) -> tuple[int, int]:
        return self.lane.block.version >> 16, self.lane.block.version & 0xFFFF

    def has_pool(self) -> bool:
        return library().vm_lane_has_pool(byref(self.lane))

    has_pause = has_pool  # the same minor version brought both

    def done(self, error: int):
        """Raises where an error came back, with what broke the way to the card, if that did."""
        if not error:
            return
        if self.bus.broken is not None:
            if not isinstance(self.bus.broken, Exception):
                raise self.bus.broken
            raise DeviceError(f"{self.bus.name}: the card is gone: {self.bus.broken}") from None
        text = library().vm_error_text(error).decode()
        if error == C.VM_ERROR_READBACK:
            text += f", at 0x{self.lane.at:04x}; is somebody else writing to this card?"
        raise DeviceError(f"{self.bus.name}: {text}")

    def call(self, name: str, *arguments):
        self.done(getattr(library(), f"vm_lane_{name}")(byref(self.lane), *arguments))

    def read(self, address: int) -> int:
        value = ctypes.c_uint32()
        self.call("read", address, byref(value))
        return value.value

    def write(self, address: int, value: int):
        """Writes a register, and reads it back."""
        library().vm_lane_write(byref(self.lane), address, value)
        if self.read(address) != value:
            self.lane.at = address
            self.done(C.VM_ERROR_READBACK)

    def write_queue(self, queue: int, words):
        self.call("write_queue", queue, byref(words))

    def write_class(self, dscp: int, queue: int, colour: int):
        self.call("write_class", dscp, queue, colour)

    def write_port(self, port):
        self.call("write_port", byref(port))

    def write_seed(self, seed: int):
        self.call("write_seed", ctypes.c_uint64(seed))

    def statistics(self, queue: int):
        """A snapshot; again where another program took one in between."""
        out, error = C.Statistics(), 0
        for _ in range(MIXED_TRIES):
            error = library().vm_lane_statistics(byref(self.lane), queue, byref(out))
            if error != C.VM_ERROR_MIXED:
                break
        self.done(error)
        return out

    def lost(self, entry: int):
        out = C.Count()
        self.call("lost", entry, byref(out))
        return out


@contextmanager
def lane(device: str, number: int = 0, egress: int = 0):
    """A lane for as long as the block lasts."""
    bus = buses.opened(device)
    try:
        yield Lane(bus, number, egress)
    finally:
        bus.close()
