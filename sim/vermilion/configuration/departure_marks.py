"""Rules for queues whose curves mark packets as they leave, `mark_at = "dequeue"` (docs/configuration/curves.md, "Marks at departure")."""

from collections.abc import Iterable

from vermilion.hardware.driver_library import library, number, pair
from vermilion.hardware.formats import exact
from vermilion.values.fields import COLOURS

from .tables import AverageFields, QueueFields

ONE = (256, 0)  # a weight of 1 as the hardware has it


def by_depth(average: AverageFields) -> bool:
    """Whether the level at departure is what is queued: the hardware holds the weight as 1. Otherwise it is the average."""
    return pair(library().vm_weight(number(exact(average.weight)), 1)) == ONE


def followed(curves: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """By colour, field and kind of the curve that ECN-capable packets follow."""
    kinds = dict(curves)
    fields = {colour: f"{colour}.ecn" if f"{colour}.ecn" in kinds else colour for colour in COLOURS}
    return {colour: (field, kinds[field]) for colour, field in fields.items()}


def fault(queue: QueueFields, average: AverageFields, curves: Iterable[tuple[str, str]]) -> str | None:
    """What is not legal in a queue, or None; `curves`: field and kind of each of its curves."""
    if queue.mark_at != "dequeue":
        return None
    if queue.aqm != "curve":
        return f'has mark_at "dequeue" with aqm = "{queue.aqm}"; it belongs to aqm = "curve"'
    if not queue.ecn:
        return 'has mark_at "dequeue", but ecn is not true; set ecn = true'
    if queue.spacing != "geometric":
        return f'has spacing "{queue.spacing}" with mark_at = "dequeue", whose marks do not depend on each other; legal is "geometric"'
    if queue.size_weight is not None:
        return f'has size_weight {queue.size_weight} with mark_at = "dequeue", which marks long and short packets alike; leave it out'
    if queue.victim != "arriving":
        return f'has victim "{queue.victim}" with mark_at = "dequeue", which marks the packet that leaves; legal is "arriving"'
    if by_depth(average) and average.kind not in ("red", "wred"):
        return (
            f'has average.kind "{average.kind}" and average.weight {average.weight:g} with mark_at = "dequeue", which then marks by '
            f'all that is queued; legal are "red" and "wred"'
        )
    for field, kind in followed(curves).values():
        if kind == "exred":
            return f'has {field}.curve "exred" with mark_at = "dequeue", which needs the inverse of the curve; legal are "tail", "red" and "gentle"'
    return None
