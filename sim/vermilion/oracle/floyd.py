"""RED in exact arithmetic, beside the model: averages, idle ageing, the curve, gaps between drops.

    step   avg <- avg + w (q - avg)        an arrival that finds q > 0
    age    avg <- avg (1-w)^m              Floyd 1993: an arrival that finds q = 0; m = idle time / s, a real number
           avg <- avg (1-w)^(m+1)          the same with ns-2's step: the arriving packet samples q = 0. Model and RTL do this
    curve  p = max_p (avg - min) / (max - min)   from min to max; gentle: on to 1 at 2 max
    gaps   geometric: P(gap > k) = (1-p)^k; uniform: 1 - k p; wait: 1 while k p < 1, then 2 - k p

Floyd 1993: Floyd, Jacobson, Random Early Detection Gateways for Congestion Avoidance, sections 4, 7 and 11. ns-2's step: red.cc of ns-2.35.
Doubles stand for exact numbers: a sequence of N packets is off by less than 3 N 2^-52 of its longest queue, 10^-10 for N = 10^5.
"""

import math
import random
from dataclasses import dataclass

from vermilion.toolchain import build

from . import lanes
from .rows import Finding, Row

NAME = "floyd"
SUMMARY = "RED in exact arithmetic, Floyd 1993 with ns-2's step"
SEED = 20231
DROPPED_MOST = 1000  # packets of the 40,000 after the silence: 2.5 %
KS = 1.95  # sqrt(n) times the distance of two distributions: passed by chance in 1 of 1,000
# Relative errors of the hardware's numbers. Weight: 9 bits; lambda: 16 bits; inv1: 18 bits, rounded down.
# An average of weight w (1 + d) differs by d / e of the longest queue at most; twice that where decay and weight differ opposite ways.
WEIGHT_ERROR, LAMBDA_ERROR, SLOPE_ERROR = 2**-9, 2**-15, 2**-17
ASKED_ERROR = 2 * (WEIGHT_ERROR + LAMBDA_ERROR) / math.e


class Average:
    """One estimator with ns-2's step, and how far the rounding of model and RTL may be from it, from sim/model/average.h.

    A step truncates once, so it loses less than 2^-16. An ageing by X errs by 0.35 % of X. Its two shifts truncate one after the other, which is the
    same as one shift by their sum: floor(floor(x / a) / b) = floor(x / (a b)). So it loses less than 2^-16, too. What is left of an exponent, less
    than 2^-10 halvings, waits for the next ageing.
    """

    ROM_ERROR, LATE, PLACE = 0.0035, 2**-10 * math.log(2), 2**-16

    def __init__(self, weight: float, per_ns: float, step: float):
        """An idle time t takes exp(-(t `per_ns` + `step`)) of it away, `step` for the arriving packet."""
        self.weight, self.per_ns, self.step, self.avg, self.updated = weight, per_ns, step, 0.0, 0
        self.error, self.aged = self.PLACE, 0.0

    def arrive(self, now: int, queued: int, departed: int):
        if queued:
            self.avg += self.weight * (queued - self.avg)
            self.error = self.error * (1 - self.weight) + self.PLACE
            self.aged *= 1 - self.weight
        else:
            exponent = (now - max(departed, self.updated)) * self.per_ns + self.step
            left = math.exp(-exponent)
            self.avg *= left
            self.error = self.error * left + self.ROM_ERROR * exponent * self.avg + self.PLACE
            self.aged = self.avg
        self.updated = now

    @property
    def tolerance(self) -> float:
        return self.error + self.LATE * self.aged


def probability(avg: float, low: float, high: float, top: float, gentle: bool = False) -> float:
    if avg < low:
        return 0.0
    if avg < high:
        return top * (avg - low) / (high - low)
    return top + (1 - top) * (avg - high) / high if gentle and avg < 2 * high else 1.0


def survival(spacing: str, p: float, k: int) -> float:
    """P(gap > k) at a steady p; a gap is the packets from one drop to the next, which counts."""
    if spacing == "geometric":
        return (1 - p) ** k
    top = 1 if spacing == "uniform" or k * p < 1 else 2
    return 1.0 if spacing == "wait" and k * p < 1 else max(0.0, top - k * p)


