"""Markers in a whole lane: colours decide queueing, counters and the DSCP on the wire, in RTL and model alike."""

from test_engines import SHIPPED, same

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
