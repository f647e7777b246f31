"""The configuration file: TOML, read strictly. Fields, defaults and ranges: `docs/configuration.md`.

`config_file.load(path)` gives a `Config` in which every legality rule holds, or raises `UserError` with one sentence that names the
file, the field, the value and what would be legal. Fixed-point values come later, from `quantise.py`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, StrictBool, ValidationError, model_validator

from vermilion.values import units
from vermilion.values.fields import (
    COLOURS,
    LEN_MAX,
    RATE_TEXT,
    TOO_DEEP,
    Burst,
    Rate,
    Strict,
    UserError,
    code_alone,
    code_listed,
    dscp_or_table,
    editors,
    number,
    one_line,
    option_type,
    read_toml,
)
from vermilion.values.units import Amount

from . import departure, groups, reports, rules
from .markers import Marker
from .pool import Pool, check_pool
from .refusals import first, sentence
from .reports import Reports
from .rules import Match, Rule
from .tables import AverageFields, CurveFields, DistanceFields, QueueFields

T = TypeVar("T")


class Port(Strict):
    """`[port]`: the shaper in front of the wire; bits a second, bytes."""

    rate: Rate
    burst: Burst = Amount(0, "byte")


class Average(AverageFields):
    """A queue's `average`. The fields of this and other tables: `tables.py`, docs/profile.md."""


class Shape(NamedTuple):
    """Thresholds and probability of a curve that has them."""

    min: int
    max: int
    p: float


class Curve(CurveFields):
    """A drop or ECN curve. `end` belongs to exred, where it is the queue's limit if left out, and to red, where p is 1 from max up to it."""

    @model_validator(mode="after")
    def fields_fit_the_curve(self) -> Self:
        given = [name for name in ("min", "max", "p", "end") if getattr(self, name) is not None]
        needed = [] if self.curve == "tail" else ["min", "max", "p"]
        for name in needed:
            if name not in given:
                raise ValueError(f'has no {name}; curve "{self.curve}" needs {", ".join(needed)}')
        for name in given:
            if name not in needed and (name, self.curve) not in (("end", "exred"), ("end", "red")):
                takes = "min, max, p" if needed else "no other field"
                raise ValueError(
                    f'has {name} {getattr(self, name)}, which curve "{self.curve}" does not take; it takes {takes}'
                )
        if self.min is None or self.max is None:  # tail
            return self
        if self.min.value > self.max.value:
            raise ValueError(f"has min {self.min} above max {self.max}; legal is min up to max")
        if self.curve == "red" and self.end and self.end.value <= self.max.value:
            raise ValueError(f"has end {self.end} and max {self.max}; legal for red is an end above max")
        if self.curve == "gentle" and not 1 <= self.max.value <= LEN_MAX // 2:
            raise ValueError(f"has max {self.max}; gentle ends at twice max, so legal is 1 to {LEN_MAX // 2}")
        return self

    def shape(self) -> Shape | None:
        """None for tail."""
        if self.min is None or self.max is None or self.p is None:
            return None
        return Shape(self.min.value, self.max.value, self.p)


class EcnCurve(Curve):
    """The curve of ECN-capable packets, in the drop curve that it belongs to."""

    curve: Literal["red", "gentle", "exred"] = "red"


class DropCurve(Curve):
    """A colour's drop curve."""

    ecn: EcnCurve | None = None


TAIL = DropCurve(curve="tail")
Code = Annotated[int, BeforeValidator(code_listed)]


class Codes(Strict):
    """DSCPs with the colours named, for code points whose RFC 2597 colour is not wanted."""

    green: list[Code] = []
    yellow: list[Code] = []
    red: list[Code] = []


@editors(dscp_or_table(each=True))
def codes(raw: object) -> object:
    """A list takes the colours of RFC 2597 (AFx2 yellow, AFx3 red, everything else green)."""
    if isinstance(raw, (dict, Codes)):
        return raw
    if not isinstance(raw, list):
        legal = 'a list such as ["AF11", 46], or a table of lists for green, yellow, red'
        raise ValueError(f"is {units.shown(raw)}; legal is {legal}")
    out: dict[str, list[int]] = {colour: [] for colour in COLOURS}
    for item in raw:
        code = units.dscp(item)
        out[COLOURS[units.AF_COLOUR.get(code, 0)]].append(code)
    return out


class TtlOption(Strict):
    """Types under which the lane knows the TTL option (docs/ttl-option.md)."""

    ip4: Annotated[int, option_type({148: "router alert"})] = 158
    ip6: Annotated[int, option_type({5: "router alert"})] = 0x1E


class Distance(DistanceFields):
    """What a packet's distance is taken from."""


NewCode = Annotated[int, BeforeValidator(code_alone)]


class Remark(Strict):
    """The DSCP that packets of a colour leave with; None leaves theirs."""

    green: NewCode | None = None
    yellow: NewCode | None = None
    red: NewCode | None = None


