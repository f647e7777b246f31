"""From a configuration to the numbers the hardware holds, and how far these are from what was asked.

Formats and rounding: `formats.py`; markers: `marker_words.py`, `marker_values.py`. The record that `hardware()` gives is written
down in `docs/hardware-configuration.md`. Everything is worked out in exact fractions; the one function that is not
rational, log2 of the idle decay, is a double, 2^-40 exact where 2^-17 is kept.
"""

import math
from fractions import Fraction

from .config import COLOURS, LEN_MAX, MASKS, Config, Curve, Queue
from .formats import AVG_FRAC, IDLE_FRAC, INV_MANT, LAMBDA_MANT, POS_FRAC, PROB_FRAC, RATIO_FRAC, SIZE_MANT, STAGES
from .formats import (
    WEIGHT_EXP_MAX,
    WEIGHT_MANT,
    Line,
    cost,
    exact,
    line,
    nearest,
    probability,
    rate_line,
    scaled,
    value,
)
from .marker_values import marker_lines
from .marker_words import marker_record
from .markers import Marker

SPACINGS = {"geometric": 0, "uniform": 1, "wait": 2}


def weight(w: Fraction) -> tuple[int, int]:
    """m U9, e U5 with w = m 2^-(8+e); 1.0 is (256, 0). Within 2^-9 for every w in [2^-15, 1]."""
    if w == 1:
        return 256, 0
    mant, shift = scaled(w * 256, WEIGHT_MANT, WEIGHT_EXP_MAX)
    return (256, 0) if shift == 0 else (mant, shift)


def weights(w: Fraction) -> list[tuple[int, int]]:
    """W[n] = 1 - (1-w)^n, n = 1..6: the step over n decisions at once."""
    return [weight(1 - (1 - w) ** n) for n in range(1, STAGES + 1)]


def idle_lambda(w: Fraction, packet_bytes: int, rate: int) -> tuple[int, int]:
    """-log2(1-w)/s a nanosecond with 10 fraction bits; s = the time of one packet at `rate`. At w = 1 the greatest there is."""
    if w == 1:
        return 2**LAMBDA_MANT - 1, 0
    time_ns = Fraction(8 * packet_bytes * 10**9, rate)
    decay = Fraction(-math.log1p(-float(w)) / math.log(2))
    return scaled(decay / time_ns * 2**IDLE_FRAC, LAMBDA_MANT)


def inverse(width: int) -> tuple[int, int]:
    """For y = (a - th) / width: a has 16 fraction bits and y 24, so m 2^-s = 2^8 / width; rounded down, so that y stays below 1."""
    return scaled(Fraction(2 ** (POS_FRAC - AVG_FRAC), width), INV_MANT, rounded=math.floor) if width else (0, 0)


def square(gained: Fraction, width: int) -> tuple[int, int]:
    """For z = gained (a - th) / width: a has 16 fraction bits and z 32, so m 2^-s = 2^16 gained / width; rounded down, as `inverse`."""
    return (
        scaled(gained * 2 ** (PROB_FRAC - AVG_FRAC) / width, INV_MANT, rounded=math.floor)
        if width and gained
        else (0, 0)
    )


def thresholds(curve: Curve, queue: Queue) -> tuple[int, int, int]:
    """min, max and the end from where on p is 1."""
    low, high = curve.min.value, curve.max.value
    return low, high, {"red": high, "gentle": 2 * high, "exred": queue.end_of(curve)}[curve.curve]


def polynomial(curve: Curve, queue: Queue) -> tuple[Fraction, Fraction, Fraction]:
    """base, b1, b2 of the second segment, exact, in y = (a - max) / (end - max).

    Gentle: p = maxP + (1-maxP) y. ExRED (k_l, k_h, K): maxP + s x + a2 x^2 with x = y (K-k_h), s = maxP/(k_h-k_l) and
    a2 = ((k_h-k_l) - (K-k_l) maxP) / ((k_h-k_l) (K-k_h)^2).
    """
    low, high, end = thresholds(curve, queue)
    top = exact(curve.p)
    if curve.curve == "red":
        return Fraction(0), Fraction(0), Fraction(0)
    if curve.curve == "gentle":
        return top, 1 - top, Fraction(0)
    return top, top * (end - high) / (high - low), (high - low - (end - low) * top) / (high - low)


