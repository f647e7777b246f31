"""The settings files of the experiments, `sim/experiments/settings/*.toml`, read strictly.

Each holds what a paper's experiment is made of, its seeds, and the rows of its table: which figure, what the paper has, and what ours must be.
The kinds of experiment and their tables: `Poisson`, `WredRio`, `Redp`. A row's class says what becomes of it: a `gate` must hold, a `band`
is a range that ours should lie in, a `report` is printed beside the paper's and judged by nobody.
"""

import itertools
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from .. import build, config, units
from ..fields import Rate, Strict, UserError

FOLDER = build.ROOT / "sim" / "experiments" / "settings"
Above0 = Annotated[float, Field(gt=0)]
Count = Annotated[int, Field(ge=1)]
RELATIONS = ("below", "above", "at_most", "at_least")


class Quick(Strict):
    """What `--quick` makes of it."""

    seeds: Count
    shorter: Count  # runs are so many times shorter


class Row(Strict):
    """A row of the results' table, or several of them: `each` gives names their values, and texts name them in braces.

    `paper` is what the paper has, `exact` what a formula of its gives; a table of both goes by the first of `each`. Then at most one of:
    `within` (a relative error of `exact`), `factor` (of `paper`, either way), `low` and `high`, or a relation with another figure, which counts
    `times` as much. A relation with `in_seeds` must hold in so many seeds by themselves, else between the means.
    """

    of: str
    value: str
    class_: Annotated[Literal["gate", "band", "report"], Field(alias="class")]
    each: dict[str, list[str]] = {}
    paper: float | dict[str, float] | None = None
    exact: float | dict[str, float] | None = None
    within: Above0 | None = None
    factor: Annotated[float, Field(gt=1)] | None = None
    low: float | None = None
    high: float | None = None
    below: str | None = None
    above: str | None = None
    at_most: str | None = None
    at_least: str | None = None
    times: Above0 = 1.0
    in_seeds: Count | None = None

    @model_validator(mode="after")
    def fields_fit_each_other(self):
        given = [name for name in ("within", "factor", *RELATIONS) if getattr(self, name) is not None]
        given += ["low, high"] * (self.low is not None or self.high is not None)
        if len(given) > 1:
            raise ValueError(f"has {' and '.join(given)}; one may")
        if not given and self.class_ != "report":
            raise ValueError(f'has class "{self.class_}" and nothing to judge by; give a bound, or class "report"')
        for bound, of in (("within", "exact"), ("factor", "paper")):
            if getattr(self, bound) is not None and getattr(self, of) is None:
                raise ValueError(f"has {bound} without {of}")
        related = given and given[0] in RELATIONS
        if not related and (self.times != 1 or self.in_seeds):
            raise ValueError(f"has times or in_seeds, which belong to {', '.join(RELATIONS)}")
        return self


@dataclass(frozen=True)
class Line:
    """One row, with every name in its place."""

    of: str
    value: str
    class_: str
    paper: float | None
    exact: float | None
    within: float | None
    factor: float | None
    low: float | None
    high: float | None
    relation: tuple[str, str, float] | None  # word, the other figure, times
    in_seeds: int | None


def lines(rows: list[Row]) -> list[Line]:
    out = []
    for row in rows:
        for values in itertools.product(*row.each.values()):
            names = dict(zip(row.each, values))
            pick = lambda given: given[values[0]] if isinstance(given, dict) else given
            relation = next(
                ((n, getattr(row, n).format(**names), row.times) for n in RELATIONS if getattr(row, n)), None
            )
            out.append(
                Line(
                    row.of.format(**names),
                    row.value.format(**names),
                    row.class_,
                    pick(row.paper),
                    pick(row.exact),
                    row.within,
                    row.factor,
                    row.low,
                    row.high,
                    relation,
                    row.in_seeds,
                )
            )
    return out


class Experiment(Strict):
    """What every experiment has."""

    title: str
    paper: str
    seeds: Annotated[list[Count], Field(min_length=1)]
    quick: Quick
    row: Annotated[list[Row], Field(min_length=1)]

    @model_validator(mode="after")
    def seeds_differ(self):
        if len(set(self.seeds)) != len(self.seeds):
            raise ValueError("has a seed twice in seeds")
        for row in self.row:
            for text in (row.of, row.value, *(getattr(row, name) or "" for name in RELATIONS)):
                try:
                    text.format(**{name: "" for name in row.each})
                except (KeyError, IndexError, ValueError):
                    raise ValueError(f'has the row "{row.of}", which names in braces what its each lacks') from None
            for table in (row.paper, row.exact):
                if isinstance(table, dict) and set(table) != set(next(iter(row.each.values()), [])):
                    raise ValueError(
                        f'has the row "{row.of}", whose table has other entries than the first of its each'
                    )
        return self


