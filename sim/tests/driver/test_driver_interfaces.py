"""ethtool, devlink and netlink's counters in a guest: all tell the same, and what the harness counted; loading and removing the driver leaves nothing."""

import ctypes
import json
import re
from fractions import Fraction

import pytest

from campaigns.driver_soak import LEAKS, grown, script
from support import driver_bench
from support.captures import pcap
from support.driver_bench import ADDRESSES, counts, talk
from support.frames import mixed
from support.netlink_guest import Talk, program, registers, splats
from support.netlink_session import Said
from support.nightly import NIGHTLY
from support.tc_traffic import COLOURS, EVENTS, NETLINK, RED
from vermilion.generate import committed, driver_vectors
from vermilion.hardware.driver_library import C, library

LOADS = 20 if NIGHTLY else 12
THRESHOLDS = (3, 9, 10, 13, 20)  # alpha is 2^(threshold - 10), none for 20
SCRIPT = """
netlink_send $lane < /before
step 1
echo "stats $(ethtool -S $lane | sed -n 's/^ *\\(.*\\): \\([0-9]*\\)$/\\1=\\2/p' | tr '\\n' ' ')"
netlink_send $lane < /counted
devlink sb occupancy snapshot pci/$device
echo "occupancy $(devlink -j sb occupancy show $lane | tr -d '\\n')"
echo "pool $(devlink -j sb pool show pci/$device pool 0 | tr -d '\\n')"
echo "bound $(devlink -j sb tc bind show $lane tc 3 type egress | tr -d '\\n')"
echo "driver $(ethtool -i $lane | tr '\\n' ';')"
echo "registers $(ethtool -d $lane raw on | od -A n -v -t x4 | tr -d '\\n')"
devlink_says() { word=$1; shift; echo "$word $(devlink "$@" 2>&1 | tr '\\n' ' ')."; }
devlink_says static-th sb tc bind set $lane tc 3 type egress pool 0 th 10
devlink_says static-size sb pool set pci/$device pool 0 size 6400 thtype static
devlink_says small-size sb pool set pci/$device pool 0 size 63 thtype dynamic
devlink_says large-size sb pool set pci/$device pool 0 size 262145 thtype dynamic
devlink_says made-dynamic sb pool set pci/$device pool 0 size 200001 thtype dynamic
echo "dynamic-shown $(devlink -j sb pool show pci/$device pool 0 | tr -d '\\n')"
echo "dynamic-port $(devlink -j sb port pool show $lane pool 0 | tr -d '\\n')"
for th in THRESHOLDS; do
    devlink_says th$th sb tc bind set $lane tc 3 type egress pool 0 th $th
    echo "dynamic-bound$th $(devlink -j sb tc bind show $lane tc 3 type egress | tr -d '\\n')"
    netlink_send $lane < /bound$th
done
devlink_says low-th sb tc bind set $lane tc 3 type egress pool 0 th 2
devlink_says high-th sb tc bind set $lane tc 3 type egress pool 0 th 14
netlink_send $lane < /pooled
echo "selftest $(ethtool -t $lane | tr '\\n\\t' '; ')"
devlink_says made-static sb pool set pci/$device pool 0 size 262144 thtype static
echo "static-shown $(devlink -j sb pool show pci/$device pool 0 | tr -d '\\n')"
netlink_send $lane < /unpooled
echo "info $(devlink -j dev info | tr -d '\\n')"
echo "resources $(devlink -j resource show pci/$device | tr -d '\\n')"
netlink_send $lane < /cleared
tc qdisc add dev $lane root handle 1: RED
echo "card $(devlink health show pci/$device reporter card | tr '\\n' ' ')"
echo "diagnosis $(devlink health diagnose pci/$device reporter card | tr '\\n' ' ')"
tc qdisc del dev $lane root
netlink_send $lane < /given
tc qdisc add dev $lane root handle 1: RED
netlink_send $lane < /shared
tc qdisc change dev $lane root handle 1: LIMITED
netlink_send $lane < /kept
tc qdisc del dev $lane root
netlink_send $lane < /left
LEAKS
lane=$(ls /sys/bus/pci/devices/$device/net)
busy() { while "$@" > /dev/null 2>&1; do echo > /tmp/$(basename $1); done; echo "ended.$(basename $1)"; }
feed() { head -n 4 /talk | netlink_send $lane; }
busy feed & busy ethtool -S $lane & busy /bin/tc -s qdisc show dev $lane & busy devlink sb occupancy snapshot pci/$device &
until [ -e /tmp/feed -a -e /tmp/ethtool -a -e /tmp/tc -a -e /tmp/devlink ]; do sleep 0.1; done
echo 1 > /sys/bus/pci/devices/$device/remove
wait
echo "removed $(ls -d /sys/bus/pci/drivers/vermilion/0000:* 2> /dev/null | wc -l)"
echo 1 > /sys/bus/pci/rescan
echo "back $(ls -d /sys/bus/pci/drivers/vermilion/0000:* | wc -l)"
rmmod vermilion && echo "unloaded yes"
echo log-begins
dmesg -r
"""


