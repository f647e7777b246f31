"""The simulator's program from end to end: every frame has one fate, every decision is replayed, bad input is refused."""

import json
import subprocess

import pytest

from support.captures import pcap
from support.frames import IP4, ip4, ip6, mixed
from support.headers import MACS
from vermilion.measure import bench_config
from vermilion.simulation.result import Check, MarkerResult, QueueResult, Replay, Result
from vermilion.toolchain import build

pytestmark = pytest.mark.slow


def test_the_lanes_own_assertions_are_in_the_simulator(program):
    sources = [path.read_text() for path in (build.BUILD / "lab" / "sv").glob("*.sv")]
    assert sum(text.count("Assertion failed") for text in sources) > 30
    compiled = "".join(path.read_text() for path in build.simulator_objects("lab").glob("*.cpp"))
    assert compiled.count("Assertion failed") > 30


TAG = b"\x81\0\0\1"
LIES = [ip4(100, total=101), ip4(100, total=95), ip4(100, total=19), ip4(100, total=0), ip4(100, total=65535)]
LIES += [
    ip4(100, ihl=4),
    ip4(100, ihl=0),
    ip4(40, ihl=15),
    ip4(100, total=40, ihl=11),
    ip4(100, total=100, tag=TAG)[:117],
]
LIES += [ip6(100, payload=61), ip6(100, payload=55), ip6(100, payload=65535)]
# In full; with the frame check sequence; filled up to 60, 64 and 68 bytes; with options; IPv6 alike, and a jumbogram.
TRUTHS = [
    ip4(1000),
    ip4(100, total=96),
    ip4(46, total=28),
    ip4(46, total=28, tag=TAG),
    ip4(54, total=20),
    ip4(60, ihl=15),
]
TRUTHS += [ip6(100), ip6(100, payload=56), ip6(54, payload=1), ip6(100, payload=0), bytes(60)]
CUT = [ip4(0), ip4(19), ip4(10, tag=TAG), ip4(1, tag=b"\x88\xa8\0\1" + TAG), ip6(39), ip6(1)]


def run(program, *arguments):
    done = subprocess.run([str(a) for a in (program, *arguments)], capture_output=True, text=True, timeout=300)
    lines = [text for text in done.stdout.splitlines() if not text.startswith("progress")]
    return done.returncode, lines


def unknown(result: dict) -> set[str]:
    """Keys of a run's result that `simulation/result.py` has no type for, and keys that it requires and the run lacks."""
    parts = [(Result, result), *((QueueResult, queue) for queue in result["queues"])]
    parts += [(MarkerResult, queue["marker"]) for queue in result["queues"] if "marker" in queue]
    parts += [(Check, result[name]) for name in ("accounting", "victims", "counters", "stream") if name in result]
    parts += [(Replay, result["replay"])] if "replay" in result else []
    return {
        key
        for kind, part in parts
        for key in (part.keys() - kind.__annotations__.keys()) | (kind.__required_keys__ - part.keys())
    }


@pytest.mark.parametrize("pace", [[], ["--rate", "1000000000", "--stalls"], ["--speed", "30"]])
def test_every_frame_has_one_fate_and_every_decision_is_replayed(program, words, tmp_path, pace):
    source, stats = pcap(tmp_path / "in.pcap", mixed(1500)), tmp_path / "stats.json"
    status, lines = run(
        program, "--in", source, "--config-words", words, "--stats-json", stats, "--out", tmp_path / "o", *pace
    )
    result = json.loads(stats.read_text())
    assert status == 0, lines
    assert unknown(result) == set()
    assert result["accounting"]["errors"] == 0 and "lost" not in result
    assert result["replay"]["agreed"] == result["replay"]["decisions"] == 1500
    colours = [colour for queue in result["queues"] for colour in queue["colours"]]
    count = {name: sum(c[name]["packets"] for c in colours) for name in colours[0]}
    assert count["arrived"] == 1500
    assert 1500 == count["sent"] + sum(count[name] for name in ("early", "forced", "tail", "nobuf", "bad", "policed"))
    assert count["sent"] and count["forced"] + count["early"]  # the run was a test of something
    status, lines = run(
        program, "--in", tmp_path / "o", "--config-words", words, "--engine", "model", "--stats-json", stats
    )
    result = json.loads(stats.read_text())
    assert status == 0 and result["packets"] == count["sent"] and unknown(result) == set()


