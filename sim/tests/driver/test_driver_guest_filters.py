"""tc filters in a guest against the RTL: the fate of each frame by plain comparisons of its bytes, counters to the packet, and what is refused."""

import json
import random
from collections import Counter
from itertools import islice

import pytest

from support import driver_bench
from support.captures import pcap
from support.driver_bench import STEPS_OVER_RESETS, counts, talk
from support.nightly import nightly
from support.plain_rules import View, frames
from support.tc_filters import AFTER, BANDS, FIRST, NONE, POLICED, PRIO, TABLE, Filter, Sink, fates, sized
from support.tc_traffic import PAUSE

pytestmark = pytest.mark.guest

ADD = "/bin/tc filter add dev $lane egress"
SCRIPT = f"""
{STEPS_OVER_RESETS}filters() {{ echo "filters.$1 $(/bin/tc -s -j filter show dev $lane egress)"; }}
says() {{ word=$1; shift; echo "$word $("$@" 2>&1 | tr '\\n' ' ')."; }}
{PRIO}
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
{PRIO}
POLICE
owners police
says refusal.sixteen /bin/tc qdisc replace dev $lane root handle 2: ets bands 16; refused sixteen
tc qdisc del dev $lane root
says refusal.gred /bin/tc qdisc add dev $lane root handle 1: gred setup DPs 3 default 0; refused gred
tc qdisc del dev $lane root
{PRIO}
step 6
filters police
echo "settings $(tc qdisc show dev $lane)"
tc qdisc del dev $lane root
tc filter del dev $lane egress
owners free
race() {{
  {ADD} pref 1 protocol ip flower skip_sw ip_proto udp action police rate 64kbit burst 100 conform-exceed drop
  echo 1 > /sys/bus/pci/devices/$device/reset & resetting=$!
  sleep $1
  tc filter del dev $lane egress
  wait $resetting
}}
for delay in 0.05 0.02 0.1 0 0.2 0.01 0.4 0.05 0.02 0.1 0 0.2 0.01 0.4 0.05 0.02 0.1 0 0.2 0.01 0.4 0.8; do
  race $delay
  refused race | grep 'being reset' && break
done
owners race
before=6
step 7
REFUSALS
tc qdisc del dev $lane clsact
owners end
rmmod vermilion && echo "unloaded"
"""
POLICE = "protocol ip flower skip_sw action police rate 1mbit burst 10k"
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
    "peak": (f"{POLICE} peakrate 2mbit mtu 2000 conform-exceed drop", "police has peakrate, avrate or overhead"),
    "exceed": (f"{POLICE} conform-exceed pipe", "police has conform-exceed with another exceed; legal is drop"),
    "packets": ("protocol ip flower skip_sw action police pkts_rate 9 pkts_burst 9 conform-exceed drop", "counts packets"),
    "after": (f"{POLICE} conform-exceed drop/ok action skbedit priority 1", "an action follows police with conform ok"),
    "two": (f"{POLICE} conform-exceed drop/pipe action police rate 2mbit burst 9k conform-exceed drop", "a second police"),
    "slow": ("protocol ip flower skip_sw action police rate 8bit burst 9k conform-exceed drop", "police: "),
    "shallow": ("protocol ip flower skip_sw action police rate 1mbit burst 40 conform-exceed drop", "police: "),
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
    red = "red limit 100000 min 10000 max 30000 avpkt 1000 burst 16"
    lines += [
        f"says qevent.{event} /bin/tc qdisc add dev $lane root handle 9: {red} qevent {event} block 10; refused qevent"
        for event in ("early_drop", "mark")
    ]
    lines += ['echo "qevents $(tc qdisc show dev $lane | grep -c red)"']
    lines += ["filters hidden"]
    lines += ["tc filter replace dev $lane egress pref 2 handle 1 protocol ip flower skip_sw ip_proto tcp action pass"]
    lines += ["filters replaced"]
    return "\n".join(lines)


class Traffic:
    """Captures for each step, and what the harness counted after it."""

    def __init__(self, folder):
        rng = random.Random("filters")
        self.frames = [list(islice(frames(rng), count)) for count in (3000, 3000, 4000, 1000, 1000)] + [sized(rng, 700)]
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

        return [self.feed(0), self.feed(1), third, self.feed(3), self.feed(4), self.feed(5), self.feed(0)]


@pytest.fixture(scope="module", params=["6.12", nightly("6.1")])
def said(request, tmp_path_factory, device_program):
    driver_bench.check_machine()
    folder = tmp_path_factory.mktemp("filters")
    traffic = Traffic(folder)
    script = SCRIPT.replace("REFUSALS", refusals()).replace(
        "POLICE\n", "\n".join(each.line() for each in POLICED) + "\n"
    )
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
    last = options["actions"][-1]  # a police before it may be that of several filters
    stats = last["stats"]
    assert last["used_hw_stats"] == ["immediate"]
    return stats["packets"], stats["bytes"]


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
    (replaced,) = shown(said, "replaced")[2]
    assert replaced["keys"]["ip_proto"] == "tcp" and replaced["actions"][0]["control_action"]["type"] == "pass"


def test_police_drops_what_its_bucket_does_not_hold(said):
    """Two filters with one police share its bucket. A frame that does not fit takes nothing."""
    traffic = said.traffic
    queues, leave, matched = Counter(), Counter(), Counter()
    levels = {7: 2025, 1: 6025}
    for data in traffic.frames[5]:
        view = View(data)
        each = next(each for each in POLICED if each.fits(view))
        bucket = {1: 7, 2: 7, 3: 1}.get(each.pref)
        sent = bucket is None or levels[bucket] >= len(data)
        if bucket and sent:
            levels[bucket] -= len(data)
        queue = BANDS[view.traffic >> 5] if each.queue is None else each.queue
        queues.update(
            {(queue, "sent" if sent else "policed", 0): 1, (queue, "sent" if sent else "policed", 1): len(data)}
        )
        matched.update({(POLICED.index(each), "packets"): 1, (POLICED.index(each), "bytes"): len(data)})
        leave[data] += sent
    assert all(0 <= level < 1000 for level in levels.values()), "the buckets were of use"
    check_queues(traffic.counts[4], traffic.counts[5], queues)
    assert Counter(traffic.sink.seen[traffic.sent[4] : traffic.sent[5]]) == +leave
    check_filters(said, "police", POLICED, matched)


def test_a_filter_that_goes_during_a_reset_of_the_card_is_gone_behind_it(said):
    assert "being reset" in said.said("refused.race")
    assert said.said("owners.race") == said.said("owners.free")
    after, frames = said.traffic.counts[6], said.traffic.frames[0]
    assert sum(after[0, c]["sent"][0] for c in range(3)) == len(frames)


def test_the_queue_of_a_police_is_its_own(said):
    assert said.said("owners.police").endswith("queue 3 tc,queue 14 filter,queue 15 filter,rules tc,")
    assert said.said("owners.free") == "port nobody,classes nobody,"
    assert "queue 14 has the marker of a police" in said.said("refused.sixteen")
    assert "which makes packets green" in said.said("refused.gred")


def test_qevents_are_refused_where_they_would_never_fire(said):
    for event in ("early_drop", "mark"):
        assert "failed" in said.said(f"qevent.{event}"), "the kernel's own sentence"
    assert "qevent: a lane copies no packets, so it would never fire" in said.said("refused.qevent")
    assert said.said("qevents") == "0", "the qdisc is not there"
