"""`vermilion experiment bufferbloat`: runs what is missing, then the table, the report and docs/results/bufferbloat.{md,json}."""

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from vermilion.console import screen
from vermilion.console.tables import table
from vermilion.report import Page, tables
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import bufferbloat, drawing, intervals, pages, progress, rtl, runs
from .bufferbloat import QUEUES, WHOSE, Bufferbloat
from .pages import PUBLISHED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Case = tuple[str, float, int, str]
SHOWN = {  # figure: its tables' title, digits after the point
    "median": ("Sojourn time, median, ms", 1),
    "p99": ("Sojourn time, 99th percentile, ms", 1),
    "utilisation": ("Utilisation of the bottleneck, %", 1),
    "fairness": ("Fairness of the long flows (Jain)", 2),
    "drops": ("Packets dropped, %", 2),
    "sparse_p99": ("Sparse flow, delay above base, 99th percentile, ms", 1),
}
DRAWN = {  # figure: (title, logarithmic)
    "median": ("Median sojourn time, ms", True),
    "sparse_p99": ("Sparse flow, 99th percentile of the delay above base, ms", True),
    "utilisation": ("Utilisation of the bottleneck, %", False),
}
COMPARED = {"utilisation": "%", "median": "ms", "p99": "ms", "mean": "ms", "drops": "%", "fairness": ""}
HEADS = {  # on the screen, 79 columns
    "goodput": "Mbit/s",
    "utilisation": "use %",
    "fairness": "fair",
    "median": "p50",
    "p99": "p99",
    "drops": "drop %",
    "marks": "CE %",
    "sparse_p99": "sparse",
}
PRESETS = (rtl.PRESET, rtl.AQM, rtl.FLOWS)
TARGETS = {"pie": "pie", "codel": "codel"}
SHAPES = {"ours": "o", "ns3": "x"}
WORDS = {"ours": "ours", "ns3": "ns-3"}


def titled(of: Bufferbloat, case: Case) -> str:
    rate, rtt, flows, ecn = case
    text = f"{of.rate[rate].bottleneck / 1e6:g} Mbit/s, {rtt:g} ms, {flows} flow{'s' if flows > 1 else ''}"
    return text + (", ECN" if ecn == "mark" else "")


def brief(case: Case) -> str:
    """As in the published page, which is to be short."""
    rate, rtt, flows, ecn = case
    return f"{rate}/{rtt:g}/{flows}" + (" ECN" if ecn == "mark" else "")


def figure(measured: runs.Figures, case: Case, whose: str, queue: str, what: str) -> list[float]:
    return measured[f"{bufferbloat.name((*case, whose, queue))}.{what}"]


def across(engine: str) -> list[tuple[str, str]]:
    """Queues, ours and ns-3's side by side."""
    return sorted(bufferbloat.queues(engine), key=lambda each: (QUEUES.index(each[1]), WHOSE.index(each[0])))


def compared(of: Bufferbloat, measured: runs.Figures) -> list[dict[str, Any]]:
    """Ours less ns-3's, seed by seed, with the 95 % interval of the mean difference."""
    out = []
    for case in bufferbloat.cases(of):
        for queue in QUEUES:
            for what in COMPARED:
                pair = (figure(measured, case, whose, queue, what) for whose in WHOSE)
                out.append({"case": brief(case), "queue": queue, "figure": what, **vars(intervals.difference(*pair))})
    return out


def apart(row: dict[str, Any]) -> bool:
    """Whether a difference's interval does not contain 0, by more than the two kinds of queue round times differently (1 us, 0.001 %)."""
    return bool(row["low"] > 1e-3 or row["high"] < -1e-3)


def apart_rows(made: list[dict[str, Any]]) -> list[list[str]]:
    out = []
    for row in made:
        if apart(row):
            effect = f"{row['mean']:+.3g} ({row['low']:+.3g} to {row['high']:+.3g})"
            out.append([row["case"], row["queue"], row["figure"], f"{effect} {COMPARED[row['figure']]}".strip()])
    return out


def counted(of: Bufferbloat, made: list[dict[str, Any]]) -> list[list[str]]:
    """For each queue: in how many cases the interval of the difference contains 0."""
    cases = len(bufferbloat.cases(of))
    kept: dict[tuple[str, str], int] = {}
    for row in made:
        key = row["queue"], row["figure"]
        kept[key] = kept.get(key, 0) + (not apart(row))
    return [[queue, *(f"{kept[queue, what]} of {cases}" for what in COMPARED)] for queue in QUEUES]


