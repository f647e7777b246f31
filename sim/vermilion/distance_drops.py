"""`vermilion distance-drops`: what is lost where the nearest packet pays, beside the arriving one, on the same capture.

Each capture is sent back to back at 12.5 Mbit/s into a port of 10 Mbit/s with one queue, by the bit-exact model: once the arriving packet is
lost, once the nearest. An average of weight w forgets in about 1 / w packets; where the capture is not many times as long, its transient is measured
and not its rate of loss. So a capture is sent several times over, the same flows again, until it has `SETTLED` / w packets, and until
each of the two has lost `FEWEST` packets; one that has not after `PASSES` passes is left out and named.
"""

import json
import math
import tempfile
from functools import cache
from pathlib import Path

from . import build, config, quantise, simulate

PAGE = build.ROOT / "docs" / "results" / "distance-drops.md"
SHIPPED = build.ROOT / "sim" / "captures" / "default.pcapng"
VICTIMS = ("arriving", "nearest")
LOSSES = ("early", "forced", "tail", "evicted")
CURVE = {"curve": "gentle", "min": 10, "max": 50, "p": 0.1}
ALL = {"name": "all", "default": True}
RED = ALL | {"limit_packets": "200 packets"} | dict.fromkeys(config.COLOURS, CURVE)
TAIL, WINDOW = ALL | {"limit_packets": "50 packets"}, 16
SETTLED, FEWEST, PASSES = 20, 100, 64


def red(weight: float) -> tuple[dict, dict]:
    """The queue with each of the two victims."""
    queue = RED | {"average": {"weight": weight, "unit": "packet"}}
    return queue, queue | {"victim": "nearest"}


FORMS = {
    "RED, weight 0.02": red(0.02),
    "RED, weight 0.002": red(0.002),
    "RED, weight 0.002, one pass": red(0.002),
    "tail drop": (TAIL, TAIL | {"victim": "nearest", "victim_window": WINDOW}),
}
ONE_PASS = "RED, weight 0.002, one pass"  # its average has not settled: shown, and not claimed
CLAIMED = tuple(form for form in FORMS if form != ONE_PASS)
PORT, RATE = 10_000_000, 12_500_000
HEADS = ["passes", "packets", "arriving: lost", "kB", "no d", "mean d", "slots"]
HEADS += ["nearest: lost", "of them evicted", "kB", "no d", "mean d", "slots"]

INTRODUCTION = """# What distance drops save

Made by `./vermilion distance-drops --publish CAPTURE...`. Captures back to back at 12.5 Mbit/s into a port of 10 Mbit/s: one queue, distances inferred from
TTLs. First the arriving packet is lost, then the nearest: `victim = "nearest"` ([distance-drops.md](../distance-drops.md)).
Consumed slots are the sum of distance times losses: the hops that were travelled for nothing, as far as distances are true. Losses without a distance, *no d* in the tables, are not in
it: what is not IP, multicast, broadcast. `default` is the project's own capture; the others
are real traffic, with the TTLs that it came with, from the test data of the nDPI project, which is not shipped here. In `default` and `gnutella` next to nobody has come
any hop, so there is nothing to save there.

**What is claimed**: on every capture that loses 100 packets or more, the nearest's loss wastes fewer hops than the arriving packet's, or both waste none: with either weight once the
average has settled, and in the tail-drop form. A capture that is too short for that is sent again and again (*passes*), until it has 20 / w packets, 20 times what the average remembers.
`sim/tests/test_distance_drops.py` holds it to that.

A capture is not a reaction: its senders do not slow down. Who is nearest in these captures is mostly the capturing host itself, with d = 0, and much of what it
sends are acknowledgements. A lost acknowledgement frees less of the port's time than a lost segment, so more packets are lost where near ones are short
(netflix, reddit, wechat); what is lost in bytes is about the same once the average has settled.
"""
TEXT = {
    "RED, weight 0.02": "Gentle RED over packets (10, 50, 0.1).",
    "RED, weight 0.002": "The same curve; an average that remembers 500 packets.",
    ONE_PASS: """The same again, each capture once: a warning and no claim. With three to ten times as many packets as the average remembers, what is compared is how it
rises from 0 and overshoots. Netflix wastes more hops with the nearest than with the arriving packet here, and its trace says why. The queue keeps the long packets and holds more of
them, so the average of packets peaks at 98 instead of 79, and is still far above `max` when the queue has long run empty. A contest in an empty queue, or in one of a
single packet, which is the scheduler's, has no candidate but the arriving packet, however far that has come. About 85 packets were lost so, with seven tenths of all slots; with the
arriving packet it was 8, with 20 slots. It is the overshoot and not who was chosen: those who were evicted wasted a third of what the arriving ones
did. In the table above the same traffic goes on, and the first pass hardly counts.""",
    "tail drop": f"A limit of {TAIL['limit_packets']}; the nearest of the last {WINDOW} pays.",
}


@cache
def frames(capture: Path) -> tuple[int, list[tuple[bytes, int]]]:
    """Link type, and bytes and length on the wire of every frame."""
    from .ttl_option import packets

    found = list(packets(capture))
    return (found[0][0] if found else 1), [(frame, max(wire, len(frame))) for link, _, wire, frame, _ in found]


