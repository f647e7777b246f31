"""Curves, spacing and verdicts against exact rational arithmetic and documented rates."""

import random
from ctypes import byref
from fractions import Fraction
from itertools import pairwise
from math import sqrt

import pytest

from support.model_bindings import (
    BAD,
    EARLY,
    ENQUEUE,
    FORCED,
    GEOMETRIC,
    MARK,
    MARKS,
    NOBUF,
    ONE,
    TAIL,
    UNIFORM,
    WAIT,
    Model,
    Scaled,
    c_uint32,
    c_uint64,
    draws,
    library,
    queue,
    red_curve,
    scaled,
    u32,
)
from vermilion.oracle.xoshiro import Source

RATIO_ONE = 4096


def exred(low, high, end, top):
    """s and a2 of P4 in the normalised position of the second segment."""
    slope = Fraction(top) * (end - high) / (high - low)
    return red_curve(low, high, top, end, slope, 1 - Fraction(top) - slope)


RED = red_curve(10, 30, Fraction(1, 10))
GENTLE = red_curve(10, 30, Fraction(1, 10), 60, Fraction(9, 10))
EXRED = exred(10, 30, 100, Fraction(1, 10))
STEP = red_curve(20, 20, 1)
CURVES = {"RED": (RED, 30), "gentle": (GENTLE, 60), "ExRED": (EXRED, 100), "step": (STEP, 20)}


def value(curve, avg, ratio=RATIO_ONE):
    over = u32()
    p = library().vm_curve_probability(byref(curve), avg, ratio, byref(over))
    return p, over.value


def exact(name, a):
    """The curves of algorithms: p at the average a, a fraction in packets."""
    if name == "step":
        return Fraction(a >= 20)
    if a < 10:
        return Fraction(0)
    if a < 30:
        return Fraction(1, 10) * (a - 10) / 20
    if name == "gentle" and a < 60:
        return Fraction(1, 10) + Fraction(9, 10) * (a - 30) / 30
    if name == "ExRED" and a < 100:
        x, s = a - 30, Fraction(1, 200)
        a2 = (20 - 90 * Fraction(1, 10)) / (20 * Fraction(70) ** 2)
        return Fraction(1, 10) + s * x + a2 * x * x
    return Fraction(1)


@pytest.mark.parametrize("name", CURVES)
def test_curve_is_the_exact_curve(name):
    """Three truncations of 2^-24 and a table rounded to 18 bits."""
    rng = random.Random(5)
    curve, end = CURVES[name]
    for avg in [rng.randrange(120 << 16) for _ in range(4000)] + [k * 5 << 16 for k in range(24)]:
        p, over = value(curve, avg)
        want = exact(name, Fraction(avg, 2**16))
        assert abs(Fraction(p, ONE) - want) <= 3 * Fraction(1, 2**24) + want / 2**16
        assert over == (avg >= end << 16)
        assert p <= ONE


@pytest.mark.parametrize("name", CURVES)
def test_curve_edges_use_all_fraction_bits(name):
    curve, end = CURVES[name]
    assert value(curve, (curve.min << 16) - 1) == (0, 0)
    assert value(curve, end << 16) == (ONE, 1)
    assert value(curve, 2**43 - 1) == (ONE, 1)
    assert value(curve, (end << 16) - 1)[1] == 0


@pytest.mark.parametrize("name", CURVES)
def test_curve_never_falls(name):
    last = 0
    for avg in range(0, 110 << 16, 997):
        p = value(CURVES[name][0], avg)[0]
        assert p >= last
        last = p


def test_a_steep_slope_saturates_and_does_not_wrap():
    curve = red_curve(10, 11, 1)
    curve.inv1, curve.slope1 = Scaled(2**18 - 1, 0), ONE
    assert value(curve, (10 << 16) + 1000)[0] == ONE
    curve = red_curve(10, 10, 1, 20, 1, 1)
    assert value(curve, 15 << 16) == (ONE, 0)


def test_tail_drop_curve_is_zero_everywhere():
    assert value(red_curve(0, 0, 1), 0) == (ONE, 1)
    off = red_curve(0, 0, 1)
    off.on = 0
    assert value(off, 2**43 - 1) == (0, 0)


def test_size_weight_is_in_proportion():
    mean = scaled(Fraction(4096, 1000), 16)
    for length in (64, 500, 1000, 1500, 9000):
        ratio = library().vm_size_ratio(length, mean)
        assert abs(Fraction(ratio, RATIO_ONE) - Fraction(length, 1000)) <= Fraction(length, 2**16 * 1000) + Fraction(
            1, 4096
        )
        for curve, end in CURVES.values():
            for avg in range(0, end << 16, 40009):
                whole, weighted = value(curve, avg)[0], value(curve, avg, ratio)[0]
                assert abs(weighted - min(ONE, whole * Fraction(ratio, RATIO_ONE))) <= 3 * 2**8 * (
                    1 + ratio // RATIO_ONE
                )
            assert value(curve, end << 16, ratio) == (ONE, 1), "over the end p is 1 for a packet of any length"
    assert value(GENTLE, 45 << 16, library().vm_size_ratio(65535, mean)) == (ONE, 0)


