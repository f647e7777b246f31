"""From a configuration to the numbers the hardware holds, and how far these are from what was asked.

The numbers are worked out by the driver's library (`sw_driver/lib`), as the kernel module works them out for a card: `settings.py` hands it a
queue and its marker, and here its words become the record of `docs/hardware-configuration.md`. Fractions are for display alone.
"""

import ctypes
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from vermilion.configuration import reports
from vermilion.configuration.config import Config, Curve, Queue
from vermilion.configuration.egresses import Asked, Lane, Whole
from vermilion.configuration.markers import Marker
from vermilion.configuration.pool import CELL_BYTES, Pool
from vermilion.configuration.rule_places import placed
from vermilion.configuration.rules import Placed, Rule
from vermilion.hardware.driver_library import C, fault_of, library, number, pair, plain
from vermilion.hardware.formats import (
    IDLE_FRAC,
    PROB_FRAC,
    RATIO_FRAC,
    STAGES,
    Line,
    cost,
    exact,
    line,
    nearest,
    probability,
    rate_line,
    value,
)
from vermilion.values.fields import COLOURS, UserError

from . import rule_words
from .image_record import ColourRecord, CurveRecord, QueueImage
from .marker_values import marker_lines
from .record import CardRecord, LaneRecord, PoolRecord, QueueRecord, Record
from .settings import DEFAULT_BURST, curve_settings, queue_settings

CLOCK_NS, LATENESS_CLOCKS = C.VM_CLOCK_NS, C.VM_LATENESS_CLOCKS


def weights(w: Fraction) -> list[tuple[int, int]]:
    """W[n] = 1 - (1-w)^n, n = 1..6, the step over n decisions at once: m U9, e U5 with W = m 2^-(8+e); 1.0 is (256, 0)."""
    return [pair(library().vm_weight(number(w), n)) for n in range(1, STAGES + 1)]


def idle_lambda(w: Fraction, packet_bytes: int, rate: int) -> tuple[int, int]:
    """-log2(1-w)/s a nanosecond with 10 fraction bits; s = the time of one packet at `rate`. At w = 1 the greatest there is."""
    return pair(library().vm_idle_decay(number(w), packet_bytes, rate))


def inverse(width: int) -> tuple[int, int]:
    """For y = (a - th) / width: a has 16 fraction bits and y 24, so m 2^-s = 2^8 / width; rounded down, so that y stays below 1."""
    return pair(library().vm_inverse(width))


def size_weight(mean: int) -> tuple[int, int]:
    """r = L / L_mean with 12 fraction bits: m 2^-s = 2^12 / L_mean."""
    return pair(library().vm_size_weight(mean))


def burst_ns(bytes_: int, rate: int | None, queues: int) -> int:
    """The time in which `rate` sends the burst; at least as late as the scheduler may be, at most what 40 bits hold (18 minutes)."""
    return int(library().vm_burst_ns(bytes_, rate or 0, queues))


def thresholds(curve: Curve, queue: Queue) -> tuple[int, int, int]:
    """min, max and the end from where on p is 1, of a curve that is no tail drop."""
    shape, end = curve.shape(), queue.end_of(curve) if curve.curve == "exred" else None
    if shape is None:
        raise ValueError("tail drop has no thresholds")
    if curve.curve == "gentle":
        end = 2 * shape.max
    if curve.curve == "red":
        end = curve.end.value if curve.end else shape.max
    if end is None:
        raise ValueError("exred has no end; its queue has no limit")
    return shape.min, shape.max, end


def pool_cells(pool: Pool) -> int:
    """Whole cells of the pool's size."""
    return int(library().vm_pool_cells(pool.size.value))


def queue_count(config: Config) -> int:
    """Up to the highest number that is configured: so many are looked at by the shaper of the queues."""
    return 1 + max(queue.at for queue in config.queue)


def curve_record(curve: Curve | None, queue: Queue) -> CurveRecord:
    """The image of one curve; "on" 0 for tail drop."""
    image = C.CurveImage()
    settings = curve_settings(curve)
    library().vm_curve_convert(ctypes.byref(settings), queue.end_of(curve) or 0 if curve else 0, ctypes.byref(image))
    made: CurveRecord = plain(image)
    return made


def curve_of(colour: ColourRecord, kind: str) -> CurveRecord:
    """The curve of drops ("drop") or of marks ("ecn") in a colour's image."""
    which: int = C.VM_MARKS if kind == "ecn" else C.VM_DROPS
    return colour["curve"][which]


def queue_image(queue: Queue, port_rate: int, queues: int, marker: Marker | None) -> Any:
    """The library's image of a queue; what the library refuses, a card would."""
    settings, port, image = queue_settings(queue, marker), C.Port(port_rate, 0, queues), C.QueueImage()
    fault = fault_of(settings, port)
    if fault:
        raise UserError(f'queue "{queue.name}", {fault}')
    library().vm_queue_convert(ctypes.byref(settings), ctypes.byref(port), ctypes.byref(image))
    return image


