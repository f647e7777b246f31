"""P0, figure 4: four hosts with leaf markers, ER with REDP, CR1 with RIO before the bottleneck to CR2; figure 7: ER1 and CR1, then ER2, CR2 and CR3.

Figure 7 is that of settings with a `second_rate`. Runs are called by their scheme, P_drop of the ERs; each gives `green`, `yellow`, `red`, `total`
(throughput at CR2, figure 7's at CR3, of all flows, kb/s of frames), `green_std` and `total_std` (standard deviation over the flows), `green_least`
(the least of a flow). Figure 7 gives `green_in` and `green_out`, too, green kb/s before and
behind ER2, and `dropped` and `dropped_2`, packets that the droppers of ER1 and ER2 took.
"""

from collections.abc import Callable, Iterable
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Any

from . import drawing, network, runs, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENGINES = ("model", "rtl")
TRACED_S, TRACE_STEP_MS = 60, 20
INK = ("#2e9e43", "#c99300", "#d8403a")
EFFORT = 2.0  # processor seconds of a run of 200 s and one domain
program = network.program


def scenario(of: settings.Redp, p_drop: float, seed: int, shorter: int) -> dict[str, Any]:
    net = of.network
    marker = dict(of.edge["marker"][0]) | ({"p_drop": p_drop} if p_drop else {})
    begin = network.starts("hosts", seed, len(net.rtt_ms), net.start_ms)
    trace = {"from": 0, "to": TRACED_S * network.SECOND, "step": TRACE_STEP_MS * network.MS}
    # Round trips differ on the hosts' links; the other links have none.
    links = []
    for i, rtt in enumerate(net.rtt_ms):
        # Seeds of lanes are 1 to 2^32 - 1 and differ within a run.
        leaf = network.lane(f"h{i + 1}", f"h{i + 1}", of.leaf, 10 * seed + i + 1)
        links.append(network.link(f"h{i + 1}", "er", net.link, rtt / 2, leaf))
    edge = network.lane("er", "er", of.edge | {"marker": [marker]}, 10 * seed + 8)
    links.append(network.link("er", "cr1", net.link, 0, edge))
    links.append(
        network.link("cr1", "cr2", net.bottleneck, 0, network.lane("cr1", "cr1", of.lane, 10 * seed + 9, trace))
    )
    bulk = [{"name": f"tcp{i + 1}", "from": f"h{i + 1}", "to": "cr2", "start_ns": time} for i, time in enumerate(begin)]
    return {"seconds": net.seconds / shorter, "tcp": of.tcp.model_dump(), "links": links, "bulk": bulk}


def two_domains(of: settings.Redp, p_drop: float, seed: int, shorter: int) -> dict[str, Any]:
    """Figure 7: each flow crosses an ER and a bottleneck twice; ER2's rate is the greater, so it promotes."""
    net = of.network
    begin = network.starts("hosts", seed, len(net.rtt_ms), net.start_ms)
    # Seeds of lanes are apart from those of figure 4.

    def lane(at: str, tables: dict[str, Any], number: int) -> dict[str, Any]:
        return network.lane(at, at, tables, 100_000 + 20 * seed + number)

    def edge(at: str, rate: int | str | None, number: int) -> dict[str, Any]:
        marker = of.edge["marker"][0] | {"rate": rate} | ({"p_drop": p_drop} if p_drop else {})
        return lane(at, of.edge | {"marker": [marker]}, number)

    hosts = [f"h{i + 1}" for i in range(len(net.rtt_ms))]
    links = [
        network.link(host, "er1", net.link, rtt / 2, lane(host, of.leaf, i))
        for i, (host, rtt) in enumerate(zip(hosts, net.rtt_ms, strict=False))
    ]
    links.append(network.link("er1", "cr1", net.link, 0, edge("er1", of.edge["marker"][0]["rate"], 10)))
    links.append(network.link("cr1", "er2", net.bottleneck, 0, lane("cr1", of.lane, 11)))
    links.append(network.link("er2", "cr2", net.link, 0, edge("er2", net.second_rate, 12)))
    links.append(network.link("cr2", "cr3", net.bottleneck, 0, lane("cr2", of.lane, 13)))
    bulk = [
        {"name": f"tcp{i + 1}", "from": host, "to": "cr3", "start_ns": time}
        for i, (host, time) in enumerate(zip(hosts, begin, strict=False))
    ]
    return {"seconds": net.seconds / shorter, "tcp": of.tcp.model_dump(), "links": links, "bulk": bulk}


