"""A lane with several egresses in one file: `[[egress]]`, `routes` and the shares of the pool. Fields: `docs/configuration/ports.md`.

The file's `[port]`, `[[queue]]` and `[[marker]]` are those of every egress. An `[[egress]]` has its own in place of them: fields of the port one by
one, queues and markers all together. A file without `[[egress]]` and `routes` is that of a lane with one egress.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, Field, StrictInt, StrictStr, ValidationError, model_validator
from pydantic_core import ErrorDetails

from vermilion.toolchain.presets import Preset
from vermilion.values import units
from vermilion.values.fields import (
    AMOUNT,
    RATE_TEXT,
    Burst,
    Rate,
    Strict,
    UserError,
    amounts,
    editors,
    number,
    one_line,
    read_toml,
    whole_or_text,
)
from vermilion.values.units import Amount

from . import config, reports, rules
from .config import MODELS, Config, Port, Queue, Tables
from .markers import Marker
from .pool import CELL_BYTES, CELLS_MOST
from .refusals import first, sentence
from .reports import Reports
from .rule_places import check_inputs, placed
from .rules import Placed, Rule

EGRESSES = (1, 2, 4, 8)  # that a build can have
INPUTS_MOST = 16  # of a build
KEYS = ("egress", "routes")  # that only the file of a lane with several egresses has


@dataclass(frozen=True)
class Build:
    """What a build has: `queues` and `victims` of each egress, all else of the lane. None: it is not known, and anything is legal."""

    queues: int = 16
    victims: int | None = None
    cells: int | None = None
    egresses: int = 1
    inputs: int | None = None
    aqms: frozenset[str] | None = None  # by sojourn time
    reports: bool | None = None
    rules: int | None = None


def of_shape(shape: Preset) -> Build:
    """What a preset (`build.Preset`) has."""
    share = shape.queues // shape.egresses
    return Build(
        share,
        min(shape.victims, share),
        shape.cells,
        shape.egresses,
        shape.inputs,
        shape.aqms,
        shape.reports,
        shape.rules,
    )


@editors(whole_or_text(0, CELL_BYTES * CELLS_MOST, AMOUNT))
def cells_of(raw: object) -> Amount:
    """An amount of bytes in whole cells; 0: none."""
    legal = f"0 for none, or {CELL_BYTES}B to {CELL_BYTES * CELLS_MOST}B"
    held = units.amount(raw, f"is {legal}, such as {amounts(CELL_BYTES, CELL_BYTES * CELLS_MOST, 'byte')}")
    if held.unit == "packet" or (held.value and not CELL_BYTES <= held.value <= CELL_BYTES * CELLS_MOST):
        raise ValueError(f"is {units.shown(raw)}; legal is {legal}")
    return Amount(held.value, "byte")


Cells = Annotated[Amount, BeforeValidator(cells_of)]
NONE = Amount(0, "byte")


class Share(Strict):
    """`pool` of an egress: what its packets always find, and the most that they take."""

    reserve: Cells = NONE
    cap: Cells = NONE

    @property
    def cells(self) -> tuple[int, int]:
        return self.reserve.value // CELL_BYTES, self.cap.value // CELL_BYTES

    @model_validator(mode="after")
    def the_cap_is_not_below_the_reserve(self) -> Self:
        if self.cap.value and self.cap.value < self.reserve.value:
            raise ValueError(f".cap is {self.cap}; legal is 0 for none, or {self.reserve}, the reserve, and more")
        return self


class OwnPort(Strict):
    """`port` of an egress."""

    rate: Rate | None = None
    burst: Burst | None = None


@editors({"type": "string", "minLength": 1, "maxLength": 64})
def no_number(raw: object) -> object:
    """A name that `routes` and tables do not take for a number."""
    if isinstance(raw, str) and raw.strip().isdecimal():
        raise ValueError(f"is {units.shown(raw)}; legal are names that are no numbers")
    return one_line(raw)


class Egress(Strict):
    """`[[egress]]`: what an egress has for itself."""

    index: Annotated[int, number(0, EGRESSES[-1] - 1, f"0 to {EGRESSES[-1] - 1}", whole=True)] | None = None
    name: Annotated[str, BeforeValidator(no_number)] | None = None
    port: OwnPort = OwnPort()
    pool: Share = Share()
    queue: list[Queue] | None = None
    marker: list[Marker] | None = None


class File(Tables):
    """The whole file. Each egress's part of it is a `Config`."""

    port: OwnPort = OwnPort()
    egress: list[Egress] = []
    routes: list[StrictInt | StrictStr] | None = None


