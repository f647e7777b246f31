"""CoDel and PIE of the model against RFC 8289 and RFC 8033 in exact arithmetic; sim/tests/oracle holds them to Linux's code state for state."""

import math
import random
import subprocess
from fractions import Fraction

import pytest

from vermilion.oracle import departure
from vermilion.oracle.departure import MS, PIE_MAX, PIE_SECOND

UNIT = 1024  # ns, of CoDel's times
NEVER = 2**31 - 1


def printed(kind: str, words: list, packets: list[tuple[int, int, int]]) -> list[list[int]]:
    text = "".join(f"{ns} {size} {ds}\n" for ns, size, ds in packets)
    command = [departure.ours(), kind, *words]
    done = subprocess.run([str(word) for word in command], input=text, capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in done.stdout.splitlines()]


def codel(
    packets, ns_per_byte=800, target=5000, interval=100_000, mtu=1514, ecn=0, threshold=NEVER, mask=0, selector=0
):
    """Lines for each departure; `target`, `interval` and `threshold` in units of 1,024 ns."""
    words = [ns_per_byte, 16_000, 0, target, interval, mtu, ecn, threshold, mask, selector]
    return printed("codel", words, packets)


def queued(count: int, ds: int = 0) -> list[tuple[int, int, int]]:
    """Packets of 1,000 B that are there from the beginning: the sojourn time of the n-th is that of n others."""
    return [(10**6, 1000, ds)] * count


@pytest.mark.parametrize("interval", [2_000, 20_000, 97_656])
def test_codel_drops_at_the_times_of_rfc_8289(interval):
    """The first an interval after the sojourn time has reached the target, the n-th interval / sqrt(n) after that before it.

    The inverse square root takes one Newton step a drop. From 1 at n = 1 this gives 0.5 at n = 2 instead of 0.71, and then less than 3 % too little,
    soon less than 0.5 %. So drops come up to a quarter of an interval early. Each gap is truncated to 1,024 ns. A drop waits for a departure.
    """
    departs = 1000 * 800  # ns
    lines = codel(queued(12_000), target=5000, interval=interval)
    assert not any(line[1] for line in lines if line[0] <= 10**6 + (5000 + interval) * UNIT)
    times = [line[0] for before, line in zip(lines, lines[1:], strict=False) if line[1] > before[1]]
    drops = [line[1] - before[1] for before, line in zip(lines, lines[1:], strict=False) if line[1] > before[1]]
    assert drops[0] == 1 and lines[-1][1] > 100
    assert times[0] <= 10**6 + (5000 + interval) * UNIT + 3 * departs
    due, number = float(times[0]), 1
    for at, together in zip(times[1:], drops[1:], strict=True):
        for _ in range(together):
            due += interval * UNIT / math.sqrt(number)
            number += 1
        late = at - due
        assert -0.25 * interval * UNIT - 0.005 * (due - times[0]) - UNIT * number <= late <= departs, (number, late)


