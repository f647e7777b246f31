"""The `[[marker]]` tables: what gives a queue's packets their colour. Fields and defaults: `docs/configuration.md`.

Kinds and their fields: leaf (P0, P2), srTCM (RFC 2697), trTCM (RFC 2698), REDP with its combined dropper (P0); by flow 3CPM,
WPM, APM and none (P1). A bucket or
threshold in packets counts each packet as `packet` bytes, and the rate fills it accordingly.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, StrictBool, model_validator

from . import units
from .fields import COLOURS, Probability, Rate, Strict, amount, number
from .units import Amount

BURST_MAX = 64 * 2**20
Depth = Annotated[Amount, amount(1, BURST_MAX)]
Level = Annotated[Amount, amount(0, BURST_MAX)]
Duration = Annotated[int, BeforeValidator(units.duration)]

TICK_NS = 2**22  # in which the flow table counts ages

# Fields of each kind: needed, and with a default.
FIELDS = {
    "leaf": (("rate", "burst"), ("out", "length")),
    "srtcm": (("cir", "cbs", "ebs"), ("colour_aware", "length")),
    "trtcm": (("cir", "cbs", "pir", "pbs"), ("colour_aware", "length")),
    "3cpm": ((), ("alpha", "a0", "ns", "na", "increase", "ack", "idle", "half_open")),
    "wpm": ((), ("ns", "na", "ack", "idle", "half_open")),
    "apm": ((), ("alpha", "a0", "increase", "idle", "half_open")),
    "nm": ((), ()),
    "redp": (("rate", "bucket", "low", "high"), ("max_demote", "max_promote", "p_drop", "meter", "length")),
}
COMMON = ("queue", "kind", "packet", "drop")
DEPTHS = ("burst", "cbs", "ebs", "pbs", "bucket", "low", "high")


class Marker(Strict):
    queue: str
    kind: Literal["leaf", "srtcm", "trtcm", "redp", "3cpm", "wpm", "apm", "nm"]
    packet: Annotated[Amount, amount(64, 9600, "byte")] | None = None
    drop: list[Literal["green", "yellow", "red"]] = []
    rate: Rate | None = None
    burst: Depth | None = None
    out: Literal["yellow", "red"] | None = None
    cir: Rate | None = None
    cbs: Level | None = None
    ebs: Level | None = None
    pir: Rate | None = None
    pbs: Depth | None = None
    colour_aware: StrictBool | None = None
    length: Literal["ip", "frame"] | None = None
    bucket: Depth | None = None
    low: Level | None = None
    high: Level | None = None
    max_demote: Probability | None = None
    max_promote: Probability | None = None
    p_drop: Probability | None = None
    meter: Duration | None = None
    alpha: Annotated[float, number(0.125, 1, "0.125 to 1 in steps of 0.125")] | None = None
    a0: Annotated[float, number(0, 65535, "0 to 65535 packets")] | None = None
    ns: Annotated[int, number(0, 255, "0 to 255 packets", whole=True)] | None = None
    na: Annotated[int, number(0, 255, "0 to 255 packets", whole=True)] | None = None
    increase: Literal["double", "factor"] | None = None
    ack: Literal["yellow", "green"] | None = None
    idle: Duration | None = None
    half_open: Duration | None = None

    @model_validator(mode="after")
    def fields_fit_the_kind(self):
        needed, optional = FIELDS[self.kind]
        for name in needed:
            if getattr(self, name) is None:
                raise ValueError(f'has no {name}; kind "{self.kind}" needs {", ".join(needed)}')
        for name in type(self).model_fields:
            if name not in (*needed, *optional, *COMMON) and getattr(self, name) is not None:
                raise ValueError(
                    f'has {name}, which kind "{self.kind}" does not take; it takes {", ".join(needed + optional) or "nothing but packet and drop"}'
                )
        self._check_units()
        if self.kind == "srtcm" and self.cbs.value + self.ebs.value == 0:
            raise ValueError("has cbs and ebs 0; RFC 2697 needs one of them above 0")
        if self.kind == "trtcm" and self.pir < self.cir:
            raise ValueError(
                f"has pir {units.rate_text(self.pir)} below cir {units.rate_text(self.cir)}; RFC 2698 needs pir from cir up"
            )
        if self.kind == "redp":
            self._check_thresholds()
        self._check_flow()
        return self

    def _check_units(self):
        given = {name: getattr(self, name) for name in DEPTHS if getattr(self, name) is not None}
        kinds = {value.unit or "byte" for value in given.values() if value.value or value.unit}
        if len(kinds) > 1:
            text = ", ".join(f"{name} {value}" for name, value in given.items())
            raise ValueError(f"has {text}; all are bytes or all are packets")
        if self.packet is not None and kinds != {"packet"}:
            raise ValueError(
                f"has packet {self.packet}, but its buckets are in bytes; packet belongs to buckets in packets"
            )
        if self.length is not None and kinds == {"packet"}:
            raise ValueError(
                f'has length "{self.length}", but its buckets are in packets, where all packets count the same; length belongs to buckets in bytes'
            )
        for name, value in given.items():
            if self.in_bytes(value) > BURST_MAX:
                raise ValueError(f"has {name} {value} of {self.packet_bytes} B; legal is up to {BURST_MAX} B in all")

    def _check_flow(self):
        if self.alpha is not None and self.alpha * 8 != int(self.alpha * 8):
            raise ValueError(f"has alpha {self.alpha}; legal is 0.125 to 1 in steps of 0.125")
        if self.alpha == 1 and self.increase == "factor":
            raise ValueError(
                'has alpha 1 with increase "factor", which divides by 1 - alpha; legal is alpha up to 0.875'
            )
        for name in ("idle", "half_open"):
            ns = getattr(self, name)
            if ns is not None and not TICK_NS <= ns <= 65535 * TICK_NS:
                raise ValueError(f"has {name} {ns / 10**9:g}s; legal is 5ms to 274s")

    @property
    def by_flow(self) -> bool:
        return self.kind in ("3cpm", "wpm", "apm", "nm")

    def _check_thresholds(self):
        low, high, bucket = self.low, self.high, self.bucket
        if not low.value <= high.value <= bucket.value:
            raise ValueError(f"has low {low}, high {high}, bucket {bucket}; REDP needs low up to high up to bucket")
        for name in ("max_demote", "max_promote"):
            if getattr(self, name) == 0:
                raise ValueError(f"has {name} 0; legal is above 0 to 1")

    @property
    def packet_bytes(self) -> int:
        """What every packet counts as; 0: its own length."""
        if not any(getattr(self, name) is not None and getattr(self, name).unit == "packet" for name in DEPTHS):
            return 0
        return self.packet.value if self.packet else 1000

    @property
    def ip_length(self) -> bool:
        """Buckets are filled with bytes of IP packets (RFC 2697, RFC 2698 section 2), not of frames."""
        return self.length == "ip" if self.length else self.kind in ("srtcm", "trtcm")

    def in_bytes(self, depth: Amount) -> int:
        return depth.value * (self.packet_bytes if depth.unit == "packet" else 1)

    @property
    def dropped(self) -> int:
        """Bit c: packets that get colour c are dropped."""
        return sum(1 << COLOURS.index(colour) for colour in set(self.drop))
