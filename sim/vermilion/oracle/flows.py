"""Groups of flows: the queue of each packet by Toeplitz's hash (Krawczyk, CRYPTO 1994), and the order of their queues by RFC 8290 (rfc8290.py).

The model's lane, that of the experiments, has one group of queues without CoDel. It tells when each packet was enqueued and when each one left. In the order of these times the
statement says which packet is next. The tolerance is 0: the queue and the order of all packets.
"""

import json
import random
import tempfile
from collections.abc import Iterator

from vermilion.configuration import config
from vermilion.profile import quantise

from . import lanes
from .departure import SEED
from .rfc8290 import Flows
from .rows import Finding, Row
from .xoshiro import Source, words

NAME = "rfc8290"
LISTED_NS = 106  # from the time of a packet's decision to where it can be chosen, in network-aqm
CHOSEN_NS = 12  # from the choice of a packet to its departure
UDP = 17
RATE, BYTE_NS = 10**7, 800


def key(seed: int) -> int:
    """Twelve draws, first draw lowest, of the lane's third source with its words rotated by one."""
    first, *others = words(seed, 2)
    source = Source([*others, first])
    return sum(source.draw() << 32 * i for i in range(12))


def place(name: int, secret: int, bits: int) -> int:
    """The queue within a group of 2^bits of the flow with this name."""
    return sum((name & secret >> j).bit_count() % 2 << j for j in range(bits))


def case(number: int) -> dict:
    """A group of 2 to 1,024 queues, and a quantum that may be below or above the longest packet."""
    rng = random.Random(f"{SEED} flows {number}")
    group = {"name": "flows", "default": True, "fq": 2 ** (1 + number % 10), "quantum": rng.choice((1514, 2000, 9000))}
    return {"seed": rng.getrandbits(32) | 1, "port": {"rate": RATE}, "queue": [group | {"limit": "130MB"}]}


def traffic(number: int, count: int, rate: int) -> Iterator[tuple[int, int, int]]:
    """Bursts of some flows: time, bytes and flow. Some send much and most a packet now and then; the load changes, so that queues run empty."""
    rng = random.Random(f"{SEED} flows packets {number}")
    flows = [rng.getrandbits(32) for _ in range(rng.choice((3, 12, 100, 2000)))]
    heavy = flows[: rng.choice((1, 2, 8))]
    at, load = 1e6, 1.0
    for _ in range(count):
        if rng.random() < 1e-3:
            load = rng.choice((0.3, 0.9, 1.0, 1.1))
        size = rng.choice((64, 300, 800, 1514))
        yield int(at) // BYTE_NS * BYTE_NS, size, rng.choice(heavy if rng.random() < 0.6 else flows)
        at += rng.expovariate(load * rate / 8e9 / 670)


def run(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    """`fault`: the statement's quantum is one byte too large, and its seed another one."""
    found = Finding(NAME, "RFC 8290, section 4, with the four rules of decision 37")
    cases, count = (10, 5_000) if quick else (100, 100_000)
    queues_wrong = order_wrong = packets = passed = again = turns = 0
    for number in range(cases):
        note(f"case {number + 1} of {cases}")
        asked = case(number)
        size, quantum = asked["queue"][0]["fq"], asked["queue"][0]["quantum"]
        record = quantise.hardware(config.parse(asked, max(16, size)))
        secret, bits = key(asked["seed"] + (fault is not None)), size.bit_length() - 1
        sent = list(traffic(number, count, asked["port"]["rate"]))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(record, file)
            file.flush()
            text = "".join(f"{at} {bytes_} {flow}\n" for at, bytes_, flow in sent)
            out = lanes.feed([lanes.program(), file.name, str(asked["seed"]), "flows"], text)
        events: list[tuple[int, ...]] = []
        number_of = 0
        for line in out.splitlines():
            kind, at, *rest = map(int, line.split())
            if kind:
                events.append((at - CHOSEN_NS, 1, rest[0]))
                continue
            name = sent[number_of][2] | UDP << 288
            queues_wrong += rest[0] != place(name, secret, bits)
            events.append((at + LISTED_NS, 0, number_of, *rest))
            number_of += 1
        order = Flows(dict.fromkeys(range(size), quantum + (fault is not None)))
        for _, leaves, packet, *rest in sorted(events):
            if leaves:
                passed += bool(order.new)
                if order.leaves() != packet:
                    order_wrong += 1
                    break  # what follows differs, too
            else:
                again += not order.packets[rest[0]] and rest[0] in order.old
                order.arrives(rest[0], packet, rest[1])
        order_wrong += any(order.packets.values())  # a packet never leaves
        queues_wrong += len(sent) - number_of
        packets += number_of
        turns += order.turns
    found.rows.append(
        Row("the queue of each packet", queues_wrong, 0, "packets", packets, "the same hash and key", "none")
    )
    reason = "the same lists, quanta and deficits; all packets leave"
    found.rows.append(Row("groups in which another packet is next", order_wrong, 0, "groups", cases, reason, "none"))
    found.told.append(("packets", f"{packets:,}, of which {passed:,} left while new flows were listed"))
    found.told.append(("turns of old flows that ended", f"{turns:,}"))
    found.told.append(("packets for a queue that was empty and old", f"{again:,}"))
    return found
