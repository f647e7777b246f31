"""tc filters in a guest against the RTL: the fate of each frame by plain comparisons of its bytes, counters to the packet, and what is refused."""

import json
import random
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass
from itertools import islice

import pytest

from support import driver_bench
from support.captures import pcap
from support.driver_bench import counts, talk
from support.lane_rules import edited
from support.nightly import nightly
from support.plain_rules import View, frames
from support.tc_traffic import PAUSE

pytestmark = pytest.mark.guest

BANDS = (3, 0, 1, 1, 0, 2, 2, 2)  # of priority 0 to 7, a class selector
SKIP = "skip_sw"


@dataclass
class Filter:
    pref: int
    match: str
    action: str
    fits: callable
    queue: int | None = None
    dscp: int | None = None
    drop: bool = False

    def line(self) -> str:
        protocol, kind = self.match.split("|")
        kind, _, keys = kind.partition(" ")
        words = f"protocol {protocol} pref {self.pref} {kind} {keys} {SKIP} {self.action}"
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

# A reset sets the card's count of interrupts, by which a step ends, to 0.
SCRIPT = f"""
before=0
step() {{ echo "step $1"; while [ $(($(devmem $((interrupts + 0x2004)) 32))) -lt $(($1 - before)) ]; do sleep 0.1; done; }}
filters() {{ echo "filters.$1 $(/bin/tc -s -j filter show dev $lane egress)"; }}
says() {{ word=$1; shift; echo "$word $("$@" 2>&1 | tr '\\n' ' ')."; }}
tc qdisc add dev $lane root handle 1: prio bands 4 priomap {" ".join(map(str, BANDS))} 0 0 0 0 0 0 0 0
tc qdisc add dev $lane clsact
owners none
{chr(10).join(each.line() for each in random.Random(4).sample(TABLE, len(TABLE)))}
owners filters
/bin/ethtool -K $lane hw-tc-offload off 2> /dev/null || echo "kept on"
step 1
filters table; filters twice
{chr(10).join(each.line() for each in FIRST)}
tc filter del dev $lane egress pref 40
step 2
{NONE.line()}
filters moved
step 3
filters after
echo 1 > /sys/bus/pci/devices/$device/reset && echo "was reset"
before=3
step 4
filters reset
tc qdisc change dev $lane root handle 1: prio bands 4 priomap 3 3 3 3 3 3 3 3 0 0 0 0 0 0 0 0
step 5
filters bands
tc qdisc del dev $lane root
tc filter del dev $lane egress
owners gone
step 6
REFUSALS
tc qdisc del dev $lane clsact
owners end
rmmod vermilion && echo "unloaded"
"""
ADD = "/bin/tc filter add dev $lane egress"
REFUSALS = {
    "mac": ("protocol ip flower skip_sw dst_mac 02:00:00:00:00:01 action drop", "a rule does not compare MAC addresses"),
    "ttl": ("protocol ip flower skip_sw ip_ttl 3 action drop", "a rule does not compare ip_ttl"),
    "frag": ("protocol ip flower skip_sw ip_flags frag action drop", "a rule does not compare ip_flags"),
    "sctp": ("protocol ip flower skip_sw ip_proto sctp dst_port 4 action drop", "legal with tcp and udp"),
    "arp": ("protocol arp flower skip_sw action drop", "protocol is 0x0806; legal is all, ip, ipv6 and 802.1q"),
    "chain": ("protocol ip chain 3 flower skip_sw action drop", "chain is 3; legal is 0"),
    "mask": ("protocol ip flower skip_sw ip_proto tcp dst_port 80/0xf0f0 action drop", "dst_port has mask 0xf0f0"),
    "goto": ("protocol ip flower skip_sw action goto chain 2", "a rule has no action goto chain"),
    "mark": ("protocol ip flower skip_sw action skbedit mark 7", "a rule has no action skbedit mark"),
    "ecn": ("protocol ip flower skip_sw action pedit ex munge ip dsfield set 0x28", "changes more than a DSCP"),
    "ttlset": ("protocol ip flower skip_sw action pedit ex munge ip ttl set 3", "changes more than a DSCP"),
    "six": ("protocol ip flower skip_sw action pedit ex munge ip6 traffic_class set 4 retain 0xfc", "pedit munges ip6"),
    "any": ("protocol all matchall skip_sw action pedit ex munge ip dsfield set 4 retain 0xfc", "legal with protocol"),
    "queue": ("protocol ip flower skip_sw action skbedit priority 16", "legal is 0 to 15, a queue"),
    "stats": ("protocol ip flower skip_sw action drop hw_stats delayed", "hw_stats is delayed"),
}  # fmt: skip


