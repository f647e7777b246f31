"""Rules for queues that decide by sojourn time: CoDel, PIE, DualPI2 and `ce_threshold` (docs/configuration/aqm.md)."""

from collections.abc import Iterable, Sequence

from vermilion.hardware.driver_library import C
from vermilion.hardware.profile_fields import FIELDS
from vermilion.values import units
from vermilion.values.fields import UserError
from vermilion.values.units import Amount

from . import departure_marks
from .tables import AverageFields, QueueFields

UPDATE_NS, MOST_SPENT = 292, 0.5  # of a queue's probability (UpdateSweep.scala); share of the time
AQMS = (*next(field.words for field in FIELDS if field.name == "aqm")[1:], "fq")  # that a build has or has not
QUANTUM = next(int(field.default) for field in FIELDS if field.name == "quantum")  # of a queue that gives none
QUANTUM_MOST = 65535
SHARE_OF_L = 9  # quanta of L for one of C, where L gives none: the default weights of Linux's dualpi2, 90 % and 10 %
OWN_FIELDS = {
    "pie": ("pie_alpha", "pie_beta", "burst_allowance", "bytemode"),
    "dualpi2": ("coupling", "step_threshold", "dualpi2_alpha", "dualpi2_beta", "overload", "l4s_mask"),
}
OF_PAIR = ("target", "tupdate", "mtu", *OWN_FIELDS["dualpi2"])  # settings that only C of a pair has
NEEDS = {"pie": ("PIE", "pie"), "dualpi2": ("DualPI2", "dualpi2")}


def fault(queue: QueueFields, average: AverageFields, curves: Iterable[tuple[str, str]]) -> str | None:
    """What is not legal in a queue, or None; `curves`: field and kind of each of its curves."""
    curves = list(curves)
    for name, aqms in (
        ("target", ("codel", "pie", "dualpi2")),
        ("interval", ("codel",)),
        ("tupdate", ("pie", "dualpi2")),
    ):
        value = getattr(queue, name)
        if value is not None and queue.aqm not in aqms:
            belongs = " and ".join(f'aqm = "{aqm}"' for aqm in aqms)
            return f'has {name} {units.time_text(value)} with aqm = "{queue.aqm}"; it belongs to {belongs}'
    for aqm, names in OWN_FIELDS.items():
        for name in names if queue.aqm != aqm else ():
            if name in queue.model_fields_set:
                return f'has {name} with aqm = "{queue.aqm}"; it belongs to aqm = "{aqm}"'
    if queue.aqm in OWN_FIELDS and queue.target is not None and queue.target > C.VM_PIE_TARGET_MAX:
        return f'has target {units.time_text(queue.target)} with aqm = "{queue.aqm}"; legal is 1024ns to 4s'
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
    return departure_marks.fault(queue, average, curves)


def pairs(queues: Sequence[tuple[str, int, QueueFields]]) -> dict[int, Amount]:
    """Refuses a queue under DualPI2 without its other half, and settings of a pair that L has. Gives the quantum of each L that has none, by number.
    `queues`: with their names and numbers, of one egress."""
    shares: dict[int, Amount] = {}
    paired = {number: (name, queue) for name, number, queue in queues if queue.aqm == "dualpi2"}
    for number, (name, queue) in paired.items():
        if number ^ 1 not in paired:
            raise UserError(
                f'queue "{name}", number {number}, has aqm = "dualpi2", but queue {number ^ 1} has not; a pair is C with an even number and '
                f"L with the next, and both have it"
            )
        if number % 2 == 0:
            continue
        c, of_c = paired[number - 1]
        for field in OF_PAIR:
            if field in queue.model_fields_set:
                raise UserError(f'queue "{name}", L of a pair, has {field}; it belongs to C, queue "{c}"')
        for each, of in ((c, of_c), (name, queue)):
            if of.priority is not None:
                raise UserError(
                    f'queue "{each}" of a pair has priority {of.priority}, with which one could starve the other; legal is a quantum'
                )
        if queue.quantum is None:
            of_one = of_c.quantum.value if of_c.quantum else QUANTUM
            if of_one > QUANTUM_MOST // SHARE_OF_L:
                raise UserError(
                    f'queue "{name}", L of a pair, has no quantum and would get {SHARE_OF_L} times the {of_one}B of "{c}"; '
                    f"legal without it is a quantum of C up to {QUANTUM_MOST // SHARE_OF_L}B"
                )
            shares[number] = Amount(SHARE_OF_L * of_one, "byte")
    return shares


def check(queues: Iterable[tuple[str, QueueFields]], build_aqms: frozenset[str] | None) -> None:
    """Refuses what a build without these AQMs cannot do; None: the build is not known. `queues`: with their names."""
    queues = list(queues)
    spent = sum(
        (queue.fq or 1) * UPDATE_NS / (queue.tupdate or C.VM_PIE_TUPDATE) for _, queue in queues if queue.aqm == "pie"
    )
    if spent > MOST_SPENT:
        least = min(queue.tupdate or C.VM_PIE_TUPDATE for _, queue in queues if queue.aqm == "pie")
        raise UserError(
            f"tupdate is too short for so many queues: an update takes {UPDATE_NS} ns, and updates may take half of the time. "
            f"With {units.time_text(least)}, {int(MOST_SPENT * least / UPDATE_NS)} queues fit"
        )
    for name, queue in queues:
        if build_aqms is None:
            continue
        if queue.aqm in NEEDS and queue.aqm not in build_aqms:
            called, flag = NEEDS[queue.aqm]
            raise UserError(
                f'queue "{name}" has aqm = "{queue.aqm}"; this build has no {called}, a build with {flag} is needed, such as the preset lab'
            )
        if queue.fq and "fq" not in build_aqms:
            raise UserError(
                f'queue "{name}" has fq {queue.fq}; this build has no groups that hold flows, a build with fq is needed, such as the preset lab'
            )
        asked = 'aqm = "codel"' if queue.aqm == "codel" else "ce_threshold" if queue.ce_threshold else None
        if queue.mark_at == "dequeue":
            asked = 'mark_at = "dequeue"'
        if asked and "codel" not in build_aqms:
            raise UserError(
                f'queue "{name}" has {asked}; this build marks and drops packets only as they arrive, '
                f"a build with codel is needed, such as the preset lab"
            )
