"""The `[[rule]]` tables: what becomes of packets by any of their header fields. Fields: `docs/configuration/rules.md`.

Builds with the parameter `rules` have them (docs/rules.md). The tools of cards do not write them yet, so they refuse them (`refuse`). Names of fields are
those of a multi-field classifier (RFC 2475, section 2.3.1).
"""

import difflib
import ipaddress
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, Protocol, Self

from pydantic import BeforeValidator, StrictBool, model_validator

from vermilion.values import units
from vermilion.values.fields import COLOURS, Strict, UserError, code_alone, editors, number, one_line, whole_or_text

PROTOCOLS = {"icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "gre": 47, "esp": 50, "ah": 51, "icmpv6": 58, "ospf": 89}
PROTOCOLS |= {"sctp": 132, "udplite": 136}
WITH_PORTS = (PROTOCOLS["tcp"], PROTOCOLS["udp"])
PORT_MAX = 65535
IpNetwork = ipaddress.IPv4Network | ipaddress.IPv6Network


def near(word: object, known: Iterable[str]) -> str:
    """`; did you mean "..."?`, or nothing."""
    found = difflib.get_close_matches(word.lower(), known, 1) if isinstance(word, str) else []
    return f'; did you mean "{found[0]}"?' if found else ""


@editors({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "string"}]})
def ip_protocol(raw: object) -> int:
    """A name of PROTOCOLS in any case, or a number of IANA's registry."""
    if isinstance(raw, str) and raw.lower() in PROTOCOLS:
        return PROTOCOLS[raw.lower()]
    if isinstance(raw, int) and not isinstance(raw, bool) and 0 <= raw <= 255:
        return raw
    hint = near(raw, PROTOCOLS) or f"; legal are 0 to 255 and {', '.join(PROTOCOLS)}"
    raise ValueError(f"is {units.shown(raw)}{hint}")


@editors({"type": "string"})
def prefix(raw: object) -> IpNetwork:
    """`"10.0.0.0/8"`, `"2001:db8::/32"`, or one address."""
    legal = 'legal are an IPv4 or IPv6 address or prefix such as "10.0.0.0/8" and "2001:db8::/32"'
    if not isinstance(raw, str) or not re.fullmatch(r"[0-9a-fA-F:.]+(/\d{1,3})?", raw, re.ASCII):
        raise ValueError(f"is {units.shown(raw)}; {legal}")
    try:
        wide = ipaddress.ip_network(raw, strict=False)
    except ValueError:
        raise ValueError(f"is {units.shown(raw)}; {legal}") from None
    if wide.network_address != ipaddress.ip_address(raw.partition("/")[0]):
        raise ValueError(f'is {units.shown(raw)}, which has bits after its prefix; did you mean "{wide}"?')
    return wide


@editors(whole_or_text(0, PORT_MAX, r"^\d{1,5}(-\d{1,5})?$"))
def ports(raw: object) -> tuple[int, int]:
    """A port, or `"LOW-HIGH"`, as (low, high)."""
    found = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", raw, re.ASCII) if isinstance(raw, str) else None
    whole = raw if isinstance(raw, int) and not isinstance(raw, bool) else None
    low, high = (
        (whole, whole) if whole is not None else (int(found[1]), int(found[2] or found[1])) if found else (-1, -1)
    )
    if not 0 <= low <= PORT_MAX or not 0 <= high <= PORT_MAX:
        raise ValueError(f'is {units.shown(raw)}; legal are 0 to {PORT_MAX} and ranges such as "5000-5010"')
    if low > high:
        raise ValueError(f'is {units.shown(raw)}, which is empty; did you mean "{high}-{low}"?')
    return low, high


Code = Annotated[int, BeforeValidator(code_alone)]
Prefix = Annotated[IpNetwork, BeforeValidator(prefix)]
Ports = Annotated[tuple[int, int], BeforeValidator(ports)]


