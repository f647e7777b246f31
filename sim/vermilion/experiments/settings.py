"""The settings files of the experiments, `sim/experiments/settings/*.toml`, read strictly.

Each holds what a paper's experiment is made of, its seeds, and the rows of its table (`rows`). The kinds of experiment and their tables: `Poisson`,
`WredRio`, `Redp`, `Ddred`, `ThreeColour`.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from vermilion.configuration import config, reports, rules
from vermilion.toolchain import build
from vermilion.values import units
from vermilion.values.fields import Rate, Strict, UserError, read_toml

from .rows import Above0, Count, Experiment

FOLDER = build.ROOT / "sim" / "experiments" / "settings"


def with_first(*needed: str) -> AfterValidator:
    """A lane's tables that have at least one of each of `needed`, whose first is what an experiment changes."""

    def check(tables: dict[str, Any]) -> dict[str, Any]:
        for name in needed:
            listed = tables.get(name)
            if not isinstance(listed, list) or not listed or not isinstance(listed[0], dict):
                raise ValueError(f"has no {name}; it needs one at least")
        return tables

    return AfterValidator(check)


Lane = Annotated[dict[str, Any], with_first("queue")]
MarkedLane = Annotated[dict[str, Any], with_first("queue", "marker")]


def drawn(*needed: str) -> AfterValidator:
    """Schemes, of which a figure draws those that are `needed`."""

    def check(schemes: dict[str, Any]) -> dict[str, Any]:
        for name in needed:
            if name not in schemes:
                raise ValueError(f"has no {name}, which its figures and rows are made of; others may stand beside it")
        return schemes

    return AfterValidator(check)


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
    lane: Lane
    scheme: Annotated[dict[str, dict[str, Any]], Field(min_length=1)]


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
    edge: dict[str, Any]
    lane: Lane
    scheme: dict[str, str]
    curves: dict[str, dict[str, Any]]
    case: dict[str, Case]

    @model_validator(mode="after")
    def cases_have_their_tables(self) -> Self:
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
    second_rate: Rate | None = None  # ER2's, where there are two domains


class Redp(Experiment):
    """Figure 4 of P0, or figure 7 where there is a `second_rate` (experiments/redp.py)."""

    kind: Literal["redp"]
    network: RedpNetwork
    tcp: Tcp
    leaf: dict[str, Any]
    edge: MarkedLane
    lane: dict[str, Any]
    scheme: Annotated[dict[str, float], drawn("redp", "drop02")]


class DdredNetwork(Strict):
    link: Rate
    delay_ms: Above0
    end_s: Above0


class DdredTransfers(Strict):
    """Between two workstations drawn by the seed; lengths and starts drawn evenly."""

    transfers: Count
    least_bytes: Count
    most_bytes: Count
    within_s: Above0

    @model_validator(mode="after")
    def lengths_have_an_order(self) -> Self:
        if self.least_bytes > self.most_bytes:
            raise ValueError(f"has least_bytes {self.least_bytes} above most_bytes {self.most_bytes}")
        return self


class Bus(DdredTransfers):
    routers: Annotated[int, Field(ge=2, le=30)]  # distances are inferred from TTLs, so below 32


class Flower(DdredTransfers):
    loops: Annotated[int, Field(ge=1, le=30)]
    loop_routers: Annotated[int, Field(ge=2, le=20)]


class TwoFlows(Strict):
    seconds: Above0
    latency_ms: Annotated[list[Above0], Field(min_length=1)]
    sample_ms: Above0


class DdredThresholds(Strict):
    """Of gentle RED, packets."""

    min: Count
    max: Count
    limit: Count
    p: Annotated[float, Field(gt=0, le=1)]


class Ddred(Experiment):
    """The networks of P3 (experiments/ddred.py). `scheme` is the queue's `victim`."""

    kind: Literal["ddred"]
    network: DdredNetwork
    tcp: Tcp
    bus: Bus
    flower: Flower
    two: TwoFlows
    lane: Lane
    scheme: Annotated[dict[str, str], drawn("red", "ddred")]
    thresholds: dict[str, DdredThresholds]


class ThreeColourNetwork(Strict):
    seconds: Above0  # that count, behind the warm-up
    warm_up_s: Above0
    bottleneck: Rate
    link: Rate
    delay_ms: Above0
    rtt_ms: Annotated[list[Above0], Field(min_length=1)]

    @model_validator(mode="after")
    def round_trips_hold_the_bottleneck(self) -> Self:
        if min(self.rtt_ms) < 2 * self.delay_ms:
            raise ValueError(f"has rtt_ms {min(self.rtt_ms):g}; legal is {2 * self.delay_ms:g} (twice delay_ms) and up")
        return self


class FlowLength(Strict):
    bytes: Count
    packets: Count  # as the paper counts them


class Web(Strict):
    """Poisson arrivals of flows, each of a group that the seed draws."""

    per_second: Above0
    group: Annotated[list[FlowLength], Field(min_length=1)]
    shown: list[Count]
    late_s: Above0


class LongFlows(Strict):
    flows: Count
    within_ms: Above0
    seconds: Above0
    schemes: list[str]
    min: Annotated[list[Count], Field(min_length=2)]  # of yellow
    later: list[Count] = []  # more of them, chosen after a run was seen

    @model_validator(mode="after")
    def thresholds_differ(self) -> Self:
        if twice := set(self.min) & set(self.later):
            raise ValueError(f"has {min(twice)} in min and in later; one may")
        return self


class Yellow(Strict):
    """Thresholds of yellow's RED; max is three times min. These are the web's."""

    min: Annotated[list[Count], Field(min_length=2)]
    p: Annotated[float, Field(gt=0, le=1)]


class ThreeColour(Experiment):
    """The network of P1 (experiments/three_colour.py). `scheme` is the marker's `kind`."""

    kind: Literal["3cpm"]
    network: ThreeColourNetwork
    tcp: Tcp
    web: Web
    long: LongFlows
    edge: MarkedLane
    lane: Lane
    yellow: Yellow
    scheme: dict[str, str]

    @model_validator(mode="after")
    def schemes_are_there(self) -> Self:
        for scheme in self.long.schemes:
            if scheme not in self.scheme:
                raise ValueError(f'has long.schemes "{scheme}"; legal are {", ".join(self.scheme)}')
        return self


KINDS: dict[str, type[Experiment]] = {
    "poisson": Poisson,
    "wred-rio": WredRio,
    "redp": Redp,
    "ddred": Ddred,
    "3cpm": ThreeColour,
}


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def sentence(error: ErrorDetails) -> str:
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


def checked(raw: dict[str, Any]) -> Experiment:
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
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
    raw = read_toml(path)
    try:
        return checked(raw)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def queues_of(tables: Any) -> int:
    """Queues of a build that holds all groups: a power of two. What is no table is refused later."""
    sizes = (
        [queue.get("fq", 1) for queue in tables or () if isinstance(queue, dict)] if isinstance(tables, list) else []
    )
    total = sum(size for size in sizes if isinstance(size, int) and 0 < size <= 1024)
    return 1 << max(0, total - 1).bit_length()


def lane(raw: dict[str, Any]) -> config.Config:
    """A lane of an experiment's, from its tables in the words of docs/configuration.md."""
    made = config.parse(raw, max(16, queues_of(raw.get("queue"))))
    rules.refuse(made, "the lane", "an experiment")
    reports.refuse(made.reports, "the lane", "an experiment")
    return made