def curve_record(curve: Curve | None, queue: Queue) -> dict:
    """The register values of one curve; "on" 0 for tail drop."""
    if curve is None or curve.curve == "tail":
        return {"on": 0, "min": 0, "max": 0, "end": 0} | {
            "inv1": [0, 0], "b1_1": 0, "inv2": [0, 0], "base2": 0, "b1_2": 0, "b2_2": [0, 0]
        }  # fmt: skip
    low, high, end = thresholds(curve, queue)
    base, b1, b2 = polynomial(curve, queue)
    return {
        "on": 1,
        "min": low,
        "max": high,
        "end": end,
        "inv1": list(inverse(high - low)),
        "b1_1": probability(exact(curve.p)),
        "inv2": list(inverse(end - high)),
        "base2": probability(base),
        "b1_2": probability(b1),
        "b2_2": list(square(b2, end - high)),
    }


CLOCK_NS, LATENESS_CLOCKS = 4, 64  # LaneClockNs of sim/model/timing.h, latenessClocks of schedule/DueTime.scala


def queue_count(config: Config) -> int:
    """Up to the highest number that is configured: so many are looked at by the shaper of the queues."""
    return 1 + max(queue.index for queue in config.queue)


def least_burst_ns(queues: int) -> int:
    """As late as the scheduler may serve what is due; a burst shorter than that would cost rate."""
    return CLOCK_NS * (queues + LATENESS_CLOCKS)


def burst_ns(bytes_: int, rate: int | None, queues: int) -> int:
    """The time in which `rate` sends the burst; at least `least_burst_ns`, at most what 40 bits hold (18 minutes)."""
    if not rate:
        return 0
    return min(max(nearest(Fraction(8 * 10**9 * bytes_, rate)), least_burst_ns(queues)), 2**40 - 1)


def size_weight(mean: int) -> tuple[int, int]:
    """r = L / L_mean with 12 fraction bits: m 2^-s = 2^12 / L_mean."""
    return scaled(Fraction(2**RATIO_FRAC, mean), SIZE_MANT)


DEFAULT_QUANTUM, DEFAULT_BURST = 1522, 3044


def queue_record(queue: Queue, port_rate: int, queues: int, marker: Marker | None) -> dict:
    w = exact(queue.average.weight)
    return {
        "index": queue.index,
        "name": queue.name,
        "weight": [list(pair) for pair in weights(w)],
        "lambda": list(idle_lambda(w, queue.average.idle_packet.value, min(queue.rate or port_rate, port_rate))),
        "masks": list(MASKS[queue.average.kind]),
        "unit_packets": int(queue.average.unit == "packet"),
        "update_depart": int(queue.average.update == "both"),
        "spacing": SPACINGS[queue.spacing],
        "size_weight": [1, *size_weight(queue.size_weight.value)] if queue.size_weight else [0, 0, 0],
        "ecn": int(queue.ecn),
        "limit_bytes": queue.limit.value if queue.limit else LEN_MAX,
        "limit_packets": queue.limit_packets.value if queue.limit_packets else LEN_MAX,
        "strict": int(queue.priority is not None),
        "priority": queue.priority or 0,
        "quantum": queue.quantum.value if queue.quantum else DEFAULT_QUANTUM,
        "cost": list(cost(queue.rate)),
        "burst_ns": burst_ns(queue.burst.value if queue.burst else DEFAULT_BURST, queue.rate, queues),
        "curves": [
            {
                "drop": curve_record(getattr(queue, colour), queue),
                "ecn_own": int(getattr(queue, colour).ecn is not None),
                "ecn": curve_record(getattr(queue, colour).ecn, queue),
            }
            for colour in COLOURS
        ],
        "marker": marker_record(marker),
        "distance": [int(queue.distance.option), int(queue.distance.infer), int(queue.distance.share)],
        "remove_ttl_option": int(queue.ttl_option == "remove"),
        "victim": [int(queue.victim == "nearest"), int(queue.victim_by_colour), queue.victim_window or 0],
        "remark": [-1 if code is None else code for code in (getattr(queue.remark, colour) for colour in COLOURS)],
    }


