"""`python -m vermilion.losses`: what distance drops save on captures, beside plain RED; writes docs/results/distance-drops.md.

Each capture is sent back to back at 12.5 Mbit/s into a port of 10 Mbit/s with one queue, twice, by the bit-exact model: with the arriving packet
lost, and with the nearest. Captures are the shipped one and those of ../shared/captures; one that is not there is left out.
"""

import json
import sys
import tempfile
from pathlib import Path

from . import build, config, quantise, simulate
from .fields import UserError

PAGE = build.ROOT / "docs" / "results" / "distance-drops.md"
CAPTURES = [build.ROOT / "sim" / "captures" / "default.pcapng"]
CAPTURES += [
    build.ROOT.parent / "shared" / "captures" / f"{name}.pcap"
    for name in ("netflix", "teams", "gnutella", "reddit", "wechat")
]
VICTIMS = ("arriving", "nearest")
LOSSES = ("early", "forced", "tail", "evicted")
CURVE = {"curve": "gentle", "min": 10, "max": 50, "p": 0.1}
QUEUE = {"name": "all", "default": True, "limit_packets": "200 packets"} | dict.fromkeys(config.COLOURS, CURVE)
QUEUE |= {"average": {"weight": 0.002, "unit": "packet"}}
PORT, RATE = 10_000_000, 12_500_000

HEAD = """# What distance drops save

Made by `python -m vermilion.losses`. Captures back to back at 12.5 Mbit/s into a port of 10 Mbit/s: one queue, gentle RED over packets (10, 50, 0.1, weight
0.002), distances inferred from TTLs. First plain RED, which drops the arriving packet, then `victim = "nearest"` ([distance-drops.md](../distance-drops.md)).
Consumed slots are the sum of distance times losses: the hops that were travelled for nothing.

A capture is not a reaction: its senders do not slow down. Who is nearest in these captures is mostly the capturing host itself, with d = 0, and much of what it
sends are acknowledgements. A lost acknowledgement frees less of the port's time than a lost segment, and the average counts packets; so more packets are
lost where near ones are short (netflix, reddit), and fewer where they are long.

| capture | packets | RED: lost | kB | mean d | slots | nearest: lost | of them evicted | kB | mean d | slots |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def measure(program: Path, capture: Path, victim: str) -> dict:
    """One run; packets in all, lost, evicted, kB lost, consumed slots."""
    asked = config.parse({"port": {"rate": PORT}, "queue": [QUEUE | {"victim": victim}]})
    with tempfile.TemporaryDirectory() as folder:
        words, stats = Path(folder) / "words.json", Path(folder) / "stats.json"
        words.write_text(json.dumps(quantise.hardware(asked)))
        command = ["--in", capture, "--config-words", words, "--engine", "model", "--stats-json", stats, "--rate", RATE]
        simulate.run(program, command, lambda done, total: None, lambda text: None)
        found = json.loads(stats.read_text())
    queue = found["queues"][0]
    lost = {name: sum(per[name][what] for per in queue["colours"]) for name in LOSSES for what in ("packets",)}
    heavy = sum(per[name]["bytes"] for per in queue["colours"] for name in LOSSES)
    figures = {"packets": found["packets"], "lost": sum(lost.values()), "evicted": lost["evicted"]}
    return figures | {"kilobytes": heavy / 1000, "slots": queue["consumed_slots"]}


def page(program: Path) -> str:
    text = HEAD
    for capture in CAPTURES:
        if not capture.exists():
            continue
        red, near = (measure(program, capture, victim) for victim in VICTIMS)
        cells = [f"{n:,}" for n in (red["packets"], red["lost"])]
        cells += [f"{red['kilobytes']:,.0f}", f"{red['slots'] / max(red['lost'], 1):.2f}", f"{red['slots']:,}"]
        cells += [f"{n:,}" for n in (near["lost"], near["evicted"])]
        cells += [f"{near['kilobytes']:,.0f}", f"{near['slots'] / max(near['lost'], 1):.2f}", f"{near['slots']:,}"]
        text += f"| {capture.stem} | {' | '.join(cells)} |\n"
    return text


if __name__ == "__main__":
    try:
        PAGE.write_text(page(build.simulator("lab")))
    except (UserError, build.BuildError) as error:
        sys.exit(f"vermilion: {error}")
