"""`vermilion experiment step`: runs what is missing, then the table, the report and docs/results/step.{md,json}."""

import itertools
import json
from html import escape
from pathlib import Path
from statistics import fmean
from typing import Any

from vermilion.console import screen
from vermilion.console.tables import table
from vermilion.report import Page, tables
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import pages, progress, rtl, runs, step
from .step import Step

PUBLISHED = build.ROOT / "docs" / "results"
SHOWN = {  # figure: head, digits after the point
    "goodput": ("Mbit/s", 0),
    "depth_p1": ("p1", 0),
    "depth_median": ("p50", 0),
    "depth_p99": ("p99", 0),
    "swing": ("sd", 1),
    "p99": ("us p99", 0),
    "marks": ("CE %", 1),
}
CHECKED = {"judged": "judged", "wrong": "wrong", "last_without": "K - 1, no CE", "first_with": "K, CE"}
HEADS = ["K", "flows", "marks at"]
ABOUT = "p1, p50, p99, sd: packets behind a packet that leaves, and their standard deviation; us p99: sojourn time"


def lines(of: Step, measured: runs.Figures, engine: str) -> list[list[str]]:
    """A row for each case: means over the seeds."""
    return [
        [
            *map(str, case),
            *(f"{fmean(measured[f'{step.name(case)}.{what}']):.{digits}f}" for what, (_, digits) in SHOWN.items()),
        ]
        for case in step.cases(of, engine)
    ]


def checks(of: Step, measured: runs.Figures, engine: str) -> list[list[str]]:
    """A row for each case: packets of all seeds that were judged, and met the step."""
    return [
        [*map(str, case), *(f"{sum(measured[f'{step.name(case)}.{what}']):,.0f}" for what in CHECKED)]
        for case in step.cases(of, engine)
    ]


def notes(of: Step) -> list[str]:
    net, at, tcp = of.network, of.bottleneck, of.tcp
    return [
        f"{' or '.join(map(str, net.flows))} DCTCP flows share a bottleneck of {at.rate / 1e9:g} Gbit/s with a base round trip of {net.rtt_us:g} us. All other links have {net.link / 1e9:g} Gbit/s. Each flow starts at its own time within the first {net.start_ms:g} ms.",
        f"Runs last {at.seconds:g} s, of which the first {at.warm_up_s:g} s do not count.",
        f"The queue marks packets of an ECN-capable flow when K or more packets are queued: min = max = K and a weight of 1, in packets. At enqueue those are counted that are queued before the packet; at dequeue those behind it. The limit is {net.limit_packets} packets.",
        f"TCP is ns-3's {tcp.congestion.removeprefix('ns3::')} with SACK, time stamps and window scaling; {tcp.segment_bytes} B segments, initial window {tcp.initial_window}, an ACK for {tcp.delayed_ack} segments or after {tcp.delayed_ack_ms:g} ms, least RTO {tcp.min_rto_ms:g} ms. {'Senders are paced.' if tcp.pacing else 'No sender is paced.'}",
        f"Exact to a packet: from the times at which each packet came and left, its depth is counted again. A packet is not judged if another one came or left within the {step.DECIDES_NS} ns that the lane takes to decide, or if its queue is not known from the list of packets. All others must have CE if and only if their depth is K or more.",
        "The sojourn time is from a packet's arrival to its departure.",
    ]


def screen_tables(of: Step, measured: runs.Figures, engine: str) -> None:
    out = screen.console()
    shown = table(of.title, ["K", "flows", "at"], [head for head, _ in SHOWN.values()])
    for line in lines(of, measured, engine):
        shown.add_row(*line)
    out.print(shown)
    out.print(ABOUT, markup=False, soft_wrap=True)
    shown = table("Exact to a packet", ["K", "flows", "at"], list(CHECKED.values()))
    for line in checks(of, measured, engine):
        shown.add_row(*line)
    out.print(shown)


def write(page: Path, of: Step, made: dict[str, Any], measured: runs.Figures) -> None:
    """The report, one HTML file."""
    out = Page()
    out.section("queue", "Queue, goodput and marks")
    out.text(f"Seeds {pages.numbers(made['seeds'])}" + (f", --quick: {made['quick']}." if made["quick"] else "."))
    out.body.append(tables.table(HEADS, [head for head, _ in SHOWN.values()], lines(of, measured, "model")))
    out.text(ABOUT + ".")
    for sentence in of.shows:
        out.text(sentence)
    out.section("exact", "Exact to a packet")
    out.body.append(tables.table(HEADS, list(CHECKED.values()), checks(of, measured, "model")))
    out.section("how", "How it was run")
    for note in notes(of):
        out.text(note)
    out.body.append(tables.table(["software"], [], [[f"{k} {v}"] for k, v in made["versions"].items()]))
    settings = json.dumps(of.model_dump(mode="json"), indent=1, default=str)
    out.details("All settings, as JSON", f"<pre>{escape(settings)}</pre>")
    page.write_text(out.html(of.title), encoding="utf-8")


