"""What is said to the driver's netlink family in one boot of a guest: settings, refusals, and two who write at once."""

import ctypes
import random

from support.netlink_cases import CELLS, PLAIN, merged, nest, refusals, singles
from support.netlink_guest import Talk, program, values
from support.random_settings import random_file
from vermilion.configuration import config
from vermilion.hardware.driver_library import C, library
from vermilion.profile.settings import queue_settings

SEED = 7
ROUNDS = 20
POOLS = (200_001, 64, 64 * CELLS, 0)  # bytes
SETTERS = {
    "queue-set": {"queue": 1, "ecn": 1},
    "queue-reset": {"queue": 1},
    "lane-set": {"rate": 10**9},
    "class-set": {"entry": [{"dscp": 1, "queue": 1, "colour": "green"}]},
    "class-reset": {},
    "statistics-clear": {},
    "queue-flush": {"queue": 1},
}


def random_queues(rng, count):
    """Legal settings as the library has them, from random configuration files."""
    out = []
    while len(out) < count:
        asked = config.parse(random_file(rng))
        marker = {each.queue: each for each in asked.marker}
        out += [queue_settings(queue, marker.get(queue.name)) for queue in asked.queue if queue.name != "default"]
    return out[:count]


def defaults() -> dict:
    queue = C.Queue()
    library().vm_queue_defaults(ctypes.byref(queue))
    return values("queue", queue)


class Said:
    """What is said to the driver in one boot of the guest."""

    def __init__(self):
        self.talk = Talk()
        self.queues = random_queues(random.Random(SEED), 12)
        for number, queue in enumerate(self.queues):
            self.talk.say(f"set{number}", "queue-set", queue=number, defaults=True, **values("queue", queue))
            self.talk.say(f"get{number}", "queue-get", queue=number)
        # One setting after the other, each on top of those before it undone.
        self.plain = merged(defaults(), PLAIN)
        self.fields = singles(self.plain)
        for number, (path, value, base) in enumerate(self.fields):
            self.talk.say(f"base{number}", "queue-set", queue=13, defaults=True, **base)
            self.talk.say(f"field{number}", "queue-set", queue=13, **nest(path, value))
            self.talk.say(f"after{number}", "queue-get", queue=13)
        self.talk.say("before-refusals", "queue-get", queue=0)
        self.refusals = refusals(self.talk)
        self.talk.say("behind-refusals", "queue-get", queue=0)
        self.talk.say("classes", "class-get")
        self.talk.say("lanes", "lane-get", "dump", raw="")
        self.talk.say("all", "queue-get", "dump")
        for size in POOLS:
            self.talk.say(f"pool-set{size}", "lane-set", pool_bytes=size)
            self.talk.say(f"pool{size}", "lane-get")
        self.talk.say("reset", "queue-reset", queue=0)
        self.talk.say("gone", "queue-get", queue=0)
        self.outsider = Talk()
        for command, given in SETTERS.items():
            self.outsider.say(f"no-{command}", command, **given)
        self.outsider.say("no-queue", "queue-get", queue=99)
        self.outsider.say("yes-lane-get", "lane-get")
        self.outsider.say("yes-queue-get", "queue-get", queue=1)
        self.outsider.say("yes-statistics-get", "statistics-get", queue=1)
        # Two who write whole profiles to one queue and a setting of their own to another, and one who reads the first.
        self.writers = [Talk(), Talk()]
        for number, (talk, profile) in enumerate(zip(self.writers, self.queues, strict=False)):
            own = {"limit": 1000} if number else {"priority": 3}
            for turn in range(ROUNDS):
                talk.say(f"w{number}.{turn}", "queue-set", queue=14, defaults=True, **values("queue", profile))
                talk.say(
                    f"o{number}.{turn}",
                    "queue-set",
                    queue=15,
                    **{name: value + turn % 4 for name, value in own.items()},
                )
        self.reader = Talk()
        for turn in range(ROUNDS):
            self.reader.say(f"r.{turn}", "queue-get", queue=14)

    SCRIPT = f"""
netlink_send $lane < /talk
netlink_send -u 65534 $lane < /outsider
netlink_send $lane < /writer0 > /tmp/0 & first=$!
netlink_send $lane < /writer1 > /tmp/1 & second=$!
netlink_send $lane < /reader > /tmp/2
wait $first; wait $second
netlink_send $lane < /both > /tmp/3
cat /tmp/0 /tmp/1 /tmp/2 /tmp/3
netlink_fuzz $lane /sys/bus/pci/devices/$device/resource0 {SEED} STEPS < /talk
netlink_send $lane < /last
echo log-begins
dmesg -r
"""

    def files(self) -> dict:
        self.both = Talk()
        self.both.say("both-last", "queue-get", queue=15)
        self.last = Talk()
        self.last.say("last-set", "queue-set", queue=2, defaults=True, **self.plain)
        self.last.say("last-get", "queue-get", queue=2)
        talks = {"talk": self.talk, "outsider": self.outsider, "writer0": self.writers[0], "writer1": self.writers[1]}
        talks |= {"reader": self.reader, "both": self.both, "last": self.last}
        programs = {f"bin/{name}": (0o100755, program(name)) for name in ("netlink_send", "netlink_fuzz")}
        return {name: talk.file() for name, talk in talks.items()} | programs

    def hear(self, console: str):
        self.console = console
        talks = [self.talk, self.outsider, *self.writers, self.reader, self.both, self.last]
        self.heard = {}
        for talk in talks:
            self.heard |= talk.heard(console)
        return self
