"""Drawings that plot a formula: drop curves, and REDP's regions."""

from .svg import Drawing


def plot(d: Drawing, x: float, y: float, w: float, h: float, across: str, up: str):
    """Axes, and the function that maps shares of them to px."""
    d.line((x, y), (x, y + h), (x + w, y + h))
    d.text(x + w, y + h + 34, across, "small end")
    d.text(x + 8, y + 2, up, "small start")
    return lambda a, b: (x + a * w, y + h - b * h)


def drop_curves() -> Drawing:
    d = Drawing(
        "curves",
        720,
        300,
        "Drop curves",
        "RED goes from 0 at min to p at max, then to 1. Gentle RED rises from p to 1 at twice max. ExRED is a parabola up to its end.",
    )
    to = plot(d, 60, 24, 560, 210, "average of the colour", "drop probability")
    low, high, end, p = 0.25, 0.45, 0.9, 0.2
    d.line(to(0, 0), to(low, 0), to(high, p), to(high, 1), to(1, 1), kind="curve")
    d.line(to(high, p), to(2 * high, 1), kind="curve other dash")
    slope = p / (high - low)  # the parabola begins with the slope of the line before it
    width = end - high
    square = (1 - p - slope * width) / width**2
    points = [to(high + width * i / 20, p + slope * width * i / 20 + square * (width * i / 20) ** 2) for i in range(21)]
    d.line(*points, kind="curve other")
    for share, name in ((low, "min"), (high, "max"), (end, "end, or 2 max")):
        d.line(to(share, 0), to(share, 0.03))
        d.text(to(share, 0)[0], 250, name, "small")
    d.text(to(0, p)[0] - 8, to(0, p)[1] + 4, "p", "small end")
    d.text(to(0, 1)[0] - 8, to(0, 1)[1] + 4, "1", "small end")
    d.line(to(0, p), to(high, p), kind="line dash")
    d.text(to(high, 0.7)[0] - 8, to(high, 0.7)[1], "red", "mark end")
    d.text(to(0.735, 0.72)[0] - 14, to(0.735, 0.72)[1] + 4, "gentle", "on end")
    d.text(to(0.75, 0.6)[0] + 8, to(0.75, 0.6)[1] + 4, "exred", "on start")
    d.text(60, 290, "The host programs reciprocals of the widths, so the hardware does not divide.", "small start")
    return d


def redp() -> Drawing:
    d = Drawing(
        "redp",
        720,
        320,
        "REDP: who changes colour",
        "Below T_L green packets become yellow, above T_H yellow packets become green, each with a probability that is linear in the tokens.",
    )
    low, high = 0.25, 0.75
    x, y, w, h = 60, 24, 600, 190
    for a, b, kind, told in (
        (0, low, "yellow", "demote"),
        (low, high, "box", "leave as it is"),
        (high, 1, "green", "promote"),
    ):
        d.box(x + a * w, y, (b - a) * w, h, kind=kind)
        d.text(x + (a + b) / 2 * w, y + h - 12, told, "small")
    to = plot(d, x, y, w, h, "tokens T of the bucket", "")
    d.text(x, 16, "probability", "small start")
    d.line(to(0, 0.8), to(low, 0), kind="curve")
    d.line(to(high, 0), to(1, 0.8), kind="curve other")
    for share, name in ((0, "0"), (low, "T_L"), (high, "T_H"), (1, "b")):
        d.text(to(share, 0)[0], y + h + 18, name, "small")
    d.text(to(0, 0.8)[0] + 6, to(0, 0.8)[1] - 4, "MAX_demo", "small start")
    d.text(to(1, 0.8)[0] - 6, to(1, 0.8)[1] - 4, "MAX_promo", "small end")
    d.text(x, 270, "green to yellow: (T_L - T) MAX_demo / T_L", "mark start")
    d.text(x, 290, "yellow to green: (T - T_H) MAX_promo / (b - T_H)", "start")
    d.text(x, 310, "Only a packet that leaves green takes tokens. Between the thresholds colours stay.", "small start")
    return d


def numbers() -> Drawing:
    d = Drawing(
        "numbers",
        720,
        260,
        "Number formats",
        "Averages are U27.16, probabilities U1.32, scaled numbers a mantissa and a shift, times 48 bits of ns.",
    )
    rows = [
        ("average", [(27, "27 bits", "green"), (16, "16 fraction bits", "yellow")], "bytes or packets"),
        ("probability", [(2, "1", "green"), (32, "32 fraction bits", "yellow")], "1.0 is 2^32"),
        ("scaled number", [(18, "m: 18 bits", "green"), (12, "s: 6 bits", "blue")], "m 2^-s: rates, reciprocals"),
        ("time", [(48, "48 bits", "green")], "ns; wraps after 78 h"),
    ]
    for i, (name, fields, told) in enumerate(rows):
        y, x = 20 + 58 * i, 130.0
        d.text(x - 12, y + 24, name, "end")
        for bits, inside, kind in fields:
            d.box(x, y, 8 * bits, 38, inside, kind=kind, small=True)
            x += 8 * bits
        d.text(x + 12, y + 24, told, "small start")
    return d


ALL = (drop_curves, redp, numbers)
