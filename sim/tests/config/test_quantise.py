"""The quantiser against exact rational arithmetic."""

import math
import random
import re
from fractions import Fraction
from pathlib import Path

import pytest

from support import exact_words
from vermilion.configuration import config
from vermilion.hardware.profile_fields import BY_NAME
from vermilion.profile import curves, quantise

AVG, PROB = 2**16, 2**32


def in_format(pair, mant_bits, shift_bits=6):
    return 0 <= pair[0] < 2**mant_bits and 0 <= pair[1] < 2**shift_bits


def sweep(low, high, count):
    """Fractions evenly spaced in the logarithm, both ends among them."""
    ratio = math.log(high / low)
    middle = [Fraction(low * math.exp(ratio * i / count)).limit_denominator(10**12) for i in range(1, count)]
    return [Fraction(low), *middle, Fraction(high)]


def test_every_weight_is_within_a_256th_of_what_was_asked():
    for w in sweep(2.0**-15, 1.0, 4000):
        for n, pair in enumerate(quantise.weights(w), 1):
            asked = 1 - (1 - w) ** n
            assert in_format(pair, 9, 5)
            assert abs(quantise.value(pair, 8) / asked - 1) <= Fraction(1, 256), (float(w), n)
            assert quantise.value(pair, 8) <= 1


def test_weight_one_is_exact():
    assert quantise.weights(Fraction(1)) == [(256, 0)] * 6


def test_weights_never_shrink_with_n():
    for w in sweep(2.0**-15, 1.0, 500):
        held = [quantise.value(pair) for pair in quantise.weights(w)]
        assert held == sorted(held)


def test_every_rate_is_within_a_tenth_of_a_percent_and_fits():
    for rate in sweep(64e3, 200e9, 3000):
        pair = quantise.cost(int(rate))
        assert in_format(pair, 18)
        assert abs(quantise.value(pair) * int(rate) / (8 * 10**9) - 1) < Fraction(1, 10**5)


def test_every_width_has_a_normalised_inverse():
    rng = random.Random(1)
    for width in [
        1,
        2,
        3,
        2**27 - 1,
        *(int(w) for w in sweep(1.0, 2.0**27 - 1, 2000)),
        *(rng.randrange(1, 2**27) for _ in range(500)),
    ]:
        pair = quantise.inverse(width)
        assert in_format(pair, 18) and pair[0] >= 2**17
        assert 0 <= 1 - quantise.value(pair) * width / 256 <= Fraction(1, 2**17)


def test_size_weight_is_within_a_32768th():
    for mean in range(64, 9601):
        pair = quantise.size_weight(mean)
        assert in_format(pair, 16)
        assert abs(quantise.value(pair) * mean / 4096 - 1) <= Fraction(1, 2**15)


def test_idle_decay_halves_in_the_half_life():
    for w in (2.0**-15, 0.002, 0.02, 0.5, 0.999):
        for rate in (64_000, 10**7, 10**10, 200 * 10**9):
            pair = quantise.idle_lambda(quantise.exact(w), 1000, rate)
            assert in_format(pair, 16)
            packet_ns = 8e12 / rate
            half_life = packet_ns / -math.log2(1 - w)
            assert float(quantise.value(pair)) * half_life / 1024 == pytest.approx(1, rel=2**-14)


def test_idle_decay_of_weight_one_is_the_greatest_there_is():
    assert quantise.idle_lambda(Fraction(1), 1000, 10**9) == (65535, 0)


# The host rounds p's to 2^-33 each and 1/width down by up to 2^-17 of itself; the hardware truncates the position to 2^-24 and two products.
def bound(slope: Fraction) -> Fraction:
    return slope * (Fraction(1, 2**17) + Fraction(2, 2**24)) + Fraction(4, 2**32)


def exact_curve(low, high, end, top, kind, a):
    if a < low:
        return Fraction(0)
    if a < high:
        return top * (a - low) / (high - low)
    if a >= end:
        return Fraction(1)
    x = a - high
    if kind == "gentle":
        return top + (1 - top) * x / (end - high)
    s = top / (high - low)
    a2 = ((high - low) - (end - low) * top) / ((high - low) * Fraction(end - high) ** 2)
    return top + s * x + a2 * x * x


def profile(rng):
    kind = rng.choice(["red", "gentle", "exred"])
    scale = 2 ** rng.randint(3, 25)
    low = rng.randrange(0, scale)
    high = low + rng.randrange(1, scale)
    end = {"red": high, "gentle": 2 * high}.get(kind) or high + rng.randrange(1, scale)
    most = Fraction(high - low, end - low) if kind == "exred" else Fraction(1)
    p = float(math.floor(most * rng.random() * 10**6)) / 10**6
    return kind, low, high, min(end, 2**27 - 1), p


def queue_with(kind, low, high, end, p):
    green = {"curve": kind, "min": low, "max": high, "p": p} | ({"end": end} if kind == "exred" else {})
    raw = {"port": {"rate": "1Gbit"}, "queue": [{"name": "q", "default": True, "green": green}]}
    return config.parse(raw).queue[0]


