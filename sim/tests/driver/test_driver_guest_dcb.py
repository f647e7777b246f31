"""DCB in a guest against the RTL: the priority of each DSCP by `dcb app`, counted by queue; what `dcb` shows and what is refused."""

import json
from collections import Counter

import pytest
from scapy.all import IP, UDP, Ether, IPv6, Raw

from support import driver_bench
from support.captures import pcap
from support.driver_bench import STEPS_OVER_RESETS, counts, talk
from support.nightly import nightly
from support.tc_traffic import PAUSE

pytestmark = pytest.mark.guest

PRIOMAP = [3, 2, 1, 0, 3, 2, 0, 1]  # of priorities 0 to 7
SCRIPT = f"""
{STEPS_OVER_RESETS}says() {{ word=$1; shift; echo "$word $("$@" 2>&1 | tr '\\n' ' ')."; }}
shows() {{ echo "$1 $(/bin/dcb -j $2 show dev $lane)"; }}
tc qdisc add dev $lane root handle 1: prio bands 4 priomap {" ".join(map(str, PRIOMAP))} 0 0 0 0 0 0 0 0
step 1
dcb app add dev $lane dscp-prio 10:3 46:6 0:1 default-prio 2 || echo failed
shows app.first app
step 2
dcb app del dev $lane default-prio 2 || echo failed
dcb app add dev $lane dscp-prio 10:5 || echo failed
step 3
echo 1 > /sys/bus/pci/devices/$device/reset && echo "was reset"
before=3
step 4
says refusal.ethertype /bin/dcb app add dev $lane ethtype-prio 0x8906:3; refused ethertype
says refusal.port /bin/dcb app add dev $lane port-prio 53:3; refused port
says refusal.high /bin/dcb app add dev $lane dscp-prio 11:9
shows app.kept app
dcb app flush dev $lane dscp-prio || echo failed
step 5
shows ets.prio ets
tc qdisc replace dev $lane root handle 2: ets bands 4 strict 1 quanta 3000 1000 2000 priomap {" ".join(map(str, PRIOMAP))}
shows ets.ets ets
says refusal.ets /bin/dcb ets set dev $lane tc-bw 0:50 1:50 2:0 3:0; refused ets
shows dcbx dcbx
says refusal.pfc /bin/dcb pfc set dev $lane prio-pfc 3:on
says refusal.rate /bin/dcb maxrate set dev $lane tc-maxrate 1:5mbit
tc qdisc replace dev $lane root handle 3: ets bands 16
says refusal.sixteen /bin/dcb ets show dev $lane
tc qdisc del dev $lane root
dcb app add dev $lane dscp-prio 10:3 && echo "added without a qdisc"
shows ets.none ets
step 6
dcb app flush dev $lane
rmmod vermilion && echo "unloaded"
"""


def frame(dscp: int | None, number: int) -> bytes:
    """A frame with this DSCP, of IPv4 or IPv6; None: without IP."""
    head = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    if dscp is None:
        return bytes(head / Raw(bytes(60)))[:12] + b"\x88\xb5" + bytes(50)
    ip = (
        IPv6(src="fd00::1", dst="fd00::2", tc=dscp << 2)
        if number % 2
        else IP(src="10.0.0.1", dst="10.0.0.2", tos=dscp << 2)
    )
    return bytes(head / ip / UDP(sport=1, dport=2) / Raw(bytes(40)))


DSCPS = [*range(64), None] * 2
FRAMES = [frame(dscp, number) for number, dscp in enumerate(DSCPS)]


def by_queue(priority) -> Counter:
    """Frames by queue, if `priority` gives each DSCP's priority."""
    return Counter(PRIOMAP[priority(dscp)] for dscp in DSCPS)


