"""`vermilion experiment l4s`: runs what is missing, then the tables, the report and docs/results/l4s.{md,json}."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from vermilion.console import screen
from vermilion.report import Page
from vermilion.values.fields import UserError

from . import intervals, l4s, pages, progress, runs
from .l4s import OVERLOADS, Case, L4s
from .l4s_pictures import QUEUES, mean, pictures, ratio
from .pages import PUBLISHED, Table

SHOWN = {  # figure: head, digits after the point
    "scalable": ("L Mbit/s", 2),
    "classic": ("C Mbit/s", 2),
    "utilisation": ("used %", 1),
    "l_median": ("L median", 2),
    "l_p95": ("L p95", 2),
    "l_p99": ("L p99", 2),
    "c_median": ("C median", 1),
    "c_p95": ("C p95", 1),
    "c_p99": ("C p99", 1),
    "l_marks": ("L CE %", 1),
    "l_drops": ("L drop %", 2),
    "c_marks": ("C CE %", 2),
    "c_drops": ("C drop %", 2),
}
FACTORS = {"l_gain": "L gain", "c_gain": "C gain", "coupled": "coupled", "trips": "R_C / R_L"}
RENO = 1.22  # RFC 9332, equation (5): packets a second are this over R sqrt(p)


def called(queue: str) -> str:
    return QUEUES.get(queue, f"k = {queue[1:]}")


def network_of(of: L4s, case: Case) -> str:
    return f"{of.rate[case[0]].bottleneck / 1e6:g} Mbit/s, {case[1]:g} ms"


def brief(of: L4s, case: Case) -> str:
    """As a table has it."""
    return f"{of.rate[case[0]].bottleneck / 1e6:g}/{case[1]:g}"


def titled(of: L4s, case: Case) -> str:
    return f"{network_of(of, case)}, {case[2]}, {called(case[3])}"


def number(x: float, digits: int) -> str:
    """A dash if it is of no packet."""
    return "-" if math.isnan(x) else f"{x:.{digits}f}"


def text(made: intervals.Interval) -> str:
    return f"{made.mean:.2f} ({made.low:.1f}-{made.high:.1f})"


def matrix(of: L4s, classic: str, queue: str, cell: Any) -> tuple[list[str], list[list[str]]]:
    """Heads and rows: base round trips down, rates across."""
    cases = l4s.grid(of, classic, queue)
    trips, rates = list(dict.fromkeys(case[1] for case in cases)), list(dict.fromkeys(case[0] for case in cases))
    lines = [[f"{rtt:g}", *(cell((rate, rtt, classic, queue)) for rate in rates)] for rtt in trips]
    return ["ms", *(f"{of.rate[rate].bottleneck / 1e6:g} Mbit/s" for rate in rates)], lines


def verdicts(of: L4s, measured: runs.Figures) -> list[list[str]]:
    """The targets: in how many cases each is met by the mean over the seeds, and the worst case."""
    first, wanted = next(iter(of.classic)), of.targets
    out = []

    def line(name: str, cases: Iterable[Case], far: Any, bound: float, unit: str) -> None:
        """`far`: a number of a case that must not be above `bound`."""
        every = list(cases)
        numbers = {case: far(case) for case in every}
        worst = max(every, key=lambda case: numbers[case])
        met = sum(number <= bound for number in numbers.values())
        shown = 1 / numbers[worst] if unit == "%" else numbers[worst]
        out.append([name, f"{met} of {len(every)}", f"{shown:.3g} {unit}".strip(), brief(of, worst)])

    def apart(case: Case) -> float:
        middle = ratio(measured, case).mean
        return max(middle, 1 / middle)

    def inverse(case: Case) -> float:
        share = mean(measured, case, "share")
        return 1 / share if share else math.inf

    for classic in of.classic:
        line(
            f"rates within 1:{wanted.ratio:g}, {classic}", l4s.grid(of, classic, "dualpi2"), apart, wanted.ratio, "to 1"
        )
    fast = [case for case in l4s.grid(of, first, "dualpi2") if of.rate[case[0]].bottleneck > wanted.above]
    above = f"above {wanted.above / 1e6:g} Mbit/s"
    for what, bound in (("median", wanted.median_ms), ("p99", wanted.p99_ms)):
        delay = lambda case, what=what: mean(measured, case, f"l_{what}")
        line(f"L's delay, {what}, below {bound:g} ms {above}", fast, delay, bound, "ms")
    every = [case for classic in of.classic for case in l4s.grid(of, classic, "dualpi2")]
    line(f"C's share at least {wanted.share:g} %, no overload", every, inverse, 1 / wanted.share + 1e-6, "%")
    for classic in ("udp", first):
        for queue in OVERLOADS:
            name = f"the same, overload = {queue}, {classic} in C"
            # Of whole packets in a short run the share is exact to a fraction of a percent.
            line(name, l4s.grid(of, classic, queue), inverse, 1 / (0.995 * wanted.share), "%")
    return out


def overloaded(of: L4s, measured: runs.Figures) -> Table:
    shown = (("share", 1), ("l_median", 1), ("c_median", 1), ("l_drops", 1), ("c_drops", 1))
    lines = [
        [classic, queue, case[0], *(number(mean(measured, case, what), n) for what, n in shown)]
        for classic in (next(iter(of.classic)), "udp")
        for queue in OVERLOADS
        for case in l4s.grid(of, classic, queue)
    ]
    title = f"L overloaded by UDP with ECT(1) at {of.overload.scalable:g} times the rate: C's share in %, medians in ms, drops in %"
    heads = ["Mbit/s", "share", "L median", "C median", "L drops", "C drops"]
    return title, ["in C", "overload"], heads, lines


def factors(of: L4s, measured: runs.Figures) -> Table:
    first = next(iter(of.classic))
    every = [case for queue in ("dualpi2", *l4s.checks(of)) for case in l4s.grid(of, first, queue)]
    every = [case for case in every if case[0] in of.check.rates and case[1] in of.check.rtt_ms]
    lines = [
        [called(case[3]), brief(of, case), text(ratio(measured, case))]
        + [number(mean(measured, case, what), 2) for what in FACTORS]
        for case in sorted(every, key=lambda case: list(of.rate).index(case[0]))
    ]
    title = f"What the ratio is made of, beside {first}: L gain over C gain, over k times coupled, times R_C / R_L"
    return title, ["variant", "case"], ["ratio", *FACTORS.values()], lines


def all_tables(of: L4s, measured: runs.Figures) -> list[Table]:
    first = next(iter(of.classic))
    made: list[Table] = [
        ("Targets, by the mean over the seeds", ["target"], ["met", "worst", "where"], verdicts(of, measured)),
    ]
    interval = lambda case: text(ratio(measured, case))
    for classic, queue in [*((classic, "dualpi2") for classic in of.classic), (first, "pie")]:
        about = "DualPI2" if queue == "dualpi2" else "PIE with ECN in one queue, the counter-example"
        (head, *heads), lines = matrix(of, classic, queue, interval)
        made.append((f"DCTCP's rate over that of {classic}, {about}", [], [head, *heads], lines))
    for what in ("l_median", "l_p99", "c_median", "c_p99"):
        name, n = SHOWN[what]
        cell = lambda case, what=what, n=n: number(mean(measured, case, what), n)
        made.append((f"{name}, ms, beside {first}, DualPI2", [], *matrix(of, first, "dualpi2", cell)))
    return [*made, overloaded(of, measured), factors(of, measured)]


def beside(of: L4s, measured: runs.Figures) -> list[Table]:
    """RFC 9332's figures beside ours: of the delay of L (section 1.4), and of the ratio of the rates (appendix C.2)."""
    pairs = [case for classic in of.classic for case in l4s.grid(of, classic, "dualpi2")]
    delays = []
    for rate, at in of.rate.items():
        own = [case for case in pairs if case[0] == rate]
        bound = max(1.0, 2 * (l4s.MTU + l4s.ETHERNET) * 8e3 / at.bottleneck)
        worst = (max(mean(measured, case, what) for case in own) for what in ("l_mean", "l_p99", "l_drops"))
        delays.append([f"{at.bottleneck / 1e6:g}", f"{bound:.2f}", *(f"{x:.2f}" for x in worst)])
    reno = [name for name, each in of.classic.items() if "Reno" in each.congestion][:1]
    lines = []
    for case in (case for case in pairs if case[2] in reno):
        expected = mean(measured, case, "trips") / RENO
        parts = [number(mean(measured, case, what), 2) for what in FACTORS]
        lines.append([brief(of, case), text(ratio(measured, case)), f"{expected:.2f}", *parts])
    return [
        (
            "L's delay in ms and loss in %, the worst case at each rate; RFC 9332, section 1.4: mean below the bound, p99 at most 2 ms, no loss",
            [],
            ["Mbit/s", "bound", "mean", "p99", "loss"],
            delays,
        ),
        (
            "DCTCP's rate over Reno's; RFC 9332, equation (10), with k = 2: R_C / (1.22 R_L), for an L gain of 2, a C gain of 1.22 and coupled 1",
            ["case"],
            ["ours", "equation (10)", *FACTORS.values()],
            lines,
        ),
    ]


