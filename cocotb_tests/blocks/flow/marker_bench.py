"""Bench of the per-flow marker (256 entries, 64 sets): random packets, each answer compared with the model's, clock by clock."""

import os
import random as randomness
from collections import Counter, deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from bench.bundle import ports
from bench.wires import Wires
from support.flow_bench import ACK, FOLD, SYN, TICK, Model, config, headers, toeplitz, twins

LATENCY = 9
OPENING = 354  # clocks in which the hash takes its key, from a reset and from a seed; the 64 sets are cleared in less
QUEUES = 16
RESET_SEED = (0x9E3779B9, 0x243F6A88, 0xB7E15162, 0xDEADBEEF)  # RandomSource.scala
JUMPS = [1, 2, 9, 200] * 3 + [2**25, 2**26 - 2**15 - 1, 2**26 - 2**15, 2**26 - 1]  # ticks; half a round, and set back
STATE = {"raised": "raised", "average": "average", "burst": "burst", "highestSeq": "highest_seq", "credits": "credits"}
EVENTS = {"agedOut": "aged_out", "tableFull": "table_full"}
EVENTS |= {name: name for name in "adopted collision displaced loss jump probe".split()}


def number(words) -> int:
    return sum(word << 32 * i for i, word in enumerate(words))


class Bench:
    def __init__(self, dut, seed: int):
        dut._log.info(f"seed {seed}")
        self.dut, self.wires, self.random = dut, Wires(dut), randomness.Random(seed)
        self.model = Model(256, RESET_SEED)
        self.expected = deque()  # per clock: None or the model's answer, and what it was of
        self.time, self.met, self.streak = 0, Counter(), 0
        self.next = {}  # sequence number of each flow
        self.last = None  # answer

    async def start(self):
        dut = self.dut
        cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
        dut.io_request_valid.value, dut.io_seed_valid.value, dut.reset.value = 0, 0, 1
        for _ in range(4):
            await FallingEdge(dut.clock)
        dut.reset.value = 0
        await self.settle()

    async def settle(self):
        """Waits until the table is cleared."""
        clocks = 0
        while not int(self.dut.io_ready.value):
            await FallingEdge(self.dut.clock)
            clocks += 1
            assert clocks <= OPENING, "never ready"
        assert clocks == OPENING, f"ready after {clocks} clocks"

    async def reseed(self, words):
        """A new seed between packets: the table is empty after it."""
        self.dut.io_seed_valid.value, self.dut.io_seed_bits.value = 1, number(words)
        await self.clock(None)
        self.dut.io_seed_valid.value = 0
        for _ in range(OPENING):
            assert not int(self.dut.io_ready.value)
            await self.clock(None)
        assert int(self.dut.io_ready.value)
        self.model = Model(256, words)

    async def clock(self, packet):
        """One clock with a packet (headers, configuration, queue) or None at the request."""
        dut = self.dut
        dut.io_request_valid.value = packet is not None
        answer = None
        if packet is not None:
            h, c, queue = packet
            self.drive(h, c, queue)
            answer = self.model.step(h, c, self.time, queue)
        self.expected.append((answer, packet, self.time))
        await FallingEdge(dut.clock)
        if len(self.expected) >= LATENCY:
            self.check(*self.expected.popleft())

    def drive(self, h, c, queue):
        values = {
            "queue": queue, "time": self.time,
            "headers": {
                "isIp4": h.is_ip4, "isIp6": h.is_ip6, "isTcp": h.is_tcp, "tcpFlags": h.tcp_flags, "tcpSeq": h.tcp_seq,
                "tcpPayload": h.tcp_payload, "srcPort": h.src_port, "dstPort": h.dst_port, "hasPorts": h.has_ports,
                "vlan": h.vlan, "srcAddr": number(h.src_addr), "dstAddr": number(h.dst_addr),
            },
            "config": {
                "kind": c.kind, "alpha": c.alpha, "a0": c.a0,
                "ns": c.ns, "na": c.na, "ack": c.ack,
                "increase": c.increase, "idle": c.idle, "halfOpen": c.half_open,
            },
        }  # fmt: skip
        ports(self.wires, "io_request_bits", values)

    def value(self, name: str) -> int:
        return getattr(self.wires, f"io_answer_{name}").value

    def seen(self):
        """What the answer says: its colour, events and state."""
        names = ["colour", "hasState"] + [f"events_{port}" for port in EVENTS] + [f"state_{port}" for port in STATE]
        return {name: self.value(f"bits_{name}") for name in names}

    def check(self, answer, packet, time):
        assert self.value("valid") == (answer is not None), "an answer too early, too late or lost"
        if answer is None:
            return
        want = {"colour": answer.colour, "hasState": answer.has_state}
        want |= {f"events_{port}": getattr(answer, name) for port, name in EVENTS.items()}
        want |= {f"state_{port}": getattr(answer.state, name) for port, name in STATE.items()}
        self.met.update(port for port in EVENTS if want[f"events_{port}"])
        got = self.last = self.seen()
        h, c, queue = packet
        where = (
            f"time {time} queue {queue} seq {h.tcp_seq} flags {h.tcp_flags} payload {h.tcp_payload} ports {h.src_port}"
        )
        assert got == want, f"{where}: got {got}, model {want}"
        self.met[("green", "yellow", "red")[want["colour"]]] += 1
        self.met["raised"] += want["state_raised"]

    async def finish(self):
        for _ in range(2 * LATENCY):
            await self.clock(None)
        self.dut._log.info(f"met {dict(self.met)}")

    def configs(self, kinds=range(4), ages=(0, 1, 10, 100, 65535)):
        r = self.random
        return [
            config(
                kind=r.choice(list(kinds)), alpha=r.choice([*range(9), r.randrange(16)]), increase=r.randrange(2),
                a0=r.choice([0, 0, 1, 100, 700, 7 * 256, r.randrange(2000), r.randrange(2**24), 2**24 - 1]),
                ns=r.choice([0, 1, 5, 255]), na=r.choice([0, 1, 5, 255]),
                ack=r.randrange(2), idle=r.choice(ages), half_open=r.choice(ages),
            )
            for _ in range(QUEUES)
        ]  # fmt: skip

    def packet(self, configs, flows: int, wild: float):
        """A packet of one of the first `flows` flows of all queues, out of order or odd with probability `wild`."""
        r = self.random
        flow = r.randrange(flows)
        queue, ip6 = flow % QUEUES, flow >> 4 & 1
        name = ((flow << 64 * ip6) + 1, 2, flow & 7, 443)
        seq = self.next[flow] = self.next.get(flow, r.choice([0, 2**32 - 5000])) + r.choice([1, 1000, 1460])
        flags, payload = ACK, 1
        if r.random() < wild:
            kind = r.randrange(4)
            if kind == 0:
                flags, payload = r.choice([SYN, SYN | ACK, r.randrange(256)]), r.randrange(2)
            elif kind == 1:
                payload = 0
            else:
                seq -= r.choice([0, 1000, 3000, 2**30, 2**31, 2**30 - 1, r.randrange(2**32)])
        h = headers(seq, payload, flags, name, ip6, vlan=(flow >> 5 & 3) * 0x400001)
        if r.random() < wild / 20:
            h.is_tcp = h.tcp_payload = h.tcp_flags = h.tcp_seq = 0
        return h, configs[queue], queue

    async def play(self, configs, clocks: int, flows: int, pace: float, wild: float, jump: float = 0.0):
        for _ in range(clocks):
            self.time = (self.time + (4 if self.random.random() >= jump else self.random.choice(JUMPS) * TICK)) % 2**48
            packet = self.packet(configs, flows, wild) if self.random.random() < pace else None
            await self.clock(packet)


