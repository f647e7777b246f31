"""Schemes beside each other on the same traffic: cr's queue (tail drop, RED, gentle, WRED, RIO-C, RIO-DC, ExRED, DDRED, PIE, CoDel), with ECN or without,
and er's marker (none, REDP, REDP with its dropper, WPM, APM, 3CPM). Without a marker also ns-3's own discs in cr's place, with the same settings.
Settings: sim/experiments/compare/schemes.toml; pages: schemes_pages.

Runs are called `QUEUE.ECN.MARKER`, ECN `drop` or `mark`; QUEUE is `ns3-QUEUE` for a disc of ns-3's. With ECN the queue has `ecn = true` and both ends of
every TCP connection have ns-3's `TcpSocketBase::UseEcn` On (RFC 3168); without it neither has. Each run gives

    goodput     Mb/s of all payload that long and short flows received
    delay, p99  sojourn time at cr of the packets sent, ms: from arrival to the choice of the packet; mean and 99th percentile
    loss        packets that cr dropped on arrival or at departure, or pushed out, percent of those that came
    ce          packets that cr marked CE, percent of those that came
    fairness    Jain's index of the long flows' goodput
    short_s     seconds a short flow takes from its SYN to the server's close, mean

and of a lane, which has colours,

    green, yellow, red         share of the packets that came to cr, percent
    green_loss, ...            packets lost at cr of those that came in that colour, percent; 0 where none came
"""

import functools
import json
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from vermilion.profile import quantise
from vermilion.profile.record import LaneRecord
from vermilion.toolchain import build
from vermilion.values import units
from vermilion.values.fields import Rate, Strict, UserError, read_toml

from . import discs, network, rows, runs, settings
from .rows import Above0, Count
from .settings import Tcp

FILE = build.ROOT / "sim" / "experiments" / "compare" / "schemes.toml"
ECN = ("drop", "mark")
ENGINES = ("model",)
FIGURES = ("goodput", "delay", "p99", "loss", "ce", "fairness", "short_s")
OF_COLOURS = tuple(f"{colour}_loss" for colour in network.COLOURS)
NS3 = "ns3-"
ALONE = "none"  # the marker beside which ns-3's discs run
Name = tuple[str, str, str]  # queue, ECN, marker
HOPS = 2  # routers between a far host and er
program = network.program


class Network(Strict):
    seconds: Above0
    link: Rate
    bottleneck: Rate
    delay_ms: Above0
    rtt_ms: Annotated[list[Above0], Field(min_length=2)]
    far: list[Count]
    start_ms: Above0


class Short(Strict):
    clients: Count
    rtt_ms: Above0
    request_bytes: Count
    response_bytes: Count


class Queue(Strict):
    """With an average: one curve for all colours, or the three of `colours`. Or an AQM that looks at the delay."""

    aqm: Literal["pie", "codel"] | None = None
    average: dict[str, Any] | None = None
    curve: dict[str, Any] | None = None
    victim: str | None = None

    @model_validator(mode="after")
    def one_kind(self) -> Self:
        if (self.aqm is None) == (self.average is None):
            raise ValueError("needs average or aqm; legal is one of them")
        if self.aqm and (self.curve or self.victim):
            raise ValueError(f"has aqm {self.aqm} and curve or victim; legal is aqm alone")
        return self


class Schemes(Strict):
    title: str
    seeds: Annotated[list[Count], Field(min_length=1)]
    quick: rows.Quick
    network: Network
    tcp: Tcp
    short: Short
    leaf: dict[str, Any]
    edge: dict[str, Any]
    marker: dict[str, dict[str, Any]]
    lane: dict[str, Any]
    queue: dict[str, Queue]
    colours: dict[str, dict[str, Any]]
    pie: discs.Pie
    codel: discs.Codel
    ns3: list[str]  # of discs.KINDS
    shows: list[str]  # of the published figures
    differences: list[str]  # between ours and ns-3's, and why

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        hosts = len(self.network.rtt_ms)
        for number in self.network.far:
            if number > hosts:
                raise ValueError(f"has network.far {number}; legal are hosts 1 to {hosts}")
        for rtt in (*self.network.rtt_ms, self.short.rtt_ms):
            if rtt <= 2 * self.network.delay_ms:
                raise ValueError(f"has the round trip {rtt:g} ms; legal is more than twice network.delay_ms")
        if ALONE not in self.marker:
            raise ValueError(f"has no marker.{ALONE}, beside which ns-3's discs run")
        for name in self.ns3:
            if name not in discs.KINDS:
                raise ValueError(f"has ns3 {name}; legal are {', '.join(discs.KINDS)}")
            if name in discs.BOTH and name not in self.queue:
                raise ValueError(f"has ns3 {name}; legal are those of queue")
        return self


def load(path: Path = FILE) -> Schemes:
    raw = read_toml(path)
    try:
        return Schemes.model_validate(raw)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UserError(f"{path}: {settings.sentence(first)}") from None


@functools.cache
def record(tables: str) -> LaneRecord:
    """A lane's, worked out once for all seeds."""
    return quantise.hardware(settings.lane(json.loads(tables)))


def lane(at: str, tables: dict[str, Any], seed: int) -> dict[str, Any]:
    return {"at": at, "name": at, "lane": {**record(json.dumps(tables)), "seed": seed}}


def ours(of: Schemes) -> list[Name]:
    return [(queue, ecn, marker) for queue in of.queue for ecn in ECN for marker in of.marker]


def names(of: Schemes) -> list[Name]:
    """Queue, ECN and marker of each run."""
    return ours(of) + [(NS3 + queue, ecn, ALONE) for queue in of.ns3 for ecn in ECN]


