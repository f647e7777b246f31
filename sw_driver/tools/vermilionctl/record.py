"""What this host has given to a card: a file an egress, since a card's registers tell the image of the last commit alone, and never settings.

Before a card is written to, its file becomes one that claims nothing, and it is whole again when all is written: a program that is killed in
between leaves a file that nobody believes. What a lane can be asked - switches, option types, port, seeds, and the shadow
record with the words of the last commit - must agree with it; where it does not, somebody else has written to the card, or it was reset, and nothing of the file counts.

In a lane with several egresses the shadow record is whoever's wrote last, so it is not asked; an egress's cap in the pool, which is never 0 once a file was applied, tells that the card was reset.
The file of egress 0 has what is of the whole lane: seeds, types of the TTL option, size of the pool.

Files lie in /run/vermilion for root, so that they go with a reboot, in $XDG_RUNTIME_DIR/vermilion for others, or where
VERMILION_STATE says. The same file's lock keeps programs apart: select, shadow and window of a lane are for one at a time.
"""

import ctypes
import fcntl
import hashlib
import json
import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from vermilion.hardware.driver_library import C

from . import bus, registers, settings
from .errors import DeviceError, UserError

FORM = 1
LANE_WIDE = ("classes", "ttl_option", "seed", "departures", "last", "pool", "share", "routes")
LATER = ("pool", "share", "routes")  # which records of before do not have
PATIENCE_S = 10
NAME_MOST = 200  # characters: a file system takes 255


def folder() -> Path:
    chosen = os.environ.get("VERMILION_STATE")
    if chosen:
        return Path(chosen)
    if os.geteuid() == 0:
        return Path("/run/vermilion")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    return Path(runtime) / "vermilion" if runtime else Path(tempfile.gettempdir()) / f"vermilion-{os.geteuid()}"


def place(device: str, lane: int | str, egress: int = 0) -> Path:
    """A card's file: the same for every way to write its name, and for no other card."""
    name = quote(os.fsencode(bus.normal(device)), safe=":.-")
    if len(name) > NAME_MOST:
        name = "long-" + hashlib.sha256(name.encode()).hexdigest()
    return folder() / (f"{name},lane{lane}.json" if not egress else f"{name},lane{lane},egress{egress}.json")


@contextmanager
def locked(device: str, lane: int | str):
    """Waits a while for other programs of this host that use the lane."""
    path = place(device, lane).with_suffix(".lock")
    try:
        path.parent.mkdir(mode=0o755 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        if path.parent.stat().st_uid not in (0, os.geteuid()):
            raise UserError(f"{path.parent}: belongs to somebody else; VERMILION_STATE names another folder")
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}; VERMILION_STATE names another folder") from None
    try:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    owner = os.pread(handle, 32, 0).decode(errors="replace").strip()
                    raise DeviceError(f"{device}: process {owner} has been using it for {PATIENCE_S} s") from None
                time.sleep(0.02)
        os.truncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(handle)


