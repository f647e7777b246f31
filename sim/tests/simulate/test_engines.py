"""`--engine model` is the lane without the RTL: the same output capture, to the byte and the nanosecond, and the same results."""

import csv
import io
import itertools
import random

import pytest

from support.captures import pcap
from support.microsecond_captures import FRAME
from support.nightly import nightly
from support.runs import CAPTURES, REAL, ROOT, SHIPPED, same, total

pytestmark = pytest.mark.slow


# Every departure refreshes averages, and the port is faster than the wire: descriptors wait for the way out instead.
OPEN = """
[port]
rate = "100Gbit"

[[queue]]
name    = "all"
default = true
dscp    = ["default"]
limit   = "30KB"
average = { kind = "red", weight = 0.02, update = "both" }
green   = { curve = "gentle", min = 0, max = "1KB", p = 0.2 }
"""

# Shapers on several queues and on the port: who is released when depends on where their scans stand.
SHAPED = """
[port]
rate = "3Mbit"
burst = "4KB"

[[queue]]
name    = "first"
dscp    = ["EF", "AF41", "AF42", "AF43"]
limit   = "20KB"
priority = 3
rate    = "300kbit"

[[queue]]
name    = "second"
dscp    = ["AF11", "AF12", "AF13", "AF21", "AF22", "AF23"]
limit   = "20KB"
rate    = "700kbit"
burst   = "3KB"

[[queue]]
name    = "rest"
default = true
dscp    = ["default"]
limit   = "20KB"
rate    = "1Mbit"
average = { kind = "red", weight = 0.1 }
green   = { curve = "red", min = "5KB", max = "15KB", p = 0.2 }
"""

# One queue, shaped: its shaper has nobody else to look at.
ALONE = """
[port]
rate = "10Gbit"

[[queue]]
name    = "all"
default = true
dscp    = ["default"]
limit   = "30KB"
rate    = "2Mbit"
"""


@pytest.mark.parametrize("speed", [1, 20])
def test_both_engines_are_one_on_the_shipped_capture(tmp_path, speed):
    stats, trace = same(tmp_path, SHIPPED, "--speed", speed, traced=speed == 20)
    if speed == 20:  # the buffer runs out of cells, too
        assert total(stats, "nobuf") > 0
        rows = list(csv.DictReader(io.StringIO(trace)))
        for row in rows:  # RIO: a colour's packet leaves some averages alone; a frame without cells all of them
            assert row["no_buffer"] == "0" or row["ahead_0"] == row["average_2"] == row["probability"] == ""
        assert any(row["average_0"] == "" != row["average_2"] for row in rows)


@pytest.mark.parametrize("speed", [nightly(1), 20])
@pytest.mark.parametrize("name", REAL)
def test_both_engines_are_one_on_real_traffic(tmp_path, name, speed):
    capture = CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip(f"VERMILION_CAPTURES names no folder with {capture.name}")
    same(tmp_path, capture, "--speed", speed)


WIRE = ("--rate", 15_000_000_000)
CONFIGS = {"open": OPEN, "shaped": SHAPED, "alone": ALONE}
PACES = {"slow": ("--speed", 1), "at-wire-rate": WIRE, "two-inputs-at-wire-rate": ("--preset", "nic10g", *WIRE)}
PAIRS = list(itertools.product(CONFIGS, PACES))
# Each configuration and each pace once or more.
EVERY_RUN = [
    ("open", "at-wire-rate"),
    ("open", "two-inputs-at-wire-rate"),
    ("shaped", "slow"),
    ("shaped", "two-inputs-at-wire-rate"),
    ("alone", "at-wire-rate"),
]


@pytest.mark.parametrize("config, pace", [pair if pair in EVERY_RUN else nightly(*pair) for pair in PAIRS])
def test_both_engines_are_one_under_other_configurations(tmp_path, config, pace):
    config, pace = CONFIGS[config], PACES[pace]
    file = tmp_path / "config.toml"
    file.write_text(config)
    at_wire_rate, refreshed = "--rate" in pace, config == OPEN
    stats, trace = same(tmp_path, SHIPPED, "--config", file, "--seed", 7, *pace, traced=refreshed)
    assert total(stats, "sent") > 0
    if refreshed:
        assert stats["replay"]["refreshes"] == stats["replay"]["refreshes_agreed"] > 0
        rows = [row for row in csv.DictReader(io.StringIO(trace)) if row["refresh"] == "1"]
        assert len(rows) == stats["replay"]["refreshes"]
        assert all(row["verdict"] == row["len_bytes"] == row["draw"] == "" != row["average_0"] for row in rows)
    if at_wire_rate and config != ALONE:  # which has no curve
        assert total(stats, "early") > 0


def mixed_inputs(path):
    """Frames for both inputs of a `nic` preset: runts of one beat, of which a cell each fills the write port, and whole ones."""
    rng, frames = random.Random(3), []
    for number in range(3000):
        address = rng.randbytes(12)
        whole = address + FRAME[12:] + bytes(rng.randrange(0, 900))
        data = address[:8] if number % 50 < 35 else whole
        frames.append((number * 200, data, len(data)))
    return pcap(path, frames)


def test_both_engines_are_one_with_two_inputs_of_which_the_host_waits(tmp_path):
    nic = ("--preset", "nic10g", "--seed", 7)
    stats, _ = same(tmp_path, SHIPPED, *nic, "--speed", 10)
    assert total(stats, "sent") > 0
    capture = mixed_inputs(tmp_path / "in.pcap")
    same(tmp_path, capture, *nic, "--speed", 1, traced=True)
    stats, _ = same(tmp_path, capture, *nic, "--rate", 100_000_000_000, traced=True)  # the inputs together: 32 Gbit/s
    assert stats["input_stalled_clocks"] > 0, "the host was never stalled"
    assert total(stats, "sent") > 0


def offloaded(path):
    """Segments as a NIC with offloads hands them over, up to 64 KB, between frames that the lane stores."""
    rng, now, frames = random.Random(9), 0, []
    for _ in range(700):
        size = rng.choice((20, 400, 1400, 9000, 12000, 40000))
        head = bytearray(FRAME[:34])
        head[15] = rng.choice((0, 10, 12, 14, 26, 36, 46)) << 2 | rng.randrange(4)
        head[16:18] = (20 + size).to_bytes(2, "big")
        frames.append((now, rng.randbytes(12) + bytes(head[12:]) + bytes(size), 34 + size))
        now += rng.randrange(30_000_000)
    return pcap(path, frames)


@pytest.mark.parametrize("preset", ["lab", "nic10g"])
@pytest.mark.parametrize("config", ["default", "markers"])
def test_both_engines_say_the_same_of_frames_that_are_not_evaluated(tmp_path, preset, config):
    """Offloaded segments are longer than the lane stores: no average, no probability, by either engine."""
    file = ROOT / "sim" / "configs" / f"{config}.toml"
    stats, _ = same(tmp_path, offloaded(tmp_path / "in.pcap"), "--preset", preset, "--config", file, traced=True)
    nobuf, policed = total(stats, "nobuf"), total(stats, "policed")
    assert nobuf > 100 and (config == "default" or policed > 0)
    assert stats["sample_every"] == 1
    for rows in (stats["samples"], stats["events"]):
        blank = [row for row in rows if row[3] is None]
        assert len(blank) == nobuf + policed and all(row[6] is None and row[7] in (5, 7) for row in blank)
