"""An empty queue forgets: properties over sequences of arrivals, not over single steps, from what a user configures.

Bounds are those of `sim/model/average.h`: over any number of ageings the exponent is right to 0.36 % (0.35 % by the table, the rest by the
rounding of the queue's decay) and 2^-10 of a halving, and truncation costs 0.023 units at most.
"""

import csv
import random
from ctypes import byref
from math import ceil, log, log2

import pytest

from support.captures import pcap
from support.headers import MACS, ip4
from support.model_bindings import Arrival, Decision, Model, library, u64
from support.model_lane import Lane, read
from support.nightly import NIGHTLY
from support.runs import run
from support.victim_floods import engines
from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.toolchain import build

RELATIVE, HALVINGS, UNITS = 0.0036, 2**-10, 0.023
UNIT = 2**16  # of an average


def settings(weight, idle_packet, rate, unit="byte"):
    """A queue as a user asks for it, one average for all colours."""
    queue = {"name": "q", "default": True, "limit": "1MB", "average": {"kind": "red", "weight": weight, "unit": unit}}
    queue["average"]["idle_packet"] = f"{idle_packet}B"
    queue["green"] = {"curve": "red", "min": "5KB", "max": "15KB", "p": 0.1} if unit == "byte" else {"curve": "tail"}
    return config.parse({"port": {"rate": rate}, "queue": [queue]})


def record(*asked):
    """The queue's record, as the model takes it; the handle that holds it."""
    handle, error = read(quantise.hardware(settings(*asked)))
    assert handle, error
    return library().vm_config_get(handle).contents.queues[0]


def any_settings(rng):
    """Weight, packet and rate anywhere in what is legal."""
    return 2 ** -rng.uniform(0.02, 15), rng.randint(64, 9600), int(10 ** rng.uniform(4.81, 11.3))


def within(avg, exponent, got):
    """Whether `got` is `avg` decayed by so many halvings, within the stated bounds."""
    least = avg * 2 ** -(exponent * (1 + RELATIVE)) - UNITS * UNIT
    return least <= got <= avg * 2 ** -((exponent - HALVINGS) * (1 - RELATIVE)) + 1


def halvings(weight):
    return -log2(1 - weight)


@pytest.mark.parametrize("seed", range(40))
def test_many_ageings_come_to_the_same_as_one(seed):
    """N ageings of t/N, with packets' steps or without, against the exact decay by t; N up to 2^12 here."""
    rng = random.Random(seed)
    weight, packet, rate = any_settings(rng)
    ageings_of(rng, weight, packet, rate, 2 ** rng.randint(0, 12))


@pytest.mark.parametrize(
    "seed, asked", list(enumerate([(2**-15, 9600, 64_000), (0.002, 1000, 10**7), (0.5, 64, 2 * 10**11)]))
)
def test_a_million_ageings_come_to_the_same_as_one(seed, asked):
    """The slowest decay that is legal, the default, and one of the fastest, over 2^20 ageings."""
    ageings_of(random.Random(seed), *asked, 2**20)


def ageings_of(rng, weight, packet, rate, count):
    queue, unit = record(weight, packet, rate), halvings(weight)
    for steps in (0, 1):
        packet_ns = 8e9 * packet / rate
        spell = max(1, round(rng.choice([0.01, 1, 3]) / unit * packet_ns / count))  # ns; of all: up to some halvings
        if steps and count * unit > 60:
            continue  # 0 after a few
        avg = now = 2 ** rng.randint(24, 42)
        residue, total = u64(), 0
        for _ in range(count):
            now = library().vm_average_age(now, spell, byref(queue), steps, byref(residue))
        total = unit * (count * spell / packet_ns + count * steps)
        about = (
            f"weight {weight}, {packet} bytes, {rate} bit/s, {count} times {spell} ns: {avg} to {now}, {total} halvings"
        )
        assert within(avg, total, now), about


