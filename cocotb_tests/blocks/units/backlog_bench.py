"""Bench of BacklogCounters and QueueLimit against plain bookkeeping: an admission, a departure, an eviction and a question in every clock.

BacklogCounters: a question in clock t is answered in t + 1 by what was shown up to t - 1. QueueLimit: a verdict in clock t sees every
packet admitted up to t - 1 and every departure and lost push-out shown up to t - 3, and is never wrong about it: it refuses what does not fit and nothing else.
"""

from collections import Counter, deque

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly

from bench.bundle import ports
from blocks.units.stream import any_size, start, until_ready

QUEUES = 16
WRAP = 2**27
LEFT_LAG = 3  # clocks until a departure counts in the limit


class Fifos:
    """What is in the queues: packets of a colour and a length."""

    def __init__(self, random):
        self.random = random
        self.queues = [deque() for _ in range(QUEUES)]

    def add(self, queue, colour, length):
        self.queues[queue].append((colour, length))

    def leave(self, chance, here):
        """Takes a packet of one of the queues `here`: the record on the port, or None."""
        waiting = [queue for queue in here if self.queues[queue]]
        if not waiting or self.random.random() >= chance:
            return None
        queue = self.random.choice(waiting)
        colour, length = self.queues[queue].popleft()
        return {"queue": queue, "colour": colour, "lenBytes": length, "arrival": 0}

    def evict(self, chance, here):
        """Takes a packet out of the middle."""
        waiting = [queue for queue in here if len(self.queues[queue]) > 1]
        if not waiting or self.random.random() >= chance:
            return None
        queue = self.random.choice(waiting)
        place = self.random.randrange(1, len(self.queues[queue]))
        colour, length = self.queues[queue][place]
        del self.queues[queue][place]
        return {"queue": queue, "colour": colour, "lenBytes": length}


def length(random):
    return random.choice([60, 64, 1514, 65535, 65535, any_size(random, 16)])


def show(dut, prefix, record):
    """A record on a valid port; what is not valid may be anything."""
    getattr(dut, f"{prefix}_valid").value = record is not None
    ports(dut, f"{prefix}_bits", record or {"queue": 1, "colour": 1, "lenBytes": 77})


@cocotb.test()
async def backlog_is_what_was_admitted_and_has_not_left(dut):
    random = await start(dut, 30)
    await until_ready(dut, dut.backlog_ready, 4 * 2 ** len(dut.backlog_query))
    fifos = Fifos(random)
    bytes_, packets, left, thrown = ([[0] * 3 for _ in range(QUEUES)] for _ in range(4))
    passed, seen = Counter(), Counter()
    answer, admitted = None, None
    now = random.getrandbits(48)
    for clock in range(9000):
        phase = clock // 500
        here = (range(QUEUES), range(1), range(2))[phase % 3]
        full = len(here) == 1  # of long packets of one colour mostly, so that its totals wrap
        arrive, leave = (1.0, 1.0) if full else ((1.0, 0.3), (0.9, 1.0), (0.2, 1.0), (1.0, 1.0))[phase % 4]
        now = now + random.choice([4, 4, any_size(random, 44)]) & (2**48 - 1)
        question = random.choice(here)
        seen["asked a clock after an admission"] += bool(admitted) and admitted["queue"] == question
        admitted = None
        if random.random() < arrive:
            colour = 0 if full and random.random() < 0.95 else random.randrange(3)
            size = 65535 if full else length(random)
            admitted = {"queue": random.choice(here), "colour": colour, "lenBytes": size}
        departed, evicted = fifos.leave(leave, here), fifos.evict(0.2, here)
        dut.backlog_now.value, dut.backlog_query.value = now, question
        show(dut, "backlog_admitted", admitted)
        show(dut, "backlog_departed", departed)
        show(dut, "backlog_evicted", evicted)
        await ReadOnly()
        if answer:
            at, *expected = answer
            got = [
                [int(getattr(dut, f"backlog_{name}").value) for name in names]
                for names in (
                    [f"backlog_{c}_bytes" for c in range(3)],
                    [f"backlog_{c}_packets" for c in range(3)],
                    [f"lastDeparture_{c}" for c in range(3)],
                    [f"lastEviction_{c}" for c in range(3)],
                )
            ]
            assert got == expected, f"clock {clock}, queue {at}: {got}, booked {expected}"
            seen["nothing" if not any(expected[1]) else "something"] += 1
        # As it is before the events of this clock.
        answer = (question, *(list(books[question]) for books in (bytes_, packets, left, thrown)))
        for gone, times in ((departed, left), (evicted, thrown)):
            if gone:
                queue, colour, size = gone["queue"], gone["colour"], gone["lenBytes"]
                bytes_[queue][colour] -= size
                packets[queue][colour] -= 1
                times[queue][colour] = now
        seen["an eviction"] += bool(evicted)
        if admitted:
            queue, colour, size = (admitted[name] for name in ("queue", "colour", "lenBytes"))
            fifos.add(queue, colour, size)
            bytes_[queue][colour] += size
            packets[queue][colour] += 1
            passed[queue, colour] += size
        await FallingEdge(dut.clock)
    dut._log.info(f"{dict(seen)}, at most {max(passed.values())} bytes of a queue and colour")
    assert max(passed.values()) > WRAP, "no total wrapped"
    assert len(seen) == 4 and min(seen.values()) > 300