def refusals() -> str:
    lines = [f"says refusal.{name} {ADD} pref 7 {words}; refused {name}" for name, (words, _) in REFUSALS.items()]
    lines += [
        f"{ADD} pref 9 protocol ip flower skip_sw ip_proto udp dst_port {2 * i + 1}-{2 * i + 2} action drop"
        for i in range(8)
    ]
    lines += [f"says refusal.ninth {ADD} pref 9 protocol ip flower skip_sw ip_proto udp dst_port 99-102 action drop"]
    lines += [
        f"for i in $(seq 56); do {ADD} pref 8 protocol ip flower skip_sw src_ip 10.0.0.$i action drop || echo failed; done"
    ]
    lines += [f"says refusal.full {ADD} pref 3 protocol ip flower skip_sw ip_proto 2f action drop; refused full"]
    lines += ["filters full", f"{ADD} pref 3 protocol ip flower ip_proto 2f action drop && filters software"]
    lines += ["tc filter del dev $lane egress", f"{ADD} pref 2 protocol ip flower skip_sw ip_proto udp action drop"]
    lines += [f"says refusal.hidden {ADD} pref 4 protocol ip flower skip_sw ip_proto udp dst_port 53 action pass"]
    lines += ["says refusal.ingress /bin/tc filter add dev $lane ingress protocol ip flower skip_sw action drop"]
    lines += ["filters hidden"]
    return "\n".join(lines)


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


class Traffic:
    """Captures for each step, and what the harness counted after it."""

    def __init__(self, folder):
        rng = random.Random("filters")
        self.frames = [list(islice(frames(rng), count)) for count in (3000, 3000, 4000, 1000, 1000)]
        self.captures = [
            pcap(folder / f"{i}.pcap", [(1500 * n, data, len(data)) for n, data in enumerate(each)])
            for i, each in enumerate(self.frames)
        ]
        self.sink, self.counts, self.sent = Sink(), [], []

    def feed(self, number):
        def act(device, control):
            began = control.ask("counters")["now_ns"]
            control.ask("feed", capture=str(self.captures[number]), at_ns=began + PAUSE)
            if number != 1:  # the filters change under these
                self.idle(device, control)

        return act

    def idle(self, device, control):
        control.ask("idle")
        self.counts.append(counts(control))
        self.sent.append(self.sink.settled())

    def actions(self):
        def third(device, control):
            self.idle(device, control)
            self.feed(2)(device, control)

        return [self.feed(0), self.feed(1), third, self.feed(3), self.feed(4), lambda device, control: None]


@pytest.fixture(scope="module", params=["6.12", nightly("6.1")])
def said(request, tmp_path_factory, device_program):
    driver_bench.check_machine()
    folder = tmp_path_factory.mktemp("filters")
    traffic = Traffic(folder)
    script = SCRIPT.replace("REFUSALS", refusals())
    options = ["--frames-to", traffic.sink.place]
    said = talk(request.param, device_program, script, *traffic.actions(), folder=folder, options=options)
    said.traffic = traffic
    return said


def shown(said, name) -> dict[int, list[dict]]:
    """The offloaded filters by pref."""
    out = {}
    for each in json.loads(said.said(f"filters.{name}")):
        if "handle" in each.get("options", {}):
            assert each["options"]["in_hw"] and each["options"].get("in_hw_count", 1) == 1, each
            out.setdefault(each["pref"], []).append(each["options"])
    return out


def count(options) -> tuple[int, int]:
    stats = options["actions"][0]["stats"]
    assert options["actions"][0]["used_hw_stats"] == ["immediate"]
    return stats["packets"], stats["bytes"]


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


