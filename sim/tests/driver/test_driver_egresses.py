"""The driver on a lane with four egresses: each has a netdev, which tc, netlink and devlink program as a lane of its own; the pool is shared."""

import json
import re

import pytest

from support import driver_bench
from support.driver_bench import by_tc, expected, talk
from support.netlink_guest import Talk, program
from support.nightly import nightly
from support.register_file import address
from support.tc_traffic import all_colours, capture, check_qdisc, feed, frame, red
from vermilion.toolchain import build

pytestmark = pytest.mark.guest

SHAPE = build.FOR_BENCHES["lab-egresses"]
EGRESSES, QUEUES = SHAPE.egresses, SHAPE.queues // SHAPE.egresses
CELL = 64
TOP = 2**27 - 1
NAMES = ("zero", "one", "two", "three")
POOL, RESERVES, CAP = 48000, {1: 2560, 2: 6400}, 25600  # bytes
BURST = 20  # frames
SCRIPT = """
set -- $lanes; zero=$1; one=$2; two=$3; three=$4
echo "netdevs $#"
held() { word=$1; shift; words=; for at in "$@"; do words="$words $(devmem $((registers + at)) 32)"; done; echo "$word$words"; }
selected() { shadow $1; held select.$1 QUEUE_SELECT; }
says() { word=$1; shift; echo "$word $("$@" 2>&1 | tr '\\n' ' ')."; }
counted() { echo "counters.$1 $(/bin/tc -s -j qdisc show dev $2)"; }
tc qdisc add dev $zero root handle 1: red limit 40000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 100mbit
selected zero
tc qdisc add dev $one root handle 1: tbf rate 10mbit burst 5000 limit 100000
held port.one PORT_EGRESS PORT_COST
tc qdisc add dev $one parent 1:1 handle 2: red limit 30000 min 20000 max 60000 probability 0.1 avpkt 1000 burst 55 bandwidth 100mbit
selected one
netlink_send $two < /two; selected two
held class.two CLASS_ENTRY
netlink_send $three < /three
tc qdisc add dev $two clsact
says filter /bin/tc filter add dev $two egress pref 4 protocol ip flower skip_sw action drop
netlink_send $zero < /lanes
for name in zero one two three; do
    eval lane=\\$$name
    echo "owners.$name $(cat /sys/kernel/debug/vermilion/$card/lane0.egress$(echo $lanes | tr ' ' '\\n' | grep -n -x $lane | cut -d: -f1 | tr 1234 0123)/owners | tr '\\n' ',')"
done
says dynamic devlink sb pool set pci/$device pool 0 size POOL thtype dynamic
says reserve-one devlink sb port pool set $one pool 1 th 2560
says cap-one devlink sb port pool set $one pool 2 th 25600
netlink_send $two < /share
says alpha devlink sb tc bind set $one tc 3 type egress pool 0 th 12
selected alpha
held shares SHARES
echo "pools $(devlink -j sb pool show | tr -d '\\n')"
for name in zero one two; do
    eval lane=\\$$name
    for pool in 0 1 2; do echo "threshold.$name.$pool $(devlink -j sb port pool show $lane pool $pool | tr -d '\\n')"; done
done
echo "bound $(devlink -j sb tc bind show $one tc 3 type egress | tr -d '\\n')"
says large-reserve devlink sb port pool set $three pool 1 th 40000
says small-cap devlink sb port pool set $one pool 2 th 1280
says large-cap devlink sb port pool set $one pool 2 th 65537
says small-size devlink sb pool set pci/$device pool 0 size 6400 thtype dynamic
says pool-of-cells devlink sb port pool set $one pool 0 th 12800
says size-of-caps devlink sb pool set pci/$device pool 2 size 12800 thtype static
says no-queue devlink sb tc bind set $one tc 8 type egress pool 0 th 12
netlink_send $three < /bad
held still SHARES
for name in zero one two three; do eval lane=\\$$name; echo "selftest.$name $(ethtool -t $lane | tr '\\n\\t' '; ')"; done
step 1
devmem $((registers + ROUTES)) 32 1
step 2
devlink sb occupancy snapshot pci/$device
echo "occupancy.zero $(devlink -j sb occupancy show $zero | tr -d '\\n')"
echo "occupancy.one $(devlink -j sb occupancy show $one | tr -d '\\n')"
netlink_send $two < /flush
devlink sb occupancy snapshot pci/$device
echo "occupancy.kept $(devlink -j sb occupancy show $one | tr -d '\\n')"
netlink_send $one < /flushed
devlink sb occupancy snapshot pci/$device
echo "occupancy.flushed $(devlink -j sb occupancy show $one | tr -d '\\n')"
step 3
counted zero $zero; counted one $one
for name in zero one; do
    eval lane=\\$$name
    echo "stats.$name $(ethtool -S $lane | sed -n 's/^ *\\(.*\\): \\([0-9]*\\)$/\\1=\\2/p' | tr '\\n' ' ')"
done
echo "info $(devlink -j dev info | tr -d '\\n')"
echo "resources $(devlink -j resource show pci/$device | tr -d '\\n')"
echo 1 > /sys/bus/pci/devices/$device/reset && echo "was reset"
held behind SHARES
netlink_send $one < /behind
tc qdisc del dev $one root
held port.gone PORT_EGRESS PORT_COST
selected gone
rmmod vermilion && insmod /modules/vermilion.ko && echo "again $(ls /sys/bus/pci/devices/$device/net | wc -l)"
held cleared SHARES
"""
SHARES = [
    address("pool_size"),
    *(address("pool_reserve", e) for e in range(EGRESSES)),
    *(address("pool_cap", e) for e in range(EGRESSES)),
]
SCRIPT = SCRIPT.replace("SHARES", " ".join(map(str, SHARES))).replace("POOL", str(POOL))
for name, word in (("QUEUE_SELECT", "queue_select"), ("PORT_EGRESS", "port_egress"), ("PORT_COST", "port_cost")):
    SCRIPT = SCRIPT.replace(name, str(address(word)))