class Whole(Tables):
    """`Lane.whole`. It has no port of its own."""

    port: None = None
    ports: dict[str, Port] = {}
    routes: list[int] = []
    parts: list[Config] = Field(default=[], exclude=True)


Asked = Config | Whole  # of a lane with one egress, or with several


def parts(asked: Asked) -> list[Config]:
    """The configurations of the egresses."""
    return asked.parts if isinstance(asked, Whole) else [asked]


def port_rate(asked: Asked) -> int | None:
    """The rate of the only port; None where there are several."""
    return asked.port.rate if asked.port else None


@dataclass(frozen=True)
class Lane:
    """The configuration of each egress, with queues from 0 on. `given`: the file has `[[egress]]` or `routes`."""

    configs: list[Config]
    names: list[str | None]
    shares: list[Share]
    routes: list[int]
    rule: list[Rule]
    given: bool = False
    reports: Reports | None = None

    def label(self, egress: int) -> str:
        """An egress in names of queues and in sentences: its name, or its number."""
        return self.names[egress] or str(egress)

    def queue_name(self, egress: int, queue: str) -> str:
        """A queue of an egress among those of all."""
        return f"{self.label(egress)}/{queue}"

    def named(self) -> list[Config]:
        """The configurations, with names of queues that are no other egress's."""
        if len(self.configs) == 1:
            return self.configs
        found = []
        for e, each in enumerate(self.configs):
            queues = [q.model_copy(update={"name": self.queue_name(e, q.name)}) for q in each.queue]
            markers = [m.model_copy(update={"queue": self.queue_name(e, m.queue)}) for m in each.marker]
            found.append(each.model_copy(update={"queue": queues, "marker": markers}))
        return found

    def whole(self, share: int) -> Asked:
        """All egresses, of `share` queues each, as one configuration for tables and reports, by numbers in the lane."""
        if len(self.configs) == 1:
            return self.configs[0]
        parts, first = self.named(), self.configs[0]
        return Whole.model_construct(
            port=None,
            ports={self.label(e): each.port for e, each in enumerate(parts)},
            routes=self.routes,
            pool=first.pool,
            queue=[
                q.model_copy(update={"index": e * share + q.at}) for e, each in enumerate(parts) for q in each.queue
            ],
            marker=[m for each in parts for m in each.marker],
            rule=self.rule,
            reports=self.reports,
            seed=first.seed,
            ttl_option=first.ttl_option,
            parts=parts,
        )

    def placed(self) -> list[Placed]:
        """Where the queues of each rule are."""
        one = len(self.configs) == 1
        called = [""] if one else [f"egress {self.label(e)}" for e in range(len(self.configs))]
        return placed(self.rule, self.configs, [0] if one else self.routes, called)

    def inputs(self, egress: int) -> list[int]:
        return [number for number, to in enumerate(self.routes) if to == egress]


def given(path: str | Path) -> bool:
    """Whether a file is that of a lane with several egresses."""
    raw = read_toml(path)
    return any(key in raw for key in KEYS)


def needed(path: str | Path) -> int:
    """The egresses of the smallest build that a file may be for."""
    raw = read_toml(path)
    tables, routes = (found if isinstance(found := raw.get(key), list) else [] for key in KEYS)
    numbers = [table.get("index") for table in tables if isinstance(table, dict)] + routes
    found = max([len(tables), *(n + 1 for n in numbers if isinstance(n, int))], default=1)
    return next((count for count in EGRESSES if count >= found), EGRESSES[-1])


