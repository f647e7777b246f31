"""What `vermilion check` says of queues that mark or drop packets by their sojourn time, and of curves that mark at departure; and a run of its reports and its groups of flows."""

import re
from typing import Any

from rich.table import Table

from vermilion.configuration import departure_marks
from vermilion.configuration.config import Config, Queue
from vermilion.configuration.egresses import Asked
from vermilion.console.tables import table
from vermilion.hardware.driver_library import C
from vermilion.hardware.profile_fields import FIELDS
from vermilion.profile.quantise import thresholds
from vermilion.values import units

from .result import Reported, Result

TICK_NS: int = 1 << C.VM_CODEL_SHIFT
SECOND, MOST_DROPS = 10**9, 10_000
STEP_NS = next(int(field.default) for field in FIELDS if field.name == "step_threshold")


def held(ns: int) -> int:
    """A time in ns as the hardware has it."""
    return ns // TICK_NS * TICK_NS


def times(queue: Queue) -> list[tuple[str, int]]:
    """The times of CoDel, PIE, DualPI2 and `ce_threshold` of a queue as asked, ns, each with its field."""
    found = []
    if queue.aqm == "pie":
        found += [("target", queue.target or C.VM_PIE_TARGET), ("tupdate", queue.tupdate or C.VM_PIE_TUPDATE)]
    if queue.aqm == "dualpi2" and queue.at % 2 == 0:
        found += [("target", queue.target or C.VM_DUALPI2_TARGET), ("tupdate", queue.tupdate or C.VM_DUALPI2_TUPDATE)]
    if queue.aqm == "codel":
        found += [("target", queue.target or C.VM_CODEL_TARGET), ("interval", queue.interval or C.VM_CODEL_INTERVAL)]
    if queue.ce_threshold is not None:
        found.append(("ce_threshold", queue.ce_threshold))
    return found


def decides_at_departure(config: Asked | None) -> bool:
    """Whether a queue marks or drops packets as they leave."""
    judges = lambda queue: (
        queue.aqm in ("codel", "dualpi2") or queue.ce_threshold is not None or queue.mark_at == "dequeue"
    )
    return config is not None and any(map(judges, config.queue))


def drops_within(interval_ns: int, span_ns: int = SECOND, most: int = MOST_DROPS) -> int:
    """Packets that CoDel drops in `span_ns` from the first drop on, if the sojourn time stays above the target (RFC 8289, section 5.4):
    the next drop comes interval / sqrt(count) after the last. At most `most`.
    """
    count, at = 1, float(interval_ns)
    while at <= span_ns and count < most:
        count += 1
        at += interval_ns / count**0.5
    return count


def marked(queue: Queue) -> str:
    """The packets that `ce_threshold` marks, in words."""
    if not queue.ce_mask:
        return "ECT"
    if (queue.ce_mask, queue.ce_selector) == (3, 1):
        return "ECT(1)"
    return f"ECT, DS field & 0x{queue.ce_mask:02x} = 0x{queue.ce_selector:02x}"


def pair_words(queue: Queue, queues: list[Queue]) -> tuple[str, str]:
    """What C or L of a pair under DualPI2 does, and from which sojourn time on L marks."""
    if queue.at % 2 == 0:
        return "C: marks or drops by chance", ""
    c = next(each for each in queues if each.at == queue.at - 1)
    step = STEP_NS if c.step_threshold is None else c.step_threshold
    return "L: marks by chance", f"{units.time_text(step)}, ECT"


def departure_table(config: Config) -> Table | None:
    """What each AQM does at which sojourn time; None if every packet is sent."""
    made = table(
        "By sojourn time",
        ["queue", "aqm", "from", "for", "then"],
        ["first\nsecond", "CE\nfrom"],
    )
    for q in config.queue:
        asked = dict(times(q))
        if not asked and q.aqm != "dualpi2":
            continue
        text = {name: units.time_text(ns) for name, ns in asked.items()}
        then = drops = above = ""
        if q.aqm == "codel":
            then = "marks or drops" if q.ecn else "drops"
            count = drops_within(held(asked["interval"]))
            drops = f"{count:,}" if count < MOST_DROPS else f"over {MOST_DROPS:,}"
        if q.aqm == "pie":
            then = "drops by chance" if not q.ecn else "marks by chance, above 10 % drops"
        if q.aqm == "dualpi2":
            then, above = pair_words(q, config.queue)
        if q.ce_threshold is not None:
            above = "; ".join(filter(None, (above, f"{text['ce_threshold']}, {marked(q)}")))
        made.add_row(q.name, q.aqm, text.get("target", ""), text.get("interval", ""), then, drops, above)
    return made if made.row_count else None


def marks_table(config: Config) -> Table | None:
    """By which level each curve marks packets as they leave; None if none does."""
    made = table("Marks at departure", ["queue", "curve", "of"], ["marks\nfrom", "all\nfrom"])
    for q in config.queue:
        for field, _ in departure_marks.followed(q.curves()).values() if q.mark_at == "dequeue" else ():
            colour, _, own = field.partition(".")
            curve = getattr(q, colour).ecn if own else getattr(q, colour)
            if curve.shape() is None:
                continue
            low, high, end = thresholds(curve, q)
            unit = f"{q.average.unit}s"
            level = f"{unit} behind the packet" if departure_marks.by_depth(q.average) else f"average, {unit}"
            made.add_row(q.name, field, level, f"{low:,}", f"{end if curve.curve == 'gentle' else high:,}")
    return made if made.row_count else None


def report_rows(sent: Reported, config: Asked | None) -> list[list[Any]]:
    """Reports that were sent, by queue and reason."""
    names = {q.index: q.name for q in config.queue} if config else {}
    return [[names.get(queue, str(queue)), reason, packets] for queue, reason, packets in sent["by_queue"]]


GROUPS = ["queues with packets", "packets enqueued", "after one of another flow"]


def group_rows(result: Result) -> list[list[Any]]:
    """Of each group of flows: the queues that got packets, and packets that followed one of another flow there."""
    groups: dict[str, list[int]] = {}
    for queue in result.get("queues", []):
        if "flow_collisions" in queue:
            enqueued = sum(per["enqueued"]["packets"] for per in queue["colours"])
            row = groups.setdefault(re.sub(r"\.\d+$", "", str(queue["name"])), [0, 0, 0])
            for i, more in enumerate((enqueued > 0, enqueued, queue["flow_collisions"])):
                row[i] += more
    return [[name, *row] for name, row in groups.items()]
