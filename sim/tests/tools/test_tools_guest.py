"""vermilionctl on the real module: it runs here, its netlink messages go to the kernel of a guest whose card is the RTL. And what that kernel tells of changes."""

import json
import re
import tempfile
from pathlib import Path

import pytest

from support import driver_bench
from support.captures import pcap
from support.driver_bench import counts, talk
from support.frames import mixed
from support.netlink_guest import MESSAGES, program
from support.netlink_guest import Talk as Messages
from support.tc_traffic import COLOURS, EVENTS, NETLINK, RED
from support.tool_cards import ctl
from vermilion.commands.card_commands import register_lines
from vermilion.configuration import config_file, egresses
from vermilion.guests import driver_guest
from vermilion.guests.netlink_relay import Relay
from vermilion.toolchain import build
from vermilionctl import netlink, registers

pytestmark = pytest.mark.guest

SHAPERS = """
[port]
rate = "2Gbit"

[pool]
size = "150KB"

[[queue]]
name = "assured"
alpha = 2
dscp = { green = ["AF11"], yellow = ["AF12"], red = ["AF13"] }
limit = "180KB"
average = { kind = "rio-c" }
rate = "300Mbit"
ecn = true
green = { curve = "red", min = "15KB", max = "25KB", p = 0.02 }
yellow = { curve = "gentle", min = "10KB", max = "20KB", p = 0.05 }
red = { curve = "exred", min = "5KB", max = "15KB", p = 0.05 }

[[queue]]
name = "steps"
dscp = ["EF"]
priority = 7
limit = "20KB"
average = { update = "both" }
rate = "64kbit"
burst = "9KB"

[[queue]]
name = "default"
dscp = ["default"]
limit = "100KB"
"""
CONFIGS = ("shapers", "markers", "default")  # the last one stays
FRAMES = 600
SHOWN = {event: name.replace("-", "_") for event, name in NETLINK.items()}  # name in ethtool: name in `stats --json`
LANE = ("port_cost", "port_burst_low", "port_burst_high", "control", "ttl_option", "pool_size")
SCRIPT = """
LANE() { echo "lane.$1ADDRESSES"; }
listen() { netlink_listen > /tmp/told & listener=$!; until grep -q joined /tmp/told; do sleep 0.1; done; }
heard() { kill $listener; wait $listener; echo "heard.$1 $(sed -n 's/^told //p' /tmp/told | tr '\\n' ';')"; }
echo "ifindex $(cat /sys/class/net/$lane/ifindex)"
netlink_relay /dev/ttyS1
step 1
LANE shapers
step 2
LANE markers
step 3
LANE default
step 4
netlink_send $lane < /free
step 5
listen; tc qdisc add dev $lane root handle 1: RED; heard add
step 6
listen; tc qdisc change dev $lane root handle 1: MORE; heard change
listen; tc qdisc change dev $lane root handle 1: WRONG; heard refused
listen; tc qdisc change dev $lane root handle 1: MORE; heard again
listen; tc qdisc del dev $lane root; heard del
listen; tc qdisc add dev $lane root handle 1: WRONG; tc qdisc del dev $lane root; heard never
listen; tc qdisc add dev $lane root handle 2: prio bands 3; heard bands
listen; tc qdisc add dev $lane parent 2:2 handle 3: RED; heard band
listen; tc qdisc del dev $lane root; heard none
listen; netlink_send $lane < /changes; heard netlink
listen; netlink_send $lane < /refused; heard nothing
listen
step 7
heard tool
netlink_send $lane < /option
echo "reset $(echo 1 > /sys/bus/pci/devices/$device/reset && echo yes)"
LANE reset
netlink_send $lane < /kept
"""


def script() -> str:
    words = "".join(f" $(devmem $((registers + {registers.at(name)})) 32)" for name in LANE)
    text = SCRIPT.replace("ADDRESSES", words).replace("LANE", "lane_registers")
    return (
        text.replace("RED", RED)
        .replace("MORE", RED.replace("90000", "80000"))
        .replace("WRONG", RED.replace("400000", "200000000"))
    )


