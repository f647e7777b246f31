"""Curves, frames and counters for tests of `tc` on the driver's netdev."""

import struct

from support.captures import pcap
from support.driver_bench import counts
from support.frames import IP4
from support.headers import MACS

PAUSE = 10 * 10**9  # ns in front of a capture, in which averages forget


def q32(p: float) -> float:
    """A probability as tc hands it over: cut to a fraction of 2^32."""
    return int(p * 2**32) / 2**32


def red(low, high, p, **more):
    return {"curve": "red", "min": low, "max": high, "p": q32(p)} | more


def all_colours(curve):
    return {colour: curve for colour in ("green", "yellow", "red")}


def frame(size, dscp=0, ecn=0):
    return MACS + b"\x08\0" + struct.pack(">BBH", 0x45, dscp << 2 | ecn, size - 14) + IP4[4:20] + bytes(size - 34)


def capture(path, frames, gap_ns, burst=0):
    """`frames` every `gap_ns`, the first `burst` of them at once."""
    return pcap(path, [(max(0, i - burst) * gap_ns, data, len(data)) for i, data in enumerate(frames)])


def feed(path):
    """An action: the capture at its own pace, until nothing is left; returns the harness's counters."""

    def act(device, control):
        began = control.ask("counters")["now_ns"]
        control.ask("feed", capture=str(path), at_ns=began + PAUSE)
        control.ask("idle")
        return counts(control)

    return act


def check_qdisc(shown, parts):
    """A qdisc's counters are the sums over these colours of queues."""
    total = lambda name, what=0: sum(part[name][what] for part in parts)
    assert shown["offloaded"]
    assert (shown["packets"], shown["bytes"]) == (total("sent"), total("sent", 1))
    early, tail = total("early") + total("forced"), total("tail") + total("nobuf")
    assert (shown["drops"], shown["overlimits"]) == (early + tail, early + total("marked"))
    assert (shown["backlog"], shown["qlen"]) == (0, 0)
    if shown["kind"] == "red":
        assert (shown["marked"], shown["early"], shown["pdrop"]) == (total("marked"), early, tail)


COLOURS = ("green", "yellow", "red")
EVENTS = {
    "arrived": "arrived",
    "enqueued": "enqueued",
    "early": "early",
    "forced": "forced",
    "tail": "tail",
    "nobuf": "nobuf",
}
EVENTS |= {"bad": "bad", "ce_chosen": "marked", "ce_written": "ce_written", "sent": "sent", "policed": "policed"}
EVENTS |= {
    "evicted": "evicted",
    "dep_drop": "departure_dropped",
    "dep_mark": "departure_marked",
}  # name in ethtool: name in the harness's JSON
NETLINK = {
    event: (name if event.startswith("dep_") else event).replace("_", "-") for event, name in EVENTS.items()
}  # name in ethtool: name of the attribute in netlink's replies
RED = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 100mbit"
