"""Stock tc in a guest against the RTL: what is offloaded, what the registers then hold, and that `tc -s` counts what the harness counts."""

import random

import pytest

from support import driver_bench, netlink_guest
from support.driver_bench import by_tc, counts, expected, talk
from support.headers import MACS
from support.nightly import nightly
from support.register_file import address
from support.tc_traffic import all_colours, capture, check_qdisc, feed, frame, red
from vermilion.guests import guest

pytestmark = pytest.mark.guest

DP = "limit 60000 min {low}000 max {high}000 burst 20 avpkt 1000 bandwidth 100mbit probability {p} prio {prio}"
TOP = 2**27 - 1
SEED = 71
STANDING = 40  # frames


@pytest.fixture(scope="module", autouse=True)
def machine():
    driver_bench.check_machine()


SETTINGS = """
red="avpkt 1000 burst 55 bandwidth 100mbit"
tc qdisc add dev $lane root handle 1: red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 100mbit
shadow add; counters add; owners add
tc qdisc change dev $lane root handle 1: red limit 300000 min 20000 max 60000 probability 0.1 $red
shadow change; counters change
tc qdisc replace dev $lane root handle 2: red limit 300000 min 20000 max 60000 probability 0.1 ecn harddrop $red
shadow replace; counters replace
tc qdisc change dev $lane root handle 2: red limit 300000 min 20000 max 60000 probability 0.1 ecn nodrop $red
shadow nodrop
tc qdisc change dev $lane root handle 2: red limit 200000000 min 20000 max 60000 probability 0.1 $red
shadow refused; counters refused; refused limit; owners refused
tc qdisc change dev $lane root handle 2: red limit 300000 min 20000 max 60000 probability 0.1 $red
shadow again; counters again
/bin/ethtool -K $lane hw-tc-offload off 2> /dev/null || echo "kept on"
tc qdisc del dev $lane root
shadow del; counters del; owners del
tc qdisc add dev $lane root handle 3: gred setup DPs 3 default 2 grio
tc qdisc change dev $lane root handle 3: gred DP 0 GREEN
tc qdisc change dev $lane root handle 3: gred DP 1 YELLOW
tc qdisc change dev $lane root handle 3: gred DP 2 RED
shadow gred; counters gred
tc qdisc replace dev $lane root handle 4: gred setup DPs 4 default 0
counters dps; refused dps; shadow dps
tc qdisc replace dev $lane root handle 9: tbf rate 10mbit burst 5000 limit 100000 mpu 64
counters mpu; refused mpu
tc qdisc replace dev $lane root handle 5: ets bands 3 strict 1 quanta 3000 4500
tc qdisc add dev $lane parent 5:2 handle 6: tbf rate 2mbit burst 5000 limit 100000
tc qdisc add dev $lane parent 6:1 handle 7: red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 100mbit
shadow band; counters tree; owners tree
tc qdisc replace dev $lane parent 5:2 handle 8: pfifo limit 10
shadow pfifo; counters pfifo; owners pfifo
tc qdisc del dev $lane root
shadow end; owners end
race() {
  tc qdisc add dev $lane root handle 1: red limit 300000 min 20000 max 60000 probability 0.1 $red
  echo 1 > /sys/bus/pci/devices/$device/reset & resetting=$!
  sleep $1
  tc qdisc del dev $lane root
  wait $resetting
}
for delay in 0.05 0.02 0.1 0 0.2 0.01 0.4 0.05 0.02 0.1 0 0.2 0.01 0.4 0.05 0.02 0.1 0 0.2 0.01 0.4 0.8; do
  race $delay
  refused race | grep 'being reset' && break
done
owners race; shadow race
rmmod vermilion && echo "unloaded"
splats settings
"""
# The second script meets a driver that holds nothing; the lane is as the first one left it, until it resets the card.
AGAIN = """
insmod /modules/vermilion.ko || echo failed /modules/vermilion.ko
lane=$(ls /sys/bus/pci/devices/$device/net)
ip link set $lane up
"""
COLOURS = {"GREEN": (15, 25, 0.02, 1), "YELLOW": (10, 20, 0.05, 2), "RED": (5, 15, 0.1, 3)}
for name, (low, high, p, prio) in COLOURS.items():
    SETTINGS = SETTINGS.replace(f" {name}\n", " " + DP.format(low=low, high=high, p=p, prio=prio) + "\n")