class Tools:
    """What the tools say, by a word of the test's."""

    def __init__(self, folder: Path, serial: Path):
        self.folder, self.serial, self.relay, self.said = folder, serial, None, {}
        self.files = {name: build.ROOT / f"sim/configs/{name}.toml" for name in CONFIGS[1:]}
        self.files["shapers"] = folder / "shapers.toml"
        self.files["shapers"].write_text(SHAPERS)
        self.capture = pcap(folder / "in.pcap", mixed(FRAMES))

    def reach(self, _interface):
        index = int(re.search(rb"^ifindex (\d+)\r?$", (self.folder / "console").read_bytes(), re.M)[1])
        return index, {"use_socket": self.relay.fresh()}

    def ctl(self, word: str, *words):
        self.said[word] = ctl("netlink:lane", *words)

    def before(self):
        self.relay = Relay(self.serial)
        self.ctl("fresh.show", "show", "--json")
        self.ctl("fresh.text", "show")
        self.ctl("fresh.dump", "dump")
        self.ctl("fresh.set", "set", "0", "limit=50KB")
        self.ctl("fresh.again", "show", "0", "--json")

    def applied(self, name):
        self.ctl(f"{name}.apply", "apply", self.files[name])
        self.ctl(f"{name}.dump", "dump")
        self.ctl(f"{name}.json", "dump", "--json")
        self.ctl(f"{name}.show", "show", "--json")

    def actions(self):
        def first(device, control):
            self.before()
            self.applied("shapers")

        def second(device, control):
            self.applied("markers")

        def third(device, control):
            self.applied("default")

        def traffic(device, control):
            control.ask("feed", capture=str(self.capture), rate=1e8)
            control.ask("idle")
            harness = counts(control)
            self.ctl("stats", "stats", "--json")
            self.ctl("stats.text", "stats", "1")
            self.ctl("watch", "watch", "--count", "2", "--every", "0.05", "--json")
            self.ctl("clear", "stats", "--clear", "--json")
            self.ctl("cleared", "stats", "--json")
            self.ctl("set", "set", "1", "yellow.min=12KB", "spacing=wait")
            self.ctl("set.port", "set", "port", "rate=90Mbit", "burst=20KB")
            self.ctl("set.class", "set", "class", "AF12=3,yellow", "no-ip=2")
            self.ctl("wrong.field", "set", "1", "yelow.min=1")
            self.ctl("wrong.value", "set", "1", "yellow.min=90KB")
            self.ctl("wrong.queue", "stats", "16")
            self.ctl("behind", "show", "--json")
            return harness

        def freed(device, control):
            self.ctl("freed", "show", "--json")

        def owned(device, control):
            self.ctl("tc.apply", "apply", self.files["default"])
            self.ctl("tc.limit", "set", "0", "limit=50KB")
            self.ctl("tc.weight", "set", "0", "average.weight=1/128")
            self.ctl("tc.show", "show", "--json")

        def told(device, control):
            self.ctl("told.apply", "apply", self.files["default"])
            self.ctl("told.set", "set", "3", "limit=70KB")
            self.ctl("told.same", "set", "3", "limit=70KB")
            self.ctl("told.wrong", "set", "3", "green.min=90KB", "green.curve=red")

        return [first, second, third, traffic, freed, owned, told]


def messages() -> dict[str, Messages]:
    out = {name: Messages() for name in ("free", "changes", "refused", "option", "kept")}
    for queue in range(16):
        out["free"].say(f"free{queue}", "queue-reset", queue=queue)
    out["free"].say("free-classes", "class-reset")
    out["free"].say("free-port", "lane-set", rate=0)
    out["changes"].say("one", "queue-set", queue=5, limit=9000)
    out["changes"].say("two", "queue-set", queue=5, ecn=1, limit_packets=7)
    out["changes"].say("class", "class-set", entry=[{"dscp": 1, "queue": 5, "colour": "green"}])
    out["changes"].say("port", "lane-set", rate=10**9)
    out["changes"].say("get", "queue-get", queue=5)
    out["changes"].say("back", "queue-reset", queue=5)
    out["refused"].say("bad1", "queue-set", queue=5, ecn=2)
    out["refused"].say("bad2", "queue-set", queue=16, ecn=1)
    out["refused"].say("bad3", "queue-set", queue=5, average_weight={"num": 1, "den": 0})
    out["refused"].say("bad4", "queue-reset", queue=16)
    out["option"].say("option", "lane-set", option_ip4=158, option_ip6=30, queues=5, pool_bytes=100_000)
    out["option"].say("too-many", "lane-set", queues=17)
    out["kept"].say("kept", "lane-get")
    return out


