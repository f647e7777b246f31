"""Cards for the tools' tests: a lane made of a dictionary behind the tools' bus, and what a list of register writes leaves in one."""

from click.testing import CliRunner

from support.register_file import ALL_ONES, Lane
from vermilionctl import bus as buses
from vermilionctl import cli
from vermilionctl.errors import DeviceError, UserError

DEVICE = "unix:made-of-a-dictionary"


class DictionaryBus(buses.Bus):
    """A `register_file.Lane`, told of each access; `lives`: so many, then the way breaks."""

    def __init__(self, lane, lives=None):
        self.lane, self.lives, self.accesses, self.writes = lane, lives, 0, []
        super().__init__(DEVICE, 1 << 20)

    def count(self):
        self.accesses += 1
        if self.lives is not None and self.accesses > self.lives:
            raise ConnectionError("pulled out")

    def read(self, offset):
        self.count()
        return self.lane.read(offset)

    def write(self, offset, value):
        self.count()
        self.writes.append((offset, value))
        self.lane.write(offset, value)


class Dead(buses.Bus):
    """Reads give all ones, and no word why."""

    def __init__(self):
        super().__init__(DEVICE, 1 << 20)

    def read(self, _offset):
        return ALL_ONES

    def write(self, _offset, _value):
        pass


class Bench:
    """`ctl(*words)` is vermilionctl in this process: (exit status, what it printed or its sentence)."""

    def __init__(self, monkeypatch, **shape):
        self.lane = Lane(**shape)
        self.bus = DictionaryBus(self.lane)
        monkeypatch.setattr(buses, "opened", lambda device: self.bus)

    def fresh(self, lives=None):
        self.bus = DictionaryBus(self.lane, lives)
        return self.bus

    def ctl(self, *words):
        if isinstance(self.bus, DictionaryBus):
            self.bus.broken = None
            self.bus.writes.clear()
        return ctl(DEVICE, *words)


def ctl(device, *words) -> tuple[int, str]:
    done = CliRunner().invoke(cli.cli, ["--device", device, *map(str, words)], standalone_mode=False)
    if done.exception is None:
        return 0, done.output
    if isinstance(done.exception, (UserError, DeviceError)):
        return (2 if isinstance(done.exception, UserError) else 1), str(done.exception)
    raise done.exception


def left_by(writes, **shape) -> Lane:
    """A lane behind these writes."""
    lane = Lane(**shape)
    for at, value in writes:
        lane.pending = dict.fromkeys(lane.pending, 0)
        lane.write(at, value)
    assert not lane.faults
    return lane
