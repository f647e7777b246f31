"""Markers in a whole lane: colours decide queueing, counters and the DSCP on the wire, in RTL and model alike."""

import struct

import pytest

from support.captures import pcap
from support.runs import SHIPPED, same
from vermilion.simulation import show

pytestmark = pytest.mark.slow

CONFIG = """
[port]
rate = "4Mbit"

[[queue]]
name    = "af1"
dscp    = ["AF11", "AF12", "AF13"]
remark  = { green = "AF11", yellow = "AF12", red = "AF13" }
limit   = "30KB"
average = { kind = "rio-c", weight = 0.02 }
green   = { curve = "red", min = "10KB", max = "20KB", p = 0.05 }
yellow  = { curve = "red", min = "5KB", max = "15KB", p = 0.1 }
red     = { curve = "red", min = "2KB", max = "8KB", p = 0.3 }

[[queue]]
name    = "af2"
dscp    = ["AF21", "AF22", "AF23"]
remark  = { green = "AF21", yellow = "AF22", red = "AF23" }
limit   = "30KB"

[[queue]]
name    = "af3"
dscp    = ["AF31", "AF32", "AF33"]
limit   = "30KB"

[[queue]]
name    = "af4"
dscp    = ["AF41", "AF42", "AF43"]
remark  = { green = "AF41", yellow = "AF42", red = "AF43" }
limit   = "30KB"

[[queue]]
name    = "rest"
default = true
limit   = "30KB"
remark  = { red = "LE" }

[[marker]]
queue = "af1"
kind = "redp"
rate = "300kbit"
bucket = "60p"
low = "15p"
high = "45p"
p_drop = 0.02

[[marker]]
queue = "af2"
kind = "srtcm"
cir = "200kbit"
cbs = "6KB"
ebs = "6KB"

[[marker]]
queue = "af3"
kind = "trtcm"
cir = "100kbit"
cbs = "4KB"
pir = "300kbit"
pbs = "8KB"
colour_aware = true
drop = ["red"]

[[marker]]
queue = "af4"
kind = "3cpm"
increase = "factor"

[[marker]]
queue = "rest"
kind = "leaf"
rate = "500kbit"
burst = "10KB"
"""


def test_both_engines_mark_alike_and_every_marker_acts(tmp_path):
    file = tmp_path / "markers.toml"
    file.write_text(CONFIG)
    stats, _ = same(tmp_path, SHIPPED, "--config", file, "--seed", 3, traced=True)
    queues = {q["name"]: q for q in stats["queues"]}
    af4 = queues["af4"]
    moved = {
        name: {(i, o) for i, row in enumerate(q["colours_in_out"]) for o, n in enumerate(row) if n and i != o}
        for name, q in queues.items()
    }
    assert (0, 1) in moved["af1"]  # demoted
    assert moved["af1"] <= {(0, 1), (1, 0)}  # red stays red, nothing becomes it
    assert {(0, 1), (0, 2)} <= moved["af2"]
    assert moved["af3"] <= {(0, 1), (0, 2), (1, 2)}  # aware: never better than it came
    assert sum(c["policed"]["packets"] for c in queues["af3"]["colours"]) > 0
    assert moved["rest"] == {(0, 2)}
    assert {(i, o) for i, o in moved["af4"]} >= {(0, 1), (1, 0)} and af4["colours_in_out"][0][
        0
    ] > 0  # credits, then yellow
    assert any(row[2] for row in af4["colours_in_out"])  # probes
    for q in queues.values():
        arrived = sum(c["arrived"]["packets"] for c in q["colours"])
        assert arrived == sum(map(sum, q["colours_in_out"]))


FLOWS = """
[port]
rate = "10Gbit"

[[queue]]
name    = "flows"
default = true
limit   = "1MB"

[[queue]]
name    = "other"
dscp    = ["AF11"]
limit   = "1MB"

[[marker]]
queue = "flows"
kind  = "3cpm"
idle  = "400ms"

[[marker]]
queue = "other"
kind  = "wpm"
"""


def segment(flow, seq, flags=16, payload=1, dscp=0):
    """A frame of TCP flow number `flow`."""
    ports = struct.pack(">HHIIBBHHH", 1024 + flow % 50000, 80, seq % 2**32, 0, 0x50, flags, 9000, 0, 0)
    ip = struct.pack(">BBHHHBBHII", 0x45, 4 * dscp, 40 + payload, 0, 0, 64, 6, 0, 0x0A000000 + flow, 0x0A000001)
    return bytes(12) + b"\x08\0" + ip + ports + bytes(payload)


def crowd():
    """SYNs that are pushed out, more flows than the table takes, losses, a jump, and flows that come back too late."""
    for flow in range(10000, 12000):
        yield segment(flow, 1, flags=2, payload=0)
    for flow in range(4500):
        yield from (segment(flow, seq) for seq in range(1000, 5000, 1000))
    for seq in (*range(5000, 30000, 1000), 5000, 2**31 + 100000):
        yield from (segment(7, seq), segment(7, seq, dscp=10))


def test_every_event_of_flows_is_counted_alike_by_registers_model_and_trace(tmp_path):
    frames = [(number * 10_000, data, len(data)) for number, data in enumerate(crowd())]
    frames += [
        (10**9 + number * 10_000, data, len(data)) for number, data in enumerate(segment(f, 9000) for f in range(50))
    ]
    (tmp_path / "flows.toml").write_text(FLOWS)
    capture = pcap(tmp_path / "in.pcap", frames)
    stats, trace = same(tmp_path, capture, "--config", tmp_path / "flows.toml", traced=True)
    total = stats["flow_events"]  # the RTL's registers
    print(total)
    assert list(total) == list(show.FLOW_EVENTS) and min(total.values()) > 0
    at = trace.splitlines()[0].split(",").index("flow_events")
    for name, count in total.items():
        assert count == sum(q["marker"]["flow_events"][name] for q in stats["queues"])
        assert count == sum(name in line.split(",")[at].split() for line in trace.splitlines()[1:])
    assert total["collision"] >= total["table_full"] + total["displaced"]
    flows, other = (q["marker"] for q in stats["queues"])
    assert (flows["flows"], other["flows"]) == (6500, 1) and len(flows["busiest"]) == 12
    assert flows["busiest"][0]["from"] == "10.0.0.7:1031" and flows["busiest"][0]["to"] == "10.0.0.1:80"
    full = [line.split(",") for line in trace.splitlines() if "table_full" in line]
    number = at - 6  # the flow's number, five columns of state, what happened
    assert trace.splitlines()[0].split(",")[number] == "flow"
    assert all(row[number] and row[number + 1 : at] == [""] * 5 for row in full)  # it has a number, and no state