def hardware(config: Config) -> dict:
    """The whole record that harness and model read."""
    rest = next(q.index for q in config.queue if q.default)
    table = [[rest, 0] for _ in range(64)]
    for queue in config.queue:
        for number, colour in enumerate(COLOURS):
            for code in getattr(queue.dscp, colour):
                table[code] = [queue.index, number]
    markers = {m.queue: m for m in config.marker}
    rate, queues = config.port.rate, queue_count(config)
    return {
        "port": {"cost": list(cost(rate)), "burst_ns": burst_ns(config.port.burst.value, rate, queues)},
        "queues": [queue_record(q, rate, queues, markers.get(q.name)) for q in config.queue],
        "dscp": table,
        "default": [rest, 0],
        "seed": config.seed,
        "ttl_option": {"ip4": config.ttl_option.ip4, "ip6": config.ttl_option.ip6},
    }


def effective(spacing: str, p: Fraction) -> Fraction:
    """The long-run early-drop rate at a steady p: 1 / the mean gap, exact for R uniform on [0, 1).

    uniform: P(gap > k) = max(0, 1 - k p).   wait: 1 while k p < 1, then max(0, 2 - k p).
    """
    if spacing == "geometric" or p == 0 or p >= 1:
        return min(p, Fraction(1))

    def sum_above(top: int, begin: int) -> Fraction:  # sum over k from `begin` of max(0, top - k p)
        count = math.ceil(top / p) - begin
        return top * count - p * (Fraction(count * (2 * begin + count - 1), 2)) if count > 0 else Fraction(0)

    if spacing == "uniform":
        return 1 / sum_above(1, 0)
    begin = math.ceil(1 / p)
    return 1 / (begin + sum_above(2, begin))


def report(config: Config) -> list[Line]:
    """Every value that rounding may move."""

    def burst(name, bytes_, rate):  # where the hardware's is another
        asked, real = Fraction(8 * 10**9 * bytes_, rate), burst_ns(bytes_, rate, queue_count(config))
        return [line(name, "burst, ns", asked, Fraction(real))] if real != nearest(asked) else []

    lines = [rate_line("port", "rate", config.port.rate), *burst("port", config.port.burst.value, config.port.rate)]
    for q in config.queue:
        w = exact(q.average.weight)
        lines.append(line(q.name, "average.weight", w, value(weight(w), 8)))
        if w < 1 and any(getattr(q, colour).curve != "tail" for colour in COLOURS):
            rate = min(q.rate or config.port.rate, config.port.rate)
            half = Fraction(1, 10**6) * 2**IDLE_FRAC
            asked = Fraction(8 * 10**9 * q.average.idle_packet.value, rate) / Fraction(-math.log2(1 - float(w)))
            real = 1 / value(idle_lambda(w, q.average.idle_packet.value, rate))
            lines.append(line(q.name, "idle half-life, ms", asked / 10**6, real * half))
        for colour in COLOURS:
            drop = getattr(q, colour)
            for where, curve in ((colour, drop), (f"{colour}.ecn", drop.ecn)):
                if curve is None or curve.curve == "tail":
                    continue
                low, high, _ = thresholds(curve, q)
                p = exact(curve.p)
                lines.append(line(q.name, f"{where}.p", p, Fraction(probability(p), 2**PROB_FRAC)))
                if high > low:
                    slope = value(inverse(high - low), 8) * Fraction(probability(p), 2**PROB_FRAC)
                    lines.append(line(q.name, f"{where} slope", p / (high - low), slope))
        if q.size_weight:
            real = 2**RATIO_FRAC / value(size_weight(q.size_weight.value))
            lines.append(line(q.name, "size_weight", Fraction(q.size_weight.value), real))
        if q.rate:
            lines.append(rate_line(q.name, "rate", q.rate))
            lines += burst(q.name, q.burst.value if q.burst else DEFAULT_BURST, q.rate)
    for m in config.marker:
        lines += marker_lines(m)
    return lines