def standing(of: Bufferbloat, measured: runs.Figures) -> list[list[str]]:
    """Mean sojourn times of PIE and CoDel, with their 95 % intervals over the seeds. A case is called as in `brief`."""

    def cell(case: Case, whose: str, queue: str) -> str:
        made = intervals.of_mean(figure(measured, case, whose, queue, "mean"))
        return f"{made.mean:.1f} ({made.low:.1f} to {made.high:.1f})"

    return [
        [brief(case), *(cell(case, whose, queue) for queue in TARGETS for whose in WHOSE)]
        for case in bufferbloat.cases(of)
    ]


def panels(of: Bufferbloat, measured: runs.Figures, what: str, logarithmic: bool) -> drawing.Draw:
    """A panel for each rate and round trip: numbers of flows across, a colour for each queue, a shape for ours and ns-3's; bars reach over the seeds."""

    def draw(figure_: "Figure") -> None:
        nets = [(rate, rtt) for rate in of.rate for rtt in of.network.rtt_ms]
        axes = figure_.subplots(1, len(nets), sharey=True, squeeze=False)[0]
        inks = drawing.inks(QUEUES, {})
        lanes = across("model")
        for axis, net in zip(axes, nets, strict=True):
            for number, (whose, queue) in enumerate(lanes):
                numbers = [figure(measured, (*net, flows, "drop"), whose, queue, what) for flows in of.network.flows]
                middles = [fmean(each) for each in numbers]
                shift = (number - (len(lanes) - 1) / 2) * 0.08
                at = [x + shift for x in range(len(numbers))]
                bars = drawing.reach(middles, numbers)
                style = {"color": inks[queue], "markersize": 4, "elinewidth": 0.8}
                axis.errorbar(at, middles, bars, fmt=SHAPES[whose], label=f"{queue}, {WORDS[whose]}", **style)
            if what == "median":
                for target in (of.pie.target_ms, of.codel.target_ms):
                    axis.axhline(target, color="#999999", linewidth=0.6, linestyle="--")
            axis.set_xticks(range(len(of.network.flows)), [str(flows) for flows in of.network.flows])
            axis.set(title=f"{of.rate[net[0]].bottleneck / 1e6:g} Mbit/s, {net[1]:g} ms", xlabel="long flows")
            if logarithmic:
                axis.set_yscale("log")
                axis.yaxis.set_major_formatter("{x:g}")
        axes[-1].legend(fontsize=6, loc="center left", bbox_to_anchor=(1.0, 0.5))

    return draw


def frontier(of: Bufferbloat, measured: runs.Figures) -> drawing.Draw:
    def draw(figure_: "Figure") -> None:
        axis = figure_.subplots()
        inks = drawing.inks(QUEUES, {})
        for whose, queue in across("model"):
            every = [case for case in bufferbloat.cases(of) if case[3] == "drop"]
            at = [
                [fmean(figure(measured, case, whose, queue, what)) for case in every] for what in ("p99", "utilisation")
            ]
            axis.plot(*at, SHAPES[whose], color=inks[queue], markersize=5, label=f"{queue}, {WORDS[whose]}")
        axis.set_xscale("log")
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set(xlabel="99th percentile of the sojourn time, ms", ylabel="utilisation, %")
        axis.legend(fontsize=6, ncols=2)

    return draw


def notes(of: Bufferbloat) -> list[str]:
    net, tcp, sparse = of.network, of.tcp, of.sparse
    times = "; ".join(
        f"{each.bottleneck / 1e6:g} Mbit/s for {each.seconds:g} s, of which the first {each.warm_up_s:g} s do not count"
        for each in of.rate.values()
    )
    return [
        f"{', '.join(map(str, net.flows))} long TCP flows share the bottleneck with a sparse UDP flow, which sends {sparse.payload_bytes + bufferbloat.IP_UDP} B of IPv4 every {sparse.interval_ms:g} ms. Every flow starts at its own time within the first {net.start_ms:g} ms. Base round trips are {' and '.join(f'{x:g}' for x in net.rtt_ms)} ms.",
        f"Runs: {times}.",
        f"TCP is ns-3's {tcp.congestion.removeprefix('ns3::')} with SACK, time stamps, window scaling and proportional rate reduction; {tcp.segment_bytes} B segments, initial window {tcp.initial_window}, an ACK for {tcp.delayed_ack} segments or after {tcp.delayed_ack_ms:g} ms, least RTO {tcp.min_rto_ms:g} ms.",
        f"Every queue has a limit of {net.limit_packets} packets and sends at the same pace: a packet occupies the bottleneck for its bytes with their Ethernet header. Links below it have {net.link / 1e9:g} Gbit/s, so nothing waits in a device.",
        f"RED has thresholds of {of.red.min_ms:g} and {of.red.max_ms:g} ms at the bottleneck's rate, in packets, p {of.red.p:g}, gentle, weight {of.red.weight:g}, and waits between drops. PIE has a target of {of.pie.target_ms:g} ms, CoDel {of.codel.target_ms:g} ms and an interval of {of.codel.interval_ms:g} ms.",
        f"ns-3's discs have the same settings. Two of their defaults are changed for that: without ECN PIE spreads its drops (UseDerandomization), and CoDel's MinBytes is 1501. FQ-CoDel has {bufferbloat.FLOWS:,} queues and a quantum of a full packet. In ours the limit is that of each queue, in ns-3's that of all. The hashes differ.",
        "The sojourn time is from a packet's arrival to the time at which the queue's scheduler chooses it. It holds for packets that are sent. A lane's time is less than 1 us later, when the packet's last beat has left.",
        "The delay of the sparse flow is from sender to receiver, less that of a packet that waits nowhere. Drops are those on arrival and at departure, of the packets that arrived.",
        "Goodput counts payload that reached the application. A segment that fills a gap delivers what came before it, so a short run may show a little more than the rate.",
        "Both kinds of queue have the same traffic and starting times with one seed, but draws of their own. Differences are ours less ns-3's, seed by seed, with a 95 % interval (Student's t).",
    ]


