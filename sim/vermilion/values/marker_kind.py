"""What `hw/regs/profile.yaml` says of a kind of marker, for its generators and for the programs that read what they make."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bucket:
    """A token bucket: the fields of its rate and of the depths that it holds together, and its name where a marker has two."""

    rate: str
    depths: tuple[str, ...]
    name: str


@dataclass(frozen=True)
class MarkerKind:
    """A kind of marker. Without buckets it marks by flow.

    `title` is its name for people and `source` its RFC. `length` says whose length counts by default. Of the depths in `either` one at least is above 0.
    The first rate of `not_below` is not below the second. Packets leave with the colours in `gives`.
    """

    title: str
    source: str
    length: str
    buckets: tuple[Bucket, ...]
    either: tuple[str, ...]
    not_below: tuple[str, ...]
    gives: tuple[str, ...]
