"""A DCTCP flow in L beside a classic flow in C of a lane's DualPI2 pair: do both have a fair rate, is L's delay low, is C never starved?

Settings: sim/experiments/compare/l4s.toml; pages: l4s_pages. Runs are called `RATE.RTT.CLASSIC.QUEUE`, for instance `12.20.cubic.dualpi2`: Mbit/s, ms, the
flow in C, and the queue:

    dualpi2   the pair with its settings
    pie       one queue with PIE and ECN for both flows, the counter-example
    kN        the pair with coupling N
    nostep    the pair whose L marks by the coupled probability alone
    bursts    the pair, with senders that are not paced
    equal     the pair; the scalable flow's base round trip is longer by the target, which is about C's delay
    drop, mark   the pair under UDP with ECT(1) at more than the bottleneck's rate in L, with that `overload`

Each run gives, after the warm-up,

    scalable, classic   Mbit/s of payload that the flow's receiver got; of frames sent for UDP
    ratio               scalable over classic
    utilisation         bytes that the lane sent, with Ethernet headers, percent of the bottleneck's rate
    share               bytes that C sent, percent of what both sent; with one queue, of the classic flow's rate
    l_median, l_p95, l_p99, l_mean, and those of c    sojourn times of packets that were sent, ms; with one queue both are its own
    l_marks, c_marks, l_drops, c_drops                packets marked CE, and lost, percent of those that arrived at L or C

and, with p_L and p_C the shares of L's and C's packets that were marked or lost, W windows in segments (rate times round trip), R mean round trips,

    l_gain     W p_L: 2 for DCTCP where marks are random
    c_gain     W sqrt(p_C): 1.22 for Reno, 1.68 for Cubic in Reno's mode (both from the PI2 paper, section 3)
    coupled    p_L / (k sqrt(p_C)): 1 if all marks and drops followed one base probability that is constant
    trips      R of the classic flow over R of the scalable one

so that ratio = l_gain / c_gain / (k coupled) trips.
"""

import itertools
import math
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, model_validator

from vermilion.console.screen import Note
from vermilion.toolchain import build
from vermilion.values.fields import Rate, Strict, UserError, read_toml

from . import network, rows, runs, settings
from .rows import Above0, Count
from .settings import Tcp

FILE = build.ROOT / "sim" / "experiments" / "compare" / "l4s.toml"
FIGURES = (
    *("scalable", "classic", "ratio", "utilisation", "share"),
    *(f"{queue}_{what}" for queue in "lc" for what in ("median", "p95", "p99", "mean", "marks", "drops")),
    *("l_gain", "c_gain", "coupled", "trips"),
)
MTU, ETHERNET = 1500, 14  # bytes of IPv4 in a full packet; addresses and type
ECT1 = 1  # ECN field (RFC 9331)
OVERLOADS = ("drop", "mark")
LIMIT = Annotated[int, Field(ge=1, le=682)]  # full packets in the 16,384 cells of the lane's buffer
Case = tuple[str, float, str, str]  # rate, round trip, classic flow, queue


class Network(Strict):
    link: Rate
    rtt_ms: Annotated[list[Above0], Field(min_length=1)]
    few_rtt_ms: Annotated[list[Above0], Field(min_length=1)]
    start_ms: Above0
    least_rounds: Count


class Bottleneck(Strict):
    bottleneck: Rate
    seconds: Above0
    warm_up_s: Above0

    @model_validator(mode="after")
    def something_counts(self) -> Self:
        if self.warm_up_s >= self.seconds:
            raise ValueError(f"has warm_up_s {self.warm_up_s:g}; legal is less than seconds, {self.seconds:g}")
        return self


class L4sTcp(Tcp):
    congestion: Annotated[str, Field(pattern="^ns3::Tcp[A-Za-z]+$")]
    send_segments: Count
    sack: bool
    pacing: bool


class Classic(Strict):
    congestion: Annotated[str, Field(pattern="^ns3::Tcp[A-Za-z]+$")]
    ecn: bool = False


