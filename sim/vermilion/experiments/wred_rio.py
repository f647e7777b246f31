"""P2: WRED against RIO-C. H1 - E1 - C1 - E3 - H3 and H2 - E2 - C1 - E3 - H4; the lane under test is C1's, towards E3.

Runs are called `CASE.SCHEME`; each gives `green_loss` and `yellow_loss` (percent of what came to C1), `goodput` (Mb/s of all bulk flows),
`transactions` (a second and flow), `green_came` and `yellow_came` (packets).
"""

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any

from vermilion.values import units

from . import drawing, network, rows, runs, settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENGINES = ("model", "rtl")
NAMES = {"rio": "RIO-C", "wred": "WRED"}
INK = {"rio": "#2e9e43", "wred": "#d2603a"}
TRACED_S, TRACE_STEP_MS = 20, 5  # of the averages in the first table's figure
TRACED = "t2"
# Processor seconds of a run of 600 s with the heavy background, and with the light one.
EFFORT = {"bursts": (13, 5), "transactions": (38, 25), "bulk": (18, 7)}
program = network.program


def lane_tables(of: settings.WredRio, case: str, scheme: str) -> dict[str, Any]:
    queue = dict(of.lane["queue"][0])
    queue["average"] = queue.get("average", {}) | {"kind": of.scheme[scheme]}
    return of.lane | {"queue": [queue | of.curves[of.case[case].curves]]}


def scenario(of: settings.WredRio, case: str, scheme: str, seed: int, shorter: int) -> dict[str, Any]:
    net, udp, chosen = of.network, of.udp, of.case[case]
    trace = {"from": 0, "to": TRACED_S * network.SECOND, "step": TRACE_STEP_MS * network.MS}
    core = network.lane("c1", "c1", lane_tables(of, case, scheme), seed, trace if case == TRACED else None)

    def wire(a: str, b: str, *lanes: dict[str, Any]) -> dict[str, Any]:
        return network.link(a, b, net.link, net.access_delay_ms, *lanes)

    links = [wire("h1", "e1"), wire("h2", "e2"), wire("e2", "c1"), wire("e3", "h3"), wire("e3", "h4")]
    edge = [network.lane("e1", "e1", of.edge, seed)] if chosen.traffic != "bursts" else []
    links += [wire("e1", "c1", *edge), network.link("c1", "e3", net.bottleneck, net.delay_ms, core)]
    begin = network.starts("background", seed, 1, net.start_ms) + network.starts("bursts", seed, 1, net.start_ms)
    pace = udp.heavy_per_second if chosen.background == "heavy" else udp.light_per_second

    def datagrams(name: str, a: str, b: str, colour: str, rate: float, start: int) -> dict[str, Any]:
        made = {"name": name, "from": a, "to": b, "dscp": network.DSCP[colour], "payload_bytes": udp.payload_bytes}
        return made | {"interval_ns": round(network.SECOND / rate), "start_ns": start}

    made: dict[str, Any] = {"seconds": net.seconds / shorter, "tcp": of.tcp.model_dump(), "links": links}
    made["udp"] = [datagrams("background", "h2", "h4", "yellow", pace, begin[0])]
    if chosen.traffic == "bursts":
        bursts = datagrams("bursts", "h1", "h3", "green", udp.burst_per_second, begin[1])
        timed = {"on_ns": round(udp.burst_on_ms * network.MS), "off_ns": round(udp.burst_off_ms * network.MS)}
        made["udp"].append(bursts | timed)
    elif chosen.traffic == "bulk":
        times = network.starts("bulk", seed, of.bulk.flows, net.start_ms)
        made["bulk"] = [
            {"name": f"bulk {i + 1}", "from": "h1", "to": "h3", "start_ns": time} for i, time in enumerate(times)
        ]
    else:
        made["transactions"] = [
            {
                "name": "transactions",
                "client": "h3",
                "server": "h1",
                "start_ns": network.starts("transactions", seed, of.transactions.flows, net.start_ms),
                "request_bytes": of.transactions.request_bytes,
                "response_bytes": of.transactions.response_bytes,
            }
        ]
    return made


def planned(of: settings.WredRio, seeds: list[int], shorter: int) -> list[runs.Run]:
    out = []
    for case, chosen in of.case.items():
        effort = EFFORT[chosen.traffic][chosen.background == "light"] * of.network.seconds / 600 / shorter
        for scheme in chosen.schemes:
            out += [runs.Run(f"{case}.{scheme}", n, scenario(of, case, scheme, n, shorter), effort) for n in seeds]
    return out


def of_run(of: settings.WredRio, result: runs.Result, seconds: float) -> dict[str, float]:
    core = result["lanes"]["c1"]
    made = {f"{colour}_came": float(network.arrived(core, colour)) for colour in ("green", "yellow")}
    # A colour that never came has no loss, and meets no bound on it.
    for colour in ("green", "yellow"):
        made[f"{colour}_loss"] = network.loss_percent(core, colour) if made[f"{colour}_came"] else math.nan
    if "bulk" in result:
        made["goodput"] = 8e-6 * sum(flow["received_bytes"] for flow in result["bulk"].values()) / seconds
    if "transactions" in result:
        made["transactions"] = result["transactions"]["transactions"]["completed"] / of.transactions.flows / seconds
    return made


def figures(of: settings.WredRio, results: runs.Results, shorter: int) -> dict[str, list[float]]:
    return runs.measured(results, lambda _, result: of_run(of, result, of.network.seconds / shorter))


