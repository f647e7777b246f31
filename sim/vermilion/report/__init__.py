"""The report of a run: one HTML file that needs nothing else.

`write(page, config, record, stats, trace)` takes the configuration, the hardware's record (docs/hardware-configuration.md),
the run's JSON (sim/harness/results.h) and the trace (sim/harness/trace_writer.h; may be None). Files of this package:
`points` what was measured on the curves, `plots` the figures, `timeline` and `live` the plots that the browser draws by uPlot and
`live.js`, `tables` the tables, `markers` the section on markers with `marker_points` and `marker_plots`, `style.css` the looks; here
stands the page.
"""

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from vermilion.configuration.config import Config
from vermilion.configuration.egresses import port_rate
from vermilion.profile.record import Record
from vermilion.simulation import digest, front
from vermilion.simulation.result import Outcomes, QueueResult, Result, count
from vermilion.simulation.result import check as check_of
from vermilion.simulation.show import CHECKS, has_distances, meaning
from vermilion.simulation.show import failures as failures_of

from . import live, markers, plots, points, tables, timeline


class Page:
    """Headings, with the table of contents they make."""

    def __init__(self) -> None:
        self.body: list[str] = []
        self.contents: list[tuple[str, str, list]] = []
        self.failures: list[str] = []
        self.digest: list[str] = []
        self.drawn = False  # by the browser

    def section(self, name: str, title: str) -> None:
        self.contents.append((name, title, []))
        self.body.append(f'<h2 id="{name}">{escape(title)}</h2>')

    def part(self, name: str, title: str) -> None:
        self.contents[-1][2].append((name, title))
        self.body.append(f'<h3 id="{name}">{escape(title)}</h3>')

    def text(self, text: str, kind: str = "") -> None:
        self.body.append(f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>")

    def figure(self, name: str, caption: str, height: float, draw: plots.Draw) -> None:
        svg = plots.figure(name, escape(caption, quote=True), height, draw)
        self.body.append(f'<figure><div class="plot">{svg}</div><figcaption>{escape(caption)}</figcaption></figure>')

    def live(self, name: str, caption: str, data: dict):
        """A plot that the browser draws; `data` for live.js."""
        self.drawn = True
        self.body.append(f"<figure>{live.plot(name, caption, data)}<figcaption>{escape(caption)}</figcaption></figure>")

    def details(self, title: str, inner: str) -> None:
        self.body.append(f"<details><summary>{escape(title)}</summary>{inner}</details>")

    def html(self, title: str) -> str:
        def link(name, text):
            return f'<a href="#{name}">{escape(text)}</a>'

        items = []
        for name, text, parts in self.contents:
            inner = "".join(f"<li>{link(*part)}</li>" for part in parts)
            items.append(f"<li>{link(name, text)}{f'<ul>{inner}</ul>' if inner else ''}</li>")
        alarm = "".join(f"<p>{escape(text)}</p>" for text in self.failures)
        if alarm:
            alarm = f'<section class="alarm" role="alert"><h2>This run found a defect of Vermilion\'s</h2>{alarm}</section>\n'
        first = f'<p class="digest">{"<br>".join(map(escape, self.digest))}</p>'
        style = Path(__file__).with_name("style.css").read_text()
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
            f'<meta http-equiv="Content-Security-Policy" content="{live.POLICY}">'
            f"<title>{escape(title)}</title>{live.styles() if self.drawn else ''}<style>\n{style}</style></head><body>\n<h1>{escape(title)}</h1>\n{alarm}{first}\n"
            f'<nav aria-label="Contents"><ul>{"".join(items)}</ul></nav>\n<main>\n'
            + "\n".join(self.body)
            + f"\n</main>{live.scripts() if self.drawn else ''}</body></html>\n"
        )


def write(page, config: Config, record: Record, stats: Result, trace=None, failures=None, about=()):
    """Writes the report to `page`.

    `failures`: sentences that come above all else, by default those that `stats` tell of. `about`: pairs (what, text) such as the
    capture's name, for the summary.
    """
    made = Page()
    made.failures = failures_of(stats) if failures is None else failures
    made.digest = digest.lines(stats, port_rate(config), len(config.queue))
    summary(made, config, record, stats, about)
    busy = [q for q in stats.get("queues", []) if any(arrived(c) for c in q.get("colours", []))]
    verdicts(made, stats)
    fates(made, config, stats)
    if busy:
        over_time(made, config, record, stats, busy)
    markers.section(made, config, stats, trace)
    curves(made, config, record, points.collect(record, stats, trace), trace)
    latency(made, [q for q in busy if q.get("latency")])
    configuration(made, config, record)
    Path(page).write_text(made.html("Vermilion: report of a run"), encoding="utf-8")


def arrived(per: Outcomes) -> int:
    return count(per, "arrived")["packets"]