def everything(of: L4s, measured: runs.Figures) -> Table:
    """All cases: delays in ms."""
    lines = [
        [titled(of, case), *(number(mean(measured, case, what), n) for what, (_, n) in SHOWN.items())]
        for case in l4s.cases(of)
    ]
    return "All cases, means over the seeds, delays in ms", ["case"], [head for head, _ in SHOWN.values()], lines


def notes(of: L4s) -> list[str]:
    net, tcp, pair, over = of.network, of.tcp, of.pair, of.overload
    times = "; ".join(
        f"{each.bottleneck / 1e6:g} Mbit/s for {each.seconds:g} s, of which the first {each.warm_up_s:g} s do not count"
        for each in of.rate.values()
    )
    classics = ", ".join(
        f"{name} (ns-3's {each.congestion.removeprefix('ns3::')}{', ECN of RFC 3168' if each.ecn else ''})"
        for name, each in of.classic.items()
    )
    return [
        "Two flows share a bottleneck without end: DCTCP with ECT(1), which the lane puts into L, and a classic flow in C. Their base round trips are equal.",
        f"Runs: {times}. Every run lasts at least {net.least_rounds} base round trips, of which half do not count. Runs with an overload are {over.shorter} times shorter.",
        f"The classic flows are {classics}. The first runs at all round trips, the others at {', '.join(f'{x:g}' for x in net.few_rtt_ms)} ms.",
        f"TCP has SACK, time stamps, window scaling and proportional rate reduction; {tcp.segment_bytes} B segments, initial window {tcp.initial_window}, an ACK for {tcp.delayed_ack} segments or after {tcp.delayed_ack_ms:g} ms, least RTO {tcp.min_rto_ms:g} ms. {'All senders are paced.' if tcp.pacing else 'No sender is paced.'}",
        f"The pair has target {pair.target_ms:g} ms, T_update {pair.tupdate_ms:g} ms, alpha {pair.alpha:g}, beta {pair.beta:g}, k = {pair.coupling}. L's step is {pair.step_ms:g} ms, or the time of {pair.step_packets} full packets where that is longer: {', '.join(f'{l4s.step_ms(of, each.bottleneck):.3g} ms at {each.bottleneck / 1e6:g} Mbit/s' for each in of.rate.values())}. L and C share by quanta of 9 to 1. The limits are {pair.limit_packets[0]} packets in C and {pair.limit_packets[1]} in L.",
        f"PIE has target {of.pie.target_ms:g} ms, ECN, and a limit of {of.pie.limit_packets} packets. Plain tail drop is no counter-example: ns-3's DCTCP without marks does not slow down after a loss, which RFC 8257 (section 3.5) asks for.",
        f"Overload: UDP with ECT(1) at {over.scalable:g} times the rate in L. In C either Cubic, or UDP without ECT at {over.classic:g} times the rate. Round trip {over.rtt_ms:g} ms. C's share is of bytes sent.",
        "The sojourn time is from a packet's arrival to its departure, of packets that are sent. Drops are percent of arrivals.",
        f"Variants: another k, no step in L, senders that are not paced, and equal round trips. There the scalable flow's base round trip is {pair.target_ms:g} ms longer, which is about what C's packets wait.",
        "Ratios are geometric means over the seeds, with their 95 % intervals (Student's t). Other figures are means.",
        "W is a flow's rate times its mean round trip R, in segments. p_L and p_C are the shares of packets marked or lost. L gain is W p_L of the flow in L, C gain is W sqrt(p_C) of the flow in C, and coupled is p_L / (k sqrt(p_C)).",
    ]


