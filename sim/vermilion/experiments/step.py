"""DCTCP flows over a bottleneck that marks CE from K packets on (step marking, RFC 8257), on arrival or at departure: the queue, the goodput, the marks, and
whether each mark is exact to a packet. Settings: sim/experiments/compare/step.toml; pages: step_pages.

Runs are called `K.FLOWS.AT`, for instance `20.2.dequeue`. Each gives, after the warm-up,

    goodput       Mbit/s of payload that the flows received
    utilisation   bytes that the queue sent, with Ethernet headers, percent of the bottleneck's rate
    fairness      Jain's index of the flows' goodput
    depth_p1, depth_median, depth_p99   packets behind each packet as it leaves
    swing         standard deviation of that, packets
    median, p99   sojourn time, us: from a packet's arrival to its departure
    marks         ECN-capable packets that left with CE, percent
    drops         packets dropped, percent of those that arrived
    wrong         packets whose mark is not that of a step at K, of `judged`; must be 0
    judged        ECN-capable packets whose depth is known from the times alone
    last_without, first_with   packets among them with a depth of K - 1, which have no mark, and of K, which have one
"""

import itertools
from bisect import bisect_left, bisect_right
from pathlib import Path
from statistics import pstdev
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from vermilion.console.screen import Note
from vermilion.toolchain import build
from vermilion.values.fields import Rate, Strict, UserError, read_toml

from . import network, rows, rtl, runs, settings
from .rows import Above0, Count
from .settings import Tcp

FILE = build.ROOT / "sim" / "experiments" / "compare" / "step.toml"
ENGINES = ("model", "rtl")
AT = ("enqueue", "dequeue")
FIGURES = (
    *("goodput", "utilisation", "fairness", "depth_p1", "depth_median", "depth_p99", "swing", "median", "p99"),
    *("marks", "drops", "wrong", "judged", "last_without", "first_with"),
)
CE, CELL, CELL_NS = 3, 64, 4  # ECN field; bytes of the lane's beats, and the time of one
ETHERNET = 14  # bytes
DECIDES_NS, TAKEN_NS = (
    140,
    12,
)  # from a packet's last beat to its queue, at most; from the choice of a packet to its departure
LIMIT = Annotated[int, Field(ge=1, le=682)]  # full packets in the 16,384 cells of the lane's buffer
Case = tuple[int, int, str]  # K, flows, where it marks


class Network(Strict):
    link: Rate
    rtt_us: Above0
    flows: Annotated[list[Count], Field(min_length=1)]
    start_ms: Above0
    limit_packets: LIMIT


class Bottleneck(Strict):
    rate: Rate
    seconds: Above0
    warm_up_s: Above0

    @model_validator(mode="after")
    def something_counts(self) -> Self:
        if self.warm_up_s >= self.seconds:
            raise ValueError(f"has warm_up_s {self.warm_up_s:g}; legal is less than seconds, {self.seconds:g}")
        return self


class Mark(Strict):
    k: Annotated[list[Annotated[int, Field(ge=1, le=600)]], Field(min_length=1)]
    at: Annotated[list[Annotated[str, Field(pattern="^(enqueue|dequeue)$")]], Field(min_length=1)]


class OfRtl(Strict):
    k: list[Count]
    flows: list[Count]


class StepTcp(Tcp):
    congestion: Annotated[str, Field(pattern="^ns3::Tcp[A-Za-z]+$")]
    send_segments: Count
    sack: bool
    pacing: bool


class Step(Strict):
    title: str
    shows: list[str]  # of the published figures
    seeds: Annotated[list[Count], Field(min_length=1)]
    quick: rows.Quick
    network: Network
    bottleneck: Bottleneck
    mark: Mark
    rtl: OfRtl
    tcp: StepTcp

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        if 2 * self.bottleneck.rate > self.network.link:
            raise ValueError(f"has bottleneck.rate {self.bottleneck.rate}; legal is half of network.link and less")
        if max(self.mark.k) >= self.network.limit_packets:
            raise ValueError(f"has mark.k {max(self.mark.k)}; legal is below network.limit_packets")
        for name, few, every in (("k", self.rtl.k, self.mark.k), ("flows", self.rtl.flows, self.network.flows)):
            if other := set(few) - set(every):
                legal = ", ".join(map(str, every))
                raise ValueError(f"has rtl.{name} {min(other)}; legal are {legal}")
        return self


def program(engine: str, note: Note, late: bool) -> runs.Program:
    """`late`: for marks at dequeue. The RTL has a build for those queues and one for the others; the model takes all."""
    return network.program(engine, note, preset=rtl.AQM if late else rtl.PRESET)


def is_late(run: runs.Run) -> bool:
    return run.name.endswith(".dequeue")


def load(path: Path = FILE) -> Step:
    raw = read_toml(path)
    try:
        return Step.model_validate(raw)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UserError(f"{path}: {settings.sentence(first)}") from None


def cases(of: Step, engine: str = "model") -> list[Case]:
    every = itertools.product(of.mark.k, of.network.flows, of.mark.at)
    return [each for each in every if engine == "model" or (each[0] in of.rtl.k and each[1] in of.rtl.flows)]


def name(case: Case) -> str:
    return ".".join(map(str, case))


def lane(of: Step, case: Case) -> dict[str, Any]:
    """The lane's tables: one queue, with a step of marks and tail drop."""
    k, _, at = case
    step = {"curve": "red", "min": f"{k}p", "max": f"{k}p", "p": 1.0}
    queue = {"name": "all", "default": True, "limit_packets": f"{of.network.limit_packets}p", "ecn": True}
    queue |= {"mark_at": at, "average": {"weight": 1.0, "unit": "packet"}, "green": {"curve": "tail", "ecn": step}}
    return {"port": {"rate": of.bottleneck.rate}, "queue": [queue]}


