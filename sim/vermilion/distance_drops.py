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

Made by `./vermilion distance-drops --publish CAPTURE...`. Each capture is sent back to back at 12.5 Mbit/s into a port of 10 Mbit/s with one queue.
Distances are inferred from TTLs. The first run drops the arriving packet, the second the nearest one: `victim = "nearest"`
([distance-drops.md](../distance-drops.md)). `default` is the project's own capture. The others are real traffic with the TTLs that it came with, from the test
data of the nDPI project, which is not shipped here.

* *slots*: wasted hops, the sum of distance times losses. *no d*: losses without a distance (not IP, multicast, broadcast), which are not in that sum.
* *passes*: a short capture is sent again and again until it has 20 / w packets, 20 times what the average remembers.
* In `default` and `gnutella` hardly any packet has travelled a hop, so there is nothing to save.

**What is claimed**: on every capture that loses 100 packets or more, dropping the nearest packet wastes fewer hops than dropping the arriving one, or both waste
none. This holds for both weights once the average has settled, and for the tail-drop form. `sim/tests/test_distance_drops.py` checks it.

The senders in a capture do not slow down. The nearest packets in these captures are mostly those of the capturing host itself, with d = 0, and many of them are
acknowledgements. A lost acknowledgement frees less of the port's time than a lost segment. So more packets are lost where near packets are short (netflix,
reddit, wechat). The lost bytes are about the same once the average has settled.

**What changed**: until November 2026 the average of an empty queue could stand still ([decision 16](../decisions/0016-ageing-keeps-its-remainder.md)). With a
weight of 0.002, RED then went on dropping from empty queues: gnutella lost 4,760 packets instead of 2,802. Netflix, sent once, wasted more hops with the nearest
packet (1,027) than with the arriving one (803). This page blamed the weight. With the average mended it is 618 against 758.
"""
TEXT = {
    "RED, weight 0.02": "Gentle RED over packets (10, 50, 0.1).",
    "RED, weight 0.002": "The same curve; an average that remembers 500 packets.",
    ONE_PASS: """The same again, each capture once: shown and not claimed. A capture holds three to ten times as many packets as the average remembers, so this compares how
the average rises from 0, overshoots and comes down. A queue of one packet has no candidate but the arriving packet, whatever its distance.""",
    "tail drop": f"A limit of {TAIL['limit_packets']}; the nearest of the last {WINDOW} is dropped.",
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
