"""P1: edges with a marker by flow, RIO with three colours before the bottleneck c1 - c2. Each edge has its senders in it; c2 receives.

Runs are called `web.SCHEME.MIN` and `long.SCHEME.MIN`, MIN yellow's lower threshold. Each gives `goodput` (Mb/s of payload), `delay` (ms from
arrival at c1 to the end of sending), `green`, `yellow`, `red` (percent of c1's packets), `lost` and `COLOUR_lost` (percent of those that came);
a web run `tN` (seconds, mean of flows of N packets that ended; nan where none did) and `late` (flows that count and did not end), too.

What takes several runs, where they are there: `nN` of a web run (ms a packet above the least time that any of them has); `web.SCHEME.green_lost` in
packets, over all thresholds; `long.SCHEME.frontier`, the mean delay over the goodputs that all schemes have, by the curve through a scheme's thresholds;
`long.SCHEME.frontier_later`, the same with the thresholds that were added after a run was seen.
"""

import math
import random
from itertools import pairwise
from statistics import mean
from typing import TYPE_CHECKING, Any

from . import drawing, network, runs, settings
from .rows import Line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENGINES = ("model",)
INK = {"nm": "#5b8fc0", "wpm": "#2e9e43", "apm": "#d2603a", "3cpm": "#8a5bb0"}
ENDLESS = 10**12
STEPS = 50  # of goodput, for `frontier`
EFFORT = 0.033  # processor seconds of a second of traffic
program = network.program


def links(of: settings.ThreeColour, scheme: str, least: int, seed: int) -> list[dict[str, Any]]:
    net = of.network
    out = []
    for i, rtt in enumerate(net.rtt_ms):
        tables = of.edge | {"marker": [of.edge["marker"][0] | {"kind": of.scheme[scheme]}]}
        edge = network.lane(f"e{i + 1}", f"e{i + 1}", tables, 10 * seed + i)
        out.append(network.link(f"e{i + 1}", "c1", net.link, rtt / 2 - net.delay_ms, edge | {"by_source": False}))
    yellow = {"curve": "red", "min": f"{least}p", "max": f"{3 * least}p", "p": of.yellow.p}
    tables = of.lane | {"queue": [of.lane["queue"][0] | {"yellow": yellow}]}
    core = network.lane("c1", "c1", tables, 10 * seed + 9) | {"by_source": False}
    return [*out, network.link("c1", "c2", net.bottleneck, net.delay_ms, core)]


def seconds_of(of: settings.ThreeColour, kind: str, shorter: int) -> tuple[float, float]:
    """Of the warm-up, and of what counts."""
    return of.network.warm_up_s / shorter, (of.network.seconds if kind == "web" else of.long.seconds) / shorter


def thresholds(of: settings.ThreeColour, kind: str) -> list[int]:
    return of.yellow.min if kind == "web" else sorted(of.long.min + of.long.later)


def certain(of: settings.ThreeColour, line: Line) -> str:
    """Why a row cannot fail: nothing drops green."""
    queue = of.lane["queue"][0]
    free = queue.get("green", {}).get("curve") == "tail" and not {"limit", "limit_packets"} & queue.keys()
    if free and line.value.endswith((".green_lost", ".green_packets_lost")):
        return "the queue has no limit and green no drop curve, so nothing drops a green packet"
    return ""