class Spoken:
    """What is said over netlink, a file for each place in the script."""

    def __init__(self):
        self.before, self.counted, self.cleared, self.given, self.shared, self.kept, self.left = (
            Talk() for _ in range(7)
        )
        entries = [{"dscp": dscp, "queue": dscp // 2 % 8, "colour": COLOURS[dscp // 16 % 3]} for dscp in range(64)]
        self.before.say("classes", "class-set", entry=entries)
        self.before.say("classes-get", "class-get")
        self.before.say("lane-set", "lane-set", rate=10**8, burst=3000, option_ip4=158, option_ip6=30, seed=5)
        self.before.say("lane-get", "lane-get")
        for number, limit in enumerate((20000, 9000, 4000, 300000)):
            self.before.say(f"set{number}", "queue-set", queue=number, limit=limit)
        for th in THRESHOLDS:
            bound = Talk()
            bound.say(f"alpha{th}", "queue-get", queue=3)
            setattr(self, f"bound{th}", bound)
        self.pooled, self.unpooled = Talk(), Talk()
        self.pooled.say("with-pool", "lane-get")
        self.unpooled.say("without-pool", "lane-get")
        self.counted.say("statistics", "statistics-get", "dump")
        self.cleared.say("clear", "statistics-clear")
        self.cleared.say("cleared", "statistics-get", "dump")
        self.given.say("given0", "queue-reset", queue=0)
        self.given.say("given-classes", "class-reset")
        self.shared.say("weight", "queue-set", queue=0, average_weight={"num": 1, "den": 128}, spacing="uniform")
        self.shared.say("limit", "queue-set", queue=0, limit=77777)
        self.shared.say("shared", "queue-get", queue=0)
        self.kept.say("kept", "queue-get", queue=0)
        self.kept.say("near", "queue-set", queue=0, victim="nearest", victim_window=8)
        self.left.say("left", "queue-get", queue=0)

    def files(self) -> dict:
        return {name: talk.file() for name, talk in vars(self).items() if isinstance(talk, Talk)}


@pytest.fixture(scope="module")
def said(tmp_path_factory, device_program):
    driver_bench.check_machine()
    folder, spoken = tmp_path_factory.mktemp("interfaces"), Spoken()
    capture = pcap(folder / "in.pcap", mixed(1500))

    def feed(device, control):
        control.ask("feed", capture=str(capture), rate=1e9)
        control.ask("idle")
        return counts(control)

    limited = RED.replace("400000", "300000")
    text = script(
        SCRIPT, thresholds=" ".join(map(str, THRESHOLDS)), limited=limited, red=RED, leaks=script(LEAKS, loads=LOADS)
    )
    files = spoken.files() | {"bin/netlink_send": (0o100755, program("netlink_send")), "talk": Said().files()["talk"]}
    out = talk("6.12", device_program, text, feed, folder=folder, more=files, parameters="slub_debug=FZPU")
    out.heard = {}
    for each in vars(spoken).values():
        if isinstance(each, Talk):
            out.heard |= each.heard(out.console)
    return out


def test_known_answers_of_the_conversion_are_up_to_date():
    assert committed.stale(driver_vectors.files()) == []


@pytest.mark.guest
def test_classes_and_port_are_held_as_they_were_set(said):
    assert said.heard["classes"][:2] == said.heard["lane-set"][:2] == (0, "-")
    (table,) = said.heard["classes-get"][2]
    assert table["owner"] == "netlink"
    assert [(e["dscp"], e["queue"], e["colour"]) for e in table["entry"]] == [
        (dscp, dscp // 2 % 8, COLOURS[dscp // 16 % 3]) for dscp in range(64)
    ] + [(64, 0, "green")]
    (lane,) = said.heard["lane-get"][2]
    assert (lane["rate"], lane["burst"], lane["owner"]) == (10**8, 3000, "netlink")
    assert (lane["option-ip4"], lane["option-ip6"]) == (158, 30)


@pytest.mark.guest
def test_netlink_and_ethtool_count_what_the_harness_counts(said):
    harness = said.results[0]
    shown = dict(part.split("=") for part in said.said("stats").split())
    replies = {reply["queue"]: reply for reply in said.heard["statistics"][2]}
    assert len(replies) == 16 and sum(part["arrived"][0] for part in harness.values()) == 1500
    assert sum(part["tail"][0] for part in harness.values()) > 100
    for (queue, colour), parts in harness.items():
        for event, name in EVENTS.items():
            word = f"q{queue}.{COLOURS[colour]}.{event}"
            assert (int(shown[word + ".packets"]), int(shown[word + ".bytes"])) == parts[name], word
            count = replies[queue][COLOURS[colour]][NETLINK[event]]
            assert (count["packets"], count["bytes"]) == parts[name], word
        assert int(shown[f"q{queue}.{COLOURS[colour]}.flushed.packets"]) == 0
        assert replies[queue][COLOURS[colour]]["flushed"] == {"packets": 0, "bytes": 0}
    for queue, reply in replies.items():
        assert sum(reply["latency"]) == sum(harness[queue, c]["sent"][0] for c in range(3))
        for mark in ("backlog_bytes", "backlog_packets", "max_bytes", "max_packets"):
            assert int(shown[f"q{queue}.{mark}"]) == reply[mark.replace("_", "-")]
    assert len(shown) == 16 * (3 * 15 * 2 + 4) + 2


@pytest.mark.guest
def test_a_clear_sets_all_counters_to_nothing(said):
    assert said.heard["clear"][:2] == (0, "-")
    for reply in said.heard["cleared"][2]:
        assert all(reply[colour][event]["packets"] == 0 for colour in COLOURS for event in NETLINK.values())
        assert reply["max-bytes"] == reply["backlog-bytes"] == sum(reply["latency"]) == 0


@pytest.mark.guest
def test_devlink_shows_occupancy_pools_info_and_resources(said):
    replies = {reply["queue"]: reply for reply in said.heard["statistics"][2]}
    (port,) = json.loads(said.said("occupancy"))["occupancy"].values()
    shown = {each: port["etc"][each] for each in port["etc"]} if isinstance(port["etc"], dict) else port["etc"]
    text = said.said("occupancy")
    for queue, reply in replies.items():
        assert reply["max-bytes"] == 0 or f"{reply['max-bytes']}" in text, (queue, shown)
    assert max(reply["max-bytes"] for reply in replies.values()) > 1500
    (pools,) = json.loads(said.said("pool"))["pool"].values()
    assert pools == [{"sb": 0, "pool": 0, "type": "egress", "size": 4096 * 64, "thtype": "static", "cell_size": 64}]
    (bound,) = json.loads(said.said("bound"))["tc_bind"].values()
    assert bound[0]["pool"] == 0 and bound[0]["threshold"] == 4096 * 64  # the limit of 300 KB is more than there is
    (info,) = json.loads(said.said("info"))["info"].values()
    assert info["driver"] == "vermilion" and info["versions"]["fixed"]["lane0.registers"].startswith("1.")
    assert info["versions"]["fixed"]["lane0.cells"] == "4096" and info["versions"]["fixed"]["lane0.rules"] == "64"
    (resources,) = json.loads(said.said("resources"))["resources"].values()
    named = {each["name"]: each for each in resources}
    assert named["lane0_queues"]["size"] == 16 and named["lane0_queues"]["occ"] == 4
    assert named["lane0_cells"]["size"] == named["lane0_flows"]["size"] == 4096


@pytest.mark.guest
def test_devlink_occupancy_of_the_pool_is_the_lanes(said):
    """The pool's high-water mark is in whole cells, and not above the sum of the queues'."""
    (port,) = json.loads(said.said("occupancy"))["occupancy"].values()
    pool = port["pool"]["0"]
    most = [reply["max-bytes"] for reply in said.heard["statistics"][2]]
    cells = [-(-reply["max-bytes"] // 64) + reply["max-packets"] for reply in said.heard["statistics"][2]]
    assert pool["current"] == 0 and pool["max"] % 64 == 0
    assert max(most) <= pool["max"] <= 64 * sum(cells), pool


@pytest.mark.guest
def test_devlink_sets_a_pool_and_thresholds(said):
    assert said.said("made-dynamic") == said.said("made-static") == "."
    (pool,) = json.loads(said.said("dynamic-shown"))["pool"].values()
    dynamic = {"sb": 0, "pool": 0, "type": "egress", "size": 200_000, "thtype": "dynamic", "cell_size": 64}
    assert pool == [dynamic]
    (port,) = json.loads(said.said("dynamic-port"))["port_pool"].values()
    assert port[0]["threshold"] == 20
    for th in THRESHOLDS:
        assert said.said(f"th{th}") == "."
        (bound,) = json.loads(said.said(f"dynamic-bound{th}"))["tc_bind"].values()
        assert (bound[0]["pool"], bound[0]["threshold"]) == (0, th)
        (queue,) = said.heard[f"alpha{th}"][2]
        alpha = Fraction(queue["alpha"]["num"], queue["alpha"]["den"] * 10 ** queue["alpha"]["tens"])
        assert alpha == (0 if th == 20 else Fraction(2) ** (th - 10))
        assert (queue["limit"], queue["owner"]) == (300000, "netlink")
    (lane,), (after,) = said.heard["with-pool"][2], said.heard["without-pool"][2]
    assert (lane["pool-bytes"], after["pool-bytes"]) == (200_001, 0)
    (pool,) = json.loads(said.said("static-shown"))["pool"].values()
    assert pool == [dynamic | {"size": 262144, "thtype": "static"}]


@pytest.mark.guest
@pytest.mark.parametrize(
    "word, sentence",
    [
        ("static-th", "thresholds are static: the queues' limits, which tc or netlink set"),
        ("static-size", "size is 6400; legal with static thresholds is 262144, the cells of this build"),
        ("small-size", "size is 63; legal with dynamic thresholds is 64 to 262144"),
        ("large-size", "size is 262145; legal with dynamic thresholds is 64 to 262144"),
        ("low-th", "th is 2; legal is 3 to 13, or 20 for none"),
        ("high-th", "th is 14; legal is 3 to 13, or 20 for none"),
    ],
)
def test_what_devlink_refuses(said, word, sentence):
    assert sentence in said.said(word)


@pytest.mark.guest
def test_ethtool_tells_who_the_driver_is_dumps_registers_and_tests_itself(said):
    driver = dict(part.split(": ", 1) for part in said.said("driver").split(";") if ": " in part)
    assert driver["driver"] == "vermilion" and driver["firmware-version"].startswith("registers 1.")
    dumped = [int(word, 16) for word in said.said("registers").split()]
    held = dict(zip(dumped[::2], dumped[1::2], strict=True))
    assert sorted(held) == sorted({*range(0, 256, 4), *ADDRESSES}) and held[0] == 0x564D0001 and held[0x10] == 16
    # The shadow record is the queue that was written last: queue 3.
    queue = C.Queue()
    library().vm_queue_defaults(ctypes.byref(queue))
    queue.limit = 300000
    expected = registers(library(), queue, C.Port(10**8, 3000, 16))
    assert [held[at] for at in expected[::2]] == expected[1::2]
    shown = said.said("selftest")
    assert "PASS" in shown
    for name in ("identity", "conversion", "queue words", "class table", "pool", "conservation", "memory"):
        assert re.search(rf"{name} +0;", shown), (name, shown)


@pytest.mark.guest
def test_a_refusal_is_no_error_of_the_card_but_in_its_diagnosis(said):
    assert "state healthy error 0" in said.said("card") and "state: answers" in said.said("diagnosis")
    assert "queue 0 was set through netlink" in said.said("diagnosis")


@pytest.mark.guest
def test_in_a_queue_of_tc_netlink_sets_what_tc_has_no_words_for(said):
    assert said.heard["given0"][:2] == said.heard["given-classes"][:2] == said.heard["weight"][:2] == (0, "-")
    error, text, _ = said.heard["limit"]
    assert error == 16 and "queue 0 is offloaded by tc" in text
    (shared,), (kept,) = said.heard["shared"][2], said.heard["kept"][2]
    assert shared["owner"] == kept["owner"] == "tc"
    assert (shared["limit"], kept["limit"]) == (400000, 300000)
    for reply in (shared, kept):
        assert reply["average-weight"] == {"num": 1, "den": 128, "tens": 0} and reply["spacing"] == "uniform"
        assert reply["green"]["min"] == 30000


@pytest.mark.guest
def test_what_netlink_has_set_stays_legal_when_tcs_limit_goes(said):
    assert said.heard["near"][:2] == (0, "-")
    (reply,) = said.heard["left"][2]
    assert (reply["owner"], reply["limit"], reply["victim"], reply["victim-window"]) == ("none", 0, "nearest", 0)
    assert reply["average-weight"] == {"num": 1, "den": 128, "tens": 0} and reply["spacing"] == "uniform"


@pytest.mark.guest
def test_loading_and_unloading_leaves_nothing_behind(said):
    assert grown(said.console) == []


@pytest.mark.guest
def test_a_card_that_is_removed_under_load_goes_quietly(said):
    assert {word for word in re.findall(r"^ended.(\w+)", said.console, re.M)} >= {"feed", "ethtool", "tc", "devlink"}
    assert (said.said("removed"), said.said("back"), said.said("unloaded")) == ("0", "1", "yes")
    assert splats(said.console.split("log-begins")[-1]) == []
