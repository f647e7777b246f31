"""A record to the card's registers: everything is checked before the first write, and each queue is written whole.

A write that fails or is killed leaves whole queues, old or new, and a record that claims nothing. The next command is then `apply`.
"""

from vermilion.configuration.pool import CELL_BYTES
from vermilion.hardware.driver_library import C, library
from vermilion.values.fields import UserError

from . import registers
from .record import Record

PARTS = ("port", "classes", "ttl_option", "seed", "departures", "pool", "share", "routes")


def port_words(port) -> tuple:
    """The port shaper's words: mantissa and shift of ns a byte, burst in ns."""
    cost = library().vm_cost(port.rate)
    return cost.mant, cost.shift, library().vm_burst_ns(port.burst, port.rate, port.queues)


def write(lane, record: Record, wanted: Record, everything: bool = False, progress=lambda done, total: None):
    """Brings the card from `record` to `wanted`, or writes all of it. UserError: nothing was written.

    The record's file claims nothing from before the first write until after the last, whatever happens in between.
    """
    wanted.departures = any(held.average.update for _, held in wanted.queues.values())
    words = {number: wanted.image(number) for number in sorted(wanted.queues)}  # with every refusal of the library's
    check(lane, record, wanted, words)
    Writing(lane, record, wanted, words, everything, progress).run()


def check(lane, record: Record, wanted: Record, words: dict):
    """Refuses what the card's build lacks."""
    for number in words:
        if number >= lane.has.queues:
            whose = "an egress of this build" if lane.several else "this build"
            raise UserError(f"queue {number}: {whose} has queues 0 to {lane.has.queues - 1}")
        if words[number].victim and number >= lane.has.victims:
            raise UserError(
                f"queue {number}: victim is nearest; this build can do that in {lane.has.victims} queues, from 0"
            )
        if words[number].pie.on and not lane.has.pie:
            raise UserError(f'queue {number} has aqm = "pie"; this build has no PIE')
        if words[number].dualpi2.on and not lane.has.dualpi2:
            raise UserError(f'queue {number} has aqm = "dualpi2"; this build has no DualPI2')
        if words[number].fq and not lane.has.fq:
            raise UserError(f"queue {number} has fq; this build has no groups that hold flows")
        if (words[number].codel.on or words[number].mark_late) and not lane.has.codel:
            raise UserError(
                f"queue {number}: aqm, ce_threshold or mark_at is to mark or drop packets as they leave; this build cannot"
            )
    check_share(lane, record, wanted)
    if (wanted.pool or 0) > CELL_BYTES * lane.has.cells:
        most = f"{CELL_BYTES}B to {CELL_BYTES * lane.has.cells}B, the {lane.has.cells} cells of this build"
        raise UserError(f"pool.size is {wanted.pool}; legal is 0 for none, or {most}")
    if not lane.has_pool() and (wanted.pool or any(held.alpha for held in words.values())):
        raise UserError("pool.size and alpha need registers 1.3 or newer; this build's are older")


def check_share(lane, record: Record, wanted: Record):
    """Refuses reserves that are more than the pool, and a cap below its reserve: then the rules of the pool contradict each other."""
    if wanted.share is None or (wanted.share == record.share and wanted.pool == record.pool):
        return
    (reserve, cap), most = registers.share_cells(wanted.share), lane.has.cells
    for name, cells in (("reserve", reserve), ("cap", cap)):
        if cells > most:
            legal = f"0 for none, or {CELL_BYTES}B to {CELL_BYTES * most}B, the {most} cells of this build"
            raise UserError(f"pool.{name} is {wanted.share[name == 'cap']}; legal is {legal}")
    if cap < reserve:
        raise UserError(
            f"pool.cap is {wanted.share[1]}; legal is 0 for none, or {wanted.share[0]}, the reserve, and more"
        )
    if wanted.of_all:
        return
    size = lane.pool_cells() if wanted.egress else library().vm_pool_cells(wanted.pool or 0)
    others = sum(lane.read(registers.at("pool_reserve", e)) for e in range(lane.has.egresses) if e != lane.egress)
    if not size or reserve + others <= size or (wanted.egress and not reserve):
        return
    if wanted.share == record.share or not reserve:
        least = CELL_BYTES * (reserve + others)
        raise UserError(
            f"pool.size is {wanted.pool or CELL_BYTES * size}; legal is 0 for none, or {least} and more, the reserves of all egresses"
        )
    legal = CELL_BYTES * max(0, size - others)
    raise UserError(
        f"pool.reserve is {wanted.share[0]}; legal is 0 to {legal}, what the pool of {CELL_BYTES * size} B has beside the reserves of other egresses"
    )