def screen_tables(of: Bufferbloat, engine: str, measured: runs.Figures) -> None:
    out = screen.console()
    for case in bufferbloat.cases(of):
        shown = table(titled(of, case), ["queue"], list(HEADS.values()))
        for whose, queue in across(engine):
            numbers = {what: fmean(figure(measured, case, whose, queue, what)) for what in HEADS}
            cells = (
                f"{number:.2f}" if what in ("fairness", "drops", "marks") else f"{number:.1f}"
                for what, number in numbers.items()
            )
            shown.add_row(queue if whose == "ours" else f"{queue} ns-3", *cells)
        out.print(shown)


def matrix(of: Bufferbloat, measured: runs.Figures, what: str) -> tuple[list[str], list[list[str]]]:
    """Heads and rows: cases down, queues across, ours / ns-3's."""
    digits = SHOWN[what][1]

    def cell(case: Case, queue: str) -> str:
        each = (fmean(figure(measured, case, whose, queue, what)) for whose in WHOSE)
        return " / ".join(f"{number:.{digits}f}" for number in each)

    return list(QUEUES), [[brief(case), *(cell(case, queue) for queue in QUEUES)] for case in bufferbloat.cases(of)]


CASES = "A case is the rate in Mbit/s, the base round trip in ms, and the number of long flows."
STANDING = [f"{queue}, {WORDS[whose]}" for queue in ("PIE", "CoDel") for whose in WHOSE]


def write(page: Path, of: Bufferbloat, made: dict[str, Any], measured: runs.Figures) -> None:
    """The report, one HTML file."""
    out = Page()
    out.section("standing", "Standing delay")
    out.text(f"Seeds {pages.numbers(made['seeds'])}" + (f", --quick: {made['quick']}." if made["quick"] else "."))
    out.text(f"Mean sojourn time, ms, with its 95 % interval over the seeds. {CASES}")
    out.body.append(tables.table(["case"], STANDING, standing(of, measured)))
    out.section("figures", "Figures")
    for what, (title, logarithmic) in DRAWN.items():
        caption = f"{title}; without ECN, bars from the least to the greatest seed"
        out.figure(what.replace("_", "-"), caption, 3.8, panels(of, measured, what, logarithmic))
    out.figure("frontier", "Utilisation against delay, without ECN: a point for each case", 3.8, frontier(of, measured))
    out.section("beside", "Ours beside ns-3's")
    differences = compared(of, measured)
    out.text("In how many cases the 95 % interval of the difference contains 0.")
    out.body.append(tables.table(["queue"], list(COMPARED), counted(of, differences)))
    out.text("Where it does not: ours less ns-3's.")
    out.body.append(tables.table(["case", "queue", "figure", "difference"], [], apart_rows(differences)))
    for text in (*of.shows, *of.differences):
        out.text(pages.plain(text))
    out.section("tables", "All cases")
    for what, (title, _) in SHOWN.items():
        heads, lines = matrix(of, measured, what)
        out.text(f"{title}: ours / ns-3's")
        out.body.append(tables.table(["case"], heads, lines))
    pages.closing(out, made, of, notes(of))
    page.write_text(out.html(of.title), encoding="utf-8")


def record(of: Bufferbloat, made: dict[str, Any], measured: runs.Figures) -> str:
    parts: dict[str, Any] = {
        "runs": pages.told(measured),
        "differences": [pages.rounded(row) for row in compared(of, measured)],
    }
    return pages.recorded(made, parts)


