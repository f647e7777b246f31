"""What the commands print: tables and progress bars, nothing else.

`statistics` reads the run's JSON: `queues`, each with `name` and per colour the counters of `OUTCOMES`, each `{packets, bytes}`;
`marker` `{kind, flows, flow_events}` where it has one; `lost` `[{packets, bytes}]`, one an input; `flow_events` in all; `replay` `{decisions, agreed}`; `clocks`, `packets_per_second`. What is missing is left out.
"""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table

from vermilion.configuration import groups, markers, rules
from vermilion.configuration.config import Config, Queue
from vermilion.configuration.egresses import Asked, port_rate
from vermilion.configuration.markers import Marker
from vermilion.console import narrow
from vermilion.console.tables import table
from vermilion.hardware.formats import exact
from vermilion.profile import marker_image, marker_values, quantise, settings, victim_notes
from vermilion.values import units
from vermilion.values.fields import COLOURS

from . import digest, front
from . import result as results
from .result import Check, Replay, Result, count
from .show_departure import GROUPS, decides_at_departure, departure_table, group_rows, marks_table, report_rows
from .show_tables import distance_table, rule_table
from .simulate import Progress, Warn

# What the simulator warns of (sim/harness/capture_reader.h, frame_source.h), in words; {limit} is the longest frame of the build.
WARNINGS = {
    "empty": "the capture has no frame",
    "cut_off": "the capture ends within a record, or a record is damaged; it was read as far as it goes",
    "snapped": "frames captured shorter than they were; carried as captured",
    "reframed": "packets without an Ethernet header; given one",
    "time_back": "frames earlier than the one before; taken at that one's time",
    "time_jump": "silences of more than 24 hours; shortened to 24 hours",
    "runt": "frames below 14 bytes; carried",
    "cut_header": "frames that end within a VLAN tag or an IP header; carried, not as IP",
    "ip_length": "frames whose IP header has lengths that do not fit the frame; carried",
    "oversize": "frames longer than the {limit:,} bytes that this build stores; dropped whole (no buffer). "
    "Offloads (GRO, TSO) make such frames: --split segments those of TCP",
    "zero_length": "frames without a byte; left out",
}

OUTCOMES = (
    *("arrived", "sent", "marked", "departure_marked", "ce_written", "early", "forced", "tail", "departure_dropped"),
    *("nobuf", "bad", "policed", "evicted"),
)
# What happens to the flows of flow markers (docs/flow-table.md), in the order of the register flow_events.
FLOW_EVENTS = ("adopted", "collision", "aged_out", "displaced", "table_full", "loss", "jump", "probe")
EVENT_TEXT = dict(zip(FLOW_EVENTS, FLOW_EVENTS, strict=True))
EVENT_TEXT |= {"aged_out": "aged out", "displaced": "half-open displaced", "table_full": "table full"}
OUTCOME_TEXT = {"marked": "CE chosen", "ce_written": "CE written", "nobuf": "no buffer"}
DEPARTURES = ("CE at departure", "dropped at departure")
OUTCOME_TEXT |= dict(zip(("departure_marked", "departure_dropped"), DEPARTURES, strict=True))


def percent(error: float) -> str:
    return f"{100 * error:+.2g} %" if abs(error) >= 5e-7 else "0"