def page(of: Step, made: dict[str, Any], measured: runs.Figures) -> str:
    heads = [head for head, _ in SHOWN.values()]
    out = [
        f"# {of.title}",
        "",
        f"`./vermilion experiment step --publish` makes this page: seeds {pages.numbers(made['seeds'])}, engine model, ns-3 {made['versions']['ns3']}. [step.json](step.json) has each seed's figures.",
        "Settings: [sim/experiments/compare/step.toml](../../sim/experiments/compare/step.toml). They were fixed after pilots with seeds 1 to 3, before the first run with these seeds.",
        "",
        "## What it shows",
        "",
        *(f"* {each}" for each in of.shows),
        "",
        "## Queue, goodput and marks",
        "",
        f"Means over {len(made['seeds'])} seeds. {ABOUT}.",
        "",
        *pages.markdown(HEADS, heads, lines(of, measured, "model")),
        "",
        "## Exact to a packet",
        "",
        "Packets of all seeds. `wrong` must be 0: no mark below K, a mark on all others.",
        "",
        *pages.markdown(HEADS, list(CHECKED.values()), checks(of, measured, "model")),
        "",
        "## How it was run",
        "",
        *(f"* {note}" for note in notes(of)),
    ]
    return "\n".join(out) + "\n"


def publish(of: Step, made: dict[str, Any], measured: runs.Figures) -> None:
    (PUBLISHED / "step.md").write_text(page(of, made, measured))
    each = ",\n".join(f"{json.dumps(name)}: {json.dumps(figures)}" for name, figures in pages.told(measured).items())
    (PUBLISHED / "step.json").write_text(f'{json.dumps(made)[:-1]}, "runs": {{\n{each}\n}}}}\n')


def conduct(engine: str, seeds: int | None, quick: bool, jobs: int, to_publish: bool, home: Path) -> None:
    """The command: `seeds` is the number asked for, `home` the folder of all runs. With the RTL: the rows of `rtl` in the settings, beside the model's runs."""
    of = step.load()
    if engine not in step.ENGINES:
        raise UserError(f"--engine {engine}: does not serve experiment step; legal are {', '.join(step.ENGINES)}")
    if seeds and seeds > len(of.seeds):
        raise UserError(f"--seeds is {seeds}; experiment step has {len(of.seeds)}, so legal is 1 to that")
    if to_publish and engine != "model":
        raise UserError("--publish takes the engine model, which runs all rows; leave --engine out")
    shorter = of.quick.shorter if quick else 1
    chosen = of.quick.chosen(seeds) if quick else of.seeds[:seeds]
    plan = step.planned(of, chosen, shorter, engine)
    parts = []
    with screen.working() as note:
        for each, late in itertools.product(dict.fromkeys((engine, "model")), (False, True)):
            runner = runs.Runner(step.program(each, note, late), home / "step" / each, jobs)
            parts.append(runs.Part(runner, [run for run in plan if step.is_late(run) == late]))
    halves = list(runs.pooled(parts, jobs, progress.Bar("step")))
    results = []  # of each engine, in the order of the plan
    for one, other in zip(halves[::2], halves[1::2], strict=True):
        both = one | other
        results.append({run.name: both[run.name] for run in plan})
    measured = step.figures(of, results[0], shorter)
    short = of.quick.about(chosen) if quick else ""
    versions = parts[0].runner.program.versions
    made = {"title": of.title, "engine": engine, "seeds": chosen, "quick": short, "versions": versions}
    folder, kind = home / "step" / engine, pages.kind(quick, chosen, of.seeds)
    screen_tables(of, measured, engine)
    out = screen.console()
    if quick:
        out.print(f"--quick: {short}; not for comparison", markup=False, soft_wrap=True)
    faults = step.faults(measured, [step.name(case) for case in step.cases(of, engine)])
    if engine != "model":
        beside = rtl.beside_the_model(results[0], results[1])
        out.print(beside.sentence(), markup=False, soft_wrap=True)
        faults += [beside.sentence()] if beside.differing else []
    if faults:
        raise build.BuildError("step: " + "; ".join(faults))
    out.print("each mark is exact to a packet: none below K, and one on all others", markup=False, soft_wrap=True)
    if engine != "model":
        return
    (folder / f"{kind}table.json").write_text(json.dumps(made | {"runs": pages.told(measured)}, indent=1) + "\n")
    write(folder / f"{kind}report.html", of, made, measured)
    out.print(f"report: {folder / f'{kind}report.html'}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
    if to_publish:
        publish(of, made, measured)
