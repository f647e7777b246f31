"""The `[[marker]]` tables: what gives a queue's packets their colour. Fields and defaults: `docs/configuration/markers.md`.

Kinds and their fields: leaf (P0, P2), srTCM (RFC 2697), trTCM (RFC 2698), REDP with its combined dropper (P0); by flow 3CPM,
WPM, APM and none (P1); papers: docs/words.md. A bucket or threshold in packets counts each packet as `packet` bytes, and the
rate fills it accordingly.
"""

from collections.abc import Callable
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from vermilion.hardware.formats import (
    COST_MANT,
    FLOW_AVERAGE_FRAC,
    MARK_DRAW,
    MARK_SPAN_SHIFT,
    depth_ns,
    exact,
    nearest,
    probability,
)
from vermilion.hardware.profile_fields import BY_NAME
from vermilion.values import units
from vermilion.values.fields import COLOURS, DEPTH_MAX, DEPTH_MAX_TEXT, SHORTEST
from vermilion.values.marker_kind import MarkerKind
from vermilion.values.units import Amount

from .tables import MARKER_DEFAULTS, MARKER_DEPTHS, MARKER_FIELDS, MARKER_KINDS, MarkerFields

SPAN_MAX_NS = (2**COST_MANT - 1) << MARK_SPAN_SHIFT
# What a packet can count as, in bytes, by `length`: frames as the lane counts them, without FCS, from Ethernet's least (runts aside) to the longest
# with two VLAN tags; IP packets from a bare IPv4 header to Ethernet's 1500. The shortest are in `fields.SHORTEST`.
LONGEST = {"frame": 1522, "ip": 1500}


COMMON = ("queue", "kind", "drop")  # and packet, where there is a bucket
DEPTHS = MARKER_DEPTHS
BUCKETS = tuple(depth for depth in DEPTHS if any(depth in b.depths for k in MARKER_KINDS.values() for b in k.buckets))
FIELDS, DEFAULTS = MARKER_FIELDS, MARKER_DEFAULTS


