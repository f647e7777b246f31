"""The stand-alone lane where the nearest pays: every frame leaves, is dropped or is evicted, under its own colour, and marks are on the wire."""

import random
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from support.model_bindings import EARLY, ENQUEUE, FORCED, MARK, TAIL
from support.model_lane import Lane
from support.victims import CODES, CONFIG, TAILED, ip
from vermilion.configuration import config
from vermilion.profile import quantise


@pytest.mark.parametrize("text", [CONFIG, TAILED], ids=["red-form", "tail-drop-form"])
def test_every_frame_leaves_or_is_lost(text):
    seed = 7
    print("seed", seed)
    rng, now, verdicts, ecn, came, gone, taken = random.Random(seed), 0, [], [], [], [], []
    lane = Lane(quantise.hardware(config.parse(tomllib.loads(text % "100Mbit"))))
    classes = sum(CODES.values(), [])
    for _ in range(4000):
        frame = bytes(12) + b"\x08\0" + ip(rng, rng.choice(classes), rng.randrange(40), rng.randrange(800))
        now += rng.randrange(40_000)
        ecn.append(frame[15] & 3)
        came.append(len(frame))
        verdicts.append(lane.arrive(now, frame))
        left = lane.evicted()
        assert len(left) <= 1 and all(one.by == len(verdicts) - 1 and verdicts[one.by] == ENQUEUE for one in left)
        assert all(one.arrival < one.time and one.time >= now for one in left)
        gone += left
        taken += lane.take()
    left = taken + lane.drain()
    assert not lane.evicted()
    # Each frame has one fate: it leaves, is evicted and named, or is dropped as it comes.
    fates = Counter([sent.id for sent, _ in left] + [one.id for one in gone])
    fates.update(n for n, verdict in enumerate(verdicts) if verdict not in (ENQUEUE, MARK))
    assert fates == dict.fromkeys(range(len(verdicts)), 1)
    assert all(one.len_bytes == came[one.id] and verdicts[one.id] in (ENQUEUE, MARK) for one in gone)
    assert all(verdicts[sent.id] in (ENQUEUE, MARK) for sent, _ in left)
    last = {}
    for sent, data in left:
        assert last.get(sent.queue, -1) < sent.id, "frames of a queue have changed places"
        last[sent.queue] = sent.id
        assert len(data) == sent.len_bytes and (data[15] & 3 == 3) == (sent.ce_written == 1 or ecn[sent.id] == 3)
    evicted = marked = ce = 0
    for queue, colour, c in lane.counters():
        out = [sent for sent, _ in left if (sent.queue, sent.colour) == (queue, colour)]
        assert c.packets[ENQUEUE] + c.packets[MARK] == c.sent_packets + c.evicted_packets
        assert c.bytes[ENQUEUE] + c.bytes[MARK] == c.sent_bytes + c.evicted_bytes
        named = [one.len_bytes for one in gone if (one.queue, one.colour) == (queue, colour)]
        assert (c.evicted_packets, c.evicted_bytes) == (len(named), sum(named))
        assert c.sent_packets == len(out) and c.sent_bytes == sum(sent.len_bytes for sent in out)
        assert c.ce_written_packets == sum(sent.ce_written for sent in out) <= c.packets[MARK] + c.victim_marked_packets
        evicted, marked, ce = evicted + c.evicted_packets, marked + c.victim_marked_packets, ce + c.ce_written_packets
    assert evicted > 100 and ce > 10 and sum(verdict in (EARLY, FORCED, TAIL) for verdict in verdicts) > 200
    assert (marked > 20) == (text == CONFIG)


MEMORY = """
import resource, sys, tomllib
sys.path[:0] = %r
from support.model_lane import Lane
from support.victims import CONFIG
from vermilion.configuration import config
from vermilion.profile import quantise
text = (CONFIG %% "100Mbit").replace('"nearest"', '"%s"').replace("victim_by_colour = true", "")
record = quantise.hardware(config.parse(tomllib.loads(text)))
Lane(record)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
lanes = [Lane(record) for _ in range(20)]
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 20)
"""


def test_a_session_with_the_search_begins_small():
    """KiB a lane of five queues: lists and marks, and no place for a million packets that nobody has sent."""
    tests = Path(__file__).resolve().parents[1]
    got = {}
    for victim in ("arriving", "nearest"):
        script = MEMORY % ([str(tests), str(tests.parent)], victim)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        got[victim] = float(done.stdout)
    print(got)
    assert got["nearest"] - got["arriving"] < 2000