def configuration(screen: Console, config: Config, egresses: int = 1) -> None:
    """`vermilion check`: values asked and real, then curves with their effective drop rates, of an egress of a lane with so many."""
    shown = groups.heads(config.queue)
    named = {q.name for q in shown}
    config = config.model_copy(
        update={"queue": shown, "marker": [marker for marker in config.marker if marker.queue in named]}
    )
    values = table("Values", ["queue", "field"], ["asked", "hardware", "error"])
    for item in quantise.report(config, egresses):
        values.add_row(item.queue, item.field, item.asked, item.real, percent(item.error))
    screen.print(values)
    several = egresses > 1
    heads = (
        ["min", "max", "end", "p at\nmax", "early\nrate at p"]
        if several
        else ["min", "max", "end", "p at max", "early rate at p"]
    )
    rates = table("Curves", ["queue", "colour", "curve", "spacing"], [*heads, "/ p"])
    rates.collapse_padding = several  # so that it fits 80 columns
    for q in config.queue:
        for colour in COLOURS:
            drop = getattr(q, colour)
            for where, curve in ((colour, drop), (f"{colour}, ECN", drop.ecn)):
                if curve is None:
                    continue
                if curve.curve == "tail":
                    rates.add_row(q.name, where, "tail", "", "", "", "", "", "", "")
                    continue
                low, high, end = quantise.thresholds(curve, q)
                p = exact(curve.p or 0)
                rate = quantise.effective(q.spacing, p)
                ratio = f"{float(rate / p):.3f}" if p else ""
                cells = [q.name, where, curve.curve, q.spacing, str(low), str(high), str(end), f"{curve.p:g}"]
                rates.add_row(*cells, f"{float(rate):.4g}", ratio)
    screen.print(rates)
    queues = table("Queues", ["number", "name", "DSCPs", "remarked", "service"], ["limit", "rate"])
    for q in config.queue:
        codes = ", ".join(units.dscp_name(code) for colour in COLOURS for code in getattr(q.dscp, colour))
        codes += (", " if codes else "") + "all others" if q.default else ""
        quantum = q.quantum.value if q.quantum else settings.DEFAULT_QUANTUM
        service = f"strict, priority {q.priority}" if q.priority is not None else f"round robin, {quantum} B"
        if q.fq:
            service += f", flows in {q.at} to {q.at + q.fq - 1}"
        queues.add_row(
            str(q.index), q.name, codes, remarks(q), service, limits(q), units.rate_text(q.rate) if q.rate else ""
        )
    screen.print(queues)
    for made in (departure_table(config), marks_table(config)):
        if made:
            screen.print(made)
    screen.print(distance_table(config))
    if config.rule:
        screen.print(rule_table(config.rule))
    for note in notes(config):
        screen.print(f"Note: {note}.", markup=False, soft_wrap=True)
    if config.marker:
        screen.print(marker_table(config))
        for note in (note for m in config.marker for note in marker_values.marker_notes(m)):
            screen.print(f"Note: {note}.", markup=False, soft_wrap=True)
    if egresses == 1:
        screen.print(legal(), style="dim")


def notes(config: Asked) -> list[str]:
    """What a user should know of a legal configuration, a sentence each."""
    return victim_notes.notes(config) + quantise.notes(config) + rules.notes(config.rule)


def marker_table(config: Config) -> Table:
    """Each marker's buckets as asked, and what happens with its colours."""
    made = table("Markers", ["queue", "kind", "bucket A", "bucket B", "counts", "in between", "drops"], [])
    for m in config.marker:
        if m.by_flow:
            made.add_row(m.queue, m.kind, "by flow", "", "", flow_text(m), ", ".join(m.drop))
            continue
        cells = [f"{units.rate_text(rate)}, {depth:,} B" if rate else "" for rate, depth in marker_image.buckets(m)]
        redp = f"low {m.low}, high {m.high}, p_drop {m.p_drop or 0:g}" if m.kind == "redp" else ""
        aware = "colour-aware" if m.colour_aware else ""
        bytes_of = "IP packet" if m.ip_length else "frame"
        counts = f"{m.packet_bytes:,} B each" if m.packet_bytes else f"bytes of the {bytes_of}"
        made.add_row(m.queue, m.kind, *cells, counts, redp or aware, ", ".join(m.drop))
    return made


def flow_text(m: Marker) -> str:
    """A flow marker's figures as asked and its switches; as held: `marker_values`."""
    if m.kind == "nm":
        return "all yellow"
    takes = [name for group in markers.FIELDS[m.kind] for name in group]
    names = {"increase": "increase {}", "ack": "packets of no payload {}", "half_open": "half open {}"}
    values = {name: m.given(name) for name in takes}
    values |= {name: units.time_text(values[name]) for name in ("idle", "half_open") if name in values}
    return ", ".join(names.get(name, name + " {}").format(value) for name, value in values.items())


def limits(queue: Queue) -> str:
    """What bounds a queue's length."""
    found = [str(limit) for limit in (queue.limit, queue.limit_packets) if limit]
    return " and ".join(found + ([f"alpha {queue.alpha:g}"] if queue.alpha else [])) or "none"


def remarks(queue: Queue) -> str:
    """Which colours leave with which DSCP."""
    new = {colour: getattr(queue.remark, colour) for colour in COLOURS}
    if None not in new.values() and len(set(new.values())) == 1:
        return f"all to {units.dscp_name(new['green'])}"
    return ", ".join(f"{colour} to {units.dscp_name(code)}" for colour, code in new.items() if code is not None)


def legal() -> str:
    return (
        "Legal: weight 2^-15 to 1; p 0 to 1; thresholds and limits 0 to 134217727; rates 64kbit to 200Gbit; "
        "quantum 64 to 65535 B; priority 0 to 7; min up to max; exred p up to (max-min)/(end-min)."
    )


