"""Rules in whole lanes: queue, colour, DSCP, marker and drop of each packet, against plain comparisons of its bytes."""

import csv
import io
import json
import random
import subprocess
from collections import Counter

import pytest
from scapy.utils import RawPcapNgReader

from support import egress_lanes, random_lanes
from support.captures import pcap
from support.engine_outputs import run as ran
from support.engine_outputs import same as equal
from support.engine_outputs import write_words
from support.lane_rules import counted, drawn, edited, input_of, record
from support.nightly import NIGHTLY, nightly
from support.plain_rules import View, first
from vermilion.configuration import config
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

RULES = 64
QUEUES = 4
POLICER = {"kind": "trtcm", "cir": 64000, "cbs": 2000, "pir": 64000, "pbs": 2000, "drop": ["red"], "length": "frame"}


@pytest.mark.parametrize("preset", ["lab", nightly("nic100g-rules")])
def test_both_engines_are_one_with_rules(tmp_path, preset):
    """Random lanes, rules and frames. The counts of each rule are those of plain comparisons, if no frame was without a buffer."""
    shape, program = build.shape(preset), build.simulator(preset)
    matched = Counter()
    for seed in range(1, 41 if NIGHTLY else 7):
        print("seed", seed)
        rng = random.Random(f"rule lane {seed}")
        asked = random_lanes.configuration(rng, shape)
        count = 1 + max(queue.at for queue in asked.queue)
        rules, ranges, source = drawn(rng, rng.choice((1, 16, RULES)), count)
        frames = [(ns, next(source) if rng.random() < 0.7 else data) for ns, data, _ in random_lanes.frames(rng, 700)]
        capture = pcap(tmp_path / "in.pcap", [(ns, data, len(data)) for ns, data in frames])
        words = write_words(tmp_path / "words.json", asked, record(rules, ranges))
        rtl = ran(program, tmp_path, words, capture, *["--stalls"] * (seed % 2))
        rtl.check()
        if shape.inputs == 1 and not seed % 2:
            equal(rtl, ran(program, tmp_path, words, capture, "--engine", "model"))
        missing = sum(c["nobuf"]["packets"] for queue in rtl.stats["queues"] for c in queue["colours"])
        if not missing and "lost" not in rtl.stats:
            wanted, unmatched = counted(rules, [data for _, data in frames], shape.inputs)
            assert (rtl.stats["rules"], rtl.stats["unmatched"]) == (wanted, unmatched)
            matched.update(unmatched=unmatched, matched=sum(each["packets"] for each in wanted))
    assert matched["matched"] > 200 < matched["unmatched"], matched


