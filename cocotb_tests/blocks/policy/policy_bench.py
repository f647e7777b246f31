"""Bench of the policy pipeline: random configurations and arrivals in, each decision replayed in the model."""

import os
import random as randomness
from collections import Counter, deque

import cocotb
from cocotb.triggers import FallingEdge, ReadOnly

from bench import pipeline, queues
from bench.bundle import plain, ports
from bench.wires import Wires
from support import model_bindings as mb

NAMES = (
    "refresh queue colour lenBytes ecn bad noBuffer time draw queued_bytes queued_packets probability verdict distance "
    "mark_time mark_colour mark_draw mark_policed mark_level "
    "mark_hasFlow mark_flow_raised mark_flow_average mark_flow_burst mark_flow_highestSeq mark_flow_credits"
).split()
COMMITTED = 10  # clocks from the taking of a commit to where its slot would have a verdict
LIMIT_LAG = 4  # a departure counts in the limit of verdicts that stand at the port so many clocks later


class Bench:
    """One pipeline, its model and what is queued behind it (a plain FIFO a queue, served at random)."""

    def __init__(self, dut, seed: int, unit: bool, departures: bool):
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        dut._log.info(f"seed {seed}")
        self.top = 20 if unit else 30000
        self.configs = (mb.Queue * 16)(
            *(queues.queue(self.random, self.top, unit, departures and self.random.random() < 0.5) for _ in range(16))
        )
        self.model = mb.library().vm_create(mb.Config(queue_count=16, queues=self.configs))
        assert self.model, "the model refused the configuration"
        self.fifo = [deque() for _ in range(16)]
        self.now, self.sent, self.decided = 1000, 0, Counter()
        self.ahead = Counter()
        self.departures = departures
        self.words, self.mark_words = (mb.u32 * 4)(), (mb.u32 * 4)()  # states of the model's random sources
        mb.library().vm_random_seed(seed, mb.byref(self.words))
        mb.library().vm_random_seed(seed + 1, mb.byref(self.mark_words))
        self.flow_words = (mb.u32 * 4)()
        mb.library().vm_random_seed(seed + 2, mb.byref(self.flow_words))
        self.flows = mb.library().vm_flow_create(4096, mb.byref(self.flow_words))
        self.entered = deque()  # headers of the packets on their way, in order
        self.offered, self.sequences = None, Counter()
        self.markers = [mb.library().vm_marker_create() for _ in range(16)]
        self.held = False  # a packet stands at the input and has not been taken
        self.clock = 0
        self.leaving = deque()  # (clock, queue, bytes): departures that the limit does not see yet
        self.queued = [[0, 0] for _ in range(16)]  # bytes, packets as the limit sees them
        self.commits = deque()  # (clock, queue, record)
        self.commit = None  # being offered
        self.recommits, self.remarked, self.by_flow = 0, 0, Counter()
        self.distances = set()
        self.left_at = 0  # time of the last departure

    async def start(self):
        dut = self.dut
        await pipeline.reset(dut, self.now, self.departures)
        dut.io_seed_bits_decide.value = sum(word << 32 * i for i, word in enumerate(self.words))
        dut.io_seed_bits_flow.value = sum(word << 32 * i for i, word in enumerate(self.flow_words))
        dut.io_seed_bits_mark.value = sum(word << 32 * i for i, word in enumerate(self.mark_words))
        dut.io_seed_valid.value = 1
        await FallingEdge(dut.clock)
        dut.io_seed_valid.value = 0
        for dscp in range(65):
            entry = {"queue": dscp % 16, "colour": dscp // 16 % 4}
            ports(dut, "io_classWrite_bits", {"address": dscp, "entry": entry})
            dut.io_classWrite_valid.value = 1
            await FallingEdge(dut.clock)
        dut.io_classWrite_valid.value = 0
        for index, record in enumerate(self.configs):
            await pipeline.commit(dut, index, record)

    def offer(self, pace: float, spread: int):
        """Puts a packet at the input with probability `pace`, to one of the first `spread` queues."""
        r = self.random
        valid = r.random() < pace
        bad, no_buffer = r.random() < 0.02, r.random() < 0.02
        headers = {"isIp4": 1, "isIp6": 0, "dscp": r.randrange(spread) + 16 * r.randrange(3), "ecn": r.randrange(4)}
        headers |= self.segment()
        fields = {"lenBytes": r.choice([60, 64, 1514, r.randrange(14, 9000)]), "headCell": 1, "cells": 1, "bad": bad}
        ports(self.wires, "io_descriptor_bits", {**fields, "noBuffer": no_buffer, "headers": headers})
        self.wires.io_descriptor_valid.value = valid

    def segment(self) -> dict:
        """A TCP segment of one of a few flows, mostly the next of its flow; remembered as the model wants it."""
        r, port = self.random, self.random.randrange(6)
        if r.random() < 0.8:
            self.sequences[port] += 1000
        sequence = self.sequences[port] % 2**32
        fields = dict(srcPort=port, dstPort=80, isTcp=r.random() < 0.9, tcpSeq=sequence, tcpPayload=r.random() < 0.9)
        fields |= dict(tcpFlags=r.choice([16] * 9 + [2]), hasPorts=1, proto=6, srcAddr=7 << 64 | port, dstAddr=9)
        h = mb.Headers(is_ip4=1, has_ports=1, src_port=port, dst_port=80, is_tcp=fields["isTcp"], tcp_seq=sequence)
        far = {
            "ttl": r.randrange(256),
            "hasTtlOption": r.randrange(2),
            "initialTtl": r.randrange(256),
            "finalTtl": r.randrange(256),
        }
        h.ttl, h.has_ttl_option, h.initial_ttl, h.final_ttl = far.values()
        fields |= far | {"ttlOptionAt": r.randrange(9)}
        h.vlan, h.l3_offset, h.ip_bytes = 0x5A0F03 * (port % 2), r.choice([14, 18, 22]), r.choice([0, 40, 1500, 65535])
        fields |= {"vlan": h.vlan, "l3Offset": h.l3_offset, "ipBytes": h.ip_bytes}
        h.tcp_flags, h.tcp_payload = fields["tcpFlags"], fields["tcpPayload"]
        h.src_addr[0], h.src_addr[2], h.dst_addr[0] = port, 7, 9
        self.offered = h
        return fields

    def depart(self, pace: float) -> bool:
        """Takes the oldest packet of a random queue with probability `pace`."""
        ready = [q for q in range(16) if self.fifo[q]]
        go = bool(ready) and self.random.random() < pace
        if go:
            queue = self.random.choice(ready)
            colour, length = self.fifo[queue].popleft()
            self.leaving.append((self.clock, queue, length))
            ports(self.wires, "io_departed_bits", {"queue": queue, "colour": colour, "lenBytes": length, "arrival": 0})
        self.wires.io_departed_valid.value = go
        return go

    def value(self, name: str) -> int:
        return int(getattr(self.wires, f"io_decision_bits_{name}").value)

    def check(self):
        """Replays the decision that stands at the output, in clock `self.clock`."""
        while self.commits and self.commits[0][0] <= self.clock:
            _, queue, record = self.commits.popleft()
            self.configs[queue] = record
            mb.library().vm_configure(self.model, queue, mb.byref(record))
        while self.leaving and self.leaving[0][0] + LIMIT_LAG <= self.clock:
            _, queue, length = self.leaving.popleft()
            self.queued[queue][0] -= length
            self.queued[queue][1] -= 1
        if not int(self.wires.io_decision_valid.value):
            return
        seen = {name: self.value(name) for name in NAMES}
        three = range(3)
        common = dict(
            time=seen["time"], queue=seen["queue"], colour=seen["colour"],
            backlog_bytes=(mb.u32 * 3)(*(self.value(f"backlog_{c}_bytes") for c in three)),
            backlog_packets=(mb.u32 * 3)(*(self.value(f"backlog_{c}_packets") for c in three)),
            n=(mb.u32 * 3)(*(self.value(f"ahead_{c}") for c in three)),
        )  # fmt: skip
        library = mb.library()
        if seen["refresh"]:
            assert library.vm_depart(self.model, mb.byref(mb.Departure(**common))) == 0
            return
        draw = mb.u32()
        library.vm_random_draw(mb.byref(self.words), mb.byref(draw))
        assert seen["draw"] == draw.value, "the draws are not those of the seed"
        self.check_mark(seen)
        arrival = mb.Arrival(
            **common, len_bytes=seen["lenBytes"], ecn=seen["ecn"], bad=seen["bad"], no_buffer=seen["noBuffer"],
            policed=seen["mark_policed"], draw=seen["draw"],
            queued_bytes=seen["queued_bytes"], queued_packets=seen["queued_packets"],
            last_departure=(mb.u64 * 3)(*(self.value(f"lastDeparture_{c}") for c in three)),
        )  # fmt: skip
        queued = self.queued[seen["queue"]]
        assert [seen["queued_bytes"], seen["queued_packets"]] == queued, f"the limit saw another queue: {seen} {queued}"
        decision = mb.Decision()
        assert library.vm_decide(self.model, mb.byref(arrival), mb.byref(decision)) == 0, plain(arrival)
        context = f"{seen} {plain(arrival)} model {plain(decision)} config {plain(self.configs[seen['queue']])}"
        assert seen["verdict"] == decision.verdict, context
        if decision.verdict not in (mb.BAD, mb.NOBUF, mb.POLICED):
            average = self.value(f"average_{seen['colour']}")
            if self.configs[seen["queue"]].masks[seen["colour"]] >> seen["colour"] & 1:
                assert average == decision.avg, f"average {average}: {context}"
            assert seen["probability"] == decision.p, context
            self.ahead[max(arrival.n)] += 1
        self.decided[decision.verdict] += 1
        if decision.verdict in (mb.ENQUEUE, mb.MARK):
            assert int(self.wires.io_enqueue_valid.value)
            self.fifo[seen["queue"]].append((seen["colour"], seen["lenBytes"]))
            queued[0] += seen["lenBytes"]
            queued[1] += 1
            limits = self.configs[seen["queue"]]
            assert queued[0] <= limits.limit and queued[1] <= limits.limit_packets, "over the limit"

    def check_mark(self, seen):
        """The colour that the queue's marker gave, and what it saw."""
        draw, want = mb.u32(), mb.Marked(colour=seen["mark_colour"])
        headers, marker, flow = self.entered.popleft(), self.configs[seen["queue"]].marker, mb.FlowAnswer()
        mb.library().vm_random_draw(mb.byref(self.mark_words), mb.byref(draw))
        assert seen["mark_draw"] == draw.value, "the markers' draws are not those of the seed"
        come = mb.library().vm_distance(mb.byref(headers), mb.byref(self.configs[seen["queue"]].distance))
        assert seen["distance"] == come, f"model {come}: {plain(headers)} {plain(self.configs[seen['queue']].distance)}"
        self.distances.add(come)
        sound = not seen["bad"] and not seen["noBuffer"]
        if sound and marker.kind == mb.FLOW:
            step = mb.library().vm_flow_step
            assert (
                step(
                    self.flows,
                    seen["mark_time"],
                    seen["queue"],
                    mb.byref(headers),
                    mb.byref(marker.flow),
                    mb.byref(flow),
                )
                == 0
            )
            want = mb.Marked(colour=flow.colour, policed=marker.drop >> flow.colour & 1)
            self.by_flow[flow.colour] += 1
        elif sound:
            mb.library().vm_marker_mark(
                self.markers[seen["queue"]], mb.byref(marker), seen["mark_time"],
                seen["mark_colour"], mb.library().vm_marker_bytes(mb.byref(marker), mb.byref(headers), seen["lenBytes"]),
                seen["mark_draw"], mb.byref(want),
            )  # fmt: skip
        got = (seen["colour"], seen["mark_policed"], seen["mark_level"])
        assert got == (want.colour, want.policed, want.level), f"RTL {got}, model {plain(want)}: {seen}"
        state = flow.state
        state = (flow.has_state, state.raised, state.average, state.burst, state.highest_seq, state.credits)
        names = "hasFlow flow_raised flow_average flow_burst flow_highestSeq flow_credits"
        assert state == tuple(seen[f"mark_{name}"] for name in names.split()), f"model {plain(flow)}: {seen}"
        self.remarked += seen["colour"] != seen["mark_colour"]

    def recommit(self, chance: float):
        """Now and then gives a random queue another configuration, under traffic."""
        if self.commit is None and self.random.random() < chance:
            unit, departures = self.configs[0].unit, self.departures
            record = queues.queue(self.random, self.top, unit, departures and self.random.random() < 0.5)
            self.commit = (self.random.randrange(16), record)
            ports(self.wires, "io_commit_bits", {"queue": self.commit[0], "config": queues.bundle(record)})
        self.wires.io_commit_valid.value = self.commit is not None

    async def play(
        self, clocks: int, arrive: float, leave: float, spread: int = 16, jump: float = 0.0, commit: float = 0.0
    ):
        for _ in range(clocks):
            self.recommit(commit)
            if not self.held:
                self.offer(arrive, spread)
            departs = self.depart(leave)
            self.now += 4 if self.random.random() >= jump else self.random.choice([1000, 10**6, 10**10])
            self.wires.io_now.value = self.now
            if departs:
                self.left_at = self.now
            await ReadOnly()
            taken = int(self.wires.io_descriptor_valid.value) and int(self.wires.io_descriptor_ready.value)
            self.held = int(self.wires.io_descriptor_valid.value) and not taken
            self.sent += taken
            if taken:
                self.entered.append(self.offered)
            if self.commit and int(self.wires.io_commit_ready.value):
                self.commits.append((self.clock + COMMITTED, *self.commit))
                self.commit = None
                self.recommits += 1
            await FallingEdge(self.dut.clock)
            self.clock += 1
            self.check()

    async def finish(self):
        await self.play(60, 0, 0)
        await self.play(60, 0, 0)
        assert sum(self.decided.values()) == self.sent, "a packet has had no verdict, or two"
        mb.library().vm_destroy(self.model)


@cocotb.test()
@cocotb.parametrize(unit=[False, True], departures=[False, True])
async def decisions_at_every_pace_are_the_models(dut, unit, departures):
    seed = int(os.environ.get("VERMILION_SEED", "1")) * 4 + 2 * unit + departures
    bench = Bench(dut, seed, unit, departures)
    await bench.start()
    rounds = 0
    while rounds < 3 or rounds < 12 and not all(bench.by_flow[c] for c in range(3)):  # red of a flow marker is rare
        for spread in (1, 2, 16):
            await bench.play(600, 1.0, 0.6, spread, commit=0.02)
            await bench.play(300, 0.3, 0.1, spread)
        await bench.play(1000, 0.1, 0.2, jump=0.02)
        await bench.play(1500, 0.02, 0.05, jump=0.05)
        rounds += 1
    assert len(bench.distances) > 60
    await bench.finish()
    dut._log.info(f"verdicts {dict(bench.decided)}, look-ahead {dict(bench.ahead)}")
    assert all(bench.decided[v] for v in range(8)), "not every verdict was met"
    assert bench.remarked > 100, "too few packets changed colour"
    assert all(bench.by_flow[c] for c in range(3)), f"flow markers gave {dict(bench.by_flow)}"
    assert [n for n in range(1, 7) if bench.ahead[n]] == [*range(1, 7)], bench.ahead
    assert bench.recommits > 20, "too few configurations were changed under traffic"


@cocotb.test()
async def a_decision_in_every_slot_to_one_queue(dut):
    bench = Bench(dut, 7, True, False)
    await bench.start()
    await bench.play(20, 0.0, 0.0)
    start = bench.sent
    await bench.play(500, 1.0, 0.9, spread=1)
    assert bench.sent - start == 500, "the pipeline held a packet back, or took one before its time"
    await bench.finish()


def short_queue(dut, **fields):
    """A bench whose queue 0 is as `fields` say, in packets."""
    bench = Bench(dut, 8, True, False)
    record = mb.queue(**{"masks": (7, 7, 7), "weight": 1, **fields})
    bench.configs[0] = record
    mb.library().vm_configure(bench.model, 0, mb.byref(record))
    return bench


async def served(bench, clocks: int, every: int) -> int:
    """A packet a clock into queue 0, one out of it every so many clocks where there is one; how many came out."""
    out = 0
    for clock in range(clocks):
        waiting = len(bench.fifo[0])
        await bench.play(1, 1.0, 1.0 if clock % every == 0 else 0.0, spread=1)
        out += clock % every == 0 and waiting > 0
    return out


@cocotb.test()
@cocotb.parametrize(limit=[1, 5, 20])
async def a_packet_a_clock_into_a_short_queue_leaves_at_the_ports_rate(dut, limit):
    """Refused packets take no room from those behind them, however short the queue is."""
    bench = short_queue(dut, limit_packets=limit)
    await bench.start()
    await served(bench, 64, 8)
    out = await served(bench, 1600, 8)
    dut._log.info(f"limit {limit}: {out} of 200 turns used")
    assert out >= 198
    await bench.finish()


@cocotb.test()
async def a_packet_a_clock_over_a_step_of_five_packets_leaves_most_turns_used(dut):
    """Averages see a packet only when it is admitted, 23 clocks late: the queue swings round the step but lives."""
    bench = short_queue(dut, curves=[mb.red_curve(5, 5, 1)] * 3)
    await bench.start()
    await served(bench, 60, 8)
    out = await served(bench, 1600, 8)
    dut._log.info(f"{out} of 200 turns used")
    assert out >= 150
    await bench.finish()


@cocotb.test()
async def a_host_read_sees_the_average_aged_to_its_moment(dut):
    bench = short_queue(dut, weight=0.5, **{"lambda": mb.Scaled(40000, 20), "idle_step": 1 << 30})
    await bench.start()
    await bench.play(40, 1.0, 0.0, spread=1)
    await bench.play(400, 0.0, 1.0, spread=1)
    assert not any(bench.fifo)
    stored = mb.u64()
    assert mb.library().vm_average(bench.model, 0, 0, mb.byref(stored)) == 0 and stored.value > 0
    for later in (0, 1000, 100000, 10**9):
        bench.now += later
        dut.io_hostRead_valid.value, dut.io_hostRead_bits.value = 1, 0
        await bench.play(1, 0, 0)
        dut.io_hostRead_valid.value = 0
        await bench.play(2, 0, 0)  # its time is that of the clock before the queue is looked up
        idle = bench.now - bench.left_at
        for _ in range(40):
            if int(dut.io_live_valid.value):
                break
            await bench.play(1, 0, 0)
        got, read = [int(getattr(dut, f"io_live_bits_{e}").value) for e in range(3)], mb.u64()
        assert mb.library().vm_average_aged(bench.model, 0, 0, 1, idle, mb.byref(read)) == 0
        assert got == [read.value] * 3 and (idle > 1000 or got[0] > stored.value * 0.9), f"idle for {idle} ns: {got}"
    assert got == [0, 0, 0]
    await bench.finish()


@cocotb.test()
@cocotb.parametrize(pace=[1, 2, 5, 8])
async def a_burst_behind_silence_sees_the_whole_spell(dut, pace):
    """Not against the model: every average of the burst is at most the old one aged by the silence."""
    step = round(0.0291463 * 2**35)  # -log2(1 - 0.02)
    bench = short_queue(dut, weight=0.02, **{"lambda": mb.Scaled(40000, 25), "idle_step": step})  # halves in 860 us
    await bench.start()
    await bench.play(600, 1.0, 0.0, spread=1)
    await bench.play(900, 0.0, 1.0, spread=1)
    assert not any(bench.fifo)
    old = mb.u64()
    assert mb.library().vm_average(bench.model, 0, 0, mb.byref(old)) == 0
    for silence in (10**6, 10**7):  # 1.2 and 12 halvings
        bench.now += silence
        most = old.value * 2 ** (-silence * 40000 / 2**25 / 1024) * 1.03 + 2
        seen = behind = 0
        for clock in range(28 * pace + 32):
            await bench.play(1, 1.0 if clock % pace == 0 and clock < 28 * pace else 0.0, 0.0, spread=1)
            if not int(dut.io_decision_valid.value):
                continue
            backlog = sum(bench.value(f"backlog_{c}_packets") for c in range(3))
            seen, behind = (seen, behind + 1) if backlog else (seen + 1, behind)
            room = 2**16 * backlog * min(1, 0.12 * behind)  # a later step is at most 0.114 of the way
            assert max(bench.value(f"average_{e}") for e in range(3)) <= most + room, f"packet {seen + behind} forgot"
        await bench.play(40, 0.0, 1.0, spread=1)
        await bench.play(60, 0.0, 1.0, spread=1)
        assert seen >= 3
        assert mb.library().vm_average(bench.model, 0, 0, mb.byref(old)) == 0
    await bench.finish()
