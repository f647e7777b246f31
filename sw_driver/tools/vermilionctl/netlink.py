"""A lane through the kernel's driver: its generic netlink family, whose one description is `sw_driver/netlink/vermilion.yaml` (YNL).

The kernel holds settings and locks, converts and checks; so there is no record here, and a refusal is its own sentence (extack). Attributes are
called after the fields of the configuration file (docs/profile.md), with `-` for `_`.
pyroute2 finds the family and carries messages; its message classes are made of the description.
"""

import errno
import socket
from contextlib import contextmanager

from vermilion.configuration import config_file, egresses
from vermilion.configuration.departure import AQMS
from vermilion.hardware.driver_library import C
from vermilion.hardware.profile_fields import FIELDS, Field
from vermilion.profile.settings import get, put

from . import counters, programming, registers, settings
from .errors import Busy, DeviceError, UserError
from .family import NEEDED, message, operation, pairs, plain, spec
from .record import Record

OWNER_TC, OWNER_NETLINK = 1, 2
REFUSALS = (
    errno.EPERM,
    errno.ENOENT,
    errno.EINVAL,
    errno.ERANGE,
    errno.EOPNOTSUPP,
)  # the caller's fault; all else is not

PARTS = (("num", 0), ("den", 1), ("tens", 0))  # of a number, and what each is where it is left out


def number(x) -> dict:
    return {"num": x.num, "den": x.den or 1, "tens": x.tens}


def way(field: Field) -> tuple[str, ...]:
    """The attributes, each in the one before, that a field goes in: green.ecn.min is green, ecn, min; average.weight is average-weight."""
    first, *rest = field.name.replace("_", "-").split(".")
    return (first, *rest) if first in (*settings.COLOURS, "marker") else ("-".join((first, *rest)),)


def of_settings(made) -> dict:
    """A `vm_queue` as attributes of queue-set."""
    out: dict = {}
    for field in FIELDS:
        value, (*nests, last) = get(made, field), way(field)
        at = out
        for nest in nests:
            at = at.setdefault(nest, {})
        at[last] = number(value) if isinstance(value, C.Number) else int(value)
    return out


def changes(before: dict, after: dict) -> dict:
    """Attributes that differ, those in nests one by one, numbers whole: what a set has to name."""
    out = {}
    for name, value in after.items():
        old = before.get(name)
        if isinstance(value, dict) and isinstance(old, dict) and "num" not in value:
            out[name] = changes(old, value)
        elif value != old:
            out[name] = value
    return {name: value for name, value in out.items() if value != {}}


def to_settings(given: dict):
    made = settings.defaults()
    for field in FIELDS:
        *nests, last = way(field)
        at = given
        for nest in nests:
            at = at.get(nest, {})
        if last in at:
            value = at[last]
            exact = isinstance(get(made, field), C.Number)
            put(made, field, C.Number(*(value.get(part, whole) for part, whole in PARTS)) if exact else value)
    return made


def line_rate(data_bits: int) -> int:
    """What stands in for the port's rate where it is not shaped, bits a second, as the kernel has it (vm_repr.c)."""
    return next((gbit for bits, gbit in ((128, 10), (256, 25), (512, 50)) if data_bits < bits), 100) * 10**9


class Held(Record):
    """What the kernel says that it gave. Its port may be not shaped, rate 0; words follow from the line's rate then, `line`."""

    def __init__(self, line: int):
        super().__init__(None)
        self.line = line

    def image(self, queue: int):
        name, made = self.queues[queue]
        return settings.image(made, C.Port(self.port.rate or self.line, self.port.burst, self.port.queues), name)


