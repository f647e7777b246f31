"""The number formats of the registers, and single values in them: `docs/architecture.md`, "Number formats".

Every rounding is the driver library's (`sw_driver/lib/vm_units.c`), which works in exact integers. A scaled number is `m 2^-s` with the mantissa
normalised, that is with its top bit set, unless s is at its least or greatest.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .driver_library import C, library, number, pair

WEIGHT_MANT, WEIGHT_EXP_MAX, STAGES = C.VM_WEIGHT_MANT_BITS, C.VM_WEIGHT_SHIFT_MAX, C.VM_STAGES
LAMBDA_MANT, INV_MANT, SIZE_MANT, COST_MANT = (
    C.VM_LAMBDA_MANT_BITS,
    C.VM_INV_MANT_BITS,
    C.VM_SIZE_MANT_BITS,
    C.VM_COST_MANT_BITS,
)
SHIFT_MAX, SHAPER_FRAC = C.VM_SHIFT_MAX, 16
AVG_FRAC, IDLE_FRAC, POS_FRAC, PROB_FRAC, RATIO_FRAC = (
    C.VM_AVG_FRAC,
    C.VM_IDLE_FRAC,
    C.VM_POS_FRAC,
    C.VM_PROB_FRAC,
    C.VM_RATIO_FRAC,
)
MARK_DRAW, MARK_SPAN_SHIFT = C.VM_MARK_DRAW_BITS, C.VM_SPAN_SHIFT  # REDP's dropper; its spans
FLOW_AVERAGE_FRAC, FLOW_TICK_NS = (
    C.VM_FLOW_AVERAGE_FRAC,
    2**C.VM_FLOW_TICK_BITS,
)  # A_Y in packets; ages of the flow table


def exact(number: float) -> Fraction:
    """The decimal number a person wrote, not the double beside it."""
    return Fraction(repr(number))


def nearest(x: Fraction) -> int:
    """Rounds to nearest, halves up."""
    return math.floor(x + Fraction(1, 2))


def value(scaled: Sequence[int], offset: int = 0) -> Fraction:
    """m 2^-(s + offset)."""
    return Fraction(scaled[0], 2 ** (scaled[1] + offset))


def probability(p: Fraction, frac: int = PROB_FRAC) -> int:
    """U1.`frac`; 1.0 is exactly 2^`frac`."""
    return int(library().vm_probability(number(p), frac))


def cost(rate: int | None) -> tuple[int, int]:
    """Nanoseconds a byte as m 2^-s; (0, 0) is unshaped. A packet's cost with 16 fraction bits is (L m 2^16) >> s."""
    return pair(library().vm_cost(rate or 0))


def depth_ns(bytes_: int, rate: int) -> int:
    """The time in which `rate`, as held, fills so many bytes: up to the next ns."""
    return int(library().vm_depth_ns(bytes_, rate))


@dataclass(frozen=True)
class Line:
    """One value as asked and as the hardware has it."""

    queue: str
    field: str
    asked: str
    real: str
    error: float  # relative


def plain(x: Fraction) -> str:
    return f"{float(x):.6g}"


def line(queue: str, field: str, asked: Fraction, real: Fraction, text: Callable[[Fraction], str] = plain) -> Line:
    """A value for the table, with its relative error."""
    return Line(queue, field, text(asked), text(real), float((real - asked) / asked) if asked else 0.0)


def rate_line(queue: str, field: str, rate: int) -> Line:
    from vermilion.values.units import rate_text

    return line(queue, field, Fraction(rate), Fraction(8 * 10**9) / value(cost(rate)), lambda x: rate_text(float(x)))