class Limit:
    """The limit's books: a verdict a clock, its question two clocks and its request one clock before."""

    def __init__(self, dut, random):
        self.dut, self.random, self.fifos = dut, random, Fifos(random)
        self.queued = [[0, 0] for _ in range(QUEUES)]  # bytes, packets as the limit may see them
        self.real = [[0, 0] for _ in range(QUEUES)]  # with every departure counted at once
        self.leaving = deque()  # (clock, queue, bytes)
        self.limits = [(WRAP - 1, WRAP - 1)] * QUEUES
        self.requests = deque([None] * 2)  # the oldest first
        self.clock, self.seen, self.passed = 0, Counter(), 0
        self.before = None  # what the verdict of the last clock saw

    def request(self, here, big):
        queue = self.random.choice(here)
        return queue, 65535 if big else length(self.random), *self.limits[queue]

    async def play(self, clocks, arrive, leave, here, admit=1.0, big=False):
        for _ in range(clocks):
            await self.one(arrive, leave, here, admit, big)

    async def one(self, arrive, leave, here, admit, big):
        dut, random = self.dut, self.random
        new = self.request(here, big)
        asked = self.requests[1]
        deciding = self.requests.popleft()
        self.requests.append(new)
        dut.limit_ahead_valid.value = 1
        dut.limit_ahead_bits.value = new[0]
        names = ("queue", "lenBytes", "limit", "limitPackets")
        ports(dut, "limit_request", dict(zip(names, asked or [random.randrange(QUEUES)] * 4, strict=True)))
        departed, lost = self.fifos.leave(leave, here), self.fifos.evict(0.1, here)
        show(dut, "limit_departed", departed)
        show(dut, "limit_lost", lost)
        while self.leaving and self.leaving[0][0] + LEFT_LAG <= self.clock:
            _, queue, size = self.leaving.popleft()
            self.queued[queue][0] -= size
            self.queued[queue][1] -= 1
        over, admitted, before = None, False, None
        if deciding:
            queue, size, limit, limit_packets = deciding
            before = list(self.queued[queue])
            room = limit - before[0] - size, limit_packets - before[1] - 1
            over = min(room) < 0
            self.seen["fits to the byte"] += room[0] == 0 and not over
            self.seen["fits to the packet"] += room[1] == 0 and not over
            self.seen["a byte too much"] += room[0] == -1
            self.seen["a packet too much"] += room[1] == -1
            self.seen["limit below what is queued"] += limit < before[0]
            admitted = not over and random.random() < arrive * admit
        dut.limit_admit.value = admitted
        await ReadOnly()
        if deciding:
            assert int(dut.limit_over.value) == over, (
                f"clock {self.clock}: over is {not over}, {deciding}, queued {before}"
            )
            assert int(dut.limit_overBytes.value) == (room[0] < 0), (
                f"clock {self.clock}: over by bytes, {deciding}, queued {before}"
            )
        if self.before:
            got = [int(dut.limit_queued_bytes.value), int(dut.limit_queued_packets.value)]
            assert got == self.before, f"clock {self.clock}: queued {got}, booked {self.before}"
        self.before = before
        for gone in filter(None, (departed, lost)):
            self.leaving.append((self.clock, gone["queue"], gone["lenBytes"]))
            self.real[gone["queue"]][0] -= gone["lenBytes"]
            self.real[gone["queue"]][1] -= 1
        if admitted:
            self.fifos.add(queue, 0, size)
            for books in (self.queued, self.real):
                books[queue][0] += size
                books[queue][1] += 1
            self.passed += size
            assert self.real[queue][0] <= limit and self.real[queue][1] <= limit_packets, "over the limit"
        self.clock += 1
        await FallingEdge(dut.clock)


@cocotb.test()
async def the_limit_refuses_what_does_not_fit_and_nothing_else(dut):
    random = await start(dut, 31)
    await until_ready(dut, dut.limit_ready, 2 ** len(dut.limit_ahead_bits))
    bench = Limit(dut, random)
    for _ in range(60):
        here = random.sample(range(QUEUES), random.choice([1, 1, 2, QUEUES]))
        for queue in here:
            held = bench.queued[queue][0]
            lengths = [64, 1514, 65535, 5 * 65535, held, held + 64, held + 65535, held + 65534, any_size(random, 27)]
            bench.limits[queue] = (
                min(WRAP - 1, random.choice(lengths)),
                random.choice([1, 3, 20, WRAP - 1, any_size(random, 27)]),
            )
        arrive, leave = random.choice([(1.0, 0.5), (1.0, 1.0), (0.5, 1.0), (1.0, 0.1)])
        await bench.play(
            150,
            arrive,
            leave,
            here,
            admit=random.choice([1.0, 1.0, 0.7]),
            big=random.random() < 0.3,
        )
    dut._log.info(f"{dict(bench.seen)}")
    assert len(bench.seen) == 5 and min(bench.seen.values()) > 5, "some edge of the limit was hardly met"


@cocotb.test()
async def totals_that_wrap_lose_no_room(dut):
    """More than 2^29 bytes through one queue, whose totals have 29 bits; the limit goes on to be met to the byte."""
    bench = Limit(dut, await start(dut, 32))
    await until_ready(dut, dut.limit_ready, 2 ** len(dut.limit_ahead_bits))
    for limits, clocks in (((12 * 65535, WRAP - 1), 9000), ((4 * 65535, WRAP - 1), 300), ((7 * 65535, 3), 300)):
        bench.limits[5] = limits
        await bench.play(clocks, 1.0, 1.0, [5], big=True)
    assert bench.passed > 2**29 and bench.seen["fits to the byte"] > 100 and bench.seen["fits to the packet"] > 20