def queue_record(queue: Queue, port_rate: int, queues: int, marker: Marker | None) -> QueueRecord:
    """A queue's part of the record; `port_rate` in bits a second, `queues` up to the highest configured."""
    image: QueueImage = plain(queue_image(queue, port_rate, queues, marker))
    return {"index": queue.at, "name": queue.name, **image}


def hardware(config: Config, egresses: int = 1) -> LaneRecord:
    """The whole record that harness and model read; of `egresses`, which the shaper looks at in turn."""
    rest = next(q.at for q in config.queue if q.default)
    table = [[rest, 0] for _ in range(64)]
    for queue in config.queue:
        for rank, colour in enumerate(COLOURS):
            for code in getattr(queue.dscp, colour):
                table[code] = [queue.at, rank]
    markers = {m.queue: m for m in config.marker}
    rate, queues = config.port.rate, egresses * queue_count(config)
    made: LaneRecord = {
        "port": {"cost": list(cost(rate)), "burst": burst_ns(config.port.burst.value, rate, queues)},
        "queues": [queue_record(q, rate, queues, markers.get(q.name)) for q in config.queue],
        "dscp": table,
        "default": [rest, 0],
        "seed": config.seed,
        "ttl_option": {"ip4": config.ttl_option.ip4, "ip6": config.ttl_option.ip6},
    }
    if config.pool:
        made["pool"] = {"size": pool_cells(config.pool), "reserve": [0], "cap": [0]}
    put_rules(made, config.rule, placed(config.rule, [config], [0], [""]))
    return made


def put_rules(made: Record, given: Sequence[Rule], where: Sequence[Placed]) -> None:
    """Adds the rules to a record, if there are any."""
    if given:
        found = rule_words.record(given, where)
        made["rules"], made["port_ranges"] = found["rules"], found["port_ranges"]


def card(configs: list[Config], routes: list[int], share: int) -> CardRecord:
    """The record of a build with an egress for each configuration, of `share` queues each; `routes`: the egress of each input. Seed and types of
    the TTL option are the first configuration's. There is no pool: `lane` adds it.
    """
    records = [hardware(config, len(configs)) for config in configs]

    def moved(entry: list[int], egress: int) -> list[int]:
        return [entry[0] + egress * share, entry[1]]

    def queue(record: QueueRecord, egress: int) -> QueueRecord:
        return {**record, "index": record["index"] + egress * share}

    return {
        "queue_count": share * len(configs),
        "queues": [queue(each, e) for e, record in enumerate(records) for each in record["queues"]],
        "egresses": [
            {
                "port": record["port"],
                "dscp": [moved(entry, e) for entry in record["dscp"]],
                "default": moved(record["default"], e),
            }
            for e, record in enumerate(records)
        ],
        "routes": routes,
        "seed": records[0]["seed"],
        "ttl_option": records[0]["ttl_option"],
    }


def lane(asked: Lane, share: int) -> Record:
    """The record of a lane as its file has it, with `share` queues in each egress."""
    made: Record
    if len(asked.configs) == 1:
        made = hardware(asked.configs[0])
    else:
        made = card(asked.named(), asked.routes, share)
        if pool := shares(asked, range(len(asked.configs))):
            made["pool"] = pool
        put_rules(made, asked.rule, asked.placed())
    if asked.reports:
        names: dict[int, str] = {}
        for e, each in enumerate(asked.configs):
            called = {q.at: q.name for q in each.queue}
            names |= {e * share + q.at: called[q.at - q.at % (q.fq or 1)] for q in each.queue}  # a group has one name
        count = share * len(asked.configs) if len(asked.configs) > 1 else 1 + max(names)
        made["reports"] = reports.record(asked.reports, names, count)
    return made


def egress(asked: Lane, number: int) -> LaneRecord:
    """The record of an egress alone, with queues from 0 on."""
    made = hardware(asked.configs[number], len(asked.configs))
    if pool := shares(asked, [number]):
        made["pool"] = pool
    return made


def shares(asked: Lane, numbers: Iterable[int]) -> PoolRecord | None:
    """What some of the egresses have of the pool."""
    pool, held = asked.configs[0].pool, [asked.shares[number].cells for number in numbers]
    reserve, cap = ([share[i] for share in held] for i in (0, 1))
    return {"size": pool_cells(pool), "reserve": reserve, "cap": cap} if pool else None


def notes(config: Asked) -> list[str]:
    """A sentence for each probability that is so small that the hardware holds 0, and for drops that come before marks at departure."""
    found = []
    for queue in config.queue:
        for colour in COLOURS:
            drop = getattr(queue, colour)
            for where, curve in ((colour, drop), (f"{colour}.ecn", drop.ecn)):
                if curve is not None and curve.p and probability(exact(curve.p)) == 0:
                    found.append(
                        f'queue "{queue.name}" has {where}.p {curve.p:g}, which the hardware holds as 0; '
                        f"the step of p is 2^-{PROB_FRAC} ({2**-PROB_FRAC:.2g})"
                    )
            if queue.mark_at == "dequeue" and drop.shape() is not None:
                found.append(
                    f'queue "{queue.name}" marks packets as they leave. While the average on arrival is at or above '
                    f"{thresholds(drop, queue)[2]}, the end of {colour}, it drops all packets that arrive, ECN-capable ones, too"
                )
    return found


