"""The driver on the application of a NIC: an auxiliary device whose parent is the NIC's PCI function, with the lane's registers in BAR 2.

Corundum's own driver is not there: `sw_driver/tests/mqnic` stands in for it. The function is the RTL in simulation, with the identity and the BARs of
a Corundum NIC (`vermilion-device --nic`).
"""

import json
import re

import pytest

from support import driver_bench
from support.driver_bench import by_tc, talk, warnings
from support.nightly import nightly
from support.tc_traffic import COLOURS, EVENTS, all_colours, capture, check_qdisc, feed, frame, red
from vermilion.guests import driver_guest

pytestmark = pytest.mark.guest

TOP = 2**27 - 1
SCRIPT = """
red="red limit 100000 min 15000 max 45000 avpkt 1000 burst 55 ecn bandwidth 100mbit"
echo "bound $(basename $(readlink -f /sys/bus/auxiliary/devices/$card/driver)) $(basename $(readlink -f /sys/class/net/$lane/device))"
tc qdisc add dev $lane root handle 1: tbf rate 10mbit burst 5000 limit 100000
tc qdisc add dev $lane parent 1:1 handle 2: $red
shadow add; owners add
step 1
counters fed
echo "stats $(ethtool -S $lane | sed -n 's/^ *\\(.*\\): \\([0-9]*\\)$/\\1=\\2/p' | tr '\\n' ' ')"
echo "selftest $(ethtool -t $lane | tr '\\n\\t' '; ')"
echo "driver $(ethtool -i $lane | tr '\\n' ';')"
echo "info $(devlink -j dev info | tr -d '\\n')"
busy() { while "$@" > /dev/null 2>&1; do echo > /tmp/busy.$(basename $1); done; echo "ended.$(basename $1)"; }
change() { /bin/tc qdisc change dev $lane parent 1:1 handle 2: $red && /bin/tc -s qdisc show dev $lane; }
under_load() {
  lane=$(ls /sys/bus/pci/devices/$device/$card/net)
  ip link set $lane up
  /bin/tc qdisc add dev $lane root handle 1: tbf rate 10mbit burst 5000 limit 100000
  /bin/tc qdisc add dev $lane parent 1:1 handle 2: $red
  rm -f /tmp/busy.*
  busy change & busy ethtool -S $lane & busy devlink sb occupancy snapshot auxiliary/$card &
  until [ -e /tmp/busy.change -a -e /tmp/busy.ethtool -a -e /tmp/busy.devlink ]; do sleep 0.1; done
  eval "$1"
  wait
  echo "lanes.$2 $(ls /sys/bus/pci/devices/$device/$card/net 2> /dev/null | wc -l)"
}
tc qdisc del dev $lane root
under_load 'echo $device > /sys/bus/pci/drivers/mqnic/unbind' device
echo $device > /sys/bus/pci/drivers/mqnic/bind
under_load 'echo $card > /sys/bus/auxiliary/drivers/vermilion.vermilion/unbind' driver
echo $card > /sys/bus/auxiliary/drivers/vermilion.vermilion/bind
under_load 'rmmod mqnic' nic
insmod /modules/mqnic.ko
lane=$(ls /sys/bus/pci/devices/$device/$card/net)
ip link set $lane up
tc qdisc add dev $lane root handle 3: $red
shadow again; counters again
rmmod vermilion && echo "unloaded $(ls /sys/bus/pci/devices/$device/$card/net 2> /dev/null | wc -l)"
insmod /modules/vermilion.ko && echo "loaded $(ls /sys/bus/pci/devices/$device/$card/net | wc -l)"
rmmod vermilion; rmmod mqnic && echo "ended nic"
"""


@pytest.fixture(scope="module", autouse=True)
def machine():
    driver_bench.check_machine()


@pytest.fixture(
    scope="module", params=["6.12", nightly("6.1")]
)  # on 6.1, every run has tc and netlink of the card alone
def said(request, tmp_path_factory, device_program):
    folder, version = tmp_path_factory.mktemp("nic"), request.param
    module = driver_guest.nic_module(version)
    assert warnings(module.parents[1] / "make.log") == []
    frames = [frame(1000, ecn=2 * (i % 3 == 0)) for i in range(800)]
    busy = capture(folder / "busy.pcap", frames, 600_000)
    return talk(
        version, device_program, SCRIPT, feed(busy), folder=folder, options=["--nic"], load=driver_guest.LOAD_NIC,
        more={"modules/mqnic.ko": (0o100644, module.read_bytes())},
    )  # fmt: skip


def test_the_auxiliary_device_is_bound_and_its_lane_has_a_netdev(said):
    assert said.said("bound") == "vermilion.vermilion mqnic.app_564d0001.0"
    (where,) = json.loads(said.said("info"))["info"]
    assert where == "auxiliary/mqnic.app_564d0001.0"
    assert "driver: vermilion" in said.said("driver") and "bus-info: mqnic.app_564d0001.0" in said.said("driver")


def test_tc_is_in_the_registers_and_counts_what_the_harness_counts(said):
    mild = red(15000, 45000, 0.02, end=TOP)
    assert said.shadow("add") == by_tc(port=10**7, limit=100000, ecn=True, **all_colours(mild))
    assert said.said("owners.add") == "port tc,classes tc,queue 0 tc,"
    (harness,) = said.results
    parts = [harness[0, colour] for colour in range(3)]
    assert sum(part["arrived"][0] for part in parts) == 800
    assert sum(part["marked"][0] + part["early"][0] for part in parts) > 10
    for handle in ("1:", "2:"):
        check_qdisc(said.qdiscs("fed")[handle], parts)
    shown = dict(part.split("=") for part in said.said("stats").split())
    for colour, part in zip(COLOURS, parts, strict=True):
        for event, name in EVENTS.items():
            word = f"q0.{colour}.{event}"
            assert (int(shown[word + ".packets"]), int(shown[word + ".bytes"])) == part[name], word
    assert "PASS" in said.said("selftest")


def test_it_goes_under_load_and_comes_back_whoever_takes_it_away(said):
    for name in ("device", "driver", "nic"):
        assert said.said(f"lanes.{name}") == "0"
    assert re.findall(r"^ended\.(\w+)", said.console, re.M).count("ethtool") == 3
    mild = red(15000, 45000, 0.02, end=TOP)
    assert said.shadow("again") == by_tc(limit=100000, ecn=True, **all_colours(mild))
    assert said.qdiscs("again")["3:"]["offloaded"]
    assert said.said("unloaded") == "0" and said.said("loaded") == "1" and said.said("ended nic") == ""


def test_the_log_has_no_fault_of_the_kernels(said):
    assert said.said("splats.end") == "0"
