"""`vermilion experiment schemes`: runs what is missing, then the tables, the report and docs/results/schemes.{md,json}."""

from pathlib import Path
from statistics import fmean
from typing import Any

from vermilion.console import screen
from vermilion.report import Page
from vermilion.values.units import rate

from . import intervals, pages, progress, runs, schemes
from .pages import PUBLISHED, Table
from .schemes import ALONE, NS3
from .schemes_pictures import pictures

HEADS = {  # of the table without a marker: figure, head
    "goodput": "goodput",
    "delay": "delay",
    "p99": "p99",
    "loss": "loss",
    "ce": "CE",
    "fairness": "fair",
    "short_s": "short",
}
TITLES = {  # of the tables with markers
    "goodput": "Goodput of all flows, Mb/s",
    "delay": "Mean delay at cr, ms",
    "p99": "99th percentile of the delay at cr, ms",
    "loss": "Loss at cr, %",
    "green_loss": "Loss of green packets, %",
    "yellow_loss": "Loss of yellow packets, %",
    "red_loss": "Loss of red packets, %",
    "ce": "Packets marked CE, %",
    "fairness": "Fairness of the long flows",
    "short_s": "Time of a short flow, s",
}
COMPARED = {  # of ours beside ns-3's: title, unit
    "goodput": ("Goodput", "Mb/s"),
    "delay": ("Mean delay", "ms"),
    "loss": ("Loss", "%"),
    "ce": ("Packets marked CE", "%"),
    "fairness": ("Fairness", ""),
    "short_s": ("Time of a short flow", "s"),
}
ECN_PAIRS = (("goodput", "delay"), ("loss", "fairness"), ("short_s", "p99"))  # two columns a table


def line(queue: str, ecn: str) -> str:
    """As the pages call a queue."""
    whose = ", ns-3" if queue.startswith(NS3) else ""
    return queue.removeprefix(NS3) + whose + (", ECN" if ecn == "mark" else "")


def shown(measured: runs.Figures, each: schemes.Name, what: str) -> str:
    """A figure's mean; of colours that did not come there is no loss."""
    name = ".".join(each)
    if what in schemes.OF_COLOURS and not any(measured[f"{name}.{what.removesuffix('_loss')}"]):
        return "-"
    return pages.three(fmean(measured[f"{name}.{what}"]))


def alone(of: schemes.Schemes, measured: runs.Figures) -> Table:
    """Without a marker: ours, each with ns-3's below it."""
    every = {each[:2]: each for each in schemes.names(of) if each[2] == ALONE}
    order = [
        (whose + queue, ecn)
        for queue in dict.fromkeys([*of.queue, *of.ns3])
        for ecn in schemes.ECN
        for whose in ("", NS3)
    ]
    rows = [[line(*key), *(shown(measured, every[key], what) for what in HEADS)] for key in order if key in every]
    return "Without a marker: Mb/s, ms, ms, %, %, Jain's index, s", ["queue"], list(HEADS.values()), rows


def by_marker(of: schemes.Schemes, measured: runs.Figures) -> list[Table]:
    """A table for each figure: our queues and ECN down, markers across."""
    rows = [(queue, ecn) for queue in of.queue for ecn in schemes.ECN]
    return [
        (
            title,
            ["queue"],
            list(of.marker),
            [[line(*row), *(shown(measured, (*row, marker), what) for marker in of.marker)] for row in rows],
        )
        for what, title in TITLES.items()
    ]


def compared(of: schemes.Schemes, measured: runs.Figures) -> list[dict[str, Any]]:
    """Ours beside ns-3's: both means with their 95 % intervals, and the mean of the paired differences with its own."""
    out = []
    for what in COMPARED:
        for queue in schemes.beside(of):
            for ecn in schemes.ECN:
                if (queue == "tail" and ecn == "mark") or (what == "ce" and ecn == "drop"):
                    continue  # tail drop marks nothing; neither does a queue without ECN
                pair = [measured[f"{whose}{queue}.{ecn}.{ALONE}.{what}"] for whose in ("", NS3)]
                both = {whose: vars(intervals.of_mean(one)) for whose, one in zip(("ours", "ns3"), pair, strict=True)}
                made: dict[str, Any] = {"difference": vars(intervals.difference(*pair))}
                out.append({"queue": queue, "ecn": ecn, "figure": what} | both | made)
    return out


def apart(row: dict[str, Any]) -> bool:
    """Whether the difference's interval does not contain 0, by more than both round times differently (1 us, 0.001 %)."""
    low, high = row["difference"]["low"], row["difference"]["high"]
    return bool(low > 1e-3 or high < -1e-3)


def overlap(row: dict[str, Any]) -> bool:
    """Whether the intervals of both means have a point in common."""
    return bool(row["ours"]["low"] <= row["ns3"]["high"] and row["ns3"]["low"] <= row["ours"]["high"])