def check_filters(said, name, table, *matches):
    matched = sum(matches, Counter())
    for number, each in enumerate(table):
        same = [other for other in table if other.pref == each.pref]
        got = shown(said, name)[each.pref]
        wanted = matched[number, "packets"], matched[number, "bytes"]
        assert wanted in [count(options) for options in got] and len(got) == len(same), (name, each.match, wanted)
        assert each is NONE or len(matches) == 0 or wanted[0] > 3, each.match


def check_queues(before, after, wanted):
    for queue in range(16):
        for fate in ("sent", "policed"):
            for what in (0, 1):
                seen = sum(
                    after[queue, c][fate][what] - (before[queue, c][fate][what] if before else 0) for c in range(3)
                )
                assert seen == wanted[queue, fate, what], (queue, fate)


def test_each_frame_has_the_fate_of_the_first_filter_that_fits(said):
    traffic = said.traffic
    assert set(shown(said, "table")) == {each.pref for each in TABLE}
    matched, queues, leave = fates(TABLE, traffic.frames[0])
    check_queues(None, traffic.counts[0], queues)
    assert Counter(traffic.sink.seen[: traffic.sent[0]]) == leave
    check_filters(said, "table", TABLE, matched)
    check_filters(said, "twice", TABLE, matched)  # asking does not count
    assert said.said("owners.none").endswith("queue 3 tc,")
    assert said.said("owners.filters").endswith("queue 3 tc,rules tc,") and "kept on" in said.console


def test_filters_move_under_traffic_and_count_to_the_packet(said):
    """A filter that fits no frame comes before all others, so all move, while frames arrive."""
    traffic, table = said.traffic, AFTER
    first = fates(TABLE, traffic.frames[0])[0]
    kept = Counter({(table.index(TABLE[n]), what): value for (n, what), value in first.items() if TABLE[n] in table})
    second, queues, leave = fates(table, traffic.frames[1])
    check_queues(traffic.counts[0], traffic.counts[1], queues)
    assert Counter(traffic.sink.seen[traffic.sent[0] : traffic.sent[1]]) == leave
    third, queues, leave = fates(table, traffic.frames[2])
    check_queues(traffic.counts[1], traffic.counts[2], queues)
    assert Counter(traffic.sink.seen[traffic.sent[1] : traffic.sent[2]]) == leave
    check_filters(said, "after", table, kept, second, third)


def test_a_reset_of_the_card_and_other_bands(said):
    """The driver writes the rules again; `skbedit priority 6` follows the priomap of prio."""
    traffic, table = said.traffic, AFTER
    assert "was reset" in said.console
    matched, queues, leave = fates(table, traffic.frames[3])
    check_queues(None, traffic.counts[3], queues)
    before = {each.pref: [count(o) for o in shown(said, "after")[each.pref]] for each in table}
    after = {each.pref: [count(o) for o in shown(said, "reset")[each.pref]] for each in table}
    for number, each in enumerate(table):
        if each.pref != 5:
            assert after[each.pref][0][0] - before[each.pref][0][0] == matched[number, "packets"], each.match
    changed = [Filter(**vars(each) | {"queue": 3}) if "priority 7" in each.action else each for each in table]
    _, queues, _ = fates(changed, traffic.frames[4], bands=(3,) * 8)
    check_queues(traffic.counts[3], traffic.counts[4], queues)
    assert said.said("owners.gone") == said.said("owners.end") == "port nobody,classes nobody,"
    assert "unloaded" in said.console and said.said("splats.end") == "0"


def test_what_the_lane_cannot_do_is_refused_with_its_reason(said):
    for name, (_, reason) in REFUSALS.items():
        assert reason in said.said(f"refused.{name}"), name
        assert "filter of pref 7: " in said.said(f"refused.{name}") and "." != said.said(f"refusal.{name}")
    assert "a ninth range of destination ports" in said.said("refusal.ninth")
    assert "the lane has no free rule; legal are up to 64 filters" in said.said("refused.full")
    assert sum(map(len, shown(said, "full").values())) == 64
    software = [each for each in json.loads(said.said("filters.software")) if each["pref"] == 3 and "options" in each]
    assert software and not any(each["options"].get("in_hw") for each in software)
    assert "the filter of pref 2 matches all packets of this one" in said.said("refusal.hidden")
    assert sorted(shown(said, "hidden")) == [2, 4]
    assert "." != said.said("refusal.ingress")