def transfers(of: settings.ThreeColour, kind: str, seed: int, shorter: int) -> list[dict[str, Any]]:
    """The flows of a seed, by their edge: the same for every marker and threshold."""
    edges = [f"e{i + 1}" for i in range(len(of.network.rtt_ms))]
    draw = random.Random(f"{kind} {seed}")
    flows: dict[str, list[tuple[int, int]]] = {edge: [] for edge in edges}
    if kind == "web":
        flows[edges[len(edges) // 2]].append((0, ENDLESS))
        time = 0.0
        while (time := time + draw.expovariate(of.web.per_second)) < sum(seconds_of(of, kind, shorter)):
            flow = draw.choice(of.web.group)
            flows[draw.choice(edges)].append((round(time * network.SECOND), flow.bytes))
    else:
        for i in range(of.long.flows):
            flows[edges[i % len(edges)]].append((round(draw.uniform(0, of.long.within_ms) * network.MS), ENDLESS))
    return [
        {"name": edge, "from": edge, "to": "c2", "start_ns": [t for t, _ in each], "bytes": [n for _, n in each]}
        for edge, each in flows.items()
        if each
    ]


def planned(of: settings.ThreeColour, seeds: list[int], shorter: int) -> list[runs.Run]:
    flows = {(kind, n): transfers(of, kind, n, shorter) for kind in ("web", "long") for n in seeds}
    out = []
    for kind in ("web", "long"):
        warm, counts = seconds_of(of, kind, shorter)
        made = {"seconds": warm + counts, "count_from_ns": round(warm * network.SECOND), "tcp": of.tcp.model_dump()}
        for scheme in of.scheme if kind == "web" else of.long.schemes:
            for least in thresholds(of, kind):
                for n in seeds:
                    asked = made | {"links": links(of, scheme, least, n), "transfers": flows[kind, n]}
                    out.append(runs.Run(f"{kind}.{scheme}.{least}", n, asked, EFFORT * (warm + counts)))
    return out


def of_lane(of: settings.ThreeColour, result: runs.Result, seconds: float) -> dict[str, float]:
    core = result["lanes"]["c1"]
    came = {colour: network.arrived(core, colour) for colour in network.COLOURS}
    lost = {colour: network.lost(core, colour) for colour in network.COLOURS}
    counts = core["sources"]["all"].values()
    made = {colour: 100 * n / sum(came.values()) for colour, n in came.items()}
    made |= {f"{colour}_lost": 100 * lost[colour] / came[colour] if came[colour] else 0.0 for colour in came}
    made["lost"] = 100 * sum(lost.values()) / sum(came.values())
    made["delay"] = sum(each["waited_ns"] for each in counts) / sum(each["left"] for each in counts) / network.MS
    made["goodput"] = 8e-6 * sum(each["received_bytes"] for each in result["transfers"].values()) / seconds
    return made | {"green_packets_lost": float(lost["green"])}


def times(
    of: settings.ThreeColour, asked: list[dict[str, Any]], result: runs.Result, shorter: int
) -> list[tuple[int, str, float | None]]:
    """Bytes, edge and seconds of each flow that counts; None: it has not ended."""
    warm, counts = seconds_of(of, "web", shorter)
    begin, end = warm * network.SECOND, (warm + counts - of.web.late_s / shorter) * network.SECOND
    lengths, out = {group.bytes for group in of.web.group}, []
    for each in asked:
        took = result["transfers"][each["name"]]["took_ns"]
        for start, size, ns in zip(each["start_ns"], each["bytes"], took, strict=True):
            if size in lengths and begin <= start < end:
                out.append((size, each["name"], ns / network.SECOND if ns else None))
    return out


def of_flows(
    of: settings.ThreeColour, out: runs.Figures, results: runs.Results, seeds: list[int], shorter: int
) -> None:
    """Adds `late`, `tN` and `nN` of the web's runs to `out`; `nN` where there are several runs, so that the least time means something."""
    web = [name for name in results if name.startswith("web.")]
    asked = {seed: transfers(of, "web", seed, shorter) for seed in seeds if web}
    flows = {(name, seed): times(of, asked[seed], results[name][seed], shorter) for name in web for seed in seeds}
    ended = {run: [(size, edge, s) for size, edge, s in each if s is not None] for run, each in flows.items()}
    least: dict[tuple[int, str], float] = {}  # by bytes and edge
    for done in ended.values():
        for size, edge, s in done:
            least[size, edge] = min(s, least.get((size, edge), s))
    for (name, seed), each in sorted(flows.items()):
        out.setdefault(f"{name}.late", []).append(float(len(each) - len(ended[name, seed])))
        for packets in of.web.shown:
            sizes = [group.bytes for group in of.web.group if group.packets == packets]
            own = [flow for flow in ended[name, seed] if flow[0] in sizes]
            above = [1000 * (s - least[size, edge]) / packets for size, edge, s in own]
            out.setdefault(f"{name}.t{packets}", []).append(mean(s for _, _, s in own) if own else math.nan)
            if len(web) > 1:
                out.setdefault(f"{name}.n{packets}", []).append(mean(above) if own else math.nan)


def delay_at(points: list[tuple[float, float]], goodput: float) -> float:
    """The least delay of the line through (goodput, delay) points, in the order of their thresholds, at a goodput."""
    found = []
    for (g, d), (g2, d2) in pairwise(points):
        if min(g, g2) <= goodput <= max(g, g2):
            found.append(d + (d2 - d) * (goodput - g) / (g2 - g) if g2 != g else min(d, d2))
    return min(found)


def frontiers(of: settings.ThreeColour, out: runs.Figures, seeds: int, least: list[int], called: str) -> None:
    """Adds `long.SCHEME.CALLED` to `out`, by the curves through the thresholds `least`."""
    names = of.long.schemes
    for i in range(seeds):
        curves = {
            name: [(out[f"long.{name}.{m}.goodput"][i], out[f"long.{name}.{m}.delay"][i]) for m in least]
            for name in names
        }
        low = max(min(g for g, _ in points) for points in curves.values())
        high = min(max(g for g, _ in points) for points in curves.values())
        at = [min(high, low + (high - low) * step / STEPS) for step in range(STEPS + 1)]
        for name, points in curves.items():
            delays = [delay_at(points, g) for g in at] if low <= high else [mean(d for _, d in points)]
            out.setdefault(f"long.{name}.{called}", []).append(mean(delays))


def figures(of: settings.ThreeColour, results: runs.Results, shorter: int) -> dict[str, list[float]]:

    def of_run(name: str, result: runs.Result) -> dict[str, float]:
        return of_lane(of, result, seconds_of(of, name.split(".")[0], shorter)[1])

    out = runs.measured(results, of_run)
    seeds = sorted(next(iter(results.values())))
    of_flows(of, out, results, seeds, shorter)
    if all(f"long.{scheme}.{least}" in results for scheme in of.long.schemes for least in thresholds(of, "long")):
        frontiers(of, out, len(seeds), of.long.min, "frontier")
        frontiers(of, out, len(seeds), thresholds(of, "long"), "frontier_later")
    for scheme in of.scheme:
        names = [f"web.{scheme}.{least}" for least in of.yellow.min]
        if all(name in results for name in names):
            each = [out[f"{name}.green_packets_lost"] for name in names]
            out[f"web.{scheme}.green_lost"] = [sum(numbers) for numbers in zip(*each, strict=True)]
    return out


def against_goodput(
    of: settings.ThreeColour, measured: runs.Figures, kind: str, schemes: list[str], panels: dict[str, str]
) -> drawing.Draw:
    """A line a scheme through its thresholds, mean of the seeds; a panel for each figure of `panels`."""

    def draw(figure: "Figure") -> None:
        axes, inks = figure.subplots(1, len(panels), squeeze=False)[0], drawing.inks(of.scheme, INK)
        for axis, (what, label) in zip(axes, panels.items(), strict=False):
            for scheme in schemes:
                names = [f"{kind}.{scheme}.{least}" for least in thresholds(of, kind)]
                points = [(mean(measured[f"{name}.goodput"]), mean(measured[f"{name}.{what}"])) for name in names]
                axis.plot(*zip(*points, strict=True), "o-", markersize=4, color=inks[scheme], label=scheme.upper())
            axis.set(xlabel="goodput, Mb/s", title=label)
        axes[0].legend()

    return draw


def pictures(of: settings.ThreeColour, measured: runs.Figures, results: runs.Results) -> list[drawing.Picture]:
    flows = {f"t{n}": f"{n} packet{'s' * (n > 1)}, s" for n in of.web.shown}
    ends = {f"n{n}": f"{n} packet{'s' * (n > 1)}, ms a packet" for n in (of.web.shown[0], of.web.shown[-1])}

    def line(kind: str, schemes: list[str], panels: dict[str, str]) -> drawing.Draw:
        return against_goodput(of, measured, kind, schemes, panels)

    pair = of.long.schemes
    delay = {"delay": "delay at c1, sending included, ms"}
    return [
        ("figure-4", f"Figure 4: {of.long.flows} long flows, delay against goodput", 3.4, line("long", pair, delay)),
        ("figure-5", "Figure 5: completion time of web flows against goodput", 3.2, line("web", pair, flows)),
        ("figure-6", "Figure 6: time above the least, a packet of the flow", 3.2, line("web", pair, ends)),
        ("figure-7", "Figure 7: completion time, all markers", 3.2, line("web", list(of.scheme), flows)),
        ("delay", "Delay of the web's packets at c1 against goodput", 3.4, line("web", list(of.scheme), delay)),
    ]


def notes(of: settings.ThreeColour) -> list[str]:
    tcp, net = of.tcp, of.network
    return [
        f"Not given in the paper's text: edges ({len(net.rtt_ms)} here, round trips evenly from {min(net.rtt_ms):g} to {max(net.rtt_ms):g} ms), the thresholds between the ends "
        f"({', '.join(map(str, of.yellow.min))} here), TCP's window, and the colour of packets without payload (yellow here, SYN green). An edge's senders are in it; their packets meet no queue before its marker.",
        f"TCP is ns-3's NewReno without SACK and time stamps, {tcp.segment_bytes} B segments, a window of {tcp.window_segments} segments, initial window {tcp.initial_window}, an ACK a segment, "
        f"least RTO {tcp.min_rto_ms:g} ms; the paper has ns-2's Reno. So flows of 18 and 190 packets are of 19 and 195 segments. A lost SYN costs 3 s in ns-3.",
        f"Web runs count {net.seconds:g} s behind {net.warm_up_s:g} s, as the paper's; the ten long flows {of.long.seconds:g} s. Times are from SYN to the last byte's arrival, of flows that begin "
        f"at least {of.web.late_s:g} s before the end. Connections are not closed.",
        "The marker does not see the acknowledgement that ends the handshake as data: it is yellow, and among the packets of Table II's shares. The paper's ns-2 sends none.",
        "Figure 4's rows compare the mean delay over the range of goodput that both have, by straight lines between thresholds, seed by seed. The row that must hold uses the thresholds of the first settings, "
        f"{', '.join(map(str, of.long.min))}. Thresholds {', '.join(map(str, of.long.later))} were added after one seed had been seen, so the row with them is informational; it cannot make the claim hold.",
    ]