def failures(result: Result) -> list[str]:
    """A sentence for each kind of defect that a run found in the lane; none after a good run."""
    found = []
    replay = result.get("replay")
    if replay:
        first = f" First: {replay['first_disagreement']}" if replay.get("first_disagreement") else ""
        for name, of, agreed in (
            ("decisions", replay["decisions"], replay["agreed"]),
            ("refreshes", replay.get("refreshes", 0), replay.get("refreshes_agreed", 0)),
            ("verdicts at departure", replay.get("departures", 0), replay.get("departures_agreed", 0)),
        ):
            if of != agreed:
                found.append(f"The model disagrees on {of - agreed:,} of {of:,} {name}.{first}")
                first = ""
    for check, text in {"accounting": "The accounting of frames", **CHECKS}.items():
        seen = results.check(result, check)
        # A wrong victim is a disagreement of its decision, too.
        if seen and seen["errors"] and not (check == "victims" and first_told(replay, seen)):
            found.append(f"{text} has {seen['errors']:,} errors. First: {seen.get('first_error')}")
    return found


# Checks of the RTL beside replay and accounting, sim/harness/results.h.
CHECKS = {
    "victims": "The check of victims",
    "counters": "The comparison of counters",
    "stream": "The check of stream rules",
    "reports": "The comparison of reports",
}


def first_told(replay: Replay | None, check: Check) -> bool:
    """Whether the replay's sentence is this check's, so that it has been told."""
    return replay is not None and replay.get("first_disagreement") == check.get("first_error")


def with_progress(action: Callable[[Progress, Warn], object], warnings: list[str], label: str = "simulating") -> None:
    """Runs `action(progress, warn)` under a progress bar over the capture's bytes; appends to `warnings` as they come."""
    from rich import progress as bars
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    bar = bars.Progress(
        TextColumn(label), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(), console=Console(stderr=True)
    )
    task = bar.add_task(label, total=None)

    def progress(done: int, total: int) -> None:
        bar.start()  # at the first report, so that a refusal comes without a bar
        bar.update(task, completed=done, total=total)

    try:
        action(progress, warnings.append)
    except BaseException:
        bar.live.transient = True  # the sentence stands alone
        bar.live.stop()
        raise
    if bar.live.is_started:
        bar.stop()


def ttl_option(screen: Console, counts: dict[str, int]) -> None:
    """`vermilion ttl-option`: what became of the packets."""
    from vermilion.configuration.ttl_option import REASONS

    made = table("TTL option", ["packets that"], ["count"])
    for name, text in REASONS.items():
        if counts.get(name) or name == "added":
            made.add_row(text, f"{counts.get(name, 0):,}")
    screen.print(made)


def meaning(name: str, limit: int | None) -> str:
    """What a warning of this name says; `limit`: bytes of the longest frame that the build stores."""
    return WARNINGS.get(name, "").format(limit=limit or 0)


def warning(text: str, limit: int | None = None) -> str:
    """`NAME: COUNT` of the program with the name's meaning."""
    name, _, count = text.partition(": ")
    return f"{text} ({meaning(name, limit)})" if name in WARNINGS and count else text


def statistics(screen: Console, result: Result, config: Asked | None = None) -> None:
    """The digest, a table per queue and colour, and the run's figures, in 80 columns."""
    told = digest.lines(result, port_rate(config), len(config.queue)) if config else digest.lines(result)
    for line in told:
        screen.print(line, markup=False, soft_wrap=True)
    rows = outcome_rows(result)
    heads = [OUTCOME_TEXT.get(name, name) for name in OUTCOMES]
    several(screen, "Packets", ["queue", "colour"], heads, rows, sums=True)
    absent = narrow.zeros(heads, rows, 2) if rows else []
    if absent := [name for name in absent if name not in DEPARTURES or decides_at_departure(config)]:
        screen.print(f"none: {', '.join(absent)}", markup=False, soft_wrap=True)
    for number, lost in enumerate(result.get("lost", [])):
        if lost["packets"]:
            screen.print(
                f"input {number} lost {lost['packets']:,} frames, {lost['bytes']:,} bytes: no place in the lane"
            )
    if sent := result.get("reports"):
        several(screen, "Reports", ["queue", "reason"], ["reports"], report_rows(sent, config))
        screen.print(digest.reported(sent), soft_wrap=True)
    several(screen, "Rules", front.TEXTS, front.COUNTS, front.rule_rows(result, config))
    for line in front.lines(result):
        screen.print(line, markup=False, soft_wrap=True)
    several(screen, "Markers", ["queue", "came"], [f"left {colour}" for colour in COLOURS], marked_rows(result))
    if has_distances(result):
        several(screen, "Losses by distance", ["queue"], LOSSES, loss_rows(result))
    several(screen, "Flow markers", ["queue", "kind"], ["flows", *EVENT_TEXT.values()], flow_rows(result))
    several(screen, "Groups of flows", ["group"], GROUPS, group_rows(result))
    replay = result.get("replay")
    if replay:
        screen.print(f"model agrees on {replay['agreed']} of {replay['decisions']} decisions")
    checks = [results.check(result, check) for check in ("accounting", *CHECKS)]
    if "accounting" in result and not any(seen and seen["errors"] for seen in checks):
        screen.print("every frame is accounted for")
    figures = [f"{result['clocks']:,} clocks"] if "clocks" in result else []
    figures += [f"{result['packets_per_second']:,.0f} packets/s simulated"] if "packets_per_second" in result else []
    if figures:
        screen.print(", ".join(figures))


