"""`python -m vermilion.losses`: what distance drops save on captures, beside plain RED; writes docs/results/distance-drops.md.

Each capture is sent back to back at 12.5 Mbit/s into a port of 10 Mbit/s with one queue, twice, by the bit-exact model: with the arriving packet
lost, and with the nearest; first with a curve, then with a limit alone. Captures are the shipped one and those of ../shared/captures; one that is not there is left out.
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
LOSSES = ("early", "forced", "tail", "evicted")
CURVE = {"curve": "gentle", "min": 10, "max": 50, "p": 0.1}
ALL = {"name": "all", "default": True}
RED = ALL | {"limit_packets": "200 packets", "average": {"weight": 0.002, "unit": "packet"}}
RED |= dict.fromkeys(config.COLOURS, CURVE)
TAIL = ALL | {"limit_packets": "50 packets"}
NEAREST = {"victim": "nearest"}
PORT, RATE = 10_000_000, 12_500_000

HEAD = """# What distance drops save

Made by `python -m vermilion.losses`. Captures back to back at 12.5 Mbit/s into a port of 10 Mbit/s: one queue, distances inferred from TTLs. First with the arriving packet
lost, then with `victim = "nearest"` ([distance-drops.md](../distance-drops.md)). Consumed slots are the sum of distance times losses: the hops that were travelled for
nothing.

A capture is not a reaction: its senders do not slow down. Who is nearest in these captures is mostly the capturing host itself, with d = 0, and much of what it
sends are acknowledgements. A lost acknowledgement frees less of the port's time than a lost segment, and average and limit count packets; so more packets are
lost where near ones are short (netflix, reddit), and fewer where they are long.
"""
TABLE = """
## {title}

| capture | packets | arriving: lost | kB | mean d | slots | nearest: lost | of them evicted | kB | mean d | slots |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""
FORMS = {
    "RED form: gentle RED over packets (10, 50, 0.1), weight 0.002": (RED, RED | NEAREST),
    "Tail-drop form: a limit of 50 packets, the last 16 of them": (TAIL, TAIL | NEAREST | {"victim_window": 16}),
}


def measure(program: Path, capture: Path, queue: dict) -> dict:
    """One run; packets in all, lost, evicted, kB lost, consumed slots."""
    asked = config.parse({"port": {"rate": PORT}, "queue": [queue]})
    with tempfile.TemporaryDirectory() as folder:
        words, stats = Path(folder) / "words.json", Path(folder) / "stats.json"
        words.write_text(json.dumps(quantise.hardware(asked)))
        command = ["--in", capture, "--config-words", words, "--engine", "model", "--stats-json", stats, "--rate", RATE]
        simulate.run(program, command, lambda done, total: None, lambda text: None)
        found = json.loads(stats.read_text())
    colours, slots = found["queues"][0]["colours"], found["queues"][0]["consumed_slots"]
    lost = {name: sum(per[name]["packets"] for per in colours) for name in LOSSES}
    heavy = sum(per[name]["bytes"] for per in colours for name in LOSSES)
    figures = {"packets": found["packets"], "lost": sum(lost.values()), "evicted": lost["evicted"]}
    return figures | {"kilobytes": heavy / 1000, "slots": slots}


def row(program: Path, capture: Path, arriving: dict, nearest: dict) -> str:
    red, near = (measure(program, capture, queue) for queue in (arriving, nearest))
    cells = [f"{n:,}" for n in (red["packets"], red["lost"])]
    cells += [f"{red['kilobytes']:,.0f}", f"{red['slots'] / max(red['lost'], 1):.2f}", f"{red['slots']:,}"]
    cells += [f"{n:,}" for n in (near["lost"], near["evicted"])]
    cells += [f"{near['kilobytes']:,.0f}", f"{near['slots'] / max(near['lost'], 1):.2f}", f"{near['slots']:,}"]
    return f"| {capture.stem} | {' | '.join(cells)} |\n"


def page(program: Path) -> str:
    text = HEAD
    for title, queues in FORMS.items():
        text += TABLE.format(title=title)
        text += "".join(row(program, capture, *queues) for capture in CAPTURES if capture.exists())
    return text


if __name__ == "__main__":
    try:
        PAGE.write_text(page(build.simulator("lab")))
    except (UserError, build.BuildError) as error:
        sys.exit(f"vermilion: {error}")
