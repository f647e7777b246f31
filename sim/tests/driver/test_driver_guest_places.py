"""Stock tc in a guest: where in the tree a qdisc may be, what the fifos do, which weight averages have, and every setting of gred, prio and ets.

`shadow` prints the record of the queue that the driver has written last.
"""

import json

import pytest

from support import driver_bench
from support.driver_bench import by_tc, expected, talk
from support.nightly import nightly
from support.tc_traffic import all_colours, red

pytestmark = pytest.mark.guest

TOP = 2**27 - 1
DPS = "limit 50000 min {low}000 max 40000 burst 20 avpkt 1000 bandwidth 100mbit probability 0.1 prio {prio}"
SCRIPT = """
red="red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 100mbit"
more="red limit 300000 min 20000 max 60000 probability 0.1 avpkt 1000 burst 55 bandwidth 100mbit"
counters() { echo "counters.$1 $(/bin/tc -s -j qdisc show dev $lane)"; }
hidden() { echo "hidden.$1 $(/bin/tc -j qdisc show dev $lane invisible)"; }
says() { word=$1; shift; echo "$word $("$@" 2>&1 | tr '\\n' ' ')."; }
average() { says average.$1 devlink dev param set pci/$device name average_packets value $2 cmode runtime; }

tc qdisc add dev $lane root handle 1: tbf rate 10mbit burst 5000 limit 100000
hidden alone
tc qdisc add dev $lane parent 1: handle 2: $red
counters minor; hidden minor
tc qdisc add dev $lane parent 2:7 handle 3: bfifo limit 50000
counters named; hidden named
tc qdisc change dev $lane parent 2:7 handle 3: bfifo limit 60000
counters larger
tc qdisc change dev $lane parent 1: handle 2: $more
hidden changed; shadow changed
tc qdisc replace dev $lane parent 1:1 handle 4: tbf rate 2mbit burst 4000 limit 100000
tc qdisc add dev $lane parent 4: handle 5: $red
shadow below; hidden below; owners below
tc qdisc replace dev $lane parent 4: handle 6: tbf rate 1mbit burst 4000 limit 100000
counters third; refused third; shadow third
tc qdisc del dev $lane root
tc qdisc add dev $lane root handle 1: $red
tc qdisc add dev $lane parent 1:1 handle 2: tbf rate 3mbit burst 4000 limit 100000
shadow shaped; hidden shaped
tc qdisc add dev $lane parent 2:1 handle 3: pfifo limit 20
hidden chain
tc qdisc replace dev $lane parent 2:1 handle 4: $red
counters twice; refused twice
tc qdisc del dev $lane root; owners none
tc qdisc add dev $lane root handle 1: pfifo limit 10
counters fifo; owners fifo
tc qdisc replace dev $lane root handle 2: drr
tc class add dev $lane parent 2: classid 2:1 drr
tc qdisc add dev $lane parent 2:1 handle 3: bfifo
counters drr; owners drr; refused drr
tc qdisc del dev $lane root

tc qdisc add dev $lane root handle 1: gred setup DPs 3 default 1
tc qdisc change dev $lane root handle 1: gred DP 0 DP0 ecn
tc qdisc change dev $lane root handle 1: gred DP 1 DP1 ecn
tc qdisc change dev $lane root handle 1: gred DP 2 DP2 ecn harddrop
shadow apart
tc qdisc del dev $lane root
tc qdisc add dev $lane root handle 1: gred setup DPs 3 default 1 grio
tc qdisc change dev $lane root handle 1: gred DP 0 SAME
tc qdisc change dev $lane root handle 1: gred DP 1 SAME
tc qdisc change dev $lane root handle 1: gred DP 2 SAME
shadow wred
tc qdisc del dev $lane root
tc qdisc add dev $lane root handle 1: $red harddrop nodrop
shadow nodrop

tc qdisc replace dev $lane root handle 4: prio bands 3 priomap 2 2 2 1 0 0 0 0 0 0 0 0 0 0 0 0
shadow band2; hidden prio
tc qdisc add dev $lane parent 4:1 handle 5: $red
shadow band0
tc qdisc add dev $lane parent 4:2 handle 6: bfifo limit 10000
shadow band1; counters bands
tc qdisc del dev $lane parent 4:2
shadow freed; hidden freed
tc qdisc del dev $lane root

average value 256; says shown devlink -j dev param show pci/$device name average_packets
average least 0; average most 32769
tc qdisc add dev $lane root handle 1: ets bands 16
tc qdisc add dev $lane parent 1:10 handle 2: $red
shadow slow
average fast 1
shadow fast
devlink sb pool set pci/$device pool 0 size 65536 thtype dynamic
devlink sb tc bind set $lane tc 15 type egress pool 0 th 12
average half 2
shadow both
tc qdisc del dev $lane root
shadow left
resets() { dmesg | grep -c 'the lanes were reset'; }
echo 1 > /sys/bus/pci/devices/$device/reset && echo "was reset"
shadow reset
average end 1
"""
for dp, (low, prio) in enumerate(((15, 1), (10, 2), (5, 3))):
    SCRIPT = SCRIPT.replace(f"DP{dp}", DPS.format(low=low, prio=prio))
SCRIPT = SCRIPT.replace("SAME", DPS.format(low=20, prio=4))


@pytest.fixture(scope="module", params=["6.12", nightly("6.1")])
def said(request, tmp_path_factory, device_program):
    driver_bench.check_machine()
    return talk(request.param, device_program, SCRIPT, folder=tmp_path_factory.mktemp("places"))


