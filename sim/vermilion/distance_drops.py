"""`vermilion distance-drops`: what is lost where the nearest packet pays, beside the arriving one, on the same capture.

Each capture is sent back to back at 12.5 Mbit/s into a port of 10 Mbit/s with one queue, by the bit-exact model: once the arriving packet is
lost, once the nearest. An average of weight w forgets in about 1 / w packets; where the capture is not many times as long, its transient is measured
and not its rate of loss. So the RED form stands with two weights.
"""

import json
import tempfile
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


def red(weight: float) -> tuple[dict, dict]:
    """The queue with each of the two victims."""
    queue = RED | {"average": {"weight": weight, "unit": "packet"}}
    return queue, queue | {"victim": "nearest"}


FORMS = {
    "RED, weight 0.02": red(0.02),
    "RED, weight 0.002": red(0.002),
    "tail drop": (TAIL, TAIL | {"victim": "nearest", "victim_window": WINDOW}),
}
SETTLED = ("RED, weight 0.02", "tail drop")
PORT, RATE = 10_000_000, 12_500_000
HEADS = ("arriving: lost", "kB", "mean d", "slots", "nearest: lost", "of them evicted", "kB", "mean d", "slots")

INTRODUCTION = """# What distance drops save

Made by `./vermilion distance-drops --publish CAPTURE...`. Captures back to back at 12.5 Mbit/s into a port of 10 Mbit/s: one queue, distances inferred from
TTLs. First the arriving packet is lost, then the nearest: `victim = "nearest"` ([distance-drops.md](../distance-drops.md)).
Consumed slots are the sum of distance times losses: the hops that were travelled for nothing, as far as distances are true. What is no IP counts as 63 hops and link-local
multicast as 31, which no packet travelled: all slots of `default` and nearly all of `gnutella` are such, a third of those of `wechat`, a quarter of those of `teams`. `default` is the project's own capture; the others
are real traffic, with the TTLs that it came with, from the test data of the nDPI project, which is not shipped here.

A capture is not a reaction: its senders do not slow down. Who is nearest in these captures is mostly the capturing host itself, with d = 0, and much of what it
sends are acknowledgements. A lost acknowledgement frees less of the port's time than a lost segment, so more packets are lost where near ones are short
(netflix, reddit, wechat); what is lost in bytes is about the same once the average has settled.
"""
TEXT = {
    "RED, weight 0.02": "Gentle RED over packets (10, 50, 0.1).",
    "RED, weight 0.002": """The same curve. With this weight an average forgets in 500 packets, a third of most of these captures: what is compared is how it rises from 0
and overshoots, and not what queues lose that are always full. Netflix loses more slots with the nearest than with the arriving packet here: the queue keeps the long packets, the average
of packets stays high for longer, and 42 kB more are lost. In the table above the two lose about the same bytes.""",
    "tail drop": f"A limit of {TAIL['limit_packets']}; the nearest of the last {WINDOW} pays.",
}


def measure(program: Path, capture: Path, queue: dict) -> dict:
    """One run; packets in all, lost, evicted, bytes lost, consumed slots (hops)."""
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
        "consumed_slots": found["queues"][0]["consumed_slots"],
    }


def compare(program: Path, captures: list[Path], forms=tuple(FORMS), progress=lambda done: None) -> list[dict]:
    """A row for each form and capture, with the figures of both victims."""
    rows = []
    for form in forms:
        for capture in captures:
            figures = {name: measure(program, capture, queue) for name, queue in zip(VICTIMS, FORMS[form])}
            rows.append({"form": form, "capture": capture.stem} | figures)
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
    for form in dict.fromkeys(row["form"] for row in rows):
        text += f"\n## {form[0].upper()}{form[1:]}\n\n{TEXT[form]}\n"
        text += f"\n| capture | packets | {' | '.join(HEADS)} |\n| --- |{' ---: |' * (len(HEADS) + 1)}\n"
        for row in (row for row in rows if row["form"] == form):
            text += f"| {row['capture']} | {row['arriving']['packets']:,} | {' | '.join(cells(row))} |\n"
    PAGE.write_text(text)
    PAGE.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
