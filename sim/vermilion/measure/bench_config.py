"""How the lane stands in `vermilion bench`: every stage at work on every frame, in the registers' formats by `quantise.py`.

Queues: sixteen, as far apart as the build has them; all DSCPs over them, DSCP d to the one d modulo 16, in the colour d modulo 3 (the frames:
`sim/harness/bench.h`).

    averages   of packets, w = 1/512, idle ageing by the time a frame takes on the stream
    curve      p = 1/16 at an empty queue and a line to 1 at the limit (the upper part of gentle RED), uniform spacing: some early
               drops at every pace, and where the scheduler is slower than the stream the curve holds the queue below its limit
    limit      in packets, together half of the buffer's cells, so that these never run out: a `nobuf` frame would skip the rest
    markers    `none`, one kind in all queues, colour-aware, or `mixed`: the seven kinds in turn, queue 0 the first, colour-blind, and
               from the second turn on colour-aware, the probing ones with increase by A_Y / (1 - alpha). Rates and depths by what
               a queue is offered: committed 1/2, peak 3/4; CBS, PBS 20 packets, EBS 200; REDP with b 60, T_L 15, T_H 45 packets, MAX
               1/2, P_drop 1/16 and a meter of one packet, so that its dropper acts. Flow markers have the paper's parameters.

With the victim search, one queue and a port slower than the stream (`PORT`, share of the stream), so that push-outs have victims to find; w = 1:

    red    forced over half of the limit: every arrival that may not stay pushes out, 9 of 10
    ecn    p from 0 to 1 at half of the limit, then 1: early drops of what is not ECT, half of the frames, and marks of the others
    tail   no curve: push-outs among the last 16 packets at the limit

Nothing else is shaped, but all of a card (`card`).
"""

import dataclasses
from collections.abc import Iterable
from fractions import Fraction

from vermilion.configuration import config, reports
from vermilion.hardware.formats import probability
from vermilion.profile import quantise
from vermilion.profile.image_record import CurveRecord
from vermilion.profile.record import CardRecord, LaneRecord, PortRecord, QueueRecord
from vermilion.toolchain import build
from vermilion.values.fields import COLOURS

CLOCK_NS, CELL_BYTES = 4, 64
QUEUES = 16
KINDS = ("dualpi2", "pie", "codel", "curves", "fq-codel")
GROUP = 8  # first queue of the group of flows, in builds with all AQMs
MARKERS = ("leaf", "srtcm", "trtcm", "redp", "3cpm", "wpm", "apm")
PORT = {"red": Fraction(1, 10), "ecn": Fraction(11, 20), "tail": Fraction(1, 10)}
WINDOW = 16
UNSHAPED: PortRecord = {"cost": [0, 0], "burst": 0}
LEAST_LIMIT = 4  # packets: a shaped queue waits for its turn
ALPHA_8 = 11  # the code of a threshold of 8 times the free cells