class Pair(Strict):
    target_ms: Annotated[float, Field(ge=0.002, le=4000)]
    tupdate_ms: Annotated[float, Field(ge=0.07, le=1000)]
    alpha: Annotated[float, Field(ge=0, le=255)]
    beta: Annotated[float, Field(ge=0, le=255)]
    coupling: Annotated[int, Field(ge=1, le=255)]
    step_ms: Annotated[float, Field(ge=0.001, le=4000)]
    step_packets: Annotated[int, Field(ge=0, le=100)]
    limit_packets: Annotated[list[LIMIT], Field(min_length=2, max_length=2)]


class Pie(Strict):
    target_ms: Annotated[float, Field(ge=0.002, le=4000)]
    tupdate_ms: Annotated[float, Field(ge=0.07, le=1000)]
    limit_packets: LIMIT


class Overload(Strict):
    rtt_ms: Above0
    scalable: Annotated[float, Field(gt=1, le=10)]
    classic: Annotated[float, Field(gt=0, le=10)]
    payload_bytes: Annotated[int, Field(ge=18, le=1472)]
    shorter: Count


class Check(Strict):
    rates: list[str]
    rtt_ms: Annotated[list[Above0], Field(min_length=1)]
    coupling: list[Annotated[int, Field(ge=1, le=255)]]


class Targets(Strict):
    ratio: Annotated[float, Field(ge=1)]
    above: Rate
    median_ms: Above0
    p99_ms: Above0
    share: Annotated[float, Field(gt=0, lt=100)]


class L4s(Strict):
    title: str
    shows: list[str]  # of the published figures
    reasons: list[str]  # why targets are missed
    beside: list[str]  # what the PI2 paper and RFC 9332 say, and ours
    seeds: Annotated[list[Count], Field(min_length=1)]
    quick: rows.Quick
    network: Network
    rate: Annotated[dict[str, Bottleneck], Field(min_length=1)]
    tcp: L4sTcp
    classic: Annotated[dict[Annotated[str, Field(pattern="^[a-z0-9-]+$")], Classic], Field(min_length=1)]
    pair: Pair
    pie: Pie
    overload: Overload
    check: Check
    targets: Targets

    @model_validator(mode="after")
    def fields_fit_each_other(self) -> Self:
        for name, rate in self.rate.items():
            if 2 * rate.bottleneck > self.network.link:
                raise ValueError(
                    f"has rate.{name}.bottleneck {rate.bottleneck}; legal is half of network.link and less"
                )
        if other := set(self.check.rates) - set(self.rate):
            raise ValueError(f"has check.rates {min(other)}; legal are those of rate, {', '.join(self.rate)}")
        given = {"network.few_rtt_ms": self.network.few_rtt_ms, "check.rtt_ms": self.check.rtt_ms}
        for name, numbers in given.items():
            if few := set(numbers) - set(self.network.rtt_ms):
                legal = ", ".join(f"{x:g}" for x in self.network.rtt_ms)
                raise ValueError(f"has {name} {min(few):g}; legal are those of network.rtt_ms, {legal}")
        if "udp" in self.classic:
            raise ValueError("has classic.udp; legal is any other name, udp is the flow of overload")
        return self


def program(note: Note) -> runs.Program:
    return network.program("model", note)


def load(path: Path = FILE) -> L4s:
    raw = read_toml(path)
    try:
        return L4s.model_validate(raw)
    except ValidationError as error:
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UserError(f"{path}: {settings.sentence(first)}") from None


def grid(of: L4s, classic: str, queue: str) -> list[Case]:
    """The cases of a classic flow and a queue."""
    rates, trips = list(of.rate), of.network.few_rtt_ms
    if queue in checks(of):
        rates, trips = of.check.rates, of.check.rtt_ms
    elif queue in OVERLOADS:
        trips = [of.overload.rtt_ms]
    elif queue == "dualpi2" and classic == next(iter(of.classic)):
        trips = of.network.rtt_ms
    return [(rate, rtt, classic, queue) for rate in rates for rtt in trips]


def checks(of: L4s) -> list[str]:
    return [*(f"k{k}" for k in of.check.coupling), "nostep", "bursts", "equal"]


def cases(of: L4s) -> list[Case]:
    first = next(iter(of.classic))
    pairs = [(classic, "dualpi2") for classic in of.classic]
    pairs += [(first, queue) for queue in ("pie", *checks(of))]
    pairs += itertools.product((first, "udp"), OVERLOADS)
    return [case for pair in pairs for case in grid(of, *pair)]


