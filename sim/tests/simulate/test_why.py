"""`vermilion run --why`: each packet that is dropped or marked, once, with its own bytes, its reason and its time."""

import random
import struct
from collections import Counter

import pytest
from scapy.utils import RawPcapNgReader

from support.captures import pcap, stamps
from support.runs import SHIPPED, run, same, total, vermilion
from support.tc_traffic import frame
from support.victims import CONFIG, traffic

MARKS = ("marked", "departure_marked")
REASONS = (*MARKS, "early", "forced", "tail", "nobuf", "bad", "policed", "evicted", "departure_dropped")
COLOURS = ("green", "yellow", "red")

CURVES = """
[port]
rate = "10Mbit"

[[queue]]
name    = "codel"
dscp    = ["EF"]
aqm     = "codel"
target  = "1ms"
interval = "5ms"
limit_packets = "60p"

[[queue]]
name    = "red"
default = true
dscp    = ["default"]
limit   = "40KB"
ecn     = true
average = { weight = 0.25 }
green   = { curve = "red", min = "10KB", max = "20KB", p = 0.1 }
yellow  = { curve = "red", min = "10KB", max = "20KB", p = 0.1 }
red     = { curve = "red", min = "10KB", max = "20KB", p = 0.1 }
"""


def told(path):
    """(words of the comment, bytes, ns since 1970) of each packet."""
    with RawPcapNgReader(str(path)) as packets:
        found = [
            (dict(word.split("=") for word in about.comments[0].decode().split()), data) for data, about in packets
        ]
    return [(*each, at) for each, at in zip(found, stamps(path), strict=True)]


def check_counts(stats, why):
    """Packets and bytes of every queue, colour and reason are those of the counters."""
    packets, sizes = Counter(), Counter()
    for words, data, _ in why:
        if words["reason"] == "lost":
            continue
        key = int(words["queue"]), words["colour"], words["reason"]
        packets[key] += 1
        sizes[key] += len(data)
    for queue in stats["queues"]:
        for colour, counters in zip(COLOURS, queue["colours"], strict=True):
            for reason in REASONS:
                key = queue["index"], colour, reason
                assert counters[reason] == {"packets": packets[key], "bytes": sizes[key]}, key
    lost = Counter(int(words["input"]) for words, *_ in why if words["reason"] == "lost")
    assert lost.total() == sum(each["packets"] for each in stats.get("lost", []))


def numbered(rng, count):
    """UDP frames with their number in the first bytes of payload, in two queues, ECN-capable or not."""
    now, out = 0, []
    for number in range(count):
        now += rng.choice((0, 200_000, 1_200_000))
        size = rng.choice((100, 600, 1500))
        data = bytearray(frame(size, ecn=rng.randrange(4)))
        if rng.random() < 0.5:
            data[15] |= 46 << 2
        out.append((now, bytes(data[:60]) + struct.pack(">I", number) + bytes(data[64:]), size))
    return out


def test_each_packet_is_in_the_output_or_has_one_reason_for_a_drop(tmp_path):
    """From the numbers in the frames alone."""
    frames = numbered(random.Random(5), 3000)
    file, out, why = (tmp_path / name for name in ("config.toml", "out.pcapng", "why.pcapng"))
    file.write_text(CURVES)
    capture = pcap(tmp_path / "in.pcap", frames)
    stats = run(tmp_path, capture, "--config", file, "--engine", "model", "--out", out, "--why", why)
    found = told(why)
    check_counts(stats, found)
    with RawPcapNgReader(str(out)) as packets:
        sent = {struct.unpack(">I", data[60:64])[0]: data[15] & 3 for data, _ in packets}
    dropped, marked = Counter(), Counter()
    for words, data, _ in found:
        number = struct.unpack(">I", data[60:64])[0]
        assert int(words["frame"]) == number and data == frames[number][1]
        (marked if words["reason"] in MARKS else dropped)[number] += 1
    assert dropped.keys() | sent.keys() == set(range(3000)) and not dropped.keys() & sent.keys()
    assert set(dropped.values()) == set(marked.values()) == {1}
    for number, ecn in sent.items():
        came = frames[number][1][15] & 3
        assert ecn == (3 if number in marked else came)
    reasons = Counter(words["reason"] for words, *_ in found)
    print(dict(reasons))
    assert all(reasons[name] > 10 for name in ("early", "forced", "marked", "departure_dropped"))


def test_times_and_averages_are_the_verdicts(tmp_path):
    """A sojourn ends at the packet's time and is longer than the target; an average lies where its curve says so."""
    frames = numbered(random.Random(6), 3000)
    file, why = tmp_path / "config.toml", tmp_path / "why.pcapng"
    file.write_text(CURVES)
    run(tmp_path, pcap(tmp_path / "in.pcap", frames), "--config", file, "--engine", "model", "--why", why)
    seen = Counter()
    for words, _, at in told(why):
        waited = at - frames[int(words["frame"])][0]
        reason = words["reason"]
        seen[reason] += 1
        if reason == "departure_dropped":
            assert 1_000_000 < int(words["sojourn_ns"]) <= waited < int(words["sojourn_ns"]) + 20_000
            continue
        assert 0 <= waited < 20_000  # frames that arrive together follow each other
        if reason in ("early", "forced"):
            average, probability = float(words["average"]), float(words["probability"])
            assert (average >= 20_000) == (reason == "forced")
            exact = 0.1 * (average - 10_000) / 10_000
            assert average > 10_000 and (reason == "forced" or abs(probability - exact) < 1e-3), words
    assert min(seen["early"], seen["forced"], seen["departure_dropped"]) > 10


@pytest.mark.slow
def test_both_engines_tell_the_same_of_push_outs(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(CONFIG % "2Gbit")
    stats, _ = same(tmp_path, traffic(tmp_path / "in.pcap", 1, 3000, longest=1400), "--config", file)
    found = told(tmp_path / "rtl-why.pcapng")
    check_counts(stats, found)
    pushed = [words for words, *_ in found if "for" in words]
    assert len(pushed) == total(stats, "evicted") + sum(words["reason"] == "marked" for words in pushed) > 50
    assert all(words["provisional"] in ("early", "forced", "tail", "mark") for words in pushed)


@pytest.mark.parametrize("name", ["default", "markers"])
def test_the_shipped_configurations_are_told_in_full(tmp_path, name):
    why, file = tmp_path / "why.pcapng", f"sim/configs/{name}.toml"
    more = ("--config", file, "--engine", "model", "--rate", 15_000_000_000)
    stats = run(tmp_path, SHIPPED, *more, "--why", why)
    found = told(why)
    check_counts(stats, found)
    assert len(found) > 1000


def test_nothing_is_left_where_a_run_fails(tmp_path):
    why, bad = tmp_path / "why.pcapng", tmp_path / "in.pcap"
    bad.write_bytes(b"no capture at all, but long enough for a header")
    status, _, err = vermilion("run", bad, "--engine", "model", "--why", why)
    assert status == 2 and "Traceback" not in err and not why.exists()
