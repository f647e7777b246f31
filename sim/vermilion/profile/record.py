"""The types of the hardware's record (docs/hardware-configuration.md), which harness and model read as JSON. Those of a queue's image are generated."""

from typing import NotRequired, TypedDict

from .image_record import QueueImage, Scaled
from .rule_words import RuleRecord


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
    rules: NotRequired[list[RuleRecord]]
    port_ranges: NotRequired[list[list[int]]]  # of source ports, then of destination ports
    reports: NotRequired[dict[str, object]]  # configuration/reports.py
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
