"""Bench of QueueStateLookup: what averages see of a queue, against plain bookkeeping and the model's table of decays.

Packets are admitted, leave and are evicted in any clock, mostly for the queues that are looked up. A lookup that begins in clock t sees what was
shown up to t - 1, and of the updates of earlier lookups those that QueueStateLookup's look-ahead lets it see.
"""

from collections import Counter

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly

from bench.bundle import ports
from blocks.units.backlog_bench import Fifos, length, show
from blocks.units.stream import any_size, start, until_ready
from support import model_bindings as mb

QUEUES = 16
TIME = 2**48
SEEN, BACKLOG, UPDATE = 8, 2, 8  # clocks of a lookup
VISIBLE = 6  # from an update's lookup to the first lookup that sees it


class Books:
    """Backlogs and times by queue and colour, and times of updates by queue and estimator."""

    def __init__(self):
        each = lambda value: [[value] * 3 for _ in range(QUEUES)]
        self.bytes, self.packets, self.left, self.thrown, self.updated = (each(0) for _ in range(5))
        self.residue, self.pending = each(0), each(0)

    def add(self, packet, sign):
        self.bytes[packet["queue"]][packet["colour"]] += sign * packet["lenBytes"]
        self.packets[packet["queue"]][packet["colour"]] += sign


def config(random):
    lam = {"mant": any_size(random, 16), "shift": random.randrange(64)}
    masks = [random.randrange(8) for _ in range(3)]
    step = any_size(random, min(48, lam["shift"] + 14))
    return {"unit": random.random() < 0.3, "masks": masks, "lambda": lam, "idleStep": step}


