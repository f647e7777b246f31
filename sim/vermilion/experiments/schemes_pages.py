"""`vermilion experiment schemes`: runs what is missing, then the table, the report and docs/results/schemes.{md,json}."""

import json
from html import escape
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from vermilion.console import screen
from vermilion.console.tables import table
from vermilion.report import Page, tables
from vermilion.toolchain import build

from . import drawing, intervals, pages, progress, runs, schemes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PUBLISHED = build.ROOT / "docs" / "results"
LEFT = ["queue", "ECN", "marker"]
HEADS = {
    "goodput": "goodput, Mb/s",
    "delay": "delay, ms",
    "loss": "loss, %",
    "green_loss": "green",
    "yellow_loss": "yellow",
    "red_loss": "red",
    "ce": "CE, %",
    "fairness": "fairness",
    "short_s": "short flow, s",
}
DRAWN = {  # figure: (title, whether more is better)
    "delay": ("Delay at cr, ms", False),
    "goodput": ("Goodput of all flows, Mb/s", True),
    "short_s": ("Time of a short flow, s", False),
    "fairness": ("Fairness of the long flows (Jain)", True),
}
SHAPES = "osD^v*"


def shown(of: schemes.Schemes, measured: runs.Figures, each: tuple[str, str, str], what: str) -> str:
    """A figure's mean; of colours that did not come there is no loss."""
    name = ".".join(each)
    colour = what.removesuffix("_loss")
    if what != colour and not any(measured[f"{name}.{colour}"]):
        return "-"
    return f"{fmean(measured[f'{name}.{what}']):.3g}"


def rows(of: schemes.Schemes, measured: runs.Figures) -> list[list[str]]:
    words = {"drop": "off", "mark": "on"}
    return [
        [each[0], words[each[1]], each[2], *(shown(of, measured, each, what) for what in HEADS)]
        for each in schemes.names(of)
    ]


def field(of: schemes.Schemes, measured: runs.Figures, what: str, more_is_better: bool) -> drawing.Draw:
    """Queues and ECN down, markers across; the darker the better."""

    def draw(figure: "Figure") -> None:
        axis = figure.subplots()
        lines = [(queue, ecn) for queue in of.queue for ecn in schemes.ECN]
        markers = list(of.marker)
        values = [[fmean(measured[f"{queue}.{ecn}.{m}.{what}"]) for m in markers] for queue, ecn in lines]
        shades = "Greens" if more_is_better else "Greens_r"
        axis.pcolormesh(values, cmap=shades, alpha=0.75, edgecolors="white", linewidth=0.5)
        low, high = min(map(min, values)), max(map(max, values))
        for y, line in enumerate(values):
            for x, value in enumerate(line):
                depth = (value - low) / (high - low) if high > low else 0.0
                dark = (depth if more_is_better else 1 - depth) > 0.6
                ink = "#ffffff" if dark else "#222222"
                axis.text(x + 0.5, y + 0.5, f"{value:.3g}", ha="center", va="center", color=ink, fontsize=7)
        axis.set_xticks([x + 0.5 for x in range(len(markers))], markers)
        axis.set_yticks([y + 0.5 for y in range(len(lines))], [q + (", ECN" if e == "mark" else "") for q, e in lines])
        axis.invert_yaxis()
        axis.grid(False)

    return draw


def frontier(of: schemes.Schemes, measured: runs.Figures) -> drawing.Draw:
    def draw(figure: "Figure") -> None:
        axes = figure.subplots(1, len(schemes.ECN), sharex=True, sharey=True)
        for axis, ecn, title in zip(axes, schemes.ECN, ("without ECN", "with ECN"), strict=False):
            for queue, ink in drawing.inks(of.queue, {}).items():
                for marker, shape in zip(of.marker, SHAPES, strict=False):
                    name = f"{queue}.{ecn}.{marker}"
                    at = fmean(measured[f"{name}.delay"]), fmean(measured[f"{name}.goodput"])
                    axis.plot(*at, shape, color=ink, markersize=5)
                axis.plot([], [], "o", color=ink, label=queue)
            axis.set(xlabel="delay at cr, ms", title=title)
        for marker, shape in zip(of.marker, SHAPES, strict=False):
            axes[1].plot([], [], shape, color="#777777", label=marker)
        axes[0].set_ylabel("goodput, Mb/s")
        axes[1].legend(fontsize=6, ncols=2)

    return draw


