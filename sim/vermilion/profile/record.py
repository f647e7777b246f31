"""The types of the hardware's record (docs/hardware-configuration.md), which harness and model read as JSON.

A scaled number, m 2^-s, is the list [m, s].
"""

from collections.abc import Sequence
from typing import NotRequired, TypedDict

Scaled = Sequence[int]


class CurveRecord(TypedDict):
    """`struct vm_curve_image`; `on` 0 for tail drop."""

    on: int
    min: int
    max: int
    end: int
    inv1: Scaled
    slope1: int
    inv2: Scaled
    base2: int
    slope2: int
    square2: Scaled


class ColourRecord(TypedDict):
    """`struct vm_colour_image`: the curves of drops and of marks; that of marks counts with `ecn_own` alone."""

    curve: list[CurveRecord]
    ecn_own: int


class RemarkRecord(TypedDict):
    """`struct vm_remark_image`: the DSCP that packets of a colour leave with, if `on`."""

    dscp: int
    on: int


class FlowRecord(TypedDict):
    """`struct vm_flow_image`."""

    kind: int
    increase: int
    ack: int
    alpha: int
    ns: int
    na: int
    a0: int
    idle: int
    half_open: int


class MarkerRecord(TypedDict):
    """`struct vm_marker_image`; none has `kind` 0, and what a kind does not read is 0."""

    kind: int
    colour_aware: int
    length: int
    out: int
    drop: int
    packet: int
    cost: list[Scaled]
    burst: list[int]
    low_threshold: int
    high_threshold: int
    demote: Scaled
    promote: Scaled
    p_drop: int
    meter: int
    remark: list[RemarkRecord]
    flow: FlowRecord


class DistanceRecord(TypedDict):
    """`struct vm_distance_image`."""

    option: int
    infer: int
    share: int


_Decay = TypedDict("_Decay", {"lambda": Scaled})  # a word of Python's is no field of a class


class QueueImage(_Decay):
    """`struct vm_queue_image`."""

    unit: int
    update: int
    ecn: int
    size_weight: int
    spacing: int
    strict: int
    priority: int
    alpha: int
    masks: list[int]
    limit: int
    limit_packets: int
    inv_mean_len: Scaled
    weight: list[Scaled]
    quantum: int
    cost: Scaled
    burst: int
    ttl_option: int
    victim: int
    victim_by_colour: int
    victim_window: int
    marker: MarkerRecord
    idle_step: int
    colour: list[ColourRecord]
    distance: DistanceRecord


class QueueRecord(QueueImage):
    """A queue's part: its number, its name and its image."""

    index: int
    name: str


class PortRecord(TypedDict):
    """The shaper in front of the wire."""

    cost: Scaled
    burst: int


class PoolRecord(TypedDict):
    """The shared part of the buffer, in cells; reserve and cap of each egress."""

    size: int
    reserve: list[int]
    cap: list[int]


class TtlTypes(TypedDict):
    """Types under which the lane knows the TTL option."""

    ip4: int
    ip6: int


class EgressRecord(TypedDict):
    """What an egress of a lane with several has for itself; an entry of `dscp` is a queue and a colour."""

    port: PortRecord
    dscp: list[list[int]]
    default: list[int]


class _Common(TypedDict):
    queues: list[QueueRecord]
    seed: int
    ttl_option: TtlTypes
    pool: NotRequired[PoolRecord]
    buffer_cells: NotRequired[int]  # of the build; `vermilion run` adds them
    max_frame_bytes: NotRequired[int]


class LaneRecord(_Common):
    """A lane with one egress."""

    port: PortRecord
    dscp: list[list[int]]
    default: list[int]


class CardRecord(_Common):
    """A lane with several egresses; `routes`: the egress of each input."""

    queue_count: int
    egresses: list[EgressRecord]
    routes: list[int]


Record = LaneRecord | CardRecord