@cocotb.test()
@cocotb.parametrize(kinds=[(1,), (2,), (3,), (0, 1, 2, 3)])
async def answers_are_the_models_for_any_mixture_of_flows(dut, kinds):
    bench = Bench(dut, int(os.environ.get("VERMILION_SEED", "1")) * 100 + sum(kinds))
    await bench.start()
    for _ in range(6):
        for flows in (1, 2, 3, 8, 300, 3000):
            configs = bench.configs(kinds)
            await bench.play(configs, 250, flows, 1.0, 0.1)
            await bench.play(configs, 100, flows, 0.6, 0.4, 0.02)
            await bench.play(configs, 60, flows, 1.0, 0.2, 0.5)
        await bench.play(bench.configs(kinds, ages=(65535,)), 4000, 400, 1.0, 0.05)
    await bench.finish()
    needed = {*EVENTS, "green", "yellow", "red", "raised"}
    needed -= {(2,): {"probe", "red", "raised"}, (3,): {"green"}}.get(kinds, set())
    assert all(bench.met[name] > 20 for name in needed), dict(bench.met)


@cocotb.test()
async def one_flow_in_every_clock(dut):
    """Long runs without losses and with many, no idle clock: each step of the loop depends on the one before."""
    bench = Bench(dut, 4)
    await bench.start()
    for n in range(9):
        for by_factor in (0, 1):
            c = config(alpha=n, increase=by_factor, a0=bench.random.choice([0, 3, 300, 1792]))
            for k in range(160):
                seq = 1000 * k if bench.random.random() < (0.97 if k < 100 else 0.6) else 1000 * (k - 3)
                await bench.clock((headers(seq, flags=ACK if k else SYN), c, 0))
    await bench.finish()
    assert bench.met["red"] > 100 and bench.met["green"] > 100 and bench.met["raised"] > 100