def notes(of: schemes.Schemes) -> list[str]:
    net, tcp = of.network, of.tcp
    return [
        f"Hosts h1 to h{len(net.rtt_ms)} send without end, with round trips of {', '.join(f'{x:g}' for x in net.rtt_ms)} ms; hosts {', '.join(map(str, net.far))} are two routers further away, which is what "
        f"DDRED's distances are inferred from. {of.short.clients} clients ask another host for {of.short.response_bytes:,} B, again and again. All share the {net.bottleneck / 1e6:g} Mbit/s from cr to r, for {net.seconds:g} s.",
        f"Hosts mark what is within {of.leaf['marker'][0]['rate']} each green, the rest red. er's marker: none leaves that; REDP believes it; WPM, APM and 3CPM mark anew, by flow.",
        "tail, RED, gentle, ExRED and DDRED have one curve for all colours, WRED, RIO-C and RIO-DC the same three; the thresholds are ours, and were not tuned for any of them.",
        "With ECN the queue marks where its curve would drop early, and ns-3's TCP has TcpSocketBase::UseEcn On at both ends: it negotiates ECN in the SYN, data segments are ECT(0), and an echo halves the window once a round trip. "
        "SYNs, acknowledgements and retransmissions are not ECN-capable, so they are dropped as without it; over a curve's end everything is dropped. Tail drop marks nothing: its rows with ECN and without are alike. "
        "CE counts arriving packets; DDRED marks queued ones in their stead, which are not in it.",
        f"TCP is ns-3's NewReno without SACK and time stamps, {tcp.segment_bytes} B segments, initial window {tcp.initial_window}, least RTO {tcp.min_rto_ms:g} ms, "
        + (
            "an ACK a segment."
            if tcp.delayed_ack == 1
            else f"an ACK for {tcp.delayed_ack} segments or {tcp.delayed_ack_ms:g} ms."
        ),
        "Before the settings were fixed, seven schemes were tried with one seed and profiles of 0.3 Mbit/s, together more than the bottleneck; nothing else was changed behind that.",
        "Loss of a colour is of the packets that came to cr in that colour; - where none came. Delay is from arrival at cr to the end of sending. Fairness is Jain's index of the long flows' goodput.",
    ]