def planned(of: settings.Redp, seeds: list[int], shorter: int) -> list[runs.Run]:
    made = two_domains if of.network.second_rate else scenario
    effort = EFFORT * of.network.seconds / 200 / shorter * (1.5 if of.network.second_rate else 1)
    return [
        runs.Run(name, seed, made(of, p_drop, seed, shorter), effort)
        for name, p_drop in of.scheme.items()
        for seed in seeds
    ]


def of_run(of: settings.Redp, result: runs.Result, seconds: float, last: str) -> dict[str, float]:
    """`last`: the router behind whose lane throughput is told."""
    sources = result["lanes"][last]["sources"]
    rate: Callable[[str, str], float] = lambda host, colour: (
        8e-3 * sources.get(host, {}).get(colour, {}).get("left_bytes", 0) / seconds
    )
    hosts = [f"h{i + 1}" for i in range(len(of.network.rtt_ms))]
    by_colour = {colour: [rate(host, colour) for host in hosts] for colour in network.COLOURS}
    totals = [sum(each) for each in zip(*by_colour.values(), strict=True)]
    made = {colour: sum(rates) for colour, rates in by_colour.items()}
    made |= {"total": sum(totals), "green_std": pstdev(by_colour["green"]), "total_std": pstdev(totals)}
    made["green_least"] = min(by_colour["green"])
    for i, host in enumerate(hosts):
        made |= {f"{host}_{colour}": rates[i] for colour, rates in by_colour.items()}
    if last == "cr2":
        of_lane: Callable[[str, str, str], int] = lambda at, colour, what: sum(
            each[colour][what] for each in result["lanes"][at]["sources"].values() if colour in each
        )
        for name, at in (("dropped", "er1"), ("dropped_2", "er2")):
            made[name] = float(sum(of_lane(at, colour, "policed") for colour in network.COLOURS))
        made["green_in"] = 8e-3 * of_lane("cr1", "green", "left_bytes") / seconds
        made["green_out"] = 8e-3 * of_lane("er2", "green", "left_bytes") / seconds
    return made


def figures(of: settings.Redp, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    last, seconds = "cr2" if of.network.second_rate else "cr1", of.network.seconds / shorter
    return runs.measured(results, lambda _, result: of_run(of, result, seconds, last))


def by_flow(of: settings.Redp, measured: runs.Figures) -> drawing.Draw:
    """Figures 5 and 8: throughput of each flow, and by colour of all together, which has a scale of its own."""

    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, 4)
        hosts = [f"h{i + 1}" for i in range(len(of.network.rtt_ms))]
        parts = {"green": ("green",), "yellow": ("yellow",), "total": network.COLOURS}
        flow: Callable[[str, str, Iterable[str]], list[float]] = lambda scheme, host, colours: [
            sum(x) for x in zip(*(measured[f"{scheme}.{host}_{c}"] for c in colours), strict=True)
        ]
        for offset, scheme, ink, label in (
            (-0.2, "redp", "#5b8fc0", "REDP"),
            (0.2, "drop02", "#2e9e43", "REDP with dropper"),
        ):
            panels = [[flow(scheme, host, colours) for host in hosts] for colours in parts.values()]
            panels.append([measured[f"{scheme}.{what}"] for what in (*network.COLOURS, "total")])
            for axis, each in zip(axes, panels, strict=False):
                middle = [fmean(numbers) for numbers in each]
                at, spread = [i + offset for i in range(len(each))], drawing.reach(middle, each)
                axis.bar(at, middle, 0.4, yerr=spread, color=ink, label=label, error_kw={"linewidth": 0.8})
        for axis, title in zip(axes, (*parts, "all flows"), strict=False):
            axis.set_title(title)
        top = max(axis.get_ylim()[1] for axis in axes[:3])
        for axis in axes[:3]:
            axis.set_xticks(range(len(hosts)), [f"tcp{i + 1}" for i in range(len(hosts))])
            axis.set_ylim(0, top)
        axes[3].set_xticks(range(4), [*network.COLOURS, "total"])
        axes[0].set_ylabel("kb/s")
        axes[0].legend()

    return draw