class Writing:
    """One write. After each step the record says what the card has by then."""

    def __init__(self, lane, record: Record, wanted: Record, words: dict, everything: bool, progress):
        self.lane, self.record, self.wanted, self.words, self.progress = lane, record, wanted, words, progress
        self.fresh = everything or record.port is None
        self.old = {} if self.fresh else {number: bytes(record.image(number)) for number in record.queues}
        self.changed = [number for number in words if self.old.get(number) != bytes(words[number])]
        self.moved = self.fresh or port_words(record.port) != port_words(wanted.port)
        before = None if self.fresh else record.classes
        asked: list[list[int]] = wanted.classes or []
        self.codes = [code for code, entry in enumerate(asked) if before is None or before[code] != entry]
        self.done, self.total = 0, len(self.changed) + len(self.codes) + 1

    def run(self):
        self.record.unclaim()
        self.begin()
        self.queues()
        self.classes()
        self.whole_lane()
        if self.moved:
            self.lane.write_port(self.wanted.port)
        if self.differs("seed"):
            self.lane.write_seed(self.wanted.seed)
            self.record.seed = self.wanted.seed
        self.progress(self.total, self.total)
        self.record.save()

    def begin(self):
        """What holds already: the port, from which the words of a queue follow, and queues whose words stay, also where their settings say the same otherwise."""
        if self.fresh:
            for part in (*PARTS, "last"):
                setattr(self.record, part, None)
            self.record.queues = {}
        self.record.port = C.Port.from_buffer_copy(self.wanted.port)
        if not self.fresh:
            stay = {number for number in self.old if number not in self.changed}
            self.record.queues.update({n: held for n, held in self.wanted.queues.items() if n in stay})

    def step(self):
        self.done += 1
        self.progress(self.done, self.total)

    def queues(self):
        """Averages of departures are switched on before a queue needs them."""
        if self.wanted.departures and not self.record.departures:
            self.switch(True)
        for number in self.changed:
            self.record.queues.pop(number, None)
            self.lane.write_queue(number, self.words[number])
            self.record.queues[number], self.record.last = self.wanted.queues[number], number
            self.step()

    def classes(self):
        for code in self.codes:
            self.lane.write_class(code, *self.wanted.classes[code])
            self.step()
        self.record.classes = self.wanted.classes

    def switch(self, on: bool):
        self.lane.call("write_switches", on)
        self.record.departures = on

    def differs(self, part: str) -> bool:
        """Whether a part was asked for, and is not what the card has."""
        asked = getattr(self.wanted, part)
        return asked is not None and (self.fresh or getattr(self.record, part) != asked)

    def whole_lane(self):
        """Switches, option types, pool and routes."""
        record, wanted, lane = self.record, self.wanted, self.lane
        if record.departures != wanted.departures:
            self.switch(wanted.departures)
        if lane.several and not record.departures:
            record.departures = None  # another egress may have switched it on
        if wanted.ttl_option and self.differs("ttl_option"):
            lane.call("write_option", *wanted.ttl_option)
            record.ttl_option = wanted.ttl_option
        if not lane.egress:
            if self.fresh or (record.pool or 0) != (wanted.pool or 0):
                lane.call("write_pool", library().vm_pool_cells(wanted.pool or 0))
            record.pool = wanted.pool or 0
        if self.differs("share"):
            lane.call("write_share", *registers.share_cells(wanted.share))
            record.share = wanted.share
        if self.differs("routes"):
            lane.call("write_routes", *registers.route_words(wanted.routes))
            record.routes = wanted.routes
