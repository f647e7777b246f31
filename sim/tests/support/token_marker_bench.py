"""What the tests of the token bucket markers share: configurations, the model's marker, P0's REDP, and the meters in exact fractions.

`Reference` is written from RFC 2697, RFC 2698 and P0 and shares no code with the model: buckets that are filled and emptied, where the
model keeps the time at which a bucket would have been empty.
"""

import math
from ctypes import byref
from fractions import Fraction

from support.model_bindings import LEAF, REDP, SRTCM, TRTCM, Marked, Marker, Scaled, draws, library, scaled
from vermilion.profile.quantise import cost

GREEN, YELLOW, RED = range(3)
WRAP = 2**48
KINDS = {"leaf": LEAF, "srtcm": SRTCM, "trtcm": TRTCM, "redp": REDP}


def marker(kind, rates, bursts_ns, **fields):
    """Rates in bits/s, bursts in ns of bucket A and B (srTCM's B: CBS + EBS)."""
    m = Marker(kind=kind, **fields)
    for i in range(2):
        m.cost[i] = Scaled(*cost(rates[i]))
        m.burst[i] = bursts_ns[i]
    return m


class Model:
    def __init__(self, config):
        self.lib, self.config = library(), config
        self.handle = self.lib.vm_marker_create()

    def __del__(self):
        self.lib.vm_marker_destroy(self.handle)

    def fill(self):
        """A marker anew, full, at time 0: the first packet counts as a yellow one, so a meter runs from there."""
        self.lib.vm_marker_destroy(self.handle)
        self.handle = self.lib.vm_marker_create()
        self.mark(0, GREEN, 0)

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
        first, second = config.burst[0], config.burst[1]
        self.a = Bucket(first)
        self.b = Bucket(second - first if config.kind == SRTCM else second)
        self.yellow = None  # when the last one came; the first packet counts as one

    def cost(self, i, length):
        units = self.c.packet or length
        return Fraction((units << 16) * self.c.cost[i].mant >> self.c.cost[i].shift, 2**16)

    def mark(self, time, colour, length, draw):
        elapsed = 0 if self.last is None else time - self.last
        self.yellow = time if self.last is None else self.yellow
        self.last = time
        over = self.a.fill(elapsed)
        self.b.fill(over if self.c.kind == SRTCM else elapsed)
        return {LEAF: self.leaf, SRTCM: self.srtcm, TRTCM: self.trtcm, REDP: self.redp}[self.c.kind](
            time, colour, length, draw
        )

    def leaf(self, time, colour, length, draw):
        cost = self.cost(0, length)
        if self.a.tokens < cost:
            return self.c.out, False
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
        cost, tokens, low, high = self.cost(0, length), self.a.tokens, self.c.low_threshold, self.c.high_threshold
        if colour == RED:
            return RED, False
        odds = self.c.demote if colour == GREEN else self.c.promote
        span = Fraction((draw >> 16) * odds.mant << 26 >> odds.shift, 2**16)
        if colour == GREEN:
            metered = time - self.yellow <= self.c.meter
            if tokens < low and not metered and draw % 2**16 < self.c.p_drop:
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


PACKET = 8000  # ns: 1000 B at 1 Gb/s


def redp(bucket=60, low=15, high=45, demote=Fraction(1, 2), promote=Fraction(1, 2), **fields):
    """P0's marker of 1 Gb/s; depths in packets of 1000 B."""
    m = marker(
        REDP, (10**9, 10**9), (bucket * PACKET, 0), low_threshold=low * PACKET, high_threshold=high * PACKET, **fields
    )
    m.demote, m.promote = span(low * PACKET / demote), span((bucket - high) * PACKET / promote)
    return m


def lane_draws(seed):
    """What the markers of a lane of this seed draw: its second source, from the third and fourth output of splitmix64."""
    return draws((seed + 2 * 0x9E3779B97F4A7C15) % 2**64)


def interval(count, p, confidence=0.999, slack=2 / 2**16):
    """The least and the greatest number of hits in `count` draws of probability p; `slack`: of p, for a draw of 16 bits."""

    def tail(p, upwards):
        if p <= 0 or p >= 1:
            return count if p >= 1 else 0
        reach = 7 * math.sqrt(count * p * (1 - p)) + 20
        ks = range(max(0, int(count * p - reach)), min(count, int(count * p + reach)) + 1)
        total, fixed = 0.0, math.lgamma(count + 1)
        for k in ks if upwards else reversed(ks):
            ways = fixed - math.lgamma(k + 1) - math.lgamma(count - k + 1)
            total += math.exp(ways + k * math.log(p) + (count - k) * math.log1p(-p))
            if total > (1 - confidence) / 2:
                return k

    return tail(p - slack, True), tail(p + slack, False)
