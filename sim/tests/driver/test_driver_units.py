"""The driver library's conversion of single values (sw_driver/lib/vm_units.c) against exact fractions, on random and on extreme values."""

import ctypes
import random
from fractions import Fraction
from types import SimpleNamespace

import pytest

from support import exact_words
from vermilion.hardware.driver_library import C, library, number, pair, plain

SEED = 20
RATES = [64_000, 64_001, 99_999, 10**6, 10**9, 10**10, 10**11, 199_999_999_999, 2 * 10**11]
# Weights as TOML has them: shortest decimals of doubles, with up to 17 digits and 21 places.
EDGES = [2.0**-15, 3.0517578125000003e-05, 0.0001, 0.002, 0.02, 0.25, 0.5, 0.99, 0.9999999999999999, 1, 1.0]
# Probabilities too small to show, which still bend what they are subtracted from.
TINY = [0, 0.0, 5e-324, 1e-300, 1e-60, 1e-40, 1.2345678901234567e-20, 2.0**-33, 1.1641532182693482e-10]


def decimals(count, low=0.0, high=1.0):
    """Doubles of all magnitudes from `low`, and round ones."""
    rng = random.Random(SEED)
    for _ in range(count):
        yield rng.uniform(low, high)
        yield round(rng.uniform(low, high), rng.randint(5, 9)) or high
        yield min(high, max(low, 10 ** rng.uniform(-4.51, 0)))


def test_numbers_keep_their_value():
    for x in [*EDGES, *TINY, *decimals(300)]:
        held, asked = number(exact_words.exact(x)), exact_words.exact(x)
        assert Fraction(held.num, held.den * 10**held.tens) == asked, x
    assert Fraction(number(Fraction(1, 3)).num, number(Fraction(1, 3)).den) == Fraction(1, 3)
    with pytest.raises(ValueError, match="no exact form"):
        number(Fraction(1, 3 * 2**64))


def test_weights_and_their_powers_are_the_exact_ones():
    for x in [*EDGES, *decimals(700, 2.0**-15)]:
        w = exact_words.exact(x)
        for n in range(1, 7):
            assert pair(library().vm_weight(number(w), n)) == exact_words.weight(w, n), (x, n)


def test_idle_decays_are_those_of_sixty_digits():
    """Dense in the logarithm: 4,000 weights, among them every step of 2^-16 next to both ends."""
    rng = random.Random(SEED)
    dense = [2.0**-15 * 2 ** (15 * i / 2500) for i in range(2500)]
    ends = [2.0**-15 + i * 2.0**-16 for i in range(500)] + [1 - i * 2.0**-16 for i in range(1, 500)]
    for x in [*EDGES, *dense, *ends, *decimals(200, 2.0**-15)]:
        w, rate, length = (
            exact_words.exact(x),
            rng.choice(RATES),
            rng.choice([64, 1000, 1500, 9600, rng.randint(64, 9600)]),
        )
        held = pair(library().vm_idle_decay(number(w), length, rate))
        assert held == exact_words.idle_decay(w, length, rate), (x, length, rate)


def test_binary_fractions_of_tc_are_exact():
    """RED's probability as Linux hands it over: Q0.32."""
    rng = random.Random(SEED)
    for p in [1, 2, 3, 2**31, 2**32 - 1, *(rng.randrange(1, 2**32) for _ in range(300))]:
        assert library().vm_probability(C.Number(p, 2**32, 0), 32) == p
        assert library().vm_probability(C.Number(p, 2**32, 0), 16) == min(
            exact_words.probability(Fraction(p, 2**32), 16), 2**16
        )


def test_probabilities_are_rounded_to_nearest_and_one_is_exact():
    for x in [*EDGES, *TINY, 0.5 + 2.0**-33, *decimals(700)]:
        p = exact_words.exact(x)
        for frac in (16, 32):
            assert library().vm_probability(number(p), frac) == exact_words.probability(p, frac), (x, frac)
    assert library().vm_probability(number(Fraction(3, 2)), 32) == 2**32


def test_costs_bursts_and_depths_are_the_exact_ones():
    rng = random.Random(SEED)
    for rate in [*RATES, *(int(10 ** rng.uniform(4.81, 11.3)) for _ in range(1000))]:
        assert pair(library().vm_cost(rate)) == exact_words.cost(rate), rate
        for length in (0, 1, 59, 1522, 64 * 2**20, rng.randrange(10**8)):
            assert library().vm_depth_ns(length, rate) == exact_words.depth_ns(length, rate), (length, rate)
            for queues in (1, 16, 1024):
                assert library().vm_burst_ns(length, rate, queues) == exact_words.burst_ns(length, rate, queues)
    assert pair(library().vm_cost(0)) == (0, 0) and library().vm_burst_ns(3044, 0, 16) == 0