def open_lane(queues: int) -> config.Config:
    """Queues that drop nothing at this load, DSCP by DSCP in turn; the last has a policer, and no packets but by rules."""
    names = [f"q{i}" for i in range(queues)]
    codes = [[code for code in range(64) if code % (queues - 1) == i] for i in range(queues - 1)] + [[]]
    tables = [
        {"name": name, "dscp": {"green": of}, "limit": "200KB", "quantum": 1522}
        for name, of in zip(names, codes, strict=True)
    ]
    tables[0]["default"] = True
    return config.parse(
        {"seed": 1, "port": {"rate": 10**10}, "queue": tables, "marker": [POLICER | {"queue": names[-1]}]}, 16, 16
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_each_packet_gets_what_its_rule_says(tmp_path, seed):
    """The class of a packet is that of its DSCP after the rule. Queue, colour and bytes of each packet by plain comparisons."""
    print("seed", seed)
    rng = random.Random(f"rule actions {seed}")
    rules, ranges, source = drawn(rng, RULES, QUEUES - 1)
    for rule in rules:  # the policer's bucket is another test's
        rule.action.pop("marker", None)
    frames = [next(source) for _ in range(3000)]
    capture = pcap(tmp_path / "in.pcap", [(1000 * i, data, len(data)) for i, data in enumerate(frames)])
    words = write_words(tmp_path / "words.json", open_lane(QUEUES), record(rules, ranges))
    out = ran(build.simulator("lab"), tmp_path, words, capture, "--trace", tmp_path / "trace.csv")
    out.check()
    rows = [row for row in csv.DictReader(io.StringIO((tmp_path / "trace.csv").read_text())) if row["verdict"]]
    assert len(rows) == len(frames)
    sent, seen = Counter(), Counter()
    for data, row in zip(frames, rows, strict=True):
        view = View(data)
        number = first(rules, view, input_of(data, 1))
        does = {} if number is None else rules[number].action
        code = does.get("dscp", view.traffic >> 2) if view.version else None
        queue = does.get("queue", 0 if code is None else code % (QUEUES - 1))
        assert (int(row["queue"]), int(row["colour"])) == (queue, min(does.get("colour", 0), 2)), (data.hex(), row)
        assert row["verdict"] == ("7" if "drop" in does else "0"), (data.hex(), row)
        seen.update(does)
        if "drop" not in does:
            sent[edited(data, does["dscp"]) if "dscp" in does else data] += 1
    assert Counter(data for data, _ in RawPcapNgReader(str(tmp_path / "out.pcapng"))) == sent
    assert min(seen[name] for name in ("drop", "queue", "colour", "dscp")) > 20, seen


def test_a_marker_of_another_queue_polices_the_packets_of_a_rule(tmp_path):
    """The policer's bucket holds 2,000 bytes and fills with 8,000 in a second. Only packets of the rule use it, wherever they queue."""
    rng = random.Random("policed by rule")
    rules, ranges, source = drawn(rng, 1, QUEUES - 1)
    rules[0].__init__(protocol=17, action={"marker": QUEUES - 1})
    frames = [next(source) for _ in range(2000)]
    capture = pcap(tmp_path / "in.pcap", [(1000 * i, data, len(data)) for i, data in enumerate(frames)])
    words = write_words(tmp_path / "words.json", open_lane(QUEUES), record(rules, ranges))
    out = ran(build.simulator("lab"), tmp_path, words, capture, "--trace", tmp_path / "trace.csv")
    out.check()
    rows = [row for row in csv.DictReader(io.StringIO((tmp_path / "trace.csv").read_text())) if row["verdict"]]
    policed = [first(rules, View(data), 0) for data, row in zip(frames, rows, strict=True) if row["verdict"] == "7"]
    passed = [data for data, row in zip(frames, rows, strict=True) if row["verdict"] == "0"]
    assert len(policed) > 100 and set(policed) == {0}
    of_rule = [len(data) for data in passed if first(rules, View(data), 0) == 0]
    assert 1500 < sum(of_rule) <= 2000 + 8 * len(frames) // 1000
    queues = [sum(c["policed"]["packets"] for c in queue["colours"]) for queue in out.stats["queues"]]
    assert queues[QUEUES - 1] == 0 < min(queues[: QUEUES - 1])


def test_rules_name_queues_of_the_packets_own_egress(tmp_path):
    """Four egresses with four inputs: a rule's queue is within the egress of the packet's input."""
    shape = build.shape("lab-egresses")
    share = shape.queues // shape.egresses
    for seed in range(1, 25 if NIGHTLY else 5):
        print("seed", seed)
        rng = random.Random(f"rules of egresses {seed}")
        words, _, routes = egress_lanes.drawn(tmp_path, seed, shape)
        made = json.loads(words.read_text())
        rules, ranges, source = drawn(rng, RULES, share)
        words.write_text(json.dumps(made | record(rules, ranges)))
        frames = [next(source) for _ in range(500)]
        capture = pcap(tmp_path / "in.pcap", [(700 * i, data, len(data)) for i, data in enumerate(frames)])
        trace = tmp_path / "trace.csv"
        out = ran(
            build.simulator("lab-egresses"), tmp_path, words, capture, "--trace", trace, *["--stalls"] * (seed % 2)
        )
        out.check()
        for row in csv.DictReader(io.StringIO(trace.read_text())):
            if row["verdict"]:
                assert int(row["queue"]) // share == routes[int(row["input"])], row
        missing = sum(c["nobuf"]["packets"] for queue in out.stats["queues"] for c in queue["colours"])
        if not missing and "lost" not in out.stats:
            assert (out.stats["rules"], out.stats["unmatched"]) == counted(rules, frames, shape.inputs)


GOOD = {"value": [0] * 11, "mask": [0] * 11, "action": 1 << 31, "marker": 0}
BAD = {
    "a bit behind the key": ({"rules": [GOOD | {"mask": [0] * 10 + [1 << 24]}]}, "rules[0].mask", "0 to 16777215"),
    "a word too few": ({"rules": [GOOD | {"value": [0] * 10}]}, "rules[0].value", "11"),
    "a queue that is not there": ({"rules": [GOOD | {"action": 1 << 24 | QUEUES}]}, "action: names queue 4", "0 to 3"),
    "a marker that is not there": ({"rules": [GOOD | {"marker": 1 << 31 | 99}]}, "marker: names queue 99", "0 to 3"),
    "more rules than the build has": ({"rules": [GOOD] * (RULES + 1)}, "has 65 rules", "legal are up to 64"),
    "a port past the last": ({"rules": [GOOD], "port_ranges": [[0, 65536]] * 16}, "port_ranges[0]", "0 to 65535"),
    "no ranges": ({"rules": [GOOD], "port_ranges": []}, "port_ranges", "16"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_record_with_bad_rules_is_refused(tmp_path, name):
    changes, where, legal = BAD[name]
    words = write_words(tmp_path / "words.json", open_lane(QUEUES), {"port_ranges": [[1, 0]] * 16} | changes)
    capture = pcap(tmp_path / "in.pcap", [(0, bytes(60), 60)])
    command = [build.model_program("lab"), "--in", capture, "--config-words", words, "--engine", "model"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 2 and where in done.stdout and legal in done.stdout, done.stdout + done.stderr
