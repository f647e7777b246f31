"""`[reports]`: which drops and marks the lane reports, and how often (docs/reports.md)."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, model_validator

from vermilion.values import units
from vermilion.values.fields import Strict, UserError, editors, number

Reason = Literal[
    "marked",
    "early",
    "forced",
    "tail",
    "nobuf",
    "bad",
    "policed",
    "pool",
    "evicted",
    "victim_marked",
    "departure_dropped",
    "departure_marked",
    "flushed",
]
NAMES: tuple[str, ...] = get_args(Reason)  # bit r + 1 of a mask is that of NAMES[r]
USUAL: list[Reason] = [name for name in get_args(Reason) if name != "flushed"]
MAC = "(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}"
NS_MOST = 2**32 - 1  # of an interval, and of a burst


@editors({"type": "string", "pattern": f"^{MAC}$"})
def mac(raw: object) -> object:
    """A MAC address."""
    if not isinstance(raw, str) or not re.fullmatch(MAC, raw):
        raise ValueError(f'is {units.shown(raw)}; legal is a MAC address such as "02:00:00:00:00:01"')
    return raw.lower()


Mac = Annotated[str, BeforeValidator(mac)]


class Reports(Strict):
    """`[reports]`. Without `per_second` there is no limit."""

    reasons: list[Reason] = USUAL
    queues: dict[str, list[Reason]] = {}
    every: Annotated[int, number(1, 65535, "1 to 65535", whole=True)] = 1
    per_second: Annotated[int, number(1, 10**9, "1 to 1000000000", whole=True)] | None = None
    burst: Annotated[int, number(1, 2**20, "1 to 1048576 reports", whole=True)] = 16
    destination: Mac = "ff:ff:ff:ff:ff:ff"
    source: Mac = "02:00:00:00:00:00"
    ethertype: Annotated[int, number(1536, 65535, "1536 to 65535", whole=True)] = 0x88B5

    @property
    def interval_ns(self) -> int:
        """From one report to the next in the long run; 0: no limit."""
        return 0 if self.per_second is None else max(1, round(10**9 / self.per_second))

    @property
    def burst_ns(self) -> int:
        return (self.burst - 1) * self.interval_ns

    @model_validator(mode="after")
    def the_burst_is_not_too_long(self) -> Self:
        if self.burst_ns > NS_MOST:
            most = NS_MOST // self.interval_ns + 1
            raise ValueError(
                f"has burst {self.burst} at {self.per_second} reports per second; legal at this rate is 1 to {most}"
            )
        return self

    def mask(self, queue: str) -> int:
        """The reasons for a queue, as the register has them."""
        return sum(2 << NAMES.index(name) for name in set(self.queues.get(queue, self.reasons)))

    def ethernet(self) -> list[int]:
        """The Ethernet header of a report."""
        addresses = (self.destination + ":" + self.source).split(":")
        return [int(byte, 16) for byte in addresses] + list(self.ethertype.to_bytes(2, "big"))

    def registers(self) -> list[tuple[tuple[str, *tuple[int, ...]], int]]:
        """Name and indices of each register of the whole lane, and its value."""
        header = bytes(self.ethernet() + [0, 0])
        words = [int.from_bytes(header[at : at + 4], "little") for at in range(0, len(header), 4)]
        found: list[tuple[tuple[str, *tuple[int, ...]], int]] = [
            (("report_every",), self.every),
            (("report_interval",), self.interval_ns),
            (("report_burst",), self.burst_ns),
        ]
        return found + [(("report_ethernet", i), word) for i, word in enumerate(words)]


def check(reports: Reports | None, names: Iterable[str], build_reports: bool | None) -> None:
    """Refuses reasons for a queue that is not there, and reports of a build that sends none; None: the build is not known."""
    if reports is None:
        return
    if build_reports is False:
        raise UserError(
            "reports: this build reports no drops and marks; a build with reports is needed, such as the preset lab"
        )
    known = list(dict.fromkeys(names))
    for name in reports.queues:
        if name not in known:
            legal = ", ".join(f'"{each}"' for each in known)
            raise UserError(f"reports.queues.{units.shown(name)} is no queue; queues are {legal}")


def refuse(reports: Reports | None, path: object, what: str) -> None:
    """Ends what would leave out the reports of a file in silence."""
    if reports is not None:
        raise UserError(f"{path}: has [reports], which {what} does not have; leave it out")


def record(reports: Reports, queues: Mapping[int, str], count: int) -> dict[str, object]:
    """What the hardware's record has of it. `queues`: the name of each queue by its number in the lane, `count` of all."""
    return {
        "every": reports.every,
        "interval": reports.interval_ns,
        "burst": reports.burst_ns,
        "ethernet": reports.ethernet(),
        "reasons": [reports.mask(queues[number]) if number in queues else 0 for number in range(count)],
    }