def test_codel_is_silent_below_the_target_and_with_an_mtu_of_backlog():
    assert codel([(10**6 + i * 800_000, 1000, 0) for i in range(3000)])[-1][1:3] == [0, 0]
    assert codel(queued(3000), mtu=3_000_000)[-1][1:3] == [0, 0]
    below = codel(queued(3000), target=3000 * 800_000 // UNIT + 1, interval=3 * 10**6)
    assert below[-1][1:3] == [0, 0]


def test_codel_marks_what_is_ect_and_drops_the_rest():
    dropped, marked = codel(queued(4000)), codel(queued(4000, ds=2), ecn=1)
    assert dropped[-1][1] > 50 and dropped[-1][2] == 0
    assert marked[-1][2] > 50 and marked[-1][1] == 0
    assert codel(queued(4000, ds=2))[-1][1] == dropped[-1][1], "ECN is off"
    assert codel(queued(4000, ds=departure.NO_DS), ecn=1)[-1][1] == dropped[-1][1], "not IP"


@pytest.mark.parametrize("mask, selector, chosen", [(0, 0, (1, 2, 3)), (3, 1, (1,)), (3, 2, (2,)), (255, 0, ())])
def test_ce_threshold_marks_what_waited_longer_and_is_selected(mask, selector, chosen):
    """The backlog is below `mtu`, so CoDel itself is silent."""
    threshold = 50 * 800_000 // UNIT
    above = sum(((10**6 + i * 800_000) // UNIT - 10**6 // UNIT) > threshold for i in range(1000))
    for ecn in range(4):
        lines = codel(queued(1000, ds=ecn), mtu=10**6, threshold=threshold, mask=mask, selector=selector)
        assert lines[-1][1:3] == [0, above if ecn in chosen else 0], ecn


def test_codel_begins_again_at_the_last_rate_within_16_intervals():
    """RFC 8289, section 5.2: count - lastcount if the last dropping state ended a short time ago, otherwise 1."""
    interval = 5_000
    again = {}
    for silence in (4, 40):
        second = codel(queued(3000), interval=interval)[-1][0] + silence * interval * UNIT
        lines = codel([*queued(3000), *((second, 1000, 0),) * 3000], interval=interval)
        begins = next(i for i, line in enumerate(lines) if line[0] > second and line[9])
        again[silence] = lines[begins][4], lines[begins - 1][4] - lines[begins - 1][5]
    assert again[4][0] == again[4][1] > 10
    assert again[40][0] == 1


SCALE = [(Fraction(1, 10**6), 2048), (Fraction(1, 10**5), 512), (Fraction(1, 10**4), 128)]
SCALE += [(Fraction(1, 1000), 32), (Fraction(1, 100), 8), (Fraction(1, 10), 2)]


def scaled(p: Fraction) -> int:
    """RFC 8033, section 4.2: what alpha and beta are divided by."""
    return next((by for limit, by in SCALE if p < limit), 1)


@pytest.mark.parametrize("seed", range(12))
def test_pie_updates_its_probability_as_rfc_8033_does(seed):
    """p + alpha (delay - target) + beta (delay - delay before) with real numbers, for the delays that the model reports.

    Gains have units of 2^-56 for 64 ns, and are truncated twice. What is left out is less than two units for each unit of a delay.
    """
    print("seed", seed)
    rng = random.Random(f"pie updates {seed}")
    target, alpha, beta = rng.choice((5, 15, 50)) * MS, rng.randint(1, 32), rng.randint(1, 32)
    gains = [gain * (PIE_MAX // PIE_SECOND) >> 4 for gain in (alpha, beta)]
    words = [800, 16_000, rng.choice((0, 5, 50)), 15 * 10**6, target, 150 * MS, *gains, 1514, rng.randrange(2), 0, seed]
    text = departure.traffic(rng, 20_000, 800, (0.6, 0.9, 1.0, 1.02, 1.1, 2), 2e-3)
    lines = printed("pie", words, [tuple(map(int, line.split())) for line in text.splitlines()])
    seen, decays, scales = 0, 0, set()
    for before, line in zip(lines, lines[1:], strict=False):
        old, delay, last = Fraction(before[3], PIE_MAX), line[5], before[5]
        by = scaled(old)
        change = Fraction(alpha, 16) * (delay - target) + Fraction(beta, 16) * (delay - last)
        step = change / PIE_SECOND / by
        if old >= Fraction(1, 10):
            step = min(step, Fraction(2, 100))
        if delay > PIE_SECOND // 4:
            step += Fraction(2, 100)
        wanted = min(max(old + step, 0), 1)
        tolerance = Fraction(2 * (abs(delay - target) + abs(delay - last)) + 10, PIE_MAX)
        got = Fraction(line[3], PIE_MAX)
        if delay == last == 0 and line[8] == 0:  # Linux's decay; RFC 8033 has 0.98
            wanted *= Fraction(63, 64)
            decays += got > 0
        assert abs(got - wanted) <= tolerance, (line, float(got), float(wanted))
        seen += got > 0
        scales.add(by)
    assert seen > 100 and decays > 0 and len(scales) > 2, (seen, decays, scales)


def test_pie_lets_the_first_burst_pass():
    """RFC 8033, section 4.4: nothing is early while the burst allowance of 150 ms of departures lasts."""
    gains = [32 * (PIE_MAX // PIE_SECOND) >> 4] * 2
    words = [800, 16_000, 0, 10**6, MS, 150 * MS, *gains, 1514, 0, 0, 1]
    lines = printed("pie", words, [(10**6 + i * 400_000, 1000, 0) for i in range(2000)])
    first = next(line for line in lines if line[1])
    assert 150 * 10**6 <= first[0] - 10**6 <= 175 * 10**6
    assert any(line[3] > 0 for line in lines if line[0] < 150 * 10**6), "the probability grows meanwhile"
