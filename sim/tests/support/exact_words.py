"""The quantiser in exact fractions, written after docs/architecture.md and the algorithms' formulas: what the driver's library is held against.

Takes the same `Config` as `quantise.hardware()` and gives the same record. It uses nothing of the library and of `quantise.py`; log2 comes with
60 digits from `decimal`. Defaults of the file and depths in bytes are those of `Config`: the tests of the configuration hold these.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

from support import lane_rules

COLOURS = ("green", "yellow", "red")
LEN_MAX = 2**27 - 1
MASKS = {"red": (7, 7, 7), "wred": (7, 7, 7), "rio-c": (1, 3, 7), "rio-2": (1, 7, 7), "rio-dc": (1, 2, 4)}
SPACINGS = {"geometric": 0, "uniform": 1, "wait": 2}
KINDS = {"leaf": 1, "srtcm": 2, "trtcm": 3, "redp": 4}
FLOW, FLOW_KINDS = 5, {"nm": 0, "3cpm": 1, "wpm": 2, "apm": 3}
DEPTHS = ("burst", "cbs", "ebs", "pbs", "bucket", "low", "high")


def exact(number):
    return Fraction(repr(number))


def nearest(x):
    return math.floor(x + Fraction(1, 2))


def scaled(x, bits, shift_max=63, rounded=nearest):
    """(m, s) with m 2^-s next to x, s the greatest with which m has at most `bits` bits; saturates at the greatest m."""
    top = 2**bits
    if x <= 0:
        return 0, 0
    shift = 0
    while shift < shift_max and rounded(x * 2 ** (shift + 1)) < top:
        shift += 1
    return min(rounded(x * 2**shift), top - 1), shift


def value(pair, offset=0):
    return Fraction(pair[0], 2 ** (pair[1] + offset))


def weight(w, n=1):
    w = 1 - (1 - w) ** n
    if w == 1:
        return 256, 0
    mant, shift = scaled(w * 256, 9, 31)
    return (256, 0) if shift == 0 else (mant, shift)


def log2(x: Fraction) -> Fraction:
    """To 60 digits."""
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(x.numerator).ln() - Decimal(x.denominator).ln()) / Decimal(2).ln())


def idle_decay(w, packet_bytes, rate):
    if w == 1:
        return 2**16 - 1, 0
    time_ns = Fraction(8 * packet_bytes * 10**9, rate)
    return scaled(-log2(1 - w) / time_ns * 2**10, 16, 48)


def idle_step(w, decay):
    """-log2(1-w) in 2^-(10 + s); s is the decay's shift."""
    return 2**48 - 1 if w == 1 else min(nearest(-log2(1 - w) * 2 ** (10 + decay[1])), 2**48 - 1)


def inverse(width):
    return scaled(Fraction(2**8, width), 18, rounded=math.floor) if width else (0, 0)


def square(gained, width):
    return scaled(gained * 2**16 / width, 18, rounded=math.floor) if width and gained else (0, 0)


def probability(p, frac=32):
    return nearest(p * 2**frac)


def cost(rate):
    return scaled(Fraction(8 * 10**9, rate), 18) if rate else (0, 0)


def depth_ns(bytes_, rate):
    return math.ceil(bytes_ * value(cost(rate)))


def burst_ns(bytes_, rate, queues):
    if not rate:
        return 0
    return min(max(nearest(Fraction(8 * 10**9 * bytes_, rate)), 4 * (queues + 64)), 2**40 - 1)


def size_weight(mean):
    return scaled(Fraction(2**12, mean), 16)


def span(ns):
    return scaled(Fraction(ns) / 2**26, 18)


def thresholds(curve, queue):
    low, high = curve.min.value, curve.max.value
    return (
        low,
        high,
        {"red": curve.end.value if curve.end else high, "gentle": 2 * high, "exred": queue.end_of(curve)}[curve.curve],
    )


def polynomial(curve, queue):
    """base, b1, b2 of the second segment, exact, in y = (a - max) / (end - max).

    Red with an end of its own: 1. Gentle: p = maxP + (1-maxP) y. ExRED (k_l, k_h, K): maxP + s x + a2 x^2 with x = y (K-k_h), s = maxP/(k_h-k_l) and
    a2 = ((k_h-k_l) - (K-k_l) maxP) / ((k_h-k_l) (K-k_h)^2).
    """
    low, high, end = thresholds(curve, queue)
    top = exact(curve.p)
    if curve.curve == "red" and curve.end:
        return Fraction(1), Fraction(0), Fraction(0)
    if curve.curve == "red":
        return Fraction(0), Fraction(0), Fraction(0)
    if curve.curve == "gentle":
        return top, 1 - top, Fraction(0)
    return top, top * (end - high) / (high - low), (high - low - (end - low) * top) / (high - low)