class Kernel:
    """What session.py asks of a lane, by messages; `ask(operation, fields, dump)` gives replies as dictionaries."""

    number = 0

    is_netdev = True  # and so one egress, whatever the lane has

    def __init__(self, name: str, index: int, ask):
        self.name, self.index, self.ask = name, index, ask
        self.lane = self.one("lane-get")
        self.egress = self.lane.get("egress", 0)  # an older module drives lanes with one
        self.egresses = self.lane["capabilities"].get("egresses", 1)

    def one(self, operation_: str, **fields) -> dict:
        return next(iter(self.ask(operation_, {"ifindex": self.index, **fields}, False)), {})

    def has_pool(self, written) -> bool:
        return bool(self.one("lane-get").get("pool-bytes") if written.egress else written.pool)

    def has(self) -> dict:
        found = dict(self.lane["capabilities"])
        version = f"{found.pop('major')}.{found.pop('minor')}"
        found = {"version": version} | {name.replace("-", "_"): value for name, value in found.items()}
        return found | ({"egress": self.egress} if self.egresses > 1 else {})

    def lanes(self) -> int:
        device = self.lane.get("device")
        return sum(each.get("device") == device for each in self.ask("lane-get", {}, True))

    def load(self, path: str):
        has = self.has()
        queues, victims, cells = (has[name] for name in ("queues", "victims", "cells"))
        aqms = frozenset(name for name in AQMS if has.get(name))  # an older module knows no build with them
        if self.egresses > 1 and egresses.given(path):
            build = egresses.Build(queues, victims, cells, self.egresses, has["inputs"], aqms)
            asked = egresses.load(path, build)
            if asked.routes != egresses.routes(None, {}, build):
                raise UserError(
                    f"{path}: routes is given; the kernel's module does not set it (in a NIC a frame's way is with the frame); registers do: --device pci:..."
                )
            return programming.part(asked, self.egress, has["flows"], has["cells"], path)
        made = config_file.load(path, queues, victims, cells, self.egress > 0, aqms)
        share = [0, 0, has["cells"]] if self.egresses > 1 else None
        return programming.on_egress(
            made, programming.fits(made, has["flows"], path), self.egress, self.egresses, share, path
        )

    def settings(self) -> Record:
        """Queues that packets can reach; the kernel has settings of all."""
        held, lane = Held(line_rate(self.has()["data_bits"])), self.one("lane-get")
        classes = self.one("class-get")
        table = {each["dscp"]: [each["queue"], each["colour"]] for each in classes.get("entry", [])}
        held.classes = [table.get(code, [0, 0]) for code in range(programming.CLASSES)]
        used = {queue for queue, _ in held.classes}
        self.words: dict[int, bytes] = {}
        self.owners: dict[int | str, int] = {
            "the port": lane.get("owner", 0),
            "the class table": classes.get("owner", 0),
        }
        held.departures = False
        for each in self.ask("queue-get", {"ifindex": self.index}, True):
            number_, made = each["queue"], to_settings(each)
            self.owners[number_] = each.get("owner", 0)
            held.departures |= bool(made.average.update)
            if number_ in used:
                held.queues[number_] = (f"{number_}", made)
                self.words[number_] = each.get("registers", b"")
        held.port = C.Port(lane["rate"], lane["burst"], lane["queues"] * self.egresses)
        held.egress = self.egress
        if not self.egress:  # what is of the whole lane comes with egress 0
            held.ttl_option = [lane["option-ip4"], lane["option-ip6"]]
            held.pool = lane.get("pool-bytes", 0)  # an older module has none
        if self.egresses > 1:
            held.share = [lane["reserve-bytes"], lane["cap-bytes"], self.has()["cells"]]
        return held

    def names(self) -> dict[int, str]:
        return {}

    def refuse_what_tc_has(self, wanted: Record):
        owned = [
            of for of, owner in self.owners.items() if owner == OWNER_TC and (of in wanted.queues or str(of) == of)
        ]
        if owned:
            what = owned[0] if isinstance(owned[0], str) else f"queue {owned[0]}"
            raise UserError(
                f"netlink:{self.name}: {what} belongs to tc, and a configuration is of everything; "
                f"take its qdiscs away first: tc qdisc del dev {self.name} root"
            )

    def write(self, wanted: Record, everything: bool = False, progress=lambda done, total: None):
        """Port first, as the queues' words follow from it; the kernel refuses or takes each message whole. Refusals that can be foreseen come
        before the first message; behind it a refusal is a DeviceError, since something was written. `everything`: queues that the kernel has from netlink and `wanted` does not name go back to their defaults.
        """
        before, self.told = self.settings(), False
        for number_ in wanted.queues:
            wanted.image(number_)
        if everything:
            self.refuse_what_tc_has(wanted)
        lane = self.lane_message(wanted, None if everything else before)
        total, done = len(wanted.queues) + 2, 0
        if lane:
            self.tell("lane-set", "the port", **lane)
        progress(done := done + 1, total)
        for number_, (_, made) in sorted(wanted.queues.items()):
            old = None if everything else before.queues.get(number_)
            named = changes(of_settings(old[1]) if old else {}, of_settings(made))
            if named:
                self.tell("queue-set", number_, queue=number_, **named)
            progress(done := done + 1, total)
        entries = [
            {"dscp": code, "queue": queue, "colour": colour}
            for code, (queue, colour) in enumerate(wanted.classes or [])
            if everything or before.classes is None or before.classes[code] != [queue, colour]
        ]
        if entries:
            self.tell("class-set", "the class table", entry=entries)
        for of, owner in self.owners.items():
            if everything and owner == OWNER_NETLINK and of not in wanted.queues and not isinstance(of, str):
                self.tell("queue-reset", of, queue=of)
        progress(total, total)

    def tell(self, name: str, of: int | str, **fields):
        """A message of `write`, about a queue, the port or the class table."""
        try:
            self.ask(name, {"ifindex": self.index, **fields}, False)
        except (UserError, Busy) as error:
            if self.told:
                raise DeviceError(f"{error}; what came before was written") from None
            if isinstance(error, Busy) and self.owners.get(of) == OWNER_TC:
                raise UserError(str(error)) from None
            raise
        self.told = True

    def lane_message(self, wanted: Record, before: Record | None) -> dict:
        """What lane-set has to name; nothing where all of it is as before."""
        out: dict[str, int] = {}
        port = wanted.port
        if before is None or bytes(before.port) != bytes(port):
            out |= {"rate": port.rate, "burst": port.burst, "queues": port.queues // self.egresses}
        if wanted.ttl_option is not None and (before is None or before.ttl_option != wanted.ttl_option):
            out |= {"option-ip4": wanted.ttl_option[0], "option-ip6": wanted.ttl_option[1]}
        if wanted.pool is not None and (before is None or before.pool != wanted.pool):
            out["pool-bytes"] = wanted.pool
        if wanted.share is not None and (before is None or before.share != wanted.share):
            out |= dict(zip(("reserve-bytes", "cap-bytes"), wanted.share, strict=False))
        if before is None and wanted.seed is not None:
            out["seed"] = wanted.seed
        return out

    def statistics(self, queue: int) -> dict:
        return counters.of_queue(queue, to_statistics(self.one("statistics-get", queue=queue)))

    def lost(self) -> list[dict]:
        return self.one("lane-get").get("lost", [])

    def events(self) -> dict:
        return {"flow_events": {}, "upsets": {}}  # the family tells neither these nor refreshes_skipped

    def may_flush(self):
        """The kernel says itself where the build cannot."""

    def flush(self, queue: int | None) -> bool:
        """Of a queue that does not become empty the kernel tells in a sentence, which comes as an error."""
        self.ask("queue-flush", {"ifindex": self.index} | ({} if queue is None else {"queue": queue}), False)
        return True

    def pause(self, stop: bool):
        raise UserError("the kernel's driver has no command to pause an egress; legal are pci: and unix:")

    def report(self, wanted, names):
        raise UserError("the kernel's driver has no command for reports; legal are pci: and unix:")

    def reported(self):
        self.report(None, {})

    def is_paused(self):
        """The family does not tell."""

    def clear(self):
        self.ask("statistics-clear", {"ifindex": self.index}, False)

    def registers(self, held) -> dict:
        """Of queues as the kernel says that they run; the seed it does not tell."""
        parts = registers.table(held)
        for number_, raw in self.words.items():
            words = [int.from_bytes(raw[at : at + 4], "little") for at in range(0, len(raw), 4)]
            told = dict(zip(words[::2], words[1::2], strict=False))
            parts[f"queue {number_}"] = {registers.name_at(at): told[at] for at in sorted(told)}
        return parts


def to_statistics(given: dict):
    made = C.Statistics()
    longs = lambda raw: [int.from_bytes(raw[at : at + 8], "little") for at in range(0, len(raw), 8)]
    for c, colour in enumerate(settings.COLOURS):
        part = given.get(colour, {})
        made.average[c] = part.get("average", 0)
        for i, event in enumerate(counters.EVENTS):
            count = part.get(event.replace("_", "-"), {})
            made.count[c][i] = C.Count(count.get("packets", 0), count.get("bytes", 0))
    for name in ("latency", "marked", "lost-distance", "victim-distance"):
        for i, value in enumerate(longs(given.get(name, b""))):
            getattr(made, name.replace("-", "_"))[i] = value
    for name in ("time-ns", "backlog-bytes", "backlog-packets", "max-bytes", "max-packets", "push-outs", "stale"):
        setattr(made, name.replace("-", "_"), given.get(name, 0))
    return made


def reach(interface: str) -> tuple[int, dict]:
    """The netdev's number, and what else pyroute2's socket is made with: nothing here, a way to another kernel in tests."""
    try:
        return socket.if_nametoindex(interface), {}
    except OSError:
        raise UserError(f"netlink:{interface}: there is no such interface; see ip -br link") from None


@contextmanager
def sentences(interface: str):
    """What goes wrong at the socket itself, as where a system has no netlink."""
    try:
        yield
    except OSError as error:
        raise DeviceError(f"netlink:{interface}: {error.strerror or error}") from None


@contextmanager
def opened(interface: str):
    """The lane of a netdev, through the kernel's family."""
    try:
        from pyroute2.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST
        from pyroute2.netlink.exceptions import NetlinkError
        from pyroute2.netlink.generic import GenericNetlinkSocket
    except ImportError:
        raise UserError(NEEDED) from None
    index, way = reach(interface)
    line = GenericNetlinkSocket(ext_ack=True, **way)
    try:
        try:
            with sentences(interface):
                line.bind(spec()["name"], message("lane"))
        except NetlinkError:
            raise UserError(f"netlink:{interface}: the kernel's module vermilion is not loaded") from None

        def ask(name: str, fields: dict, dump: bool):
            command, of = operation(name)
            line.marshal.msg_map[line.prid] = message(of)
            request = message(of)()
            request["cmd"], request["version"], request["attrs"] = command, 1, pairs(fields)
            flags = NLM_F_REQUEST | (NLM_F_DUMP if dump else NLM_F_ACK)
            try:
                with sentences(interface):
                    return [plain(each) for each in line.nlm_request(request, msg_type=line.prid, msg_flags=flags)]
            except NetlinkError as error:
                kind = UserError if error.code in REFUSALS else Busy if error.code == errno.EBUSY else DeviceError
                raise kind(f"netlink:{interface}: {error.args[1]}") from None

        yield Kernel(interface, index, ask)
    finally:
        line.close()