@editors(dscp_or_table(each=False))
def one_or_three(raw: object) -> object:
    """A code point alone is that of all three colours."""
    return raw if isinstance(raw, (dict, Remark)) else dict.fromkeys(COLOURS, units.dscp(raw, "is"))


class Queue(QueueFields):
    """`[[queue]]`, as the file has it; what concerns several queues is checked by `place`."""

    name: Annotated[str, BeforeValidator(one_line)]
    index: Annotated[int, number(0, 4095, "0 to 4095", whole=True)] | None = None
    default: StrictBool = False
    dscp: Annotated[Codes, BeforeValidator(codes)] = Codes()
    remark: Annotated[Remark, BeforeValidator(one_or_three)] = Remark()
    average: Average = Average()
    green: DropCurve = TAIL
    yellow: DropCurve = TAIL
    red: DropCurve = TAIL
    distance: Distance = Distance()

    @property
    def at(self) -> int:
        """`index`, which every queue has behind `place`."""
        if self.index is None:
            raise ValueError(f'queue "{self.name}" has no number yet')
        return self.index

    def end_of(self, curve: Curve) -> int | None:
        """ExRED's K: `end`, or the queue's limit in the average's unit."""
        limit = self.limit_packets if self.average.unit == "packet" else self.limit
        chosen = curve.end or limit
        return chosen.value if chosen else None

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        if self.priority is not None and self.quantum is not None:
            both = f"has both priority {self.priority} and quantum {self.quantum}"
            raise ValueError(f"{both}; a queue is either strict (priority) or shares (quantum)")
        if self.burst is not None and self.rate is None:
            raise ValueError(
                f"has burst {self.burst} but no rate; burst belongs to a queue's own rate, legal is {RATE_TEXT}"
            )
        for name in ("victim_by_colour", "victim_window"):
            value = getattr(self, name)
            if value and self.victim != "nearest":
                raise ValueError(
                    f'has {name} {units.shown(value)} but drops the arriving packet; it belongs to victim = "nearest"'
                )
        if self.victim_window and not self.limit and not self.limit_packets:
            raise ValueError(
                f"has victim_window {self.victim_window}, which works at the queue's limit, and no limit; "
                f"give limit, 1 to {LEN_MAX} bytes, or limit_packets, 1 to {LEN_MAX} packets"
            )
        if fault := departure.fault(self, self.average, self.curves()) or groups.fault(self):
            raise ValueError(fault)
        for colour in COLOURS:
            drop = getattr(self, colour)
            if drop.ecn and not self.ecn:
                raise ValueError(f"has {colour}.ecn, but ecn is not true; set ecn = true")
            self._check(colour, drop)
            if drop.ecn:
                self._check(f"{colour}.ecn", drop.ecn)
        return self

    def curves(self) -> Iterator[tuple[str, str]]:
        """Field and kind of each curve."""
        for colour in COLOURS:
            drop = getattr(self, colour)
            yield colour, drop.curve
            if drop.ecn:
                yield f"{colour}.ecn", drop.ecn.curve

    def _check(self, where: str, curve: Curve) -> None:
        unit = self.average.unit
        for name in ("min", "max", "end"):
            value = getattr(curve, name)
            if value is not None and value.unit not in (None, unit):
                raise ValueError(f'has {where}.{name} {value}, but average.unit is "{unit}"; legal are {unit}s')
        shape = curve.shape()
        if curve.curve != "exred" or shape is None:
            return
        end = self.end_of(curve)
        if end is None:
            limit = "limit_packets" if unit == "packet" else "limit"
            raise ValueError(
                f"has {where} exred with no end; give end, or the queue {limit}, up to {LEN_MAX} {unit}s and above max"
            )
        low, high, p = shape
        if not low < high < end:
            raise ValueError(f"has {where} min {low}, max {high}, end {end}; exred needs min < max < end")
        if units.Fraction(str(p)) * (end - low) > high - low:
            raise ValueError(
                f"has {where}.p {p}; exred with these thresholds takes 0 to {(high - low) / (end - low):.6g}"
            )


class Tables(Strict):
    """What every file has, whatever its port is like."""

    port: Strict | None
    pool: Pool | None = None
    queue: list[Queue] = []
    marker: list[Marker] = []
    rule: list[Rule] = []
    reports: Reports | None = None
    seed: Annotated[int, number(1, 2**32 - 1, "1 to 4294967295", whole=True)] = 1
    ttl_option: TtlOption = TtlOption()


class Config(Tables):
    """A whole file. After `parse` or `load` every queue has its number, and one is the default."""

    port: Port


