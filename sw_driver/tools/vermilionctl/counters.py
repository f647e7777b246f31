"""A queue's counters as plain numbers, as `stats --json` prints them, and their table. Meaning: docs/registers.md, "window"."""

from rich.box import SIMPLE_HEAD
from rich.table import Table

from .settings import COLOURS

EVENTS = (
    "arrived enqueued early forced tail nobuf bad ce_chosen ce_written sent policed evicted flushed "
    "departure_dropped departure_marked"
).split()
SHOWN = (
    "arrived sent ce_chosen departure_marked ce_written early forced tail departure_dropped nobuf bad policed evicted flushed"
).split()
FLOW_EVENTS = ("adopted", "collision", "aged_out", "displaced", "table_full", "loss", "jump", "probe")
UPSETS = ("corrected", "repaired", "uncorrectable", "beyond_repair")
TITLES = {
    "ce_chosen": "CE chosen",
    "ce_written": "CE written",
    "nobuf": "no buffer",
    "departure_dropped": "dropped at departure",
    "departure_marked": "CE at departure",
}


def of_queue(number: int, held) -> dict:
    """From `C.Statistics`."""
    count = lambda c, i: {"packets": held.count[c][i].packets, "bytes": held.count[c][i].bytes}
    return {
        "index": number,
        "time_ns": held.time_ns,
        "colours": {
            colour: {event: count(c, i) for i, event in enumerate(EVENTS)}
            | {
                "average": held.average[c] / 65536,
                "became": dict(zip(COLOURS, held.marked[4 * c : 4 * c + 3], strict=True)),
            }
            for c, colour in enumerate(COLOURS)
        },
        "backlog": {"packets": held.backlog_packets, "bytes": held.backlog_bytes},
        "most": {"packets": held.max_packets, "bytes": held.max_bytes},
        "latency_log2_ns": list(held.latency),
        "push_outs": held.push_outs,
        "stale": held.stale,
        "lost_distance": list(held.lost_distance),
        "victim_distance": list(held.victim_distance),
    }


def table(title: str, left: list[str], right: list[str]) -> Table:
    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in left:
        made.add_column(name)
    for name in right:
        made.add_column(name, justify="right")
    return made


def silent(queue: dict) -> bool:
    return not any(queue["colours"][colour]["arrived"]["packets"] for colour in COLOURS)


def happened(read: dict) -> list[str]:
    """The events that the table shows: those that some packet met, and `arrived` and `sent`."""
    counts = lambda event: [queue["colours"][c][event]["packets"] for queue in read["queues"] for c in COLOURS]
    return [event for event in SHOWN if event in ("arrived", "sent") or any(counts(event))]


def tables(read: dict) -> list[Table]:
    """Packets by queue and colour, and what stands in the queues. Queues that saw no packet are left out, and so are events that no packet met."""
    shown = happened(read)
    packets = table("Packets", ["queue", "colour"], [TITLES.get(name, name) for name in shown])
    none = [TITLES.get(name, name) for name in SHOWN if name not in shown]
    packets.caption, packets.caption_justify = f"none: {', '.join(none)}" if none else None, "left"
    stand = table(
        "Queues", ["queue"], ["packets", "bytes", "most bytes", *(f"average {c}" for c in COLOURS), "half left within"]
    )
    for queue in read["queues"]:
        if silent(queue):
            continue
        name = queue["name"] or str(queue["index"])
        for colour in COLOURS:
            counts = [queue["colours"][colour][event]["packets"] for event in shown]
            if any(counts):
                packets.add_row(name, colour, *(f"{n:,}" if n else "" for n in counts))
        averages = [f"{queue['colours'][colour]['average']:,.1f}" for colour in COLOURS]
        held = [queue["backlog"]["packets"], queue["backlog"]["bytes"], queue["most"]["bytes"]]
        stand.add_row(name, *(f"{n:,}" for n in held), *averages, median(queue["latency_log2_ns"]))
    return [packets, stand]


def median(bins: list[int]) -> str:
    """The upper end of the bin in which the middle packet is."""
    total, passed = sum(bins), 0
    for k, count in enumerate(bins):
        passed += count
        if total and 2 * passed >= total:
            ns = 2 ** (k + 1)
            return f"{ns / 1e9:.3g} s" if ns >= 1e9 else f"{ns / 1e6:.3g} ms" if ns >= 1e6 else f"{ns / 1e3:.3g} us"
    return ""


def rates(before: dict, now: dict) -> Table:
    """Since the look before, a second of the lane's own time."""
    made = table(
        "A second", ["queue"], ["packets in", "Mbit/s in", "packets out", "Mbit/s out", "dropped", "marked CE"]
    )
    earlier = {queue["index"]: queue for queue in before["queues"]}
    for queue in now["queues"]:
        old = earlier.get(queue["index"])
        if silent(queue) or old is None:
            continue
        seconds = (queue["time_ns"] - old["time_ns"]) / 1e9
        gained = lambda events, unit: sum(
            queue["colours"][c][event][unit] - old["colours"][c][event][unit] for c in COLOURS for event in events
        )
        drops = ("early", "forced", "tail", "nobuf", "bad", "policed", "evicted", "flushed", "departure_dropped")
        figures = [gained(["arrived"], "packets"), gained(["arrived"], "bytes") * 8e-6]
        figures += [gained(["sent"], "packets"), gained(["sent"], "bytes") * 8e-6]
        figures += [gained(drops, "packets"), gained(["ce_chosen", "departure_marked"], "packets")]
        cells = [f"{figure / seconds:,.4g}" if seconds > 0 else "" for figure in figures]
        made.add_row(queue["name"] or str(queue["index"]), *cells)
    return made


def gained(before: dict, now: dict, event: str) -> dict[str, int]:
    """Packets and bytes of an event since the look before, in all queues together."""
    total = lambda found, unit: sum(queue["colours"][c][event][unit] for queue in found["queues"] for c in COLOURS)
    return {unit: total(now, unit) - total(before, unit) for unit in ("packets", "bytes")}


def read(session, chosen: list[int] | None = None) -> dict:
    """Every queue that this host configured, or all of the build where it did not; or those chosen."""
    names = session.names()
    queues = chosen if chosen is not None else sorted(names) or range(session.has()["queues"])
    found = [session.statistics(number) | {"name": names.get(number, "")} for number in queues]
    return {"queues": found, "lost": session.lost(), **session.events()}
