"""DualPI2 of the model against RFC 9332 in exact arithmetic: the base probability and the verdicts."""

import itertools
import random
from fractions import Fraction

import pytest

from support import model_bindings as mb
from vermilion.oracle.xoshiro import Source, words

PASS, MARK, DROP = range(3)
MOST = 2**32 - 1
SECOND = 15_625_000  # units of 64 ns
NOT_ECT, ECT1, ECT0, CE = range(4)
MTU = 1514


def gain(per_second: Fraction) -> int:
    """p' for 64 ns of delay, unit 2^-40."""
    return int(per_second * 2**40 / SECOND)


def settings(**more):
    """Defaults of Linux 6.17."""
    of = {
        "target": 15 * SECOND // 1000, "step": SECOND // 1000, "alpha": gain(Fraction(16, 100)),
        "beta": gain(Fraction(32, 10)), "coupling": 2, "mtu": MTU, "drop_overload": 1,
    }  # fmt: skip
    made = mb.DualPi2Settings(**of | more)
    made.most = MOST if made.drop_overload else MOST // made.coupling
    return made


@pytest.mark.parametrize("seed", range(20))
def test_the_base_probability_is_that_of_rfc_9332(seed):
    """p' + alpha (delay - target) + beta (delay - delay before) with real numbers, limited to [0, 1] or [0, 1 / k]; appendix A.1, line 5 of update.

    Gains are truncated to 2^-40 for 64 ns, a change to 2^-32.
    """
    print("seed", seed)
    rng = random.Random(f"dualpi2 {seed}")
    alpha, beta = (Fraction(rng.randrange(1, 800), 100) for _ in range(2))
    drops, k = rng.randrange(2), rng.choice((1, 2, 3, 7))
    of = settings(alpha=gain(alpha), beta=gain(beta), coupling=k, drop_overload=drops)
    state, delay, before, seen = mb.DualPi2State(), 0, 0, set()
    for _ in range(3000):
        old = Fraction(state.prob, 2**32)
        if rng.random() < 0.1:
            delay = rng.choice((0, of.target, 2 * of.target, rng.randrange(2**22), rng.randrange(2**26)))
        mb.library().vm_dualpi2_update(mb.byref(state), mb.byref(of), delay)
        change = alpha * Fraction(delay - of.target, SECOND) + beta * Fraction(delay - before, SECOND)
        top = Fraction(MOST if drops else MOST // k, 2**32)
        wanted = min(max(old + change, 0), top)
        tolerance = Fraction(abs(delay - of.target) + abs(delay - before), 2**40) + Fraction(1, 2**32)
        assert abs(Fraction(state.prob, 2**32) - wanted) <= tolerance
        seen.add("low" if state.prob == 0 else "high" if state.prob == top * 2**32 else "between")
        before = delay
    assert seen == {"low", "high", "between"}


def stated(of, prob, is_l, ecn, sojourn, backlog, a, b):
    """The rules in words of their own: what happens by chance, then the step."""
    squared, coupled = max(a, b) <= prob, a <= min(prob * of.coupling, MOST)
    overloaded = prob * of.coupling > MOST
    enough = backlog >= 2 * of.mtu
    if not is_l:
        hit = enough and squared
        return PASS if not hit else MARK if ecn != NOT_ECT and not overloaded else DROP
    if enough and overloaded and of.drop_overload and squared:
        return DROP
    stepped = sojourn > of.step
    if ecn == NOT_ECT:
        return DROP if stepped or (enough and coupled and not overloaded) else PASS
    return MARK if stepped or (enough and (coupled or overloaded)) else PASS


def test_verdicts_are_those_of_the_rules_at_every_edge():
    cases, seen = 0, set()
    for k, drops in itertools.product((1, 2, 5), (0, 1)):
        of = settings(coupling=k, drop_overload=drops)
        for prob in (0, 1, MOST // k - 1, MOST // k, min(MOST, MOST // k + 1), MOST):
            state = mb.DualPi2State(prob=prob)
            draws = sorted({0, prob, min(MOST, prob + 1), min(MOST, prob * k), min(MOST, prob * k + 1), MOST})
            edges = (range(2), range(4), (of.step, of.step + 1), (2 * MTU - 1, 2 * MTU), draws, draws)
            for is_l, ecn, sojourn, backlog, a, b in itertools.product(*edges):
                got = mb.library().vm_dualpi2_head(mb.byref(state), mb.byref(of), is_l, ecn, sojourn, backlog, a, b)
                assert got == stated(of, prob, is_l, ecn, sojourn, backlog, a, b), (k, prob, is_l, ecn, a, b)
                seen.add((is_l, ecn == NOT_ECT, got))
                cases += 1
    assert cases > 15_000 and len(seen) == 10  # C: not ECT is never marked; L as well


@pytest.mark.parametrize("prob", [0.02, 0.1, 0.4])
def test_chances_are_the_square_and_k_times_the_base(prob):
    """RFC 9332, section 2.1: pC = p' p', pL = k p'. 100,000 draws each, 5 standard deviations."""
    rng, of, count = random.Random(f"chances {prob}"), settings(), 100_000
    state = mb.DualPi2State(prob=round(prob * 2**32))
    for is_l, chance in ((0, prob * prob), (1, 2 * prob)):
        hits = sum(
            mb.library().vm_dualpi2_head(
                mb.byref(state), mb.byref(of), is_l, ECT1, 0, 10**6, rng.getrandbits(32), rng.getrandbits(32)
            )
            == MARK
            for _ in range(count)
        )
        assert abs(hits - count * chance) < 5 * (count * chance * (1 - chance)) ** 0.5


def test_the_two_draws_of_a_packet_are_independent_over_seeds():
    """At each index, over 20,000 seeds of the host: the chance that both are below p is p p, to 5 standard deviations. Sources whose seeds differ in constant bits fail here.

    The draws are those of a lane, as the test of its verdicts has them.
    """
    seeds, p = 20_000, 0.1
    hits = [0] * 40
    for seed in range(1, seeds + 1):
        source = Source(words(seed, 2))
        for index in range(len(hits)):
            first, second = source.draw(), source.draw()
            hits[index] += max(first, second) < p * 2**32
    mean, deviation = seeds * p * p, (seeds * p * p * (1 - p * p)) ** 0.5
    assert max(abs(each - mean) for each in hits) < 5 * deviation, hits
