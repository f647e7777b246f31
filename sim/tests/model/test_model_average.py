"""Averages against exact rational arithmetic."""

import random
from ctypes import byref
from fractions import Fraction
from math import floor, log2

import pytest

from support.model_bindings import LEN_MAX, Model, Scaled, library, queue, scaled, u64

AVG_MAX = 2**43 - 1


def test_step_is_the_exact_step_rounded_down():
    rng = random.Random(1)
    for _ in range(5000):
        avg, q = rng.randrange(2 ** rng.randint(1, 43)), rng.randrange(2 ** rng.randint(1, 27))
        m, e = rng.randint(1, 256), rng.randrange(32)
        exact = avg + Fraction(m, 2 ** (8 + e)) * (q * 2**16 - avg)
        assert library().vm_average_step(avg, q, Scaled(m, e)) == floor(exact)


def test_step_saturates_where_a_weight_is_above_one():
    assert library().vm_average_step(0, LEN_MAX, Scaled(511, 0)) == AVG_MAX
    assert library().vm_average_step(AVG_MAX, 0, Scaled(511, 0)) == 0


def test_age_rom_is_exactly_rounded():
    """n = round(2^17 2^(-i/1024)) says (2n-1)^1024 <= 2^(18 1024 - i) < (2n+1)^1024."""
    for i in range(1024):
        n, edge = library().vm_age_rom(i), 2 ** (18 * 1024 - i)
        assert (2 * n - 1) ** 1024 <= edge < (2 * n + 1) ** 1024


SOME_DECAY = Scaled(40000, 15)


def aging(weight=Fraction(1, 50), lam=SOME_DECAY, step=0, **fields):
    """A queue whose averages decay by `lam` a nanosecond, and by `step` a packet."""
    return queue(weight=weight, **{"lambda": lam, "idle_step": step}, **fields)


@pytest.mark.parametrize("w", [Fraction(1, 500), Fraction(12, 10000), Fraction(1, 50), Fraction(1, 4)])
@pytest.mark.parametrize("m", [0, 1, 2, 7, 50, 400])
@pytest.mark.parametrize("steps", [0, 1, 6])
def test_idle_ageing_is_1_minus_w_to_the_m_and_the_packets(w, m, steps):
    """s = 1200 ns a packet. The header states 0.35 % of x, 2^-10 and two last places; the table's lambda adds m log2(1-w) 2^-16."""
    step_ns, avg = 1200, 1000 << 16
    halvings = -log2(1 - float(w))
    lam = scaled(halvings / step_ns * 1024, 16)
    q = aging(w, lam, round(halvings * 2 ** (10 + lam.shift)))
    got = library().vm_average_age(avg, m * step_ns, byref(q), steps, None)
    x = halvings * (m + steps)
    least, most = avg * 2 ** -(x * 1.0036) - 2, avg * 2 ** -(x * 0.9964 - 2**-10)
    assert least <= got <= most


def test_ageing_ends_at_zero_and_never_grows():
    q, last = aging(lam=Scaled(40000, 20)), AVG_MAX
    for t in range(0, 2**27, 2**17 + 1):
        now = library().vm_average_age(AVG_MAX, t, byref(q), 0, None)
        assert now <= last
        last = now
    assert library().vm_average_age(AVG_MAX, 2**48 - 1, byref(q), 0, None) == 0
    assert library().vm_average_age(AVG_MAX, 0, byref(q), 0, None) == AVG_MAX


def floyd(avg, q, w):
    return avg + floor(Fraction(w.mant, 2 ** (8 + w.shift)) * (q * 2**16 - avg))


MASKS = {"WRED": (7, 7, 7), "RIO-C": (1, 3, 7), "two-precedence RIO": (1, 7, 7), "RIO-DC": (1, 2, 4)}


@pytest.mark.parametrize("kind", MASKS)
def test_averages_are_those_of_the_definitions_on_the_same_arrivals(kind):
    """Each estimator follows the backlog of its own colours, and only arrivals of these colours refresh it."""
    rng = random.Random(2)
    q = queue(masks=MASKS[kind], weight=Fraction(1, 50))
    model, want = Model(q), [0, 0, 0]
    for _ in range(2000):
        colour, packets = rng.randrange(3), [rng.randint(1, 60) for _ in range(3)]
        d = model.decide(colour, packets, draw=rng.randrange(2**32))
        for e, mask in enumerate(MASKS[kind]):
            if mask >> colour & 1:
                want[e] = floyd(want[e], sum(packets[c] for c in range(3) if mask >> c & 1), q.weight[0])
        assert d.avg == want[colour]
        assert model.averages() == want


def test_variants_are_told_apart_on_the_same_arrivals():
    rng = random.Random(3)
    arrivals = [(rng.randrange(3), [rng.randint(1, 60) for _ in range(3)]) for _ in range(500)]
    seen = set()
    for masks in MASKS.values():
        model = Model(queue(masks=masks, weight=Fraction(1, 50)))
        for colour, packets in arrivals:
            model.decide(colour, packets)
        seen.add(tuple(model.averages()))
    assert len(seen) == len(MASKS)


def test_look_ahead_starts_from_the_average_n_decisions_back():
    rng = random.Random(4)
    q = queue(masks=(7, 7, 7), weight=Fraction(1, 50))
    model, history = Model(q), [0] * 8
    for _ in range(500):
        n, packets = rng.randint(1, 6), rng.randint(1, 100)
        d = model.decide(0, (packets, 0, 0), n=(n, n, n))
        history.append(floyd(history[-n], packets, q.weight[n - 1]))
        assert d.avg == history[-1]