SPACINGS = [4, 8, 20, 24, 28, 1000, 10**6, 3600 * 10**9]  # ns: one a cycle to one an hour


@pytest.mark.parametrize("spacing", SPACINGS)
@pytest.mark.parametrize("weight", [2**-15, 0.0012, 0.002, 0.02, 0.25, 0.9])
def test_an_empty_queue_falls_below_any_threshold_within_k_over_w_packets(spacing, weight):
    """k = ln(start / threshold) and the bounds above; six packets more, as five steps may still be to come where packets are a cycle apart."""
    rng = random.Random(f"{spacing} {weight}")
    slowest = weight < 0.001
    for _ in range(1 if slowest else 5):
        _, packet, rate = any_settings(rng)
        # A step in the unit of time, and a spell that takes nothing away by itself: the slowest port there is.
        queue = record(weight, packet, 64_000 if rng.random() < 0.5 else rate)
        start = 2**27 - 1 if not slowest else 1000
        threshold = start / 4 if slowest else 2 ** rng.uniform(0, 20)
        model, time = Model(queue), 10**6
        one = lambda q, n: model.decide(0, (0, 0, 0), time=time, n=(n, n, n), **q)
        fill(model, start, time)
        time += 1000
        k = log(start / threshold) * (1 + RELATIVE) + HALVINGS * log(2)
        most = ceil(k / weight) + 6
        for packets in range(1, most + 1):
            time += spacing
            n = min(packets, 1 + 20 // spacing)
            if one({}, n).avg < threshold * UNIT:
                break
        else:
            raise AssertionError(f"weight {weight}, {packet} bytes: {model.averages()[0] / UNIT} after {most} packets")


def fill(model, length, time):
    """An average of `length`: a queue that has stood at it, by a weight of 1 for once."""
    kept = model.queues[0].weight[0].mant, model.queues[0].weight[0].shift
    model.queues[0].weight[0].mant, model.queues[0].weight[0].shift = 256, 0
    assert library().vm_configure(model.handle, 0, byref(model.queues[0])) == 0
    arrival = Arrival(time=time, len_bytes=64)
    arrival.backlog_bytes[0], arrival.n[0], arrival.n[1], arrival.n[2] = length, 1, 1, 1
    assert library().vm_decide(model.handle, byref(arrival), byref(Decision())) == 0
    assert model.averages()[0] == length * UNIT
    model.queues[0].weight[0].mant, model.queues[0].weight[0].shift = kept
    assert library().vm_configure(model.handle, 0, byref(model.queues[0])) == 0


ETHERTYPE = b"\x08\0"
CASES = [(60, 150), (60, 250), (60, 400), (310, 250)]  # bytes, us between two at 10 Mbit/s
FILL, AFTER = 200, 40_000
# Small frames through the RTL; those that are dropped are among the first 500. All of them in the nightly run.
IN_RTL = AFTER if NIGHTLY else 3_000


def arrivals(size, gap_us, rate, after=AFTER):
    """200 frames of 1,486 bytes at once, silence of 0.3 s at 10 Mbit/s, then small frames that find the queue empty; ns and frame."""
    scale = rate // 10**7
    large, small = (MACS + ETHERTYPE + ip4(payload=bytes(length - 34)) for length in (1486, size))
    silence, gap = 300 * 10**6 // scale, gap_us * 1000 // scale
    return [(1000, large)] * FILL + [(1000 + silence + i * gap, small) for i in range(1, after + 1)]


@pytest.mark.parametrize("rate", [10**7, 10**10])
@pytest.mark.parametrize("case", CASES)
def test_a_queue_that_was_full_accepts_again(case, rate):
    """A load of 10 to 99 % that finds the queue empty: 2.5 % are dropped at most, while the average comes down."""
    lane = Lane(quantise.hardware(settings(0.002, 1000, rate)))
    verdicts = [lane.arrive(time, frame) for time, frame in arrivals(*case, rate)]
    accepts_again(verdicts[FILL:])


def accepts_again(verdicts):
    """Whatever is dropped is among the first 1,000 small frames, 2.5 % of 40,000."""
    assert any(verdicts) and not any(verdicts[AFTER // 40 :]), [i for i, verdict in enumerate(verdicts) if verdict]


@pytest.mark.parametrize("rate", [10**10, 10**11])
@pytest.mark.parametrize("case", CASES)
def test_a_high_average_of_a_fast_queue_comes_down(case, rate):
    """The same behind decisions alone: no input is as fast as a port of 100 Gbit/s, which would have to stand behind one."""
    model, (size, gap) = Model(record(0.002, 1000, rate)), case
    fill(model, 23_800, 1000)
    time = lambda i: 1000 + (300 * 10**6 + i * gap * 1000) * 10**7 // rate
    n = 1 + 20 // (time(1) - time(0))
    accepts_again(
        [
            model.decide(len_bytes=size, time=time(i), n=(n, n, n), draw=i * 0x9E3779B1 % 2**32).verdict
            for i in range(AFTER)
        ]
    )


QUEUE = """
[port]
rate = %d

[[queue]]
name    = "q"
default = true
limit   = "1MB"
green   = { curve = "red", min = "5KB", max = "15KB", p = 0.1 }
"""


@pytest.mark.slow
@pytest.mark.parametrize("rate", [10**7, 10**10])
@pytest.mark.parametrize("case", CASES)
def test_the_hardware_accepts_again_as_the_model_does(tmp_path, case, rate):
    """The cases above, with fewer small frames, through both engines, which agree on every decision."""
    file, trace = tmp_path / "queue.toml", tmp_path / "trace.csv"
    file.write_text(QUEUE % rate)
    capture = pcap(
        tmp_path / "in.pcap", [(10**9 + ns, frame, len(frame)) for ns, frame in arrivals(*case, rate, IN_RTL)]
    )
    for engine in ("model", "rtl"):
        stats = run(tmp_path, capture, "--config", file, "--engine", engine, "--trace", trace)
        assert engine == "model" or stats["replay"]["decisions"] == stats["replay"]["agreed"] == FILL + IN_RTL
        with trace.open() as lines:
            verdicts = [int(row["verdict"]) for row in csv.DictReader(lines) if row["refresh"] == "0"]
        accepts_again(verdicts[FILL:])


WIDE = "nic100g-victims"  # a 512-bit input takes 128 Gbit/s


@pytest.fixture(scope="module")
def wide():
    return build.simulator(WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("size, gap_ns", [(size, gap_us // 10 if gap_us < 400 else 60) for size, gap_us in CASES])
def test_the_hardware_accepts_again_at_100_gbit(wide, tmp_path, size, gap_ns):
    """The same at 100 Gbit/s, where 300 frames raise the average above `max` and the last of them leaves after 32 us.

    At 60 ns every small frame finds the queue empty; at 15 and 25 ns it meets its predecessor, which takes longer than that through the lane.
    """
    large, small = (MACS + ETHERTYPE + ip4(payload=bytes(length - 34)) for length in (1486, size))
    frames = [(1000, large)] * 300 + [(33_000 + i * gap_ns, small) for i in range(IN_RTL)]
    capture = pcap(tmp_path / "in.pcap", [(10**9 + ns, frame, len(frame)) for ns, frame in frames])
    _, rows = engines(wide, tmp_path, QUEUE % 10**11, capture, build.shape(WIDE), ())
    rows = [row for row in rows if row["refresh"] == "0"]
    after = rows[300:]
    assert len(after) == IN_RTL and int(after[0]["average_0"]) > 15_000 * UNIT
    if gap_ns == 60:
        assert all(row["queued_packets"] == "0" for row in after)
    accepts_again([int(row["verdict"]) for row in after])
