"""`[[rule]]`s in the words of the registers, by the driver's library (sw_driver/lib/vm_rule.h)."""

import ctypes
import ipaddress
from collections.abc import Sequence
from typing import Any, TypedDict

from vermilion.configuration import rules
from vermilion.configuration.rules import IpNetwork, Placed, Rule
from vermilion.hardware.driver_library import C, library
from vermilion.values.fields import COLOURS, UserError

PORTS = ("source_port", "destination_port")


class RuleRecord(TypedDict):
    """A rule's part of the hardware's record: value and mask of its key, and the words of its actions."""

    value: list[int]
    mask: list[int]
    action: int
    marker: int


class RulesRecord(TypedDict):
    """Rules, and ranges of ports: eight of source ports, then eight of destination ports, [low, high] each."""

    rules: list[RuleRecord]
    port_ranges: list[list[int]]


def words(value: ipaddress.IPv4Address | ipaddress.IPv6Address) -> list[int]:
    """The least significant word first."""
    return [int(value) >> 32 * i & 0xFFFFFFFF for i in range(4)]


def put_address(made: Any, name: str, bit: int, network: IpNetwork | None) -> None:
    if network is None:
        return
    made.match |= bit | C.VM_MATCH_VERSION
    made.version = network.version
    getattr(made, name)[:] = words(network.network_address)
    getattr(made, f"{name}_mask")[:] = words(network.netmask)


def settings(rule: Rule, placed: Placed) -> Any:
    """struct vm_rule."""
    made, match = C.Rule(), rule.match
    for name in ("ingress", "vlan", "pcp", "protocol", "dscp", "ecn"):
        if (value := getattr(match, name)) is not None:
            made.match |= getattr(C, f"VM_MATCH_{name.upper()}")
            setattr(made, name, value)
    put_address(made, "source", C.VM_MATCH_SOURCE, match.source)
    put_address(made, "destination", C.VM_MATCH_DESTINATION, match.destination)
    for name in PORTS:
        if (ends := getattr(match, name)) is not None:
            made.match |= getattr(C, f"VM_MATCH_{name.upper()}")
            getattr(made, name)[:] = ends
    if placed.queue is not None:
        made.actions, made.queue = made.actions | C.VM_ACT_QUEUE, placed.queue
    if rule.colour is not None:
        made.actions, made.colour = made.actions | C.VM_ACT_COLOUR, COLOURS.index(rule.colour)
    if rule.dscp is not None:
        made.actions, made.new_dscp = made.actions | C.VM_ACT_DSCP, rule.dscp
    if placed.marker is not None:
        made.actions, made.marker = made.actions | C.VM_ACT_MARKER, placed.marker
    made.actions |= C.VM_ACT_DROP if rule.drop else 0
    return made


def record(given: Sequence[Rule], placed: Sequence[Placed]) -> RulesRecord:
    """The rules' part of the record. UserError where they need a ninth range of ports."""
    ranges, images = C.PortRanges(), []
    library().vm_port_ranges_clear(ctypes.byref(ranges))
    for number, (rule, where) in enumerate(zip(given, placed, strict=True), 1):
        image = C.RuleImage()
        if not library().vm_rule_convert(
            ctypes.byref(settings(rule, where)), ctypes.byref(ranges), ctypes.byref(image)
        ):
            side = next(name for name, used in zip(PORTS, ranges.used, strict=True) if used == C.VM_PORT_RANGES)
            raise UserError(
                f"{rules.label(number, rule)}, {side} needs the ninth range; legal are {C.VM_PORT_RANGES} of {side}, "
                "and any number of single ports and of ranges that are a power of two long and begin at a multiple of it"
            )
        images.append(RuleRecord(value=[*image.value], mask=[*image.mask], action=image.action, marker=image.marker))
    return {"rules": images, "port_ranges": [[each.low, each.high] for each in ranges.range]}