def beside(rows: list[dict[str, Any]]) -> list[Table]:
    made: list[Table] = []
    for what, (title, unit) in COMPARED.items():
        lines = [
            [
                line(row["queue"], row["ecn"]) + (" *" if apart(row) else ""),
                *(pages.ranged(intervals.Interval(**row[whose])) for whose in ("ours", "ns3")),
                f"{row['difference']['mean']:+.2g}",
            ]
            for row in rows
            if row["figure"] == what
        ]
        made.append((f"{title}, {unit}" if unit else title, ["queue"], ["ours", "ns-3's", "difference"], lines))
    return made


def counted(rows: list[dict[str, Any]]) -> str:
    overlapping, zero = sum(map(overlap, rows)), sum(not apart(row) for row in rows)
    return f"The intervals of both means overlap in {overlapping} of {len(rows)} comparisons. The interval of the paired difference contains 0 in {zero}."


def ecn_effects(of: schemes.Schemes, measured: runs.Figures) -> list[Table]:
    """What ECN changes, marker none, seed by seed: the difference of each figure with its 95 % interval."""

    def cell(queue: str, what: str) -> str:
        pair = (measured[f"{queue}.{ecn}.{ALONE}.{what}"] for ecn in reversed(schemes.ECN))
        made = intervals.difference(*pair)
        return f"{made.mean:+.2g} ({made.low:+.2g} to {made.high:+.2g})"

    queues = [*of.queue, *(NS3 + queue for queue in of.ns3)]
    queues = [queue for queue in queues if queue.removeprefix(NS3) != "tail"]
    return [
        (
            " and ".join((TITLES[pair[0]], TITLES[pair[1]])),
            ["queue"],
            [HEADS[what] for what in pair],
            [[line(queue, "drop"), *(cell(queue, what) for what in pair)] for queue in queues],
        )
        for pair in ECN_PAIRS
    ]


def notes(of: schemes.Schemes) -> list[str]:
    net, tcp = of.network, of.tcp
    delayed = f"an ACK for {tcp.delayed_ack} segments or after {tcp.delayed_ack_ms:g} ms"
    return [
        f"Traffic: hosts h1 to h{len(net.rtt_ms)} send without end. Their round trips are {', '.join(f'{x:g}' for x in net.rtt_ms)} ms. {of.short.clients} clients ask another host for {of.short.response_bytes:,} B, again and again. All share the {net.bottleneck / 1e6:g} Mbit/s from cr to r for {net.seconds:g} s. Every queue has the same traffic and starting times with one seed.",
        f"Distances: hosts {' and '.join(map(str, net.far))} are two routers further away. DDRED infers that from the TTL.",
        f"Colours: each host marks its first {rate(of.leaf['marker'][0]['rate']) / 1e6:g} Mbit/s green and the rest red. The router er has the marker. `none` leaves the colours as they are, REDP starts from them. WPM, APM and 3CPM mark anew, by flow.",
        f"Queues of ours: all have a limit of {of.lane['queue'][0]['limit_packets'].removesuffix('p')} packets. Tail drop, RED, gentle, ExRED and DDRED have one curve for all colours. WRED, RIO-C and RIO-DC have the same three. The thresholds are ours and were not tuned for any of them. PIE and CoDel ignore colours.",
        f"PIE has RFC 8033's defaults, with a target of {of.pie.target_ms:g} ms. CoDel has a target of {of.codel.target_ms:g} ms and an interval of {of.codel.interval_ms:g} ms. A full packet takes 7 ms here, and RFC 8290 (section 5.2.2) asks for a target that is no shorter.",
        "ns-3's discs have the settings of our queue of the same name; FqCoDel has those of CoDel. Two of ns-3's defaults are changed for that: PIE spreads its drops without ECN (UseDerandomization), and CoDel's MinBytes is 1501. The discs ignore colours, so they run without a marker.",
        "ECN: the queue marks where it would drop early. ns-3's TCP has UseEcn On at both ends. It negotiates ECN in the SYN, data segments are ECT(0), and an echo halves the window once a round trip. SYNs, acknowledgements and retransmissions are not ECN-capable, so they are dropped as without ECN. Over a curve's end everything is dropped. Tail drop marks nothing.",
        f"TCP is ns-3's NewReno without SACK and time stamps: {tcp.segment_bytes} B segments, initial window {tcp.initial_window}, least RTO {tcp.min_rto_ms:g} ms, {'an ACK for each segment' if tcp.delayed_ack == 1 else delayed}.",
        "Delay is from arrival at cr to the time at which the queue's scheduler chooses the packet. Loss is of the packets that came to cr, of a colour or of all. `-` means that none came in that colour. Fairness is Jain's index of the long flows' goodput.",
        "Settings: seven schemes were tried with one seed and profiles of 0.3 Mbit/s, which together are more than the bottleneck. PIE, CoDel and ns-3's discs were tried with seed 1. The settings were fixed after that, before the first run of these schemes with the published seeds.",
    ]


MARKED = "`*`: the interval of the paired difference, ours less ns-3's, does not contain 0."
EFFECT = "Each cell is the mean of the paired differences, with ECN less without, and its 95 % interval (Student's t). An interval with 0 in it shows no effect."


