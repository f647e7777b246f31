# Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit.
"""The types of a queue's image in the hardware's record; `struct vm_..._image` of sw_driver/lib/vm_profile_types.h. docs/profile.md has the meanings.

A scaled number, m 2^-s, is the list [m, s].
"""
# fmt: off

from collections.abc import Sequence
from typing import TypedDict

Scaled = Sequence[int]


class CurveRecord(TypedDict):
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
    curve: list[CurveRecord]
    ecn_own: int


class RemarkRecord(TypedDict):
    dscp: int
    on: int


class FlowRecord(TypedDict):
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
    option: int
    infer: int
    share: int


class CodelRecord(TypedDict):
    on: int
    ce_mask: int
    ce_selector: int
    target: int
    interval: int
    ce_threshold: int
    mtu: int


class PieRecord(TypedDict):
    on: int
    byte_mode: int
    interval: int
    target: int
    burst: int
    alpha: int
    beta: int
    mtu: int


class Dualpi2Record(TypedDict):
    on: int
    drop_overload: int
    l4s_mask: int
    coupling: int
    interval: int
    target: int
    step: int
    alpha: int
    beta: int
    most: int
    mtu: int


_QueueImageWords = TypedDict("_QueueImageWords", {"lambda": Scaled})


class QueueImage(_QueueImageWords):
    unit: int
    update: int
    ecn: int
    size_weight: int
    spacing: int
    strict: int
    mark_late: int
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
    fq: int
    colour: list[ColourRecord]
    distance: DistanceRecord
    codel: CodelRecord
    pie: PieRecord
    dualpi2: Dualpi2Record