def repeated(capture: Path, passes: int, target: Path) -> Path:
    """The capture `passes` times over; at a line's rate stamps do not count, so they are a millisecond apart."""
    from scapy.utils import RawPcapWriter

    link, found = frames(capture)
    writer = RawPcapWriter(str(target), linktype=link, nano=True, sync=False)
    writer.write_header(None)
    for number, (frame, wire) in enumerate(found * passes):
        seconds, ms = divmod(number, 1000)
        writer.write_packet(frame, sec=seconds, usec=ms * 10**6, caplen=len(frame), wirelen=wire)
    writer.close()
    return target


def measure(program: Path, capture: Path, queue: dict) -> dict:
    """One run; packets in all, lost, evicted, bytes lost, lost without a distance, consumed slots (hops)."""
    asked = config.parse({"port": {"rate": PORT}, "queue": [queue]})
    with tempfile.TemporaryDirectory() as folder:
        words, stats = Path(folder) / "words.json", Path(folder) / "stats.json"
        words.write_text(json.dumps(quantise.hardware(asked)))
        command = ["--in", capture, "--config-words", words, "--engine", "model", "--stats-json", stats, "--rate", RATE]
        simulate.run(program, command, lambda done, total: None, lambda text: None)
        found = json.loads(stats.read_text())
    colours = found["queues"][0]["colours"]
    lost = {what: {name: sum(per[name][what] for per in colours) for name in LOSSES} for what in ("packets", "bytes")}
    return {
        "packets": found["packets"],
        "lost": sum(lost["packets"].values()),
        "evicted": lost["packets"]["evicted"],
        "lost_bytes": sum(lost["bytes"].values()),
        "lost_without_distance": found["queues"][0]["lost_without_distance"],
        "consumed_slots": found["queues"][0]["consumed_slots"],
    }


def compare_one(program: Path, form: str, capture: Path) -> dict:
    """The figures of both victims, after as many passes as the form and the losses need."""
    count, weight = len(frames(capture)[1]), FORMS[form][0].get("average", {}).get("weight", 1)
    once = form == ONE_PASS
    passes = 1 if once or not count else min(PASSES, math.ceil(SETTLED / weight / count))
    while True:
        with tempfile.TemporaryDirectory() as folder:
            source = repeated(capture, passes, Path(folder) / "capture.pcap") if passes > 1 else capture
            row = {"form": form, "capture": capture.stem, "passes": passes}
            row |= {name: measure(program, source, queue) for name, queue in zip(VICTIMS, FORMS[form])}
        if lost_enough(row) or once or passes == PASSES or not count:
            return row
        passes = min(PASSES, 4 * passes)


def lost_enough(row: dict) -> bool:
    return min(row[victim]["lost"] for victim in VICTIMS) >= FEWEST


def compare(program: Path, captures: list[Path], forms=tuple(FORMS), progress=lambda done: None) -> list[dict]:
    """A row for each form and capture."""
    rows = []
    for form in forms:
        for capture in captures:
            rows.append(compare_one(program, form, capture))
            progress(len(rows))
    return rows


def left_out(rows: list[dict]) -> str:
    """Names the captures that lost too few packets to compare; empty where there are none."""
    few = [row for row in rows if not lost_enough(row)]
    names = [
        f"{row['capture']} ({row['form']}, {row['passes']} pass{'es' * (row['passes'] > 1)}, "
        f"{min(row[victim]['lost'] for victim in VICTIMS)} lost)"
        for row in few
    ]
    return f"Left out, with fewer than {FEWEST} packets lost: {len(few)}: {', '.join(names)}" if few else ""


def cells(row: dict) -> list[str]:
    """What a row has below HEADS."""
    out = [f"{row['passes']}", f"{row['arriving']['packets']:,}"]
    for victim in VICTIMS:
        figures = row[victim]
        others, slots = figures["lost_without_distance"], figures["consumed_slots"]
        known = figures["lost"] - others
        out.append(f"{figures['lost']:,}")
        out += [f"{figures['evicted']:,}"] if victim == "nearest" else []
        out += [
            f"{figures['lost_bytes'] / 1000:,.0f}",
            f"{others:,}",
            f"{slots / known:.2f}" if known else "",
            f"{slots:,}",
        ]
    return out


def page(rows: list[dict]) -> str:
    text = INTRODUCTION
    for form in dict.fromkeys(row["form"] for row in rows):
        text += f"\n## {form[0].upper()}{form[1:]}\n\n{TEXT[form]}\n"
        text += f"\n| capture | {' | '.join(HEADS)} |\n| --- |{' ---: |' * len(HEADS)}\n"
        for row in (row for row in rows if row["form"] == form and lost_enough(row)):
            text += f"| {row['capture']} | {' | '.join(cells(row))} |\n"
    return text + f"\n{left_out(rows) or f'No capture was left out: each lost {FEWEST} packets or more.'}\n"


def publish(rows: list[dict]):
    """Writes the page and its JSON."""
    PAGE.write_text(page(rows))
    PAGE.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