def drop_count(spacing, p, packets, seed=1):
    total, r, valid = c_uint64(), c_uint32(), c_uint32()
    step, source = library().vm_spacing_step, draws(seed)
    args = byref(total), byref(r), byref(valid), spacing, p
    gaps, since = [], 0
    for _ in range(packets):
        since += 1
        if step(*args, next(source)):
            gaps.append(since)
            since = 0
    return gaps


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 50)])
def test_geometric_rate_is_p(p):
    packets = 200_000
    drops = len(drop_count(GEOMETRIC, round(p * ONE), packets))
    assert abs(drops - packets * p) < 3.29 * sqrt(packets * p * (1 - p))


@pytest.mark.parametrize("spacing, factor", [(UNIFORM, 2.0), (WAIT, 0.67)])
@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 50), Fraction(3, 100)])
def test_spaced_rate_is_that_of_the_exact_gaps(spacing, factor, p):
    """P(gap > k): uniform max(0, 1 - kp); wait 1 while kp < 1, then max(0, 2 - kp). 99.9 % interval of the mean gap."""
    gaps = drop_count(spacing, round(p * ONE), 100_000, seed=7)
    beyond = (lambda k: max(0, 1 - k * p)) if spacing == UNIFORM else (lambda k: min(1, max(0, 2 - k * p)))
    mean = sum(beyond(k) for k in range(300))
    second = sum((2 * k + 1) * beyond(k) for k in range(300))
    assert abs(sum(gaps) / len(gaps) - mean) < 3.29 * sqrt(float(second - mean * mean) / len(gaps))
    assert 1 / float(mean * p) == pytest.approx(factor, rel=0.1)
    assert min(gaps) >= (1 if spacing == UNIFORM else int(1 / p))
    assert max(gaps) <= 2 / p + 1 if spacing == WAIT else max(gaps) <= 1 / p + 1


@pytest.mark.parametrize("spacing", [GEOMETRIC, UNIFORM, WAIT])
def test_p_one_is_always_and_p_zero_never(spacing):
    assert drop_count(spacing, ONE, 5000) == [1] * 5000
    assert drop_count(spacing, 0, 5000) == []
    total, r, valid = c_uint64(), c_uint32(), c_uint32()
    extreme = library().vm_spacing_step
    assert extreme(byref(total), byref(r), byref(valid), spacing, ONE, 2**32 - 1) == 1
    assert extreme(byref(total), byref(r), byref(valid), spacing, 0, 0) == 0


def test_spacing_accumulates_truly_and_saturates():
    total, r, valid = c_uint64(2**34 - 5), c_uint32(0), c_uint32(1)
    assert library().vm_spacing_step(byref(total), byref(r), byref(valid), WAIT, 100, 77) == 1
    assert (total.value, r.value, valid.value) == (0, 77, 1)
    total, r, valid = c_uint64(0), c_uint32(500), c_uint32(0)
    assert library().vm_spacing_step(byref(total), byref(r), byref(valid), UNIFORM, 300, 900) == 0
    assert (total.value, r.value, valid.value) == (300, 900, 1)
    assert library().vm_spacing_step(byref(total), byref(r), byref(valid), UNIFORM, 300, 4) == 0
    assert library().vm_spacing_step(byref(total), byref(r), byref(valid), UNIFORM, 300, 5) == 1
    assert (total.value, r.value) == (0, 5)


@pytest.mark.parametrize("spacing, packets", [(UNIFORM, 6), (WAIT, 26)])
def test_each_burst_over_min_meets_a_threshold_of_its_own(spacing, packets):
    """Bursts of p = 1/20 with p = 0 between them. S ends at 0.3 or 1.3, so R is met in 0.3 of them; one R kept would be met always or never."""
    bursts, chance, p, step, source = 8000, 0.3, ONE // 20 + 1, library().vm_spacing_step, draws(13)
    args = byref(c_uint64()), byref(c_uint32()), byref(c_uint32()), spacing
    hit = []
    for _ in range(bursts):
        hit.append(any([step(*args, p, next(source)) for _ in range(packets)]))
        assert step(*args, 0, next(source)) == 0
    within = 3.29 * sqrt(bursts * chance * (1 - chance))
    assert abs(sum(hit) - bursts * chance) < within
    after_hit = [now for last, now in pairwise(hit) if last]
    assert abs(sum(after_hit) - len(after_hit) * chance) < 3.29 * sqrt(len(after_hit) * chance * (1 - chance))