def test_integer_curves_stay_within_the_stated_bound_of_the_exact_ones():
    rng = random.Random(2)
    for _ in range(600):
        kind, low, high, end, p = profile(rng)
        queue = queue_with(kind, low, high, end, p)
        record = quantise.curve_record(queue.green, queue)
        top = quantise.exact(p)
        # the steepest slope in position units: at most base rise, b1 + 2 b2
        _, b1, b2 = exact_words.polynomial(queue.green, queue)
        for _ in range(40):
            a = rng.randrange(0, min(end + 2, 2**27) * AVG)
            held = Fraction(curves.integer_probability(record, a), PROB)
            asked = exact_curve(low, high, end, top, kind, Fraction(a, AVG))
            slope = top if Fraction(a, AVG) < high else b1 + 2 * b2
            assert abs(held - asked) <= bound(slope), (kind, low, high, end, p, a)


def test_curves_are_zero_below_min_and_one_from_the_end():
    rng = random.Random(3)
    for _ in range(300):
        kind, low, high, end, p = profile(rng)
        queue = queue_with(kind, low, high, end, p)
        record = quantise.curve_record(queue.green, queue)
        assert curves.integer_probability(record, max(0, low * AVG - 1)) == 0
        assert curves.integer_probability(record, end * AVG) == PROB


def test_a_step_goes_from_zero_to_one_at_its_threshold():
    record = quantise.curve_record(*(lambda q: (q.green, q))(queue_with("red", 3000, 3000, 3000, 1.0)))
    assert curves.integer_probability(record, 3000 * AVG - 1) == 0
    assert curves.integer_probability(record, 3000 * AVG) == PROB


def test_probability_one_is_exactly_one():
    assert quantise.probability(quantise.exact(1.0)) == PROB
    assert quantise.probability(quantise.exact(1)) == PROB


@pytest.mark.parametrize("spacing, offset", [("uniform", 0), ("wait", 1)])
def test_effective_rate_is_that_of_a_long_run(spacing, offset):
    rng = random.Random(4)
    for p in (Fraction(1, 50), Fraction(1, 10), Fraction(3, 10), Fraction(7, 10)):
        drops, s, r, packets = 0, 0.0, rng.random(), 200_000
        for _ in range(packets):
            s += float(p)
            if s >= r + offset:
                drops, s, r = drops + 1, 0.0, rng.random()
        assert drops / packets == pytest.approx(float(quantise.effective(spacing, p)), rel=0.03)


def test_effective_rate_of_small_p_tends_to_two_and_two_thirds():
    p = Fraction(1, 10**6)
    assert float(quantise.effective("uniform", p) / p) == pytest.approx(2, rel=1e-5)
    assert float(quantise.effective("wait", p) / p) == pytest.approx(2 / 3, rel=1e-5)
    assert quantise.effective("geometric", p) == p
    for spacing in BY_NAME["spacing"].words:
        assert quantise.effective(spacing, Fraction(1)) == 1
        assert quantise.effective(spacing, Fraction(0)) == 0


def test_masks_and_classes_of_the_record():
    raw = {
        "port": {"rate": "1Gbit"},
        "queue": [{"name": "af1", "dscp": ["AF11", 12, "af13"], "average": {"kind": "rio-c"}}],
    }
    record = quantise.hardware(config.parse(raw))
    assert record["queues"][0]["masks"] == [1, 3, 7]
    assert [record["dscp"][code] for code in (10, 12, 14)] == [[0, 0], [0, 1], [0, 2]]
    assert record["dscp"][0] == [1, 0] and record["default"] == [1, 0]
    assert record["queues"][1]["name"] == "default"


def test_no_burst_is_shorter_than_the_scheduler_may_be_late_or_longer_than_its_register():
    for queues in (1, 16, 1024):
        least = 4 * (queues + 64)
        for rate in (64_000, 10**9, 2 * 10**11):
            assert quantise.burst_ns(0, rate, queues) == least
            assert quantise.burst_ns(rate // 8, rate, queues) == 10**9
    assert quantise.burst_ns(10**8, 64_000, 16) == 2**40 - 1
    assert quantise.burst_ns(3044, None, 16) == 0


def test_the_lateness_is_the_one_the_shaper_states():
    root = Path(__file__).resolve().parents[3]
    held = re.search(r"entries \+ (\d+)", (root / "hw/src/vermilion/schedule/DueTime.scala").read_text())
    assert int(held[1]) == quantise.LATENESS_CLOCKS
    held = re.search(r"LaneClockNs = (\d+)", (root / "sim/model/timing.h").read_text())
    assert int(held[1]) == quantise.CLOCK_NS


def test_check_shows_a_burst_that_was_raised_and_no_other():
    raw = {"port": {"rate": "10Gbit"}, "queue": [{"name": "a", "default": True, "rate": "100Gbit"}]}
    shown = {(item.queue, item.field): item.real for item in quantise.report(config.parse(raw))}
    assert shown[("port", "burst, ns")] == shown[("a", "burst, ns")] == "260"
    raw["port"]["burst"] = raw["queue"][0]["burst"] = "1MB"
    assert not any(item.field == "burst, ns" for item in quantise.report(config.parse(raw)))