def load_one(path: str | Path, egress: int) -> Config:
    """The configuration of one egress, for what needs no build."""
    lane = load(path, Build(4096, egresses=needed(path)))
    if egress >= len(lane.configs):
        raise UserError(f"--egress is {egress}; legal is 0 to {len(lane.configs) - 1}, the egresses of {path}")
    return lane.configs[egress]


def load(path: str | Path, build: Build) -> Lane:
    """Reads and checks a file for a build."""
    return config.checked(path, lambda raw: parse(raw, build))


def parse(raw: dict[str, Any], build: Build) -> Lane:
    """The lane of a parsed file: in a build with several egresses those without `[[egress]]` have what is common to all."""
    several = any(key in raw for key in KEYS)
    if not several and build.egresses == 1:
        if not raw.keys() <= File.model_fields.keys():
            validated(raw)  # a key that is no key: the hint knows those of several egresses, too
        one = config.parse(raw, build.queues, build.victims, build.cells, False, build.aqms, build.reports)
        check_inputs(one.rule, build.inputs)
        rules.check(one.rule, build.rules)
        return Lane([one], [None], [Share()], routes(None, {}, build), one.rule, reports=one.reports)
    file = validated(raw)
    at = numbered(file.egress, build)
    tables = [file.egress[at[e]] if e in at else Egress() for e in range(build.egresses)]
    names, shares = [table.name for table in tables], [table.pool for table in tables]
    called = [f"egress {e}" if name is None else f'egress "{name}"' for e, name in enumerate(names)]
    check_shares(file, shares, called, build)
    configs = [own(raw, raw["egress"][at[e]] if e in at else {}, called[e], build) for e in range(build.egresses)]
    labels = {name: e for e, name in enumerate(names) if name is not None}
    reports.check(file.reports, [q.name for each in configs for q in each.queue], build.reports)
    ways = routes(file.routes, labels, build)
    ruled = rules_of(raw, configs, ways, called, build)
    if len(configs) == 1:
        configs = [configs[0].model_copy(update={"rule": ruled})]
    return Lane(configs, names, shares, ways, ruled, several, file.reports)


def validated(raw: dict[str, Any]) -> File:
    try:
        return File.model_validate(raw)
    except ValidationError as found:
        error = first(found.errors())
        inside: dict[str, type[BaseModel]] = (
            {"egress": Egress, "port": OwnPort, "pool": Share} if error["loc"][:1] == ("egress",) else {}
        )
        if error["loc"][:1] == ("routes",):
            raise UserError(f"routes{place_of(error)} is {units.shown(error['input'])}; legal is {ROUTES}") from None
        raise UserError(sentence(error, raw, File, MODELS | {"port": OwnPort} | inside).replace(" .", ".")) from None


ROUTES = "a list with the number or the name of an egress for each input"


def place_of(error: ErrorDetails) -> str:
    return f"[{error['loc'][1]}]" if len(error["loc"]) > 1 else ""


def numbered(tables: list[Egress], build: Build) -> dict[int, int]:
    """Which `[[egress]]` is that of which egress; those without `index` have the next that is free."""
    explicit = {table.index for table in tables if table.index is not None}
    free = (n for n in range(len(tables) + len(explicit)) if n not in explicit)
    found: dict[int, int] = {}
    names: set[str | None] = set()
    for at, table in enumerate(tables):
        index = next(free) if table.index is None else table.index
        where = f'egress "{table.name}"' if table.name is not None else f"egress number {at + 1}"
        if index >= build.egresses:
            has = f"has egresses 0 to {build.egresses - 1}" if build.egresses > 1 else "has one egress, 0"
            raise UserError(f"{where} has index {index}; this build {has}")
        if index in found:
            raise UserError(f"{where} has index {index}, and another egress too; each needs its own")
        if table.name is not None and table.name in names:
            raise UserError(f"{where} is there twice; each egress needs a name of its own")
        names.add(table.name)
        found[index] = at
    return found