def name(case: Case) -> str:
    rate, rtt, *more = case
    return ".".join([rate, f"{rtt:g}", *more])


def lasts(of: L4s, case: Case, shorter: int) -> tuple[float, float]:
    """Warm-up and all of a run, s. DCTCP's window grows by one segment in a round trip, so long round trips need more time."""
    shorter *= of.overload.shorter if case[3] in OVERLOADS else 1
    rounds, at = of.network.least_rounds * case[1] / 1000, of.rate[case[0]]
    return max(at.warm_up_s, rounds / 2) / shorter, max(at.seconds, rounds) / shorter


def ns(ms: float) -> str:
    return f"{round(ms * network.MS)}ns"


def step_ms(of: L4s, rate: int) -> float:
    """L's step: a packet that waits for a few others on a slow link is not marked for that."""
    return max(of.pair.step_ms, of.pair.step_packets * (MTU + ETHERNET) * 8e3 / rate)


def coupling(of: L4s, queue: str) -> int:
    return int(queue[1:]) if queue[0] == "k" else of.pair.coupling


def lane(of: L4s, rate: int, queue: str) -> dict[str, Any]:
    """The lane's tables: C and L, or one queue for both."""
    if queue == "pie":
        pie = {
            "target": ns(of.pie.target_ms),
            "tupdate": ns(of.pie.tupdate_ms),
            "limit_packets": f"{of.pie.limit_packets}p",
        }
        return {"port": {"rate": rate}, "queue": [{"name": "both", "default": True, "aqm": "pie", "ecn": True} | pie]}
    limits = [f"{packets}p" for packets in of.pair.limit_packets]
    c: dict[str, Any] = {
        "target": ns(of.pair.target_ms),
        "tupdate": ns(of.pair.tupdate_ms),
        "coupling": coupling(of, queue),
    }
    c |= {"dualpi2_alpha": of.pair.alpha, "dualpi2_beta": of.pair.beta, "limit_packets": limits[0]}
    c |= {"step_threshold": "4s" if queue == "nostep" else ns(step_ms(of, rate))}
    c |= {"overload": queue} if queue in OVERLOADS else {}
    both: list[dict[str, Any]] = [{"name": "c", "default": True} | c, {"name": "l", "limit_packets": limits[1]}]
    return {"port": {"rate": rate}, "queue": [each | {"aqm": "dualpi2"} for each in both]}


def udp(of: L4s, flow: str, to: str, share: float, ecn: int, rate: int, start: int) -> dict[str, Any]:
    """A constant rate, a share of the bottleneck's."""
    payload = of.overload.payload_bytes
    frame = payload + 28 + ETHERNET
    interval = round(frame * 8 * network.SECOND / (share * rate))
    made = {"name": flow, "from": flow[0], "to": to, "dscp": 0, "ecn": ecn, "payload_bytes": payload}
    return made | {"interval_ns": interval, "start_ns": start}


def scenario(of: L4s, case: Case, seed: int, shorter: int) -> dict[str, Any]:
    rate, rtt, classic, queue = case
    net, at = of.network, of.rate[rate]
    delay = rtt / 4  # of each of the two links of a way
    longer = of.pair.target_ms / 2 if queue == "equal" else 0.0
    bottleneck = network.link("a", "r", net.link, delay)
    made = network.lane("a", "bottleneck", lane(of, at.bottleneck, queue), seed)
    bottleneck["lanes"] = [made | {"sojourn": "summary"}]
    begin = network.starts("l4s", seed, 2, net.start_ms)
    ends = {"scalable": ("s", "r"), "classic": ("c", "y")}
    nodes = dict.fromkeys(ends["scalable"], {"congestion": of.tcp.congestion})
    flows: dict[str, list[dict[str, Any]]] = {"udp": [], "bulk": []}
    for (flow, (source, sink)), start in zip(ends.items(), begin, strict=True):
        if flow == "scalable" and queue in OVERLOADS:
            flows["udp"].append(udp(of, flow, sink, of.overload.scalable, ECT1, at.bottleneck, start))
        elif flow == "classic" and classic == "udp":
            flows["udp"].append(udp(of, flow, sink, of.overload.classic, 0, at.bottleneck, start))
        else:
            bulk = {"name": flow, "from": source, "to": sink, "start_ns": start}
            flows["bulk"].append(bulk | {"write_bytes": of.tcp.segment_bytes})
    if classic != "udp":
        nodes |= dict.fromkeys(ends["classic"], {"congestion": of.classic[classic].congestion})
    ecn = classic != "udp" and of.classic[classic].ecn
    warm_up, seconds = lasts(of, case, shorter)
    return {
        "seconds": seconds,
        "count_from_ns": round(warm_up * network.SECOND),
        "seed": seed,
        "tcp": of.tcp.model_dump()
        | {"ecn": ecn, "dctcp_ect1": True}
        | ({"pacing": False} if queue == "bursts" else {}),
        "nodes": nodes,
        "links": [
            network.link("s", "a", net.link, delay + longer),
            network.link("c", "a", net.link, delay),
            bottleneck,
            network.link("r", "y", net.link, 0),
        ],
        **flows,
    }