class PoissonTraffic(Strict):
    service_rate: Above0
    loads: Annotated[list[Above0], Field(min_length=1)]
    arrivals: Count
    long_loads: list[Above0]
    long_arrivals: Count
    warm_up: Annotated[int, Field(ge=0)]


class Poisson(Experiment):
    """A single-server queue by itself (experiments/poisson.py). `lane` and `scheme` in the words of docs/configuration.md."""

    kind: Literal["poisson"]
    traffic: PoissonTraffic
    lane: dict
    scheme: dict[str, dict]


class Tcp(Strict):
    """ns-3's TCP NewReno without SACK, window scaling and time stamps."""

    segment_bytes: Count
    window_segments: Count
    initial_window: Count
    delayed_ack: Count  # segments an ACK
    delayed_ack_ms: Above0
    min_rto_ms: Above0
    retries: Count


class WredRioNetwork(Strict):
    seconds: Above0
    link: Rate
    bottleneck: Rate
    delay_ms: Above0
    access_delay_ms: Above0
    start_ms: Above0


class Udp(Strict):
    payload_bytes: Count
    heavy_per_second: Above0
    light_per_second: Above0
    burst_per_second: Above0
    burst_on_ms: Above0
    burst_off_ms: Above0


class Transactions(Strict):
    flows: Count
    request_bytes: Count
    response_bytes: Count


class Bulk(Strict):
    flows: Count


class Case(Strict):
    curves: str
    traffic: Literal["bursts", "transactions", "bulk"]
    background: Literal["heavy", "light"]
    schemes: list[str]


class WredRio(Experiment):
    """The network of P2 (experiments/wred_rio.py)."""

    kind: Literal["wred-rio"]
    network: WredRioNetwork
    tcp: Tcp
    udp: Udp
    transactions: Transactions
    bulk: Bulk
    edge: dict
    lane: dict
    scheme: dict[str, str]
    curves: dict[str, dict]
    case: dict[str, Case]

    @model_validator(mode="after")
    def cases_have_their_tables(self):
        for name, case in self.case.items():
            if case.curves not in self.curves:
                raise ValueError(f'has case.{name}.curves "{case.curves}"; legal are {", ".join(self.curves)}')
            for scheme in case.schemes:
                if scheme not in self.scheme:
                    raise ValueError(f'has case.{name}.schemes "{scheme}"; legal are {", ".join(self.scheme)}')
        return self


class RedpNetwork(Strict):
    seconds: Above0
    link: Rate
    bottleneck: Rate
    rtt_ms: Annotated[list[Above0], Field(min_length=2)]
    start_ms: Above0


class Redp(Experiment):
    """Figure 4 of P0 (experiments/redp.py)."""

    kind: Literal["redp"]
    network: RedpNetwork
    tcp: Tcp
    leaf: dict
    edge: dict
    lane: dict
    scheme: dict[str, float]


KINDS = {"poisson": Poisson, "wred-rio": WredRio, "redp": Redp}


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def sentence(error: dict) -> str:
    """One error of pydantic's as a sentence."""
    where = ".".join(str(part + 1) if isinstance(part, int) else part for part in error["loc"]) or "the file"
    if error["type"] == "missing":
        return f"{where} is missing"
    if error["type"] == "extra_forbidden":
        return f"{where} is no key of an experiment's"
    if error["type"] == "value_error":
        return f"{where} {error['ctx']['error']}"
    return f"{where} is {units.shown(error['input'])}; {error['msg'][0].lower()}{error['msg'][1:]}"


def parse(text: str) -> Experiment:
    return checked(tomllib.loads(text))


def checked(raw: dict) -> Experiment:
    kind = raw.get("kind")
    if kind not in KINDS:
        raise UserError(f"kind is {units.shown(kind)}; legal are {', '.join(KINDS)}")
    try:
        return KINDS[kind].model_validate(raw)
    except ValidationError as error:
        first = min(
            error.errors(), key=lambda each: each["type"] != "extra_forbidden"
        )  # a misspelt key is missing, too
        raise UserError(sentence(first)) from None


def load(path: str | Path) -> Experiment:
    """Reads and checks a file."""
    try:
        return parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}: is not TOML: it is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path}: is not TOML: {error}") from None
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def lane(raw: dict) -> config.Config:
    """A lane of an experiment's, from its tables in the words of docs/configuration.md."""
    return config.parse(raw)