def test_at_a_steady_backlog_look_ahead_is_floyds_average_decimated():
    """W[n] = 1-(1-w)^n: after the same number of decisions both are within the weights' rounding."""
    w = Fraction(1, 50)
    one, six = Model(queue(weight=w)), Model(queue(weight=w))
    for _ in range(300):
        a = one.decide(0, (100, 0, 0)).avg
        b = six.decide(0, (100, 0, 0), n=(6, 6, 6)).avg
    assert abs(a - b) <= 100 * 2**16 // 100


def test_idle_ages_from_the_later_of_departure_and_update():
    q = aging(step=12345678)
    wrap = 2**48
    times = [
        (1000, 5000, 90000),
        (5000, 1000, 90000),
        (wrap - 1000, wrap - 500, 700),
        (wrap - 500, wrap - 1000, wrap - 5),
    ]
    for update, departed, now in times:
        model = Model(q)
        before = model.decide(0, (50, 0, 0), time=update).avg
        aged = model.decide(0, (0, 9, 9), time=now, departed=(departed, now - 1, now - 1)).avg
        idle = (now - max(update, departed)) % wrap  # red and yellow do not count
        residue = u64()
        assert aged == library().vm_average_age(before, idle, byref(q), 1, byref(residue))
        again = model.decide(0, (0, 0, 0), time=now + 700, departed=(departed, 0, 0)).avg
        assert again == library().vm_average_age(aged, 700, byref(q), 1, byref(residue))


def test_a_clock_set_back_empties_the_average_of_an_empty_queue():
    model = Model(aging())
    assert model.decide(0, (50, 0, 0), time=10**9).avg > 0
    assert model.decide(0, (0, 0, 0), time=10**9 - 1).avg == 0


def test_departures_step_only_where_asked_and_also_to_an_empty_queue():
    for on in (0, 1):
        q = queue(masks=(1, 3, 7), weight=Fraction(1, 50), update=on)
        model = Model(q)
        for c in range(3):
            model.decide(c, (10, 10, 10))
        before = model.averages()
        model.depart(1, (0, 0, 5), time=99)
        after = [before[0], floyd(before[1], 0, q.weight[0]), floyd(before[2], 5, q.weight[0])]
        assert model.averages() == (after if on else before)


def test_bytes_are_counted_where_the_queue_counts_bytes():
    assert Model(queue(unit=0)).decide(0, (7, 0, 0)).avg == 7000 << 16
    assert Model(queue(unit=1)).decide(0, (7, 0, 0)).avg == 7 << 16


@pytest.mark.parametrize("n", [0, 7])
def test_an_impossible_look_ahead_is_refused(n):
    Model(queue()).decide(0, (1, 0, 0), n=(n, 1, 1), status=-1)


def test_idle_time_counts_from_the_update_that_gave_the_base_or_a_later_departure():
    q = aging(lam=Scaled(40000, 12), update=1)
    for departed, idle in ((1990, 14), (900, 1004)):
        model = Model(q)
        base = model.decide(0, (50, 0, 0), time=1000).avg
        model.depart(0, (0, 0, 0), time=2000)
        aged = model.decide(0, (0, 0, 0), time=2004, n=(2, 1, 1), departed=(departed, 0, 0)).avg
        assert aged == library().vm_average_age(base, idle, byref(q), 1, None)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("step", [0, round(-log2(0.98) * 2**35)])
def test_no_idle_spell_and_no_packet_is_forgotten_whatever_is_under_way(seed, step):
    """Bursts at an empty queue, as close as a clock: each average is the first one aged by all the time and all the packets since.

    Two things may still be to come: less than 2^-10 of the exponent, and the steps of packets that were under way, five at most.
    """
    rng = random.Random(seed)
    model, time = Model(aging(lam=Scaled(40000, 25), step=step)), 10**6  # halves in 860 us
    first = model.decide(0, (30000, 0, 0), time=time).avg
    start, times = time, [time]
    time += 1000  # the first is written
    for _ in range(400):
        time += rng.choice([4, 4, 4, 8, 40, 4000, 400_000]) if rng.random() < 0.9 else 2_000_000
        n = 1 + sum(time - 20 <= past < time for past in times)
        got = model.decide(0, (0, 0, 0), time=time, n=(n, 1, 1), departed=(start, 0, 0)).avg
        x = ((time - start) * 40000 / 2**25 + len(times) * step / 2**25) / 1024
        late = 2**-10 + 5 * step / 2**35
        least, most = first * 2 ** -(x * 1.0036) - 1478, first * 2 ** -(max(0, x - late) * 0.9964)
        assert least <= got <= most, f"after {time - start} ns, {len(times)} packets, n {n}"
        times.append(time)


def test_a_packet_with_a_backlog_steps_whatever_is_under_way():
    """What made the backlog came long before it, and is in its base."""
    q = aging(lam=Scaled(40000, 12))
    model = Model(q)
    model.decide(0, (50, 0, 0), time=1000)
    base = model.decide(0, (0, 0, 0), time=9000, departed=(1100, 0, 0)).avg
    model.decide(0, (0, 0, 0), time=9088, departed=(1100, 0, 0))
    got = model.decide(0, (7, 0, 0), time=9092, n=(2, 1, 1), departed=(1100, 0, 0)).avg
    assert got == floyd(base, 7, q.weight[1])
