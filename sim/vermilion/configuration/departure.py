"""Rules for queues that decide by sojourn time: CoDel, PIE and `ce_threshold` (docs/configuration.md, "By sojourn time")."""

from collections.abc import Iterable

from vermilion.hardware.driver_library import C
from vermilion.values import units
from vermilion.values.fields import UserError

from .tables import QueueFields

UPDATE_NS, MOST_SPENT = 288, 0.5  # of a queue's probability (PieSweep.scala); share of the time
PIE_FIELDS = ("pie_alpha", "pie_beta", "burst_allowance", "bytemode")


def fault(queue: QueueFields, curves: Iterable[tuple[str, str]]) -> str | None:
    """What is not legal in a queue, or None; `curves`: field and kind of each of its curves."""
    for name, aqms in (("target", ("codel", "pie")), ("interval", ("codel",)), ("tupdate", ("pie",))):
        value = getattr(queue, name)
        if value is not None and queue.aqm not in aqms:
            belongs = " and ".join(f'aqm = "{aqm}"' for aqm in aqms)
            return f'has {name} {units.time_text(value)} with aqm = "{queue.aqm}"; it belongs to {belongs}'
    for name in PIE_FIELDS if queue.aqm != "pie" else ():
        if name in queue.model_fields_set:
            return f'has {name} with aqm = "{queue.aqm}"; it belongs to aqm = "pie"'
    if queue.aqm == "pie" and queue.target is not None and queue.target > C.VM_PIE_TARGET_MAX:
        return f'has target {units.time_text(queue.target)} with aqm = "pie"; legal is 1024ns to 4s'
    if queue.aqm == "pie" and queue.victim == "nearest" and queue.victim_window is None:
        return 'has victim = "nearest" with aqm = "pie", which drops the arriving packet; legal is the form with victim_window'
    if queue.ce_mask and queue.ce_threshold is None:
        return f"has ce_mask {queue.ce_mask} but no ce_threshold; ce_mask says to which packets a ce_threshold applies"
    if queue.ce_selector & ~queue.ce_mask:
        return f"has ce_selector {queue.ce_selector} with ce_mask {queue.ce_mask}; legal are bits that ce_mask has"
    for where, kind in curves if queue.aqm != "curve" else ():
        if kind != "tail":
            return (
                f'has {where}.curve "{kind}" with aqm = "{queue.aqm}", which decides by sojourn time; legal is "tail"'
            )
    return None


def check(queues: Iterable[tuple[str, QueueFields]], build_codel: bool | None, build_pie: bool | None) -> None:
    """Refuses what a build without these AQMs cannot do; None: the build is not known. `queues`: with their names."""
    queues = list(queues)
    spent = sum(UPDATE_NS / (queue.tupdate or C.VM_PIE_TUPDATE) for _, queue in queues if queue.aqm == "pie")
    if spent > MOST_SPENT:
        least = min(queue.tupdate or C.VM_PIE_TUPDATE for _, queue in queues if queue.aqm == "pie")
        raise UserError(
            f"tupdate is too short for so many queues: an update takes {UPDATE_NS} ns, and updates may take half of the time. "
            f"With {units.time_text(least)}, {int(MOST_SPENT * least / UPDATE_NS)} queues fit"
        )
    for name, queue in queues:
        if queue.aqm == "pie" and build_pie is False:
            raise UserError(
                f'queue "{name}" has aqm = "pie"; this build has no PIE, a build with pie is needed, such as the preset lab'
            )
        asked = 'aqm = "codel"' if queue.aqm == "codel" else "ce_threshold" if queue.ce_threshold else None
        if asked and build_codel is False:
            raise UserError(
                f'queue "{name}" has {asked}; this build marks and drops packets only as they arrive, '
                f"a build with codel is needed, such as the preset lab"
            )
