"""`vermilion distance-drops`: what is lost where the nearest packet pays, beside plain RED on the same capture.

Each capture is sent back to back at 12.5 Mbit/s into a port of 10 Mbit/s with one queue, by the bit-exact model: once the arriving packet is
lost, once the nearest. An average of weight w forgets in about 1 / w packets; where the capture is not many times as long, its transient is measured
and not its rate of loss. So there is a table for each of two weights.
"""

import json
import tempfile
from pathlib import Path

from . import build, config, quantise, simulate

PAGE = build.ROOT / "docs" / "results" / "distance-drops.md"
SHIPPED = build.ROOT / "sim" / "captures" / "default.pcapng"
VICTIMS = ("arriving", "nearest")
WEIGHTS = (0.02, 0.002)
LOSSES = ("early", "forced", "tail", "evicted")
CURVE = {"curve": "gentle", "min": 10, "max": 50, "p": 0.1}
QUEUE = {"name": "all", "default": True, "limit_packets": "200 packets"} | dict.fromkeys(config.COLOURS, CURVE)
PORT, RATE = 10_000_000, 12_500_000
HEADS = ("RED: lost", "kB", "mean d", "slots", "nearest: lost", "of them evicted", "kB", "mean d", "slots")

INTRODUCTION = """# What distance drops save

Made by `./vermilion distance-drops --publish CAPTURE...`. Captures back to back at 12.5 Mbit/s into a port of 10 Mbit/s: one queue, gentle RED over packets
(10, 50, 0.1), distances inferred from TTLs. First plain RED, which drops the arriving packet, then `victim = "nearest"` ([distance-drops.md](../distance-drops.md)).
Consumed slots are the sum of distance times losses: the hops that were travelled for nothing. `default` is the project's own capture; the others
are real traffic, with the TTLs that it came with, from the test data of the nDPI project, which is not shipped here.

A capture is not a reaction: its senders do not slow down. Who is nearest in these captures is mostly the capturing host itself, with d = 0, and much of what it
sends are acknowledgements. A lost acknowledgement frees less of the port's time than a lost segment, so more packets are lost where near ones are short
(netflix, reddit, wechat); what is lost in bytes is about the same once the average has settled.
"""
TRANSIENT = """
With this weight an average forgets in 500 packets, a third of most of these captures: what is compared is how it rises from 0 and overshoots, and
not what queues lose that are always full. Netflix loses more slots than with RED here: the queue keeps the long packets, the average of packets stays high
for longer, and 42 kB more are lost than with RED. In the table above the two lose about the same bytes.
"""


def measure(program: Path, capture: Path, weight: float, victim: str) -> dict:
    """One run; packets in all, lost, evicted, bytes lost, consumed slots (hops)."""
    queue = QUEUE | {"average": {"weight": weight, "unit": "packet"}, "victim": victim}
    asked = config.parse({"port": {"rate": PORT}, "queue": [queue]})
    with tempfile.TemporaryDirectory() as folder:
        words, stats = Path(folder) / "words.json", Path(folder) / "stats.json"
        words.write_text(json.dumps(quantise.hardware(asked)))
        command = ["--in", capture, "--config-words", words, "--engine", "model", "--stats-json", stats, "--rate", RATE]
        simulate.run(program, command, lambda done, total: None, lambda text: None)
        found = json.loads(stats.read_text())
    queue = found["queues"][0]
    lost = {
        what: {name: sum(per[name][what] for per in queue["colours"]) for name in LOSSES}
        for what in ("packets", "bytes")
    }
    return {
        "packets": found["packets"],
        "lost": sum(lost["packets"].values()),
        "evicted": lost["packets"]["evicted"],
        "lost_bytes": sum(lost["bytes"].values()),
        "consumed_slots": queue["consumed_slots"],
    }


def compare(program: Path, captures: list[Path], weights=WEIGHTS, progress=lambda done: None) -> list[dict]:
    """A row for each weight and capture, with the figures of both victims."""
    rows = []
    for weight in weights:
        for capture in captures:
            row = {"weight": weight, "capture": capture.stem}
            rows.append(row | {victim: measure(program, capture, weight, victim) for victim in VICTIMS})
            progress(len(rows))
    return rows


def cells(row: dict) -> list[str]:
    """What a row has below HEADS."""
    out = []
    for victim in VICTIMS:
        figures = row[victim]
        out.append(f"{figures['lost']:,}")
        out += [f"{figures['evicted']:,}"] if victim == "nearest" else []
        out += [f"{figures['lost_bytes'] / 1000:,.0f}", f"{figures['consumed_slots'] / max(figures['lost'], 1):.2f}"]
        out.append(f"{figures['consumed_slots']:,}")
    return out


def publish(rows: list[dict]):
    """Writes the page and its JSON."""
    text = INTRODUCTION
    for weight in dict.fromkeys(row["weight"] for row in rows):
        text += f"\n## Weight of the average {weight}\n"
        text += TRANSIENT if weight == min(WEIGHTS) else ""
        text += f"\n| capture | packets | {' | '.join(HEADS)} |\n| --- |{' ---: |' * (len(HEADS) + 1)}\n"
        for row in (row for row in rows if row["weight"] == weight):
            text += f"| {row['capture']} | {row['arriving']['packets']:,} | {' | '.join(cells(row))} |\n"
    PAGE.write_text(text)
    PAGE.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