def beside(of: Schemes) -> list[str]:
    """Queues that both have."""
    return [queue for queue in of.ns3 if queue in discs.BOTH]


def core(of: Schemes, queue: str, ecn: str) -> dict[str, Any]:
    """cr's lane."""
    chosen = of.queue[queue]
    more: dict[str, Any] = {"ecn": ecn == "mark"}
    if chosen.aqm:
        more |= discs.fields(of.pie if chosen.aqm == "pie" else of.codel)
    else:
        curves = of.colours if chosen.curve is None else {colour: chosen.curve for colour in network.COLOURS}
        more |= curves | {"average": chosen.average, "spacing": "wait"}
    if chosen.victim:
        more["victim"] = chosen.victim
    return of.lane | {"queue": [of.lane["queue"][0] | more]}


def red(of: Schemes, queue: str) -> discs.Red:
    """What RED of ns-3's has of a queue of ours."""
    curve, average = of.queue[queue].curve or {}, of.queue[queue].average or {}
    least, most, frame = (units.amount(text).value for text in (curve["min"], curve["max"], average["idle_packet"]))
    return discs.Red(least, most, curve["p"], average["weight"], frame)


def disc(of: Schemes, queue: str, ecn: str) -> dict[str, Any]:
    """ns-3's, with the settings of the queue of ours."""
    name = queue.removeprefix(NS3)
    limit = units.amount(of.lane["queue"][0]["limit_packets"]).value
    curve = red(of, name) if name in ("red", "gentle") else None
    return discs.disc(name, of.network.bottleneck, limit, ecn == "mark", curve, of.pie, of.codel)


def edge(of: Schemes, marker: str) -> dict[str, Any]:
    chosen = of.marker[marker]
    return of.edge | ({"marker": [{"queue": of.edge["queue"][0]["name"]} | chosen]} if chosen else {})


def access(of: Schemes, host: str, far: bool, rtt_ms: float, leaf: dict[str, Any]) -> list[dict[str, Any]]:
    """Links from a host to er, which have what the round trip has beyond the bottleneck's delay."""
    delay = rtt_ms / 2 - of.network.delay_ms
    nodes = [host, *(f"{host}-{i + 1}" for i in range(HOPS if far else 0)), "er"]
    links = [network.link(a, b, of.network.link, 0) for a, b in pairwise(nodes)]
    links[0] = network.link(nodes[0], nodes[1], of.network.link, delay, leaf)
    return links


def scenario(of: Schemes, queue: str, ecn: str, marker: str, seed: int, shorter: int) -> dict[str, Any]:
    net = of.network
    hosts = [f"h{i + 1}" for i in range(len(net.rtt_ms))]
    web = f"h{len(hosts) + 1}"

    def leaf(at: str, i: int) -> dict[str, Any]:
        return lane(at, of.leaf, 20 * seed + i)  # seeds of lanes differ within a run

    links = []
    for i, (host, rtt) in enumerate(zip(hosts, net.rtt_ms, strict=False)):
        links += access(of, host, i + 1 in net.far, rtt, leaf(host, i))
    links += access(of, web, False, of.short.rtt_ms, leaf(web, len(hosts)))
    links.append(network.link("er", "cr", net.link, 0, lane("er", edge(of, marker), 20 * seed + 18)))
    bottleneck = network.link("cr", "r", net.bottleneck, net.delay_ms)
    if queue.startswith(NS3):
        bottleneck["discs"] = [{"at": "cr", "name": "cr", "sojourn": "summary"} | disc(of, queue, ecn)]
    else:
        bottleneck["lanes"] = [lane("cr", core(of, queue, ecn), 20 * seed + 19) | {"sojourn": "summary"}]
    links.append(bottleneck)
    begin = network.starts("schemes", seed, len(hosts), net.start_ms)
    clients = network.starts("schemes, short", seed, of.short.clients, net.start_ms)
    return {
        "seconds": net.seconds / shorter,
        "seed": seed,
        "tcp": of.tcp.model_dump() | ({"ecn": True} if ecn == "mark" else {}),
        "links": links,
        "bulk": [
            {"name": host, "from": host, "to": "r", "start_ns": time} for host, time in zip(hosts, begin, strict=False)
        ],
        "transactions": [
            {"name": "short", "client": "r", "server": web, "start_ns": clients}
            | {"request_bytes": of.short.request_bytes, "response_bytes": of.short.response_bytes}
        ],
    }


def planned(of: Schemes, seeds: list[int], shorter: int) -> list[runs.Run]:
    return [runs.Run(".".join(each), n, scenario(of, *each, n, shorter), 1) for n in seeds for each in names(of)]


def of_run(of: Schemes, result: runs.Result, seconds: float) -> dict[str, float]:
    came, lost, marked = discs.counts(result, "cr")
    waited = discs.sojourn(result, "cr")
    flows = [flow["received_bytes"] for flow in result["bulk"].values()]
    done = result["transactions"]["short"]["completed"]
    made = {
        "goodput": 8e-6 * (sum(flows) + done * of.short.response_bytes) / seconds,
        "delay": waited["mean_ns"] / network.MS,
        "p99": waited["p99_ns"] / network.MS,
        "loss": 100 * lost / came,
        "ce": 100 * marked / came,
        "fairness": discs.fairness(flows),
        "short_s": of.short.clients * seconds / max(1, done),
    }
    if "cr" in result["lanes"]:
        cr = result["lanes"]["cr"]
        made |= {colour: 100 * network.arrived(cr, colour) / came for colour in network.COLOURS}
        made |= {f"{colour}_loss": network.loss_percent(cr, colour) for colour in network.COLOURS}
    return made


def figures(of: Schemes, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    return runs.measured(results, lambda _, result: of_run(of, result, of.network.seconds / shorter))
