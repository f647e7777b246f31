"""Token bucket markers against the RFCs' and P0's own arithmetic: buckets filled and emptied, in exact fractions.

Tokens to the last one: test_model_tokens.py. What REDP does in each region: test_model_redp.py.
"""

import random
from fractions import Fraction

import pytest

from support.model_bindings import LEAF, SRTCM, TRTCM
from support.token_marker_bench import GREEN, KINDS, RED, WRAP, YELLOW, Model, Reference, marker, span


def random_marker(rng, kind):
    rate = rng.choice([64_000, 700_000, 10**9, 10**11])
    depth = rng.choice([1, 10, 100]) * 8 * 10**12 // rate
    second = depth * rng.choice([1, 2, 5]) if kind == SRTCM else rng.choice([1, 20]) * 8 * 10**12 // rate
    m = marker(kind, (rate, rate if kind == SRTCM else rate // rng.choice([1, 2])), (depth, second))
    m.colour_aware, m.out = rng.randrange(2), rng.choice([1, 2])
    m.packet = rng.choice([0, 0, 1000])
    m.low_threshold, m.high_threshold = depth // 4, depth * 3 // 4
    m.demote, m.promote = span(Fraction(2 * m.low_threshold)), span(Fraction(2 * (depth - m.high_threshold)))
    m.p_drop, m.meter = rng.choice([0, 1311, 65536]), depth // 8
    return m, 8 * 10**9 * 700 // rate


@pytest.mark.parametrize("name", KINDS)
def test_every_packet_gets_the_colour_of_the_documents_arithmetic(name):
    rng = random.Random(3)
    print("seed 3")
    seen = set()
    for _ in range(30):
        config, gap = random_marker(rng, KINDS[name])
        model, reference, time = Model(config), Reference(config), rng.randrange(2**40)
        for _ in range(1500):
            time += rng.choice([0, 0, 1, gap // 2, gap, 2 * gap, rng.randrange(1, 100 * gap)])
            colour, length, draw = (
                rng.randrange(3),
                rng.choice([64, 1500, rng.randrange(14, 9600)]),
                rng.getrandbits(32),
            )
            got = model.mark(time, colour, length, draw)
            assert (got.colour, bool(got.policed)) == reference.mark(time, colour, length, draw)
            assert got.level <= config.burst[0] << 16
            seen.add((colour, got.colour, got.policed))
    assert len(seen) >= {"leaf": 9, "srtcm": 6, "trtcm": 6, "redp": 6}[name], seen


@pytest.mark.parametrize("kind", [SRTCM, TRTCM])
def test_colour_aware_truth_table(kind):
    """RFC 2697 and 2698, section 3: what comes, what each bucket covers, what goes and what it takes."""
    for colour in range(3):
        for first in (False, True):
            for second in (False, True):
                # A bucket that does not cover the packet is one byte short of it.
                depth = lambda covers: 8000 if covers else 7999
                a, b = depth(first), depth(second)
                config = marker(kind, (10**9, 10**9), (a, a + b if kind == SRTCM else b), colour_aware=1)
                model = Model(config)
                if kind == SRTCM:
                    want = GREEN if colour == GREEN and first else YELLOW if colour <= YELLOW and second else RED
                else:
                    want = RED if colour == RED or not first else YELLOW if colour == YELLOW or not second else GREEN
                assert model.mark(10**9, colour, 1000).colour == want
                again = model.mark(10**9, GREEN, 1000).colour  # what is left
                took = (want == GREEN, want == YELLOW) if kind == SRTCM else (want <= YELLOW, want == GREEN)
                left_a, left_b = first and not took[0], second and not took[1]
                if kind == SRTCM:
                    assert again == (GREEN if left_a else YELLOW if left_b else RED)
                else:
                    assert again == (RED if not left_a else GREEN if left_b else YELLOW)


@pytest.mark.parametrize("rate", [64_000, 700_000, 10**9, 10**11])
@pytest.mark.parametrize("kind", [SRTCM, TRTCM])
def test_long_run_shares_are_the_rates(kind, rate):
    """Offered three times the committed rate in mixed sizes: committed, and with trTCM peak, within 0.1 %."""
    rng = random.Random(rate + kind)
    burst = 8 * 10**9 * 20_000 // rate
    peak = rate * 3 // 2
    if kind == SRTCM:
        config = marker(kind, (rate, rate), (burst, burst + burst // 2))
    else:
        config = marker(kind, (peak, rate), (burst, burst))
    model, time, start = Model(config), Fraction(10**9), 10**9
    total = [0, 0, 0]
    for _ in range(100_000):
        length = rng.choice([64, 594, 1518, 9018])
        total[model.mark(int(time), 0, length).colour] += length
        time += Fraction(8 * 10**9 * length, 3 * rate)
    seconds = (time - start) / 10**9
    committed = Fraction(total[GREEN] - config.burst[kind == TRTCM] * rate // (8 * 10**9)) * 8 / seconds
    assert abs(committed / rate - 1) < Fraction(1, 1000)
    if kind == TRTCM:
        real = Fraction(total[GREEN] + total[YELLOW] - config.burst[0] * peak // (8 * 10**9)) * 8 / seconds
        assert abs(real / peak - 1) < Fraction(1, 1000)


def test_a_bucket_survives_the_wrap_of_time_and_a_clock_set_back():
    config = marker(LEAF, (10**9, 10**9), (80_000, 0), out=RED)
    model, time = Model(config), WRAP - 40_000
    assert [model.mark(time, GREEN, 1000).colour for _ in range(11)] == [GREEN] * 10 + [RED]
    assert [model.mark(time + 80_000, GREEN, 1000).colour for _ in range(11)] == [GREEN] * 10 + [RED]
    assert model.mark(time - 10**9, GREEN, 1000).colour == GREEN  # set back: full again
    assert model.mark(time + 40 * 3600 * 10**9, GREEN, 1000).colour == GREEN  # 40 h of silence


def test_actions_drop_by_outgoing_colour():
    config = marker(TRTCM, (10**9, 10**8), (8_000, 80_000), drop=1 << RED)
    model = Model(config)
    assert [model.mark(0, GREEN, 1000).policed for _ in range(2)] == [0, 1]