@pytest.mark.parametrize("said", ["6.12", nightly("6.1")], indirect=True)
def test_what_tc_says_is_in_the_registers(said):
    plain, mild = red(20000, 60000, 0.1), red(30000, 90000, 0.02, end=TOP)
    assert said.shadow("add") == by_tc(limit=400000, ecn=True, **all_colours(mild))
    assert said.shadow("change") == by_tc(limit=300000, **all_colours(plain))
    assert said.shadow("replace") == by_tc(limit=300000, ecn=True, **all_colours(plain))
    marks = {"curve": "tail", "ecn": plain}
    assert said.shadow("nodrop") == by_tc(limit=300000, ecn=True, **all_colours(marks))
    assert said.shadow("again") == said.shadow("change")
    none = expected()
    for name in ("refused", "del", "dps", "end"):
        assert said.shadow(name) == none, name
    for name in ("add", "change", "replace", "again", "gred"):
        assert [each["offloaded"] for each in said.qdiscs(name).values()] == [True], name
    for name in ("refused", "dps", "del"):
        assert not any(each.get("offloaded") for each in said.qdiscs(name).values()), name
    assert said.said("refused.limit") == "1 red 2: limit is 200000000; legal is 1B to 134217727B"
    assert said.said("refused.dps") == "2 gred 4: DPs is 4; legal is 1 to 3, the colours of a queue"
    assert said.said("refused.mpu").startswith("3 tbf 9: overhead, mpu or linklayer atm is given")
    assert not said.qdiscs("mpu")["9:"].get("offloaded")
    assert said.said("owners.add") == "port nobody,classes tc,queue 0 tc,"
    assert (
        said.said("owners.refused")
        == said.said("owners.del")
        == said.said("owners.end")
        == "port nobody,classes nobody,"
    )
    assert "kept on" in said.console
    curves = {
        colour: red(1000 * low, 1000 * high, p)
        for colour, (low, high, p, _) in zip(("green", "yellow", "red"), COLOURS.values(), strict=True)
    }
    assert said.shadow("gred") == by_tc(limit=180000, average={"kind": "rio-c"}, **curves)
    # What the shadow holds is the queue that was written last: the one of the new qdisc.
    shaped = {"quantum": 3000, "rate": 2_000_000, "burst": 5000}
    assert said.shadow("band") == by_tc(limit=400000, ecn=True, **shaped, **all_colours(mild))
    assert {name: each["kind"] for name, each in said.qdiscs("tree").items() if each.get("offloaded")} == {
        "5:": "ets", "6:": "tbf", "7:": "red"
    }  # fmt: skip
    assert said.said("owners.tree") == "port nobody,classes tc,queue 0 tc,queue 1 tc,queue 2 tc,"
    assert said.shadow("pfifo") == by_tc(quantum=3000)
    assert said.qdiscs("pfifo")["8:"]["offloaded"] and said.qdiscs("pfifo")["5:"]["offloaded"]
    # A qdisc that goes while the card is being reset: the driver cannot do as it is told at once, and does it behind the reset.
    assert "being reset" in said.said("refused.race")
    assert said.said("owners.race") == said.said("owners.end") and said.shadow("race") == none
    assert "unloaded" in said.console and said.said("splats.settings") == "0"