def test_p_of_zero_forgets_sum_and_threshold():
    model, low, high, over = busy(spacing=UNIFORM), (5, 0, 0), (20, 0, 0), 2**32 - 1
    assert model.decide(packets=high, draw=over).sum > 0  # R is as high as it can be
    assert model.decide(packets=low, draw=0).sum == 0
    assert model.decide(packets=high, draw=1).verdict == EARLY, "the draw of the first packet over min is R"
    assert model.decide(packets=high, draw=over).verdict == ENQUEUE, "that draw is not used twice"


def busy(**fields):
    """w = 1: the average is the backlog."""
    return Model(queue(curves=[RED] * 3, **fields))


def test_verdicts_come_in_the_documented_order():
    model = busy(limit_packets=50)
    over, mid = (50, 0, 0), (29, 0, 0)
    assert model.decide(packets=over, bad=1, no_buffer=1).verdict == BAD
    assert model.decide(packets=over, no_buffer=1).verdict == NOBUF
    assert model.decide(packets=over).verdict == TAIL
    assert model.decide(packets=(49, 0, 0)).verdict == FORCED
    assert model.decide(packets=mid, draw=0).verdict == EARLY
    assert model.decide(packets=mid, draw=2**32 - 1).verdict == ENQUEUE


def test_limits_count_all_colours_and_this_packet():
    for packets, length, verdict in [((3, 3, 3), 1000, ENQUEUE), ((3, 4, 3), 1000, TAIL), ((3, 3, 3), 1001, TAIL)]:
        assert busy(limit=10000).decide(packets=packets, len_bytes=length).verdict == verdict
    assert busy(limit_packets=10).decide(packets=(3, 3, 3)).verdict == ENQUEUE
    assert busy(limit_packets=10).decide(packets=(3, 3, 4)).verdict == TAIL


def test_early_drops_become_marks_and_forced_ones_do_not():
    for ecn_bits in (1, 2, 3):
        assert busy(ecn=1).decide(packets=(29, 0, 0), ecn=ecn_bits).verdict == MARK
        assert busy(ecn=1).decide(packets=(30, 0, 0), ecn=ecn_bits).verdict == FORCED
        assert busy(ecn=0).decide(packets=(29, 0, 0), ecn=ecn_bits).verdict == EARLY
    assert busy(ecn=1).decide(packets=(29, 0, 0), ecn=0).verdict == EARLY


def test_ecn_curve_of_its_own_marks_every_packet_from_its_step():
    q = queue(curves=[RED] * 3, ecn=1, size_weight=1, inv_mean_len=scaled(Fraction(4096, 1000), 16))
    q.colour[0].ecn_own, q.colour[0].curve[MARKS] = 1, red_curve(5, 5, 1)
    for packets, bits, verdict in [(4, 1, ENQUEUE), (5, 1, MARK), (29, 1, MARK), (30, 1, FORCED), (9, 0, ENQUEUE)]:
        d = Model(q).decide(packets=(packets, 0, 0), ecn=bits, draw=2**32 - 1, len_bytes=64)
        assert d.verdict == verdict
    assert Model(q).decide(packets=(5, 0, 0), ecn=1, len_bytes=64).p == ONE


def test_bad_and_nobuf_touch_nothing_and_tail_leaves_spacing():
    model = busy(spacing=UNIFORM, limit_packets=40)
    model.decide(packets=(20, 0, 0), draw=2**32 - 1)
    before, sum_before = model.averages(), model.decide(packets=(20, 0, 0), draw=0).sum
    assert sum_before > 0
    for flags in ({"bad": 1}, {"no_buffer": 1}):
        d = model.decide(packets=(39, 0, 0), draw=0, **flags)
        assert (d.sum, model.averages()) == (sum_before, before)
    d = model.decide(packets=(40, 0, 0), draw=0)
    assert (d.verdict, d.sum, model.averages()[0]) == (TAIL, sum_before, 40 << 16)
    assert model.decide(packets=(30, 0, 0), draw=0).sum == 0  # forced
    assert model.decide(packets=(20, 0, 0), draw=2**32 - 1).verdict == EARLY  # R of the forced one was 0


def test_measured_rate_over_each_curve_is_the_documented_one():
    source = draws(11)
    for name, (curve, _) in CURVES.items():
        for average in (5, 12, 20, 29, 45, 70, 100):
            model, p, packets = Model(queue(curves=[curve] * 3)), exact(name, Fraction(average)), 4000
            hits = sum(
                model.decide(packets=(average, 0, 0), draw=next(source)).verdict != ENQUEUE for _ in range(packets)
            )
            assert abs(hits - packets * p) <= 3.29 * sqrt(packets * p * (1 - p))


def test_random_source_is_xoshiro128plusplus():
    """Against the published algorithm, written out in `support.xoshiro`, and a seed of zeros refused."""
    s = (u32 * 4)()
    library().vm_random_seed(12345, byref(s))
    wanted, source = Source(list(s)), draws(12345)
    assert all(next(source) == wanted.draw() for _ in range(1000))
    assert library().vm_random_draw(byref((u32 * 4)()), byref(u32())) == -1
