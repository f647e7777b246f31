"""Bench of AverageUnit: refreshes, ageings and host reads at every distance from each other, each average compared with the model's.

The model is given what the unit is: the same lengths, weights, and n, which the bench counts from its own requests. Of idle spells the model is
given the departures, the unit by how much to age, since the later of departure and the update that gave the base. A host read changes nothing,
so the model knows none: it shall see the newest average that is written, aged where its length is 0.
"""

from collections import Counter

import cocotb

from bench import queues
from bench.bundle import plain, ports
from blocks.units.stream import any_size, start, through, until_ready
from support import model_bindings as mb

LATENCY = 5  # from the request, a clock behind its queue
COLOUR = 4  # clocks behind a request when the colour is asked for
UNDER_WAY = 5  # clocks for which a refresh is read but not written
QUEUES = 16
ARRIVAL, REFRESH, HOST_READ = "arrival", "refresh", "host read"


class Request:
    def __init__(self, kind, queue, colour, length, idle, record):
        self.kind, self.queue, self.colour, self.record = kind, queue, colour, record
        self.length, self.idle = length, idle
        self.update = [kind != HOST_READ and bool(record.masks[e] >> colour & 1) for e in range(3)]
        self.expected, self.n = [None] * 3, [None] * 3


class Bench:
    """Makes requests, and asks the model for each as it is made."""

    def __init__(self, dut, random):
        self.dut, self.random, self.library = dut, random, mb.library()
        self.records = (mb.Queue * QUEUES)(*(self.record() for _ in range(QUEUES)))
        self.model = self.library.vm_create(mb.byref(mb.Config(queue_count=QUEUES, queues=self.records)))
        each = lambda value: [[value() for _ in range(3)] for _ in range(QUEUES)]
        self.history = each(lambda: [0] * 6)  # averages by update
        self.updates = each(list)  # clocks of these
        self.times = each(lambda: [0] * 6)  # of these
        self.remainders = each(lambda: [(0, 0)] * 6)  # behind these: residue and pending
        self.rom = [self.library.vm_age_rom(i) for i in range(1024)]
        self.clock, self.time = 0, 1000
        self.seen = Counter()

    async def ready(self):
        await until_ready(self.dut, self.dut.average_ready, 2 ** len(self.dut.average_queue))

    def record(self):
        """A queue in bytes; weights from 2^-39 to 1, one in four any that nine bits hold, above 1 too."""
        r = self.random
        record = queues.queue(r, 1 << r.randrange(4, 27), False, True)
        if r.random() < 0.25:
            record.weight = (mb.Scaled * 6)(*(mb.Scaled(r.randrange(512), any_size(r, 5)) for _ in range(6)))
        if r.random() < 0.3:
            record.masks = (mb.u32 * 3)(*(r.randrange(8) for _ in range(3)))
        record.update = 1
        return record

    def reconfigure(self, queue):
        self.records[queue] = self.record()
        self.library.vm_configure(self.model, queue, mb.byref(self.records[queue]))

    def make(self, queue, kinds, empty):
        """A request for `queue` in the clock that comes; its backlog is 0 with probability `empty`."""
        r, record = self.random, self.records[queue]
        self.time += r.choice([4, 4, 4, 100, any_size(r, 30)])
        backlog = [0 if r.random() < empty else any_size(r, 27) for _ in range(3)]
        if r.random() < empty:
            backlog = [0] * 3
        left = [self.time - r.choice([0, 4, any_size(r, 20), any_size(r, 48)]) & (2**48 - 1) for _ in range(3)]
        request_n = [1 + sum(c >= self.clock - UNDER_WAY for c in self.updates[queue][e][-6:]) for e in range(3)]
        length, idle = [], []
        for e in range(3):
            counted = [c for c in range(3) if record.masks[e] >> c & 1]
            length.append(min(sum(backlog[c] for c in counted), 2**27 - 1))
            spells = [self.time - left[c] & (2**48 - 1) for c in counted]
            idle.append(min([*spells, self.time - self.times[queue][e][-request_n[e]]]))
        request = Request(r.choice(kinds), queue, r.randrange(3), length, idle, mb.Queue.from_buffer_copy(record))
        request.n = request_n
        request.remainder = [self.remainders[queue][e][-request_n[e]] for e in range(3)]
        (self.read if request.kind == HOST_READ else self.step)(request, backlog, left)
        return request

    def step(self, request, backlog, left):
        queue = request.queue
        common = dict(
            time=self.time, queue=queue, colour=request.colour, backlog_bytes=(mb.u32 * 3)(*backlog),
            n=(mb.u32 * 3)(*request.n),
        )  # fmt: skip
        if request.kind == ARRIVAL:
            arrival = mb.Arrival(**common, len_bytes=64, last_departure=(mb.u64 * 3)(*left))
            assert self.library.vm_decide(self.model, mb.byref(arrival), mb.byref(mb.Decision())) == 0
        else:
            assert self.library.vm_depart(self.model, mb.byref(mb.Departure(**common))) == 0
        for e in (e for e in range(3) if request.update[e]):
            average = mb.u64()
            assert self.library.vm_average(self.model, queue, e, mb.byref(average)) == 0
            request.expected[e] = average.value
            ages = request.kind == ARRIVAL and not request.length[e]
            self.seen["aged" if ages else "stepped"] += 1
            self.seen[f"n = {request.n[e]}"] += 1
            self.seen["greatest average"] += average.value == 2**43 - 1
            newest = self.remainders[queue][e][-1]
            aged = self.product(request, e) % 2**48, request.n[e] - 1
            self.remainders[queue][e].append(aged if ages else newest)
            self.history[queue][e].append(average.value)
            self.updates[queue][e].append(self.clock)
            self.times[queue][e].append(self.time)

    def read(self, request, *_):
        for e in range(3):
            written = self.history[request.queue][e][-request.n[e]]
            ages = request.length[e] == 0
            request.expected[e] = self.library.vm_average_age(written, *self.ageing(request, e)) if ages else written
            self.seen["read, aged" if ages else "read"] += 1

    def product(self, request, e):
        residue, pending = request.remainder[e]
        lam, steps = getattr(request.record, "lambda"), pending + (request.kind == ARRIVAL)
        return request.idle[e] * lam.mant + residue % 2 ** min(48, lam.shift) + steps * request.record.idle_step

    def ageing(self, request, e):
        """What an ageing of the request's estimator starts from, behind the average."""
        residue, pending = request.remainder[e]
        return request.idle[e], mb.byref(request.record), pending + (request.kind == ARRIVAL), mb.byref(mb.u64(residue))

    def decay(self, request, e):
        """What IdleAge makes of the spell."""
        lam = getattr(request.record, "lambda")
        exponent = min(self.product(request, e) >> lam.shift, 2**16 - 1)
        return {"length": request.length[e], "factor": self.rom[exponent % 1024], "halvings": exponent // 1024}

    def drive(self, vectors, k):
        request = vectors[k] if k < len(vectors) else None
        after = vectors[k + 1] if k + 1 < len(vectors) else None
        self.dut.average_queue.value = after.queue if after else self.random.randrange(QUEUES)
        before = vectors[k - COLOUR] if COLOUR <= k < len(vectors) + COLOUR else None
        self.dut.average_colour.value = before.colour if before else self.random.randrange(3)
        self.dut.average_request_valid.value = request is not None
        if request is None:  # what is not valid may be anything
            ports(self.dut, "average_request_bits", {"update": [1, 1, 1]})
            return
        average = queues.bundle(request.record)["average"]
        bits = {"weight": average["weight"], "refresh": request.kind == REFRESH, "hostRead": request.kind == HOST_READ}
        bits |= {"update": request.update, "seen": [self.decay(request, e) for e in range(3)]}
        ports(self.dut, "average_request_bits", bits)

    def compare(self, request):
        if request is None:
            return
        for e in range(3):
            if request.expected[e] is None:
                continue
            got = int(getattr(self.dut, f"average_average_{e}").value)
            about = f"{request.kind}, queue {request.queue}, length {request.length[e]}, idle {request.idle[e]} ns"
            about += f", n {request.n[e]}, {plain(request.record.weight)}, {plain(getattr(request.record, 'lambda'))}"
            assert got == request.expected[e], f"average {got}, model {request.expected[e]}: {about}"
            if e == request.colour:
                assert int(self.dut.average_own.value) == got, f"the colour's own is another: {about}"
            ahead = int(getattr(self.dut, f"average_ahead_{e}").value)
            assert request.kind == HOST_READ or ahead == request.n[e], f"n {ahead}: {about}"

    async def play(self, clocks, pace, spread, kinds, empty=0.2, first=None, another_decay=False):
        """So many clocks with a request each with probability `pace`, over `spread` queues; then all are written."""
        vectors = [None]  # a request's queue comes a clock before it
        self.clock += 1
        first = self.random.randrange(QUEUES) if first is None else first
        for _ in range(clocks):
            queue = (first + self.random.randrange(spread)) % QUEUES
            if another_decay:
                setattr(
                    self.records[queue],
                    "lambda",
                    mb.Scaled(self.random.randrange(1 << 16), self.random.randrange(10, 40)),
                )
                self.library.vm_configure(self.model, queue, mb.byref(self.records[queue]))
            vectors.append(self.make(queue, kinds, empty) if self.random.random() < pace else None)
            self.clock += 1
        await through(self.dut, vectors, LATENCY, self.drive, self.compare)
        self.clock += LATENCY


@cocotb.test()
async def averages_at_every_distance_are_the_models(dut):
    bench = Bench(dut, await start(dut, 10))
    await bench.ready()
    for spread in (1, 1, 2, 3, QUEUES):
        for pace in (1.0, 0.5, 0.1):
            for kinds in ((ARRIVAL,), (ARRIVAL, REFRESH), (ARRIVAL, ARRIVAL, REFRESH, HOST_READ)):
                for empty in (0.02, 0.4):
                    await bench.play(60, pace, spread, kinds, empty)
            for queue in range(QUEUES):
                bench.reconfigure(queue)
    for queue in range(QUEUES):  # the greatest weight that nine bits hold overshoots, and saturates
        bench.records[queue].weight = (mb.Scaled * 6)(*([mb.Scaled(511, 0)] * 6))
        bench.library.vm_configure(bench.model, queue, mb.byref(bench.records[queue]))
    await bench.play(200, 0.5, 4, (ARRIVAL,), 0.1)
    dut._log.info(f"{dict(bench.seen)}")
    assert all(bench.seen[f"n = {n}"] > 30 for n in range(1, 7)), "not every n was met"
    kinds = ("aged", "stepped", "read", "read, aged", "greatest average")
    assert all(bench.seen[kind] > 10 for kind in kinds)


@cocotb.test()
async def the_averages_of_all_queues_are_kept_apart(dut):
    """One update for each queue, then nothing but host reads: the last of them all see what was written."""
    bench = Bench(dut, await start(dut, 11))
    await bench.ready()
    for queue in range(QUEUES):
        await bench.play(20, 1.0, 1, (ARRIVAL,), 0.0, first=queue)
    for _ in range(3):
        await bench.play(QUEUES * 4, 1.0, QUEUES, (HOST_READ,), 0.0)
    assert len({tuple(h[-1] for h in each) for each in bench.history}) > QUEUES // 2


@cocotb.test()
async def every_request_ages_with_its_own_decay(dut):
    """The decay of a queue changes with every request, as a commit between two of them would change it."""
    bench = Bench(dut, await start(dut, 12))
    await bench.ready()
    for _ in range(20):
        await bench.play(60, 1.0, 1, (ARRIVAL,), 0.4, another_decay=True)
    assert bench.seen["aged"] > 30 and bench.seen["stepped"] > 30