SCRIPT = SCRIPT.replace("CLASS_ENTRY", str(address("class_entry"))).replace("ROUTES", str(address("routes", 0)))
REFUSED = {
    "large-reserve": "pool.reserve is 40000; legal is 0 to 39040, what the pool of 48000 B has beside other reserves",
    "small-cap": "pool.cap is 1280; legal is 0 for none, or 2560, the reserve, and more",
    "large-cap": "pool.cap is 65537; legal is 0 for none, or 64 to 65536, the cells of this build",
    "small-size": "pool.size is 6400; legal is 0 for none, or 8960 and more, the reserves of all egresses",
    "pool-of-cells": "pool is 0; legal is 1, the reserves of this lane, or 2, its caps",
    "size-of-caps": "pool is 2; legal is below 1: reserves and caps have no size of their own",
}


class Spoken:
    """What is said over netlink, a file for each place in the script."""

    def __init__(self):
        self.two, self.three, self.lanes, self.share, self.bad, self.behind = (Talk() for _ in range(6))
        self.flush, self.flushed = Talk(), Talk()
        self.two.say("two-classes", "class-set", entry=[{"dscp": 10, "queue": 5, "colour": "yellow"}])
        self.two.say("two-queue", "queue-set", queue=5, limit=7000, quantum=3000)
        self.three.say("three-port", "lane-set", rate=10**9, option_ip4=158, seed=5)
        self.lanes.say("lanes", "lane-get", "dump", raw="")
        self.share.say("two-share", "lane-set", reserve_bytes=RESERVES[2])
        self.wrong = {}
        for values, sentence in (
            ({"reserve_bytes": 39040 + CELL}, "pool.reserve is 39104; legal is 0 to 39040"),
            ({"rate": 10**8, "cap_bytes": 63}, "pool.cap is 63; legal is 0 for none, or 64 to 65536"),
            ({"pool_bytes": 6400}, "pool.size is 6400; legal is 0 for none, or 8960 and more"),
            ({"queues": QUEUES + 1}, f"queues is {QUEUES + 1}; legal is 0 to {QUEUES}"),
        ):
            self.refuse(22, sentence, "lane-set", **values)
        self.refuse(2, "queue is 8; legal is 0 to 7", "queue-set", queue=QUEUES, ecn=1)
        self.refuse(2, "queue is 8; legal is 0 to 7", "queue-get", queue=QUEUES)
        entry = {"dscp": 1, "queue": QUEUES, "colour": "green"}
        self.refuse(34, "entry.queue is 8; legal is 0 to 7", "class-set", entry=[entry])
        self.refuse(2, "queue is 8; legal is 0 to 7", "queue-flush", queue=QUEUES)
        self.refuse(2, "queue is 4294967295; legal is 0 to 7", "queue-flush", queue=2**32 - 1)
        self.flush.say("flush-two", "queue-flush")
        self.flushed.say("flush-other", "queue-flush", queue=1)
        self.flushed.say("flush-one", "queue-flush", queue=0)
        self.bad.say("lane-behind-refusals", "lane-get")
        self.behind.say("one-behind", "lane-get")

    def refuse(self, error, sentence, command, **values):
        word = f"wrong{len(self.wrong)}"
        self.bad.say(word, command, **values)
        self.wrong[word] = error, sentence

    def talks(self):
        return {name: each for name, each in vars(self).items() if isinstance(each, Talk)}


def standing(path):
    """An action: frames come while the lane's clock is held, so that they stand behind the shaper."""

    def act(device, control):
        control.ask("pause")
        control.ask("feed", capture=str(path))
        control.ask("run", ns=2_000_000)

    return act


