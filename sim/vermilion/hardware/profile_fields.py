# Generated from hw/regs/profile.yaml by sim/vermilion/generate/profile.py. Do not edit.
"""All settings of a queue: `struct vm_queue` (sw_driver/lib/vm_profile_types.h) by the names of the configuration file."""
# fmt: off

from fractions import Fraction
from typing import NamedTuple

KEEP = 64  # of a remark: packets keep their DSCP


class Field(NamedTuple):
    """A setting: its name, the way to its member, its type (hw/regs/profile.yaml), the words of its numbers from 0 on, the number that
    stands for "not set" and the default."""

    name: str
    path: tuple[str | int, ...]
    type: str
    words: tuple[str, ...]
    none: int | None
    default: Fraction
    in_file: bool


FIELDS = (
    Field("average.weight", ("average", "weight"), "number", (), None, Fraction(1, 500), True),
    Field("average.kind", ("average", "kind"), "enum", ("red", "wred", "rio-c", "rio-2", "rio-dc"), None, Fraction(0, 1), True),
    Field("average.unit", ("average", "unit"), "enum", ("byte", "packet"), None, Fraction(0, 1), True),
    Field("average.update", ("average", "update"), "enum", ("arrival", "both"), None, Fraction(0, 1), True),
    Field("average.idle_packet", ("average", "idle_packet"), "bytes", (), None, Fraction(1000, 1), True),
    Field("spacing", ("spacing",), "enum", ("geometric", "uniform", "wait"), None, Fraction(0, 1), True),
    Field("size_weight", ("size_weight",), "bytes", (), 0, Fraction(0, 1), True),
    Field("ecn", ("ecn",), "flag", (), None, Fraction(0, 1), True),
    Field("limit", ("limit",), "bytes", (), 0, Fraction(0, 1), True),
    Field("limit_packets", ("limit_packets",), "packets", (), 0, Fraction(0, 1), True),
    Field("alpha", ("alpha",), "power", (), 0, Fraction(0, 1), True),
    Field("strict", ("strict",), "flag", (), None, Fraction(0, 1), False),
    Field("priority", ("priority",), "count", (), None, Fraction(0, 1), True),
    Field("quantum", ("quantum",), "bytes", (), None, Fraction(1522, 1), True),
    Field("rate", ("rate",), "rate", (), 0, Fraction(0, 1), True),
    Field("burst", ("burst",), "bytes", (), None, Fraction(3044, 1), True),
    Field("green.curve", ("curve", 0, 0, "curve"), "enum", ("tail", "red", "gentle", "exred"), None, Fraction(0, 1), True),
    Field("green.min", ("curve", 0, 0, "min"), "length", (), None, Fraction(0, 1), True),
    Field("green.max", ("curve", 0, 0, "max"), "length", (), None, Fraction(0, 1), True),
    Field("green.p", ("curve", 0, 0, "p"), "number", (), None, Fraction(0, 1), True),
    Field("green.end", ("curve", 0, 0, "end"), "length", (), None, Fraction(0, 1), True),
    Field("green.ecn.curve", ("curve", 0, 1, "curve"), "enum", ("tail", "red", "gentle", "exred"), None, Fraction(0, 1), True),
    Field("green.ecn.min", ("curve", 0, 1, "min"), "length", (), None, Fraction(0, 1), True),
    Field("green.ecn.max", ("curve", 0, 1, "max"), "length", (), None, Fraction(0, 1), True),
    Field("green.ecn.p", ("curve", 0, 1, "p"), "number", (), None, Fraction(0, 1), True),
    Field("green.ecn.end", ("curve", 0, 1, "end"), "length", (), None, Fraction(0, 1), True),
    Field("yellow.curve", ("curve", 1, 0, "curve"), "enum", ("tail", "red", "gentle", "exred"), None, Fraction(0, 1), True),
    Field("yellow.min", ("curve", 1, 0, "min"), "length", (), None, Fraction(0, 1), True),
    Field("yellow.max", ("curve", 1, 0, "max"), "length", (), None, Fraction(0, 1), True),
    Field("yellow.p", ("curve", 1, 0, "p"), "number", (), None, Fraction(0, 1), True),
    Field("yellow.end", ("curve", 1, 0, "end"), "length", (), None, Fraction(0, 1), True),
    Field("yellow.ecn.curve", ("curve", 1, 1, "curve"), "enum", ("tail", "red", "gentle", "exred"), None, Fraction(0, 1), True),
    Field("yellow.ecn.min", ("curve", 1, 1, "min"), "length", (), None, Fraction(0, 1), True),
    Field("yellow.ecn.max", ("curve", 1, 1, "max"), "length", (), None, Fraction(0, 1), True),
    Field("yellow.ecn.p", ("curve", 1, 1, "p"), "number", (), None, Fraction(0, 1), True),
    Field("yellow.ecn.end", ("curve", 1, 1, "end"), "length", (), None, Fraction(0, 1), True),
    Field("red.curve", ("curve", 2, 0, "curve"), "enum", ("tail", "red", "gentle", "exred"), None, Fraction(0, 1), True),
    Field("red.min", ("curve", 2, 0, "min"), "length", (), None, Fraction(0, 1), True),
    Field("red.max", ("curve", 2, 0, "max"), "length", (), None, Fraction(0, 1), True),
    Field("red.p", ("curve", 2, 0, "p"), "number", (), None, Fraction(0, 1), True),
    Field("red.end", ("curve", 2, 0, "end"), "length", (), None, Fraction(0, 1), True),
    Field("red.ecn.curve", ("curve", 2, 1, "curve"), "enum", ("tail", "red", "gentle", "exred"), None, Fraction(0, 1), True),
    Field("red.ecn.min", ("curve", 2, 1, "min"), "length", (), None, Fraction(0, 1), True),
    Field("red.ecn.max", ("curve", 2, 1, "max"), "length", (), None, Fraction(0, 1), True),
    Field("red.ecn.p", ("curve", 2, 1, "p"), "number", (), None, Fraction(0, 1), True),
    Field("red.ecn.end", ("curve", 2, 1, "end"), "length", (), None, Fraction(0, 1), True),
    Field("remark.green", ("remark", 0), "dscp", (), None, Fraction(64, 1), True),
    Field("remark.yellow", ("remark", 1), "dscp", (), None, Fraction(64, 1), True),
    Field("remark.red", ("remark", 2), "dscp", (), None, Fraction(64, 1), True),
    Field("distance.option", ("distance", "option"), "flag", (), None, Fraction(1, 1), True),
    Field("distance.infer", ("distance", "infer"), "flag", (), None, Fraction(1, 1), True),
    Field("distance.share", ("distance", "share"), "flag", (), None, Fraction(0, 1), True),
    Field("ttl_option", ("ttl_option",), "enum", ("keep", "remove"), None, Fraction(0, 1), True),
    Field("victim", ("victim",), "enum", ("arriving", "nearest"), None, Fraction(0, 1), True),
    Field("victim_by_colour", ("victim_by_colour",), "flag", (), None, Fraction(0, 1), True),
    Field("victim_window", ("victim_window",), "count", (), 0, Fraction(0, 1), True),
    Field("marker.kind", ("marker", "kind"), "enum", ("none", "leaf", "srtcm", "trtcm", "redp", "nm", "3cpm", "wpm", "apm"), None, Fraction(0, 1), True),
    Field("marker.drop", ("marker", "drop"), "colours", (), None, Fraction(0, 1), True),
    Field("marker.packet", ("marker", "packet"), "bytes", (), 0, Fraction(0, 1), True),
    Field("marker.rate", ("marker", "rate"), "rate", (), None, Fraction(0, 1), True),
    Field("marker.burst", ("marker", "burst"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.cir", ("marker", "cir"), "rate", (), None, Fraction(0, 1), True),
    Field("marker.cbs", ("marker", "cbs"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.ebs", ("marker", "ebs"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.pir", ("marker", "pir"), "rate", (), None, Fraction(0, 1), True),
    Field("marker.pbs", ("marker", "pbs"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.bucket", ("marker", "bucket"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.low", ("marker", "low"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.high", ("marker", "high"), "depth", (), None, Fraction(0, 1), True),
    Field("marker.out", ("marker", "out"), "enum", ("green", "yellow", "red"), None, Fraction(2, 1), True),
    Field("marker.colour_aware", ("marker", "colour_aware"), "flag", (), None, Fraction(0, 1), True),
    Field("marker.max_demote", ("marker", "max_demote"), "number", (), None, Fraction(1, 2), True),
    Field("marker.max_promote", ("marker", "max_promote"), "number", (), None, Fraction(1, 2), True),
    Field("marker.p_drop", ("marker", "p_drop"), "number", (), None, Fraction(0, 1), True),
    Field("marker.meter", ("marker", "meter"), "time", (), None, Fraction(100000000, 1), True),
    Field("marker.length", ("marker", "length"), "enum", ("frame", "ip"), None, Fraction(0, 1), True),
    Field("marker.alpha", ("marker", "alpha"), "number", (), None, Fraction(1, 2), True),
    Field("marker.a0", ("marker", "a0"), "number", (), None, Fraction(7, 1), True),
    Field("marker.ns", ("marker", "ns"), "count", (), None, Fraction(5, 1), True),
    Field("marker.na", ("marker", "na"), "count", (), None, Fraction(5, 1), True),
    Field("marker.increase", ("marker", "increase"), "enum", ("double", "factor"), None, Fraction(0, 1), True),
    Field("marker.ack", ("marker", "ack"), "enum", ("yellow", "green"), None, Fraction(0, 1), True),
    Field("marker.idle", ("marker", "idle"), "time", (), None, Fraction(60000000000, 1), True),
    Field("marker.half_open", ("marker", "half_open"), "time", (), None, Fraction(3000000000, 1), True),
    Field("aqm", ("aqm",), "enum", ("curve", "codel", "pie", "dualpi2"), None, Fraction(0, 1), True),
    Field("target", ("target",), "time", (), 0, Fraction(0, 1), True),
    Field("interval", ("interval",), "time", (), 0, Fraction(0, 1), True),
    Field("mtu", ("mtu",), "bytes", (), None, Fraction(1514, 1), True),
    Field("ce_threshold", ("ce_threshold",), "time", (), 0, Fraction(0, 1), True),
    Field("ce_mask", ("ce_mask",), "count", (), None, Fraction(0, 1), True),
    Field("ce_selector", ("ce_selector",), "count", (), None, Fraction(0, 1), True),
    Field("tupdate", ("tupdate",), "time", (), 0, Fraction(0, 1), True),
    Field("pie_alpha", ("pie_alpha",), "number", (), None, Fraction(1, 8), True),
    Field("pie_beta", ("pie_beta",), "number", (), None, Fraction(5, 4), True),
    Field("burst_allowance", ("burst_allowance",), "time", (), None, Fraction(150000000, 1), True),
    Field("bytemode", ("bytemode",), "flag", (), None, Fraction(0, 1), True),
    Field("coupling", ("coupling",), "count", (), None, Fraction(2, 1), True),
    Field("step_threshold", ("step_threshold",), "time", (), None, Fraction(1000000, 1), True),
    Field("dualpi2_alpha", ("dualpi2_alpha",), "number", (), None, Fraction(4, 25), True),
    Field("dualpi2_beta", ("dualpi2_beta",), "number", (), None, Fraction(16, 5), True),
    Field("overload", ("overload",), "enum", ("drop", "mark"), None, Fraction(0, 1), True),
    Field("l4s_mask", ("l4s_mask",), "count", (), None, Fraction(1, 1), True),
    Field("mark_at", ("mark_at",), "enum", ("enqueue", "dequeue"), None, Fraction(0, 1), True),
    Field("fq", ("fq",), "count", (), 0, Fraction(0, 1), True),
)
BY_NAME = {each.name: each for each in FIELDS}