class Marker(MarkerFields):
    """`[[marker]]`; None is a field that was not given, `given(name)` what holds then. The fields: `tables.py`."""

    queue: Annotated[str, Field(description="the name of a queue")]

    @model_validator(mode="after")
    def fields_fit_the_kind(self) -> Self:
        needed, _ = FIELDS[self.kind]
        for name in needed:
            if getattr(self, name) is None:
                raise ValueError(f'has no {name}; kind "{self.kind}" needs {", ".join(needed)}')
        taken = self.taken + ([] if self.by_flow else ["packet"])
        for name in type(self).model_fields:
            if name not in (*taken, *COMMON) and getattr(self, name) is not None:
                raise ValueError(
                    f'has {name} {self.text_of(name)}, which kind "{self.kind}" does not take; '
                    f"it takes {', '.join([*taken, 'drop'])}"
                )
        self._check_units()
        self._check_buckets()
        self._check_rates()
        if self.kind == "redp":
            self._check_redp()
        if self.by_flow:
            self._check_flow()
        self._check_drop()
        return self

    def text_of(self, name: str) -> str:
        """A field's value in a sentence."""
        field = BY_NAME.get(f"marker.{name}")
        forms: dict[str, Callable[[Any], str]] = {"rate": units.rate_text, "time": units.time_text}
        return forms.get(field.type if field else "", units.shown)(getattr(self, name))

    def _check_units(self) -> None:
        given = {name: getattr(self, name) for name in DEPTHS if getattr(self, name) is not None}
        kinds = {value.unit or "byte" for value in given.values() if value.value or value.unit}
        if len(kinds) > 1:
            text = ", ".join(f"{name} {Amount(value.value, value.unit or 'byte')}" for name, value in given.items())
            raise ValueError(f"has {text}; legal are all in bytes or all in packets")
        if self.packet is not None and kinds != {"packet"}:
            raise ValueError(
                f"has packet {self.packet}, but its buckets are in bytes; packet belongs to buckets in packets such as 60p"
            )
        if self.length is not None and kinds == {"packet"}:
            raise ValueError(
                f'has length "{self.length}", but its buckets are in packets, where all packets count the same; length belongs to buckets in bytes'
            )
        for name, value in given.items():
            if self.in_bytes(value) > DEPTH_MAX:
                most = DEPTH_MAX // self.packet_bytes
                raise ValueError(
                    f"has {name} {value} of {self.packet_bytes} B; legal is up to {most}p, {DEPTH_MAX_TEXT}"
                )

    def _check_rates(self) -> None:
        if self.rules.not_below:
            high, low = self.rules.not_below
            if getattr(self, high) < getattr(self, low):
                raise ValueError(
                    f"has {high} {self.text_of(high)} below {low} {self.text_of(low)}; "
                    f"{self.rules.source} needs {high} from {low} up to 200Gbit"
                )

    def _check_buckets(self) -> None:
        source, either = self.rules.source, self.rules.either
        if either and not any(getattr(self, name).value for name in either):
            given = " and ".join(f"{name} 0" for name in either)
            raise ValueError(f"has {given}; {source} needs at least one above 0, legal is up to {DEPTH_MAX_TEXT}")
        for name in BUCKETS:
            value = getattr(self, name)
            if value is None or (value.value == 0 and name in either):
                continue
            legal = f"legal is {SHORTEST[self.given('length')]}B to {DEPTH_MAX_TEXT}, or 1p up"
            if value.value == 0:
                rule = f", which {source} needs above 0" if source else ""
                raise ValueError(f"has {name} 0{rule}; {legal}")
            if self.packet_bytes == 0 and value.value < SHORTEST[self.given("length")]:
                raise ValueError(f"has {name} {Amount(value.value, 'byte')}, in which no packet fits; {legal}")

    def _check_redp(self) -> None:
        low, high, bucket = (self.depth(name) for name in ("low", "high", "bucket"))
        if not low.value <= high.value <= bucket.value:
            raise ValueError(
                f"has low {low}, high {high}, bucket {bucket}; REDP needs low up to high up to bucket, and bucket up to {DEPTH_MAX_TEXT}"
            )
        given = {"low": low, "high": high, "bucket": bucket}
        ns = {name: depth_ns(self.in_bytes(depth), self.rate_of(name)) for name, depth in given.items()}
        for name, width in (("max_demote", ns["low"]), ("max_promote", ns["bucket"] - ns["high"])):
            asked = exact(self.given(name))
            if asked == 0:
                raise ValueError(f"has {name} 0; legal is above 0 to 1")
            if width > SPAN_MAX_NS * asked:
                raise ValueError(
                    f"has {name} {self.given(name):g}, less than its register holds for these thresholds and rate; "
                    f"legal is {width / SPAN_MAX_NS * 1.001:.3g} to 1"
                )
        if self.p_drop and probability(exact(self.p_drop), MARK_DRAW) == 0:
            raise ValueError(
                f"has p_drop {self.p_drop:g}, which rounds to 0 in 2^-{MARK_DRAW}; legal is 0, or 7.7e-06 to 1"
            )

    def _check_flow(self) -> None:
        if self.alpha is not None and self.alpha * 8 != int(self.alpha * 8):
            raise ValueError(f"has alpha {self.alpha}; legal is 0.125 to 1 in steps of 0.125")
        if self.alpha == 1 and self.increase == "factor":
            raise ValueError(
                'has alpha 1 with increase "factor", which divides by 1 - alpha; legal is alpha up to 0.875'
            )
        if self.a0 and nearest(exact(self.a0) * 2**FLOW_AVERAGE_FRAC) == 0:
            raise ValueError(
                f"has a0 {self.a0:g}, which rounds to 0 in 2^-{FLOW_AVERAGE_FRAC}; legal is 0, or 0.00196 to 65535"
            )
        if self.given("half_open") > self.given("idle"):
            half, idle = (units.time_text(self.given(name)) for name in ("half_open", "idle"))
            raise ValueError(f"has half_open {half} above idle {idle}; legal is 5ms to {idle}")

    def _check_drop(self) -> None:
        for colour in self.drop:
            if self.drop.count(colour) > 1:
                raise ValueError(f"has drop with {colour} {self.drop.count(colour)} times; legal is each colour once")
            if colour not in self.colours:
                given = ", ".join(self.colours)
                raise ValueError(f"has drop with {colour}, which this marker never gives; legal is {given}")

    @property
    def taken(self) -> list[str]:
        """The fields of its kind, but those of all kinds."""
        return [name for names in FIELDS[self.kind] for name in names]

    def reads(self, name: str) -> bool:
        return name in self.taken or name in ("kind", "drop") or (name == "packet" and not self.by_flow)

    @property
    def rules(self) -> MarkerKind:
        """What `hw/regs/profile.yaml` says of its kind."""
        return MARKER_KINDS[self.kind]

    @property
    def by_flow(self) -> bool:
        return not self.rules.buckets

    @property
    def colours(self) -> list[str]:
        """Those that a packet can leave this marker with."""
        never: set[str] = set()
        if self.kind == "leaf":
            never = {"yellow", "red"} - {self.given("out")}
        if self.kind == "srtcm":
            never = {colour for name, colour in (("cbs", "green"), ("ebs", "yellow")) if self.depth(name).value == 0}
        return [colour for colour in self.rules.gives if colour not in never]

    def given(self, name: str) -> Any:
        """A field as asked, or its default."""
        asked = getattr(self, name)
        if asked is not None:
            return asked
        if name == "length":
            return self.rules.length
        return min(DEFAULTS[name], self.given("idle")) if name == "half_open" else DEFAULTS[name]

    def rate_of(self, name: str) -> int:
        """The rate that fills the bucket to which a depth or threshold belongs."""
        for bucket in self.rules.buckets:
            if name in bucket.depths or name not in BUCKETS:
                rate: int = getattr(self, bucket.rate)
                return rate
        raise ValueError(f'kind "{self.kind}" has no bucket that {name} belongs to')

    def depth(self, name: str) -> Amount:
        """A bucket's depth or a threshold that the kind has."""
        depth: Amount | None = getattr(self, name)
        if depth is None:
            raise ValueError(f'kind "{self.kind}" has no {name}')
        return depth

    @property
    def longest(self) -> int:
        """The most that a packet counts as, jumbo frames aside."""
        return self.packet_bytes or LONGEST[self.given("length")]

    @property
    def packet_bytes(self) -> int:
        """What every packet counts as; 0: its own length."""
        if not any(getattr(self, name) is not None and getattr(self, name).unit == "packet" for name in DEPTHS):
            return 0
        return self.packet.value if self.packet else 1000

    @property
    def ip_length(self) -> bool:
        """Buckets are filled with bytes of IP packets (RFC 2697, RFC 2698 section 2), not of frames."""
        return bool(self.given("length") == "ip")

    def in_bytes(self, depth: Amount) -> int:
        return depth.value * (self.packet_bytes if depth.unit == "packet" else 1)

    @property
    def dropped(self) -> int:
        """Bit c: packets that get colour c are dropped."""
        return sum(1 << COLOURS.index(colour) for colour in self.drop)