def planned(of: L4s, seeds: list[int], shorter: int) -> list[runs.Run]:
    made = []
    for n, case in itertools.product(seeds, cases(of)):
        weight = of.rate[case[0]].bottleneck * lasts(of, case, shorter)[1] / 2e8
        made.append(runs.Run(name(case), n, scenario(of, case, n, shorter), weight))
    return made


NOTHING: dict[str, Any] = {"ecn": [0] * 4, "lost": 0, "ce": 0, "left": 0, "left_bytes": 0, "sojourn": {}}


def queues(queue: str, result: runs.Result) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the lane counted of L and C; of the one queue twice."""
    counted = result["lanes"]["bottleneck"]["queues"]
    c = counted.get("0", NOTHING)
    return (c if queue == "pie" else counted.get("1", NOTHING)), c


def of_queue(letter: str, counted: dict[str, Any]) -> dict[str, float]:
    arrived = max(1, sum(counted["ecn"]))
    made = {"marks": 100 * counted["ce"] / arrived, "drops": 100 * counted["lost"] / arrived}
    for what in ("median", "p95", "p99", "mean"):
        made[what] = counted["sojourn"].get(f"{what}_ns", math.nan) / network.MS
    return {f"{letter}_{what}": number for what, number in made.items()}


def over(a: float, b: float) -> float:
    return a / b if b else math.nan


def of_run(of: L4s, name_: str, result: runs.Result, shorter: int) -> dict[str, float]:
    rate, rtt_text, classic, queue = name_.split(".")
    at, rtt = of.rate[rate], float(rtt_text)
    warm_up, end = lasts(of, (rate, rtt, classic, queue), shorter)
    seconds = end - warm_up
    low, c = queues(queue, result)
    sent = result["lanes"]["bottleneck"]["sojourn"]["bytes"]
    frames = {"scalable": low["left_bytes"], "classic": c["left_bytes"]}  # of UDP, which has a queue to itself
    bulk = {flow: each["counted_bytes"] for flow, each in result.get("bulk", {}).items()}
    made = {flow: 8e-6 * bulk.get(flow, frames[flow]) / seconds for flow in frames}
    made["ratio"] = over(made["scalable"], made["classic"])
    made["utilisation"] = 800 * sent / seconds / at.bottleneck
    both = (made["classic"], made["scalable"]) if queue == "pie" else (frames["classic"], frames["scalable"])
    made["share"] = 100 * over(both[0], sum(both))
    made |= of_queue("l", low) | of_queue("c", c)
    p_l, root = (made["l_marks"] + made["l_drops"]) / 100, math.sqrt((made["c_marks"] + made["c_drops"]) / 100)
    trip_l = rtt + made["l_mean"] + of.pair.target_ms * (queue == "equal")
    trip_c = rtt + made["c_mean"]
    segment = 8e-3 * of.tcp.segment_bytes  # Mbit/s for one segment each ms
    flows = 1 if queue not in OVERLOADS else math.nan  # UDP has no window
    made["l_gain"] = flows * made["scalable"] * trip_l / segment * p_l
    made["c_gain"] = flows * made["classic"] * trip_c / segment * root
    made["coupled"] = over(p_l, coupling(of, queue) * root)
    made["trips"] = over(trip_c, trip_l)
    return made


def figures(of: L4s, results: runs.Results, shorter: int) -> runs.Figures:
    return runs.measured(results, lambda each, result: of_run(of, each, result, shorter))
