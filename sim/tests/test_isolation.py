"""An egress that stands still, and one that trickles, take nothing from the others: frame by frame what their queues send is what they send alone."""

import json
import random
from pathlib import Path

import pytest
from engine_outputs import run
from test_pool import MACS, PRESET, SHAPE, SHARE, frame, record
from test_simulator import pcap

from vermilion import build
from vermilion.ttl_option import packets

pytestmark = pytest.mark.slow

STILL, TRICKLES, *BUSY = range(4)  # egresses
RATES = ["10Gbit", "64Kbit", "10Gbit", "10Gbit"]
NS = 60_000


def at_line_rate(seed: int, who: int) -> list[tuple[int, bytes]]:
    """Frames on one input as a port of 10 Gbit/s brings them, to all queues of the egress of the same number."""
    rng, out, time = random.Random(8 * seed + who), [], 0
    while time < NS:
        size = rng.choice((60, 60, 60, 65, 300, 1514))
        out.append((time, frame(who, rng.randrange(SHARE), size)))
        time += (size + 24) * 8 // 10
    return out


def sent_by_the_busy(folder: Path, seed: int, senders, reserve: int) -> tuple[list, dict]:
    """Frames that came out of the two busy egresses, of each queue in its order; and the counters of these queues."""
    folder.mkdir()
    pool = {"size": SHAPE.cells - 64, "reserve": [0, 0, reserve, reserve], "cap": [0] * 4}
    (folder / "words.json").write_text(json.dumps(record(pool, {}, RATES, [0, 1, 2, 3])))
    frames = sorted((each for who in senders for each in at_line_rate(seed, who)), key=lambda each: each[0])
    capture = pcap(folder / "in.pcap", [(time, data, len(data)) for time, data in frames])
    outputs = run(build.simulator(PRESET), folder, folder / "words.json", capture, "--hold", 1 << STILL)
    outputs.check()
    came = [data for _, _, _, data, *_ in packets(folder / "out.pcapng")]
    counted = {each["index"]: each["colours"] for each in outputs.stats["queues"] if each["index"] // SHARE in BUSY}
    of = {(who, dscp): [] for who in BUSY for dscp in range(64)}
    for data in came:
        who = next((who for who in BUSY if data.startswith(MACS[who])), None)
        if who is not None:
            of[who, data[15] >> 2].append(data)
    return of, counted


@pytest.mark.parametrize("seed", range(1, 4))
def test_what_others_send_is_frame_for_frame_what_they_send_alone(tmp_path, seed):
    """One egress is paused until all others rest, one shaped to 64 kbit/s; both are flooded. Without reserves they take cells of the others.

    Times are not compared, nor the order of frames of several queues: egresses share the cycles in which packets are promoted to their queues' heads.
    """
    print("seed", seed)
    alone = sent_by_the_busy(tmp_path / "alone", seed, BUSY, 200)
    assert sent_by_the_busy(tmp_path / "beside", seed, range(4), 200) == alone
    for who in BUSY:
        assert sum(len(alone[0][who, dscp]) for dscp in range(64)) == len(at_line_rate(seed, who))
    assert sent_by_the_busy(tmp_path / "without", seed, range(4), 0) != alone
