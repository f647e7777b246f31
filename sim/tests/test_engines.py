"""`--engine model` is the lane without the RTL: the same output capture, to the byte and the nanosecond, and the same counters."""

import csv
import io
import random

import pytest
from test_run import CAPTURES, FRAME, REAL, ROOT, check, run
from test_simulator import pcap

SHIPPED = ROOT / "sim" / "captures" / "default.pcapng"

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


def same(tmp_path, capture, *arguments, traced=False):
    """Both engines, which agree; returns the RTL's figures and, where asked, the trace."""
    got = {}
    for engine in ("rtl", "model"):
        out, trace = tmp_path / f"{engine}.pcapng", tmp_path / f"{engine}.csv"
        more = ["--trace", trace] if traced else []
        stats = run(tmp_path, capture, "--engine", engine, "--out", out, *more, *arguments)
        figures = [stats["queues"], stats["seconds"], stats["clocks"], stats.get("lost"), stats["flow_events"]]
        got[engine] = (out.read_bytes(), figures, trace.read_text() if traced else "", stats)
    (rtl, figures, rtl_trace, stats), (model, modelled, model_trace, _) = got["rtl"], got["model"]
    check(stats)
    assert modelled == figures
    assert model == rtl, f"the captures differ, {len(model)} and {len(rtl)} bytes"
    for number, (one, other) in enumerate(zip(rtl_trace.splitlines(), model_trace.splitlines()), 1):
        assert one == other, f"line {number} of the traces"
    assert rtl_trace == model_trace
    return stats, rtl_trace


def total(stats, outcome):
    return sum(c[outcome]["packets"] for q in stats["queues"] for c in q["colours"])


@pytest.mark.parametrize("speed", [1, 20])
def test_both_engines_are_one_on_the_shipped_capture(tmp_path, speed):
    stats, trace = same(tmp_path, SHIPPED, "--speed", speed, traced=speed == 20)
    if speed == 20:  # the buffer runs out of cells, too
        assert total(stats, "nobuf") > 0
        rows = list(csv.DictReader(io.StringIO(trace)))
        for row in rows:  # RIO: a colour's packet leaves some averages alone; a frame without cells all of them
            assert row["no_buffer"] == "0" or row["ahead_0"] == row["average_2"] == row["probability"] == ""
        assert any(row["average_0"] == "" != row["average_2"] for row in rows)


@pytest.mark.parametrize("speed", [1, 20])
@pytest.mark.parametrize("name", REAL)
def test_both_engines_are_one_on_real_traffic(tmp_path, name, speed):
    capture = CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip(f"the real captures are not on this machine ({capture.name})")
    same(tmp_path, capture, "--speed", speed)


WIRE = ("--rate", 15_000_000_000)


@pytest.mark.parametrize(
    "pace", [("--speed", 1), WIRE, ("--preset", "nic10g", *WIRE)], ids=["slow", "at-wire-rate", "in-turn-at-wire-rate"]
)
@pytest.mark.parametrize("config", [OPEN, SHAPED, ALONE], ids=["open", "shaped", "alone"])
def test_both_engines_are_one_under_other_configurations(tmp_path, config, pace):
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
