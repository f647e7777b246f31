"""A command's time with a lane: `opened(device, lane)` gives what the commands need, whichever way leads there.

    has()            capabilities          settings()         what the lane was given, a Record
    statistics(q)    a queue's counters    write(wanted)      brings the lane to another Record
    lost(), events() of the whole lane     registers(record)  every register value, by part
    flush(q)         discards its packets   pause(stop)        stops the egress, or lets it send

On the registers (`pci:`, `unix:`) the lane's lock is held all the while: select, shadow and window are for one at a time.
"""

import ctypes
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref

from vermilion.configuration.reports import Reports
from vermilion.hardware.driver_library import C, library

from . import card, counters, programming, record, registers, writing
from .errors import UserError


@contextmanager
def signals_wait() -> Iterator[None]:
    """Signals that ask the command to end do so behind it: what it does in between is not left half done."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread runs handlers
        yield
        return
    came: list[int] = []
    stops = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda number, _frame: came.append(number)) for number in stops}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
    for late in came:
        signal.raise_signal(late)


class Registers:
    """An egress of a lane by its registers (`pci:`, `unix:`); `netlink.Kernel` has the same methods."""

    is_netdev = False

    def __init__(self, device: str, lane):
        self.device, self.lane, self.number = device, lane, lane.number

    def has(self) -> dict:
        names = [name for name, _ in type(self.lane.has)._fields_]
        major, minor = self.lane.version
        found = {"version": f"{major}.{minor}"} | {name: getattr(self.lane.has, name) for name in names}
        return found | ({"egress": self.lane.egress} if self.lane.several else {})

    def lanes(self) -> int:
        return self.lane.lanes

    def load(self, path: str):
        return programming.load(path, self.lane)

    def settings(self):
        return record.believed(self.device, self.lane)

    def names(self) -> dict[int, str]:
        """Of queues that were written from here; none where the record is not the card's."""
        return record.names(self.device, self.lane)

    def write(self, wanted, everything: bool = False, progress=lambda done, total: None):
        """`everything`: whatever the lane has now, and whoever wrote it."""
        kept = record.begun(self.device, self.lane) if everything else self.settings()
        writing.write(self.lane, kept, wanted, everything, progress)

    def has_pool(self, written) -> bool:
        """Whether there is a pool behind what was written."""
        return self.lane.pool_cells() > 0 if written.egress else bool(written.pool)

    def statistics(self, queue: int) -> dict:
        return counters.of_queue(queue, self.lane.statistics(queue))

    def lost(self) -> list[dict]:
        found = [self.lane.lost(entry) for entry in range(self.lane.has.inputs)]
        return [{"packets": each.packets, "bytes": each.bytes} for each in found]

    def events(self) -> dict:
        read = lambda name, words: {word: self.lane.read(registers.at(name, i)) for i, word in enumerate(words)}
        protect = self.lane.has.protect
        return {
            "flow_events": read("flow_events", counters.FLOW_EVENTS) if self.lane.has.flows else {},
            "flow_collisions": self.flow_collisions() if self.lane.has.fq else None,
            "upsets": read("upsets", counters.UPSETS) if protect else {},
            "refreshes_skipped": self.lane.read(registers.at("refreshes_skipped")),
        }

    def flow_collisions(self) -> int:
        """Packets that were enqueued after one of another flow in a queue of a group."""
        low = self.lane.read(registers.at("flow_collisions_low"))  # this read takes the high word along
        return low | self.lane.read(registers.at("flow_collisions_high")) << 32

    def clear(self):
        self.lane.call("clear_statistics")

    def may_flush(self):
        """UserError where the build cannot."""
        if not library().vm_lane_has_flush(byref(self.lane.lane)):
            raise UserError("flush needs registers 1.4 or newer; this build's are older")

    def flush(self, queue: int | None) -> bool:
        """Discards what stands in a queue, or in all queues of the egress; whether it was seen empty. Signals wait until the flush has ended."""
        with signals_wait():
            error = library().vm_lane_flush(byref(self.lane.lane), C.VM_ALL_QUEUES if queue is None else queue)
        if error == C.VM_ERROR_HELD:
            return False
        self.lane.done(error)
        return True

    def pause(self, stop: bool):
        """Stops the egress between two frames, or lets it send again."""
        if not self.lane.has_pause():
            raise UserError("pause needs registers 1.3 or newer; this build's are older")
        self.lane.call("pause", stop)

    def is_paused(self) -> bool | None:
        """None where the lane does not tell."""
        stopped = ctypes.c_bool()
        if not self.lane.has_pause():
            return None
        self.lane.call("paused", byref(stopped))
        return stopped.value

    def may_report(self):
        """UserError where the build cannot."""
        if not self.lane.has.reports:
            raise UserError("this build reports no drops and marks")

    def report(self, wanted: Reports | None, names: dict[int, str]):
        """Selects what is reported of the egress's queues, or nothing. Sampling, rate and header are of the whole lane. `names`: of queues, for their own reasons."""
        self.may_report()
        if wanted is not None:
            for register, value in wanted.registers():
                self.lane.write(registers.at(*register), value)
        for queue in range(self.lane.has.queues):
            name = names.get(queue, "")
            of_group = re.sub(r"\.\d+$", "", name)  # the queues of a group are NAME, NAME.1, ...
            mask = wanted.mask(name if name in wanted.queues else of_group) if wanted else 0
            self.lane.write(registers.at("report_select"), mask | self.lane.lane.first + queue << 16)

    def reported(self) -> dict[str, int]:
        """Counts of the lane's reports since its reset."""
        self.may_report()
        names = ("offered", "lost", "limited", "headless")
        return {name: self.lane.read(registers.at("report_events", i)) for i, name in enumerate(names)}

    def registers(self, held) -> dict:
        return registers.table(held, self.lane)


@contextmanager
def opened(device: str, number: int = 0, egress: int = 0):
    """An egress of lane `number` of a card, as `--device` names it; DeviceError or UserError with a sentence."""
    if device.startswith("netlink:"):
        from . import netlink

        if egress:
            raise UserError(f"--egress is {egress}; legal with netlink is 0: each egress has a netdev of its own")
        with netlink.opened(device.removeprefix("netlink:")) as found:
            yield found
        return
    with record.locked(device, number), card.lane(device, number, egress) as lane:
        yield Registers(device, lane)