TRAFFIC = """
tc qdisc add dev $lane root handle 1: tbf rate 10mbit burst 5000 limit 100000
tc qdisc add dev $lane parent 1:1 handle 2: red limit 100000 min 15000 max 45000 avpkt 1000 burst 55 probability 0.1 ecn bandwidth 10mbit
resets() { dmesg | grep -c 'the lanes were reset'; }
before=$(resets)
echo 1 > /sys/bus/pci/devices/$device/reset && echo "was reset"
devmem $((registers + PORT_COST)) 32 0; devmem $((registers + SEEDED)) 32 0
until [ $(($(devmem $((registers + PORT_COST)) 32))) != 0 ]; do sleep 0.1; done
echo "mended $(($(resets) - before))"
devmem $((registers + PORT_COST)) 32 0
echo +4 > /sys/class/rtc/rtc0/wakealarm
echo mem > /sys/power/state && echo "woken $(devmem $((registers + PORT_COST)) 32)"
step 1
counters red; counters twice
tc qdisc replace dev $lane parent 1:1 handle 3: gred setup DPs 3 default 2 grio
tc qdisc change dev $lane parent 1:1 handle 3: gred DP 0 GREEN
tc qdisc change dev $lane parent 1:1 handle 3: gred DP 1 YELLOW
tc qdisc change dev $lane parent 1:1 handle 3: gred DP 2 RED
step 2
counters assured
tc qdisc replace dev $lane parent 1:1 handle 4: prio bands 3 priomap 2 2 2 1 0 0 0 0 0 0 0 0 0 0 0 0
tc qdisc add dev $lane parent 4:1 handle 5: red limit 20000 min 5000 max 15000 avpkt 1000 burst 55 probability 0.5 bandwidth 10mbit
step 3
counters prio
tc qdisc replace dev $lane parent 1:1 handle 6: red limit 400000 min 30000 max 30001 probability 1 avpkt 1000 burst 31 ecn bandwidth 10mbit
step 4
counters below
step 5
counters warm
step 6
counters above
step 7
counters final
tc qdisc replace dev $lane parent 1:1 handle 7: prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
tc qdisc add dev $lane parent 7:1 handle 8: red limit 400000 min 60000 max 90000 avpkt 1000 burst 90 bandwidth 10mbit
step 8
counters standing
tc qdisc change dev $lane parent 7:1 handle 8: red limit 400000 min 60000 max 95000 avpkt 1000 burst 90 bandwidth 10mbit
counters changed
netlink_send $lane < /clear
counters cleared
tc qdisc del dev $lane parent 7:1
counters orphaned
step 9
counters drained
tc qdisc del dev $lane root
counters gone
echo "interrupts $(grep vermilion /proc/interrupts)"
"""
for name, (low, high, p, prio) in COLOURS.items():
    TRAFFIC = TRAFFIC.replace(f" {name}\n", " " + DP.format(low=low, high=high, p=p, prio=prio) + "\n")
TRAFFIC = TRAFFIC.replace("PORT_COST", hex(address("port_cost"))).replace("SEEDED", hex(address("mark_seed", 3)))
GAP = 800_000  # ns of 1000 bytes at the 10 Mbit/s of the shaper