@pytest.fixture(scope="module")
def said(tmp_path_factory, device_program):
    driver_bench.check_machine()
    driver_guest.files("6.12")  # built before the device begins to wait
    folder, spoken = tmp_path_factory.mktemp("tools"), messages()
    names = ("netlink_send", "netlink_relay", "netlink_listen")
    files = {f"bin/{name}": (0o100755, program(name)) for name in names}
    files |= {name: each.file() for name, each in spoken.items()}
    with tempfile.TemporaryDirectory() as short, pytest.MonkeyPatch.context() as patch:
        tools = Tools(folder, Path(short) / "serial")
        patch.setattr(netlink, "reach", tools.reach)
        out = talk(
            "6.12", device_program, script(), *tools.actions(), folder=folder, more=files, serial=tools.serial
        )  # fmt: skip
        tools.relay.close()
    out.tools, out.files, out.heard = tools.said, tools.files, {}
    for each in spoken.values():
        out.heard |= each.heard(out.console)
    return out


def done(said, word) -> str:
    status, text = said.tools[word]
    assert status == 0, (word, text)
    return text


def lane_of(dumped: str) -> dict[str, int]:
    rows = [line.split() for line in dumped.splitlines() if line.startswith("lane ")]
    return {name: int(value, 16) for _, name, value in rows}


def test_a_card_that_nobody_has_set_is_shown_and_can_be_set(said):
    shown = json.loads(done(said, "fresh.show"))
    assert shown["port"] == {"rate": 0, "burst": 0} and list(shown["queues"]) == ["0"]
    assert shown["capabilities"]["queues"] == 16 and shown["lanes"] == 1
    assert "not shaped" in done(said, "fresh.text")
    assert lane_of(done(said, "fresh.dump")) == dict.fromkeys(LANE, 0)
    assert done(said, "fresh.set") == ""
    assert json.loads(done(said, "fresh.again"))["settings"]["limit"] == "50000"


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_applied_is_what_check_prints_and_what_the_card_holds(said, name):
    asked = config_file.load(said.files[name])
    markers = len(asked.marker)
    assert done(said, f"{name}.apply") == f"applied {said.files[name]}: {len(asked.queue)} queues, {markers} markers\n"
    wanted = [line for line in register_lines(egresses.load(said.files[name], egresses.Build())) if "seed[" not in line]
    assert done(said, f"{name}.dump").splitlines() == wanted
    parts = json.loads(done(said, f"{name}.json"))
    assert registers.lines(parts) == wanted
    held = [int(word, 16) for word in said.said(f"lane.{name}").split()]
    assert dict(zip(LANE, held, strict=True)) == lane_of(done(said, f"{name}.dump"))
    shown = json.loads(done(said, f"{name}.show"))
    assert sorted(map(int, shown["queues"])) == sorted(queue.index for queue in asked.queue)
    assert shown["port"]["rate"] == asked.port.rate


def at_rest(queue) -> dict:
    """Counters without what time alone moves."""
    colours = {
        colour: {name: part[name] for name in set(part) - {"average"}} for colour, part in queue["colours"].items()
    }
    return queue | {"time_ns": 0, "colours": colours}


def test_counters_are_those_of_the_harness(said):
    harness = said.results[3]
    shown = json.loads(done(said, "stats"))
    assert [queue["index"] for queue in shown["queues"]] == [*range(16)]
    for queue in shown["queues"]:
        for number, colour in enumerate(COLOURS):
            for event, name in EVENTS.items():
                count = queue["colours"][colour][SHOWN[event]]
                assert (count["packets"], count["bytes"]) == harness[queue["index"], number][name], (queue, event)
    assert sum(part["arrived"][0] for part in harness.values()) == FRAMES
    assert sum(part["tail"][0] + part["early"][0] + part["forced"][0] for part in harness.values()) > 20
    arrived = f"{harness[1, 0]['arrived'][0]:,}"
    assert re.search(rf"1 +green +{arrived} ", done(said, "stats.text"))
    looks = [json.loads(line) for line in done(said, "watch").splitlines()]
    assert len(looks) == 2
    for look in (*looks, json.loads(done(said, "clear"))):
        assert [at_rest(queue) for queue in look["queues"]] == [at_rest(queue) for queue in shown["queues"]]
    for queue in json.loads(done(said, "cleared"))["queues"]:
        assert all(
            count == {"packets": 0, "bytes": 0}
            for c in COLOURS
            for count in map(queue["colours"][c].get, SHOWN.values())
        )


