"""Token bucket markers against the RFCs' and the paper's own arithmetic: buckets filled and emptied, in exact fractions."""

import random
from ctypes import byref
from fractions import Fraction

import pytest
from model_bindings import LEAF, REDP, SRTCM, TRTCM, Marked, Marker, Scaled, library, scaled
from vermilion.quantise import cost

GREEN, YELLOW, RED = range(3)
WRAP = 2**48


def marker(kind, rates, bursts_ns, **fields):
    """Rates in bits/s, bursts in ns of bucket A and B (srTCM's B: CBS + EBS)."""
    m = Marker(kind=kind, **fields)
    for i in range(2):
        m.cost[i] = Scaled(*cost(rates[i]))
        m.burst_ns[i] = bursts_ns[i]
    return m


class Model:
    def __init__(self, config):
        self.lib, self.config = library(), config
        self.handle = self.lib.vm_marker_create()

    def __del__(self):
        self.lib.vm_marker_destroy(self.handle)

    def mark(self, time, colour, length, draw=0):
        out = Marked()
        self.lib.vm_marker_mark(self.handle, byref(self.config), time % WRAP, colour, length, draw, byref(out))
        return out


class Bucket:
    """RFC 2697's token bucket: filled by elapsed time up to its depth. Tokens are ns of the rate."""

    def __init__(self, depth_ns):
        self.depth, self.tokens = Fraction(depth_ns), Fraction(depth_ns)

    def fill(self, ns):
        """What did not fit."""
        self.tokens += ns
        over = max(Fraction(0), self.tokens - self.depth)
        self.tokens -= over
        return over


class Reference:
    """The meters as the RFCs tell them, with the hardware's cost of a packet."""

    def __init__(self, config):
        self.c, self.last = config, None
        first, second = config.burst_ns[0], config.burst_ns[1]
        self.a = Bucket(first)
        self.b = Bucket(second - first if config.kind == SRTCM else second)
        self.yellow = None

    def cost(self, i, length):
        units = self.c.packet_bytes or length
        return Fraction((units << 16) * self.c.cost[i].m >> self.c.cost[i].s, 2**16)

    def mark(self, time, colour, length, draw):
        elapsed = 0 if self.last is None else time - self.last
        self.last = time
        over = self.a.fill(elapsed)
        self.b.fill(over if self.c.kind == SRTCM else elapsed)
        return {LEAF: self.leaf, SRTCM: self.srtcm, TRTCM: self.trtcm, REDP: self.redp}[self.c.kind](
            time, colour, length, draw
        )

    def leaf(self, time, colour, length, draw):
        cost = self.cost(0, length)
        if self.a.tokens < cost:
            return self.c.out_colour, False
        self.a.tokens -= cost
        return GREEN, False

    def srtcm(self, time, colour, length, draw):
        cost, aware = self.cost(0, length), self.c.colour_aware
        if (not aware or colour == GREEN) and self.a.tokens >= cost:
            self.a.tokens -= cost
            return GREEN, False
        if (not aware or colour in (GREEN, YELLOW)) and self.b.tokens >= cost:
            self.b.tokens -= cost
            return YELLOW, False
        return RED, False

    def trtcm(self, time, colour, length, draw):
        peak, committed, aware = self.cost(0, length), self.cost(1, length), self.c.colour_aware
        if (aware and colour == RED) or self.a.tokens < peak:
            return RED, False
        self.a.tokens -= peak
        if (aware and colour == YELLOW) or self.b.tokens < committed:
            return YELLOW, False
        self.b.tokens -= committed
        return GREEN, False

    def redp(self, time, colour, length, draw):
        cost, tokens, low, high = self.cost(0, length), self.a.tokens, self.c.low_ns, self.c.high_ns
        if colour == RED:
            return RED, False
        odds = self.c.demote if colour == GREEN else self.c.promote
        span = Fraction((draw >> 16) * odds.m << 26 >> odds.s, 2**16)
        if colour == GREEN:
            metered = self.yellow is not None and time - self.yellow <= self.c.yellow_ns
            if tokens < low and not metered and draw % 2**16 < self.c.drop:
                return GREEN, True
            green = tokens >= cost and not tokens < low - span
        else:
            self.yellow = time
            green = tokens >= cost and tokens > high + span
        if green:
            self.a.tokens -= cost
        return (GREEN if green else YELLOW), False


def span(x):
    """A REDP span of x ns for r = 1: ((r16 m) 2^26) >> s in 2^-16 ns."""
    return scaled(Fraction(x * 2**16, 2**16 * 2**26), 18)


KINDS = {"leaf": LEAF, "srtcm": SRTCM, "trtcm": TRTCM, "redp": REDP}


