"""Builds of the application block of a Corundum NIC (`NicParams.scala`; a test compares both). Needs Python alone."""

from dataclasses import dataclass, replace
from typing import Any

APP_ID = 0x564D0001  # by which drivers know the block


@dataclass(frozen=True)
class App:
    """What a build of the block is for: presets of NicParams.scala; a test compares both."""

    ports: int
    bits: int  # of a port's stream, each way
    timestamps: bool = True
    host_lanes: bool = True
    clock_ns: tuple[int, int] = (4, 1)  # its period, numerator and denominator


PRESETS = {
    "app10g-1": App(1, 64),
    "app10g-2": App(2, 64),
    "app10g-2-wire": App(2, 64, host_lanes=False),
    "app10g-2-lean": App(2, 64, host_lanes=False),
    "app25g-2": App(2, 128),
    "app25g-2-lean": App(2, 128, host_lanes=False),
    "app100g-1": App(1, 512),
    "card-1x25g": App(1, 128),
    "card-2x10g": App(2, 64),
    "card-2x25g": App(2, 128),
    "card-2x10g-aqm": App(2, 64),
    "card-2x25g-aqm": App(2, 128),
    "card-4x10g": App(4, 64),
    "card-4x25g": App(4, 128, host_lanes=False),
    "card-1x100g": App(1, 512, host_lanes=False),
    "card-1x100g-aqm": App(1, 512, host_lanes=False),
    "card-2x100g": App(2, 512, host_lanes=False),
    "card-4x100g": App(4, 512, host_lanes=False),
}
# What a preset's name may end in, in this order.
SUFFIXES: dict[str, dict[str, Any]] = {"-nots": {"timestamps": False}, "-300mhz": {"clock_ns": (10, 3)}}
LEGAL = f"{', '.join(PRESETS)}; each may end in {', '.join(SUFFIXES)} or both"


def app(preset: str) -> App | None:
    """What the build is for that a name with its endings means; None if there is none."""
    changes: dict[str, Any] = {}
    for ending in reversed(SUFFIXES):
        if preset.endswith(ending):
            preset = preset.removesuffix(ending)
            changes |= SUFFIXES[ending]
    return replace(PRESETS[preset], **changes) if preset in PRESETS else None


def known(preset: str) -> App:
    """`app` of a preset that there is."""
    found = app(preset)
    if found is None:
        raise ValueError(f"{preset} is no preset of a NIC's block; legal are {LEGAL}")
    return found


def variants(preset: str) -> list[str]:
    """A preset's name with every ending that it may have, the plain one first."""
    names = [preset]
    for ending in SUFFIXES:
        names += [name + ending for name in names]
    return names