def test_inverses_and_size_weights_are_the_exact_ones():
    rng = random.Random(SEED)
    widths = {0, 1, 2, 3, 2**27 - 1, *(2**i for i in range(27)), *(3 * 2**i for i in range(25))}
    for width in [*widths, *(rng.randrange(1, 2 ** rng.randint(1, 27)) for _ in range(1000))]:
        assert pair(library().vm_inverse(width)) == exact_words.inverse(width), width
    for mean in range(64, 9601):
        assert pair(library().vm_size_weight(mean)) == exact_words.size_weight(mean), mean


def test_spans_averages_and_ages_of_markers_are_the_exact_ones():
    rng = random.Random(SEED)
    for x in [1, 0.5, 0.3, 1e-4, *decimals(300, 1e-4)]:
        p, width = exact_words.exact(x), rng.randrange(2 ** rng.randint(1, 43))
        assert pair(library().vm_span(width, number(p))) == exact_words.span(width / p), (x, width)
    for x in (0, 0.00196, 7, 7.5, 65535, 1234.56789, 0.001953125):
        assert library().vm_flow_average(number(exact_words.exact(x))) == exact_words.nearest(
            exact_words.exact(x) * 256
        )
    for ns in (2**22, 2**21 - 1, 2**21, 65535 * 2**22, *(rng.randrange(2**38) for _ in range(200))):
        assert library().vm_flow_age(ns) == exact_words.nearest(Fraction(ns, 2**22))


def test_alpha_has_a_code_at_each_power_of_two():
    for code in range(1, 12):
        exact = Fraction(2) ** (code - 8)
        for same in (number(exact), C.Number(exact.numerator * 6, exact.denominator * 6, 0)):
            assert library().vm_alpha(same) == code, exact
        for near in (exact + Fraction(1, 10**15), exact - Fraction(1, 10**15), 3 * exact / 2):
            assert library().vm_alpha(number(near)) == 0, near
    for none in (number(0), C.Number(0, 0, 0), C.Number(5, 0, 0), number(16), number(Fraction(1, 256))):
        assert library().vm_alpha(none) == 0


def test_pool_has_whole_cells():
    for bytes_ in (0, 63, 64, 127, 128, 200_000, 2**26, 2**32 - 1):
        assert library().vm_pool_cells(bytes_) == bytes_ // 64


def curve(kind, low, high, end, p, own=0):
    words, settings = C.CurveImage(), C.Curve(kind, low, high, number(exact_words.exact(p)), own)
    library().vm_curve_convert(ctypes.byref(settings), end, ctypes.byref(words))
    return words


class Shape(SimpleNamespace):
    """What `exact_words.curve_record` asks of a curve, and of its queue."""

    def end_of(self, _curve):
        return self.end and self.end.value


def test_curves_are_the_exact_ones_even_where_p_is_too_small_to_show():
    rng = random.Random(SEED)
    kinds, done = {"red": C.VM_CURVE_RED, "gentle": C.VM_CURVE_GENTLE, "exred": C.VM_CURVE_EXRED}, 0
    while done < 1500:
        kind, scale = rng.choice([*kinds]), 2 ** rng.randint(2, 25)
        low, powers = rng.randrange(scale), rng.random() < 0.6
        high = low + (2 ** rng.randint(0, 20) if powers else rng.randrange(1, scale))
        end = high + (2 ** rng.randint(0, 20) if powers else rng.randrange(1, scale))
        most = Fraction(high - low, end - low) if kind == "exred" else Fraction(1)
        p = rng.choice(
            [rng.choice(TINY), float(most) * rng.random(), round(float(most) * rng.random(), 6), float(most)]
        )
        if exact_words.exact(p) > most:
            continue
        own = end if kind == "red" and rng.random() < 0.5 else 0  # RED that ends at max, and RED with an end of its own
        low_, high_, end_ = (SimpleNamespace(value=value) for value in (low, high, end))
        shape = Shape(curve=kind, min=low_, max=high_, end=end_ if own or kind != "red" else None, p=p)
        held = plain(curve(kinds[kind], low, high, end, p, own))
        assert held == exact_words.curve_record(shape, shape), (kind, low, high, end, p, own)
        done += 1
