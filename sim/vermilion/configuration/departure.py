"""Rules for queues that mark or drop packets as they leave: CoDel and `ce_threshold` (docs/configuration.md, "At departure")."""

from collections.abc import Iterable

from vermilion.values import units
from vermilion.values.fields import UserError

from .tables import QueueFields


def fault(queue: QueueFields, curves: Iterable[tuple[str, str]]) -> str | None:
    """What is not legal in a queue, or None; `curves`: field and kind of each of its curves."""
    for name in ("target", "interval"):
        value = getattr(queue, name)
        if value is not None and queue.aqm == "curve":
            return f'has {name} {units.time_text(value)} with aqm = "curve"; it belongs to aqm = "codel"'
    if queue.ce_mask and queue.ce_threshold is None:
        return f"has ce_mask {queue.ce_mask} but no ce_threshold; ce_mask says to which packets a ce_threshold applies"
    if queue.ce_selector & ~queue.ce_mask:
        return f"has ce_selector {queue.ce_selector} with ce_mask {queue.ce_mask}; legal are bits that ce_mask has"
    for where, kind in curves if queue.aqm != "curve" else ():
        if kind != "tail":
            return f'has {where}.curve "{kind}" with aqm = "{queue.aqm}", which decides at departure; legal is "tail"'
    return None


def check(queues: Iterable[tuple[str, QueueFields]], build_codel: bool | None) -> None:
    """Refuses what a build that sends every packet cannot do; None: the build is not known. `queues`: with their names."""
    for name, queue in queues if build_codel is False else ():
        asked = f'aqm = "{queue.aqm}"' if queue.aqm != "curve" else "ce_threshold" if queue.ce_threshold else None
        if asked:
            raise UserError(
                f'queue "{name}" has {asked}; this build marks and drops packets only as they arrive, '
                f"a build with codel is needed, such as the preset lab"
            )
