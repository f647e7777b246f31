"""Long TCP flows and one sparse flow over a bottleneck whose queue is a lane's or one of ns-3's own: does the queue's delay stand at the AQM's target,
and do ours and ns-3's agree? Settings: sim/experiments/compare/bufferbloat.toml; pages: bufferbloat_pages.

Runs are called `RATE.RTT.FLOWS.ECN.WHOSE.QUEUE`, for instance `10.20.50.drop.ours.codel`: Mbit/s, ms, ECN `drop` or `mark`, whose `ours` or `ns3`. Both
kinds of queue have the same limit in packets, the same settings and the same traffic, and send at the same pace (sim/experiments/ns3/paced_queue_disc.h).
Each run gives, after the warm-up,

    goodput       Mbit/s of payload that the long flows received
    utilisation   bytes that the queue sent, with Ethernet headers, percent of the bottleneck's rate
    fairness      Jain's index of the long flows' goodput: (sum x)^2 / (n sum x^2), 1 where all have the same
    median, p95, p99, mean     sojourn time in the queue of the packets that it sent, ms: from arrival to the choice of the packet
    drops         packets dropped on arrival or at departure, percent of those that arrived
    marks         packets marked CE, percent of those that arrived
    sparse_median, sparse_p99  one-way delay of the sparse flow beyond that of empty queues, ms
"""

import itertools
import math
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from vermilion.console.screen import Note
from vermilion.toolchain import build
from vermilion.values.fields import Rate, Strict, UserError, read_toml

from . import discs, network, rows, rtl, runs, settings
from .discs import ETHERNET, MTU, counts, sojourn
from .rows import Above0, Count
from .settings import Tcp

FILE = build.ROOT / "sim" / "experiments" / "compare" / "bufferbloat.toml"
ENGINES = ("model", "rtl")
WHOSE = ("ours", "ns3")
QUEUES = ("tail", "red", "pie", "codel", "fq-codel")
FLOWS = 1024  # queues of FQ-CoDel, ns-3's default
FIGURES = (
    "goodput",
    "utilisation",
    "fairness",
    "median",
    "p95",
    "p99",
    "mean",
    "drops",
    "marks",
    "sparse_median",
    "sparse_p99",
)
PPP, IP_UDP = 2, 28  # bytes: of ns-3's links; of the sparse flow's headers
CELL, CELLS = 64, 16384  # bytes; of the lane's buffer, in the model and in the RTL's preset
Name = tuple[str, float, int, str, str, str]  # rate, round trip, flows, ECN, whose, queue


