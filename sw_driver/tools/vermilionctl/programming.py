"""From a configuration file, or a change, to the record of what a card is to have. `writing.py` brings the card there."""

import copy
import ctypes
from fractions import Fraction

from vermilion.configuration import config_file, egresses, rules
from vermilion.configuration.departure import AQMS
from vermilion.configuration.pool import CELL_BYTES, CELLS_MOST
from vermilion.hardware.driver_library import C, library
from vermilion.profile.settings import queue_settings
from vermilion.values import units
from vermilion.values.fields import UserError

from . import registers, settings
from .record import Record

CLASSES = registers.NO_IP + 1
POOL_MOST = CELL_BYTES * CELLS_MOST


def clone(record: Record) -> Record:
    """A record that may be changed without touching the other; structs are copied too."""
    made = copy.copy(record)
    made.queues = {number: (name, type(held).from_buffer_copy(held)) for number, (name, held) in record.queues.items()}
    made.port = record.port and C.Port.from_buffer_copy(record.port)
    made.classes = copy.deepcopy(record.classes)
    return made


def of_config(config, path) -> Record:
    """What a whole configuration writes."""
    made, markers = Record(path), {marker.queue: marker for marker in config.marker}
    for queue in config.queue:
        made.queues[queue.at] = (queue.name, queue_settings(queue, markers.get(queue.name)))
    made.port = C.Port(config.port.rate, config.port.burst.value, 1 + max(made.queues))
    rest = next(queue.at for queue in config.queue if queue.default)
    classes = made.classes = [[rest, 0] for _ in range(CLASSES)]
    for queue in config.queue:
        for number, colour in enumerate(settings.COLOURS):
            for code in getattr(queue.dscp, colour):
                classes[code] = [queue.at, number]
    made.ttl_option, made.seed = [config.ttl_option.ip4, config.ttl_option.ip6], config.seed
    made.departures = any(held.average.update for _, held in made.queues.values())
    made.pool = config.pool.size.value if config.pool else 0
    return made


def of_egress(asked, egress: int, cells: int) -> Record:
    """What a file writes to an egress of a lane, whose build has so many cells; what is of the whole lane comes with egress 0."""
    made = of_config(asked.configs[egress], None)
    count = len(asked.configs)
    if count == 1:
        return made
    made.port.queues *= count  # the shaper looks at an egress's queues in one clock of so many
    share = asked.shares[egress]
    made.departures = made.departures or None  # another egress may have switched it on
    made.egress, made.share = egress, [share.reserve.value, share.cap.value, cells]
    if egress:
        made.ttl_option = made.seed = made.pool = None
    else:
        made.routes = asked.routes
    return made


def load(path: str, lane) -> Record:
    """A configuration file for this card; UserError where the card's build is too small for it."""
    has = lane.has
    aqms = frozenset(name for name in AQMS if getattr(has, name))
    if lane.several and egresses.given(path):
        build = egresses.Build(has.queues, has.victims, has.cells, has.egresses, has.inputs, aqms)
        return part(egresses.load(path, build), lane.egress, has.flows, has.cells, path)
    made = config_file.load(path, has.queues, has.victims, has.cells, lane.egress > 0, aqms)
    share = [0, 0, has.cells] if lane.several else None
    return on_egress(made, fits(made, has.flows, path), lane.egress, max(has.egresses, 1), share, path)


def part(asked, egress: int, flows: int, cells: int, path) -> Record:
    """An egress's part of a file of all, for a build with so many flows and cells."""
    rules.refuse(asked, path, "a card")
    fits(asked.configs[egress], flows, path)
    return of_egress(asked, egress, cells)


def on_egress(made, wanted: Record, egress: int, count: int, share: list[int] | None, path) -> Record:
    """The record of a file of one egress as that of an egress of the lane: what is of the whole lane comes with egress 0."""
    wanted.port.queues *= count  # the shaper looks at an egress's queues in one clock of so many
    wanted.egress, wanted.share = egress, share
    if egress:
        if made.pool:
            raise UserError(
                f"{path}: pool is given for egress {egress}; legal for egress 0: the pool is of the whole lane"
            )
        if made.ttl_option != type(made.ttl_option)():
            raise UserError(
                f"{path}: ttl_option is given for egress {egress}; legal for egress 0: option types are of the whole lane"
            )
        wanted.ttl_option = wanted.seed = wanted.pool = None
    return wanted


def fits(config, flows: int, path) -> Record:
    """The record of a configuration, unless it has rules, or needs flows that the build does not keep."""
    rules.refuse(config, path, "a card")
    for marker in config.marker:
        if marker.by_flow and marker.kind != "nm" and not flows:
            raise UserError(
                f'{path}: the marker of "{marker.queue}" is {marker.kind}, by flow; this build keeps no flows (register flows is 0)'
            )
    return of_config(config, None)


