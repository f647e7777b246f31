"""P3: RED and DDRED on a bus of routers, on a flower of loops, and between two flows of unequal length.

Runs are called `bus.SET.SCHEME`, `flower.SET.SCHEME` and `two.SET.LATENCY.SCHEME`, SET the thresholds. Bus and flower give `lost` (packets, evicted ones too),
`slots` (wasted hops: sum of distance times losses), `late` (transfers without an end) and `time` (sum of transfer times, s; nan where one is late);
`NETWORK.SET.lost_change`, `slots_change` and `time_change` are DDRED's against RED's, seed by seed, percent. The two flows give `long` and `short`
(KB/s), `ratio` and `unfair`, |ln(ratio)|.
"""

import math
import random
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from . import drawing, network, runs, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ENGINES = ("model",)
NETWORKS = ("bus", "flower")
SCHEMES = ("red", "ddred")
INK = {"red": "#d2603a", "ddred": "#2e9e43"}
CELLS = 16384  # of each lane's buffer: 1 MiB, far more than its limit in packets
HISTORY_MS = 20.0  # latency of the run in figure 12
ENDLESS = 10**12
MOST_NAMED = 8  # seeds under an axis
TICKS = (0.03, 0.1, 0.3, 1, 3, 10, 30)  # of the ratio in figure 13
EFFORT, EFFORT_TWO = 0.027, 0.06  # processor seconds of a hop of a megabyte, and of a second of the two flows
program = network.program


def lane_tables(of: settings.Ddred, thresholds: str, scheme: str) -> dict[str, Any]:
    bound = of.thresholds[thresholds]
    curve = {"curve": "gentle", "min": f"{bound.min}p", "max": f"{bound.max}p", "p": bound.p}
    more = {colour: curve for colour in network.COLOURS} | {"limit_packets": f"{bound.limit}p"}
    return of.lane | {"queue": [of.lane["queue"][0] | more | {"victim": of.scheme[scheme]}]}


class Routers:
    """Links between routers and workstations; each port of a router has a lane with a seed of its own."""

    def __init__(self, of: settings.Ddred, thresholds: str, scheme: str, seed: int) -> None:
        self.of, self.seed = of, seed
        self.links: list[dict[str, Any]] = []
        self.record: dict[str, Any] = network.lane("", "", lane_tables(of, thresholds, scheme), 1)["lane"] | {
            "buffer_cells": CELLS
        }

    def lane(self, at: str, to: str) -> dict[str, Any]:
        number = 2 * len(self.links) + (1 if at < to else 2)
        record = self.record | {"seed": 1000 * self.seed + number}
        return {"at": at, "name": f"{at}-{to}", "lane": record, "by_source": False}

    def join(self, a: str, b: str, delay_ms: float | None = None) -> None:
        """`a` is a router, `b` a router or a workstation, whose name begins with h."""
        lanes = [self.lane(a, b)] + ([] if b.startswith("h") else [self.lane(b, a)])
        net = self.of.network
        self.links.append(network.link(a, b, net.link, net.delay_ms if delay_ms is None else delay_ms, *lanes))


def bus(of: settings.Ddred, routers: Routers) -> list[str]:
    """Links of the bus; gives its workstations."""
    count = of.bus.routers
    for i in range(count):
        routers.join(f"r{i}", f"h{i}")
        if i + 1 < count:
            routers.join(f"r{i}", f"r{i + 1}")
    return [f"h{i}" for i in range(count)]


def flower(of: settings.Ddred, routers: Routers) -> list[str]:
    """Each loop begins and ends at the centre, which has no workstation."""
    hosts = []
    for loop in range(of.flower.loops):
        before = "centre"
        for i in range(of.flower.loop_routers):
            router, host = f"r{loop}.{i}", f"h{loop}.{i}"
            routers.join(before, router)
            routers.join(router, host)
            hosts.append(host)
            before = router
        routers.join(before, "centre")
    return hosts


