"""tc filters, the same as plain comparisons of a frame's bytes, and a receiver of the frames that leave a lane."""

import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from support.headers import MACS
from support.lane_rules import edited
from support.plain_rules import View

BANDS = (3, 0, 1, 1, 0, 2, 2, 2)  # of priority 0 to 7, a class selector


@dataclass
class Filter:
    pref: int
    match: str
    action: str
    fits: Callable[[View], bool]
    queue: int | None = None
    dscp: int | None = None
    drop: bool = False

    def line(self) -> str:
        protocol, kind = self.match.split("|")
        kind, _, keys = kind.partition(" ")
        words = f"protocol {protocol} pref {self.pref} {kind} {keys} skip_sw {self.action}"
        return f"tc filter add dev $lane egress {words}"


def ip4(view):
    return view.tag is None and view.version == 4


def ip6(view):
    return view.tag is None and view.version == 6


def port(view, side, low, high):
    return view.ports is not None and low <= view.ports[side] <= high


PEDIT4 = "action pedit ex munge ip dsfield set {} retain 0xfc pipe action csum ip"
TABLE = [
    Filter(10, "ip|flower ip_proto udp dst_port 53", "action drop",
           lambda v: ip4(v) and v.protocol == 17 and port(v, 1, 53, 53), drop=True),
    Filter(20, "ip|flower src_ip 10.1.2.0/23 ip_proto tcp", "action skbedit priority 1:3",
           lambda v: ip4(v) and v.protocol == 6 and v.source >> 9 == 0x0A0102 >> 1, queue=2),
    Filter(30, "ipv6|flower dst_ip 2001:db8::/48", "action pedit ex munge ip6 traffic_class set 0xb8 retain 0xfc",
           lambda v: ip6(v) and v.destination >> 80 == 0x20010DB80000, dscp=46),
    Filter(40, "ip|flower ip_tos 0x20/0xe0", f"{PEDIT4.format('0x28')} pipe action skbedit priority 6",
           lambda v: ip4(v) and v.traffic >> 5 == 1, queue=2, dscp=10),
    Filter(50, "ip|flower ip_proto udp src_port 3478-3481", "action skbedit priority 1:1",
           lambda v: ip4(v) and v.protocol == 17 and port(v, 0, 3478, 3481), queue=0),
    Filter(60, "802.1q|flower vlan_id 100", "action drop", lambda v: v.tag is not None and v.tag & 4095 == 100, drop=True),
    Filter(70, "802.1q|flower vlan_prio 5 vlan_ethtype ipv4", "action skbedit priority 1:2",
           lambda v: v.tag is not None and v.tag >> 13 == 5 and v.version == 4, queue=1),
    Filter(80, "ipv6|flower ip_proto tcp src_port 32768/0x8000", "action pass",
           lambda v: ip6(v) and v.protocol == 6 and port(v, 0, 32768, 65535)),
    Filter(90, "ip|flower ip_proto tcp dst_port 5000-65535", "action skbedit priority 1:2",
           lambda v: ip4(v) and v.protocol == 6 and port(v, 1, 5000, 65535), queue=1),
    Filter(100, "ip|flower ip_tos 0x1/0x1", "action skbedit priority 7", lambda v: ip4(v) and v.traffic & 1, queue=2),
    Filter(110, "ip|matchall", "action skbedit priority 1:4", ip4, queue=3),
    Filter(120, "802.1q|matchall", "action pass", lambda v: v.tag is not None),
    Filter(130, "all|matchall", "action pass", lambda v: True),
]  # fmt: skip
# Before all others, with the same pref twice: the first one that was added applies.
FIRST = [
    Filter(5, "ip|flower ip_proto udp ip_tos 0x2/0x2", "action skbedit priority 1:4",
           lambda v: ip4(v) and v.protocol == 17 and v.traffic & 2, queue=3),
    Filter(5, "ip|flower ip_proto udp", "action skbedit priority 1:3", lambda v: ip4(v) and v.protocol == 17, queue=2),
]  # fmt: skip
NONE = Filter(1, "ip|flower ip_proto fe src_ip 255.255.255.255", "action drop", lambda v: False)
AFTER = [NONE, *FIRST, *(each for each in TABLE if each.pref != 40)]

PRIO = f"tc qdisc add dev $lane root handle 1: prio bands 4 priomap {' '.join(map(str, BANDS))} 0 0 0 0 0 0 0 0"
# In the time of the capture, 1 ms, a bucket gets 8 bytes. Lengths are multiples of 50.
POLICED = [
    Filter(1, "ip|flower ip_proto udp", "action police index 7 rate 64kbit burst 2025 conform-exceed drop/pipe "
           "action skbedit priority 1:2", lambda v: v.protocol == 17, queue=1),
    Filter(2, "ip|flower ip_proto icmp", "action police index 7 action skbedit priority 1:1", lambda v: v.protocol == 1,
           queue=0),
    Filter(3, "ip|flower ip_proto tcp", "action police rate 64kbit burst 6025 conform-exceed drop/ok",
           lambda v: v.protocol == 6),
    Filter(4, "all|matchall", "action pass", lambda v: True),
]  # fmt: skip


def sized(rng, count: int) -> list[bytes]:
    """IPv4 frames of multiples of 50 bytes: UDP, ICMP, TCP and GRE."""
    made = []
    for _ in range(count):
        size, protocol = 50 * rng.randrange(2, 20), rng.choice((17, 1, 6, 47))
        head = struct.pack(">BBHIBBH", 0x45, rng.choice((0, 40, 46)) << 2, size - 14, 0, 64, protocol, 0)
        made.append(MACS + b"\x08\0" + head + rng.randbytes(size - 26))
    return made


class Sink:
    """Takes the frames that leave the lane."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.bind(("127.0.0.1", 0))
        self.place = f"udp:127.0.0.1:{self.socket.getsockname()[1]}"
        self.seen: list[bytes] = []
        threading.Thread(target=self.take, daemon=True).start()

    def take(self):
        while True:
            self.seen.append(self.socket.recv(1 << 16))

    def settled(self) -> int:
        """The number of frames, when no more come."""
        count = -1
        while count != len(self.seen):
            count = len(self.seen)
            time.sleep(0.5)
        return count


def fates(table, frames, bands=BANDS):
    """By plain comparisons: packets and bytes of each filter, those of each queue, and the frames that leave."""
    matched, queues, leave = Counter(), Counter(), Counter()
    for data in frames:
        view = View(data)
        each = next(each for each in table if each.fits(view))
        code = (view.traffic >> 2 if each.dscp is None else each.dscp) if view.version else 0
        queue = bands[code >> 3] if each.queue is None else each.queue
        number = table.index(each)
        matched.update({(number, "packets"): 1, (number, "bytes"): len(data)})
        fate = "policed" if each.drop else "sent"
        queues.update({(queue, fate, 0): 1, (queue, fate, 1): len(data)})
        if not each.drop:
            leave[data if each.dscp is None else edited(data, each.dscp)] += 1
    return matched, queues, leave