def summary(made: Page, config: Config, record: Record, stats: Result, about):
    made.section("summary", "Summary")
    replay, account = stats.get("replay"), stats.get("accounting")
    if replay:
        wrong = replay["agreed"] != replay["decisions"]
        made.text(
            f"model agrees on {replay['agreed']} of {replay['decisions']} decisions",
            "verdict wrong" if wrong else "verdict",
        )
        if replay.get("first_disagreement"):
            made.text(f"First disagreement: {replay['first_disagreement']}", "wrong")
    else:
        made.text("The model made these decisions itself (--engine model), so there is no replay to compare with.")
    if account and account["errors"]:
        made.text(
            f"The accounting of frames has {account['errors']:,} errors. First: {account.get('first_error')}", "wrong"
        )
    elif account:
        made.text("Every frame is accounted for, byte for byte.")
    for check, text in CHECKS.items():
        seen = check_of(stats, check)
        if seen and seen["errors"]:
            made.text(f"{text} has {seen['errors']:,} errors. First: {seen['first_error']}", "wrong")
    names = [("engine", ""), ("preset", ""), ("packets", ",d"), ("bytes", ",d"), ("seconds", ".6g"), ("clocks", ",d")]
    names += [("input_stalled_clocks", ",d"), ("wall_seconds", ".3g"), ("packets_per_second", ",.0f")]
    names += [("clocks_per_second", ",.0f")]
    words = {
        "engine": "engine",
        "preset": "build of the lane",
        "packets": "packets decided on",
        "bytes": "bytes decided on",
        "seconds": "time in the lane, s",
        "input_stalled_clocks": "clocks in which an input had to wait",
        "wall_seconds": "time simulated in, s",
        "packets_per_second": "packets simulated a second",
        "clocks_per_second": "clocks simulated a second",
    }
    figures: Mapping[str, Any] = stats
    if about:
        made.body.append(tables.table(["what", "which"], [], [list(pair) for pair in about]))
    rows = [[words.get(n, n), format(figures[n], form)] for n, form in names if n in figures]
    made.body.append(tables.table(["what"], ["figure"], rows))
    if stats.get("warnings"):
        made.part("warnings", "Warnings")
        limit = record.get("max_frame_bytes")
        rows = [[n, meaning(n, limit), f"{count:,}"] for n, count in stats["warnings"].items()]
        made.body.append(tables.table(["warning", "meaning"], ["count"], rows))
    if rows := front.rule_rows(stats, config):
        made.part("rules", "Rules")
        rows = [row[:2] + [f"{count:,}" for count in row[2:]] for row in rows]
        made.body.append(tables.table(front.TEXTS, front.COUNTS, rows))


def verdicts(made: Page, stats: Result):
    made.section("verdicts", "Verdicts")
    seen = tables.counters(stats)
    rows = []
    for queue, colour, per in seen:
        fates = {name: count(per, name)["packets"] for name in plots.FATES}
        fates["enqueued"] -= sum(fates[name] for name in ("marked", "evicted", "departure_marked", "departure_dropped"))
        if sum(fates.values()):
            rows.append((str(queue["name"]), colour, fates))
    if not rows:
        made.text("No packet came to any queue.")
        return
    caption = "Verdicts per queue and colour, in percent of the packets that arrived there."
    made.figure("verdict-bars", caption, 0.9 + 0.27 * len(rows), lambda f: plots.verdict_bars(f, rows))
    made.text("Packets:")
    made.body.append(tables.verdicts(stats, "packets"))
    made.text("Bytes:")
    made.body.append(tables.verdicts(stats, "bytes"))
    if has_distances(stats):
        made.part("losses", "Losses by distance")
        made.text(
            "Packets that a queue lost: dropped early, forced or at the limit, or pushed out. Consumed slots are wasted hops, the sum "
            "of the lost packets' distances; the mean is over the packets that have a distance. Without a distance are frames that are not IP, "
            "multicast and broadcast, and packets whose initial TTL neither option nor inference gives. A push-out is a drop or mark that may push out "
            "a queued packet. Its candidate is stale if the selected packet had already left, so that the arriving one was dropped or marked."
        )
        made.body.append(tables.losses(stats))


