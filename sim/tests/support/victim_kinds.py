"""Push-out under every curve and spacing: a configuration, and frames of every kind."""

import random

from support.captures import pcap
from support.victims import ip

# A queue for each: an extended RED with size weight and wait spacing; ECN curves of their own; IPv6 by colour; all else.
RED_FORM = """
[port]
rate = "%s"

[[queue]]
name = "exred"
dscp = ["AF11", "AF12", "AF13"]
limit = "120KB"
victim = "nearest"
spacing = "wait"
size_weight = "700B"
average = { kind = "rio-c", weight = 0.05 }
green = { curve = "exred", min = "10KB", max = "30KB", p = 0.15 }
yellow = { curve = "exred", min = "5KB", max = "20KB", p = 0.1, end = "100KB" }
red = { curve = "gentle", min = "2KB", max = "15KB", p = 0.2 }

[[queue]]
name = "own marks"
dscp = ["AF21", "AF22", "AF23"]
limit_packets = "200p"
victim = "nearest"
ecn = true
spacing = "uniform"
average = { weight = 0.1, unit = "packet", update = "both" }
green = { curve = "gentle", min = 20, max = 60, p = 0.1, ecn = { curve = "exred", min = 5, max = 20, p = 0.05 } }
yellow = { curve = "tail", ecn = { min = 5, max = 5, p = 1.0 } }
red = { curve = "red", min = 5, max = 40, p = 0.2, ecn = { curve = "gentle", min = 2, max = 20, p = 0.3 } }

[[queue]]
name = "six"
dscp = ["AF31", "AF32", "AF33"]
limit = "120KB"
victim = "nearest"
victim_by_colour = true
ecn = true
distance = { share = true }
average = { kind = "rio-dc", weight = 0.05 }
green = { curve = "gentle", min = "3KB", max = "10KB", p = 0.2 }
yellow = { curve = "red", min = "3KB", max = "10KB", p = 0.3 }
red = { curve = "exred", min = "2KB", max = "20KB", p = 0.1 }

[[queue]]
name = "rest"
default = true
limit = "120KB"
victim = "nearest"
spacing = "wait"
average = { weight = 0.05 }
green = { curve = "gentle", min = "5KB", max = "20KB", p = 0.2 }
"""

CODES = {"four": [10, 12, 14, 18, 20, 22], "six": [26, 28, 30]}
JUMBO = 8800


def six(rng, hops):
    code, ecn, size = rng.choice(CODES["six"]), rng.choice((0, 0, 1, 2, 3)), rng.choice((0, 60, rng.randrange(1400)))
    head = (6 << 28 | (code << 2 | ecn) << 20).to_bytes(4, "big") + size.to_bytes(2, "big") + bytes([17, 64 - hops])
    return bytes(12) + b"\x86\xdd" + head + rng.randbytes(32) + bytes(size)


def frame(rng):
    kind, hops = rng.random(), rng.choice((1, 3, 9, rng.randrange(40)))
    if kind < 0.3:
        return six(rng, hops)
    if kind < 0.45:  # ARP, a runt, what says it is IP and is not
        return rng.choice((bytes(12) + b"\x08\x06" + bytes(46), bytes(20), bytes(12) + b"\x08\0" + rng.randbytes(90)))
    longest = JUMBO if kind > 0.95 else rng.choice((20, 600, 1400))
    hops = 64 if 0.85 < kind < 0.95 else hops
    packet = ip(rng, rng.choice([0, *CODES["four"]]), hops, rng.choice((longest, rng.randrange(longest))))
    tag = b"\x81\0\0\x05" if rng.random() < 0.2 else b""
    return bytes(12) + tag + b"\x08\0" + packet


def mixed(path, seed, count):
    rng, frames, now = random.Random(seed), [], 0
    for number in range(count):
        now += rng.randrange(3000) + (number % 700 == 0) * 300_000
        data = frame(rng)
        frames.append((now, data, len(data)))
    return pcap(path, frames)