COLOUR_CURVES: dict[str, type[BaseModel]] = dict.fromkeys(COLOURS, DropCurve)
MODELS: dict[str, type[BaseModel]] = {
    "port": Port,
    "pool": Pool,
    "queue": Queue,
    "average": Average,
    "dscp": Codes,
    "remark": Remark,
    "ecn": EcnCurve,
}
MODELS |= {"marker": Marker, "distance": Distance, "ttl_option": TtlOption, "rule": Rule, "match": Match}
MODELS["reports"] = Reports
MODELS |= COLOUR_CURVES  # the tables of a file, by name


def parse(
    raw: dict[str, Any],
    build_queues: int = 16,
    build_victims: int | None = None,
    build_cells: int | None = None,
    pool_elsewhere: bool = False,
    build_aqms: frozenset[str] | None = None,
    build_reports: bool | None = None,
) -> Config:
    """A configuration from a parsed file, with the default queue added and queue numbers given."""
    try:
        config = Config.model_validate(raw)
    except ValidationError as error:
        raise UserError(sentence(first(error.errors()), raw, Config, MODELS)) from None
    check_pool(config.pool, config.queue, build_cells, pool_elsewhere)
    departure.check(((q.name, q) for q in config.queue), build_aqms)
    placed = place(config, build_queues, build_queues if build_victims is None else build_victims)
    reports.check(config.reports, [q.name for q in placed.queue], build_reports)
    return placed


def place(config: Config, build_queues: int, build_victims: int) -> Config:
    """Numbers every queue, adds a default queue where none is named, and checks what concerns several queues, and the build."""
    queues = list(config.queue)
    zero = [q for q in queues if any(0 in getattr(q.dscp, colour) for colour in COLOURS)]
    defaults = [q for q in queues if q.default]
    if len(defaults) > 1:
        raise UserError(f'queues "{defaults[0].name}" and "{defaults[1].name}" both have default = true; one may')
    if not defaults and not zero:
        queues.append(Queue(name="default", default=True, limit=Amount(100_000, "byte")))
    elif not defaults:
        queues = [q.model_copy(update={"default": True}) if q is zero[0] else q for q in queues]
    names: set[str] = set()
    owner: dict[int, str] = {}  # by DSCP
    used: dict[int, str] = {}  # by number
    placed = groups.numbered(queues)
    for q in placed:
        if q.name in names:
            raise UserError(f'queue "{q.name}" is there twice; each queue needs a name of its own')
        names.add(q.name)
        if q.at in used:
            raise UserError(f'queues "{used[q.at]}" and "{q.name}" both have index {q.at}; each needs its own')
        used[q.at] = q.name
        if q.at >= build_queues:
            raise UserError(f'queue "{q.name}" has number {q.at}; this build has queues 0 to {build_queues - 1}')
        if q.victim == "nearest" and q.at >= build_victims:
            able = f"can drop the nearest packet in queues 0 to {build_victims - 1}"
            able = able if build_victims else "can only drop the arriving packet"
            raise UserError(f'queue "{q.name}", number {q.at}, has victim = "nearest"; this build {able}')
        for colour in COLOURS:
            for code in getattr(q.dscp, colour):
                if code in owner:
                    both = (
                        f'queues "{owner[code]}" and "{q.name}"' if owner[code] != q.name else f'queue "{q.name}" twice'
                    )
                    raise UserError(f"DSCP {units.dscp_name(code)} ({code}) is claimed by {both}; one may")
                owner[code] = q.name
    placed.sort(key=lambda q: q.at)
    marked: set[str] = set()
    for marker in config.marker:
        if marker.queue not in names:
            known = ", ".join(f'"{name}"' for name in sorted(names))
            raise UserError(f"the marker of {units.shown(marker.queue)} has no queue; queues are {known}")
        if marker.queue in marked:
            raise UserError(f'queue "{marker.queue}" has two markers; one may')
        marked.add(marker.queue)
    owners = {marker.queue for marker in config.marker}
    for number_, rule in enumerate(config.rule, 1):
        rules.place(number_, rule, [placed], [""], [owners])
    shares = departure.pairs([(q.name, q.at, q) for q in placed])
    placed = [q.model_copy(update={"quantum": shares[q.at]}) if q.at in shares else q for q in placed]
    return config.model_copy(update={"queue": placed, "marker": groups.spread(config.marker, queues)})


@contextmanager
def named(path: str | Path) -> Iterator[None]:
    """A refusal begins with the file's name."""
    try:
        yield
    except RecursionError:
        raise UserError(f"{path}: {TOO_DEEP}") from None
    except UserError as error:
        plain = "".join(c if c.isprintable() else "?" for c in str(error))  # one line, whatever the file put into it
        raise UserError(f"{path}: {plain}") from None


def checked(path: str | Path, parse: Callable[[dict[str, Any]], T]) -> T:
    """What `parse` makes of the file's tables."""
    raw = read_toml(path)
    with named(path):
        return parse(raw)
