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

from vermilion.configuration import config
from vermilion.console import narrow
from vermilion.profile import quantise
from vermilion.simulation import simulate
from vermilion.toolchain import build
from vermilion.values.fields import COLOURS

PAGE = build.ROOT / "docs" / "results" / "distance-drops.md"
SHIPPED = build.ROOT / "sim" / "captures" / "default.pcapng"
VICTIMS = ("arriving", "nearest")
LOSSES = ("early", "forced", "tail", "evicted")
CURVE = {"curve": "gentle", "min": 10, "max": 50, "p": 0.1}
ALL = {"name": "all", "default": True}
RED = ALL | {"limit_packets": "200 packets"} | dict.fromkeys(COLOURS, CURVE)
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
HEADS = ["passes", "packets"]
HEADS += [f"arriving: {name}" for name in ("lost", "kB lost", "wasted hops")]
HEADS += [f"nearest: {name}" for name in ("lost", "pushed out", "kB lost", "wasted hops")]

INTRODUCTION = """# Wasted hops with distance drops

A dropped packet wastes the hops that it has already travelled. Dropping the packet with the smallest distance wastes fewer hops, but often loses more packets.{example}

Made by `./vermilion distance-drops --publish CAPTURE...`. Each capture is sent back to back at 12.5 Mbit/s into one queue of a 10 Mbit/s port.
Distances are inferred from TTLs. One run drops the arriving packet, the other drops the nearest packet: `victim = "nearest"`
([distance-drops.md](../distance-drops.md)). `default` is the project's own capture. The others are real traffic with the TTLs that it came with, from the test
data of the nDPI project. These captures are not part of this repository. [distance-drops.json](distance-drops.json) has all figures.

* *wasted hops*: the sum of the distances of all lost packets. Lost packets without a distance (not IP, multicast, broadcast) are not in the sum.
* *pushed out*: queued packets that were dropped. The other losses are arriving packets.
* *passes*: how often the capture is sent. It is repeated until 20/w packets are sent and both runs have lost 100 packets. An average of weight w remembers about
  1/w packets.
* In `default` and `gnutella` hardly any packet has travelled a hop, so there is nothing to save.

**Claim**: dropping the nearest packet wastes fewer hops than dropping the arriving packet, or both waste none. The claim covers captures that lose 100 packets or
more. It covers both weights with a settled average, and the tail-drop form. `sim/tests/measure/test_distance_drops.py` checks it.

Why more packets are lost: the replay is open loop, so senders do not react to drops. The nearest packets come mostly from the capturing host itself (distance 0).
Many of them are short acknowledgements. Dropping a short packet frees little port time, so more packets must be dropped (netflix, reddit, wechat). The number of
lost bytes stays about the same once the average has settled.

**What changed**: until November 2026 the average of an empty queue could stand still ([decision 16](../decisions/0016-ageing-keeps-its-remainder.md)). With weight
0.002, RED then kept dropping packets at empty queues: gnutella lost 4,760 packets instead of 2,802. Netflix, sent once, wasted 1,027 hops with the nearest packet
and 803 with the arriving packet. With the corrected average it wasted 618 and 758 hops. Since then the packets of a queue's head, 4 in these runs, are never victims
([decision 27](../decisions/0027-heads-and-bodies.md)); the tables were made again with that.
"""
TEXT = {
    "RED, weight 0.02": "Gentle RED on the average in packets: `min` 10, `max` 50, `p` 0.1. The queue limit is 200 packets.",
    "RED, weight 0.002": "The same curve with a slower average: it remembers about 500 packets.",
    ONE_PASS: """Informational: each capture is sent once. A capture has only three to ten times the packets that the average remembers. This table therefore shows the
transient: the average rises from 0, overshoots and falls. If the queue holds no more packets than its head, 4, only the arriving packet can be dropped, whatever its distance.""",
    "tail drop": f"The queue limit is 50 packets. A full queue drops the nearest of the arriving packet and of its last {WINDOW} packets, without those of its head.",
}


@cache
def frames(capture: Path) -> tuple[int, list[tuple[bytes, int]]]:
    """Link type, and bytes and length on the wire of every frame."""
    from vermilion.configuration.ttl_option import packets

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
    """One run; packets in all, lost, evicted, bytes lost, lost without a distance, wasted hops (hops)."""
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
        "wasted_hops": found["queues"][0]["wasted_hops"],
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
            row |= {name: measure(program, source, queue) for name, queue in zip(VICTIMS, FORMS[form], strict=True)}
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
        out.append(f"{figures['lost']:,}")
        out += [f"{figures['evicted']:,}"] if victim == "nearest" else []
        out += [f"{figures['lost_bytes'] / 1000:,.0f}", f"{figures['wasted_hops']:,}"]
    return out


def tables(rows: list[dict], form: str) -> list:
    """What the terminal shows of one form, in 80 columns: tables, and a line that names the columns without a value."""
    own = [[row["capture"], *cells(row)] for row in rows if row["form"] == form and lost_enough(row)]
    absent = narrow.zeros(HEADS, own, 1) if own else []
    made = narrow.tables(f"Losses by distance: {form}", ["capture"], HEADS, own)
    return made + ([f"none: {', '.join(absent)}"] if absent else [])


def example(rows: list[dict]) -> str:
    """A sentence with one row's figures; empty where the row is not there."""
    for row in rows:
        if row["form"] == "RED, weight 0.02" and row["capture"] == "netflix":
            near, red_ = row["nearest"], row["arriving"]
            return (
                f" Example, netflix, weight 0.02: {near['wasted_hops']:,} wasted hops instead of "
                f"{red_['wasted_hops']:,}, and {near['lost']:,} lost packets instead of {red_['lost']:,}."
            )
    return ""


def page(rows: list[dict]) -> str:
    text = INTRODUCTION.format(example=example(rows))
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