BRIEF = "A case is the rate in Mbit/s and the base round trip in ms."


def write(page: Path, of: L4s, made: dict[str, Any], measured: runs.Figures) -> None:
    """The report, one HTML file."""
    out = Page()
    first, *others = all_tables(of, measured)
    out.section("targets", "Targets")
    out.text(
        f"Seeds {pages.numbers(made['seeds'])}"
        + (f", --quick: {made['quick']}." if made["quick"] else ".")
        + f" {BRIEF}"
    )
    pages.on_page(out, [first])
    for sentence in (*of.shows, *of.reasons):
        out.text(sentence)
    out.section("figures", "Figures")
    for name, caption, height, draw in pictures(of, measured):
        out.figure(name, caption, height, draw)
    out.section("beside", "Beside RFC 9332")
    for sentence in of.beside:
        out.text(sentence)
    pages.on_page(out, beside(of, measured))
    out.section("tables", "Tables")
    pages.on_page(out, [*others, everything(of, measured)])
    pages.closing(out, made, of, notes(of))
    page.write_text(out.html(of.title), encoding="utf-8")


def page(of: L4s, made: dict[str, Any], measured: runs.Figures) -> str:
    lines = [
        f"# {of.title}",
        "",
        f"`./vermilion experiment l4s --publish` makes this page: seeds {pages.numbers(made['seeds'])}, engine model, ns-3 {made['versions']['ns3']}. [l4s.json](l4s.json) has each seed's figures.",
        "Settings: [sim/experiments/compare/l4s.toml](../../sim/experiments/compare/l4s.toml). They were fixed after pilots with seeds 1 and 2001, before the first run with these seeds. Pictures: the report that the command writes.",
        "",
        "## What it shows",
        "",
        *(f"* {each}" for each in of.shows),
        "",
        "## Targets",
        "",
        BRIEF,
    ]
    first, *others = all_tables(of, measured)
    lines += [*pages.titled(first), "", "Why targets are missed:", "", *(f"* {each}" for each in of.reasons)]
    lines += ["", "## Beside the PI2 paper and RFC 9332", "", *(f"* {each}" for each in of.beside)]
    for made_ in beside(of, measured):
        lines += pages.titled(made_)
    lines += ["", "## Tables"]
    for made_ in others:
        lines += pages.titled(made_)
    lines += ["", "## How it was run", "", *(f"* {note}" for note in notes(of))]
    return "\n".join(lines) + "\n"