def many(of: settings.Ddred, where: str, thresholds: str, scheme: str, seed: int, shorter: int) -> dict[str, Any]:
    routers = Routers(of, thresholds, scheme, seed)
    hosts = {"bus": bus, "flower": flower}[where](of, routers)
    draw, load = random.Random(f"{where} {seed}"), getattr(of, where)
    transfers = []
    for i in range(max(1, load.transfers // shorter)):
        sender, receiver = draw.sample(hosts, 2)
        size = draw.randint(load.least_bytes, load.most_bytes)
        start = round(draw.uniform(0, load.within_s / shorter) * network.SECOND)
        transfers.append({"name": f"{i}", "from": sender, "to": receiver, "bytes": [size], "start_ns": [start]})
    return {"seconds": of.network.end_s, "tcp": of.tcp.model_dump(), "links": routers.links, "transfers": transfers}


def two(of: settings.Ddred, latency: float, thresholds: str, scheme: str, seed: int) -> dict[str, Any]:
    """PCs1 and PCs2 to PCd, of the same length in quick runs, too: they take half a second."""
    routers = Routers(of, thresholds, scheme, seed)
    routers.join("r1", "hs1", latency)
    routers.join("r2", "hs2")
    routers.join("r1", "r2")
    routers.join("r2", "hd")
    flow = {"to": "hd", "bytes": [ENDLESS], "start_ns": [0]}
    made: dict[str, Any] = {"seconds": of.two.seconds, "sample_ns": round(of.two.sample_ms * network.MS)}
    made |= {"tcp": of.tcp.model_dump(), "links": routers.links}
    return made | {"transfers": [{"name": "long", "from": "hs1", **flow}, {"name": "short", "from": "hs2", **flow}]}


def planned(of: settings.Ddred, seeds: list[int], shorter: int) -> list[runs.Run]:
    out = []
    for thresholds in of.thresholds:
        for scheme in of.scheme:
            for n in seeds:
                for where, hops in (("bus", 5), ("flower", 7)):
                    asked = many(of, where, thresholds, scheme, n, shorter)
                    effort = EFFORT * hops * sum(each["bytes"][0] for each in asked["transfers"]) / 1e6
                    out.append(runs.Run(f"{where}.{thresholds}.{scheme}", n, asked, effort))
                for latency in of.two.latency_ms:
                    asked = two(of, latency, thresholds, scheme, n)
                    out.append(
                        runs.Run(f"two.{thresholds}.{latency:g}.{scheme}", n, asked, EFFORT_TWO * of.two.seconds)
                    )
    return out


def of_many(result: runs.Result) -> dict[str, float]:
    lost = [(int(hops), n) for lane in result["lanes"].values() for hops, n in lane.get("lost_distance", {}).items()]
    took = [each["took_ns"][0] for each in result["transfers"].values()]
    return {
        "lost": float(sum(n for _, n in lost)),
        "slots": float(sum(hops * n for hops, n in lost)),
        "time": sum(took) / network.SECOND if all(took) else math.nan,
        "late": float(took.count(0)),
    }


def of_two(result: runs.Result, seconds: float) -> dict[str, float]:
    rate = {name: each["received_bytes"] / seconds / 1000 for name, each in result["transfers"].items()}
    ratio = max(rate["long"], 1e-3) / max(rate["short"], 1e-3)
    return rate | {"ratio": ratio, "unfair": abs(math.log(ratio))}


def figures(of: settings.Ddred, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    of_run = lambda name, result: of_two(result, of.two.seconds) if name.startswith("two.") else of_many(result)
    out = runs.measured(results, of_run)
    for where in NETWORKS:
        for thresholds in of.thresholds:
            pair = [f"{where}.{thresholds}.{scheme}" for scheme in SCHEMES]
            if not all(name in results for name in pair):
                continue
            for what in ("lost", "slots", "time"):
                both = zip(*(out[f"{name}.{what}"] for name in pair), strict=True)
                out[f"{where}.{thresholds}.{what}_change"] = [100 * (b / a - 1) if a else math.nan for a, b in both]
    return out


def panels(figure: "Figure", of: settings.Ddred) -> "Iterator[tuple[Axes, str]]":
    """An axis for each set of thresholds, which is its title."""
    axes = figure.subplots(1, len(of.thresholds), squeeze=False)[0]
    for axis, (name, bound) in zip(axes, of.thresholds.items(), strict=False):
        axis.set_title(f"{bound.min} / {bound.max} of {bound.limit} packets")
        yield axis, name


def by_seed(
    of: settings.Ddred, measured: runs.Figures, results: runs.Results, where: str, what: str, label: str
) -> drawing.Draw:
    """A pair of bars for each seed, a panel for each set of thresholds; of many seeds some are named."""

    def draw(figure: "Figure") -> None:
        for axis, thresholds in panels(figure, of):
            for offset, scheme in ((-0.2, "red"), (0.2, "ddred")):
                numbers = measured[f"{where}.{thresholds}.{scheme}.{what}"]
                at = [i + 1 + offset for i in range(len(numbers))]
                axis.bar(at, numbers, 0.4, color=INK[scheme], label=scheme.upper())
            seeds = sorted(results[f"{where}.{thresholds}.red"])
            every = -(-len(seeds) // MOST_NAMED)
            axis.set_xticks(range(1, len(seeds) + 1, every), [str(n) for n in seeds[::every]])
            axis.margins(y=0.3)  # room for the legend
            axis.set(xlabel="seed", ylabel=label)
        axis.legend()

    return draw


def figure_4(of: settings.Ddred, results: runs.Results) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        for axis, thresholds in panels(figure, of):
            for scheme in SCHEMES:
                runs_ = results[f"bus.{thresholds}.{scheme}"]
                lost: dict[int, int] = {}
                for lane in runs_[min(runs_)]["lanes"].values():
                    for hops, n in lane.get("lost_distance", {}).items():
                        lost[int(hops)] = lost.get(int(hops), 0) + n
                at = range(1, of.bus.routers + 1)
                axis.plot(at, [lost.get(d, 0) for d in at], "o-", color=INK[scheme], label=scheme.upper())
            axis.set(xlabel="distance", ylabel="lost")
        axis.legend()

    return draw


def figure_11(of: settings.Ddred, results: runs.Results) -> drawing.Draw:
    """Every transfer of the first seed: time with RED less time with DDRED, sorted."""

    def draw(figure: "Figure") -> None:
        for axis, thresholds in panels(figure, of):
            took = []
            for scheme in SCHEMES:
                runs_ = results[f"flower.{thresholds}.{scheme}"]
                took.append({n: each["took_ns"][0] for n, each in runs_[min(runs_)]["transfers"].items()})
            ended = [n for n in took[0] if took[0][n] and took[1][n]]
            gains = sorted(((took[0][n] - took[1][n]) / network.SECOND for n in ended), reverse=True)
            colours = [INK["ddred" if gain > 0 else "red"] for gain in gains]
            axis.bar(range(len(gains)), gains, 1.0, color=colours)
            better = [gain for gain in gains if gain > 0]
            worse = [gain for gain in gains if gain < 0]
            title = f"{len(better)} faster by {sum(better):.0f} s, {len(worse)} slower by {-sum(worse):.0f} s"
            axis.set(title=f"{axis.get_title()}\n{title}", xlabel="transfer", ylabel="s saved by DDRED")

    return draw


def figure_12(of: settings.Ddred, results: runs.Results) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        for axis, thresholds in panels(figure, of):
            runs_ = results[f"two.{thresholds}.{HISTORY_MS:g}.ddred"]
            for name, ink in (("long", "#2f6fb2"), ("short", "#c99300")):
                total = [0, *runs_[min(runs_)]["transfers"][name]["samples"]]
                rate = [(b - a) / of.two.sample_ms for a, b in pairwise(total)]
                time = [(i + 0.5) * of.two.sample_ms / 1000 for i in range(len(rate))]
                axis.plot(time, rate, color=ink, label=f"{name} connection")
            axis.set(xlabel="time, s", ylabel="KB/s")
        axis.legend()

    return draw


def figure_13(of: settings.Ddred, measured: runs.Figures) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        for axis, thresholds in panels(figure, of):
            for scheme in SCHEMES:
                numbers = [measured[f"two.{thresholds}.{ms:g}.{scheme}.ratio"] for ms in of.two.latency_ms]
                middle = [math.exp(sum(map(math.log, each)) / len(each)) for each in numbers]
                spread = drawing.reach(middle, numbers)
                axis.errorbar(of.two.latency_ms, middle, yerr=spread, fmt="o-", color=INK[scheme], label=scheme.upper())
            axis.axhline(1, color="#888888", linewidth=0.7)
            axis.set(xlabel="latency of PCs1's link, ms")
            axis.set(xscale="log", yscale="log", ylabel="PCs1 / PCs2", ylim=(0.02, 50))
            axis.set_xticks(of.two.latency_ms, [f"{ms:g}" for ms in of.two.latency_ms])
            axis.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axis.minorticks_off()
        axis.legend()

    return draw


def pictures(of: settings.Ddred, measured: runs.Figures, results: runs.Results) -> list[drawing.Picture]:

    def bars(where: str, what: str, label: str) -> drawing.Draw:
        return by_seed(of, measured, results, where, what, label)

    history = f"Figure 12: two flows under DDRED, {HISTORY_MS:g} ms; first seed"
    made = [
        ("figure-3", "Figure 3: bus, packets lost", 3.0, bars("bus", "lost", "packets")),
        ("figure-4", "Figure 4: bus, losses by distance from the sender; first seed", 3.0, figure_4(of, results)),
        ("figure-5", "Figure 5: bus, wasted hops", 3.0, bars("bus", "slots", "packets x hops")),
        ("figure-6", "Figure 6: bus, sum of transfer times", 3.0, bars("bus", "time", "s")),
        ("figure-8", "Figure 8: flower, packets lost", 3.0, bars("flower", "lost", "packets")),
        ("figure-9", "Figure 9: flower, wasted hops", 3.0, bars("flower", "slots", "packets x hops")),
        ("figure-10", "Figure 10: flower, sum of transfer times", 3.0, bars("flower", "time", "s")),
        ("figure-11", "Figure 11: flower, each transfer's gain, sorted; first seed", 3.0, figure_11(of, results)),
        ("figure-12", history, 3.0, figure_12(of, results)),
        (
            "figure-13",
            "Figure 13: ratio of the two flows, mean of its logarithms; least to greatest of the seeds",
            3.2,
            figure_13(of, measured),
        ),
    ]
    return [each for each in made if each[0] != "figure-12" or HISTORY_MS in of.two.latency_ms]


def notes(of: settings.Ddred) -> list[str]:
    tcp, shape = of.tcp, of.flower
    return [
        f"Not given in the paper's text: the bus's routers ({of.bus.routers} here), thresholds and weight (two sets here, ns-2's weight and gaps), packet and window lengths, "
        f"latencies of bus and flower (1 ms here, as in its two-flow test), and the time within which transfers begin on the bus ({of.bus.within_s:g} s here).",
        f"The flower is {shape.loops} loops of {shape.loop_routers} routers, each closed by a centre without workstation. The paper's figure 11 shows 451 transfers of 100 KB to 6 MB, begun within a minute. "
        f"Here {shape.transfers} of {shape.least_bytes // 1000} to {shape.most_bytes // 1000} KB begin within {shape.within_s:g} s, a twentieth of lengths and time, so that as many are under way at once; counts and sums are smaller accordingly.",
        "As many at once it must be: in a first version of the settings, 45 transfers of the paper's lengths in 6 s, DDRED lost 40 and 70 % more packets than RED and wasted 25 and 23 % more hops "
        "(one seed; small and large thresholds). docs/experiments.md says why, by a log of who was lost.",
        "The bus saves less than the paper's where queues are short, as there is hardly anyone to choose from: a quarter of its transfers saved 13 % of the wasted hops at 5 / 15 of 50 packets and 57 % at 60 / 180 of 600 (one seed; docs/experiments.md).",
        "Every port of a router has the queue under test, towards its workstation too; acknowledgements pass it as data does. A workstation's own port has none. "
        "Distances are inferred from the TTL, 64 at the sender, so they count the routers that a packet came through, the losing one included.",
        f"TCP is ns-3's NewReno without SACK and time stamps, {tcp.segment_bytes} B segments, a window of {tcp.window_segments} segments, initial window {tcp.initial_window}, "
        f"an ACK a segment, least RTO {tcp.min_rto_ms:g} ms; the paper has ns-2's.",
    ]