def rest(device, control):
    control.ask("resume")
    control.ask("idle")
    return driver_bench.counts(control)


@pytest.fixture(scope="module")
def device_of_four():
    return build.device("lab-egresses")


@pytest.fixture(scope="module", params=["6.12", nightly("6.1")])
def said(request, tmp_path_factory, device_of_four):
    driver_bench.check_machine()
    folder, spoken = tmp_path_factory.mktemp("egresses"), Spoken()
    frames = capture(folder / "in.pcap", [frame(1000, ecn=2 * (i % 2)) for i in range(300)], 1000)
    burst = capture(folder / "burst.pcap", [frame(1000)] * BURST, 0)
    files = {name: each.file() for name, each in spoken.talks().items()}
    files["bin/netlink_send"] = 0o100755, program("netlink_send")
    actions = feed(frames), standing(burst), rest
    out = talk(request.param, device_of_four, SCRIPT, *actions, folder=folder, more=files)
    out.heard = {}
    for each in spoken.talks().values():
        out.heard |= each.heard(out.console)
    out.wrong = spoken.wrong
    return out


def words(said, name) -> list[int]:
    return [int(word, 16) for word in said.said(name).split()]


def test_each_egress_has_a_netdev_with_queues_of_its_own(said):
    assert said.said("netdevs") == str(EGRESSES)
    lanes = said.heard["lanes"][2]
    assert [(lane["lane"], lane["egress"]) for lane in lanes] == [(0, egress) for egress in range(EGRESSES)]
    for lane in lanes:
        has = lane["capabilities"]
        assert (has["queues"], has["victims"], has["egresses"]) == (QUEUES, QUEUES, EGRESSES) and "way" not in lane
        assert lane["option-ip4"] == 158 and len(lane["lost"]) == SHAPE.inputs  # of the whole lane
    assert [lane["rate"] for lane in lanes] == [0, 10**7, 0, 10**9]
    (info,) = json.loads(said.said("info"))["info"].values()
    fixed = info["versions"]["fixed"]
    assert (fixed["lane0.queues"], fixed["lane0.victims"], fixed["lane0.egresses"]) == ("32", "32", "4")
    (resources,) = json.loads(said.said("resources"))["resources"].values()
    named = {each["name"]: each for each in resources}
    assert sorted(named) == ["lane0_cells", "lane0_flows", "lane0_queues"]
    assert (named["lane0_queues"]["size"], named["lane0_queues"]["occ"]) == (SHAPE.queues, 3)


def test_tc_and_netlink_program_the_queues_of_their_egress(said):
    """The selection register tells by the lane's number which queue took the shadow record."""
    of = {"port": 10**10, "queues": SHAPE.queues}
    mild, plain = red(30000, 90000, 0.02, end=TOP), red(20000, 60000, 0.1)
    assert words(said, "select.zero") == [0]
    assert said.shadow("zero") == by_tc(limit=40000, ecn=True, **of, **all_colours(mild))
    assert words(said, "select.one") == [QUEUES]
    assert said.shadow("one") == by_tc(limit=30000, **of | {"port": 10**7}, **all_colours(plain))
    assert words(said, "select.two") == [2 * QUEUES + 5]
    assert said.shadow("two") == expected(limit=7000, quantum=3000, **of)
    assert words(said, "class.two") == [2 * QUEUES + 5 | 1 << 16]
    egress, cost = words(said, "port.one")
    assert egress == 1 and cost
    assert said.said("owners.zero") == "port nobody,classes tc,queue 0 tc,"
    assert said.said("owners.one") == "port tc,classes tc,queue 0 tc,"
    assert said.said("owners.two") == "port nobody,classes netlink,queue 5 netlink,"
    assert said.said("owners.three") == "port netlink,classes nobody,"
    assert "all egresses of a lane share its rules; legal in a lane with one egress" in said.said("filter")
    assert words(said, "port.gone") == [1, 0] and words(said, "select.gone") == [QUEUES]
    assert said.shadow("gone") == expected(**of)


