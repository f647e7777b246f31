"""What a configuration asks of the victim search that can never happen, or not as it reads: a sentence each (docs/distance-drops.md).

What is plainly a mistake is refused as the file is read (`config.py`); these are legal, and a user should know.
"""

from collections.abc import Iterator

from vermilion.configuration.config import Queue
from vermilion.configuration.egresses import Asked
from vermilion.values.fields import COLOURS


def rules_nothing(queue: Queue) -> bool:
    """No curve can drop or mark a packet."""
    return all(drop.curve == "tail" and drop.ecn is None for drop in (getattr(queue, colour) for colour in COLOURS))


def of(queue: Queue) -> Iterator[str]:
    if queue.victim != "nearest":
        return
    if queue.victim_window is None and rules_nothing(queue):
        yield (
            'has victim = "nearest", but no curve, so nothing is pushed out: packets over its limit are lost themselves; '
            "give green, yellow or red a curve, or victim_window (1 to 16 packets), which pushes out at the limit"
        )
    if not queue.distance.option and not queue.distance.infer:
        yield (
            'has victim = "nearest", but distance has option = false and infer = false, so all distances are 63 '
            "and the oldest packet of the queue's body pays; set one of the two to true"
        )


def notes(config: Asked) -> list[str]:
    return [f'queue "{queue.name}" {text}' for queue in config.queue for text in of(queue)]