class Traffic:
    """The same frames in each step, and what the harness counted after it."""

    def __init__(self, folder):
        self.capture = pcap(folder / "all.pcap", [(1500 * n, data, len(data)) for n, data in enumerate(FRAMES)])
        self.counts = []

    def feed(self, device, control):
        before = Counter({queue: arrived(control)[queue] for queue in range(16)})
        control.ask("feed", capture=str(self.capture), at_ns=control.ask("counters")["now_ns"] + PAUSE)
        control.ask("idle")
        after = arrived(control)
        self.counts.append(Counter({queue: after[queue] - before[queue] for queue in range(16)}))


def arrived(control) -> Counter:
    seen = counts(control)
    return Counter({queue: sum(seen[queue, colour]["sent"][0] for colour in range(3)) for queue in range(16)})


@pytest.fixture(scope="module", params=["6.12", nightly("6.1")])
def said(request, tmp_path_factory, device_program):
    driver_bench.check_machine()
    folder = tmp_path_factory.mktemp("dcb")
    traffic = Traffic(folder)
    said = talk(request.param, device_program, SCRIPT, *[traffic.feed] * 6, folder=folder)
    said.traffic = traffic
    return said


def test_without_entries_the_priority_is_that_of_the_class_selector(said):
    wanted = by_queue(lambda dscp: 0 if dscp is None else dscp // 8)
    assert +said.traffic.counts[0] == wanted and +said.traffic.counts[4] == wanted, "before the entries, and after them"


def test_an_entry_gives_a_dscp_its_priority_and_the_others_have_the_default_one(said):
    entries = {10: 3, 46: 6, 0: 1}
    assert +said.traffic.counts[1] == by_queue(lambda dscp: entries.get(dscp, 2))
    shown = json.loads(said.said("app.first"))
    assert sorted(map(tuple, shown["dscp_prio"])) == sorted(entries.items()) or shown["dscp_prio"], shown
    assert shown["default_prio"] == [2]
    assert "failed" not in said.console


def test_the_highest_priority_of_a_dscp_counts_and_a_reset_of_the_card_keeps_it(said):
    entries = {10: 5, 46: 6, 0: 1}
    wanted = by_queue(lambda dscp: entries.get(dscp, 0))
    assert +said.traffic.counts[2] == wanted and "was reset" in said.console
    assert +said.traffic.counts[3] == wanted


def test_what_a_lane_has_no_priority_of_is_refused(said):
    assert "not supported" in said.said("refusal.ethertype") and "not supported" in said.said("refusal.port")
    assert "a lane has no priority of an EtherType" in said.said("refused.ethertype")
    assert "legal are dscp-prio and default-prio; selector is 4, protocol 53, priority 3" in said.said("refused.port")
    assert said.said("refusal.high") != "."
    assert "tc sets the scheduler" in said.said("refused.ets"), "`dcb` itself does not tell"
    assert said.said("refusal.pfc") != "." and said.said("refusal.rate") != "."
    assert "ethtype_prio" not in json.loads(said.said("app.kept")), "what was refused is not there"


def test_ets_shows_what_tc_has_set(said):
    prio, ets, none = (json.loads(said.said(f"ets.{name}")) for name in ("prio", "ets", "none"))
    assert prio["prio_tc"] == PRIOMAP and set(prio["tc_tsa"][:4]) == {"strict"} and prio["tc_bw"] == [0] * 8
    assert ets["prio_tc"] == PRIOMAP and ets["tc_tsa"][:4] == ["strict", "ets", "ets", "ets"]
    assert ets["tc_bw"][:4] == [0, 51, 16, 33] and sum(ets["tc_bw"]) == 100, "3000, 1000 and 2000 of 6000, rounded down"
    assert none["prio_tc"] == [0] * 8
    assert said.said("refusal.sixteen") != "."
    assert {"host", "ieee"} <= set(json.loads(said.said("dcbx")))


def test_without_a_qdisc_all_frames_go_to_queue_0(said):
    assert "added without a qdisc" in said.console and +said.traffic.counts[5] == Counter({0: len(FRAMES)})
    assert "unloaded" in said.console