@cocotb.test()
async def a_run_longer_than_its_count(dut):
    """L_Y ends at 2^17 - 1 with A_Y less than a packet above: what is counted on would be probed; out of RAM and from the packet just ahead."""
    bench = Bench(dut, 8)
    await bench.start()
    c = config(kind=3, alpha=7, increase=1, a0=16383 * 256 + 250)
    await bench.clock((headers(0, flags=SYN), c, 0))
    seq, reds = 0, 0
    while seq < 16384 + 2**17 - 100:  # the answers are not looked at: the state says later whether one was wrong
        seq += 1
        bench.wires.io_request_bits_headers_tcpSeq.value, bench.wires.io_request_bits_headers_tcpFlags.value = seq, ACK
        reds += bench.model.step(headers(seq, flags=ACK), c, bench.time, 0).colour == 2
        await FallingEdge(dut.clock)
    dut.io_request_valid.value = 0
    for _ in range(2 * LATENCY):
        await FallingEdge(dut.clock)
    bench.expected.clear()
    for gap in [0] * 150 + [1, 2, 3, 8] * 20:
        seq += 1
        await bench.clock((headers(seq, flags=ACK), c, 0))
        for _ in range(gap):
            await bench.clock(None)
    await bench.finish()
    assert reds == 1 and bench.met["red"] == 0 and bench.last["state_burst"] == 2**17 - 1


@cocotb.test()
async def one_set_in_every_clock(dut):
    """Flows of one set alone, made and displaced and aged in neighbouring clocks."""
    bench = Bench(dut, 5)
    await bench.start()
    names = ((bench.random.getrandbits(32), 1, bench.random.getrandbits(16), 443) for _ in range(5000))
    flows = [name for name in names if toeplitz(name, RESET_SEED, 6) == 0][:6]
    configs = [config(idle=i, half_open=h, a0=512) for i, h in ((0, 0), (3, 1), (60, 60), (60, 0))]
    for c in configs:
        for k in range(800):
            r = bench.random
            bench.time += r.choice([4, 4, 4, TICK, 2 * TICK]) if k % 200 < 100 else 4
            packet = headers(k * 10, flags=r.choice([SYN, ACK, ACK]), flow=r.choice(flows))
            await bench.clock((packet, c, 0) if r.random() < 0.95 else None)
    await bench.finish()
    assert all(bench.met[name] > 20 for name in "collision agedOut displaced tableFull adopted".split()), dict(
        bench.met
    )


@cocotb.test()
async def a_new_seed_empties_the_table(dut):
    bench = Bench(dut, 6)
    await bench.start()
    configs = bench.configs((1,))
    for words in ((1, 2, 3, 4), (2**32 - 1, 0, 7, 9), (0, 0, 0, 1)):
        await bench.play(configs, 300, 300, 1.0, 0.1)
        await bench.reseed(words)
    await bench.play(configs, 300, 300, 1.0, 0.1)
    await bench.finish()


@cocotb.test()
async def packets_before_ready_are_yellow_and_counted_as_of_a_full_table(dut):
    bench = Bench(dut, 7)
    await bench.start()
    dut.io_seed_valid.value, dut.io_seed_bits.value = 1, 5
    await bench.clock(None)
    dut.io_seed_valid.value = 0
    bench.drive(headers(1, flags=SYN), config(), 3)
    for clock in range(70):
        dut.io_request_valid.value = clock < 60
        await FallingEdge(dut.clock)
        of = clock - (LATENCY - 1)
        if 0 <= of < 60:
            assert bench.value("valid") and bench.value("bits_colour") == 1 and not bench.value("bits_hasState")
            assert [name for name in EVENTS if bench.value(f"bits_events_{name}")] == ["tableFull"]
    for _ in range(OPENING):
        await FallingEdge(dut.clock)
    bench.model, bench.expected = Model(256, (5, 0, 0, 0)), deque()
    for k in range(5):
        await bench.clock((headers(k + 1, flow=(1, 2, 3, 4)), config(), 3))
    await bench.finish()
    assert bench.met["adopted"] == 1


