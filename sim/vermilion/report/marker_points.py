"""What each queue's marker did, from the trace: colours and tokens over time, REDP's shares by level, states of flows.

Times are cut into `SPANS` equal spans from the run's start to its last sample. Bytes of a span count by the colour that packets came
with and by the one they left with, or as dropped by the marker. A level of tokens is that of bucket A before the packet, in bytes: the
trace's time times the bucket's rate. REDP's shares are of the packets that eq. (1) judges: where the tokens cover the packet, and the
dropper did not take it. Of flows, those with most packets (the JSON's `busiest`) are followed.
"""

import csv
from dataclasses import dataclass, field
from pathlib import Path

from vermilion.configuration.markers import Marker
from vermilion.hardware.formats import FLOW_AVERAGE_FRAC, SHAPER_FRAC, value
from vermilion.profile import marker_image
from vermilion.profile.image_record import MarkerRecord
from vermilion.simulation.result import Result
from vermilion.values.fields import COLOURS

from .points import POLICED, Binned

SPANS, KEPT, FLOWS = 48, 6000, 4
COLUMNS = (
    "time len_bytes came colour verdict level flow flow_average flow_raised flow_burst flow_credits flow_events".split()
)


class Decimated:
    """Keeps every k-th of a stream; k doubles when there is no more room."""

    def __init__(self, room: int = KEPT):
        self.kept: list = []
        self.seen, self.every, self.room = 0, 1, room

    def add(self, item):
        if self.seen % self.every == 0:
            self.kept.append(item)
            if len(self.kept) == self.room:
                del self.kept[1::2]
                self.every *= 2
        self.seen += 1


@dataclass
class FlowSeen:
    """A flow's (time, A_Y, L_Y, credits, colour) after each packet, and (time, event, A_Y, L_Y) of its events, times in ns."""

    points: Decimated = field(default_factory=Decimated)
    events: Decimated = field(default_factory=lambda: Decimated(2000))


@dataclass
class MarkerSeen:
    edges: list[float]  # of the spans, ns since the run's start
    held: MarkerRecord  # the marker's registers
    came: list[list[int]] = field(default_factory=lambda: [[0] * SPANS for _ in COLOURS])  # bytes
    left: list[list[int]] = field(default_factory=lambda: [[0] * SPANS for _ in COLOURS])
    dropped: list[int] = field(default_factory=lambda: [0] * SPANS)
    levels: Decimated = field(default_factory=Decimated)  # (time, level, colour left with, dropped)
    level_spans: list[list[float]] = field(default_factory=lambda: [[] for _ in range(SPANS)])  # n, sum, least, most
    demoted: Binned | None = None
    promoted: Binned | None = None
    flows: dict[int, FlowSeen] = field(default_factory=dict)


def demotion(m: Marker, level: float) -> float:
    """Eq. (1) of P0 for a green packet, in bytes; 0 at T_L and above, so always where T_L is 0."""
    low = m.in_bytes(m.depth("low"))
    return (low - level) / low * m.given("max_demote") if level < low else 0.0


def promotion(m: Marker, level: float) -> float:
    """Eq. (1) of P0 for a yellow packet, in bytes; 0 at T_H and below, so always where T_H is the depth."""
    high, depth = m.in_bytes(m.depth("high")), m.in_bytes(m.depth("bucket"))
    return (min(level, depth) - high) / (depth - high) * m.given("max_promote") if high < min(level, depth) else 0.0


def cuts(low: int, high: int, parts: int = 5) -> list[float]:
    return [low + (high - low) * i / parts for i in range(parts + 1)]


def longest_ns(stats: Result) -> int:
    """From the run's start to its last sample."""
    times = [s[0] for s in stats.get("samples", []) + stats.get("events", [])]
    return max(times, default=0) - stats.get("lane_start_ns", 0)


def collect(markers: dict[int, Marker], stats: Result, trace) -> dict[int, MarkerSeen]:
    """What the trace tells of each queue with a marker, by number; nothing without a trace."""
    if trace is None or not Path(trace).is_file() or not markers:
        return {}
    start, longest = stats.get("lane_start_ns", 0), max(longest_ns(stats), 1)
    out = {}
    for index, m in markers.items():
        edges = [longest * i / SPANS for i in range(SPANS + 1)]
        seen = out[index] = MarkerSeen(edges, marker_image.marker_record(m))
        if m.kind == "redp":
            low, high, depth = (m.in_bytes(m.depth(name)) for name in ("low", "high", "bucket"))
            seen.demoted, seen.promoted = Binned(cuts(0, low)), Binned(cuts(high, depth))
    for q in stats.get("queues", []):
        for flow in q.get("marker", {}).get("busiest", [])[:FLOWS] if q["index"] in out else []:
            out[q["index"]].flows[flow["flow"]] = FlowSeen()
    with Path(trace).open(newline="") as handle:
        rows = csv.reader(handle)
        at = {name: i for i, name in enumerate(next(rows, []))}
        if "flow" not in at:
            return {}
        queue, refresh, used = at["queue"], at["refresh"], [(name, at[name]) for name in COLUMNS]
        for row in rows:
            if row[refresh] == "0" and int(row[queue]) in out:
                index = int(row[queue])
                packet(out[index], markers[index], {name: row[i] for name, i in used}, start, longest)
    return out


def packet(seen: MarkerSeen, m: Marker, row: dict, start: int, longest: int):
    time, size = int(row["time"]) - start, int(row["len_bytes"])
    came, left, dropped = int(row["came"]), int(row["colour"]), int(row["verdict"]) == POLICED
    span = min(SPANS * max(time, 0) // longest, SPANS - 1)
    seen.came[came][span] += size
    (seen.dropped if dropped else seen.left[left])[span] += size
    if row["level"] and not m.by_flow:
        tokens(seen, int(row["level"]), (time, came, left, dropped), span, m.packet_bytes or size)
    flow = seen.flows.get(int(row["flow"])) if row["flow"] else None
    if flow and row["flow_average"]:
        eighths = seen.held["flow"]["alpha"]
        whole = 8 / (8 - eighths) if row["flow_raised"] == "1" and eighths < 8 else 1
        state = (int(row["flow_average"]) / 2**FLOW_AVERAGE_FRAC * whole, int(row["flow_burst"]))
        flow.points.add((time, *state, int(row["flow_credits"]), left))
        for event in row["flow_events"].split():
            flow.events.add((time, event, *state))


def tokens(seen: MarkerSeen, level: int, mark: tuple, span: int, size: int):
    """`level` in 2^-16 ns, as traced; `size`: what the packet counts as, in bytes, or more (the trace has no length of IP packets)."""
    time, came, left, dropped = mark
    mant, shift = seen.held["cost"][0]
    held = level / 2**SHAPER_FRAC / float(value((mant, shift)))
    seen.levels.add((time, held, left, dropped))
    counts = seen.level_spans[span] or [0, 0.0, held, held]
    seen.level_spans[span] = [counts[0] + 1, counts[1] + held, min(counts[2], held), max(counts[3], held)]
    covered = level >= (size << SHAPER_FRAC) * mant >> shift
    if seen.demoted is None or seen.promoted is None or not covered:
        return
    if came == 0 and level < seen.held["low_threshold"] << SHAPER_FRAC and not (dropped and left == 0):
        seen.demoted.add(held, left == 1)
    if came == 1 and level > seen.held["high_threshold"] << SHAPER_FRAC:
        seen.promoted.add(held, left == 0)
