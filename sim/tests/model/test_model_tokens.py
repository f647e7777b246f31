"""Tokens to the last one, in whole numbers of 2^-16 ns of a bucket's rate, over 300,000 packets, or a million at night, that fill and empty it without end.

An account of each bucket is kept beside the marker by the documents' rules: what came with time, what packets took, what ran over the
brim. The model says bucket A's level with each packet. What a second bucket holds is shown every 400 packets by a packet of one unit
more, which it must not cover, and one of just as much, which it must: that empties it to the last unit, as it does the first.
"""

import random

import pytest

from support.model_bindings import LEAF, REDP, SRTCM, TRTCM, Scaled
from support.nightly import NIGHTLY
from support.token_marker_bench import GREEN, KINDS, RED, WRAP, YELLOW, Model, marker, span

PACKETS, DRAIN, RATE = 1_000_000 if NIGHTLY else 300_000, 400, 10**10
DEPTH = 30_000  # ns; below 2^16, so that one packet can ask for any level
MEAN = 633  # ns of a packet at the rate
COLOURS = [(GREEN,), (GREEN, YELLOW, RED), (GREEN, YELLOW), (YELLOW, YELLOW, GREEN, RED)]
UNIT = Scaled(1, 16)  # a unit a byte


class Account:
    """One bucket; full at first."""

    def __init__(self):
        self.depth = self.level = DEPTH << 16
        self.came = self.spent = self.over = self.brims = self.empties = self.short = 0

    def fill(self, units):
        """What ran over."""
        over = max(0, self.level + units - self.depth)
        self.came, self.over, self.brims = self.came + units, self.over + over, self.brims + (over > 0)
        self.level += units - over
        return over

    def covers(self, units):
        self.short += self.level < units
        return self.level >= units

    def take(self, units):
        assert 0 <= units <= self.level
        self.level, self.spent = self.level - units, self.spent + units
        self.empties += units > 0 and self.level == 0

    def balances(self, level):
        return self.came - self.spent - self.over == level - self.depth


class Books:
    """The accounts of one marker. srTCM's B is the excess bucket, which gets what runs over A."""

    def __init__(self, config):
        self.c, self.a, self.b, self.time, self.yellow, self.dropped = config, Account(), Account(), 0, None, 0

    def wait(self, time):
        units, self.time = time - self.time << 16, time
        over = self.a.fill(units)
        self.b.fill(over if self.c.kind == SRTCM else units)

    def mark(self, colour, length, draw):
        """(colour, policed) by RFC 2697, RFC 2698 and P0; the accounts as the packet leaves them. The first packet starts the meter."""
        self.yellow = self.time if self.yellow is None else self.yellow
        c, a, b = self.c, self.a, self.b
        price, other = ((length << 16) * each.mant >> each.shift for each in c.cost)
        best = colour if c.colour_aware else GREEN
        out, dropped = RED, False
        if c.kind == LEAF:
            out = GREEN if a.covers(price) else c.out
        elif c.kind == SRTCM:
            if best == GREEN and a.covers(price):
                out = GREEN
            elif best <= YELLOW and b.covers(price):
                out = YELLOW
                b.take(price)
        elif c.kind == TRTCM:
            if best <= YELLOW and a.covers(price):
                out = GREEN if best == GREEN and b.covers(other) else YELLOW
                a.take(price)
                if out == GREEN:
                    b.take(other)
        elif colour <= YELLOW:
            odds = c.promote if colour else c.demote
            reach, low, high = (
                (draw >> 16) * odds.mant << 26 >> odds.shift,
                c.low_threshold << 16,
                c.high_threshold << 16,
            )
            if colour == YELLOW:
                self.yellow = self.time
                out = GREEN if a.covers(price) and a.level > high + reach else YELLOW
            else:
                rest = self.time - self.yellow <= c.meter
                dropped = a.level < low and not rest and draw % 2**16 < c.p_drop
                out = GREEN if dropped or (a.covers(price) and a.level >= low - reach) else YELLOW
        self.dropped += dropped
        if out == GREEN and not dropped and c.kind != TRTCM:
            a.take(price)
        return out, dropped or bool(c.drop >> out & 1)