def hidden(said, name) -> dict[tuple, bool]:
    """{(kind, parent): whether it is offloaded} of all qdiscs, also those that Linux has made by itself."""
    every = json.loads(said.said(f"hidden.{name}"))
    return {(each["kind"], each.get("parent", "root")): each.get("offloaded", False) for each in every}


MILD, PLAIN = all_colours(red(30000, 90000, 0.02, end=TOP)), all_colours(red(20000, 60000, 0.1))
CHILD = {"port": 10**7, "limit": 300000}


def test_tbf_takes_a_child_at_any_minor(said):
    assert said.qdiscs("minor")["2:"]["offloaded"]
    assert hidden(said, "alone") == {("tbf", "root"): True, ("bfifo", "1:1"): True}
    assert hidden(said, "minor") == {("tbf", "root"): True, ("red", "1:"): True, ("bfifo", "2:1"): True}


def test_a_fifo_below_red_is_offloaded_and_goes_with_a_change_of_red(said):
    """Linux gives red a new fifo with each change."""
    for name in ("named", "larger"):
        assert {handle: each["offloaded"] for handle, each in said.qdiscs(name).items()} == dict.fromkeys(
            ("1:", "2:", "3:"), True
        )
    assert hidden(said, "changed") == {("tbf", "root"): True, ("red", "1:"): True, ("bfifo", "2:1"): True}
    assert said.shadow("changed") == by_tc(**CHILD, **PLAIN)


def test_a_tbf_below_a_tbf_shapes_the_queue_and_the_one_above_the_port(said):
    below = by_tc(port=10**7, limit=400000, ecn=True, rate=2_000_000, burst=4000, **MILD)
    assert said.shadow("below") == below
    assert set(hidden(said, "below").values()) == {True} and len(hidden(said, "below")) == 4
    assert said.said("owners.below") == "port tc,classes tc,queue 0 tc,"
    assert "a lane has no such qdisc under class 4:1" in said.said("refused.third")
    assert [each.get("offloaded") for each in said.qdiscs("third").values()] == [True, True, None]
    assert said.shadow("third") == by_tc(port=10**7, rate=2_000_000, burst=4000)


def test_a_tbf_below_red_shapes_its_queue(said):
    assert said.shadow("shaped") == by_tc(limit=400000, ecn=True, rate=3_000_000, burst=4000, **MILD)
    for name in ("shaped", "chain"):
        assert set(hidden(said, name).values()) == {True} and len(hidden(said, name)) == 3
    assert not said.qdiscs("twice")["4:"].get("offloaded")
    assert "red 4: a lane has no such qdisc under class 2:1" in said.said("refused.twice")


def test_a_fifo_at_the_root_has_all_packets(said):
    assert said.qdiscs("fifo")["1:"]["offloaded"]
    assert said.said("owners.fifo") == "port nobody,classes tc,queue 0 tc,"
    assert said.said("owners.none") == said.said("owners.drr") == "port nobody,classes nobody,"
    assert said.said("refused.drr") == said.said("refused.twice"), "a fifo below another qdisc is no refusal"


def test_gred_has_the_average_the_limit_and_the_flags_of_its_dps(said):
    curves = {
        colour: red(1000 * low, 40000, 0.1, **end)
        for colour, low, end in (("green", 15, {"end": TOP}), ("yellow", 10, {"end": TOP}), ("red", 5, {}))
    }
    assert said.shadow("apart") == by_tc(limit=150000, ecn=True, average={"kind": "rio-dc"}, **curves)
    same = all_colours(red(20000, 40000, 0.1))
    assert said.shadow("wred") == by_tc(limit=50000, average={"kind": "wred"}, **same)


def test_nodrop_with_harddrop_marks_below_max_and_drops_all_above(said):
    both = {"ecn": red(30000, 90000, 0.02), **red(30000, 90000, 0)}
    assert said.shadow("nodrop") == by_tc(limit=400000, ecn=True, **all_colours(both))


def test_the_first_band_of_prio_has_the_highest_priority(said):
    assert said.shadow("band2") == by_tc(priority=5)
    assert said.shadow("band0") == by_tc(priority=7, limit=400000, ecn=True, **MILD)
    assert said.shadow("band1") == said.shadow("freed") == by_tc(priority=6)
    assert {handle for handle, each in said.qdiscs("bands").items() if each["offloaded"]} == {"4:", "5:", "6:"}
    for name in ("prio", "freed"):
        assert set(hidden(said, name).values()) == {True}, name


def test_the_weight_of_tcs_averages_is_a_parameter_of_the_card(said):
    last = {"limit": 400000, "ecn": True, "quantum": 1514} | MILD
    assert said.said("average.value") == said.said("average.fast") == "."
    (shown,) = json.loads(said.said("shown").removesuffix("."))["param"].values()
    assert shown[0]["values"] == [{"cmode": "runtime", "value": 256}]
    for name in ("least", "most"):
        assert "average_packets: legal is 1 to 32768" in said.said(f"average.{name}")
    assert said.shadow("slow") == expected(**last, average={"weight": 0.00390625})
    assert said.shadow("fast") == by_tc(**last)
    assert said.shadow("both") == expected(**last, alpha=4, average={"weight": 0.5})


def test_a_setting_of_netlinks_in_the_last_queue_outlives_tc_and_a_reset(said):
    """After a reset the driver writes all queues, the last one at the end."""
    assert said.shadow("left") == said.shadow("reset") == expected(alpha=4)
    assert "was reset" in said.console and said.said("splats.end") == "0"