def page(of: Bufferbloat, made: dict[str, Any], measured: runs.Figures) -> str:
    differences = compared(of, measured)
    lines = [
        f"# {of.title}",
        "",
        f"`./vermilion experiment bufferbloat --publish` makes this page: seeds {pages.numbers(made['seeds'])}, engine model, ns-3 {made['versions']['ns3']}. [bufferbloat.json](bufferbloat.json) has each seed's figures and all differences.",
        "Settings: [sim/experiments/compare/bufferbloat.toml](../../sim/experiments/compare/bufferbloat.toml). They were fixed after a pilot with seed 1, before the first run with these seeds. Pictures: the report that the command writes.",
        "",
        "## What it shows",
        "",
        *(f"* {each}" for each in of.shows),
        "",
        "## Standing delay",
        "",
        f"Mean sojourn time in ms, with its 95 % interval over {len(made['seeds'])} seeds. Targets: PIE {of.pie.target_ms:g} ms, CoDel {of.codel.target_ms:g} ms. {CASES}",
        "",
        *pages.markdown(["case"], STANDING, standing(of, measured)),
        "",
        "## Ours beside ns-3's",
        "",
        "Cases in which the 95 % interval of the difference contains 0. Of 20 comparisons without a difference, one does not.",
        "",
        *pages.markdown(["queue"], list(COMPARED), counted(of, differences)),
        "",
        "The others, ours less ns-3's:",
        "",
        *pages.markdown(["case", "queue", "figure"], ["difference"], apart_rows(differences)),
        "",
        "Why they differ:",
        "",
        *(f"* {each}" for each in of.differences),
        "",
        "## All cases",
    ]
    for what, (title, _) in SHOWN.items():
        if what == "fairness":
            continue  # in the report and in the JSON
        heads, rows = matrix(of, measured, what)
        lines += ["", f"{title}, ours / ns-3's:", "", *pages.markdown(["case"], heads, rows)]
    lines += ["", "## How it was run", "", *(f"* {note}" for note in notes(of))]
    return "\n".join(lines) + "\n"


def publish(of: Bufferbloat, made: dict[str, Any], measured: runs.Figures) -> None:
    measured = pages.as_recorded(measured)
    (PUBLISHED / "bufferbloat.md").write_text(page(of, made, measured))
    (PUBLISHED / "bufferbloat.json").write_text(record(of, made, measured))


def conduct(engine: str, seeds: int | None, quick: bool, jobs: int, to_publish: bool, home: Path) -> None:
    """The command: `seeds` is the number asked for, `home` the folder of all runs. With the RTL: our queues only, beside the model's runs."""
    of = bufferbloat.load()
    if seeds and seeds > len(of.seeds):
        raise UserError(f"--seeds is {seeds}; experiment bufferbloat has {len(of.seeds)}, so legal is 1 to that")
    if to_publish and engine != "model":
        raise UserError("--publish takes the engine model, which runs ns-3's queues beside ours; leave --engine out")
    shorter = of.quick.shorter if quick else 1
    chosen = of.quick.chosen(seeds) if quick else of.seeds[:seeds]
    plan = bufferbloat.planned(of, chosen, shorter, engine)
    parts = []
    with screen.working() as note:
        for name in dict.fromkeys((engine, "model")):
            for preset in PRESETS:
                program = bufferbloat.program(name, note, preset)
                own = [run for run in plan if bufferbloat.preset_of(run) == preset]
                parts.append(runs.Part(runs.Runner(program, home / "bufferbloat" / name, jobs), own))
    pieces = list(runs.pooled(parts, jobs, progress.Bar("bufferbloat")))
    results = []  # of each engine, in the order of the plan
    for first in range(0, len(pieces), len(PRESETS)):
        whole = {name: found for piece in pieces[first : first + len(PRESETS)] for name, found in piece.items()}
        results.append({run.name: whole[run.name] for run in plan})
    measured = bufferbloat.figures(of, results[0], shorter)
    short = of.quick.about(chosen) if quick else ""
    made = {
        "title": of.title,
        "engine": engine,
        "seeds": chosen,
        "quick": short,
        "versions": parts[0].runner.program.versions,
    }
    folder, kind = home / "bufferbloat" / engine, pages.kind(quick, chosen, of.seeds)
    screen_tables(of, engine, measured)
    out = screen.console()
    out.print("ms: p50, p99 of the sojourn time; sparse, the p99 of its delay above base", markup=False)
    if quick:
        out.print(f"--quick: {short}; not for comparison", markup=False, soft_wrap=True)
    if engine != "model":
        beside = rtl.beside_the_model(results[0], results[1])
        out.print(beside.sentence(), markup=False, soft_wrap=True)
        if beside.differing:
            raise build.BuildError(f"bufferbloat: {beside.sentence()}")
        return
    (folder / f"{kind}table.json").write_text(record(of, made, measured))
    write(folder / f"{kind}report.html", of, made, measured)
    out.print(f"report: {folder / f'{kind}report.html'}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
    if to_publish:
        publish(of, made, measured)