def follow(lane: lanes.Lane, decisions: list[lanes.Decision], held: bool) -> float:
    """The worst difference of an average, of its tolerance. `held`: with the effective numbers of the hardware record; else with the requested ones.

    The exact average takes backlogs and departures as the model reports them. It has no look-ahead, so decisions have to be 6 cycles apart.
    """
    exact = [Average(*(lane.held if held else lane.exact)) for _ in lane.masks]
    in_packets, longest, worst = lane.record["queues"][0]["unit"], 1, 0.0
    for d in decisions:
        if d.look_ahead != 1:
            raise build.BuildError(f"a decision looks {d.look_ahead} back; {NAME} compares those that look 1 back")
        backlog = d.queued_packets if in_packets else d.queued_bytes
        for each, mask in zip(exact, lane.masks, strict=True):
            if mask >> d.colour & 1:
                counted = [c for c in range(3) if mask >> c & 1]
                queued = sum(backlog[c] for c in counted)
                each.arrive(d.ns, queued, max(d.departed[c] for c in counted))
                longest = max(longest, queued)
        own = exact[d.colour]
        tolerance = own.tolerance + (0 if held else ASKED_ERROR * longest)
        worst = max(worst, abs(own.avg - d.avg) / tolerance)
    return worst


@dataclass(frozen=True)
class Silence:
    """200 frames of 1,486 B at once, `silence_ns` of silence, then `count` packets of `bytes`, one each `gap_ns`.

    The port has to be slower than the lane's input of 16 Gbit/s: the average is above `max` after the frames.
    """

    rate: str
    silence_ns: int
    bytes: int
    gap_ns: int

    @property
    def name(self) -> str:
        return f"{self.bytes} B each {self.gap_ns:,} ns at {self.rate}"

    def packets(self, count: int) -> list[lanes.Packet]:
        first = [lanes.Packet(1000, 1486)] * 200
        return first + [lanes.Packet(self.silence_ns + i * self.gap_ns, self.bytes) for i in range(count)]


SILENCES = [Silence("10Mbit", 300_000_000, b, gap) for b, gap in ((60, 150_000), (60, 250_000), (60, 400_000))]
SILENCES += [Silence("10Mbit", 300_000_000, 310, 250_000), Silence("10Gbit", 300_000, 60, 150)]
SILENCES += [Silence("10Gbit", 300_000, 60, 260), Silence("10Gbit", 300_000, 310, 400)]


def silence_lane(of: Silence, fault=None) -> lanes.Lane:
    return lanes.lane(of.rate, {"weight": 0.002}, fault, **lanes.red("5KB", "15KB", 0.1))


def random_case(number: int, fault=None) -> tuple[lanes.Lane, list, dict]:
    """A configuration, its traffic (bit/s, load, packets of a burst) and its curve, drawn by the number."""
    rng = random.Random(f"{SEED} {number}")
    rate, unit = rng.choice((10**6, 10**7, 10**9, 10**10)), rng.choice(("byte", "packet"))
    low = rng.randint(1, 40)
    high = low + rng.randint(1, 80)
    scale = "p" if unit == "packet" else "KB"
    average = {
        "kind": rng.choice(("red", "rio-c", "rio-dc")),
        "weight": round(2 ** rng.uniform(-12, -2), 7),
        "unit": unit,
        "idle_packet": rng.randint(64, 1500),
    }
    curve = {"p": round(rng.uniform(0.01, 0.9), 3), "curve": rng.choice(("red", "gentle"))}
    settings = lanes.red(f"{low}{scale}", f"{high}{scale}", **curve)
    spacing = rng.choice(("geometric", "uniform", "wait"))
    lane = lanes.lane(rate, average, fault, spacing=spacing, **settings)
    unit_bytes = 1 if unit == "packet" else 1000
    traffic = [rate, rng.uniform(0.05, 1.4), rng.choice((1, 3, 40))]
    return lane, traffic, curve | {"low": low * unit_bytes, "high": high * unit_bytes}


def curve_error(decisions, curve: dict) -> float:
    """The worst difference of a probability at the model's own average, of its segment's height."""
    worst, gentle = 0.0, curve["curve"] == "gentle"
    for d in decisions:
        want = probability(d.avg, curve["low"], curve["high"], curve["p"], gentle)
        height = curve["p"] if d.avg < curve["high"] else 1.0
        worst = max(worst, abs(d.p - want) / height)
    return worst


def gaps(decisions: list[lanes.Decision], settle: int) -> list[int]:
    """Gaps between early drops, from the first drop after `settle` packets."""
    out, last = [], None
    for number, d in enumerate(decisions[settle:]):
        if d.verdict == lanes.EARLY:
            if last is not None:
                out.append(number - last)
            last = number
    return out