def random_marker(rng, kind):
    rate = rng.choice([64_000, 700_000, 10**9, 10**11])
    depth = rng.choice([1, 10, 100]) * 8 * 10**12 // rate
    second = depth * rng.choice([1, 2, 5]) if kind == SRTCM else rng.choice([1, 20]) * 8 * 10**12 // rate
    m = marker(kind, (rate, rate if kind == SRTCM else rate // rng.choice([1, 2])), (depth, second))
    m.colour_aware, m.out_colour = rng.randrange(2), rng.choice([1, 2])
    m.packet_bytes = rng.choice([0, 0, 1000])
    m.low_ns, m.high_ns = depth // 4, depth * 3 // 4
    m.demote, m.promote = span(Fraction(2 * m.low_ns)), span(Fraction(2 * (depth - m.high_ns)))
    m.drop, m.yellow_ns = rng.choice([0, 1311, 65536]), depth // 8
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
            assert got.level <= config.burst_ns[0] << 16
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
    committed = Fraction(total[GREEN] - config.burst_ns[kind == TRTCM] * rate // (8 * 10**9)) * 8 / seconds
    assert abs(committed / rate - 1) < Fraction(1, 1000)
    if kind == TRTCM:
        real = Fraction(total[GREEN] + total[YELLOW] - config.burst_ns[0] * peak // (8 * 10**9)) * 8 / seconds
        assert abs(real / peak - 1) < Fraction(1, 1000)


@pytest.mark.parametrize("name", KINDS)
def test_tokens_are_conserved_exactly_over_a_million_packets(name):
    """Whole numbers of 2^-16 ns: a bucket holds what it was filled with and has not given, to the last token; nothing is lost below the brim."""
    rng, kind = random.Random(5), KINDS[name]
    rate, depth, second = 10**9, 10**6, 400_000
    config = marker(kind, (rate, rate // 2), (depth, depth + second if kind == SRTCM else second), out_colour=RED)
    config.low_ns, config.high_ns, config.demote, config.promote = 250_000, 750_000, span(500_000), span(500_000)
    config.cost[1] = config.cost[0] if kind == SRTCM else config.cost[1]
    model, time, spent = Model(config), 0, 0
    a, b = depth << 16, second << 16  # srTCM: committed and excess tokens
    for _ in range(1_000_000):
        gap, length, colour = rng.choice([0, 400, 4000, 8000]), rng.randrange(64, 1519), rng.randrange(2)
        time += gap
        over = max(0, a + (gap << 16) - (depth << 16))
        a += (gap << 16) - over
        b = min(second << 16, b + (over if kind == SRTCM else gap << 16))
        got = model.mark(time, colour, length, rng.getrandbits(32))
        assert got.level == a
        price, other = ((length << 16) * c.m >> c.s for c in config.cost)
        if kind == SRTCM:
            assert got.colour == (GREEN if a >= price else YELLOW if b >= price else RED)
        elif kind == TRTCM:
            assert got.colour == (RED if a < price else YELLOW if b < other else GREEN)
        taken = price * (got.colour <= YELLOW if kind == TRTCM else got.colour == GREEN)
        a -= taken
        b -= price if kind == SRTCM and got.colour == YELLOW else other if kind == TRTCM and got.colour == GREEN else 0
        spent += taken
        assert a >= 0 and b >= 0
    assert spent <= (depth + time) << 16


LEVELS = range(0, 60, 3)


@pytest.mark.parametrize("tokens", LEVELS)
def test_redp_probabilities_are_equation_1(tokens):
    """P0: b = 60, T_L = 15, T_H = 45 packets, both MAX 0.5; within the 99.9 % binomial interval at 20 token levels."""
    packet = 8000  # ns: 1000 B at 1 Gb/s
    config = marker(REDP, (10**9, 10**9), (60 * packet, 0), low_ns=15 * packet, high_ns=45 * packet)
    config.demote, config.promote = span(Fraction(30 * packet)), span(Fraction(30 * packet))
    rng, count = random.Random(tokens), 4000
    changed = {GREEN: 0, YELLOW: 0}
    for colour in changed:
        for _ in range(count):
            model = Model(config)
            while tokens < 60 and model.mark(10**9, GREEN, 1000 * (60 - tokens), 0xFFFFFFFF).colour != GREEN:
                raise AssertionError("the bucket could not be brought to its level")
            out = model.mark(10**9, colour, 1000, rng.getrandbits(32))
            changed[colour] += out.colour != colour
    demo = 1.0 if tokens < 1 else max(0.0, (15 - tokens) * 0.5 / 15)
    promo = max(0.0, (tokens - 45) * 0.5 / 15)
    for colour, p in ((GREEN, demo), (YELLOW, promo)):
        margin = 3.2905 * (p * (1 - p) / count) ** 0.5 + 2 / 2**16
        assert abs(changed[colour] / count - p) <= margin, (colour, p, changed[colour] / count)


@pytest.mark.parametrize("load,region", [(0.5, "promotion"), (1.0, "balanced"), (2.0, "demotion")])
def test_redp_settles_in_the_region_of_its_load(load, region):
    packet = 8000
    config = marker(REDP, (10**9, 10**9), (60 * packet, 0), low_ns=15 * packet, high_ns=45 * packet)
    config.demote, config.promote = span(Fraction(30 * packet)), span(Fraction(30 * packet))
    model, time, rng = Model(config), 0, random.Random(9)
    model.mark(0, GREEN, 30_000)  # from the middle
    levels = []
    for k in range(20_000):
        time = int((k + 1) * packet / load)
        levels.append(model.mark(time, GREEN, 1000, rng.getrandbits(32)).level / 2**16 / packet)
    mean = sum(levels[5000:]) / len(levels[5000:])
    assert {"promotion": mean > 45, "balanced": 15 <= mean <= 45, "demotion": mean < 15}[region], mean


def test_the_dropper_acts_only_in_the_demotion_region_and_while_no_yellow_came():
    packet = 8000
    config = marker(REDP, (10**9, 10**9), (60 * packet, 0), low_ns=15 * packet, high_ns=45 * packet)
    config.demote, config.promote = span(Fraction(30 * packet)), span(Fraction(30 * packet))
    config.drop, config.yellow_ns = 65536, 1000
    model = Model(config)
    assert not model.mark(10**9, GREEN, 45_000, 0).policed  # 60 packets: not in the region
    assert not model.mark(10**9, GREEN, 100, 0).policed  # 15 packets: not below the threshold
    assert model.mark(10**9, GREEN, 1000, 0).policed  # below
    level = model.mark(10**9, RED, 1000, 0).level
    assert model.mark(10**9, GREEN, 1000, 0).level == level  # a dropped packet takes nothing
    model.mark(10**9, YELLOW, 1000, 0)
    assert not model.mark(10**9 + 1000, GREEN, 1000, 0xFFFF0000).policed  # the meter's time
    assert model.mark(10**9 + 1001, GREEN, 1000, 0xFFFF0000).policed


def share(kind):
    """Six UDP flows of equal rate, one after the other at even distances; how many packets of each are demoted."""
    rate, flows, packet = 10**9, 6, 8000
    if kind == REDP:
        config = marker(REDP, (rate, rate), (60 * packet, 0), low_ns=15 * packet, high_ns=45 * packet)
        config.demote, config.promote = span(Fraction(30 * packet)), span(Fraction(30 * packet))
    else:
        config = marker(LEAF, (rate, rate), (60 * packet, 0), out_colour=YELLOW)
    model, rng, demoted = Model(config), random.Random(4), [0] * flows
    for k in range(100_000):
        flow, time = k % flows, k * packet * 2 // 3  # together 1.5 times the rate
        demoted[flow] += model.mark(time, GREEN, 1000, rng.getrandbits(32)).colour == YELLOW
    return min(demoted), max(demoted)


def test_redp_demotes_flows_of_equal_rate_equally_where_a_plain_bucket_does_not():
    low, high = share(REDP)
    plain_low, plain_high = share(LEAF)
    print(f"REDP {low}..{high}, plain bucket {plain_low}..{plain_high} of 16666")
    assert high <= 1.05 * low
    assert plain_high > 1.3 * plain_low


def test_a_bucket_survives_the_wrap_of_time_and_a_clock_set_back():
    config = marker(LEAF, (10**9, 10**9), (80_000, 0), out_colour=RED)
    model, time = Model(config), WRAP - 40_000
    assert [model.mark(time, GREEN, 1000).colour for _ in range(11)] == [GREEN] * 10 + [RED]
    assert [model.mark(time + 80_000, GREEN, 1000).colour for _ in range(11)] == [GREEN] * 10 + [RED]
    assert model.mark(time - 10**9, GREEN, 1000).colour == GREEN  # set back: full again
    assert model.mark(time + 40 * 3600 * 10**9, GREEN, 1000).colour == GREEN  # 40 h of silence


def test_actions_drop_by_outgoing_colour():
    config = marker(TRTCM, (10**9, 10**8), (8_000, 80_000), drop_colours=1 << RED)
    model = Model(config)
    assert [model.mark(0, GREEN, 1000).policed for _ in range(2)] == [0, 1]
