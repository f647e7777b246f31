"""Consumed slots count hops that somebody has carried: losses of packets without a distance stand beside them, in both engines."""

import random

import pytest

from support.captures import pcap
from support.runs import same
from support.victims import ip
from vermilion.configuration.ttl_option import ETHERNET, Wanted, add

pytestmark = pytest.mark.slow

# Each queue loses nearly all that comes.
CONFIG = """
[port]
rate = "1Mbit"

[[queue]]
name = "inferred"
dscp = ["AF11"]
limit_packets = "1p"

[[queue]]
name = "option only"
dscp = ["AF21"]
limit_packets = "1p"
distance = { infer = false }

[[queue]]
name = "nothing"
dscp = ["AF31"]
limit_packets = "1p"
distance = { option = false, infer = false }

[[queue]]
name = "rest"
default = true
limit_packets = "1p"
"""
AF = {"inferred": 10, "option only": 18, "nothing": 26}
SMALL = b"\x02" + bytes(11)  # a station's address
GROUP = b"\x01\0\x5e\0\0\xfb" + bytes(6)
HOPS = 7


def unicast(rng, code, hops, address=SMALL, to=bytes([10, 0, 0, 1])):
    packet = ip(rng, code, hops, 100)
    return address + b"\x08\0" + packet[:16] + to + packet[20:]


def six(code, to, hops, address=SMALL):
    head = (6 << 28 | code << 22).to_bytes(4, "big") + bytes([0, 80, 17, 64 - hops]) + bytes([0x20] + [0] * 15) + to
    return address + b"\x86\xdd" + head + bytes(80)


def to_all(rng, code):
    """What several receive, by one sign of it each."""
    yield unicast(rng, code, HOPS, GROUP)
    yield unicast(rng, code, HOPS, b"\xff" * 6 + bytes(6), bytes([10, 0, 0, 255]))
    yield unicast(rng, code, HOPS, SMALL, bytes([224, 0, 0, 251]))
    yield unicast(rng, code, HOPS, SMALL, b"\xff" * 4)
    yield six(code, b"\xff\x02" + bytes(14), HOPS)


def spread(frames):
    return [(number * 2000, frame, len(frame)) for number, frame in enumerate(frames)]


def lost_in(queue):
    return dict(map(tuple, queue["lost_by_distance"])), queue["wasted_hops"], queue["lost_without_distance"]


@pytest.fixture
def run(tmp_path):
    def both(text, frames):
        file = tmp_path / "config.toml"
        file.write_text(text)
        stats, _ = same(tmp_path, pcap(tmp_path / "in.pcap", frames), "--config", file)
        for queue in stats["queues"]:
            known, slots, others = lost_in(queue)
            names = ("early", "forced", "tail", "evicted")
            assert sum(known.values()) + others == sum(c[n]["packets"] for c in queue["colours"] for n in names)
            assert slots == sum(d * packets for d, packets in known.items())
        return {queue["name"]: queue for queue in stats["queues"]}

    return both


def test_what_has_a_distance_is_counted_and_what_has_none_stands_beside_it(run):
    rng, frames = random.Random(1), []
    marked = lambda frame: add(ETHERNET, frame, len(frame), Wanted(158, 0x1E))[1]
    for _ in range(40):
        for code in AF.values():
            frames += [unicast(rng, code, HOPS), marked(unicast(rng, code, HOPS)), six(code, b"\x20" + bytes(15), HOPS)]
            frames += to_all(rng, code)
        frames.append(SMALL + b"\x08\x06" + bytes(46))  # ARP
    queues = run(CONFIG, spread(frames))
    for name, kinds in (("inferred", 3), ("option only", 1), ("nothing", 0)):
        known, slots, others = lost_in(queues[name])
        assert set(known) <= {HOPS} and slots == HOPS * sum(known.values())
        assert 40 * kinds - 3 <= sum(known.values()) <= 40 * kinds and others >= 40 * (8 - kinds) - 3
    known, slots, others = lost_in(queues["rest"])
    assert not known and slots == 0 and others >= 37


@pytest.mark.parametrize("near", ["several", "one"])
def test_it_is_the_victim_whose_distance_counts(run, near):
    """A full queue of near packets, then far ones, for each of which a near one is dropped: to several, or to one receiver."""
    rng, frames = random.Random(2), []
    first, then = (GROUP, SMALL) if near == "several" else (SMALL, GROUP)
    for rest in range(20):
        frames += [(rest * 100_000_000, unicast(rng, 0, 2, first)) for _ in range(31)]
        frames += [(rest * 100_000_000 + 100_000, unicast(rng, 0, 9, then)) for _ in range(10)]
    text = """
[port]
rate = "1Mbit"

[[queue]]
name = "all"
default = true
limit_packets = "30 packets"
victim = "nearest"
victim_window = 16
"""
    known, slots, others = lost_in(run(text, [(time, frame, len(frame)) for time, frame in frames])["all"])
    print(known, slots, others)
    assert (known, slots) == (({}, 0) if near == "several" else ({2: 200}, 400))
    assert others == (200 if near == "several" else 0)