class Match(Strict):
    """A rule's `match`: a frame must fit every field that is given; without any, every frame fits."""

    ingress: Annotated[int, number(0, 15, "0 to 15, an input of the build", whole=True)] | None = None
    vlan: Annotated[int, number(0, 4094, "0 to 4094; 0 is a tag with a priority alone", whole=True)] | None = None
    pcp: Annotated[int, number(0, 7, "0 to 7", whole=True)] | None = None
    source: Prefix | None = None
    destination: Prefix | None = None
    protocol: Annotated[int, BeforeValidator(ip_protocol)] | None = None
    source_port: Ports | None = None
    destination_port: Ports | None = None
    dscp: Code | None = None
    ecn: Annotated[int, number(0, 3, "0 to 3: 1 is ECT(1), 2 ECT(0), 3 CE", whole=True)] | None = None

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        if self.source and self.destination and self.source.version != self.destination.version:
            raise ValueError(
                f"has source {self.source} and destination {self.destination}, which no packet has together; "
                "legal are two of IPv4 or two of IPv6"
            )
        for name in ("source_port", "destination_port"):
            if getattr(self, name) and self.protocol not in (None, *WITH_PORTS):
                raise ValueError(f"has {name} and protocol {self.protocol}; legal with ports are tcp (6) and udp (17)")
        return self


class Rule(Strict):
    """`[[rule]]`: the first that matches a frame gives it queue, colour, DSCP and marker, or drops it."""

    name: Annotated[str, BeforeValidator(one_line)] | None = None
    match: Match = Match()
    queue: str | None = None
    colour: Literal["green", "yellow", "red"] | None = None
    dscp: Code | None = None
    marker: str | None = None
    drop: StrictBool = False

    @model_validator(mode="after")
    def actions_fit_each_other(self) -> Self:
        given = [name for name in ("queue", "colour", "dscp", "marker") if getattr(self, name) is not None]
        if self.drop and given:
            raise ValueError(f"has both drop and {given[0]}; legal is drop alone")
        if not self.drop and not given:
            raise ValueError("has no action; legal are one or more of queue, colour, dscp and marker, or drop")
        return self


class Target(Protocol):
    """What rules read of a queue (`config.Queue`)."""

    @property
    def name(self) -> str: ...
    @property
    def at(self) -> int: ...
    @property
    def default(self) -> bool: ...
    @property
    def dscp(self) -> object: ...


class WithRules(Protocol):
    """What `refuse` reads of a configuration (`config.Config`)."""

    @property
    def rule(self) -> Sequence[Rule]: ...


def hint(key: str) -> str:
    """Of a key that a rule does not have: fields of `match` are often written beside it."""
    found = difflib.get_close_matches(key, [*Rule.model_fields, *Match.model_fields], 1)
    return f"did you mean match = {{ {found[0]} = ... }}?" if found and found[0] not in Rule.model_fields else ""


def code_for(queues: Sequence[Target], queue: Target, colour: str) -> int | None:
    """The DSCP that leads to a queue and colour: the first of its list, or, of the default queue's green, the lowest that no queue claims."""
    own: list[int] = getattr(queue.dscp, colour)
    if own or not queue.default or colour != "green":
        return own[0] if own else None
    claimed = {code for each in queues for name in COLOURS for code in getattr(each.dscp, name)}
    return next((code for code in range(64) if code not in claimed), None)


def label(number: int, rule: Rule) -> str:
    """A rule in a sentence or a table."""
    return f'rule "{rule.name}"' if rule.name else f"rule number {number}"


@dataclass(frozen=True)
class Placed:
    """The numbers, within an egress, of the queues that a rule names."""

    queue: int | None = None
    marker: int | None = None