def scenario(of: Step, case: Case, seed: int, shorter: int) -> dict[str, Any]:
    net, flows = of.network, case[1]
    delay = net.rtt_us / 4000  # of each of the two links of a way, ms
    bottleneck = network.link("a", "r", net.link, delay)
    made = network.lane("a", "bottleneck", lane(of, case), seed)
    bottleneck["lanes"] = [made | {"by_source": False, "sojourn": "marks"}]
    begin = network.starts(f"step {flows}", seed, flows, net.start_ms)
    return {
        "seconds": of.bottleneck.seconds / shorter,
        "count_from_ns": round(of.bottleneck.warm_up_s / shorter * network.SECOND),
        "seed": seed,
        "tcp": of.tcp.model_dump() | {"ecn": True},
        "links": [network.link("s", "a", net.link, delay), bottleneck],
        "bulk": [
            {"name": f"flow{i + 1}", "from": "s", "to": "r", "start_ns": time, "write_bytes": of.tcp.segment_bytes}
            for i, time in enumerate(begin)
        ],
    }


def planned(of: Step, seeds: list[int], shorter: int, engine: str = "model") -> list[runs.Run]:
    weight = of.bottleneck.rate * of.bottleneck.seconds / shorter / 1e8
    return [
        runs.Run(name(case), n, scenario(of, case, n, shorter), weight)
        for n, case in itertools.product(seeds, cases(of, engine))
    ]


def depths(every: list[list[int]], at: str) -> list[int | None]:
    """Packets that are queued behind each packet as it is taken, or before it as it comes; None where the times do not tell.

    `every`: of each packet, in the order in which they leave, the time at which its first beat came, at which it departed, its bytes, and its ECN
    fields. Its last beat comes 4 ns later for each 64 bytes. Within `DECIDES_NS` after that the lane looks its queue up, decides and queues it, so an
    event in that time is not told apart from it. It is taken `TAKEN_NS` before it departs. What was queued before the first packet of the list left, or is
    still queued after the last one, is not in the list."""
    whole = [-(-came // CELL_NS) * CELL_NS + -(-size // CELL) * CELL_NS for came, _, size, *_ in every]
    gone = [left for _, left, *_ in every]
    if at == "enqueue":
        known = [came >= gone[0] for came, *_ in every]
        bounds = [(bisect_left(gone, time), bisect_right(gone, time + DECIDES_NS)) for time in whole]
        return [
            i - low if low == high and told else None
            for i, ((low, high), told) in enumerate(zip(bounds, known, strict=True))
        ]
    taken = [left - TAKEN_NS for left in gone]
    bounds = [(bisect_left(whole, time - DECIDES_NS), bisect_right(whole, time)) for time in taken]
    return [
        low - i - 1 if low == high and time < whole[-1] else None
        for i, ((low, high), time) in enumerate(zip(bounds, taken, strict=True))
    ]


def percentile(numbers: list[int], percent: int) -> float:
    """The least number that so many percent do not exceed."""
    return sorted(numbers)[-(-len(numbers) * percent // 100) - 1]


def of_run(of: Step, name_: str, result: runs.Result, shorter: int) -> dict[str, float]:
    k_text, _, at = name_.split(".")
    k, seconds = int(k_text), (of.bottleneck.seconds - of.bottleneck.warm_up_s) / shorter
    counted = result["lanes"]["bottleneck"]
    sojourn, queue = counted["sojourn"], counted["queues"]["0"]
    every = sojourn["every"]
    flows = [flow["counted_bytes"] for flow in result["bulk"].values()]
    behind = [depth for depth in depths(every, "dequeue") if depth is not None]
    able = [
        (depth, left == CE)
        for depth, (*_, came, left) in zip(depths(every, at), every, strict=True)
        if came and depth is not None
    ]
    capable = [left == CE for *_, came, left in every if came]
    return {
        "goodput": 8e-6 * sum(flows) / seconds,
        "utilisation": 800 * sojourn["bytes"] / seconds / of.bottleneck.rate,
        "fairness": sum(flows) ** 2 / (len(flows) * sum(x * x for x in flows)) if any(flows) else 0.0,
        "depth_p1": percentile(behind, 1),
        "depth_median": percentile(behind, 50),
        "depth_p99": percentile(behind, 99),
        "swing": pstdev(behind),
        "median": sojourn["median_ns"] / 1000,
        "p99": sojourn["p99_ns"] / 1000,
        "marks": 100 * sum(capable) / max(1, len(capable)),
        "drops": 100 * queue["lost"] / max(1, sum(queue["ecn"])),
        "wrong": sum(marked != (depth >= k) for depth, marked in able),
        "judged": len(able),
        "last_without": sum(depth == k - 1 and not marked for depth, marked in able),
        "first_with": sum(depth == k and marked for depth, marked in able),
    }


def figures(of: Step, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    return runs.measured(results, lambda each, result: of_run(of, each, result, shorter))


def faults(measured: runs.Figures, names: list[str]) -> list[str]:
    """What does not hold: a sentence for each run whose marks are not those of a step that is exact to a packet."""
    out = []
    for each in names:
        wrong, judged = sum(measured[f"{each}.wrong"]), sum(measured[f"{each}.judged"])
        if wrong or not judged:
            out.append(f"{each}: {wrong:g} of {judged:g} packets have another mark than that of a step")
        elif not sum(measured[f"{each}.last_without"]) or not sum(measured[f"{each}.first_with"]):
            out.append(f"{each}: no packet met the step, with K - 1 or with K")
    return out
