"""The driver's netlink family in a guest, on the lane in simulation: settings arrive whole and come back, what is wrong is refused in a sentence."""

import random

import pytest
from devices import device_program, running  # noqa: F401
from netlink_guest import MESSAGES, Talk, program, registers, settings, values
from test_driver_profile import random_file
from vermilion import config, driver_guest, guest, netlink_spec
from vermilion.driver_library import C, library
from vermilion.settings import queue_settings

SEED = 7
QUEUES = 16
LINE_RATE = 10**10


def random_queues(rng, count):
    """Legal settings as the library has them, from random configuration files."""
    out = []
    while len(out) < count:
        asked = config.parse(random_file(rng))
        marker = {each.queue: each for each in asked.marker}
        out += [queue_settings(queue, marker.get(queue.name)) for queue in asked.queue if queue.name != "default"]
    return out[:count]


def test_what_is_generated_from_the_specification_is_up_to_date():
    assert netlink_spec.stale() == []


def test_every_setting_of_a_queue_and_a_marker_has_an_attribute():
    for of, struct in (("queue", C.Queue), ("curve", C.Curve), ("marker", C.Marker)):
        named = set()
        for name in MESSAGES.sets[of]:
            if name not in netlink_spec.NOT_SETTINGS:
                named.add(netlink_spec.MEMBERS.get(name, name.removesuffix("-th").replace("-", "_")).split("[")[0])
        assert named == {name for name, _ in struct._fields_}


class Conversation:
    """What is said to the driver in one boot of the guest, and what it answers."""

    def __init__(self):
        self.talk = Talk()
        self.queues = random_queues(random.Random(SEED), 12)
        for number, queue in enumerate(self.queues):
            self.talk.say(f"set{number}", "queue-set", queue=number, defaults=True, **values("queue", queue))
            self.talk.say(f"get{number}", "queue-get", queue=number)
        self.talk.say("lanes", "lane-get", "dump", raw="")


@pytest.fixture(scope="module")
def heard(tmp_path_factory, device_program):  # noqa: F811
    try:
        driver_guest.kernel("6.12")
    except guest.Unavailable as error:
        pytest.skip(str(error))
    print(f"seed {SEED}")
    said = Conversation()
    folder = tmp_path_factory.mktemp("netlink")
    more = {"bin/netlink_send": (0o100755, program("netlink_send")), "talk": said.talk.file()}
    script = "netlink_send $lane < /talk\necho dmesg-begins\ndmesg -r\n"
    with running(device_program) as device:
        console = driver_guest.boot("6.12", device.socket, script, folder, lambda: device.process.poll() is None, 200, more)
    (folder / "console").write_text(console)
    return said, said.talk.heard(console), console


def test_settings_come_back_as_they_were_set_and_stand_in_the_registers(heard):
    said, answers, _ = heard
    port = C.Port(LINE_RATE, 0, QUEUES)
    for number, queue in enumerate(said.queues):
        assert answers[f"set{number}"][:2] == (0, "-")
        error, _, (reply,) = answers[f"get{number}"]
        assert (error, reply["queue"], reply["owner"]) == (0, number, "netlink")
        assert settings(reply) == values("queue", queue)
        assert reply["registers"] == registers(library(), queue, port)