def own(raw: dict[str, Any], table: dict[str, Any], where: str, build: Build) -> Config:
    """The configuration of one egress."""
    mine = {key: value for key, value in raw.items() if key not in (*KEYS, "rule", "reports")}
    if "port" in table:
        mine["port"] = raw.get("port", {}) | table["port"]
    if "queue" in table:  # the markers of the common queues stay with them
        mine |= {"queue": table["queue"], "marker": []}
    if "marker" in table:
        mine["marker"] = table["marker"]
    try:
        return config.parse(mine, build.queues, build.victims, build.cells, build_aqms=build.aqms)
    except UserError as error:
        if "port" not in mine or "rate" not in mine["port"]:
            give = f"give it one, {RATE_TEXT}, or [port] one for all egresses"
            raise UserError(f"{where} has no port.rate; {give}") from None
        common = not any(key in table for key in ("port", "queue", "marker"))
        raise UserError(str(error) if common else f"{where}, {error}") from None


def routes(given: Sequence[int | str] | None, labels: dict[str, int], build: Build) -> list[int]:
    """The egress of each input. Where none are given all inputs go to egress 0, as after a reset."""
    if given is None:
        return [0] * (build.inputs or 1)
    if len(given) != build.inputs if build.inputs else not 1 <= len(given) <= INPUTS_MOST:
        legal = (
            f"{build.inputs}, the inputs of this build" if build.inputs else f"1 to {INPUTS_MOST}, one for each input"
        )
        raise UserError(f"routes has {len(given)} entr{'y' if len(given) == 1 else 'ies'}; legal is {legal}")
    found = []
    for at, entry in enumerate(given):
        egress = labels.get(entry) if isinstance(entry, str) else entry
        if egress is None or not 0 <= egress < build.egresses:
            legal = f"0 to {build.egresses - 1}, the egresses of this build" if build.egresses > 1 else "0"
            legal += "".join(f', "{name}"' for name in labels)
            raise UserError(f"routes[{at}] is {units.shown(entry)}; legal is {legal}")
        found.append(egress)
    return found


def check_shares(file: File, shares: list[Share], called: list[str], build: Build) -> None:
    """Refuses shares that the pool or the buffer cannot hold."""
    for where, share in zip(called, shares, strict=True):
        for name, amount in (("reserve", share.reserve), ("cap", share.cap)):
            if amount.value and build.egresses == 1:
                raise UserError(f"{where} has pool.{name} {amount}; legal is 0 in a lane with one egress")
            if amount.value and not file.pool:
                legal = f"{CELL_BYTES}B to {CELL_BYTES * CELLS_MOST}B"
                raise UserError(f"{where} has pool.{name} {amount}, but there is no pool; give [pool] a size, {legal}")
            if build.cells is not None and amount.value // CELL_BYTES > build.cells:
                most = f"{CELL_BYTES}B to {CELL_BYTES * build.cells}B, the {build.cells} cells of this build"
                raise UserError(f"{where}, pool.{name} is {amount}; legal is 0 for none, or {most}")
    least = sum(share.cells[0] for share in shares)
    if file.pool and least > file.pool.cells:
        legal = f"{CELL_BYTES * least}B and more, the reserves of all egresses"
        raise UserError(f"pool.size is {file.pool.size}; legal is {legal}")


def rules_of(
    raw: dict[str, Any], configs: list[Config], ways: list[int], called: list[str], build: Build
) -> list[Rule]:
    """The file's rules, which are those of the whole lane."""
    if not raw.get("rule"):
        return []
    found = validated({"rule": raw["rule"]}).rule
    check_inputs(found, build.inputs)
    rules.check(found, build.rules)
    placed(found, configs, ways, called)
    return found