class Lookup:
    """One lookup, and what is to be seen; made in its clock from the books as they stand before this clock's events."""

    def __init__(self, clock, queue, now, books, configs, rom, random):
        self.clock, self.queue, self.time, self.config = clock, queue, now, configs[queue]
        self.is_packet, self.ahead = int(random.random() < 0.8), [random.randint(1, 6) for _ in range(3)]
        self.left_over, self.decided = [], []  # whether a remainder changed the exponent
        since = lambda at: (now - at) % TIME
        self.backlog = list(zip(books.bytes[queue], books.packets[queue], strict=True))
        gone = (books.left, books.thrown)
        self.left = [min((times[queue][c] for times in gone), key=since) for c in range(3)]
        self.update = [int(random.random() < 0.3) for _ in range(3)]
        self.seen = []
        for e, mask in enumerate(self.config["masks"]):
            counted = [c for c in range(3) if mask >> c & 1]
            sizes = (self.backlog[c][self.config["unit"]] for c in counted)
            spell = min([since(books.updated[queue][e]), *(since(self.left[c]) for c in counted)])
            lam = self.config["lambda"]
            residue = books.residue[queue][e] % 2 ** min(48, lam["shift"])
            steps = books.pending[queue][e] + self.is_packet
            product = spell * lam["mant"] + residue + steps * self.config["idleStep"]
            exponent = min(product >> lam["shift"], 2**16 - 1)
            self.seen.append((min(sum(sizes), 2**27 - 1), rom[exponent % 1024], exponent // 1024))
            self.left_over.append((product % 2**48, self.ahead[e] - 1))
            alone = spell * lam["mant"] + self.is_packet * self.config["idleStep"]
            self.decided.append(exponent != min(alone >> lam["shift"], 2**16 - 1))

    def tell(self, books):
        """What this lookup's update leaves in the books."""
        for e in range(3):
            if self.update[e]:
                books.updated[self.queue][e] = self.time
                if self.is_packet and self.seen[e][0] == 0:
                    books.residue[self.queue][e], books.pending[self.queue][e] = self.left_over[e]


@cocotb.test()
async def what_averages_see_is_of_the_lookups_own_clock(dut):
    random = await start(dut, 50)
    books, fifos = Books(), Fifos(random)
    await until_ready(dut, dut.lookup_ready, 4 * 2 ** len(dut.lookup_queue))
    library = mb.library()
    rom = [library.vm_age_rom(i) for i in range(1024)]
    configs = [config(random) for _ in range(QUEUES)]
    lookups, seen = {}, Counter()
    now, next_lookup, next_admission = random.getrandbits(48), 0, 0
    value = lambda name: int(getattr(dut, f"lookup_{name}").value)
    for clock in range(5000):
        here = (range(QUEUES), range(1), range(2), range(1))[clock // 400 % 4]
        long = len(here) == 1  # packets, of one colour mostly
        now = (now + random.choice([4, 4, 4, any_size(random, 20), any_size(random, 44)])) % TIME
        if random.random() < 0.01:  # the clock is set, back too
            now = random.getrandbits(48)

        # Updates of earlier lookups that this clock's lookup may see.
        old = lookups.get(clock - VISIBLE)
        if old:
            old.tell(books)
        if clock >= next_lookup and random.random() < 0.9:
            queue = random.choice(here)
            lookups[clock] = Lookup(clock, queue, now, books, configs, rom, random)
            next_lookup = clock + 1 + (random.randrange(6) if random.random() < 0.3 else 0)
            seen["lookups a clock behind an event of their queue"] += seen["event", clock - 1, queue]
        lookup = lookups.get(clock)
        dut.lookup_queue.value = lookup.queue if lookup else random.randrange(QUEUES)
        dut.lookup_time.value = lookup.time if lookup else random.getrandbits(48)
        dut.lookup_isPacket.value = lookup.is_packet if lookup else random.randrange(2)
        asked = lookups.get(clock - 1)
        ports(dut, "lookup_config", asked.config if asked else config(random))
        told = lookups.get(clock - UPDATE)
        ports(dut, "lookup_update", told.update if told else [0] * 3)
        ports(dut, "lookup_ahead", told.ahead if told else [random.randint(1, 6) for _ in range(3)])

        # Events, and what they change from the next clock on.
        admitted = None
        if clock >= next_admission and random.random() < 0.4:
            colour = 0 if long and random.random() < 0.97 else random.randrange(3)
            size = 65535 if long else length(random)
            admitted = {"queue": random.choice(here), "colour": colour, "lenBytes": size}
            next_admission = clock + 1 + (random.randrange(9) if random.random() < 0.3 else 0)
        leave = (0.05, 0.3, 1.0, 0.1)[clock // 100 % 4]
        departed = fifos.leave(leave, here)
        evicted = fifos.evict(0.05, here)
        dut.lookup_now.value = now
        show(dut, "lookup_admitted", admitted)
        show(dut, "lookup_departed", departed)
        show(dut, "lookup_evicted", evicted)
        await ReadOnly()

        for e in range(3):
            at = lookups.get(clock - SEEN)
            if at:
                got = tuple(value(f"seen_{e}_{name}") for name in ("length", "factor", "halvings"))
                assert got == at.seen[e], (
                    f"lookup of clock {at.clock}, queue {at.queue}, estimator {e}: {got}, {at.seen[e]}"
                )
                seen["an empty queue" if got[0] == 0 else "a length"] += 1
                seen["aged by part"] += 0 < got[2] < 63
                seen["a remainder decides"] += at.decided[e]
            at = lookups.get(clock - BACKLOG)
            if at:
                got = value(f"backlog_{e}_bytes"), value(f"backlog_{e}_packets")
                assert got == at.backlog[e], f"lookup of clock {at.clock}, colour {e}: backlog {got}, {at.backlog[e]}"
        at = lookups.get(clock - 2)
        if at:
            got = [value(f"lastDeparture_{c}") for c in range(3)]
            assert got == at.left, f"lookup of clock {at.clock}: last departures {got}, {at.left}"

        for packet, times, sign in ((admitted, None, 1), (departed, books.left, -1), (evicted, books.thrown, -1)):
            if packet:
                books.add(packet, sign)
                seen["event", clock, packet["queue"]] = 1
                if times:
                    times[packet["queue"]][packet["colour"]] = now
        if admitted:
            fifos.add(*(admitted[name] for name in ("queue", "colour", "lenBytes")))
        configs[random.randrange(QUEUES)] = config(random)
        await FallingEdge(dut.clock)
    seen = {what: times for what, times in seen.items() if isinstance(what, str)}
    dut._log.info(f"{seen}")
    assert len(seen) == 5 and min(seen.values()) > 200


@cocotb.test()
async def a_reset_of_one_clock_leaves_no_backlog(dut):
    """With lengths on the ports of events while it lasts, as queue entries have them."""
    random = await start(dut, 51)
    packet = {"queue": 0, "colour": 0, "lenBytes": 1 + length(random)}
    clears = 4 * 2 ** len(dut.lookup_queue)
    dut.lookup_now.value, dut.lookup_time.value = 1000, 1000
    ports(dut, "lookup_config", {"unit": False, "masks": [7] * 3, "lambda": {"mant": 0, "shift": 0}, "idleStep": 0})
    dut.lookup_isPacket.value = 0
    ports(dut, "lookup_ahead", [1] * 3)

    async def clocks(count: int):
        for _ in range(count):
            await FallingEdge(dut.clock)

    for event in ("lookup_admitted", "lookup_departed"):
        show(dut, event, None)
    await until_ready(dut, dut.lookup_ready, clears)
    dut.reset.value = 1
    await FallingEdge(dut.clock)
    dut.reset.value = 0
    await until_ready(dut, dut.lookup_ready, clears)
    for event in ("lookup_admitted", "lookup_departed"):
        show(dut, event, packet)
        await FallingEdge(dut.clock)
        show(dut, event, None)
        await clocks(20)
    dut.lookup_queue.value = 0
    await clocks(BACKLOG)
    await ReadOnly()
    for colour in range(3):
        left = [int(getattr(dut, f"lookup_backlog_{colour}_{of}").value) for of in ("bytes", "packets")]
        assert left == [0, 0], f"colour {colour}: {left}"
