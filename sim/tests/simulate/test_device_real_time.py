"""The device with --real-time: lane time is the wall clock's, the shaper's frames come when the wall clock says so, and lag is told of."""

import json
import socket
import tempfile
import time
from contextlib import contextmanager
from itertools import pairwise

import pytest

from support.devices import running
from support.headers import MACS
from vermilion.configuration import config
from vermilion.hardware import vfio_user
from vermilion.profile import quantise

pytestmark = pytest.mark.slow

FRAME = MACS + b"\x08\x06" + bytes(986)  # 1000 bytes
PATIENCE_S = 60


def receiver(folder):
    sink = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sink.settimeout(PATIENCE_S)
    sink.bind(f"{folder}/out")
    return sink


@contextmanager
def lane(device_program, port):
    """A device whose port has these settings, with a sender; its folder is for the receiver."""
    record = quantise.hardware(config.parse({"port": port, "queue": [{"name": "all", "default": True}]}))
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as source:
        words = f"{folder}/words.json"
        with open(words, "w") as handle:
            json.dump(record, handle)
        options = ("--real-time", "--frames-from", f"{folder}/in", "--frames-to", f"{folder}/out")
        with running(device_program, *options, "--config-words", words) as device:
            source.settimeout(PATIENCE_S)
            source.connect(f"{folder}/in")
            yield device, source, folder


def settled(control, frames, waiting=False):
    """The counters when these frames have left, and no other is in the lane unless some may be `waiting`."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        seen = control.ask("counters")
        if seen["frames_out"] >= frames and (seen["under_way"] == 0 or waiting):
            return seen
        time.sleep(0.05)
    raise AssertionError(f"{seen['frames_out']} of {frames} frames left")


def test_shaped_frames_come_at_the_shapers_pace(device_program):
    rate, count = 1e6, 20
    gap = 1000 * 8 / rate
    with (
        lane(device_program, {"rate": "1Mbit", "burst": "1000B"}) as (device, source, folder),
        receiver(folder) as sink,
    ):
        for _ in range(count):
            source.send(FRAME)
        times = []
        for _ in range(count):
            assert sink.recv(2000) == FRAME
            times.append(time.monotonic())
        seen = settled(device.channel(), count)["real_time"]
        # A frame is never early. Only lateness, which the device tells, makes two frames come closer than the shaper lets them.
        # The bucket of one frame lets the first two go at once.
        late = seen["late_most_ns"] / 1e9
        for k, (before, after) in enumerate(pairwise(times[1:])):
            assert after - before > gap - late - 1e-3, f"frame {k}"
        assert times[-1] - times[1] > (count - 2) * gap - late - 1e-3
        assert seen["frames"] == count and 0 < seen["late_mean_ns"] <= seen["late_most_ns"]
        # The median withstands a busy machine.
        spaces = sorted(after - before for before, after in pairwise(times))
        assert spaces[count // 2] == pytest.approx(gap, rel=0.25)


def test_lane_time_is_the_wall_clocks_and_idle_time_costs_no_cycles(device_program):
    with lane(device_program, {"rate": "1Mbit"}) as (device, _, _), device.client() as client:
        control = device.channel()
        client.read32(0)
        before, wall = control.ask("counters"), time.monotonic()
        time.sleep(0.5)
        client.read32(0)
        after, waited = control.ask("counters"), time.monotonic() - wall
        assert waited - 0.4 < (after["now_ns"] - before["now_ns"]) / 1e9 < waited + 0.4
        assert after["clocks"] - before["clocks"] < 50_000  # 0.5 s are 125 million


def test_a_lane_that_cannot_keep_up_lags_says_so_and_loses_nothing(device_program):
    count = 300
    with lane(device_program, {"rate": "10Gbit"}) as (device, source, folder), receiver(folder) as sink:
        control = device.channel()
        for _ in range(count):
            source.send(FRAME)
        for _ in range(count):
            assert sink.recv(2000) == FRAME
        seen = settled(control, count)
        # About 130 cycles a frame: more than 10 ms for all of them on any machine.
        assert seen["real_time"]["late_most_ns"] > 10_000_000
        assert seen["real_time"]["most_lag_ns"] > 1_000_000
        until = time.monotonic() + PATIENCE_S
        while seen["real_time"]["lag_ns"] > 5_000_000 and time.monotonic() < until:
            seen = control.ask("counters")
        assert seen["real_time"]["lag_ns"] <= 5_000_000 and seen["odd_frames"] == 0
        assert seen["accounting"] == {"errors": 0, "first_error": ""}


def test_a_receiver_may_come_late_and_may_be_slow(device_program):
    count = 100  # more than a socket holds
    with lane(device_program, {"rate": "10Gbit"}) as (device, source, folder):
        control = device.channel()
        source.send(FRAME)
        assert settled(control, 1)["odd_frames"] == 1, "nobody is there"
        with receiver(folder) as sink:
            for _ in range(count):
                source.send(FRAME)
            assert settled(control, 1 + count)["odd_frames"] == 1, "nothing is lost while the receiver waits"
            for _ in range(count):
                assert sink.recv(2000) == FRAME


def test_nothing_else_sets_lane_time(device_program):
    with lane(device_program, {"rate": "1Mbit"}) as (device, _, _):
        control = device.channel()
        for word, fields in (("idle", {}), ("run", {"ns": 1}), ("pause", {}), ("resume", {})):
            with pytest.raises(vfio_user.Refused, match=f"{word}: lane time follows the wall clock"):
                control.ask(word, **fields)


def test_the_channel_tells_what_is_in_each_queue(device_program):
    with lane(device_program, {"rate": "64kbit", "burst": "1000B"}) as (device, source, _):
        control = device.channel()
        for _ in range(5):
            source.send(FRAME)
        settled(control, 3, waiting=True)
        queues = control.ask("queues")["queues"]
        assert len(queues) == 16 and sum(queue["packets"] for queue in queues) == 2
        (held,) = [queue for queue in queues if queue["packets"]]
        assert held["bytes"] == 2000 and len(held["average"]) == 3
        # The bucket let two go at once. The third waited until the second had cost 125 ms.
        assert held["sojourn_ns"] == pytest.approx(125e6, rel=0.2)
