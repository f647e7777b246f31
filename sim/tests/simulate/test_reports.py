"""The lane's reports: each drop and mark that was asked for, once, with its reason, its time and the packet's first bytes."""

import json
import random
import re
from collections import Counter
from fractions import Fraction

import pytest
from test_why import CURVES, numbered, told

from support import egress_lanes, random_lanes
from support.captures import pcap
from support.engine_outputs import run as ran
from support.engine_outputs import same as equal
from support.engine_outputs import write_words
from support.nightly import NIGHTLY, nightly
from support.runs import ROOT, SHIPPED, run, same, total
from support.tc_traffic import frame
from support.victims import CONFIG, traffic
from vermilion.configuration.reports import NAMES
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

HELD = 4 + 16 + 1  # reports in a lane whose stream nobody reads: waiting for their bytes, for the stream, and in it
JUDGED_NS = 12  # from the choice of a packet, whose time a report has, to its departure, which `--why` has
ALL = sum(2 << r for r in range(len(NAMES)))
SHARED = ("reason", "queue", "colour", "input", "backlog_bytes", "backlog_packets", "sojourn_ns")


def settings(count: int, **others) -> dict:
    """Of the record: everything is reported, without a limit."""
    return {"every": 1, "interval": 0, "burst": 0, "ethernet": [0] * 14, "reasons": [ALL] * count} | others


def as_report(words: dict, data: bytes, at: int) -> tuple:
    """What a report has of a packet of `--why`."""
    reason = words["reason"]
    if "for" in words and reason == "marked":
        reason = "victim_marked"
    if reason == "tail" and words.get("pool"):
        reason = "pool"
    shown = {name: words[name] for name in SHARED if name in words} | {"reason": reason}
    return tuple(sorted(shown.items())), data[:64], at


def compare(why: list, reports: list):
    """Each packet of `--why` has its report. Push-outs have what the arriving packet saw, which `--why` does not say."""
    expected, found = Counter(), Counter()
    for words, data, at in why:
        if words["reason"] != "lost":
            expected[as_report(words, data, at)] += 1
    for words, data, at in reports:
        words = dict(words)
        if words["reason"] in ("evicted", "victim_marked"):
            for name in ("input", "backlog_bytes", "backlog_packets"):
                words.pop(name)
        if words["reason"] in ("departure_dropped", "departure_marked"):
            words.pop("backlog_bytes")
            words["sojourn_ns"] = str(int(words["sojourn_ns"]) + JUDGED_NS)
            at += JUDGED_NS
        found[as_report(words, data, at)] += 1
    assert found == expected


def of_run(folder, capture, file, *more):
    """Both engines' reports, which are equal, with what `--why` says."""
    rtl, model, why = (folder / f"{name}.pcapng" for name in ("rtl", "model", "why"))
    stats = run(folder, capture, "--config", file, "--reports", rtl, "--why", why, *more)
    run(folder, capture, "--config", file, "--reports", model, "--engine", "model", *more)
    assert rtl.read_bytes() == model.read_bytes()
    return stats, told(rtl), told(why)


def test_a_hundred_of_a_hundred_drops_and_marks_are_reported(tmp_path):
    """Frames that come one after another: all reports have the reason, time, sojourn time and first bytes that `--why` has of them."""
    file = tmp_path / "config.toml"
    file.write_text(CURVES + "[reports]\n")
    stats, reports, why = of_run(tmp_path, pcap(tmp_path / "in.pcap", numbered(random.Random(7), 1500)), file)
    compare(why, reports)
    seen = Counter(words["reason"] for words, *_ in reports)
    print(dict(seen))
    assert len(reports) == len(why) > 100 and stats["reports"]["lost"] == 0
    assert all(seen[name] > 5 for name in ("early", "forced", "marked", "departure_dropped"))
    assert [int(words["report"]) for words, *_ in reports] == list(range(len(reports)))