def effective(spacing: str, p: Fraction) -> Fraction:
    """The long-run early-drop rate at a steady p: 1 / the mean gap, exact for R uniform on [0, 1).

    uniform: P(gap > k) = max(0, 1 - k p).   wait: 1 while k p < 1, then max(0, 2 - k p).
    """
    if spacing == "geometric" or p == 0 or p >= 1:
        return min(p, Fraction(1))

    def sum_above(top: int, begin: int) -> Fraction:  # sum over k from `begin` of max(0, top - k p)
        count = math.ceil(top / p) - begin
        return top * count - p * (Fraction(count * (2 * begin + count - 1), 2)) if count > 0 else Fraction(0)

    if spacing == "uniform":
        return 1 / sum_above(1, 0)
    begin = math.ceil(1 / p)
    return 1 / (begin + sum_above(2, begin))


def departure_lines(queue: Queue) -> list[Line]:
    """Times of CoDel, PIE, DualPI2 and `ce_threshold` that are no whole number of the hardware's units."""
    pie = queue.aqm in ("pie", "dualpi2")
    asked = (
        ("target", None if pie else queue.target),
        ("interval", queue.interval),
        ("ce_threshold", queue.ce_threshold),
    )
    found = [(name, ns, int(library().vm_codel_time(ns)) << C.VM_CODEL_SHIFT) for name, ns in asked if ns is not None]
    if pie:
        units = (
            ("target", queue.target),
            ("burst_allowance", queue.burst_allowance),
            ("step_threshold", queue.step_threshold),
        )
        found += [(name, ns, ns >> C.VM_PIE_SHIFT << C.VM_PIE_SHIFT) for name, ns in units if ns is not None]
        tupdate = queue.tupdate or (C.VM_PIE_TUPDATE if queue.aqm == "pie" else C.VM_DUALPI2_TUPDATE)
        found.append(("tupdate", tupdate, int(library().vm_pie_ticks(tupdate)) << C.VM_PIE_TICK_SHIFT))
    return [line(queue.name, f"{name}, ns", Fraction(ns), Fraction(real)) for name, ns, real in found if ns != real]


def report(config: Asked, egresses: int = 1) -> list[Line]:
    """Every value that rounding may move, of an egress of a lane that has so many, or of all egresses."""
    if isinstance(config, Whole):
        labels, found = list(config.ports), [report(part, len(config.parts)) for part in config.parts]
        return [
            replace(item, queue=f"{label}/port") if item.queue == "port" else item
            for label, items in zip(labels, found, strict=True)
            for item in items
        ]

    def burst(name: str, bytes_: int, rate: int) -> list[Line]:  # where the hardware's is another
        asked, real = Fraction(8 * 10**9 * bytes_, rate), burst_ns(bytes_, rate, egresses * queue_count(config))
        return [line(name, "burst, ns", asked, Fraction(real))] if real != nearest(asked) else []

    lines = [rate_line("port", "rate", config.port.rate), *burst("port", config.port.burst.value, config.port.rate)]
    if config.pool and egresses == 1:  # else in the table of egresses
        asked = Fraction(config.pool.size.value, CELL_BYTES)
        lines.append(line("pool", "size, cells", asked, Fraction(pool_cells(config.pool))))
    for q in config.queue:
        w = exact(q.average.weight)
        lines.append(line(q.name, "average.weight", w, value(weights(w)[0], 8)))
        if w < 1 and any(getattr(q, colour).curve != "tail" for colour in COLOURS):
            rate = min(q.rate or config.port.rate, config.port.rate)
            half = Fraction(1, 10**6) * 2**IDLE_FRAC
            asked = Fraction(8 * 10**9 * q.average.idle_packet.value, rate) / Fraction(-math.log2(1 - float(w)))
            real = 1 / value(idle_lambda(w, q.average.idle_packet.value, rate))
            lines.append(line(q.name, "idle half-life, ms", asked / 10**6, real * half))
        for colour in COLOURS:
            drop = getattr(q, colour)
            for where, curve in ((colour, drop), (f"{colour}.ecn", drop.ecn)):
                shape = curve.shape() if curve else None
                if shape is None:
                    continue
                low, high, p = shape.min, shape.max, exact(shape.p)
                lines.append(line(q.name, f"{where}.p", p, Fraction(probability(p), 2**PROB_FRAC)))
                if high > low:
                    slope = value(inverse(high - low), 8) * Fraction(probability(p), 2**PROB_FRAC)
                    lines.append(line(q.name, f"{where} slope", p / (high - low), slope))
        if q.size_weight:
            real = 2**RATIO_FRAC / value(size_weight(q.size_weight.value))
            lines.append(line(q.name, "size_weight", Fraction(q.size_weight.value), real))
        lines += departure_lines(q)
        if q.rate:
            lines.append(rate_line(q.name, "rate", q.rate))
            lines += burst(q.name, q.burst.value if q.burst else DEFAULT_BURST, q.rate)
    for m in config.marker:
        lines += marker_lines(m)
    return lines
