"""The data of a plot over time: backlog, averages and verdicts of one queue, for live.js.

Times are whole nanoseconds since the run's start. A null in a line is a break.
"""

import math

from vermilion.profile.quantise import curve_of
from vermilion.profile.record import QueueRecord
from vermilion.values.fields import COLOURS

from .plots import EVENTS_MAX, INK, LINES_MAX, VERDICT_MARKS, broken, scaled_time, thinned


def data(record: QueueRecord, samples: list, events: list, start_ns: int, longest_ns: int) -> dict:
    """`record`, samples and events are this queue's; the time axis is as long as the run."""
    packets = bool(record["unit"])
    scale, unit = scaled_time(longest_ns)
    backlog = [(s[0] - start_ns, s[5 if packets else 4]) for s in thinned(samples, LINES_MAX)]
    lines, thresholds = [{"label": "backlog, whole queue", "ink": ""} | series(backlog, longest_ns)], []
    for number, colour in enumerate(COLOURS):
        # A bad, nobuf or policed frame updates no average and carries none.
        own = thinned([s for s in samples if s[2] == number and s[3] is not None], LINES_MAX)
        if own:
            line = series([(s[0] - start_ns, s[3]) for s in own], longest_ns)
            lines.append({"label": f"average, {colour}", "ink": INK[colour]} | line)
        drop = curve_of(record["colour"][number], "drop")
        if own and drop["on"]:
            thresholds += [{"ink": INK[colour], "at": at} for at in sorted({drop["min"], drop["max"]})]
    kinds = []
    for code, (name, shape) in VERDICT_MARKS.items():
        of_kind = [e for e in events if e[7] == code]
        share = max(1, EVENTS_MAX * len(of_kind) // max(1, len(events)))
        kept = {e[0]: e for e in thinned(of_kind, share)}.values()
        if kept:
            at = {"t": [e[0] - start_ns for e in kept], "v": [round(place(e, packets), 2) for e in kept]}
            kinds.append({"label": name, "shape": shape, "c": "".join(str(e[2]) for e in kept)} | at)
    out = {
        "kind": "time",
        "measure": "packets" if packets else "bytes",
        "span": longest_ns,
        "scale": scale,
        "unit": unit,
    }
    return out | {"lines": lines, "thresholds": thresholds, "events": kinds, "inks": list(INK.values())}


def series(points: list[tuple[int, float]], span: int) -> dict:
    """Times and values, the breaks of `broken` half way through each silence."""
    times, values = broken([time for time, _ in points], [value for _, value in points], span)
    out: dict[float, float | None] = {}
    for i, (time, value) in enumerate(zip(times, values, strict=True)):
        if math.isnan(value):
            out[(times[i - 1] + time) // 2] = None
        else:
            out[time] = round(value, 2)
    return {"t": list(out), "v": list(out.values())}


def place(event: list, packets: bool) -> float:
    """Verdicts of the average are on it; those of the queue itself (tail, no buffer) on the backlog."""
    return event[3] if event[7] in (1, 2, 3) else event[5 if packets else 4]
