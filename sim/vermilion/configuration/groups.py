"""Numbers of queues, and groups of queues that hold flows: `fq` of a queue (docs/configuration/aqm.md, "FQ-CoDel")."""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self, TypeVar

from vermilion.values.fields import UserError

from .markers import Marker
from .tables import QueueFields


class Member(Protocol):
    """What this module knows of a `config.Queue`."""

    name: str
    index: int | None
    fq: int | None
    dscp: Any

    @property
    def at(self) -> int: ...

    def model_copy(self, *, update: dict[str, Any]) -> Self: ...


Q = TypeVar("Q", bound=Member)


def fault(queue: QueueFields) -> str | None:
    """What is not legal in a queue of a group, or None."""
    if queue.fq is None:
        return None
    if queue.fq & (queue.fq - 1):
        return f"has fq {queue.fq}; legal is 2 to 1024, a power of two"
    if queue.aqm == "dualpi2":
        return f'has fq {queue.fq} with aqm = "dualpi2", whose pair is no group; legal is another aqm'
    if queue.priority is not None:
        return f"has both fq {queue.fq} and priority {queue.priority}; flows share, so legal is a quantum"
    if queue.rate is not None:
        return f"has both fq {queue.fq} and a rate, which each flow would have; legal is a rate of the port"
    return None


def numbered(queues: Sequence[Q]) -> list[Q]:
    """All queues with their numbers: those without `index` have the next that are free, and a group has as many as `fq` says, from a multiple of it on.
    The first queue of a group has the group's name and classes. The others have its settings and the names NAME.1, NAME.2, ..."""
    taken = {n for q in queues if q.index is not None for n in range(q.index, q.index + (q.fq or 1))}
    found: list[Q] = []
    for q in queues:
        count = q.fq or 1
        if q.index is None:
            first = 0
            while not taken.isdisjoint(range(first, first + count)):
                first += count
            taken.update(range(first, first + count))
        elif q.index % count:
            raise UserError(
                f'queue "{q.name}" has index {q.index} with fq {count}; legal are multiples of {count}, as its group has the numbers from there on'
            )
        else:
            first = q.index
        found.append(q.model_copy(update={"index": first}))
        alone = {"default": False, "dscp": type(q.dscp)()}
        found += [q.model_copy(update={"name": f"{q.name}.{i}", "index": first + i} | alone) for i in range(1, count)]
    return found


def heads(queues: Iterable[Q]) -> list[Q]:
    """Without the queues of groups that are not the first, for tables: they have the same settings."""
    return [q for q in queues if not q.fq or q.at % q.fq == 0]


def spread(markers: Iterable[Marker], queues: Iterable[Member]) -> list[Marker]:
    """The markers, each for all queues of its queue's group."""
    sizes = {q.name: q.fq or 1 for q in queues}
    return [
        marker if i == 0 else marker.model_copy(update={"queue": f"{marker.queue}.{i}"})
        for marker in markers
        for i in range(sizes.get(marker.queue, 1))
    ]
