"""Push-out in whole lanes: configurations, traffic from near and far, and who must pay for a tail drop."""

import random

from support.captures import pcap

CODES = {"plain": [10, 12, 14], "ecn": [18, 20, 22], "coloured": [26, 28, 30], "arriving": [34, 36, 38]}
CONFIG = """
[port]
rate = "%s"

[[queue]]
name = "plain"
dscp = ["AF11", "AF12", "AF13"]
limit = "60KB"
victim = "nearest"
average = { kind = "red", weight = 0.02 }
green = { curve = "gentle", min = "5KB", max = "20KB", p = 0.2 }
yellow = { curve = "red", min = "5KB", max = "20KB", p = 0.2 }
red = { curve = "red", min = "1KB", max = "10KB", p = 0.5 }

[[queue]]
name = "ecn"
dscp = ["AF21", "AF22", "AF23"]
limit_packets = "200 packets"
victim = "nearest"
ecn = true
spacing = "uniform"
average = { kind = "wred", weight = 0.1, unit = "packet", update = "both" }
green = { curve = "gentle", min = 5, max = 40, p = 0.3 }
yellow = { curve = "red", min = 5, max = 60, p = 0.3 }
red = { curve = "red", min = 5, max = 20, p = 0.3 }

[[queue]]
name = "coloured"
dscp = ["AF31", "AF32", "AF33"]
limit = "60KB"
victim = "nearest"
victim_by_colour = true
ecn = true
average = { kind = "rio-dc", weight = 0.05 }
green = { curve = "gentle", min = "5KB", max = "20KB", p = 0.2 }
yellow = { curve = "gentle", min = "3KB", max = "15KB", p = 0.3 }
red = { curve = "gentle", min = "1KB", max = "10KB", p = 0.5 }

[[queue]]
name = "arriving"
dscp = ["AF41", "AF42", "AF43"]
limit = "60KB"
average = { kind = "red", weight = 0.02 }
green = { curve = "gentle", min = "5KB", max = "20KB", p = 0.2 }
yellow = { curve = "gentle", min = "5KB", max = "20KB", p = 0.2 }
red = { curve = "gentle", min = "5KB", max = "20KB", p = 0.2 }

[[queue]]
name = "rest"
default = true
limit = "20KB"
"""

# The tail-drop form.
TAILED = """
[port]
rate = "%s"

[[queue]]
name = "bytes"
dscp = ["AF11", "AF12", "AF13"]
limit = "20KB"
victim = "nearest"
victim_window = 16

[[queue]]
name = "packets"
dscp = ["AF21", "AF22", "AF23"]
limit_packets = "30 packets"
victim = "nearest"
victim_window = 4
victim_by_colour = true

[[queue]]
name = "curve too"
dscp = ["AF31", "AF32", "AF33"]
limit = "20KB"
limit_packets = "100 packets"
victim = "nearest"
victim_window = 1
ecn = true
average = { weight = 0.01 }
green = { curve = "gentle", min = "2KB", max = "15KB", p = 0.1 }

[[queue]]
name = "arriving"
dscp = ["AF41", "AF42", "AF43"]
limit = "20KB"

[[queue]]
name = "rest"
default = true
limit = "20KB"
"""


def ip(rng, code, distance, payload):
    """A UDP packet that has come `distance` hops, from a sender that begins with 64."""
    head = bytearray(bytes([0x45, code << 2 | rng.choice((0, 0, 1, 2, 3))]) + (28 + payload).to_bytes(2, "big"))
    head += bytes([0, 0, 0, 0, 64 - distance, 17, 0, 0]) + rng.randbytes(8)
    words = sum(int.from_bytes(head[i : i + 2], "big") for i in range(0, 20, 2))
    words = (words & 0xFFFF) + (words >> 16)
    head[10:12] = (0xFFFF - ((words & 0xFFFF) + (words >> 16))).to_bytes(2, "big")
    return bytes(head) + bytes(4) + (8 + payload).to_bytes(2, "big") + bytes(2 + payload)


def traffic(path, seed, count, classes=tuple(CODES), longest=1400):
    """Frames that come in bursts to classes and colours, from near and far."""
    rng, frames, now = random.Random(seed), [], 0
    codes = [rng.choice(CODES[rng.choice(classes)]) for _ in range(8)]
    for number in range(count):
        if number % 97 == 0:
            codes = [rng.choice(CODES[rng.choice(classes)]) for _ in range(8)]
            now += rng.choice((0, 100, 200_000))
        payload = rng.choice((0, 18, rng.randrange(longest), longest))
        packet = ip(rng, rng.choice(codes), rng.choice((1, 2, 5, 9, rng.randrange(32))), payload)
        frame = bytes(12) + b"\x08\0" + packet
        now += rng.randrange(1500)
        frames.append((now, frame, len(frame)))
    return pcap(path, frames)


def check_tail_drops(rows):
    """The victims of tail drops, by the trace."""
    rows = [row for row in rows if row["refresh"] == "0"]
    push_outs = [row for row in rows if row["evicted"]]
    evicted = [row for row in push_outs if row["evicted"] == "1"]
    print(
        {"push_outs": len(push_outs), "evicted": len(evicted), "stale": sum(row["stale"] == "1" for row in push_outs)}
    )
    assert all(row["provisional_verdict"] == "4" and row["victim_marked"] == "0" for row in push_outs)
    assert {row["queue"] for row in push_outs} == {"0", "1", "2"}
    assert all((row["provisional_verdict"] == "4") == bool(row["evicted"]) for row in rows if row["queue"] in "012")
    for row in evicted:
        assert row["verdict"] == "0" and int(row["victim_distance"]) <= int(row["distance"])
        assert row["queue"] != "1" or row["victim_colour"] >= row["colour"]
        assert row["queue"] != "0" or int(row["victim_bytes"]) >= int(row["len_bytes"])
    assert all(row["verdict"] == "4" for row in push_outs if row["evicted"] == "0")
