"""Push-outs in queues of every kind of service: shaped, strict, with small and large quanta, at random. Both engines are one, frame by frame and clock by clock."""

import random

import pytest

from support.captures import pcap
from support.victim_floods import engines, floods
from support.victims import CONFIG, TAILED
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

OFFERED = {"nic100g-victims": 200_000_000_000, "lab-victims-few-cells": 10_000_000_000}


def service(rng, gbit: int) -> str:
    """What a queue asks of the scheduler, in the words of a configuration."""
    words = []
    if rng.random() < 0.6:
        words.append(f'rate = "{max(1, int(gbit * 1000 * rng.choice((0.02, 0.1, 0.3, 0.7, 1.2))))}Mbit"')
        if rng.random() < 0.5:
            words.append(f'burst = "{rng.choice((2, 9, 40))}KB"')
    if rng.random() < 0.5:
        words.append(f"priority = {rng.randrange(1, 8)}")
    elif rng.random() < 0.5:
        words.append(f"quantum = {rng.choice((64, 128, 300, 1514, 9000))}")
    return "".join(f"\n{word}" for word in words)


@pytest.mark.parametrize(
    "preset, form, gbit, seed",
    [
        ("nic100g-victims", CONFIG, 40, 1),
        ("nic100g-victims", TAILED, 95, 2),
        ("nic100g-victims", CONFIG, 3, 3),
        ("lab-victims-few-cells", CONFIG, 4, 4),
        ("lab-victims-few-cells", TAILED, 1, 6),
    ],
    ids=["wide", "wide-tail", "wide-slow", "narrow", "narrow-tail"],
)
def test_both_engines_are_one_in_shaped_and_strict_queues(tmp_path, preset, form, gbit, seed):
    print("seed", seed)
    rng = random.Random(seed)
    head, *queues = (form % f"{gbit}Gbit").split("[[queue]]")
    text = head + "".join(f"[[queue]]{service(rng, gbit)}{queue}" for queue in queues)
    print(text)
    assert "\nrate = " in text.split("[[queue]]", 1)[1] and "\npriority = " in text
    capture = pcap(tmp_path / "in.pcap", floods(seed))
    shape = build.FOR_BENCHES[preset]
    _, rows = engines(build.simulator(preset), tmp_path, text, capture, shape, ("--rate", OFFERED[preset]))
    assert sum(row["evicted"] == "1" for row in rows) > 100


# The victim is the newest of two packets, and the first may be taken in the clock in which the arriving one is linked in its stead. At these rates of
# the port that comes in every phase of the arrivals.
@pytest.mark.parametrize(
    "preset, rate, places", [("lab-victims-few-cells", "3.1Gbit", 4), ("nic100g-victims", "47Gbit", 8)]
)
def test_both_engines_are_one_where_the_victim_is_the_only_one_behind_the_head(tmp_path, preset, rate, places):
    text = (TAILED % rate).replace("30 packets", f"{places + 1} packets")
    capture = pcap(tmp_path / "in.pcap", floods(1))
    pace = ("--rate", OFFERED[preset])
    _, rows = engines(build.simulator(preset), tmp_path, text, capture, build.FOR_BENCHES[preset], pace)
    assert sum(row["evicted"] == "1" and row["queued_packets"] == str(places + 1) for row in rows) > 20