def test_the_pool_is_shared_and_has_a_reserve_and_a_cap_for_each_egress(said):
    assert {said.said(word) for word in ("dynamic", "reserve-one", "cap-one", "alpha")} == {"."}
    assert said.heard["two-share"][:2] == (0, "-")
    wanted = [POOL // CELL, *(RESERVES.get(e, 0) // CELL for e in range(EGRESSES)), 0, CAP // CELL, 0, 0]
    for name in ("shares", "still", "behind"):  # behind refusals, and behind a reset
        assert words(said, name) == wanted, name
    assert words(said, "cleared") == [0] * 9  # by the module that was loaded anew
    assert words(said, "select.alpha") == [QUEUES + 3]
    alpha = expected(port=10**7, queues=SHAPE.queues, alpha=4)
    assert said.shadow("alpha") == alpha
    (pools,) = json.loads(said.said("pools"))["pool"].values()
    assert [(pool["pool"], pool["size"], pool["thtype"]) for pool in pools] == [
        (0, POOL, "dynamic"),
        (1, sum(RESERVES.values()), "static"),
        (2, POOL, "static"),
    ]
    thresholds = {"zero": [20, 0, 65536], "one": [20, RESERVES[1], CAP], "two": [20, RESERVES[2], 65536]}
    for name, shown in thresholds.items():
        for pool, threshold in enumerate(shown):
            (ports,) = json.loads(said.said(f"threshold.{name}.{pool}"))["port_pool"].values()
            assert [(port["pool"], port["threshold"]) for port in ports] == [(pool, threshold)], name
    (bound,) = json.loads(said.said("bound"))["tc_bind"].values()
    assert (bound[0]["pool"], bound[0]["threshold"]) == (0, 12)
    (lane,) = said.heard["one-behind"][2]
    assert [lane[name] for name in ("pool-bytes", "reserve-bytes", "cap-bytes")] == [POOL, RESERVES[1], CAP]


@pytest.mark.parametrize("word", REFUSED)
def test_what_devlink_refuses(said, word):
    assert REFUSED[word] in said.said(word)


def test_what_netlink_refuses(said):
    wrong = [
        (word, said.heard[word][:2], said.wrong[word])
        for word in said.wrong
        if said.heard[word][0] != said.wrong[word][0] or said.wrong[word][1] not in said.heard[word][1]
    ]
    assert wrong == []
    assert said.said("no-queue") != "."  # devlink's core knows how many there are
    (lane,) = said.heard["lane-behind-refusals"][2]
    assert (lane["rate"], lane["reserve-bytes"], lane["queues"]) == (10**9, 0, QUEUES)


def test_counters_and_occupancy_are_those_of_the_egress(said):
    first, _, last = said.results
    queue = lambda counters, number: [counters[number, colour] for colour in range(3)]
    assert sum(part["arrived"][0] for part in queue(last, 0)) == 300
    assert sum(part["arrived"][0] for part in queue(last, QUEUES)) == BURST
    assert not queue(first, QUEUES)[0]["arrived"][0]
    check_qdisc(said.qdiscs("zero")["1:"], queue(last, 0))
    for handle in ("1:", "2:"):
        check_qdisc(said.qdiscs("one")[handle], queue(last, QUEUES))
    for name, number in (("zero", 0), ("one", QUEUES)):
        shown = dict(part.split("=") for part in said.said(f"stats.{name}").split())
        assert int(shown["q0.green.sent.packets"]) == queue(last, number)[0]["sent"][0]
        assert ("input0.lost.packets" in shown) == (name == "zero")
        assert len(shown) == QUEUES * (3 * 15 * 2 + 4) + 2 * SHAPE.inputs * (name == "zero")
    occupied = {}
    for name in ("zero", "one"):
        (port,) = json.loads(said.said(f"occupancy.{name}"))["occupancy"].values()
        occupied[name] = [port["pool"][str(pool)]["current"] for pool in range(3)]
    cells = occupied["one"][0] // CELL
    assert occupied["zero"] == [0, 0, 0] and RESERVES[1] < CELL * cells <= 1024 * BURST
    assert occupied["one"] == [CELL * cells, min(CELL * cells, RESERVES[1]), CELL * cells]


def test_a_flush_empties_a_queue_of_its_egress_alone(said):
    """Two egresses and another queue are flushed before; the packets behind the shaper go with their own queue."""
    assert [said.heard[word][:2] for word in ("flush-two", "flush-other", "flush-one")] == [(0, "-")] * 3
    current = {}
    for name in ("one", "kept", "flushed"):
        (port,) = json.loads(said.said(f"occupancy.{name}"))["occupancy"].values()
        current[name] = port["pool"]["0"]["current"]
    shown = dict(part.split("=") for part in said.said("stats.one").split())
    flushed, sent = (int(shown[f"q0.green.{event}.packets"]) for event in ("flushed", "sent"))
    # The lane's clock runs while registers are read, so the shaper sends a few.
    assert current["one"] >= current["kept"] > RESERVES[1] and current["flushed"] == 0
    assert flushed >= 5 and flushed + sent == BURST


def test_the_self_test_passes_on_every_egress(said):
    for name in NAMES:
        assert "PASS" in said.said(f"selftest.{name}"), said.said(f"selftest.{name}")


def test_it_comes_back_behind_a_reset_and_leaves_no_fault_of_the_kernels(said):
    assert "was reset" in said.console and said.said("again") == str(EGRESSES)
    assert said.said("splats.end") == "0"
    assert not re.findall(r"^failed ", said.console, re.M)