class Record:
    """What was written: `port` (rate, burst, queues) or None, `queues` {number: (name, settings)}, the rest as in the file."""

    def __init__(self, path: Path | None, egress: int = 0):
        self.given_path, self.egress = path, egress
        self.port: Any = None  # C.Port
        self.queues: dict[int, tuple[str, Any]] = {}  # C.Queue
        self.classes: list[list[int]] | None = None
        self.ttl_option: list[int] | None = None
        self.seed: int | None = None
        self.departures: bool | None = None
        self.last: int | None = None
        self.pool: int | None = None  # bytes, 0: no pool
        # Of the pool, where there are several egresses: reserve and cap in bytes, cap 0: none; and the cells of the build.
        self.share: list[int] | None = None
        self.routes: list[int] | None = None  # the egress of each input; of egress 0, if a file of all egresses gave it
        self.of_all = False  # the other egresses get theirs by the same command, and all were checked together

    @property
    def path(self) -> Path:
        """The file of a record that has one."""
        if self.given_path is None:
            raise ValueError("a record that is to be written to a card has no file")
        return self.given_path

    def text(self) -> str:
        port = self.port and [self.port.rate, self.port.burst, self.port.queues]
        queues = {
            str(q): {"name": name, "settings": settings.as_dict(made)}
            for q, (name, made) in sorted(self.queues.items())
        }
        rest = {name: getattr(self, name) for name in LANE_WIDE}
        return json.dumps({"form": FORM, "port": port, "queues": queues, **rest}, indent=1) + "\n"

    def save(self):
        """The file as a whole, or as it was: DeviceError, since what the card has is not the caller's doing any more."""
        name = None
        try:
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=".record-")
            with os.fdopen(handle, "w") as out:
                out.write(self.text())
            os.chmod(name, 0o644)
            os.replace(name, self.path)
        except OSError as error:
            if name is not None:
                Path(name).unlink(missing_ok=True)
            raise DeviceError(
                f"{self.path}: cannot be written: {error.strerror}; apply the configuration again"
            ) from None

    def unclaim(self):
        """The file claims nothing from here on; UserError where it cannot be written: no more is done then."""
        port, self.port = self.port, None
        try:
            self.save()
        except DeviceError as error:
            raise UserError(f"{str(error).rpartition(';')[0]}; the card is not written to without it") from None
        finally:
            self.port = port

    def image(self, queue: int):
        name, made = self.queues[queue]
        return settings.image(made, self.port, name)

    def differs(self, lane) -> str | None:
        """The first register that does not hold what was written from here; None where all do."""
        for name, address, value in registers.lane_wide(self):
            if lane.shows(name) and lane.read(address) != value:
                return name
        if self.last is not None and not lane.several:
            for name, address, value in registers.queue(self.image(self.last)):
                if lane.read(address) != value:
                    return f"{name}, of queue {self.last}"
        return None


def load(device: str, number: int, egress: int = 0) -> Record:
    """An empty record where there is none."""
    made = Record(place(device, number, egress), egress)
    try:
        raw = json.loads(made.path.read_text())
        if raw["form"] != FORM:
            raise ValueError("it has another form")
        made.port = C.Port(*raw["port"]) if raw["port"] else None
        for queue, held in raw["queues"].items():
            made.queues[int(queue)] = (held["name"], settings.from_dict(held["settings"]))
        for name in LANE_WIDE:
            setattr(made, name, raw.get(name) if name in LATER else raw[name])
        if made.share is not None and [type(each) for each in made.share] != [int, int, int]:
            raise ValueError(f"share is {made.share}")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{made.path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError, UserError, ctypes.ArgumentError) as error:
        raise UserError(f"{made.path}: is damaged ({error}); remove it, and apply the configuration again") from None
    return made


def command(lane, egress: int) -> str:
    """How vermilionctl is called for an egress."""
    return f"vermilionctl --lane {lane.number} --egress {egress}"


def believed(device: str, lane) -> Record:
    """The record, where the card agrees with it; else an error that says what to do."""
    found = load(device, lane.number, lane.egress)
    if found.port is None:
        where, how = f"lane {lane.number}", "vermilion apply FILE"
        if lane.several:
            where, how = f"egress {lane.egress} of {where}", f"{command(lane, lane.egress)} apply FILE"
        raise UserError(
            f"{device}: nothing whole was written to {where} from this host, and a card cannot tell its settings; begin with: {how}"
        )
    wrong = found.differs(lane)
    if wrong:
        raise DeviceError(
            f"{device}: register {wrong} does not hold what was written from here: "
            "the card was reset, or somebody else has written to it; apply the configuration again"
        )
    return found


def begun(device: str, lane) -> Record:
    """A record that begins anew; UserError where the lane has no seeds yet, which come with egress 0."""
    if lane.egress and not lane.has_seeds():
        raise UserError(
            f"{device}: the seeds of lane {lane.number} are 0; they come with egress 0, so begin with: {command(lane, 0)} apply FILE"
        )
    return Record(place(device, lane.number, lane.egress), lane.egress)


def names(device: str, lane) -> dict[int, str]:
    """Names of the queues, for what only reads counters; none where the record is not this card's."""
    try:
        found = load(device, lane.number, lane.egress)
        return {} if found.port is None or found.differs(lane) else {n: name for n, (name, _) in found.queues.items()}
    except UserError:
        return {}