def over_time(made: Page, config: Config, record: Record, stats: Result, busy: list[QueueResult]):
    made.section("time", "Queues over time")
    every, sampled = stats.get("event_every", 1), stats.get("sample_every", 1)
    made.text(
        "Backlog is what was queued of all colours before each packet, as the limit saw it at the verdict (an average sees it some clocks older); the average is the packet's colour's, after its update, "
        "as compared with the thresholds. Lines break where the queue had no packet for long. Dotted lines are min and max of a colour's drop curve. Marks, early and forced "
        "drops stand on the average, "
        "tail and no-buffer drops on the backlog, in the packet's colour."
    )
    made.text(
        "Drag across a plot to zoom; double-click to see the whole run again. The legend shows the values at the cursor. "
        "Click an entry of the legend to hide it or show it again.",
        "note",
    )
    made.text(
        f"Lines: {nth(sampled)}. Marks: {nth(every, 'mark and drop')}. In a queue with more than {plots.LINES_MAX:,} points a "
        f"line or {plots.EVENTS_MAX:,} marks, evenly spaced ones are drawn.",
        "note",
    )
    kept = {q["index"]: q for q in record["queues"]}
    asked = {q.index: q for q in config.queue}
    for q in busy:
        index = q["index"]
        samples = [s for s in stats.get("samples", []) if s[1] == index]
        events = [e for e in stats.get("events", []) if e[1] == index]
        made.part(f"time-{index}", str(q["name"]))
        if index not in kept or not samples + events:
            made.text("Packets came, but none of them is among the samples.")
            continue
        unit = asked[index].average.unit
        caption = f"Queue {q['name']}: backlog, averages and verdicts over time, in {unit}s."
        start = stats.get("lane_start_ns", 0)
        longest = max(s[0] for s in stats.get("samples", []) + stats.get("events", [])) - start
        made.live(f"plot-time-{index}", caption, timeline.data(kept[index], samples, events, start, longest))


def fates(made: Page, config: Config, stats: Result):
    """Drops and marks over time, and what the lane reported of them."""
    if found := stats.get("fates"):
        made.section("fates", "Drops and marks over time")
        caption = "Packets that were dropped or marked, by reason. Times are those of the verdicts."
        made.figure("plot-fates", caption, 2.6, lambda f: plots.fates_over_time(f, found))
    if sent := stats.get("reports"):
        made.section("reports", "Reports")
        made.text(digest.reported(sent))
        made.body.append(tables.reports(config, sent))


def nth(every: int, what: str = "decision") -> str:
    return f"every {what}" if every == 1 else f"one {what} in {every:,}"


def curves(made: Page, config: Config, record: Record, binned: dict, trace):
    made.section("curves", "Drop curves and operating points")
    kept = {q["index"]: q for q in record["queues"]}
    curved = [q for q in config.queue if any(curve["on"] for c in kept[q.at]["colour"] for curve in c["curve"])]
    if not curved:
        made.text("No queue has a curve; all drop at their limits only.")
        return
    made.text(
        "Lines are the curves as the hardware evaluates them. Points are what happened: decisions are put in classes of the "
        "average, and each class of at least ten gives one point, at its mean average and its share of early drops, marks "
        "and forced drops. Bars are binomial 99.9 % intervals (Clopper and Pearson). They take p as steady: a fast-moving "
        "average carries the spacing from one class into the next, and uniform and wait spacing scatter less than the bars say."
    )
    if any(q.size_weight for q in curved):
        made.text(
            "Queues with size_weight scale p by each packet's length; the line is that of a packet of the mean length."
        )
    if trace is None:
        made.text(
            "Without a trace the points are those of the samples; colours with an ECN curve of their own have none."
        )
    judged = {key[0] for key in binned}
    for q in curved:
        if q.index in judged:
            made.part(f"curve-{q.index}", q.name)
        else:
            made.body.append(f"<details><summary>{escape(q.name)}: these curves judged no packet</summary>")
        own = any(c["ecn_own"] for c in kept[q.at]["colour"])
        caption = f"Queue {q.name} ({q.average.kind}, {q.spacing} spacing): share of packets over the average"
        caption += f" in {q.average.unit}s."
        caption += " Dashed and diamonds: ECT and CE packets, by their own ECN curve." if own else ""
        made.figure(f"plot-curve-{q.index}", caption, 3.0, lambda f: plots.drop_curves(f, q, kept[q.at], binned))
        if q.index not in judged:
            made.body.append("</details>")
    if binned:
        made.details("Operating points as numbers", tables.operating_points(config, binned))


def latency(made: Page, queues: list[QueueResult]):
    made.section("latency", "Latency")
    if not queues:
        made.text("No packet left.")
        return
    rows = [(str(q["name"]), q["latency"]) for q in queues]
    caption = (
        "Time from decision to departure, share of each queue's departed packets per class of an eighth of an octave."
    )
    made.figure("plot-latency", caption, 0.5 + 1.25 * len(rows), lambda f: plots.latency(f, rows))
    made.body.append(tables.latencies(queues))
    made.text("Quantiles are the upper ends of their classes, at most an eighth too long.", "note")


def configuration(made: Page, config: Config, record: Record):
    made.section("configuration", "Configuration")
    made.part("configuration-queues", "Queues")
    made.body.append(tables.queues(config))
    made.part("configuration-values", "Values as asked and as the hardware has them")
    made.body.append(tables.values(config))
    made.part("configuration-curves", "Curves")
    made.text("Thresholds are in the unit of the queue's average; end is where p is 1 from there on.", "note")
    made.body.append(tables.drop_curves(config))
    made.details("Every field as asked, defaults filled in", tables.as_asked(config))
    made.details("The hardware's registers", tables.as_held(record))
