"""The stand-alone lane where the nearest pays: every frame leaves, is dropped or is evicted, under its own colour, and marks are on the wire."""

import random
import tomllib

import pytest
from model_bindings import EARLY, ENQUEUE, FORCED, MARK, TAIL
from test_model_lane import Lane
from test_victims_run import CODES, CONFIG, TAILED, ip

from vermilion import config, quantise


@pytest.mark.parametrize("text", [CONFIG, TAILED], ids=["red-form", "tail-drop-form"])
def test_every_frame_leaves_or_pays(text):
    seed = 7
    print("seed", seed)
    rng, now, verdicts, ecn = random.Random(seed), 0, [], []
    lane = Lane(quantise.hardware(config.parse(tomllib.loads(text % "100Mbit"))))
    classes = sum(CODES.values(), [])
    for _ in range(4000):
        frame = bytes(12) + b"\x08\0" + ip(rng, rng.choice(classes), rng.randrange(40), rng.randrange(800))
        now += rng.randrange(40_000)
        ecn.append(frame[15] & 3)
        verdicts.append(lane.arrive(now, frame))
    left = lane.drain()
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
        assert c.sent_packets == len(out) and c.sent_bytes == sum(sent.len_bytes for sent in out)
        assert c.ce_written_packets == sum(sent.ce_written for sent in out) <= c.packets[MARK] + c.victim_marked_packets
        evicted, marked, ce = evicted + c.evicted_packets, marked + c.victim_marked_packets, ce + c.ce_written_packets
    assert evicted > 100 and ce > 10 and sum(verdict in (EARLY, FORCED, TAIL) for verdict in verdicts) > 200
    assert (marked > 20) == (text == CONFIG)
