"""The number formats of the registers and the rounding to them: `docs/architecture.md`, "Number formats".

Everything is worked out in exact fractions. A scaled number is `m 2^-s` with the mantissa normalised, that is with its top bit set,
unless s is at its least or greatest.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

WEIGHT_MANT, WEIGHT_EXP_MAX, STAGES = 9, 31, 6
LAMBDA_MANT, INV_MANT, SIZE_MANT, COST_MANT, SHIFT_MAX = 16, 18, 16, 18, 63
AVG_FRAC, IDLE_FRAC, POS_FRAC, PROB_FRAC, RATIO_FRAC, SHAPER_FRAC = 16, 10, 24, 32, 12, 16
MARK_DRAW, MARK_SPAN_SHIFT = 16, 26  # REDP's dropper; its spans
FLOW_AVERAGE_FRAC, FLOW_TICK_NS = 8, 2**22  # A_Y in packets; ages of the flow table


def exact(number: int | float) -> Fraction:
    """The decimal number a person wrote, not the double beside it."""
    return Fraction(repr(number))


def nearest(x: Fraction) -> int:
    """Rounds to nearest, halves up."""
    return math.floor(x + Fraction(1, 2))


def scaled(x: Fraction, bits: int, shift_max: int = SHIFT_MAX, rounded=None) -> tuple[int, int]:
    """(m, s) with m 2^-s nearest to x, or rounded otherwise, m of `bits` bits, s of 0 to `shift_max`; saturates at the greatest m."""
    top, rounded = 2**bits, rounded or nearest
    if x <= 0:
        return 0, 0
    shift = 0
    while shift < shift_max and rounded(x * 2 ** (shift + 1)) < top:
        shift += 1
    return min(rounded(x * 2**shift), top - 1), shift


def value(pair: tuple[int, int], offset: int = 0) -> Fraction:
    """m 2^-(s + offset)."""
    return Fraction(pair[0], 2 ** (pair[1] + offset))


def probability(p: Fraction, frac: int = PROB_FRAC) -> int:
    """U1.`frac`; 1.0 is exactly 2^`frac`."""
    return nearest(p * 2**frac)


def cost(rate: int | None) -> tuple[int, int]:
    """Nanoseconds a byte as m 2^-s; (0, 0) is unshaped. A packet's cost with 16 fraction bits is (L m 2^16) >> s."""
    return scaled(Fraction(8 * 10**9, rate), COST_MANT) if rate else (0, 0)


def depth_ns(bytes_: int, rate: int) -> int:
    """The time in which `rate`, as held, fills so many bytes: up to the next ns."""
    return math.ceil(bytes_ * value(cost(rate)))


@dataclass(frozen=True)
class Line:
    """One value as asked and as the hardware has it."""

    queue: str
    field: str
    asked: str
    real: str
    error: float  # relative


def line(queue: str, field: str, asked: Fraction, real: Fraction, text=lambda x: f"{float(x):.6g}") -> Line:
    return Line(queue, field, text(asked), text(real), float((real - asked) / asked) if asked else 0.0)


def rate_line(queue: str, field: str, rate: int) -> Line:
    from .units import rate_text

    return line(queue, field, Fraction(rate), Fraction(8 * 10**9) / value(cost(rate)), lambda x: rate_text(float(x)))
