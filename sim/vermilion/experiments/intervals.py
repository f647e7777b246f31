"""Means over seeds with their 95 % confidence intervals, by Student's t.

One number a seed. The two figures of a comparison come from the same seeds, so the interval is that of the paired differences, or of the
paired ratios, whose logarithms are averaged: the ratio's mean is the geometric one. Half of an interval's width is t(0.975; n - 1) s / sqrt(n),
with s the standard deviation over n seeds. No correction is made for the number of rows of a table.

Source: Student (W. S. Gosset), "The probable error of a mean", Biometrika 6 (1908); quantiles from scipy.
"""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """In the figure's unit, or as a plain ratio. Of one seed the ends are infinite; of a figure that a seed could not give all are nan."""

    mean: float
    low: float
    high: float
    seeds: int


def of_mean(numbers: list[float]) -> Interval:
    from scipy.special import stdtrit  # takes 0.2 s, and most commands need none of it

    count = len(numbers)
    if not all(map(math.isfinite, numbers)):
        return Interval(math.nan, math.nan, math.nan, count)
    middle = fmean(numbers)
    if count < 2:
        return Interval(middle, -math.inf, math.inf, count)
    half = float(stdtrit(count - 1, (1 + LEVEL) / 2)) * stdev(numbers) / math.sqrt(count)
    return Interval(middle, middle - half, middle + half, count)


def difference(ours: list[float], theirs: list[float]) -> Interval:
    """Of ours less theirs, seed by seed."""
    return of_mean([a - b for a, b in zip(ours, theirs, strict=True)])


def ratio(ours: list[float], theirs: list[float]) -> Interval:
    """Of ours over theirs, seed by seed; a figure that is not above 0 has no logarithm, and the interval is nan."""
    logarithms = [math.log(a / b) if a > 0 and b > 0 else math.nan for a, b in zip(ours, theirs, strict=True)]
    made = of_mean(logarithms)

    def up(x: float) -> float:
        return math.inf if x > 700 else math.exp(x)

    return Interval(up(made.mean), up(made.low), up(made.high), made.seeds)