def curve_record(curve, queue):
    if curve is None or curve.curve == "tail":
        return {"on": 0, "min": 0, "max": 0, "end": 0} | {
            "inv1": [0, 0], "slope1": 0, "inv2": [0, 0], "base2": 0, "slope2": 0, "square2": [0, 0]
        }  # fmt: skip
    low, high, end = thresholds(curve, queue)
    base, b1, b2 = polynomial(curve, queue)
    return {
        "on": 1,
        "min": low,
        "max": high,
        "end": end,
        "inv1": list(inverse(high - low)),
        "slope1": probability(exact(curve.p)),
        "inv2": list(inverse(end - high)),
        "base2": probability(base),
        "slope2": probability(b1),
        "square2": list(square(b2, end - high)),
    }


def flow_record(m):
    return {
        "kind": FLOW_KINDS[m.kind],
        "alpha": int(8 * m.given("alpha")),
        "a0": nearest(exact(m.given("a0")) * 2**8),
        "ns": m.given("ns"),
        "na": m.given("na"),
        "increase": int(m.given("increase") == "factor"),
        "ack": int(m.given("ack") == "green"),
        "idle": nearest(Fraction(m.given("idle"), 2**22)),
        "half_open": nearest(Fraction(m.given("half_open"), 2**22)),
    }


NO_FLOW = dict.fromkeys(("kind", "increase", "ack", "alpha", "ns", "na", "a0", "idle", "half_open"), 0)
NO_MARKER = dict.fromkeys(("kind", "colour_aware", "length", "out", "drop", "packet"), 0) | {
    "cost": [[0, 0], [0, 0]], "burst": [0, 0], "low_threshold": 0, "high_threshold": 0, "demote": [0, 0], "promote": [0, 0],
    "p_drop": 0, "meter": 0, "flow": NO_FLOW,
}  # fmt: skip


def marker_record(m):
    if m is None:
        return NO_MARKER
    if m.kind in FLOW_KINDS:
        return NO_MARKER | {"kind": FLOW, "drop": m.dropped, "flow": flow_record(m)}
    ns = {
        name: depth_ns(m.in_bytes(getattr(m, name)), m.rate_of(name)) for name in DEPTHS if getattr(m, name) is not None
    }
    rates, bursts = {
        "leaf": lambda: ((m.rate, 0), (ns["burst"], 0)),
        "srtcm": lambda: ((m.cir, m.cir), (ns["cbs"], ns["cbs"] + ns["ebs"])),
        "trtcm": lambda: ((m.pir, m.cir), (ns["pbs"], ns["cbs"])),
        "redp": lambda: ((m.rate, 0), (ns["bucket"], 0)),
    }[m.kind]()
    record = NO_MARKER | {
        "kind": KINDS[m.kind],
        "colour_aware": int(m.given("colour_aware")),
        "length": int(m.ip_length and not m.packet_bytes),
        "packet": m.packet_bytes,
        "cost": [list(cost(rate)) for rate in rates],
        "burst": list(bursts),
        "out": COLOURS.index(m.given("out")),
        "drop": m.dropped,
    }
    if m.kind != "redp":
        return record
    return record | {
        "low_threshold": ns["low"],
        "high_threshold": ns["high"],
        "demote": list(span(ns["low"] / exact(m.given("max_demote")))),
        "promote": list(span((ns["bucket"] - ns["high"]) / exact(m.given("max_promote")))),
        "p_drop": probability(exact(m.given("p_drop")), 16),
        "meter": m.given("meter"),
    }


def colour_record(queue, colour):
    drops = getattr(queue, colour)
    return {
        "curve": [curve_record(drops, queue), curve_record(drops.ecn, queue)],
        "ecn_own": int(drops.ecn is not None),
    }


NEVER = 2**31 - 1  # ticks of 1,024 ns, a sojourn time that no packet has


def codel_record(queue):
    """Times are whole ticks of 1,024 ns, as Linux has them. Without CoDel, only ce_threshold has an effect."""
    ticks = lambda ns: ns // 1024
    codel = queue.aqm == "codel"
    if not codel and queue.ce_threshold is None:
        return dict.fromkeys(("on", "ce_mask", "ce_selector", "target", "interval", "ce_threshold", "mtu"), 0)
    return {
        "on": 1,
        "target": ticks(queue.target or 5_000_000) if codel else NEVER,
        "interval": ticks(queue.interval or 100_000_000) if codel else 0,
        "mtu": queue.mtu.value if codel else LEN_MAX,
        "ce_threshold": NEVER if queue.ce_threshold is None else ticks(queue.ce_threshold),
        "ce_mask": queue.ce_mask,
        "ce_selector": queue.ce_selector,
    }


