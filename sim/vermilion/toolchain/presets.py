"""Builds of the lane: the parameters of `LaneParams.scala`, as the harness's compiler is told of them, and which of the harness's files only they need.
Needs Python alone: `packaging.py` reads it, too.
"""

from dataclasses import dataclass, replace

AQMS = ("codel", "pie", "dualpi2", "fq")  # that are built in or left out


@dataclass(frozen=True)
class Preset:
    """The elaboration parameters of `LaneParams.scala`, for the harness's compiler; a test compares both."""

    data_bits: int = 64
    inputs: int = 1
    stallable: int = 0  # bit i: input i can be stalled
    queues: int = 16
    cells: int = 4096
    max_frame_bytes: int = 9728
    flows: int = 4096
    victims: int = 0
    egresses: int = 1
    codel: bool = False
    pie: bool = False
    dualpi2: bool = False
    reports: bool = False
    fq: bool = False
    rules: int = 0  # rules by any header fields

    @property
    def aqms(self) -> frozenset[str]:
        """The AQMs by sojourn time that the build has."""
        return frozenset(name for name in AQMS if getattr(self, name))

    def defines(self) -> list[str]:
        return [f"-DVM_{name.upper()}={int(number)}" for name, number in vars(self).items()]


ALL_AQMS = Preset(victims=16, codel=True, pie=True, dualpi2=True, reports=True, fq=True)
PRESETS = {
    "lab": replace(ALL_AQMS, rules=64),
    "nic10g": Preset(inputs=2, stallable=0b10),
    "nic25g": Preset(data_bits=128, inputs=2, stallable=0b10),
    "nic100g": Preset(data_bits=512, inputs=2, stallable=0b10, cells=16384),
}
FOR_BENCHES = {
    "card-1x25g": Preset(
        data_bits=128, inputs=2, stallable=0b10, queues=32, cells=8192, flows=8192, victims=32, egresses=2
    ),
    "card-4x10g": Preset(inputs=8, stallable=0b10101010, queues=128, cells=8192, flows=8192, victims=128, egresses=8),
    "card-2x10g": Preset(inputs=4, stallable=0b1010, queues=64, cells=8192, flows=8192, victims=64, egresses=4),
    "card-2x25g": Preset(
        data_bits=128, inputs=4, stallable=0b1010, queues=64, cells=8192, flows=8192, victims=64, egresses=4
    ),
    "card-2x10g-aqm": replace(
        ALL_AQMS, inputs=4, stallable=0b1010, queues=64, cells=8192, flows=8192, victims=64, egresses=4
    ),
    "card-2x25g-aqm": replace(
        ALL_AQMS,
        data_bits=128,
        inputs=4,
        stallable=0b1010,
        queues=64,
        cells=8192,
        flows=8192,
        victims=64,
        egresses=4,
    ),
    "lab-egresses": replace(
        ALL_AQMS, inputs=4, stallable=0b1010, queues=32, cells=1024, victims=32, egresses=4, rules=64
    ),
    "nic100g-codel": Preset(data_bits=512, inputs=2, stallable=0b10, cells=16384, codel=True),
    "nic100g-rules": Preset(data_bits=512, inputs=2, stallable=0b10, cells=16384, rules=64),
    "nic100g-reports": Preset(data_bits=512, inputs=2, stallable=0b10, cells=16384, codel=True, reports=True),
    "nic100g-pie": Preset(data_bits=512, inputs=2, stallable=0b10, cells=16384, pie=True),
    "network-flows": Preset(data_bits=512, queues=1024, cells=16384, codel=True, pie=True, dualpi2=True, fq=True),
    "network-aqm": Preset(data_bits=512, cells=16384, codel=True, pie=True, dualpi2=True, fq=True),
    "lab-128-queues": replace(ALL_AQMS, queues=128, rules=64),
    "lab-victims-few-cells": Preset(cells=256, victims=8),
    "network": Preset(data_bits=512, cells=16384),
    "nic100g-victims": Preset(data_bits=512, inputs=2, stallable=0b10, cells=1024, victims=4),
    "nic10g-two-ports": Preset(inputs=2),
    "nic10g-all": Preset(inputs=2, stallable=0b10, victims=16),
    "nic100g-all": Preset(data_bits=512, inputs=2, stallable=0b10, cells=16384, victims=16),
    "nic100g-aqm": replace(ALL_AQMS, data_bits=512, inputs=2, stallable=0b10, cells=16384),
    "nic100g-all-1024": Preset(data_bits=512, inputs=2, stallable=0b10, queues=1024, cells=16384, victims=16),
}
SEVERAL = {name: shape for name, shape in FOR_BENCHES.items() if shape.egresses > 1}  # `vermilion run` takes them, too


def shape(preset: str) -> Preset:
    """A preset, or a build for benches."""
    return FOR_BENCHES.get(preset) or PRESETS[preset]


def definitions(preset: str, variant: str) -> list[str]:
    """What the harness's compiler is told of a build of the lane."""
    defines = (FOR_BENCHES | PRESETS)[preset].defines() + [f'-DVM_PRESET=\\"{preset}\\"']
    return defines + {"": [], "undefined": ["-DVM_UNDEFINED"]}.get(variant, [f"-DVM_WAVES_{variant.upper()}"])


# Files of the harness that need the Verilated lane.
RTL_ONLY = {"verilated_lane", "lane_driver", "control_access", "counter_check", "rtl_checks", "rtl_engine"}