def figure_6(results: runs.Results) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots(2, 1, sharex=True, sharey=True)
        for axis, scheme, title in zip(axes, ("redp", "drop02"), ("REDP", "REDP with dropper"), strict=False):
            by_seed = results[scheme]
            trace = by_seed[min(by_seed)]["lanes"]["cr1"]["trace"]
            axis.plot(
                [t / network.SECOND for t, *_ in trace],
                [packets for *_, packets in trace],
                color="#9a9a9a",
                linewidth=0.6,
                label="queue",
            )
            for number, ink in enumerate(INK):
                own = [(t / network.SECOND, a) for t, c, a, _ in trace if c == number]
                if own:
                    axis.plot(
                        *zip(*own, strict=True),
                        ".",
                        markersize=2,
                        color=ink,
                        label=f"average of {network.COLOURS[number]}",
                    )
            axis.set(title=title, ylabel="packets")
        axes[0].legend(loc="lower right", ncols=4, markerscale=4)
        axes[1].set_xlabel("time, s")

    return draw


def figure_9(of: settings.Redp, measured: runs.Figures) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        left, right = figure.subplots(1, 2)
        names = sorted(of.scheme, key=of.scheme.__getitem__)
        at = [of.scheme[name] for name in names]
        for what, ink in (("green_std", "#2e9e43"), ("total_std", "#5b8fc0")):
            left.plot(
                at, [fmean(measured[f"{n}.{what}"]) for n in names], "o-", color=ink, label=what.removesuffix("_std")
            )
        for what, ink in (("green", "#2e9e43"), ("total", "#5b8fc0")):
            right.plot(at, [fmean(measured[f"{n}.{what}"]) for n in names], "o-", color=ink, label=what)
        for axis, title in ((left, "standard deviation of flows"), (right, "aggregate throughput")):
            axis.set(xlabel="P_drop", ylabel="kb/s", title=title, ylim=(0, None))
            axis.legend(loc="best" if axis is left else "lower right")

    return draw


def pictures(of: settings.Redp, measured: runs.Figures, results: runs.Results) -> list[drawing.Picture]:
    spread = "least to greatest of the seeds"
    if of.network.second_rate:
        return [
            (
                "figure-8",
                f"Figure 8: throughput at CR3 of each flow, and of all by colour; {spread}",
                3.2,
                by_flow(of, measured),
            )
        ]
    return [
        ("figure-5", f"Figure 5: throughput of each flow, and of all by colour; {spread}", 3.2, by_flow(of, measured)),
        (
            "figure-6",
            "Figure 6: CR1's queue as packets met it, and the averages of RIO; first seed",
            4.0,
            figure_6(results),
        ),
        ("figure-9", "Figure 9: deviation and throughput over P_drop; 0 is REDP alone", 3.2, figure_9(of, measured)),
    ]


def notes(of: settings.Redp) -> list[str]:
    tcp = of.tcp
    came = [
        "The paper's yellow throughput falls with the dropper. Here yellow rises, total and green hardly change and red falls, as no flow stays far over its leaf profile any more: "
        "what was red comes green, and is demoted to yellow. Its starved flow is tcp2; here it is tcp1, that of the shortest round trip, and less starved.",
    ]
    if of.network.second_rate:
        came = [
            "Both ERs have the dropper. ER2's takes nothing, as the yellow packets that ER1 has made come in.",
            "The paper tells of about 175 kb/s of green for each flow at CR3, a quarter of ER1's rate; here it is more, as ER2 promotes.",
        ]
    return [
        "Not given in the paper's text: length of a run, access links, packet length, CR1's buffer (30 packets here) and the window "
        f"({tcp.window_segments} segments). Buckets are in packets of a full segment's frame.",
        f"TCP is ns-3's NewReno without SACK and time stamps, {tcp.segment_bytes} B segments, initial window {tcp.initial_window}, an ACK a segment, least RTO {tcp.min_rto_ms:g} ms; the paper has ns-2's Reno.",
        f"Runs of {of.network.seconds:g} s; each host starts within {of.network.start_ms:g} ms, drawn by the seed, the same for every scheme.",
        *came,
    ]