def frame_ns(shape: build.Preset, frame: int) -> int:
    """The time of a frame on the stream."""
    return CLOCK_NS * -(-frame // (shape.data_bits // 8))


def marker(kind: str, again: bool, aware: bool, rate: int, frame: int, packet_ns: int) -> dict:
    """A `[[marker]]` table; `rate`: what its queue is offered, bits/s; `packet_ns`: what a packet takes of it; `again`: the second turn of `mixed`."""
    depth = lambda packets: f"{packets * frame}B"
    flow = {"increase": "factor", "ack": "green"} if again else {}
    buckets = {"length": "frame"}
    fields: dict[str, dict] = {
        "leaf": buckets | {"rate": rate // 2, "burst": depth(20)},
        "srtcm": buckets | {"cir": rate // 2, "cbs": depth(20), "ebs": depth(200), "colour_aware": aware},
        "trtcm": buckets
        | {"cir": rate // 2, "cbs": depth(20), "pir": rate * 3 // 4, "pbs": depth(20), "colour_aware": aware},
        "redp": buckets
        | {"rate": rate // 2, "bucket": depth(60), "low": depth(15), "high": depth(45)}
        | {"p_drop": 1 / 16, "meter": f"{packet_ns}ns"},
        "3cpm": flow,
        "wpm": {name: flow[name] for name in flow if name == "ack"},
        "apm": {name: flow[name] for name in flow if name == "increase"},
    }
    return {"kind": kind} | fields[kind]


def curve(limit: int) -> CurveRecord:
    """From p = 1/16 at an empty queue to 1 at the limit: no curve of the configuration's, so put into the record."""
    first = Fraction(1, 16)
    return {
        "on": 1, "min": 0, "max": 0, "end": limit, "inv1": [0, 0], "slope1": 0, "inv2": list(quantise.inverse(limit)),
        "base2": probability(first), "slope2": probability(1 - first), "square2": [0, 0],
    }  # fmt: skip


def codes(queue: int, queues: int) -> dict:
    return {
        name: [d for d in range(64) if d % queues == queue and d % 3 == colour] for colour, name in enumerate(COLOURS)
    }


def card(shape: build.Preset, frame: int, spread: str) -> CardRecord:
    """The record of a lane with several egresses, everything on.

    Each egress has sixteen queues as above, with the markers in turn and ECN; where the build has the search each loss of a curve is a push-out.
    Limits add up to the whole buffer, but are 4 packets at least. The pool has all cells but those of frames that come in or are sent
    (docs/architecture/data-path.md). Half of it is reserved, and each queue may have 8 times what is free. Ports and queues are shaped to what the stream
    carries, which is more than what comes. Input i goes to egress i.
    """
    share = shape.queues // shape.egresses
    one = dataclasses.replace(shape, queues=share, victims=min(shape.victims, share), egresses=1)
    one = dataclasses.replace(one, cells=2 * shape.cells // shape.egresses)
    rate, limit = 8 * 10**9 * frame // frame_ns(shape, frame), max(LEAST_LIMIT, limit_of(one, frame, spread))
    more = {"limit_packets": f"{limit}p", "ecn": True, "rate": rate, "burst": f"{16 * max(frame, 64)}B"}
    more |= {"victim": "nearest"} if one.victims else {}
    configs = [parsed(one, frame, spread, "mixed", more)] * shape.egresses
    words = quantise.card(configs, [i % shape.egresses for i in range(shape.inputs)], share)
    longest = -(-frame // CELL_BYTES)
    outside = shape.inputs * (2 * longest + 40) + shape.egresses * (2 * longest + 3)
    size, count = shape.cells - outside, shape.egresses
    words["pool"] = {"size": size, "cap": [0] * count, "reserve": [size // 2 // count] * count}
    for queue in words["queues"]:
        queue["alpha"] = ALPHA_8
    with_curves(words["queues"], limit)
    return words


def limit_of(shape: build.Preset, frame: int, spread: str) -> int:
    """Packets that a queue holds at most."""
    queues = min(shape.queues, QUEUES) if spread == "random" else 1
    return max(1, shape.cells // 2 // -(-frame // CELL_BYTES) // queues)


def with_curves(queues: Iterable[QueueRecord], limit: int) -> None:
    for queue in queues:
        queue["colour"] = [{"curve": [curve(limit)] * 2, "ecn_own": 0}] * len(COLOURS)


def record(shape: build.Preset, frame: int, spread: str, kind: str, rate: int = 0) -> LaneRecord:
    """The hardware's record; `spread` is `one` or `random`, `kind` a marker, `mixed`, `none` or `aqms`. `rate`: of the port, bits/s; 0: not shaped."""
    asked = parsed(shape, frame, spread, kind, rate=rate)
    words = quantise.hardware(asked)
    if kind == "aqms":
        words["reports"] = reports.record(reports.Reports(), dict.fromkeys(range(QUEUES), ""), QUEUES)
    curves = {queue.at for queue in asked.queue if queue.aqm == "curve"}
    with_curves((queue for queue in words["queues"] if queue["index"] in curves), limit_of(shape, frame, spread))
    if not rate:
        words["port"] = UNSHAPED
    return words


def kind_of(queue: int) -> str:
    """The AQM of a queue in a lane with all of them."""
    firsts = dict(zip((0, 2, 3, 4, GROUP), KINDS, strict=True))
    return firsts[max(first for first in firsts if first <= queue)]


def aqm(queue: int) -> dict:
    """What a queue has in a lane with all AQMs. With `one` all frames are for the first pair."""
    if queue < 2:  # ECT(0) goes to L, the rest to C
        pair = {"target": "2us", "step_threshold": "1us", "l4s_mask": 3, "tupdate": "65536ns"}
        return {"aqm": "dualpi2"} | ({} if queue else pair | {"dualpi2_alpha": 255, "dualpi2_beta": 255})
    if queue == 2:
        return {"aqm": "pie", "ecn": True, "target": "2us", "tupdate": "65536ns", "pie_alpha": 3, "pie_beta": 3}
    if queue == 3:
        return {"aqm": "codel", "ecn": True, "target": "2us", "interval": "50us", "ce_threshold": "1024ns"}
    if queue < GROUP:
        return {"mark_at": "dequeue", "ecn": True, "spacing": "geometric"}
    return {"fq": QUEUES - GROUP, "aqm": "codel", "ecn": True, "target": "2us", "interval": "50us"}


def parsed(
    shape: build.Preset, frame: int, spread: str, kind: str, more: dict | None = None, rate: int = 0
) -> config.Config:
    """The configuration, but for what the record alone can say. `more`: fields of each queue."""
    queues = min(shape.queues, QUEUES)
    limit = limit_of(shape, frame, spread)
    ns = frame_ns(shape, frame)
    rate, share = rate or 8 * 10**9 * frame // ns, queues if spread == "random" else 1
    average = {"weight": 1 / 512, "unit": "packet", "idle_packet": min(max(frame, 64), 9600)}
    each = {"limit_packets": f"{limit}p", "average": average, "spacing": "uniform", "quantum": 16384} | (more or {})
    if shape.codel and kind != "aqms":  # every packet gets a verdict as it leaves
        each["ce_threshold"] = "1024ns"
    table = [
        each | {"name": str(i), "index": i * (shape.queues // queues), "dscp": codes(i, queues)} for i in range(queues)
    ]
    if kind == "aqms":
        table = [queue | aqm(i) for i, queue in enumerate(table[: GROUP + 1])]
        table[GROUP]["dscp"] = [d for d in range(64) if d % queues >= GROUP]
        del table[1]["dscp"]
    asked = {"port": {"rate": rate}, "queue": table}
    markers: list[dict] = []
    for i in range(queues if kind not in ("none", "aqms") else 0):
        mixed, again = kind == "mixed", kind == "mixed" and i >= len(MARKERS)
        one = MARKERS[i % len(MARKERS)] if mixed else kind
        markers.append({"queue": str(i)} | marker(one, again, again or not mixed, rate // share, frame, ns * share))
    return config.parse(asked | {"marker": markers}, shape.queues, shape.victims)


def search(shape: build.Preset, frame: int, form: str) -> LaneRecord:
    """The same for a queue with the victim search."""
    limit = shape.cells // 2 // -(-frame // CELL_BYTES)
    rate = 8 * 10**9 * frame // frame_ns(shape, frame)
    queue: dict[str, object] = {"name": "0", "default": True, "limit_packets": f"{limit}p", "victim": "nearest"}
    queue |= {"average": {"weight": 1, "unit": "packet"}}
    half = limit // 2
    if form == "red":
        queue |= dict.fromkeys(COLOURS, {"curve": "red", "min": half, "max": half, "p": 1})
    elif form == "ecn":
        queue |= {"ecn": True, **dict.fromkeys(COLOURS, {"curve": "gentle", "min": 0, "max": half, "p": 1})}
    else:
        queue |= {"victim_window": WINDOW}
    asked = {"port": {"rate": int(rate * PORT[form]), "burst": f"{2 * frame}B"}, "queue": [queue]}
    return quantise.hardware(config.parse(asked, shape.queues, shape.victims))
