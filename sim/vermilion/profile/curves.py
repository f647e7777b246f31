"""The picture of `vermilion curves`: every queue's drop and ECN curves, evaluated with the hardware's integers."""

import io
import os
from pathlib import Path

from vermilion.configuration.config import Config
from vermilion.console.screen import any_glyph
from vermilion.hardware import formats
from vermilion.toolchain import build
from vermilion.values.fields import COLOURS

from . import quantise
from .image_record import CurveRecord, Scaled

INK = {"green": "#2e7d32", "yellow": "#c79100", "red": "#c62828"}
POS_FRAC: int = formats.POS_FRAC
AVG_ONE: int = 2**formats.AVG_FRAC
ONE: int = 2**formats.PROB_FRAC
WAY_MAX: int = 2 ** (POS_FRAC + 8) - 1  # U8.24


def integer_probability(record: CurveRecord, average: int) -> int:
    """`p` (U1.32) of an average (U27.16), bit by bit as docs/architecture.md has it."""

    def segment(th: int, inv: Scaled, base: int, b1: int, b2: Scaled) -> int:
        distance = average - th * AVG_ONE
        y = min((distance * inv[0]) >> inv[1], WAY_MAX)
        t = min(b1 + min((distance * b2[0]) >> b2[1], ONE), ONE)
        return min(base + ((y * t) >> POS_FRAC), ONE)

    if not record["on"] or average < record["min"] * AVG_ONE:
        return 0
    if average < record["max"] * AVG_ONE:
        return segment(record["min"], record["inv1"], 0, record["slope1"], (0, 0))
    if average < record["end"] * AVG_ONE:
        return segment(record["max"], record["inv2"], record["base2"], record["slope2"], record["square2"])
    return ONE


def points(record: CurveRecord, top: int) -> tuple[list[float], list[float]]:
    """A fine walk over 0..top with both sides of every corner."""
    marks = {top * AVG_ONE * i // 400 for i in range(401)}
    for corner in (record["min"], record["max"], record["end"]):
        marks |= {max(0, corner * AVG_ONE - 1), corner * AVG_ONE}
    walk = sorted(mark for mark in marks if mark <= top * AVG_ONE)
    return [a / AVG_ONE for a in walk], [integer_probability(record, a) / ONE for a in walk]


def draw(config: Config, path: Path, kind: str) -> None:
    """Writes the picture, one panel a queue that has a curve."""
    os.environ.setdefault("MPLCONFIGDIR", str(build.HOME / "matplotlib"))
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    queues = [q for q in config.queue if any(getattr(q, c).curve != "tail" for c in COLOURS)] or config.queue[:1]
    columns = min(2, len(queues))
    rows = -(-len(queues) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(5.5 * columns, 3.4 * rows), squeeze=False)
    for axis in axes.flat[len(queues) :]:
        axis.set_visible(False)
    words = {record["index"]: record["colour"] for record in quantise.hardware(config)["queues"]}
    for axis, queue in zip(axes.flat, queues, strict=False):
        records = words[queue.at]
        ends = [curve["end"] for r in records for curve in r["curve"]]
        top = max(max(ends) * 11 // 10, 1)
        for colour, record in zip(COLOURS, records, strict=True):
            drops, marks = record["curve"]
            if drops["on"]:
                axis.plot(*points(drops, top), color=INK[colour], label=f"{colour}, {getattr(queue, colour).curve}")
            if record["ecn_own"]:
                axis.plot(*points(marks, top), color=INK[colour], linestyle="--", label=f"{colour}, ECN")
        axis.set_title(f"{queue.name} ({queue.average.kind}, {queue.spacing})", parse_math=False)
        axis.set(ylim=(-0.02, 1.02), xlim=(0, top))
        axis.set(xlabel=f"average, {queue.average.unit}s", ylabel="probability")
        axis.grid(alpha=0.3)
        if axis.lines:
            axis.legend(fontsize=8)
    made = io.BytesIO()
    try:
        with any_glyph():
            figure.tight_layout()
            figure.savefig(made, format=kind, dpi=110)
    finally:
        pyplot.close(figure)
    path.write_bytes(made.getvalue())  # matplotlib hides what the system says of a write