def place(
    number_: int,
    rule: Rule,
    egresses: Sequence[Sequence[Target]],
    called: Sequence[str],
    marked: Sequence[Container[str]],
) -> Placed:
    """Where a rule's queues are. `egresses`: the queues of each egress to which the rule's packets can go, and `called`, what a sentence calls these. They
    have the queue under the same number, or UserError. `marked`: of each egress the queues that have a marker.
    """

    def of(field: str, name: str | None) -> int | None:
        if name is None:
            return None
        found: dict[int, str] = {}
        for queues, where in zip(egresses, called, strict=True):
            known = {queue.name: queue for queue in reversed(queues)}  # of a group, the first
            if name not in known:
                names = ", ".join(f'"{each}"' for each in dict.fromkeys(queue.name for queue in queues))
                of_where = f" of {where}" if where else ""
                legal = near(name, known) or f"; queues{of_where} are {names}"
                raise UserError(f"{label(number_, rule)}, {field} is {units.shown(name)}, which is not there{legal}")
            found.setdefault(known[name].at, where)
        if len(found) > 1:
            (one, here), (other, there) = list(found.items())[:2]
            whose = f'{field} is "{name}", which is number {one} of {here} and number {other} of {there}'
            raise UserError(
                f"{label(number_, rule)}, {whose}; legal is a queue with the same index in each, or a rule for each with match.ingress"
            )
        return next(iter(found))

    made = Placed(of("queue", rule.queue), of("marker", rule.marker))
    for owners, where in zip(marked, called, strict=True):
        if rule.marker is not None and rule.marker not in owners:
            of_where = f" in {where}" if where else ""
            raise UserError(
                f'{label(number_, rule)}, marker is "{rule.marker}", a queue that has no marker{of_where}; give it a [[marker]]'
            )
    return made


def within(wide: object, narrow: object) -> bool:
    """Whether all values that one field allows are among those that another allows; None allows all."""
    if wide is None or narrow is None:
        return wide is None
    if isinstance(wide, tuple) and isinstance(narrow, tuple):
        return bool(wide[0] <= narrow[0] and narrow[1] <= wide[1])
    if isinstance(wide, ipaddress.IPv4Network) and isinstance(narrow, ipaddress.IPv4Network):
        return narrow.subnet_of(wide)
    if isinstance(wide, ipaddress.IPv6Network) and isinstance(narrow, ipaddress.IPv6Network):
        return narrow.subnet_of(wide)
    return wide == narrow


def notes(given: Sequence[Rule]) -> list[str]:
    """A sentence for each rule that matches no frame, as one rule before it matches all of its frames. What several rules hide together is not found."""
    found = []
    for number_, rule in enumerate(given, 1):
        for before, other in enumerate(given[: number_ - 1], 1):
            if all(within(getattr(other.match, name), getattr(rule.match, name)) for name in Match.model_fields):
                found.append(
                    f"{label(number_, rule)} matches no frame: {label(before, other)} comes first and matches all of its frames"
                )
                break
    return found


def text(match: Match) -> str:
    """A match on one line."""

    def shown(value: object) -> str:
        return "-".join(map(str, dict.fromkeys(value))) if isinstance(value, tuple) else str(value)

    given = {name: getattr(match, name) for name in type(match).model_fields}
    return ", ".join(f"{name} {shown(value)}" for name, value in given.items() if value is not None) or "every frame"


def does(rule: Rule) -> str:
    """A rule's actions on one line."""
    if rule.drop:
        return "drop"
    given = [
        rule.queue,
        rule.colour,
        rule.dscp is not None and units.dscp_name(rule.dscp),
        rule.marker and f"marker of {rule.marker}",
    ]
    return ", ".join(str(each) for each in given if each)


def check(given: Sequence[Rule], most: int | None) -> None:
    """Refuses more rules than the build has. None: it is not known."""
    if most is None or len(given) <= most:
        return
    if most == 0:
        raise UserError(
            "[[rule]] is given; this build has no rules, a build with rules is needed, such as the preset lab"
        )
    raise UserError(f"[[rule]] is given {len(given)} times; legal are up to {most}, the rules of this build")


def refuse(config: WithRules, path: str | Path, what: str) -> None:
    """Ends what would leave out the rules of a file in silence."""
    if config.rule:
        raise UserError(
            f"{path}: has [[rule]], which `vermilion run` alone writes to the lane; {what} does not get them: "
            "take the rules out, and give packets their DSCP where they are sent"
        )