def test_set_changes_what_it_names_and_what_is_wrong_changes_nothing(said):
    before, behind = json.loads(done(said, "default.show")), json.loads(done(said, "behind"))
    assert done(said, "set") == done(said, "set.port") == done(said, "set.class") == ""
    fields = before["queues"]["1"]["settings"]
    wanted = fields | {"yellow.min": "12000", "spacing": "wait"}
    assert behind["queues"]["1"]["settings"] == wanted != fields
    assert behind["port"] == {"rate": 90_000_000, "burst": 20_000} != before["port"]
    moved = {"AF12": {"queue": "3", "colour": "yellow"}, "frames without IP": {"queue": "2", "colour": "green"}}
    assert behind["class"] == before["class"] | moved
    for number in set(before["queues"]) - {"1"}:
        assert behind["queues"][number]["settings"] == before["queues"][number]["settings"]
    assert said.tools["wrong.field"][0] == said.tools["wrong.value"][0] == said.tools["wrong.queue"][0] == 2
    assert "did you mean yellow.min" in said.tools["wrong.field"][1]
    assert "yellow.min is 90000; legal is 0 up to max" in said.tools["wrong.value"][1]


def test_what_tc_owns_is_refused_in_the_kernels_words_before_anything_is_written(said):
    assert all(said.heard[f"free{queue}"][0] == 0 for queue in range(16)) and said.heard["free-port"][0] == 0
    status, text = said.tools["tc.limit"]
    assert status == 2 and "queue 0 is offloaded by tc" in text
    status, text = said.tools["tc.apply"]
    assert status == 2 and "tc" in text
    assert done(said, "tc.weight") == ""
    freed, shown = json.loads(done(said, "freed")), json.loads(done(said, "tc.show"))
    assert shown["port"] == freed["port"] and shown["port"]["rate"] == 0 and shown["class"] == freed["class"]
    (queue,) = shown["queues"].values()
    assert queue["settings"]["average.weight"] == "0.0078125" and queue["settings"]["limit"] == "400000"


def told(said, word) -> list[int]:
    """Queues of the messages to the group, in order; each names command, netdev and queue and nothing else."""
    index, out = int(said.said("ifindex")), []
    for line in said.said(f"heard.{word}").split(";")[:-1]:
        command, attributes = line.split()
        values = MESSAGES.decode("queue", bytes.fromhex(attributes))
        assert int(command) == MESSAGES.commands["queue-changed"]
        assert set(values) == {"ifindex", "queue"} and values["ifindex"] == index
        out.append(values["queue"])
    return out


def test_each_change_of_a_queue_is_told_once_and_a_refused_one_is_not(said):
    assert told(said, "add") == told(said, "change") == told(said, "again") == told(said, "del") == [0]
    assert told(said, "refused") == [0]  # the qdisc is no longer offloaded: the queue has its defaults again
    assert told(said, "never") == []
    assert told(said, "bands") == [0, 1, 2] and told(said, "band") == [1]
    assert sorted(told(said, "none")) == [0, 1, 2]
    assert said.heard["two"][:2] == said.heard["port"][:2] == said.heard["back"][:2] == (0, "-")
    assert told(said, "netlink") == [5, 5, 5]
    assert [said.heard[f"bad{i}"][0] for i in range(1, 5)] == [22, 2, 34, 2]
    assert told(said, "nothing") == []
    wrote = [queue.index for queue in config_file.load(said.files["default"]).queue]
    assert done(said, "told.apply") and done(said, "told.set") == done(said, "told.same") == ""
    assert said.tools["told.wrong"][0] == 2
    assert told(said, "tool") == [*wrote, 3]


def test_a_reset_of_the_function_takes_nothing_of_the_lanes_settings(said):
    assert said.heard["option"][:2] == (0, "-") and said.said("reset") == "yes"
    assert said.heard["too-many"][:2] == (22, "queues is 17; legal is 0 to 16")
    (lane,) = said.heard["kept"][2]
    rate = config_file.load(said.files["default"]).port.rate
    assert (lane["option-ip4"], lane["option-ip6"], lane["queues"], lane["rate"]) == (158, 30, 5, rate)
    held = dict(zip(LANE, (int(word, 16) for word in said.said("lane.reset").split()), strict=True))
    assert lane["pool-bytes"] == 100_000 and held["pool_size"] == 1562 and held["ttl_option"] == 158 | 30 << 8


def test_the_log_has_no_fault_of_the_kernels(said):
    assert said.said("splats.end") == "0"