@pytest.mark.parametrize(
    "name, frames, link, cut, warnings",
    [
        ("empty", [], 1, 0, {"empty": 1}),
        ("cut", [(0, bytes(60), 60)] * 3, 1, 7, {"cut_off": 1}),
        ("snapped", [(0, bytes(60), 1500)], 1, 0, {"snapped": 1}),
        ("raw IP", [(0, IP4, 40)], 101, 0, {"reframed": 1}),
        ("cooked", [(0, bytes.fromhex("0000000100060a0b0c0d0e0f00000800") + IP4, 56)], 113, 0, {"reframed": 1}),
        ("back", [(5, bytes(60), 60), (3, bytes(60), 60)], 1, 0, {"time_back": 1}),
        ("years", [(0, bytes(60), 60), (10**17, bytes(60), 60)], 1, 0, {"time_jump": 1}),
        ("a day", [(0, bytes(60), 60), (24 * 3600 * 10**9, bytes(60), 60)], 1, 0, {}),
        ("back by years", [(10**17, bytes(60), 60), (0, bytes(60), 60), (1, bytes(60), 60)], 1, 0, {"time_back": 1}),
        ("no byte", [(0, b"", 60), (0, bytes(60), 60)], 1, 0, {"zero_length": 1}),
        ("no type", [(0, MACS + b"\x81\0", 14), (0, MACS + b"\x81\0\0\1\x81\0", 18)], 1, 0, {"cut_header": 2}),
        ("lies", [(0, frame, len(frame)) for frame in LIES], 1, 0, {"ip_length": len(LIES)}),
        ("truths", [(0, frame, len(frame)) for frame in TRUTHS], 1, 0, {}),
        ("cut headers", [(0, frame, len(frame)) for frame in CUT], 1, 0, {"cut_header": len(CUT)}),
        ("snapped, not lying", [(0, TRUTHS[0][:40], len(TRUTHS[0]))], 1, 0, {"snapped": 1}),
        ("snapped within options", [(0, ip4(300, ihl=15)[:50], 314)], 1, 0, {"snapped": 1, "cut_header": 1}),
        ("runt", [(0, bytes(5), 5)], 1, 0, {"runt": 1}),
        ("long", [(0, bytes(20000), 20000)], 1, 0, {"oversize": 1}),
    ],
)
@pytest.mark.parametrize("engine", ["rtl", "model"])
def test_odd_captures_run_with_counted_warnings(program, words, tmp_path, name, frames, link, cut, warnings, engine):
    stats = tmp_path / "stats.json"
    source = pcap(tmp_path / "in.pcap", frames, link, cut)
    status, lines = run(program, "--in", source, "--config-words", words, "--engine", engine, "--stats-json", stats)
    assert status == 0, lines
    assert json.loads(stats.read_text())["warnings"] == warnings


def test_what_is_no_input_is_refused_in_one_sentence_and_writes_nothing(program, words, tmp_path):
    good, text = pcap(tmp_path / "good.pcap", [(0, bytes(60), 60)]), tmp_path / "text.pcap"
    text.write_text("no capture")
    bad_link = pcap(tmp_path / "link.pcap", [(0, bytes(60), 60)], link=147)
    for source, file, more in [
        (text, words, []),
        (bad_link, words, []),
        (tmp_path / "missing", words, []),
        (good, good, []),
        (good, words, ["--rate", "0"]),
        (good, words, ["--trace", tmp_path / "no" / "folder"]),
    ]:
        out = tmp_path / "out.pcapng"
        status, lines = run(program, "--in", source, "--config-words", file, "--out", out, *more)
        assert status == 2 and len(lines) == 1 and lines[0].startswith("error "), lines
        assert not list(tmp_path.glob("out.pcapng*"))


@pytest.mark.parametrize("spread", ["one", "random"])
def test_the_bench_loses_no_clock_and_every_stage_works(program, tmp_path, spread):
    stats, words = tmp_path / "stats.json", tmp_path / "words.json"
    words.write_text(json.dumps(bench_config.record(build.PRESETS["lab"], 64, spread, "none")))
    arguments = ["--frame-bytes", 64, "--packets", 2000, "--spread", spread, "--stats-json", stats]
    status, lines = run(program, "--bench", "--config-words", words, *arguments)
    assert status == 0, lines
    result = json.loads(stats.read_text())
    verdicts = result["verdicts"]
    assert result["bubbles"] == 0 and result["clocks_per_decision"] == 64 / 8
    assert sum(verdicts.values()) == 2000 and result["replay"]["agreed"] == 2000
    assert {name for name, count in verdicts.items() if count} == {"enqueue", "early"}  # so no nobuf
    # Uniform spacing at p = 1/16: a drop every (16 + 1) / 2 packets; more where packets wait, fewer as averages start from 0.
    assert 2000 / 12 < verdicts["early"] < 2000 / 6