def test_reports_of_push_outs_are_the_victims(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text(CONFIG % "200Mbit" + "\n[reports]\n")
    capture = traffic(tmp_path / "in.pcap", 1, 1500, longest=1400)
    stats, reports, why = of_run(tmp_path, capture, file)
    evicted = [data for words, data, _ in reports if words["reason"] == "evicted"]
    if stats["reports"]["lost"] == 0:
        assert evicted == [data[:64] for words, data, _ in why if words["reason"] == "evicted"]
    assert len(evicted) > 50


def test_selection_sampling_and_rate_are_exact(tmp_path):
    """One of three events of the chosen reasons, at most 40 per second and four at once: computed again from all reports."""
    capture = pcap(tmp_path / "in.pcap", numbered(random.Random(8), 1500))
    file = tmp_path / "config.toml"
    file.write_text(CURVES + "[reports]\n")
    _, every, _ = of_run(tmp_path, capture, file)
    file.write_text(
        CURVES
        + '[reports]\nreasons = ["early", "forced"]\nevery = 3\nper_second = 40\nburst = 4\nqueues = { codel = ["departure_dropped"] }\n'
    )
    stats, some, _ = of_run(tmp_path, capture, file)
    chosen = {"0": ("departure_dropped",), "1": ("early", "forced")}
    sampled = [each for each in every if each[0]["reason"] in chosen[each[0]["queue"]]][::3]
    interval, due, expected = Fraction(10**9, 40), Fraction(0), []
    for words, data, at in sampled:
        if at >= due - 3 * interval:
            due = max(due, at) + interval
            expected.append((words["reason"], data, at))
    assert [(words["reason"], data, at) for words, data, at in some] == expected
    assert stats["reports"]["limited"] == len(sampled) - len(expected) > 10
    assert len(expected) > 20


def test_traffic_does_not_notice_reports_or_a_reader_that_never_takes_them(tmp_path):
    """All that goes out is the same, in every byte and time; what is not taken is counted as lost."""
    program, taken, lost = build.simulator("lab"), 0, 0
    for seed in (2, 5, 9):
        print("seed", seed)
        rng = random.Random(seed)
        asked = random_lanes.configuration(rng, build.shape("lab"))
        count = 1 + max(queue.at for queue in asked.queue)
        capture = random_lanes.capture(tmp_path / "in.pcap", rng, 600)
        plain = ran(program, tmp_path, write_words(tmp_path / "plain.json", asked), capture)
        words = write_words(tmp_path / "words.json", asked, {"reports": settings(count)})
        for options in ((), ("--hold-reports",)):
            reported = ran(program, tmp_path, words, capture, *options)
            reported.check()
            assert (reported.capture, reported.why) == (plain.capture, plain.why)
            found = reported.stats["reports"]
            assert found["errors"] == 0, found
            assert found["offered"] == found["sent"] + found["lost"]
            if options:
                assert found["sent"] <= HELD, found
                lost += found["lost"]
            else:
                taken += found["sent"]
    assert taken > 100 and lost > 100, (taken, lost)


@pytest.mark.parametrize("preset", ["lab", "lab-egresses", nightly("nic100g-reports")])
def test_random_lanes_report_what_the_model_offers(tmp_path, preset):
    """The simulator compares each report with its own account of the run: order, numbers, all fields, the packet's bytes, and the lane's counters."""
    shape, program = build.shape(preset), build.simulator(preset)
    seen, bare, gone = Counter(), 0, 0
    for seed in range(1, 61 if NIGHTLY else 6):
        print("seed", seed)
        rng = random.Random(seed)
        one = shape.egresses == 1
        if one:
            asked = random_lanes.configuration(rng, shape)
            words = write_words(tmp_path / "words.json", asked)
            capture = random_lanes.capture(tmp_path / "in.pcap", rng, 400)
        else:
            words, capture, _ = egress_lanes.drawn(tmp_path, seed, shape)
        record = json.loads(words.read_text())
        count = record.get("queue_count") or 1 + max(queue["index"] for queue in record["queues"])
        masks = [rng.choice((ALL, rng.randrange(2**16))) for _ in range(count)]
        limit = rng.choice(({}, {"interval": rng.randrange(1, 20_000), "burst": rng.randrange(100_000)}))
        record["reports"] = settings(count, every=rng.choice((0, 1, 1, 2, 7)), reasons=masks, **limit)
        words.write_text(json.dumps(record))
        options = ("--stalls",) if rng.random() < 0.5 else ()
        rtl = ran(program, tmp_path, words, capture, *options)
        rtl.check()
        found = rtl.stats["reports"]
        assert found["errors"] == 0, found
        for _, reason, packets in found["by_queue"]:
            seen[reason] += packets
        bare += found["without_bytes"]
        gone += found["bytes_gone"]
        if one and not options and found["lost"] == 0:
            model = ran(program, tmp_path, words, capture, "--engine", "model")
            equal(rtl, model)
            assert model.stats["reports"]["by_queue"] == found["by_queue"]
    print(dict(seen), f"{bare} without bytes, of {gone} they were gone")
    assert seen.total() > 300 and len(seen) >= 4, seen
    assert gone <= seen.total() / 100, "bytes of stored packets are gone where the port is seldom busy"


def test_the_shipped_capture_is_reported(tmp_path):
    """A stream at 200 Mbit/s through the shipped configuration: both engines' packets are the same with reports as without."""
    file = tmp_path / "config.toml"
    file.write_text((ROOT / "sim/configs/default.toml").read_text() + "\n[reports]\nper_second = 1000000\n")
    rtl, model, plain = (tmp_path / f"{name}.pcapng" for name in ("rtl", "model", "plain"))
    pace = ("--rate", 200_000_000)
    stats = run(tmp_path, SHIPPED, "--config", file, *pace, "--out", rtl)
    assert stats["reports"]["sent"] > 100 and stats["reports"]["errors"] == 0
    run(tmp_path, SHIPPED, "--config", file, *pace, "--engine", "model", "--out", model)
    run(tmp_path, SHIPPED, "--config", "sim/configs/default.toml", *pace, "--engine", "model", "--out", plain)
    assert rtl.read_bytes() == model.read_bytes() == plain.read_bytes()


def test_cells_of_dropped_frames_return_as_the_model_says(tmp_path):
    """The buffer is full, and each frame that finds no cell gives back those that it had: when they return decides about the next."""
    file = tmp_path / "config.toml"
    file.write_text('port.rate = "1Mbit"\n[[queue]]\nname = "all"\ndefault = true\nlimit = "100MB"\n')
    rng = random.Random(10)
    frames, now = [], 0
    for _ in range(900):
        size = rng.choice((64, 200, 700, 1500, 9000))
        frames.append((now, frame(size), size))
        now += rng.choice((size // 4, size, 4 * size))
    stats, _ = same(tmp_path, pcap(tmp_path / "in.pcap", frames), "--config", file)
    assert 100 < total(stats, "nobuf") < 800


def test_reasons_have_the_same_names_and_numbers_everywhere():
    scala = (ROOT / "hw/src/vermilion/report/Bundles.scala").read_text()
    verdicts = (ROOT / "hw/src/vermilion/stream/Bundles.scala").read_text()
    model = (ROOT / "sim/model/report.cpp").read_text()
    numbers = {
        name: int(number) for name, number in re.findall(r"  val (\w+) = (\d+)", scala.split("object ReportEvent")[0])
    }
    for name, of in re.findall(r"  val (\w+) = Verdict\.(\w+)", scala):
        numbers[name] = int(re.search(rf"  val {of} = (\d+)", verdicts)[1])
    del numbers["Bits"]
    ours = {
        re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower().replace("no_buffer", "nobuf"): n for name, n in numbers.items()
    }
    assert ours == {name: 1 + i for i, name in enumerate(NAMES)}
    listed = re.findall(r'nullptr|"(\w+)"', model.split("ReasonNames[ReasonBits] = {")[1].split("};")[0])
    assert listed == ["", *NAMES, "", ""]
    page = (ROOT / "docs/reports.md").read_text()
    assert re.findall(r"\n\| (\d+) \| `(\w+)` \|", page) == [(str(1 + i), name) for i, name in enumerate(NAMES)]
