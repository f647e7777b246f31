"""The stand-alone lane: service, shapers, accounting, and the configuration record that fills it."""

import copy
import random
from collections import Counter
from ctypes import byref, create_string_buffer
from fractions import Fraction
from pathlib import Path

import pytest

from support.headers import CTAG, IP4, IP6, MACS, checksum, ip4, ip6
from support.model_bindings import BAD, ENQUEUE, NOBUF, TAIL, Decision, library
from support.model_lane import Lane, frame, read
from vermilion.configuration.config_file import load
from vermilion.hardware.driver_library import plain
from vermilion.profile.quantise import cost, hardware

ROOT = Path(__file__).resolve().parents[3]
RATE = 10**9


def queue(index, **fields):
    record = {"index": index, "weight": [[256, 0]] * 6, "lambda": [65535, 0], "idle_step": 2**48 - 1}
    record |= {"masks": [1, 2, 4], "unit": 1}
    record |= dict.fromkeys(("update", "spacing", "size_weight", "ecn", "strict", "priority", "burst", "alpha"), 0)
    record |= dict.fromkeys(("ttl_option", "victim", "victim_by_colour", "victim_window", "fq", "mark_late"), 0)
    record |= {"limit": 2**27 - 1, "limit_packets": 2**27 - 1, "quantum": 1500, "cost": [0, 0], "inv_mean_len": [0, 0]}
    return record | fields


def colours(curve):
    """The curve for drops of each colour; packets with ECN take theirs from it, too."""
    full = dict.fromkeys(("on", "min", "max", "end", "slope1", "base2", "slope2"), 0)
    full |= dict.fromkeys(("inv1", "inv2", "square2"), [0, 0])
    return [{"curve": [full | curve, full], "ecn_own": 0}] * 3


# No marker; red packets leave with DSCP 12.
REMARKS_RED = dict.fromkeys(("kind", "colour_aware", "length", "out", "drop", "packet", "p_drop", "meter"), 0)
REMARKS_RED |= {"cost": [[0, 0]] * 2, "burst": [0, 0], "low_threshold": 0, "high_threshold": 0}
REMARKS_RED |= {"demote": [0, 0], "promote": [0, 0], "remark": [{"dscp": 0, "on": 0}] * 2 + [{"dscp": 12, "on": 1}]}


