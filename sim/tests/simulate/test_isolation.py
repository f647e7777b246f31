"""An egress that stands still, and one that trickles, take nothing from the others: frame by frame what their queues send is what they send alone, and when."""

import json
import random
from pathlib import Path

import pytest

from support.captures import pcap
from support.engine_outputs import run
from support.pool_lanes import MACS, PRESET, SHAPE, SHARE, frame, record
from vermilion.configuration.ttl_option import packets
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

STILL, TRICKLES, *BUSY = range(4)  # egresses
RATES = ["10Gbit", "64Kbit", "10Gbit", "10Gbit"]
NS = 60_000
LONGEST_NS = (1514 + 24) * 8 // 10  # the longest frame on its wire
TURN_NS = 4 * SHAPE.egresses  # how long an egress may wait for its turn at the queues


def at_line_rate(seed: int, who: int) -> list[tuple[int, bytes]]:
    """Frames on one input as a port of 10 Gbit/s brings them, to all queues of the egress of the same number."""
    rng, out, time = random.Random(8 * seed + who), [], 0
    while time < NS:
        size = rng.choice((60, 60, 60, 65, 300, 1514))
        out.append((time, frame(who, rng.randrange(SHARE), size)))
        time += (size + 24) * 8 // 10
    return out


def sent_by_the_busy(folder: Path, seed: int, senders, reserve: int) -> tuple[dict, dict, dict]:
    """Frames that came out of the two busy egresses, of each queue in its order; the counters of these queues; and each egress's ends of frames in ns."""
    folder.mkdir()
    pool = {"size": SHAPE.cells - 64, "reserve": [0, 0, reserve, reserve], "cap": [0] * 4}
    (folder / "words.json").write_text(json.dumps(record(pool, {}, RATES, [0, 1, 2, 3])))
    frames = sorted((each for who in senders for each in at_line_rate(seed, who)), key=lambda each: each[0])
    capture = pcap(folder / "in.pcap", [(time, data, len(data)) for time, data in frames])
    outputs = run(build.simulator(PRESET), folder, folder / "words.json", capture, "--hold", 1 << STILL)
    outputs.check()
    came = [(when, data) for _, when, _, data, *_ in packets(folder / "out.pcapng")]
    counted = {each["index"]: each["colours"] for each in outputs.stats["queues"] if each["index"] // SHARE in BUSY}
    of = {(who, dscp): [] for who in BUSY for dscp in range(64)}
    times = {who: [] for who in BUSY}
    for when, data in came:
        who = next((who for who in BUSY if data.startswith(MACS[who])), None)
        if who is not None:
            of[who, data[15] >> 2].append(data)
            times[who].append(when)
    return of, counted, times


@pytest.mark.parametrize("seed", range(1, 4))
def test_what_others_send_is_frame_for_frame_what_they_send_alone(tmp_path, seed):
    """One egress is paused until all others rest, one shaped to 64 kbit/s; both are flooded. Without reserves they take cells of the others.

    Egresses share the cycles in which packets are promoted to their queues' heads, so two queues' frames may change places and a frame may end earlier or
    later. That is never by as long as the longest frame takes, and the last frame of an egress ends when it did.
    """
    print("seed", seed)
    *alone, alone_at = sent_by_the_busy(tmp_path / "alone", seed, BUSY, 200)
    *beside, beside_at = sent_by_the_busy(tmp_path / "beside", seed, range(4), 200)
    assert beside == alone
    for who in BUSY:
        shifts = [here - there for here, there in zip(beside_at[who], alone_at[who], strict=True)]
        print(
            f"egress {who}: {len(shifts)} frames, shifted by up to {max(map(abs, shifts))} ns, the last by {shifts[-1]}"
        )
        assert max(map(abs, shifts)) < LONGEST_NS
        assert abs(shifts[-1]) <= TURN_NS
    for who in BUSY:
        assert sum(len(alone[0][who, dscp]) for dscp in range(64)) == len(at_line_rate(seed, who))
    *without, _ = sent_by_the_busy(tmp_path / "without", seed, range(4), 0)
    assert without != alone