def steady(path, backlog, count):
    """ECN-capable frames of 1000 bytes: as many as shall be queued at once, then one in the time of one."""
    return capture(path, [frame(1000, ecn=2)] * count, GAP, burst=backlog // 1000)


class Traffic:
    """The captures that are fed at the steps of TRAFFIC, and what the harness counts between them."""

    def __init__(self, folder):
        rng = random.Random(SEED)
        frames = [frame(rng.randint(600, 1400), ecn=rng.choice([0, 0, 2])) for _ in range(3000)]
        mixed = capture(folder / "mixed.pcap", frames, GAP * 3 // 4)
        precedences = [frame(600 + 100 * (i % 7), dscp=(10, 12, 14, 0)[i % 4]) for i in range(2000)]
        assured = capture(folder / "assured.pcap", precedences, GAP // 3)
        other = MACS + b"\x88\xb5" + bytes(786)  # without IP: priority 0
        classes = [other if i % 9 == 8 else frame(800, dscp=8 * (i % 9)) for i in range(900)]
        classes = capture(folder / "classes.pcap", classes, GAP // 3)
        two_thirds, self.three_halves = (steady(folder / f"{n}.pcap", n, 2600) for n in (20000, 45000))
        self.at_once = capture(folder / "at_once.pcap", [frame(1000)] * STANDING, 0)
        self.seen = {}
        self.clear = netlink_guest.Talk()
        self.clear.say("clear", "statistics-clear")
        self.actions = [*map(feed, (mixed, assured, classes, two_thirds))]
        self.actions += [self.warm, self.above, self.rest, self.stand, self.rest]

    def files(self):
        return {"bin/netlink_send": (0o100755, netlink_guest.program("netlink_send")), "clear": self.clear.file()}

    def warm(self, device, control):
        control.ask("pause")
        control.ask("feed", capture=str(self.three_halves))
        control.ask("run", ns=1500 * GAP)
        self.seen["warm"] = counts(control)

    def above(self, device, control):
        control.ask("run", ns=1000 * GAP)
        self.seen["above"] = counts(control)

    def rest(self, device, control):
        control.ask("resume")
        control.ask("idle")
        self.seen.setdefault("final", counts(control))

    def stand(self, device, control):
        control.ask("pause")
        control.ask("feed", capture=str(self.at_once))
        control.ask("run", ns=2 * GAP)


@pytest.fixture(scope="module")
def said(request, tmp_path_factory, device_program):
    """One boot for each kernel, with traffic on 6.12 alone; between the two scripts the module is loaded anew."""
    folder, version = tmp_path_factory.mktemp("tc"), request.param
    if version != "6.12":
        return talk(version, device_program, SETTINGS, folder=folder)
    traffic = Traffic(folder)
    script = SETTINGS + AGAIN + TRAFFIC
    said = talk(version, device_program, script, *traffic.actions, folder=folder, more=traffic.files(), suspends=True)
    said.traffic = traffic
    return said


def difference(after, before):
    return {
        key: {name: tuple(a - b for a, b in zip(pair, before[key][name], strict=True)) for name, pair in parts.items()}
        for key, parts in after.items()
    }


@pytest.mark.parametrize("said", ["6.12"], indirect=True)
def test_tc_counts_what_the_harness_counts_and_marks_as_the_kernels_selftest_asks(said):
    seen, clear = said.traffic.seen, said.traffic.clear
    after = said.results[:4]
    queue = lambda counters, number=0: [counters[number, colour] for colour in range(3)]

    def shown(name, handle):
        return said.qdiscs(name)[handle]

    # Behind a reset of the function the driver has written everything again: there is a shaper, and early verdicts fall.
    assert "was reset" in said.console and said.said("mended") == "1"
    assert int(said.said("woken"), 16)
    check_qdisc(shown("red", "2:"), queue(after[0]))
    check_qdisc(shown("red", "1:"), queue(after[0]))
    assert shown("red", "2:")["marked"] > 20 and shown("red", "2:")["early"] > 20
    assert said.qdiscs("twice") == said.qdiscs("red"), "asking counts"

    dps = difference(after[1], after[0])
    for colour, vq in enumerate(shown("assured", "3:")["options"]["vqs"]):
        part = dps[0, colour]
        assert (vq["packets"], vq["bytes"]) == part["sent"]
        assert (vq["forced_drop"], vq["prob_drop"]) == (part["forced"][0], part["early"][0])
        assert vq["pdrop"] == part["tail"][0] + part["nobuf"][0]
    assert [dps[0, colour]["arrived"][0] for colour in range(3)] == [500, 500, 1000]
    assert dps[0, 2]["forced"][0] + dps[0, 2]["early"][0] > 50
    check_qdisc(shown("assured", "3:"), queue(dps))

    bands = difference(after[2], after[1])
    assert [bands[band, 0]["arrived"][0] for band in range(3)] == [400, 100, 400]
    check_qdisc(shown("prio", "5:"), queue(bands))
    check_qdisc(shown("prio", "4:"), [part for band in range(3) for part in queue(bands, band)])
    assert shown("prio", "5:")["drops"] > 20

    below = queue(difference(after[3], after[2]))
    check_qdisc(shown("below", "6:"), below)
    assert below[0]["arrived"][0] == 2600 and shown("below", "6:")["marked"] == 0
    # The clock goes on with every access of the guest's, so tc may see a packet more than the harness did just before.
    steady_for = seen["above"][0, 0]["arrived"][0] - seen["warm"][0, 0]["arrived"][0]
    marked = shown("above", "6:")["marked"] - shown("warm", "6:")["marked"]
    assert steady_for > 950 and 0.95 * steady_for <= marked <= steady_for + 1
    assert 40000 < shown("above", "6:")["backlog"] < 50000
    check_qdisc(shown("final", "6:"), queue(difference(seen["final"], after[2])))
    # What stands in a queue outlives the counters, and leaves those above once with the qdisc that had it.
    assert clear.heard(said.console)["clear"][:2] == (0, "-")
    for handle in ("7:", "1:"):
        most = {"backlog": 1000 * STANDING, "qlen": STANDING}
        for name in ("standing", "changed", "cleared", "orphaned"):
            assert shown(name, handle)["offloaded"]
            for what, bound in most.items():
                assert bound / 4 < shown(name, handle)[what] <= bound, (name, handle, what)
            if name != "orphaned":
                assert shown(name, "8:")["backlog"] >= shown(name, handle)["backlog"] / 2
        assert (shown("drained", handle)["backlog"], shown("drained", handle)["qlen"]) == (0, 0)
    assert sum(map(int, said.said("interrupts").split()[1 : 1 + guest.CPUS])) == len(said.traffic.actions)
    assert said.said("splats.end") == "0"