def of_name(name: int, seq: int, flags: int = ACK):
    """A packet's headers and queue, of a name as `flow_bench.twins` has it."""
    flow = name & 2**128 - 1, name >> 128 & 2**128 - 1, name >> 256 & 0xFFFF, name >> 272 & 0xFFFF
    return headers(seq, flags != SYN, flags, flow, name >> 303 & 1, vlan=name >> 304), name >> 288 & 0x7FFF


@cocotb.test()
async def a_flow_with_the_tag_of_another_has_no_state(dut):
    """For each bit of the rest of a name: two names that differ in it alone, and of one tag in one set. Whichever comes first has the state."""
    bench = Bench(dut, 9)
    await bench.start()
    r, c = bench.random, config(a0=512, ns=2)
    bits = {*range(FOLD, 288 + 4), *range(303, 328)}  # the queue has four bits here
    for words, met in twins(bits, 6, r):
        await bench.reseed(words)
        for bit in met:
            name = r.getrandbits(288) | r.getrandbits(4) << 288 | r.getrandbits(25) << 303
            pair = name, name ^ 1 << bit ^ 1 << bit % FOLD
            for k in range(4 + 16):  # the first is settled with its fourth data packet
                h, queue = of_name(pair[k > 4 and r.randrange(2)], 1000 * k, SYN if k > 4 and r.random() < 0.2 else ACK)
                for _ in range(r.choice((0, 0, 0, 1, 2, 4, 9))):
                    await bench.clock(None)
                await bench.clock((h, c, queue))
    await bench.finish()
    refused = bench.met["tableFull"]
    print(f"{len(bits)} bits, {refused} packets without state")
    assert refused == bench.met["collision"] > 4 * len(bits)


@cocotb.test()
async def names_that_differ_in_one_bit_of_the_fold_alone_have_states_of_their_own(dut):
    """One set and one secret part; the rest is the same, so the fold alone tells them apart."""
    bench = Bench(dut, 11)
    await bench.start()
    r, c = bench.random, config(a0=512, ns=2)
    for words, met in twins(range(FOLD), 6, r, folds_alike=False):
        await bench.reseed(words)
        for bit in met:
            name = r.getrandbits(288)
            for k in range(12):
                h, queue = of_name(name ^ (k % 2 if k < 2 else r.randrange(2)) << bit, 1000 * k)
                await bench.clock((h, c, queue))
    await bench.finish()
    assert bench.met["adopted"] == 2 * FOLD and bench.met["tableFull"] == 0, dict(bench.met)


@cocotb.test()
async def entries_of_one_tag_age_are_renewed_and_change_hands(dut):
    """Pairs of names with one tag in one set that is mostly full, ages of a few ticks, in neighbouring clocks: who renews an entry, settles it or takes it."""
    bench = Bench(dut, 10)
    await bench.start()
    r = bench.random
    words, (bit, *_) = next(twins({*range(FOLD, 96)}, 6, r))
    await bench.reseed(words)
    names = ((r.getrandbits(32), 1, r.getrandbits(16), 443) for _ in range(20000))
    flows = [name for name in names if toeplitz(name, words, 6) == 5][:5]
    other = 1 << bit ^ 1 << bit % FOLD
    flows += [(src ^ other & 2**128 - 1, dst ^ other >> 128, *ports) for src, dst, *ports in flows[:3]]
    configs = [config(idle=i, half_open=h, a0=512) for i, h in ((3, 1), (5, 5), (2, 0), (9, 1))]
    for c in configs:
        for k in range(2500):
            bench.time += r.choice([4, 4, 4, 4, TICK, 2 * TICK]) if k % 200 < 120 else 4
            some = flows if k % 500 < 250 else flows[:1] + flows[4:]
            packet = headers(k * 10, flags=r.choice([SYN, ACK, ACK, ACK]), flow=r.choice(some))
            await bench.clock((packet, c, 0) if r.random() < 0.9 else None)
    await bench.finish()
    assert all(bench.met[name] > 50 for name in "collision agedOut displaced tableFull adopted".split()), dict(
        bench.met
    )
