"""`--engine model` is the lane without the RTL: the same output capture, to the byte and the nanosecond, and the same counters."""

import pytest
from test_run import CAPTURES, REAL, ROOT, run

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
green   = { curve = "gentle", min = "2KB", max = "10KB", p = 0.1 }
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


def same(tmp_path, capture, *arguments):
    """Both engines; returns the counters, which agree."""
    got = {}
    for engine in ("rtl", "model"):
        out = tmp_path / f"{engine}.pcapng"
        stats = run(tmp_path, capture, "--engine", engine, "--out", out, *arguments)
        got[engine] = (out.read_bytes(), stats["queues"], stats["seconds"], stats["clocks"])
    (rtl, counters, *times), (model, modelled, *modelled_times) = got["rtl"], got["model"]
    assert modelled == counters
    assert modelled_times == times
    assert model == rtl, f"the captures differ, {len(model)} and {len(rtl)} bytes"
    return counters


@pytest.mark.parametrize("speed", [1, 20])
def test_both_engines_are_one_on_the_shipped_capture(tmp_path, speed):
    counters = same(tmp_path, SHIPPED, "--speed", speed)
    if speed == 20:  # the buffer runs out of cells, too
        assert sum(c["nobuf"]["packets"] for q in counters for c in q["colours"]) > 0


@pytest.mark.parametrize("speed", [1, 20])
@pytest.mark.parametrize("name", REAL)
def test_both_engines_are_one_on_real_traffic(tmp_path, name, speed):
    capture = CAPTURES / f"{name}.pcap"
    if not capture.exists():
        pytest.skip(f"the real captures are not on this machine ({capture.name})")
    same(tmp_path, capture, "--speed", speed)


@pytest.mark.parametrize("pace", [("--speed", 1), ("--rate", 15_000_000_000)], ids=["slow", "at-wire-rate"])
@pytest.mark.parametrize("config", [OPEN, SHAPED, ALONE], ids=["open", "shaped", "alone"])
def test_both_engines_are_one_under_other_configurations(tmp_path, config, pace):
    file = tmp_path / "config.toml"
    file.write_text(config)
    counters = same(tmp_path, SHIPPED, "--config", file, "--seed", 7, *pace)
    assert sum(c["sent"]["packets"] for q in counters for c in q["colours"]) > 0
