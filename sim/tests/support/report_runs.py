"""A run that a report can be written of: its configuration, its JSON and its trace."""

import math
import random

from vermilion.configuration import config
from vermilion.hardware import formats
from vermilion.profile import quantise

NASTY = '<b>"q" & $x_1$</b>'
ASKED = {
    "port": {"rate": "2Mbit"},
    "queue": [
        {
            "name": NASTY,
            "default": True,
            "ecn": True,
            "limit": "60KB",
            "spacing": "uniform",
            "average": {"kind": "rio-c", "weight": 0.02},
            "green": {
                "curve": "red", "min": "10KB", "max": "30KB", "p": 0.1,
                "ecn": {"min": "5KB", "max": "5KB", "p": 1.0},
            },
            "yellow": {"curve": "gentle", "min": "5KB", "max": "20KB", "p": 0.2},
        },
        {
            "name": "packets",
            "dscp": ["AF11", "AF12"],
            "limit_packets": "60p",
            "average": {"unit": "packet"},
            "green": {"curve": "exred", "min": "10p", "max": "30p", "p": 0.1},
        },
        {"name": "silent", "dscp": ["EF"], "limit": "6KB"},
    ],
}  # fmt: skip
FATES = ("enqueued", "mark", "early", "forced", "tail", "nobuf", "bad", "policed")


def setting():
    asked = config.parse(ASKED)
    return asked, quantise.hardware(asked)


def counters(verdicts):
    def pair(*codes):
        count = sum(verdicts.count(code) for code in codes)
        return {"packets": count, "bytes": 500 * count}

    out = {"arrived": pair(*range(7)), "enqueued": pair(0, 1), "marked": pair(1), "ce_written": pair(1)}
    out |= {name: pair(code) for code, name in enumerate(FATES) if code >= 2}
    return out | {"sent": pair(0, 1)}


def run_json(decisions):
    """The JSON of sim/harness/results.h for decisions [time, queue, colour, average, bytes, packets, p, verdict]."""
    queues = []
    for index, name in enumerate([NASTY, "packets", "silent"]):
        own = [d for d in decisions if d[1] == index]
        colours = [counters([d[7] for d in own if d[2] == c]) for c in range(3)]
        sent = sum(c["sent"]["packets"] for c in colours)
        latency = [[0, 1], [1024, 2], [90112, sent]] if sent else []
        queues.append({"index": index, "name": name, "colours": colours, "latency": latency, "latency_max_ns": 98000})
    out = {"engine": "rtl", "preset": "lab", "packets": len(decisions), "bytes": 500 * len(decisions), "clocks": 12345}
    out |= {"seconds": 0.5, "queues": queues, "samples": decisions, "sample_every": 1, "event_every": 1}
    out |= {"events": [d for d in decisions if d[7]], "lane_start_ns": 1_000_000, "accounting": {"errors": 0}}
    return out | {"replay": {"decisions": len(decisions), "agreed": len(decisions)}, "warnings": {"runt": 3}}


def traffic(count=3000):
    chance, out = random.Random(7), []
    for i in range(count):
        queue, colour = int(i % 3 == 0), int(i % 5 == 0)
        level = 0.5 - 0.5 * math.cos(i / 200)
        backlog = int(level * (50 if queue else 50_000))
        verdict = chance.choices(range(6), weights=(80, 4, 8, 4, 3, 1))[0]
        row = [1_000_000 + i * 10_000, queue, colour, backlog * 0.8, backlog * 1000 if queue else backlog]
        out.append(row + [backlog if queue else backlog // 1000, 0.1, verdict])
    return out


def trace_file(path, rows):
    """A trace with the columns that matter in the order of sim/harness/trace_writer.h: (refresh, queue, colour, ecn, average, verdict)."""
    names = "time,refresh,input,queue,colour,len_bytes,ecn,bad,no_buffer,draw,probability,provisional_verdict".split(
        ","
    )
    names += [
        f"{n}_{c}" for c in range(3) for n in ("backlog_bytes", "backlog_packets", "last_departure", "ahead", "average")
    ]
    lines = [",".join(names)]
    for refresh, queue, colour, ecn, average, verdict in rows:
        row = dict.fromkeys(names, 0) | {"refresh": refresh, "queue": queue, "colour": colour, "ecn": ecn}
        row |= {f"average_{colour}": int(average * 2**formats.AVG_FRAC), "provisional_verdict": verdict}
        lines.append(",".join(str(row[n]) for n in names))
    path.write_text("\n".join(lines) + "\n")
    return path