def figure_4(of: settings.WredRio, results: runs.Results, scheme: str) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        by_seed = results[f"{TRACED}.{scheme}"]
        trace = by_seed[min(by_seed)]["lanes"]["c1"]["trace"]
        for number, (colour, ink) in enumerate((("green", "#2e9e43"), ("yellow", "#c99300"))):
            own = [(t / network.SECOND, avg / 1024) for t, c, avg, _ in trace if c == number]
            axis.plot(
                *zip(*own, strict=True), ".", markersize=2, color=ink, label=f"average as {colour} packets met it"
            )
            curve = of.curves[of.case[TRACED].curves][colour]
            for bound in ("min", "max"):
                axis.axhline(units.amount(curve[bound]).value / 1024, color=ink, linewidth=0.7, linestyle=":")
        axis.set(xlabel="time, s", ylabel="KB (1,024 B)", ylim=(0, None))
        axis.legend(loc="upper right", markerscale=4)

    return draw


def bars(
    of: settings.WredRio,
    measured: runs.Figures,
    cases: list[str],
    what: str,
    label: str,
    paper: dict[str, float],
    scale: str = "linear",
) -> drawing.Draw:
    """A group a case: ours with the spread over seeds, and the paper's."""

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        inks = drawing.inks(of.scheme, INK)
        places = [(case, scheme) for case in cases for scheme in of.case[case].schemes]
        for i, (case, scheme) in enumerate(places):
            numbers = measured[f"{case}.{scheme}.{what}"]
            ours, ink = fmean(numbers), inks[scheme]
            spread = drawing.reach([ours], [numbers])
            axis.bar(i - 0.2, ours, 0.4, yerr=spread, color=ink, error_kw={"linewidth": 0.8})
            told = paper.get(f"{case}.{scheme}.{what}")
            if told is not None:
                axis.bar(i + 0.2, told, 0.4, color=ink, alpha=0.35)
        names = [f"{case.removeprefix('t').replace('-', ', ')}\n{NAMES.get(scheme, scheme)}" for case, scheme in places]
        axis.set_xticks(range(len(places)), names)
        axis.set(ylabel=label, yscale=scale)
        if scale == "log":
            axis.yaxis.set_major_formatter(lambda y, _: f"{y:g}")  # the page's figures have no mathematics
        shades = {"ours": 1.0, "the paper's": 0.35}
        axis.legend(handles=[axis.bar(0, 0, color="#777777", alpha=a, label=text) for text, a in shades.items()])

    return draw


def pictures(of: settings.WredRio, measured: runs.Figures, results: runs.Results) -> list[drawing.Picture]:
    paper = {line.value: line.paper for line in rows.lines(of.row) if line.paper is not None}

    def group(traffic: str) -> list[str]:
        return [case for case, chosen in of.case.items() if chosen.traffic == traffic]

    raised = [case for case in group("bursts") if case.startswith("t11-")]
    traced = {
        f"{TRACED}.rio": ("figure-4a", "Figure 4a: averages at C1 under RIO-C, table 2, with the thresholds"),
        f"{TRACED}.wred": ("figure-4b", "Figure 4b: the average at C1 under WRED, table 2"),
    }
    return [
        (name, f"{caption}; first seed", 3.2, figure_4(of, results, run.removeprefix(f"{TRACED}.")))
        for run, (name, caption) in traced.items()
        if run in results
    ] + [
        (
            "on-off",
            "Tables 2, 3 and 4: green loss of bursts; least to greatest of the seeds",
            3.4,
            bars(
                of, measured, [case for case in group("bursts") if case not in raised], "green_loss", "percent", paper
            ),
        ),
        (
            "table-11",
            "Table 11: green loss of bursts under WRED, green's thresholds from so many KB; least to greatest of the seeds",
            3.2,
            bars(of, measured, raised, "green_loss", "percent, logarithmic", paper, "log"),
        ),
        (
            "transactions",
            "Tables 5 to 7: transactions a second and flow",
            3.2,
            bars(of, measured, group("transactions"), "transactions", "a second", paper),
        ),
        (
            "bulk",
            "Tables 8 to 10: goodput of bulk TCP",
            3.2,
            bars(of, measured, group("bulk"), "goodput", "Mb/s", paper),
        ),
        (
            "bulk-loss",
            "Tables 8 to 10: green loss of bulk TCP",
            3.2,
            bars(of, measured, group("bulk"), "green_loss", "percent", paper),
        ),
    ]


def notes(of: settings.WredRio) -> list[str]:
    tcp = of.tcp
    return [
        "The expected ranges are no prediction: they were set after a pilot with another simulator had been seen. Rows that must hold are the paper's claims.",
        "1 KB is 1,024 B. The paper's counts give 900 B of UDP payload (942 B on the wire), 1,250 and 275 yellow packets a second, and 283 bursts of 120 ms; its text says 1,024 B packets.",
        "C1: averages step on arrivals; over idle time they decay by one packet in each 0.8 ms; max_p 0.02 and 0.1 are 1/64 and 1/16, gaps of drops are uniform, and the queue has no limit.",
        f"TCP is ns-3's NewReno without SACK and time stamps, {tcp.segment_bytes} B segments, a window of {tcp.window_segments} segments, initial window {tcp.initial_window}, "
        f"an ACK for every {tcp.delayed_ack} segments or {tcp.delayed_ack_ms:g} ms, least RTO {tcp.min_rto_ms:g} ms. The paper's hosts are Linux 2.0.34, whose initial window and delayed ACK it does not give.",
        "Bulk flows send without end; the paper's are netperf's requests of 64 KB and empty responses, one after the other on one connection.",
        "A socket stays 4 s in TIME_WAIT, not ns-3's 240: it searches a list of all sockets for each packet.",
        f"E1 marks TCP with a leaf marker of 1.7 Mbit/s and 10 KB. Each source starts within {of.network.start_ms:g} ms, drawn by the seed; the same for both schemes.",
    ]