class Network(Strict):
    link: Rate
    rtt_ms: Annotated[list[Above0], Field(min_length=1)]
    flows: Annotated[list[Count], Field(min_length=1)]
    start_ms: Above0
    limit_packets: Annotated[int, Field(ge=1, le=CELLS // math.ceil((MTU + ETHERNET) / CELL))]


class Bottleneck(Strict):
    bottleneck: Rate
    seconds: Above0
    warm_up_s: Above0
    ecn_flows: list[Count]  # those of network.flows that run with ECN as well

    @model_validator(mode="after")
    def something_counts(self) -> Self:
        if self.warm_up_s >= self.seconds:
            raise ValueError(f"has warm_up_s {self.warm_up_s:g}; legal is less than seconds, {self.seconds:g}")
        return self


class BloatTcp(Tcp):
    """A congestion control of ns-3's; with `sack` also window scaling, time stamps and proportional rate reduction."""

    congestion: Annotated[str, Field(pattern="^ns3::Tcp[A-Za-z]+$")]
    send_segments: Count
    sack: bool


class Sparse(Strict):
    payload_bytes: Annotated[int, Field(ge=18, le=MTU - IP_UDP)]  # a number and a time of 12 bytes are in it
    interval_ms: Above0


class Red(Strict):
    min_ms: Above0
    max_ms: Above0
    p: Annotated[float, Field(gt=0, le=1)]
    weight: Annotated[float, Field(gt=0, le=1)]

    @model_validator(mode="after")
    def thresholds_have_an_order(self) -> Self:
        if self.min_ms >= self.max_ms:
            raise ValueError(f"has min_ms {self.min_ms:g}; legal is less than max_ms, {self.max_ms:g}")
        return self


class Bufferbloat(Strict):
    title: str
    shows: list[str]  # of the published figures
    differences: list[str]  # between ours and ns-3's, and why
    seeds: Annotated[list[Count], Field(min_length=1)]
    quick: rows.Quick
    network: Network
    rate: Annotated[dict[str, Bottleneck], Field(min_length=1)]
    tcp: BloatTcp
    sparse: Sparse
    red: Red
    pie: discs.Pie
    codel: discs.Codel

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        for name, rate in self.rate.items():
            if other := set(rate.ecn_flows) - set(self.network.flows):
                legal = ", ".join(map(str, self.network.flows))
                raise ValueError(f"has rate.{name}.ecn_flows {min(other)}; legal are those of network.flows, {legal}")
            if 2 * rate.bottleneck > self.network.link:
                raise ValueError(
                    f"has rate.{name}.bottleneck {rate.bottleneck}; legal is half of network.link and less"
                )
        return self


def program(engine: str, note: Note, preset: str) -> runs.Program:
    """`preset`: as of `preset_of`. The model takes all."""
    return network.program(engine, note, preset=preset)


def preset_of(run: runs.Run) -> str:
    """The RTL's build for the run's queue."""
    return {"pie": rtl.AQM, "codel": rtl.AQM, "fq-codel": rtl.FLOWS}.get(run.name.rsplit(".", 1)[1], rtl.PRESET)


def load(path: Path = FILE) -> Bufferbloat:
    raw = read_toml(path)
    try:
        return Bufferbloat.model_validate(raw)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UserError(f"{path}: {settings.sentence(first)}") from None


def cases(of: Bufferbloat) -> list[tuple[str, float, int, str]]:
    """Rate, round trip, flows and ECN."""
    every = itertools.product(of.rate, of.network.rtt_ms, of.network.flows, ("drop", "mark"))
    return [each for each in every if each[3] == "drop" or each[2] in of.rate[each[0]].ecn_flows]


def queues(engine: str) -> list[tuple[str, str]]:
    """Whose and which. With the RTL only ours."""
    return [(whose, queue) for whose in (WHOSE if engine == "model" else WHOSE[:1]) for queue in QUEUES]


def name(each: Name) -> str:
    rate, rtt, *more = each
    return ".".join([rate, f"{rtt:g}", *map(str, more)])


def thresholds(of: Bufferbloat, rate: int) -> tuple[int, int]:
    """RED's, packets: what the bottleneck sends in those times."""
    return (
        max(1, round(of.red.min_ms * 1e-3 * rate / 8 / (MTU + ETHERNET))),
        max(2, round(of.red.max_ms * 1e-3 * rate / 8 / (MTU + ETHERNET))),
    )


def ours(of: Bufferbloat, rate: int, queue: str, ecn: str) -> dict[str, Any]:
    """The lane's tables."""
    made: dict[str, Any] = {"name": queue, "default": True, "limit_packets": f"{of.network.limit_packets}p"}
    if queue == "red":
        least, most = thresholds(of, rate)
        packet = f"{MTU + ETHERNET}B"
        made |= {
            "average": {"kind": "red", "weight": of.red.weight, "unit": "packet", "idle_packet": packet},
            "spacing": "wait",
        }
        made["green"] = {"curve": "gentle", "min": f"{least}p", "max": f"{most}p", "p": of.red.p}
    elif queue != "tail":
        made |= discs.fields(of.pie if queue == "pie" else of.codel)
        if queue == "fq-codel":
            made |= {"fq": FLOWS, "quantum": f"{MTU + ETHERNET}B", "mtu": "64B"}
    if queue != "tail":
        made["ecn"] = ecn == "mark"
    return {"port": {"rate": rate}, "queue": [made]}


def theirs(of: Bufferbloat, rate: int, queue: str, ecn: str) -> dict[str, Any]:
    """ns-3's disc with the same settings; RED is gentle."""
    least, most = thresholds(of, rate)
    red = discs.Red(least, most, of.red.p, of.red.weight, MTU + ETHERNET)
    kind = "gentle" if queue == "red" else queue
    return discs.disc(kind, rate, of.network.limit_packets, ecn == "mark", red, of.pie, of.codel)


def scenario(of: Bufferbloat, each: Name, seed: int, shorter: int) -> dict[str, Any]:
    name_, rtt, flows, ecn, whose, queue = each
    net, at = of.network, of.rate[name_]
    delay = rtt / 4  # of each of the two links of a way
    bottleneck = network.link("a", "r", net.link, delay)
    if whose == "ours":
        lane = network.lane("a", "bottleneck", ours(of, at.bottleneck, queue, ecn), seed)
        bottleneck["lanes"] = [lane | {"by_source": False, "sojourn": "summary"}]
    else:
        disc = theirs(of, at.bottleneck, queue, ecn)
        bottleneck["discs"] = [{"at": "a", "name": "bottleneck", "sojourn": "summary"} | disc]
    begin = network.starts(f"bufferbloat {flows}", seed, flows + 1, net.start_ms)
    return {
        "seconds": at.seconds / shorter,
        "count_from_ns": round(at.warm_up_s / shorter * network.SECOND),
        "seed": seed,
        "tcp": of.tcp.model_dump() | ({"ecn": True} if ecn == "mark" else {}),
        "links": [network.link("s", "a", net.link, delay), network.link("p", "a", net.link, delay), bottleneck],
        "bulk": [
            {"name": f"long{i + 1}", "from": "s", "to": "r", "start_ns": time, "write_bytes": of.tcp.segment_bytes}
            for i, time in enumerate(begin[:-1])
        ],
        "udp": [
            {"name": "sparse", "from": "p", "to": "r", "dscp": 0, "payload_bytes": of.sparse.payload_bytes}
            | {"interval_ns": round(of.sparse.interval_ms * network.MS), "start_ns": begin[-1], "latency": "summary"}
        ],
    }


def planned(of: Bufferbloat, seeds: list[int], shorter: int, engine: str = "model") -> list[runs.Run]:
    made = []
    for n, case, queue in itertools.product(seeds, cases(of), queues(engine)):
        each, at = (*case, *queue), of.rate[case[0]]
        weight = at.bottleneck * at.seconds / shorter / 4e8
        made.append(runs.Run(name(each), n, scenario(of, each, n, shorter), weight))
    return made


def base_ms(of: Bufferbloat, rtt: float) -> float:
    """One-way delay of a packet of the sparse flow that waits nowhere: two links with their delays, and its own sending on both."""
    return rtt / 2 + 2 * 8e3 * (of.sparse.payload_bytes + IP_UDP + PPP) / of.network.link


def of_run(of: Bufferbloat, name_: str, result: runs.Result, shorter: int) -> dict[str, float]:
    rate, rtt, *_ = name_.split(".")
    at = of.rate[rate]
    seconds = (at.seconds - at.warm_up_s) / shorter
    waited = sojourn(result)
    flows = [flow["counted_bytes"] for flow in result["bulk"].values()]
    arrived, dropped, marked = counts(result)
    made = {
        "goodput": 8e-6 * sum(flows) / seconds,
        "utilisation": 800 * waited["bytes"] / seconds / at.bottleneck,
        "fairness": discs.fairness(flows),
        "drops": 100 * dropped / max(1, arrived),
        "marks": 100 * marked / max(1, arrived),
    }
    made |= {what: waited.get(f"{what}_ns", 0) / network.MS for what in ("median", "p95", "p99", "mean")}
    sparse = result["udp"]["sparse"]["latency"]
    base = base_ms(of, float(rtt))
    return made | {
        f"sparse_{what}": sparse.get(f"{what}_ns", math.nan) / network.MS - base for what in ("median", "p99")
    }


def figures(of: Bufferbloat, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    return runs.measured(results, lambda each, result: of_run(of, each, result, shorter))
