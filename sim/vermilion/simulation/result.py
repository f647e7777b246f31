"""The types of a run's result, the JSON file of `--stats-json`. sim/harness/results.h explains each name, and flow_book.h those of flows."""

from typing import Any, NotRequired, TypedDict


class Count(TypedDict):
    packets: int
    bytes: int


Outcomes = dict[str, Count]  # of one colour: arrived, enqueued, marked, ..., evicted
Pairs = list[tuple[int, int]]  # (value, packets), by value
Events = dict[str, int]  # of flow markers, by name


class MarkerResult(TypedDict):
    """`kind` is the configuration's word; the rest is of markers by flow."""

    kind: str
    flow_events: NotRequired[Events]
    flows: NotRequired[int]
    busiest: NotRequired[list[dict[str, Any]]]


class QueueResult(TypedDict):
    """`colours_in_out`: packets by the colour that they came with and the one that the marker gave. Times in ns."""

    index: int
    name: str
    colours: list[Outcomes]
    colours_in_out: NotRequired[list[list[int]]]
    dscps: NotRequired[Pairs]
    not_ip: NotRequired[int]
    latency: Pairs
    latency_max_ns: int
    highest_backlog_bytes: int
    highest_backlog_packets: int
    lost_by_distance: NotRequired[Pairs]
    wasted_hops: int
    lost_without_distance: NotRequired[int]
    push_outs: NotRequired[int]
    stale: NotRequired[int]
    victims_by_distance: NotRequired[Pairs]
    flow_collisions: NotRequired[int]
    marker: NotRequired[MarkerResult]


class Replay(TypedDict):
    """Decisions, refreshes of an average and, in builds with codel, verdicts at departure that the model computed again, and how
    many of them agree."""

    decisions: int
    agreed: int
    refreshes: int
    refreshes_agreed: int
    departures: NotRequired[int]
    departures_agreed: NotRequired[int]
    first_disagreement: str


class Check(TypedDict):
    errors: int
    first_error: str


class Split(TypedDict):
    payload_bytes: int
    frames: int
    segments: int
    whole: int


class Matched(TypedDict):
    """Frames that a rule took; of these, those whose DSCP changed, and those without an IP header."""

    dscp: NotRequired[int]
    matched: int
    changed: int
    not_ip: int


class Fates(TypedDict):
    """Drops and marks over time: packets in each bin, by reason."""

    start_ns: int
    bin_ns: int
    reasons: dict[str, list[int]]


class Reported(TypedDict):
    """What became of the reports. Of `by_queue`: number of the queue, reason, reports that were sent."""

    offered: int
    sent: int
    lost: int
    limited: int
    without_bytes: int
    bytes_gone: int
    by_queue: list[tuple[int, str, int]]
    errors: NotRequired[int]
    first_error: NotRequired[str]


class Result(TypedDict, total=False):
    """What a run found. `seconds` is time of the lane; what the engine does not measure is absent."""

    engine: str
    preset: str
    packets: int
    bytes: int
    clocks: int
    seconds: float
    wall_seconds: float
    cpu_seconds: float
    packets_per_second: float
    clocks_per_second: float
    input_stalled_clocks: int
    capture_start_ns: int
    lane_start_ns: int
    span_ns: int
    waited_ns: int
    queues: list[QueueResult]
    samples: list[list[Any]]
    sample_every: int
    events: list[list[Any]]
    event_every: int
    lost: list[Count]
    fates: Fates
    reports: Reported
    flow_events: Events
    flow_collisions: int
    replay: Replay
    accounting: Check
    victims: Check
    counters: Check
    stream: Check
    warnings: dict[str, int]
    split: Split
    rules: list[dict[str, int]]  # packets and bytes of each
    unmatched: int
    spread: Matched


def check(result: Result, name: str) -> Check | None:
    """What a check of the run found: accounting, victims, counters, stream or reports."""
    found = {
        "accounting": result.get("accounting"),
        "victims": result.get("victims"),
        "counters": result.get("counters"),
        "stream": result.get("stream"),
    }
    reports = result.get("reports", {})
    if "errors" in reports:
        found["reports"] = {"errors": reports["errors"], "first_error": reports["first_error"]}
    return found.get(name)


def count(outcomes: Outcomes, name: str) -> Count:
    """Packets and bytes of an outcome; an outcome that is not there had none."""
    return outcomes.get(name, {"packets": 0, "bytes": 0})