def pie_record(queue):
    """Times in units of 64 ns, T_update in ticks of 65,536 ns, gains as probability for 64 ns in units of 2^-56."""
    names = ("on", "byte_mode", "interval", "target", "burst", "alpha", "beta", "mtu")
    if queue.aqm != "pie":
        return dict.fromkeys(names, 0)
    gain = lambda given, default: nearest(exact(default if given is None else given) * 2**56 * 64 / 10**9)
    allowance = 150_000_000 if queue.burst_allowance is None else queue.burst_allowance
    values = 1, int(queue.bytemode), max(1, nearest(Fraction(queue.tupdate or 15_000_000, 65536)))
    values += (queue.target or 15_000_000) // 64, allowance // 64
    values += gain(queue.pie_alpha, 0.125), gain(queue.pie_beta, 1.25), queue.mtu.value
    return dict(zip(names, values, strict=True))


def dualpi2_record(queue):
    """As PIE's, with gains in units of 2^-40. L has the record, too; only its `on` is used."""
    names = (
        "on",
        "drop_overload",
        "l4s_mask",
        "coupling",
        "interval",
        "target",
        "step",
        "alpha",
        "beta",
        "most",
        "mtu",
    )
    if queue.aqm != "dualpi2":
        return dict.fromkeys(names, 0)
    gain = lambda given, default: nearest(exact(default if given is None else given) * 2**40 * 64 / 10**9)
    drops, k = queue.overload == "drop", queue.coupling or 2
    values = 1, int(drops), queue.l4s_mask or 1, k
    values += max(1, nearest(Fraction(queue.tupdate or 16_000_000, 65536))), (queue.target or 15_000_000) // 64
    values += (queue.step_threshold or 1_000_000) // 64, gain(queue.dualpi2_alpha, 0.16), gain(queue.dualpi2_beta, 3.2)
    values += (2**32 - 1) // (1 if drops else k), queue.mtu.value
    return dict(zip(names, values, strict=True))


def queue_record(queue, port_rate, queues, marker):
    w = exact(queue.average.weight)
    decay = idle_decay(w, queue.average.idle_packet.value, min(queue.rate or port_rate, port_rate))
    codes = [getattr(queue.remark, colour) for colour in COLOURS]
    remark = [{"dscp": code or 0, "on": int(code is not None)} for code in codes]
    return {
        "index": queue.index,
        "name": queue.name,
        "weight": [list(weight(w, n)) for n in range(1, 7)],
        "lambda": list(decay),
        "idle_step": idle_step(w, decay),
        "masks": list(MASKS[queue.average.kind]),
        "unit": int(queue.average.unit == "packet"),
        "update": int(queue.average.update == "both"),
        "spacing": SPACINGS[queue.spacing],
        "size_weight": int(queue.size_weight is not None),
        "inv_mean_len": list(size_weight(queue.size_weight.value)) if queue.size_weight else [0, 0],
        "ecn": int(queue.ecn),
        "mark_late": int(queue.mark_at == "dequeue"),
        "limit": queue.limit.value if queue.limit else LEN_MAX,
        "limit_packets": queue.limit_packets.value if queue.limit_packets else LEN_MAX,
        "alpha": 0 if queue.alpha is None else 8 + int(math.log2(queue.alpha)),
        "strict": int(queue.priority is not None),
        "priority": queue.priority or 0,
        "quantum": queue.quantum.value if queue.quantum else 1522,
        "cost": list(cost(queue.rate)),
        "burst": burst_ns(queue.burst.value if queue.burst else 3044, queue.rate, queues),
        "colour": [colour_record(queue, colour) for colour in COLOURS],
        "marker": marker_record(marker) | {"remark": remark},
        "distance": {name: int(getattr(queue.distance, name)) for name in ("option", "infer", "share")},
        "ttl_option": int(queue.ttl_option == "remove"),
        "victim": int(queue.victim == "nearest"),
        "victim_by_colour": int(queue.victim_by_colour),
        "victim_window": queue.victim_window or 0,
        "codel": codel_record(queue),
        "pie": pie_record(queue),
        "dualpi2": dualpi2_record(queue),
        "fq": (queue.fq or 1).bit_length() - 1,
    }


def hardware(config, egresses=1):
    rest = next(q.index for q in config.queue if q.default)
    table = [[rest, 0] for _ in range(64)]
    for queue in config.queue:
        for number, colour in enumerate(COLOURS):
            for code in getattr(queue.dscp, colour):
                table[code] = [queue.index, number]
    markers = {m.queue: m for m in config.marker}
    rate, queues = config.port.rate, egresses * (1 + max(queue.index for queue in config.queue))
    pool = {"pool": {"size": config.pool.size.value // 64, "reserve": [0], "cap": [0]}} if config.pool else {}
    return {
        "port": {"cost": list(cost(rate)), "burst": burst_ns(config.port.burst.value, rate, queues)},
        **pool,
        "queues": [queue_record(q, rate, queues, markers.get(q.name)) for q in config.queue],
        "dscp": table,
        "default": [rest, 0],
        "seed": config.seed,
        "ttl_option": {"ip4": config.ttl_option.ip4, "ip6": config.ttl_option.ip6},
        **lane_rules.of_file(config.rule, {queue.name: queue.index for queue in reversed(config.queue)}),
    }
