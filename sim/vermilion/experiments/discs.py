"""AQMs that a lane and ns-3 both have, from the same settings: the fields of a lane's queue, ns-3's queue disc as sim/experiments/ns3/scenario.h has it,
and what either of them counted. ns-3's discs ignore colours."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from vermilion.values.fields import Strict

from . import network, runs

MTU, ETHERNET = 1500, 14  # bytes of IPv4 in a full packet; addresses and type
KINDS = {"tail": "Fifo", "red": "Red", "gentle": "Red", "pie": "Pie", "codel": "CoDel", "fq-codel": "FqCoDel"}
BOTH = ("tail", "red", "gentle", "pie", "codel")  # of which a queue of a lane has the same


class Pie(Strict):
    target_ms: Annotated[float, Field(ge=0.002, le=4000)]
    tupdate_ms: Annotated[float, Field(ge=0.07, le=1000)]
    alpha: Annotated[float, Field(ge=0, le=3)]
    beta: Annotated[float, Field(ge=0, le=3)]
    burst_ms: Annotated[float, Field(ge=0.002, le=4000)]


class Codel(Strict):
    target_ms: Annotated[float, Field(ge=0.002, le=60000)]
    interval_ms: Annotated[float, Field(ge=0.002, le=60000)]


@dataclass(frozen=True)
class Red:
    """In packets of `frame` bytes with their Ethernet header."""

    min: int
    max: int
    p: float
    weight: float
    frame: int


def ns(ms: float) -> str:
    return f"{round(ms * network.MS)}ns"


def fields(aqm: Pie | Codel) -> dict[str, Any]:
    """Of a lane's queue."""
    made: dict[str, Any] = {"target": ns(aqm.target_ms)}
    if isinstance(aqm, Codel):
        return {"aqm": "codel"} | made | {"interval": ns(aqm.interval_ms)}
    made |= {"tupdate": ns(aqm.tupdate_ms), "burst_allowance": ns(aqm.burst_ms)}
    return {"aqm": "pie"} | made | {"pie_alpha": aqm.alpha, "pie_beta": aqm.beta}


def attributes(queue: str, rate: int, ecn: bool, red: Red | None, pie: Pie, codel: Codel) -> dict[str, object]:
    """Of ns-3's disc, besides its limit. `red`: of red and gentle."""
    if queue == "tail":
        return {}
    made: dict[str, object] = {"UseEcn": str(ecn).lower()}
    if red and queue in ("red", "gentle"):
        made |= {"MinTh": red.min, "MaxTh": red.max, "LInterm": 1 / red.p, "QW": red.weight}
        made |= {"Gentle": str(queue == "gentle").lower(), "Wait": "true"}
        return made | {"MeanPktSize": red.frame, "LinkBandwidth": f"{rate}bps"}
    if queue == "pie":
        made |= {"QueueDelayReference": f"{pie.target_ms}ms", "Tupdate": f"{pie.tupdate_ms}ms"}
        made |= {"A": pie.alpha, "B": pie.beta, "MaxBurstAllowance": f"{pie.burst_ms}ms", "MeanPktSize": MTU}
        # It does not clear the accumulated probability after a mark, and would mark every packet once that exceeds 8.5.
        return made | {"UseDerandomization": str(not ecn).lower()}
    made |= {"Target": f"{codel.target_ms}ms", "Interval": f"{codel.interval_ms}ms"}
    # Nothing is dropped while at most one packet is queued behind, as in Linux and here; ns-3 compares with "less".
    return made | ({"MinBytes": MTU + 1} if queue == "codel" else {})


def disc(queue: str, rate: int, limit: int, ecn: bool, red: Red | None, pie: Pie, codel: Codel) -> dict[str, Any]:
    """ns-3's, with a limit in packets, as scenario.h has it."""
    more = attributes(queue, rate, ecn, red, pie, codel) | {"MaxSize": f"{limit}p"}
    made: dict[str, Any] = {"kind": f"ns3::{KINDS[queue]}QueueDisc", "rate": rate, "quantum": MTU}
    return made | {"attributes": {k: str(v) for k, v in more.items()}}


def counts(result: runs.Result, name: str = "bottleneck") -> tuple[int, int, int]:
    """Packets that arrived at a lane or disc, that it dropped, and that it marked."""
    if name in result.get("discs", {}):
        told = result["discs"][name]
        return told["arrived"], told["dropped"], told["marked"]
    lane = result["lanes"][name]
    arrived = sum(network.arrived(lane, colour) for colour in network.COLOURS)
    lost = sum(network.lost(lane, colour) for colour in network.COLOURS)
    per_source = lane.get("sources", {}).values()
    return arrived, lost, sum(per[colour]["ce"] for per in per_source for colour in network.COLOURS)


def sojourn(result: runs.Result, name: str = "bottleneck") -> dict[str, Any]:
    """Of a lane or disc whose scenario asked for it."""
    made: dict[str, Any] = (result.get("discs", {}).get(name) or result["lanes"][name])["sojourn"]
    return made


def fairness(flows: list[int]) -> float:
    """Jain's index of the flows' bytes: (sum x)^2 / (n sum x^2), 1 where all have the same."""
    return sum(flows) ** 2 / (len(flows) * sum(x * x for x in flows)) if any(flows) else 0.0