def several(
    screen: Console, title: str, left: list[str], right: list[str], rows: list[list[Any]], sums: bool = False
) -> None:
    for made in narrow.tables(title, left, right, rows, sums):
        screen.print(made)


def outcome_rows(result: Result) -> list[list[Any]]:
    """Packets by outcome, a row for each queue and colour that saw one."""
    rows = []
    for queue in result.get("queues", []):
        for colour, per in zip(COLOURS, queue.get("colours", []), strict=False):
            numbers = [count(per, name)["packets"] for name in OUTCOMES]
            if any(numbers):
                rows.append([str(queue.get("name", queue.get("index"))), colour, *numbers])
    return rows


def marked_rows(result: Result) -> list[list[Any]]:
    """Packets by the colour that they came with and the one that the queue's marker gave, where a marker changed one."""
    rows = []
    for queue in result.get("queues", []):
        matrix = queue.get("colours_in_out", [])
        if any(n for i, row in enumerate(matrix) for o, n in enumerate(row) if i != o):
            rows += [
                [str(queue["name"]), colour, *row] for colour, row in zip(COLOURS, matrix, strict=True) if any(row)
            ]
    return rows


def has_distances(result: Result) -> bool:
    """Whether a lost packet had travelled a hop, or another could have been dropped in its stead."""
    return any(queue.get("wasted_hops") or queue.get("push_outs") for queue in result.get("queues", []))


def loss_rows(result: Result) -> list[list[str]]:
    """Of each queue that lost a packet: how far those with a distance had come, and how often another than the arriving one was the victim."""
    rows = []
    for queue in result.get("queues", []):
        known = sum(packets for _, packets in queue.get("lost_by_distance", []))
        others = queue.get("lost_without_distance", 0)
        if not known + others:
            continue
        slots = queue["wasted_hops"]
        evicted = sum(per["evicted"]["packets"] for per in queue["colours"])
        mean = f"{slots / known:.3g}" if known else ""
        counts = [slots, queue.get("push_outs"), queue.get("stale")]
        cells = ["" if n is None else f"{n:,}" for n in counts]
        rows.append([str(queue["name"]), f"{known + others:,}", f"{evicted:,}", f"{others:,}", mean, *cells])
    return rows


LOSSES = ["lost", "of them evicted", "without a distance", "mean distance", "wasted hops", "push-outs", "stale"]


def flow_rows(result: Result) -> list[list[Any]]:
    """What happened to the flows of each queue with 3CPM, WPM or APM, and in all as the engine counts it."""
    rows = []
    for queue in result.get("queues", []):
        marker = queue.get("marker")
        if marker and "flow_events" in marker:
            counts = [marker["flows"], *(marker["flow_events"][name] for name in FLOW_EVENTS)]
            rows.append([str(queue["name"]), marker["kind"], *counts])
    total = result.get("flow_events", {})
    if rows and total:
        what = "registers" if result.get("engine") == "rtl" else "model"
        rows.append(["all", what, None, *(total[name] for name in FLOW_EVENTS)])
    return rows


def bench(screen: Console, rows: list[dict[str, Any]]) -> None:
    names = ["clocks_per_decision", "bubbles", "latency_verdict_clocks", "latency_total_clocks"]
    names += ["clocks_per_second", "packets_per_second"]
    made = table("Bench", ["preset", "frame", "queues"], [*(name.replace("_", " ") for name in names), "verdicts"])
    for row in rows:
        cells = [row.get(name, "") for name in names]
        mix = ", ".join(f"{count:,} {name}" for name, count in row.get("verdicts", {}).items() if count)
        figures = [f"{c:,.4g}" if c != "" else "" for c in cells]
        made.add_row(row["preset"], str(row["frame"]), row["to"], *figures, mix)
    screen.print(made)