def write(page: Path, of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> None:
    """The report, one HTML file."""
    out, rows = Page(), compared(of, measured)
    out.section("alone", "Queues without a marker")
    out.text(f"Seeds {pages.numbers(made['seeds'])}" + (f", --quick: {made['quick']}." if made["quick"] else "."))
    for sentence in of.shows:
        out.text(sentence)
    pages.on_page(out, [alone(of, measured)])
    out.section("figures", "Figures")
    for name, caption, height, draw in pictures(of, measured):
        out.figure(name, caption, height, draw)
    out.section("beside", "Ours beside ns-3's")
    out.text(f"{counted(rows)} {MARKED.replace('`', '')}")
    pages.on_page(out, beside(rows))
    for sentence in of.differences:
        out.text(pages.plain(sentence))
    out.section("ecn", "What ECN changes")
    out.text(EFFECT)
    pages.on_page(out, ecn_effects(of, measured))
    out.section("markers", "With markers")
    pages.on_page(out, by_marker(of, measured))
    pages.closing(out, made, of, notes(of))
    page.write_text(out.html(of.title), encoding="utf-8")


def page(of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> str:
    rows, ns3 = compared(of, measured), len(of.ns3) * len(schemes.ECN)
    lines = [
        f"# {of.title}",
        "",
        f"`./vermilion experiment schemes --publish` makes this page: {len(schemes.ours(of))} schemes of ours and {ns3} of ns-3's on the same traffic, seeds {pages.numbers(made['seeds'])}, engine model, ns-3 {made['versions']['ns3']}.",
        "[schemes.json](schemes.json) has each seed's figures and the 95 % interval of each mean. Settings: [sim/experiments/compare/schemes.toml](../../sim/experiments/compare/schemes.toml). Pictures: the report that the command writes.",
        "",
        "## What it shows",
        "",
        *(f"* {each}" for each in of.shows),
        "",
        "## Queues without a marker",
        "",
        f"Goodput in Mb/s of {of.network.bottleneck / 1e6:g}, delay at cr in ms (mean and 99th percentile), packets lost and marked CE in %, the long flows' fairness (Jain's index), seconds of a short flow. Means over {len(made['seeds'])} seeds.",
        "",
        *pages.titled(alone(of, measured))[3:],
        "",
        "## Ours beside ns-3's",
        "",
        f"{counted(rows)} Of 20 comparisons without a difference, one interval does not contain 0.",
        "",
        f"Each mean has its 95 % interval over the seeds (Student's t). {MARKED}",
    ]
    for made_ in beside(rows):
        lines += pages.titled(made_)
    lines += [
        "",
        "Why they differ:",
        "",
        *(f"* {each}" for each in of.differences),
        "",
        "## What ECN changes",
        "",
        EFFECT,
    ]
    for made_ in ecn_effects(of, measured):
        lines += pages.titled(made_)
    lines += ["", "## With markers", "", "Means over the seeds. Queues and ECN down, markers across."]
    for made_ in by_marker(of, measured):
        lines += pages.titled(made_)
    lines += ["", "## How it was run", "", *(f"* {note}" for note in notes(of))]
    return "\n".join(lines) + "\n"


def record(of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> str:
    differences = [pages.rounded(row) for row in compared(of, measured)]
    return pages.recorded(made, {"schemes": pages.told(measured), "differences": differences})


def publish(of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> None:
    measured = pages.as_recorded(measured)
    (PUBLISHED / "schemes.md").write_text(page(of, made, measured))
    (PUBLISHED / "schemes.json").write_text(record(of, made, measured))


def conduct(seeds: int | None, quick: bool, jobs: int, to_publish: bool, home: Path) -> None:
    """The command: `seeds` is the number asked for, `home` the folder of all runs."""
    of = schemes.load()
    with screen.working() as note:
        program = schemes.program("model", note)
    shorter = of.quick.shorter if quick else 1
    chosen = of.quick.chosen(seeds) if quick else of.seeds[:seeds]
    plan, folder = schemes.planned(of, chosen, shorter), home / "schemes" / "model"
    results = runs.Runner(program, folder, jobs).all(plan, progress.Bar("schemes"))
    measured = schemes.figures(of, results, shorter)
    short = of.quick.about(chosen) if quick else ""
    made = {"title": of.title, "engine": "model", "seeds": chosen, "quick": short, "versions": program.versions}
    kind = pages.kind(quick, chosen, of.seeds)
    (folder / f"{kind}table.json").write_text(record(of, made, measured))
    write(folder / f"{kind}report.html", of, made, measured)
    if to_publish:
        publish(of, made, measured)
    shown_ = by_marker(of, measured)
    pages.on_screen([alone(of, measured), *shown_])
    out = screen.console()
    if quick:
        out.print(f"--quick: {short}; not for comparison", markup=False, soft_wrap=True)
    out.print(f"report: {folder / f'{kind}report.html'}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
