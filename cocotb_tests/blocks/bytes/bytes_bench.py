"""Bench of HeaderParser, Distance and HeaderRewrite against the model, over frames with TTL options of every kind."""

import itertools
import os
import random as randomness
from collections import Counter, deque
from ctypes import byref, create_string_buffer

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly

from bench.bundle import ports
from support import model_bindings as mb
from support.option_frames import frames

FIELDS = {
    "isPtpType": "is_ptp_type", "isIp4": "is_ip4", "isIp6": "is_ip6", "l3Offset": "l3_offset", "dscp": "dscp", "ecn": "ecn", "ttl": "ttl", "proto": "proto",
    "hasPorts": "has_ports", "srcPort": "src_port", "dstPort": "dst_port", "isTcp": "is_tcp", "tcpFlags": "tcp_flags",
    "tcpSeq": "tcp_seq", "tcpPayload": "tcp_payload", "hasTtlOption": "has_ttl_option", "initialTtl": "initial_ttl",
    "finalTtl": "final_ttl", "ttlOptionAt": "ttl_option_at",
}  # fmt: skip
PARSER_LATENCY, DISTANCE_LATENCY = 3, 4
HEAD, CELL = 128, 64


async def start(dut, number):
    seed = 100 * int(os.environ.get("VERMILION_SEED", "1")) + number
    dut._log.info(f"seed {seed}")
    cocotb.start_soon(Clock(dut.clock, 4, unit="ns").start())
    dut.parser_in_valid.value = dut.rewrite_in_valid.value = 0
    dut.rewrite_out_ready.value = 1
    dut.reset.value = 1
    for _ in range(4):
        await FallingEdge(dut.clock)
    dut.reset.value = 0
    return randomness.Random(seed)


def parse(frame, types=(158, 0x1E)):
    h = mb.Headers()
    mb.library().vm_parse(frame, len(frame), mb.OptionTypes(*types), byref(h))
    return h


def compare(dut, parser, want, frame):
    """Headers that a parser shows with the model's."""
    for name, of_model in FIELDS.items():
        got = int(getattr(dut, f"{parser}_out_bits_{name}").value)
        assert got == getattr(want, of_model), (name, got, frame.hex())
    for name, of_model in (("srcAddr", want.src_addr), ("dstAddr", want.dst_addr)):
        got = int(getattr(dut, f"{parser}_out_bits_{name}").value)
        assert got == sum(word << 32 * i for i, word in enumerate(of_model)), (name, frame.hex())


@cocotb.test()
async def headers_are_the_models_at_a_frame_a_clock(dut):
    random = await start(dut, 1)
    source, waiting, seen = frames(random), deque(), Counter()
    for types, count in [((158, 0x1E), 40_000), ((0, 0), 500), ((1, 1), 500), ((random.randrange(2, 256), 5), 1000)]:
        ports(dut, "parser_types", {"ip4": types[0], "ip6": types[1]})
        for clock in range(count + PARSER_LATENCY):
            valid = clock < count and random.random() < 0.9
            dut.parser_in_valid.value = valid
            if valid:
                frame, _ = next(source)
                junk = (frame + random.randbytes(HEAD))[:HEAD]  # behind the frame's end, as in a reused cell
                dut.parser_in_bits_data.value = int.from_bytes(junk, "little")
                dut.parser_in_bits_bytes.value = min(len(frame), HEAD)
                waiting.append((clock, frame))
            await ReadOnly()
            if int(dut.parser_out_valid.value):
                sent, frame = waiting.popleft()
                assert clock - sent == PARSER_LATENCY
                want = parse(frame, types)
                compare(dut, "parser", want, frame)
                seen[want.is_ip4, want.has_ttl_option, want.ttl_option_at] += 1
            await FallingEdge(dut.clock)
        assert not waiting
    assert all(seen[ip4, 1, place] > 5 for ip4 in (0, 1) for place in range(9)), seen


def vectors(random):
    """(headers, switches): every pair of hops and path, every TTL, and whatever else."""
    for gone, path in itertools.product(range(256), range(1, 256)):
        if gone <= path or random.random() < 0.05:
            initial = random.randrange(max(gone, min(path + 1, 255)), 256)
            yield (
                dict(
                    is_ip4=1,
                    has_ttl_option=1,
                    initial_ttl=initial,
                    ttl=initial - gone,
                    final_ttl=max(initial - path, 0),
                ),
                (1, 1, 1),
            )
    for ttl, switches in itertools.product(range(256), itertools.product((0, 1), repeat=3)):
        yield dict(is_ip6=1, ttl=ttl), switches
    for _ in range(20_000):
        ip = random.choice([{}, {"is_ip4": 1}, {"is_ip6": 1}, {"is_ip4": 1}])
        ttls = {
            name: random.choice([0, 64, 255, random.randrange(256)]) for name in ("ttl", "initial_ttl", "final_ttl")
        }
        yield ip | ttls | {"has_ttl_option": random.randrange(2)}, [random.randrange(2) for _ in range(3)]