def number_of(record: Record, queue: str) -> int:
    """A queue by its name or number."""
    for number, (name, _) in record.queues.items():
        if name == queue:
            return number
    if (bare := units.bare(queue)) is not None and bare in record.queues:
        return bare
    known = ", ".join(f"{number} ({name})" for number, (name, _) in sorted(record.queues.items()))
    raise UserError(f"queue {queue} was not written from here; queues are {known}")


def change_queue(record: Record, queue: str, pairs: list[tuple[str, str]]) -> Record:
    """`set QUEUE`: another record."""
    wanted = clone(record)
    _, held = wanted.queues[number_of(record, queue)]
    settings.change(held, pairs)
    return wanted


def change_port(record: Record, pairs: list[tuple[str, str]]) -> Record:
    """`set port`: another record; the library says what is legal."""
    wanted = clone(record)
    for name, raw in pairs:
        try:
            settings.short(raw)
            if name == "rate":
                wanted.port.rate = min(units.rate(raw), 2**64 - 1)
            elif name == "burst":
                wanted.port.burst = min(units.amount(raw).value, 2**32 - 1)
            else:
                raise UserError(f"{name} is no field of the port; legal are rate and burst")
        except ValueError as error:
            reason = str(error) if str(error).startswith("is ") else f"is {raw}; {error}"
            raise UserError(f"port.{name} {reason}") from None
    fault = C.Refusal()
    if not library().vm_port_check(ctypes.byref(wanted.port), ctypes.byref(fault)):
        text = ctypes.create_string_buffer(256)
        library().vm_refusal_text(ctypes.byref(fault), text, len(text))
        raise UserError(f"port.{text.value.decode()}")
    return wanted


def change_pool(record: Record, pairs: list[tuple[str, str]]) -> Record:
    """`set pool`: another record."""
    wanted = clone(record)
    fields = ["size"] * (not record.egress) + ["reserve", "cap"] * (record.share is not None)
    for name, raw in pairs:
        if name not in fields:
            other = ", and size with --egress 0" if record.egress else ""
            known = fields[0] if len(fields) == 1 else " and ".join([", ".join(fields[:-1]), fields[-1]])
            raise UserError(f"{name} is no field of the pool; legal is {known}{other}")
        try:
            held = settings.length(settings.short(raw), False)
        except ValueError as error:
            reason = str(error) if str(error).startswith("is ") else f"is {raw}; {error}"
            raise UserError(f"pool.{name} {reason}") from None
        if held and not CELL_BYTES <= held <= POOL_MOST:
            raise UserError(f"pool.{name} is {raw}; legal is 0 for none, or {CELL_BYTES}B to {POOL_MOST}B")
        if name == "size":
            wanted.pool = held
        else:
            wanted.share = list(wanted.share or [])
            wanted.share[("reserve", "cap").index(name)] = held
    return wanted


def notes(record: Record, has_pool: bool) -> list[str]:
    """What of a record is not in force."""
    if has_pool:
        return []
    names = [name for _, (name, made) in sorted(record.queues.items()) if made.alpha.num]
    several = "queues" if len(names) > 1 else "queue"
    found = [f"alpha of {several} {', '.join(names)} is"] if names else []
    if record.share and any(record.share[:2]):
        found.append("reserve and cap are")
    where = "set pool size=200KB" if not record.egress else "with --egress 0: set pool size=200KB"
    return [f"{what} not in force without a pool; give it a size: {where}" for what in found]


def change_classes(record: Record, pairs: list[tuple[str, str]]) -> Record:
    """`AF12=gold` or `AF12=gold,yellow`; `no-ip` is the class of frames without IP."""
    wanted = clone(record)
    classes = wanted.classes or []
    for name, raw in pairs:
        queue, _, colour = raw.partition(",")
        if colour not in ("", *settings.COLOURS):
            raise UserError(f"{name} is {raw}; legal are QUEUE and QUEUE,COLOUR with green, yellow, red")
        try:
            code = registers.NO_IP if name == "no-ip" else settings.dscp(name)
        except ValueError:
            raise UserError(
                f"{name} is no DSCP; legal are 0 to 63, AF11 to AF43, EF, CS0 to CS7, default and no-ip"
            ) from None
        classes[code] = [number_of(record, queue), settings.COLOURS.index(colour or "green")]
    return wanted


def real_values(record: Record, number: int) -> dict[str, str]:
    """What the card makes of those settings that rounding moves, in their own units, by the file's names."""
    made, found = record.image(number), {}
    scaled = lambda x, offset=0: Fraction(x.mant, 2 ** (x.shift + offset))
    found["average.weight"] = f"{float(scaled(made.weight[0], 8)):.6g}"
    if made.cost.mant:
        found["rate"] = units.rate_text(float(8 * 10**9 / scaled(made.cost)))
    for c, colour in enumerate(settings.COLOURS):
        for which, where in ((C.VM_DROPS, colour), (C.VM_MARKS, f"{colour}.ecn")):
            curve = made.colour[c].curve[which]
            if curve.on:
                found[f"{where}.p"] = f"{curve.slope1 / 2**32:.6g}"
                found[f"{where}.end"] = str(curve.end)
    return found