def distance(spacing: str, p: float, found: list[int]) -> float:
    """sqrt(n) times the greatest difference between the gaps' distribution and the exact one (Kolmogorov, Smirnov)."""
    longest, n, seen, worst = max(found), len(found), 0, 0.0
    counts = [0] * (longest + 1)
    for gap in found:
        counts[gap] += 1
    for k in range(1, longest + 1):
        seen += counts[k]
        worst = max(worst, abs((n - seen) / n - survival(spacing, p, k)))
    return worst * math.sqrt(n)


def spacing_row(packets: int, fault) -> Row:
    worst, drops = 0.0, 0
    for spacing in ("geometric", "uniform", "wait"):
        for p in (0.03, 0.2):
            settings = lanes.red("10p", "30p", p)
            lane = lanes.lane("1Gbit", {"weight": 0.1, "unit": "packet"}, fault, spacing=spacing, **settings)
            found = gaps(lane.kept(21, packets, 1000, SEED), 1000)
            drops += len(found)
            worst = max(worst, distance(spacing, probability(20, 10, 30, p), found))
    reason = "1 in 1,000 by chance (Kolmogorov, Smirnov); seed fixed"
    return Row("gaps between drops, three spacings", worst, KS, "sqrt(n) D", drops, reason, "chance")


def silence(of: Silence, count: int, fault=None) -> tuple[int, float]:
    """Packets that are lost of the `count` after the silence, and the worst difference of an average, of its tolerance."""
    lane = silence_lane(of, fault)
    decisions = lane.decisions(of.packets(count), SEED)
    if decisions[200].avg < 15_000:
        raise build.BuildError(
            f"{of.name}: the average is {decisions[200].avg:.0f} B after the silence, so nothing is compared"
        )
    return sum(d.lost for d in decisions[200:]), follow(lane, decisions, held=True)


def silences(count: int, fault, note) -> list[Row]:
    worst_drops, worst_average = 0, 0.0
    for of in SILENCES:
        note(of.name)
        lost, difference = silence(of, count, fault)
        worst_drops, worst_average = max(worst_drops, lost), max(worst_average, difference)
    return [
        Row(
            "dropped after a silence, of 40,000",
            worst_drops,
            DROPPED_MOST,
            "packets",
            len(SILENCES),
            "2.5 %: the exact average is below min within 800",
            "none",
        ),
        Row(
            "average over many short idle spells",
            worst_average,
            1,
            "of tolerance",
            len(SILENCES) * (200 + count),
            "rounding, average.h",
            "ours: rounding",
        ),
    ]


def sequences(cases: int, count: int, fault, note) -> list[Row]:
    worst = {"held": 0.0, "asked": 0.0, "curve": 0.0}
    for number in range(cases):
        note(f"random configuration {number + 1} of {cases}")
        lane, (rate, load, burst), curve = random_case(number, fault)
        decisions = lane.decisions(lanes.random_packets(f"{SEED} {number}", count, rate, load, burst=burst), number + 1)
        worst["held"] = max(worst["held"], follow(lane, decisions, held=True))
        worst["asked"] = max(worst["asked"], follow(lane, decisions, held=False))
        worst["curve"] = max(worst["curve"], curve_error(decisions, curve))
    total = cases * count
    return [
        Row(
            "average, effective (quantised) weight",
            worst["held"],
            1,
            "of tolerance",
            total,
            "rounding, average.h",
            "ours: rounding",
        ),
        Row(
            "average, requested weight",
            worst["asked"],
            1,
            "of tolerance",
            total,
            "weight 2^-9, idle packet 2^-15 of longest queue, twice",
            "ours: weights have 9 bits",
        ),
        Row(
            "probability at that average",
            worst["curve"],
            SLOPE_ERROR + 2**-22,
            "of segment height",
            total,
            "slope 2^-17, position 2^-24",
            "ours: slope rounded down",
        ),
    ]


def run(quick: bool = False, fault=None, note=lambda _: None) -> Finding:
    found = Finding(NAME, SUMMARY)
    found.rows += silences(1500 if quick else 40_000, fault, note)
    found.rows += sequences(6 if quick else 60, 2000 if quick else 5000, fault, note)
    note("gaps between drops")
    found.rows.append(spacing_row(20_000 if quick else 200_000, fault))
    return found


fault = lanes.weight_off_by_one