def drain(books, ask):
    """Asks for each bucket's level to the unit. `ask`: what the model marks a packet, and bucket A's level."""
    c, a, b = books.c, books.a, books.b
    for account in (b, a) if c.kind in (SRTCM, TRTCM) else (a,):
        c.colour_aware, c.low_threshold, c.p_drop = 1, 0, 0
        c.cost[0] = c.cost[1] = UNIT
        colour, paid, missed = GREEN, GREEN, None
        if account is b:
            colour, paid, missed = (YELLOW, YELLOW, RED) if c.kind == SRTCM else (GREEN, GREEN, YELLOW)
        if c.kind == TRTCM:
            c.cost[account is a] = Scaled(0, 0)
        if missed:
            assert ask(colour, account.level + 1) == (missed, a.level)
        assert ask(colour, account.level) == (paid, a.level)
        account.take(account.level)


@pytest.mark.parametrize("name", KINDS)
def test_tokens_are_conserved_exactly(name):
    """In - out - overflow = change of level. Colour-aware and colour-blind, all colours, the dropper, drops by colour, over the clock's wrap."""
    rng, kind = random.Random(5), KINDS[name]
    print("seed 5")
    second = {SRTCM: 2 * DEPTH, TRTCM: DEPTH}.get(kind, 0)
    config = marker(kind, (RATE, RATE // 2 if kind == TRTCM else RATE), (DEPTH, second), meter=5000)
    costs = [(each.mant, each.shift) for each in config.cost]
    low, drop = DEPTH // 4, 2**14
    config.high_threshold, config.demote, config.promote = DEPTH * 3 // 4, span(2 * low), span(2 * low)
    model, books, time = Model(config), Books(config), 0
    start, aware, came = WRAP - PACKETS * MEAN // 2, [0, 0], [0] * 3

    def ask(colour, length, draw=0xFFFFFFFF):
        out = model.mark(start + time, colour, length, draw)
        return out.colour, out.level

    for k in range(PACKETS):
        if k % DRAIN == 0:
            if k:
                drain(books, ask)
            config.low_threshold, config.p_drop, config.out = low, drop, rng.choice((YELLOW, RED))
            config.cost[0], config.cost[1] = (Scaled(*pair) for pair in costs)
        if k % 100 == 0:  # another mixture and pace
            colours, most = rng.choice(COLOURS), int(2 * MEAN / rng.choice((0.25, 0.5, 1, 2, 4)))
            config.colour_aware, config.drop = rng.randrange(2), rng.choice((0, 1 << RED, 1 << YELLOW))
        time += int(rng.random() * most)
        books.wait(time)
        colour, length, draw = rng.choice(colours), 64 + int(rng.random() * 1455), rng.getrandbits(32)
        level = books.a.level
        got = model.mark(start + time, colour, length, draw)
        want = books.mark(colour, length, draw)
        assert (got.colour, bool(got.policed), got.level) == (*want, level), f"packet {k}"
        aware[config.colour_aware] += 1
        came[colour] += 1
    time += 1
    books.wait(time)
    level = model.mark(start + time, RED, 0, 0xFFFFFFFF).level  # no bytes, no tokens
    assert books.a.balances(level) and books.a.came == time << 16
    drain(books, ask)
    for account in (books.a, books.b)[: 1 + (kind in (SRTCM, TRTCM))]:
        assert account.balances(0)
        print(f"{account.brims} brims, {account.empties} times empty, {account.short} packets not covered")
        assert min(account.brims, account.empties, account.short) > PACKETS // 1000
    assert min(*aware, *came) > PACKETS // 10
    assert (books.dropped > PACKETS // 1000) == (kind == REDP)