def publish(of: L4s, made: dict[str, Any], measured: runs.Figures) -> None:
    measured = pages.as_recorded(measured)
    (PUBLISHED / "l4s.md").write_text(page(of, made, measured))
    (PUBLISHED / "l4s.json").write_text(pages.recorded(made, {"runs": pages.told(measured)}))


def conduct(engine: str, seeds: int | None, quick: bool, jobs: int, to_publish: bool, home: Path) -> None:
    """The command: `seeds` is the number asked for, `home` the folder of all runs."""
    of = l4s.load()
    if engine != "model":
        raise UserError(f"--engine {engine}: does not serve experiment l4s yet; legal is model")
    if seeds and seeds > len(of.seeds):
        raise UserError(f"--seeds is {seeds}; experiment l4s has {len(of.seeds)}, so legal is 1 to that")
    shorter = of.quick.shorter if quick else 1
    chosen = of.quick.chosen(seeds) if quick else of.seeds[:seeds]
    with screen.working() as note:
        program = l4s.program(note)
    folder, kind = home / "l4s" / engine, pages.kind(quick, chosen, of.seeds)
    results = runs.Runner(program, folder, jobs).all(l4s.planned(of, chosen, shorter), progress.Bar("l4s"))
    measured = l4s.figures(of, results, shorter)
    short = of.quick.about(chosen) if quick else ""
    made = {"title": of.title, "engine": engine, "seeds": chosen, "quick": short, "versions": program.versions}
    pages.on_screen(all_tables(of, measured))
    out = screen.console()
    if quick:
        out.print(f"--quick: {short}; not for comparison", markup=False, soft_wrap=True)
    (folder / f"{kind}table.json").write_text(json.dumps(made | {"runs": pages.told(measured)}, indent=1) + "\n")
    write(folder / f"{kind}report.html", of, made, measured)
    out.print(f"report: {folder / f'{kind}report.html'}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
    if to_publish:
        publish(of, made, measured)
