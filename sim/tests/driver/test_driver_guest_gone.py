"""The driver unbound, and the RTL's process killed, under tc at work: an error with a sentence within seconds, no splat, no hang, and everything can still be taken down."""

import errno
import time

import pytest

from support import driver_bench
from support.driver_bench import talk
from support.lost_link import LostLink
from support.netlink_guest import Talk, program

pytestmark = pytest.mark.guest

SCRIPT = """
red="limit 400000 max 90000 avpkt 1000 burst 55 ecn bandwidth 100mbit"
busy() {
  while [ ! -e /tmp/over ]; do
    /bin/tc -s qdisc show dev $lane > /tmp/last 2>&1
    /bin/tc qdisc replace dev $lane root handle 1: red min $1 $red > /tmp/last 2>&1
  done
}
busy 30000 & one=$!
busy 40000 & two=$!
for round in 1 2 3 4 5; do
  sleep 0.3
  echo $device > /sys/bus/pci/drivers/vermilion/unbind
  echo $device > /sys/bus/pci/drivers/vermilion/bind
done
echo > /tmp/over
wait $one $two
rm /tmp/over
echo "bound $(ls -d /sys/bus/pci/drivers/vermilion/$device/net/*)"
ip link set $lane up
tc qdisc replace dev $lane root handle 1: red min 30000 $red
counters before
echo "carrier.before $(cat /sys/class/net/$lane/carrier)"
busy 30000 & one=$!
busy 40000 & two=$!
step 1
echo "seconds.began $(cut -d. -f1 /proc/uptime)"
while [ $(cat /sys/class/net/$lane/carrier) = 1 ]; do sleep 0.1; done
echo "seconds.seen $(cut -d. -f1 /proc/uptime)"
echo > /tmp/over
wait $one $two
counters behind
tc qdisc change dev $lane root handle 1: red min 50000 $red
counters changed
netlink_send $lane < /dump
refused last
tc qdisc del dev $lane root
echo "sentence $(dmesg | grep -c 'does not answer')"
rmmod vermilion && echo "unloaded"
insmod /modules/vermilion.ko
ls /sys/bus/pci/drivers/vermilion/$device 2> /dev/null || echo "not bound"
echo "second $(dmesg | grep vermilion | tail -n 2 | tr '\\n' ';')"
"""


@pytest.fixture(scope="module", autouse=True)
def machine():
    driver_bench.check_machine()


def test_a_driver_taken_off_at_work_and_a_card_that_dies_at_work_end_in_a_sentence(tmp_path, device_program):
    links = []

    def through(socket):
        links.append(LostLink(socket))
        return links[0].path

    def kill(device, control):
        time.sleep(0.7)  # while the guest's two loops are at it
        device.process.kill()
        device.process.wait()

    dump = Talk()
    dump.say("lanes", "lane-get", "dump", raw="")
    dump.say("lane", "lane-get")
    more = {"bin/netlink_send": (0o100755, program("netlink_send")), "dump": dump.file()}
    said = talk("6.12", device_program, SCRIPT, kill, folder=tmp_path, through=through, more=more)
    heard = dump.heard(said.console)
    error, _, (lane,) = heard["lanes"]  # all that the driver knows without the card
    assert error == 0 and lane["capabilities"]["queues"] == 16 and not lane.get("lost")
    assert heard["lane"][0] == errno.ENODEV and "does not answer" in heard["lane"][1]
    assert links[0].lost and links[0].alone > 0
    assert "/net/" in said.said("bound")
    assert said.qdiscs("before")["1:"]["offloaded"] and said.said("carrier.before") == "1"
    seen = int(said.said("seconds.seen")) - int(said.said("seconds.began"))
    assert seen <= 5
    for name in ("behind", "changed"):
        assert not said.qdiscs(name)["1:"].get("offloaded"), name
    assert "the card does not answer: reads give all ones" in said.said("refused.last")
    assert int(said.said("sentence")) >= 1
    assert "unloaded" in said.console and "not bound" in said.console
    assert said.said("splats.end") == "0"