def record(*queues, rate=RATE, **fields):
    """DSCP 8 q + c goes to queue q and colour c."""
    table = [[min(d // 8, len(queues) - 1), min(d % 8, 2)] for d in range(64)]
    port = {"cost": list(cost(rate)), "burst": 500}
    return {"port": port, "queues": list(queues), "dscp": table, "default": [0, 0], "seed": 1} | fields


@pytest.mark.parametrize("rate", [64_000, 10**6, 10**9, 10**10])
@pytest.mark.parametrize("where", ["port", "queue"])
def test_shapers_keep_their_rate_within_a_thousandth(rate, where):
    shaped = queue(0, cost=list(cost(rate)), burst=500) if where == "queue" else queue(0)
    lane, count, size = Lane(record(shaped, rate=rate if where == "port" else None)), 2000, 777
    for _ in range(count):
        assert lane.arrive(0, frame(0, size)) == ENQUEUE
    sent = lane.drain()
    real = Fraction((count - 1) * size * 8 * 10**9, sent[-1][0].time - sent[0][0].time)
    assert abs(real / rate - 1) < Fraction(1, 1000)


def test_a_burst_is_what_the_shaper_lets_through_at_once():
    """1 Gb/s, 1000 B: 8 us a packet; 40 us of credit are five packets more."""
    lane = Lane(record(queue(0, cost=list(cost(RATE)), burst=40_000), rate=None))
    for _ in range(20):
        lane.arrive(10**6, frame(0, 1000))
    sent = [s.time for s, _ in lane.drain()]
    assert sum(time < sent[0] + 8000 for time in sent) == 6


def test_strict_queues_go_first_by_priority():
    config = record(queue(0), queue(1, strict=1, priority=1), queue(2, strict=1, priority=5))
    lane = Lane(config)
    for q in (0, 0, 1, 1, 2, 2):
        lane.arrive(0, frame(8 * q, 500))
    assert [s.queue for s, _ in lane.drain()] == [0, 2, 2, 1, 1, 0]  # the first went out before the others came


@pytest.mark.parametrize("sizes", [(1500, 64, 9000), (300, 300, 300)])
def test_round_robin_shares_bytes_as_the_quanta_say(sizes):
    quanta = (1000, 2000, 5000)
    lane = Lane(record(*(queue(i, quantum=quantum) for i, quantum in enumerate(quanta))))
    for step in range(0, 2_000_000, max(sizes)):  # all three at once, as much of each
        for q, size in enumerate(sizes):
            for _ in range((step + max(sizes)) // size - step // size):
                lane.arrive(0, frame(8 * q, size))
    loaded = max(s.time for s, _ in lane.take())
    lane.lib.vm_lane_advance(lane.handle, loaded + 10_000_000)
    total = Counter()
    for s, _ in lane.take():
        total[s.queue] += s.len_bytes
    for q, quantum in enumerate(quanta):
        assert abs(total[q] - sum(total.values()) * quantum / sum(quanta)) <= 2 * (quantum + max(sizes))


def test_a_shaped_queue_does_not_hold_up_the_others():
    lane = Lane(record(queue(0, cost=list(cost(10**6)), burst=1), queue(1)))
    for _ in range(100):
        lane.arrive(0, frame(0, 1000))
        lane.arrive(0, frame(8, 1000))
    last = {s.queue: s.time for s, _ in lane.drain()}
    assert last[1] < 102 * 8000 and last[0] >= 99 * 8_000_000


def test_every_frame_is_sent_or_counted_byte_for_byte():
    rng = random.Random(8)
    curve = {"on": 1, "min": 2, "max": 10, "end": 12, "inv1": [2**17, 12], "slope1": 2**31, "inv2": [2**17, 10]}
    curve |= {"base2": 2**31, "slope2": 2**31, "square2": [0, 0]}
    queues = [queue(i, colour=colours(curve), ecn=1, limit_packets=15, spacing=i % 3, update=i % 2) for i in range(8)]
    lane, came, verdicts, time = Lane(record(*queues, buffer_cells=600)), {}, Counter(), 0
    for number in range(20000):
        time += rng.randrange(9000)
        f = (
            frame(rng.randrange(64), rng.randint(34, 1518), rng.randrange(4))
            if rng.random() < 0.9
            else rng.randbytes(60)
        )
        verdict = lane.arrive(time, f, bad=rng.random() < 0.01)
        verdicts[verdict] += 1
        if verdict < 2:
            came[number] = (f, verdict)
    assert len(verdicts) == 7
    sent, written = lane.drain(), 0
    assert sorted(s.id for s, _ in sent) == sorted(came)
    last = {}
    for s, out in sent:
        f, verdict = came[s.id]
        marked = bytearray(f)
        if verdict == 1 and f[15] & 3 != 3:
            marked[15] |= 3
            marked[24:26] = checksum(bytes(f[14:24])[:1] + bytes([f[15] | 3]) + f[16:24] + b"\0\0" + f[26:34]).to_bytes(
                2, "big"
            )
            written += 1
        assert out == bytes(marked)
        assert s.time >= s.arrival and last.get(s.queue, -1) < s.id  # first in, first out
        last[s.queue] = s.id
    total = Counter()
    for _, _, c in lane.counters():
        total.update({v: c.packets[v] for v in range(8)})
        assert c.sent_packets == c.packets[0] + c.packets[1]
        assert c.sent_bytes == c.bytes[0] + c.bytes[1]
        written -= c.ce_written_packets
    assert +total == +verdicts and written == 0


def test_frames_without_room_too_long_bad_or_empty():
    lane = Lane(record(queue(0), buffer_cells=20, max_frame_bytes=1000, rate=64000))
    assert lane.arrive(0, frame(0, 1001)) == NOBUF
    assert lane.arrive(0, frame(0, 640)) == ENQUEUE
    assert lane.arrive(0, frame(0, 640)) == ENQUEUE  # the first has left at once
    assert lane.arrive(0, frame(0, 640)) == ENQUEUE
    assert lane.arrive(0, frame(0, 64)) == NOBUF
    assert lane.arrive(0, frame(0, 64), bad=1) == BAD
    assert lane.lib.vm_lane_arrive(lane.handle, 0, b"", 0, 0, None, byref(Decision())) == -1
    assert len(lane.drain()) == 3


def test_classes_colours_and_remarking():
    config = record(queue(0, marker=REMARKS_RED), queue(1, limit_packets=0))
    config["dscp"][10] = [0, 2]
    lane = Lane(config)
    assert lane.arrive(0, frame(8, 100)) == TAIL
    assert lane.arrive(0, MACS + IP6 + ip6(traffic=10 << 2)) == ENQUEUE
    assert lane.arrive(0, MACS + CTAG + b"\0\1" + IP4 + ip4(tos=10 << 2)) == ENQUEUE
    assert lane.arrive(0, bytes(60)) == ENQUEUE
    (a, six), (b, four), (c, other) = lane.drain()
    assert [(s.queue, s.colour) for s in (a, b, c)] == [(0, 2), (0, 2), (0, 0)]
    assert (six[14] & 15) << 4 | six[15] >> 4 == 12 << 2
    assert four[19] == 12 << 2 and checksum(four[18:38]) == 0
    assert other == bytes(60)


def test_the_same_seed_gives_the_same_run():
    curve = {"on": 1, "min": 0, "max": 100, "end": 100, "inv1": [2**17, 16], "slope1": 2**31, "inv2": [0, 0]}
    curve |= {"base2": 0, "slope2": 0, "square2": [0, 0]}

    def run(seed):
        lane = Lane(record(queue(0, colour=colours(curve)), seed=seed))
        return [lane.arrive(i * 100, frame(0, 100)) for i in range(2000)]

    assert run(1) == run(1) != run(2)


def test_the_shipped_configuration_fills_the_model():
    config = hardware(load(ROOT / "sim/configs/default.toml"))
    file, error = read(config)
    assert file, error
    c = library().vm_config_get(file).contents
    assert [c.egress[0].port_cost.mant, c.egress[0].port_cost.shift] == config["port"]["cost"]
    for q in config["queues"]:
        got = c.queues[q["index"]]
        assert plain(got) | {"index": q["index"], "name": q["name"]} == q
    assert [[k.queue, k.colour] for k in c.egress[0].dscp] == config["dscp"]
    library().vm_config_destroy(file)


BREAKAGES = {
    'queues[0]: unknown key "limit_byte"': lambda c: c["queues"][0].update(limit_byte=1),
    'configuration: key "seed" is missing': lambda c: c.pop("seed"),
    "queues[0].spacing: is 3, must be an integer from 0 to 2": lambda c: c["queues"][0].update(spacing=3),
    "queues[0].quantum: is 0": lambda c: c["queues"][0].update(quantum=0),
    "queues[0].masks: the mask of colour 0": lambda c: c["queues"][0].update(masks=[6, 2, 4]),
    "queues: has queue 0 in a group of 8": lambda c: c["queues"][0].update(fq=3),
    "queues[1].index: queue 0 is there twice": lambda c: c["queues"].append(queue(0)),
    "dscp[3], queue: is 1": lambda c: c["dscp"].__setitem__(3, [1, 0]),
    "dscp: must be a list of 64": lambda c: c["dscp"].pop(),
    "port.cost[0]: is 262144": lambda c: c["port"].update(cost=[2**18, 0]),
    "default, colour: is 3": lambda c: c.update(default=[0, 3]),
}


@pytest.mark.parametrize("sentence", BREAKAGES)
def test_a_broken_record_is_refused_with_its_place(sentence):
    config = copy.deepcopy(record(queue(0)))
    BREAKAGES[sentence](config)
    handle, error = read(config)
    assert not handle and sentence in error


def test_what_is_not_json_is_refused():
    error = create_string_buffer(400)
    assert not library().vm_config_read(b"{", error, len(error))
    assert b"not JSON" in error.value