def write(page: Path, of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> None:
    out = Page()
    out.section("table", "All schemes")
    out.text(
        f"Means of seeds {pages.numbers(made['seeds'])}" + (f", --quick: {made['quick']}." if made["quick"] else ".")
    )
    out.body.append(tables.table(LEFT, list(HEADS.values()), rows(of, measured)))
    out.section("figures", "Figures")
    out.figure(
        "frontier", "Goodput against delay: colour for the queue, shape for the marker", 3.6, frontier(of, measured)
    )
    for what, (title, more) in DRAWN.items():
        out.figure(what.replace("_", "-"), f"{title}; the darker the better", 4.2, field(of, measured, what, more))
    out.section("how", "How it was run")
    for note in notes(of):
        out.text(note)
    out.body.append(tables.table(["software"], [], [[f"{k} {v}"] for k, v in made["versions"].items()]))
    text = json.dumps(of.model_dump(mode="json"), indent=1, default=str)
    out.details("All settings, as JSON", f"<pre>{escape(text)}</pre>")
    page.write_text(out.html(of.title), encoding="utf-8")


def record(of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> dict[str, Any]:
    """Of each figure the mean, the standard deviation, the 95 % interval of the mean, and each seed's."""

    def short(x: float) -> float:
        return float(f"{x:.7g}")

    def told(numbers: list[float]) -> dict[str, Any]:
        made = intervals.of_mean(numbers)
        out: dict[str, Any] = {"mean": short(made.mean), "stdev": short(stdev(numbers)) if len(numbers) > 1 else 0.0}
        if len(numbers) > 1:
            out["interval"] = [short(made.low), short(made.high)]
        return out | {"seeds": [short(x) for x in numbers]}

    each = {
        ".".join(name): {what: told(measured[f"{'.'.join(name)}.{what}"]) for what in schemes.FIGURES}
        for name in schemes.names(of)
    }
    return made | {"schemes": each}


ECN_HEADS = ("goodput", "delay", "loss", "fairness", "short_s")


def ecn_effects(of: schemes.Schemes, measured: runs.Figures) -> list[list[str]]:
    """What ECN changes, marker none, seed by seed: the difference of each figure with its 95 % interval."""

    def cell(queue: str, what: str) -> str:
        pair = (measured[f"{queue}.{ecn}.none.{what}"] for ecn in reversed(schemes.ECN))
        made = intervals.difference(*pair)
        return f"{made.mean:+.2g} ({made.low:+.2g} to {made.high:+.2g})"

    return [[queue, *(cell(queue, what) for what in ECN_HEADS)] for queue in of.queue if "none" in of.marker]


def publish(of: schemes.Schemes, made: dict[str, Any], measured: runs.Figures) -> None:
    heads = [*LEFT, *HEADS.values()]
    lines = [
        f"# {of.title}",
        "",
        f"Made by `./vermilion experiment schemes --publish`: {len(schemes.names(of))} schemes on the same traffic, means of seeds {pages.numbers(made['seeds'])}, engine model. [schemes.json](schemes.json) has each seed's figures and the 95 % interval of each mean. Settings, which were there",
        "before the first run: [sim/experiments/compare/schemes.toml](../../sim/experiments/compare/schemes.toml). Pictures: the report that the command writes.",
        "",
        *(f"* {note}" for note in notes(of)),
        "",
        "| " + " | ".join(heads) + " |",
        "| " + " | ".join(["---"] * len(LEFT) + ["---:"] * len(HEADS)) + " |",
        *("| " + " | ".join(row) + " |" for row in rows(of, measured)),
        "",
        "## What ECN changes",
        "",
        "Figure with ECN less figure without, marker none: the mean of the paired differences, in brackets their 95 % interval (Student's t). An interval with 0 in it shows no effect.",
        "",
        "| queue | " + " | ".join(HEADS[what] for what in ECN_HEADS) + " |",
        "| --- | " + " | ".join(["---:"] * len(ECN_HEADS)) + " |",
        *("| " + " | ".join(row) + " |" for row in ecn_effects(of, measured)),
    ]
    (PUBLISHED / "schemes.md").write_text("\n".join(lines) + "\n")
    kept = record(of, made, measured)
    each = ",\n".join(f"{json.dumps(name)}: {json.dumps(each)}" for name, each in kept["schemes"].items())
    head = json.dumps({name: what for name, what in kept.items() if name != "schemes"})[:-1]
    (PUBLISHED / "schemes.json").write_text(f'{head}, "schemes": {{\n{each}\n}}}}\n')


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
    (folder / f"{kind}table.json").write_text(json.dumps(record(of, made, measured), indent=1) + "\n")
    write(folder / f"{kind}report.html", of, made, measured)
    if to_publish:
        publish(of, made, measured)
    shown = table(of.title, LEFT, list(HEADS.values()))
    for row in rows(of, measured):
        shown.add_row(*row)
    out = screen.console()
    out.print(shown)
    if quick:
        out.print(f"--quick: {short}; not for comparison", markup=False, soft_wrap=True)
    out.print(f"report: {folder / f'{kind}report.html'}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
