"""Schemes beside each other on the same traffic: cr's queue (tail drop, RED, gentle, WRED, RIO-C, RIO-DC, ExRED, DDRED), with ECN or without, and er's
marker (none, REDP, REDP with its dropper, WPM, APM, 3CPM). Settings: sim/experiments/compare/schemes.toml; pages: schemes_pages.

Runs are called `QUEUE.ECN.MARKER`, ECN `drop` or `mark`. With ECN the queue has `ecn = true` and both ends of every TCP connection have ns-3's
`TcpSocketBase::UseEcn` On (RFC 3168); without it neither has. Each run gives

    goodput     Mb/s of all payload that long and short flows received
    delay       ms from arrival at cr to the end of sending, mean of the packets sent
    green, yellow, red         share of the packets that came to cr, percent
    green_loss, ...            packets lost at cr of those that came in that colour, percent; 0 where none came
    loss        of all colours
    ce          packets that cr marked CE, percent of those that came
    fairness    Jain's index of the long flows' goodput: (sum x)^2 / (n sum x^2), 1 where all have the same
    short_s     seconds a short flow takes from its SYN to the server's close, mean
"""

import functools
import json
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from vermilion.profile import quantise
from vermilion.profile.record import LaneRecord
from vermilion.toolchain import build
from vermilion.values.fields import Rate, Strict, UserError, read_toml

from . import network, rows, runs, settings
from .rows import Above0, Count
from .settings import Tcp

FILE = build.ROOT / "sim" / "experiments" / "compare" / "schemes.toml"
ECN = ("drop", "mark")
ENGINES = ("model",)
FIGURES = ("goodput", "delay", "loss", "green_loss", "yellow_loss", "red_loss", "ce", "fairness", "short_s")
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
    average: dict[str, Any]
    curve: dict[str, Any] | None = None
    victim: str | None = None


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

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        hosts = len(self.network.rtt_ms)
        for number in self.network.far:
            if number > hosts:
                raise ValueError(f"has network.far {number}; legal are hosts 1 to {hosts}")
        for rtt in (*self.network.rtt_ms, self.short.rtt_ms):
            if rtt <= 2 * self.network.delay_ms:
                raise ValueError(f"has the round trip {rtt:g} ms; legal is more than twice network.delay_ms")
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


def names(of: Schemes) -> list[tuple[str, str, str]]:
    """Queue, ECN and marker of each run."""
    return [(queue, ecn, marker) for queue in of.queue for ecn in ECN for marker in of.marker]


def core(of: Schemes, queue: str, ecn: str) -> dict[str, Any]:
    """cr's lane."""
    chosen = of.queue[queue]
    curves = of.colours if chosen.curve is None else {colour: chosen.curve for colour in network.COLOURS}
    more = curves | {"average": chosen.average, "ecn": ecn == "mark"}
    if chosen.victim:
        more["victim"] = chosen.victim
    return of.lane | {"queue": [of.lane["queue"][0] | more]}


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
    at_core = lane("cr", core(of, queue, ecn), 20 * seed + 19)
    links.append(network.link("cr", "r", net.bottleneck, net.delay_ms, at_core))
    begin = network.starts("schemes", seed, len(hosts), net.start_ms)
    clients = network.starts("schemes, short", seed, of.short.clients, net.start_ms)
    return {
        "seconds": net.seconds / shorter,
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
    cr = result["lanes"]["cr"]
    came = {colour: network.arrived(cr, colour) for colour in network.COLOURS}
    lost = {colour: network.lost(cr, colour) for colour in network.COLOURS}
    everything = sum(came.values())
    made = {colour: 100 * n / everything for colour, n in came.items()}
    made |= {f"{colour}_loss": network.loss_percent(cr, colour) for colour in came}
    made["loss"] = 100 * sum(lost.values()) / everything
    marked = sum(per[colour]["mark"] for per in cr["sources"].values() for colour in came)
    made["ce"] = 100 * marked / everything
    in_order = result["fates"]["lanes"][-1]  # cr's lane is the last of the scenario
    made["delay"] = in_order["waited_ns"] / max(1, in_order["left"]) / network.MS
    flows = [flow["received_bytes"] for flow in result["bulk"].values()]
    short = result["transactions"]["short"]
    done = short["completed"]
    made["goodput"] = 8e-6 * (sum(flows) + done * of.short.response_bytes) / seconds
    made["fairness"] = sum(flows) ** 2 / (len(flows) * sum(x * x for x in flows)) if any(flows) else 0.0
    made["short_s"] = of.short.clients * seconds / max(1, done)
    return made


def figures(of: Schemes, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    return runs.measured(results, lambda _, result: of_run(of, result, of.network.seconds / shorter))
