"""Contests under each other: a frame in every clock, so that up to six are under way at once, the victims of one being sought while others leave."""

import csv
import io
import json
import random
import subprocess
import tomllib

import pytest

from test_simulator import pcap
from test_victims_run import CODES, CONFIG, TAILED, check_tail_drops, ip
from vermilion import build, config, quantise

pytestmark = pytest.mark.slow

# A build for tests: contests in the first four queues, and a buffer that runs full.
NAME, SHAPE = "nic100g-victims", build.Preset(data_bits=512, inputs=2, stallable=0b10, cells=1024, victims=4)


@pytest.fixture(scope="module")
def program():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(build.PRESETS, NAME, SHAPE)
        return build.simulator(NAME)


def short(rng, codes, near):
    """A frame of one beat; `near`: all have come as far."""
    frame = bytes(12) + b"\x08\0" + ip(rng, rng.choice(codes), 7 if near else rng.randrange(64), 4)
    return frame + bytes(60 - len(frame))


def floods(seed):
    """Frames for all classes, or for one and then another, from anywhere or from one distance."""
    rng, frames = random.Random(seed), []
    for number in range(12000):
        if number % 1500 == 0:
            near, codes = rng.random() < 0.3, rng.choice([sum(CODES.values(), []), *CODES.values()])
        frames.append((number, short(rng, codes, near), 60))
    return frames


def engines(program, folder, text, capture, shape=SHAPE, pace=("--rate", 200_000_000_000)):
    """Both engines on the same capture; the RTL's figures and trace."""
    asked = config.parse(tomllib.loads(text), shape.queues, shape.victims)
    (folder / "words.json").write_text(json.dumps(quantise.hardware(asked)))
    got = {}
    for engine in ("rtl", "model"):
        names = {name: folder / f"{engine}.{name}" for name in ("out", "trace", "stats")}
        command = [
            program,
            "--in",
            capture,
            "--config-words",
            folder / "words.json",
            "--engine",
            engine,
            *pace,
        ]
        command += ["--out", names["out"], "--trace", names["trace"], "--stats-json", names["stats"]]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:]
        got[engine] = names
    rtl, model = got["rtl"], got["model"]
    for one, other in zip(rtl["trace"].read_text().splitlines(), model["trace"].read_text().splitlines(), strict=True):
        assert one == other
    assert rtl["out"].read_bytes() == model["out"].read_bytes()
    stats, modelled = (json.loads(names["stats"].read_text()) for names in (rtl, model))
    assert stats["queues"] == modelled["queues"] and stats["clocks"] == modelled["clocks"]
    assert stats["replay"]["decisions"] == stats["replay"]["agreed"] > 0 and stats["accounting"]["errors"] == 0
    return stats, list(csv.DictReader(io.StringIO(rtl["trace"].read_text())))


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("port", ["3Gbit", "40Gbit", "95Gbit"])
def test_both_engines_are_one_at_a_frame_a_clock(program, tmp_path, port, seed):
    print("seed", seed)
    stats, rows = engines(program, tmp_path, CONFIG % port, pcap(tmp_path / "in.pcap", floods(seed)))
    contests = [row for row in rows if row["evicted"]]
    counts = {name: sum(row[name] == "1" for row in contests) for name in ("evicted", "victim_marked", "blind")}
    print(port, {"contests": len(contests)} | counts)
    assert len(contests) > 400 and counts["evicted"] > 50 and (counts["blind"] > 0 or port == "3Gbit")
    for row in contests:
        if row["victim_distance"]:
            assert int(row["victim_distance"]) <= int(row["distance"]) and row["blind"] == "0"
    limits = {0: (60_000, 10**9), 1: (10**9, 200), 2: (60_000, 10**9), 3: (60_000, 10**9)}
    for row in rows:
        if row["refresh"] == "0" and int(row["queue"]) in limits and row["verdict"] in "01":
            held, packets = limits[int(row["queue"])]
            assert int(row["queued_bytes"]) + 60 <= held and int(row["queued_packets"]) + 1 <= packets
    assert stats["queues"][3].get("contests") is None


@pytest.mark.parametrize("port", ["3Gbit", "40Gbit", "95Gbit"])
def test_tail_drops_at_a_frame_a_clock(program, tmp_path, port):
    capture = pcap(tmp_path / "in.pcap", floods(21))
    stats, rows = engines(program, tmp_path, (TAILED % port).replace("20KB", "6KB"), capture)
    check_tail_drops(rows)
    assert sum(per["evicted"]["packets"] for queue in stats["queues"] for per in queue["colours"]) > 100