@cocotb.test()
async def distances_are_the_models_at_a_packet_a_clock(dut):
    random = await start(dut, 2)
    library, waiting, seen = mb.library(), deque(), Counter()
    names = {
        name: of_model
        for name, of_model in FIELDS.items()
        if of_model in "is_ip4 is_ip6 ttl has_ttl_option initial_ttl final_ttl".split()
    }
    for vector in itertools.chain(vectors(random), [None] * DISTANCE_LATENCY):
        if vector:
            fields, (option, infer, share) = vector
            h = mb.Headers(**fields)
            ports(dut, "distance_headers", {name: getattr(h, of_model) for name, of_model in names.items()})
            ports(dut, "distance_config", {"option": option, "infer": infer, "share": share})
            waiting.append((vector, library.vm_distance(byref(h), byref(mb.Distance(option, infer, share)))))
        await ReadOnly()
        if len(waiting) > DISTANCE_LATENCY or not vector:
            sent, want = waiting.popleft()
            assert int(dut.distance_distance.value) == want, sent
            seen[want] += 1
        await FallingEdge(dut.clock)
    assert set(seen) == set(range(64)) and not waiting


class Job:
    """A frame as cells, with what its queue entry asks, and as the model edits it."""

    def __init__(self, random, source):
        self.frame, _ = next(source)
        h = parse(self.frame)
        if h.is_ip4 and random.random() < 0.3:  # a wrong checksum, or one that eqn. 3 alone would change
            at = h.l3_offset + 10
            self.frame = self.frame[:at] + random.choice([b"\xff\xff", random.randbytes(2)]) + self.frame[at + 2 :]
        ce, set_dscp, dscp = random.random() < 0.4, random.random() < 0.4, random.randrange(64)
        remove = bool(h.has_ttl_option) and random.random() < 0.7
        self.entry = dict(
            isIp4=h.is_ip4, isIp6=h.is_ip6, l3Offset=h.l3_offset, setCe=ce, setDscp=set_dscp, dscp=dscp, removeOption=remove,
            ttlOptionAt=h.ttl_option_at if h.has_ttl_option else random.randrange(16), lenBytes=len(self.frame),
        )  # fmt: skip
        room = create_string_buffer(self.frame, len(self.frame))
        mb.library().vm_rewrite(room, byref(h), ce, set_dscp, dscp, remove)
        start = h.l3_offset + (20 if h.is_ip4 else 42) + h.ttl_option_at
        self.kind = (
            h.is_ip4,
            "none" if not remove else "first" if start + 4 <= CELL else "second" if start >= CELL else "both",
        )
        self.wanted = [room.raw[i : i + CELL] for i in range(0, len(self.frame), CELL)]
        self.ce = (ce and h.ecn in (1, 2), set_dscp and (h.is_ip4 or h.is_ip6) and dscp != h.dscp)

    def cells(self):
        count = len(self.wanted)
        for i in range(count):
            data = self.frame[CELL * i : CELL * (i + 1)]
            cell = {"data": int.from_bytes(data, "little"), "first": i == 0, "last": i == count - 1, "bytes": len(data)}
            yield {"cell": cell, "queueEntry": self.entry}


@cocotb.test()
async def edits_are_the_models_in_every_cell_with_and_without_stalls(dut):
    random = await start(dut, 3)
    source, seen = frames(random), Counter()
    for stalls in (False, True):
        jobs = [Job(random, source) for _ in range(3000)]
        coming = [cell for job in jobs for cell in job.cells()]
        wanted = deque(
            (data, job.ce if i == 0 else (False, False), job) for job in jobs for i, data in enumerate(job.wanted)
        )
        at = clocks = 0
        holding = False
        while wanted:
            holding = at < len(coming) and (holding or not stalls or random.random() < 0.6)
            dut.rewrite_in_valid.value = holding
            if holding:
                ports(dut, "rewrite_in_bits", coming[at])
            dut.rewrite_out_ready.value = not stalls or random.random() < 0.6
            await ReadOnly()
            if int(dut.rewrite_out_valid.value) and int(dut.rewrite_out_ready.value):
                data, flags, job = wanted.popleft()
                got = int(dut.rewrite_out_bits_cell_data.value).to_bytes(CELL, "little")
                assert got[: len(data)] == data, (job.frame.hex(), job.entry)
                assert (int(dut.rewrite_out_bits_ceWritten.value), int(dut.rewrite_out_bits_dscpWritten.value)) == flags
                seen[job.kind] += 1
            if holding and int(dut.rewrite_in_ready.value):
                at, holding = at + 1, False
            clocks += 1
            await FallingEdge(dut.clock)
        if not stalls:
            assert clocks == len(coming) + 2, "a cell a clock, two clocks of latency"
    assert all(seen[kind] > 50 for kind in [(1, "first"), (0, "first"), (0, "second"), (0, "both"), (1, "none")]), seen
