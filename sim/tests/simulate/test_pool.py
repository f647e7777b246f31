"""The shared pool of cells: held against closed forms and against what a reserve promises, not against the model alone.

Who else says it: Choudhury and Hahne, "Dynamic Queue Length Thresholds for Shared-Memory Packet Switches", IEEE/ACM Trans. Networking 6(2), 1998:
n queues that are always full, each with the threshold alpha times the free cells of B, hold alpha B / (1 + n alpha) cells each.
"""

import csv
import json
import random
import tomllib

import pytest

from support import random_lanes
from support.captures import pcap
from support.engine_outputs import run, same, write_words
from support.nightly import nightly
from support.pool_lanes import PRESET, SHAPE, SHARE, egress, frame, record
from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

CELL = 64
TAIL, ENQUEUE = "4", "0"


def decisions(folder, words: dict, frames: list, preset: str = PRESET) -> list[dict]:
    """The trace of a run whose every decision the model has confirmed."""
    (folder / "words.json").write_text(json.dumps(words))
    capture = pcap(folder / "in.pcap", [(time, data, len(data)) for time, data in frames])
    trace = folder / "trace.csv"
    outputs = run(build.simulator(preset), folder, folder / "words.json", capture, "--trace", trace)
    outputs.check()
    with trace.open() as lines:
        return [line for line in csv.DictReader(lines) if line["refresh"] == "0"]


def saturated(folder, code: int, queues: int, size: int, pool: int, rate: str, rounds: int) -> list[dict]:
    """A packet for each queue of egress 0 in turn, far more than fit."""
    words = record(
        {"size": pool, "reserve": [0] * 4, "cap": [0] * 4},
        {queue: code for queue in range(queues)},
        [rate] + ["10Gbit"] * 3,
        [0] * SHAPE.inputs,
    )
    for queue in words["queues"]:
        queue["quantum"] = size
    gap = 4 * size  # ns, so that a verdict sees the packet before
    return decisions(
        folder, words, [(gap * i, frame(i % SHAPE.inputs, i % queues, size)) for i in range(rounds * queues)]
    )


@pytest.mark.parametrize("size", [60, 1000])
@pytest.mark.parametrize("code, queues", [(1, 1), (5, 3), (6, 1), (7, 8), (8, 2), (8, 5), (9, 4), (10, 3), (11, 8)])
def test_saturated_queues_hold_what_the_closed_form_says(tmp_path, code, queues, size):
    """Filled in turn, each queue holds alpha B / (1 + n alpha) cells at the end, rounded to whole packets."""
    cells, pool, alpha = -(-size // CELL), 640, 2.0 ** (code - 8)
    seen = saturated(tmp_path, code, queues, size, pool, "64Kbit", 2 * pool // cells // queues + 2)
    wanted = alpha * pool / (1 + queues * alpha)
    for queue in range(queues):
        last = [line for line in seen if int(line["queue"]) == queue][-1]
        held = int(last["queued_packets"]) * cells
        assert last["verdict"] == TAIL and abs(held - wanted) <= max(cells, 1), (queue, held, wanted)


@pytest.mark.parametrize("code, queues", [(5, 3), (6, 1), (7, 8), (8, 2), (8, 5)])
def test_they_hold_it_while_packets_leave(tmp_path, code, queues):
    """Packets of a cell leave at a quarter of the pace at which they come: at most two cells from it, at every arrival."""
    pool, alpha, size = 320, 2.0 ** (code - 8), 60
    seen = saturated(tmp_path, code, queues, size, pool, "500Mbit", 4 * pool // queues)
    wanted = alpha * pool / (1 + queues * alpha)
    steady = seen[len(seen) // 2 :]
    held = [int(line["queued_packets"]) for line in steady]
    assert {line["verdict"] for line in steady} == {TAIL, ENQUEUE}
    assert wanted - 2 <= min(held) and max(held) <= wanted + 2, (wanted, min(held), max(held))


@pytest.mark.parametrize("seed", [*range(1, 4), *map(nightly, range(4, 7))])
def test_a_reserve_is_there_whatever_others_do(tmp_path, seed):
    """Egress 1 asks for no more than its reserve, the others for everything: none of its packets is refused; without the reserve some are."""
    print("seed", seed)
    rng = random.Random(seed)
    reserve, size = rng.randrange(40, 120), 700
    frames, time = [], 0
    for _ in range(4000):
        time += rng.randrange(4, 100)
        who = rng.choice((0, 0, 0, 2, 3))
        frames.append((time, frame(who, rng.randrange(SHARE), rng.choice((60, 300, 1514)))))
        if rng.random() < 0.2:
            frames.append((time, frame(1, rng.randrange(SHARE), rng.choice((60, 300, 1000)))))
    refused = {}
    for kept in (reserve, 0):
        # Egress 1's limits hold it below its reserve: packets on their way count too, so 30 cells less.
        words = record(
            {"size": size, "reserve": [0, kept, 0, 0], "cap": [0] * 4},
            {},
            ["10Mbit", "2Gbit", "10Mbit", "10Mbit"],
            [0, 1, 2, 3],
        )
        for queue in words["queues"]:
            if queue["index"] // SHARE == 1:
                queue["limit"] = (reserve - 30) * CELL // SHARE
        of = [line for line in decisions(tmp_path, words, frames) if int(line["queue"]) // SHARE == 1]
        limit = (reserve - 30) * CELL // SHARE
        within = [line for line in of if int(line["queued_bytes"]) + int(line["len_bytes"]) <= limit]
        refused[kept] = sum(line["verdict"] != ENQUEUE for line in within)
        assert len(within) > 30
    assert refused[reserve] == 0 and refused[0] > 0, refused


def test_a_cap_holds_and_leaves_the_rest_to_others(tmp_path):
    """Of two egresses that are flooded the capped one holds its cap, but for a packet, and the other the rest of the pool."""
    frames = [(100 * i, frame(i % 2, i // 2 % SHARE, 1000)) for i in range(2000)]
    words = record({"size": 700, "reserve": [0] * 4, "cap": [160, 0, 0, 0]}, {}, ["10Mbit"] * 4, [0, 1, 2, 3])
    held, most = [0] * SHAPE.egresses, [0] * SHAPE.egresses
    for line in decisions(tmp_path, words, frames):
        who = int(line["queue"]) // SHARE
        held[who] += 16 * (line["verdict"] == ENQUEUE)
        most[who] = held[who]  # hardly any packet leaves meanwhile
    assert 160 - 16 < most[0] <= 160 + 16 * 3, most
    assert 540 - 16 < most[1] <= 540 + 16 * 3, most


def test_a_file_gives_the_pool(tmp_path):
    """Two of four flooded queues have alpha 1: both engines agree, and each of the two holds at most its threshold in a pool of 300 cells."""
    text = '[port]\nrate = "1Mbit"\n[pool]\nsize = "19.25KB"\n'
    for queue in range(4):
        text += f'[[queue]]\nname = "q{queue}"\ndscp = [{queue}]\n' + "alpha = 1\n" * (queue < 2)
    asked = config.parse(tomllib.loads(text), 4)
    words = write_words(tmp_path / "words.json", asked)
    assert json.loads(words.read_text())["pool"]["size"] == 300
    frames = [(800 * i, frame(0, i % 2, 60)) for i in range(400)]
    frames += [(400_000 + 800 * i, frame(0, 2 + i % 2, 60)) for i in range(400)]
    capture = pcap(tmp_path / "in.pcap", [(time, data, len(data)) for time, data in frames])
    program, trace = build.simulator("lab"), tmp_path / "trace.csv"
    rtl = run(program, tmp_path, words, capture, "--trace", trace)
    rtl.check()
    same(rtl, run(program, tmp_path, words, capture, "--engine", "model"))
    with trace.open() as lines:
        seen = [line for line in csv.DictReader(lines) if line["refresh"] == "0"]
    admitted = [sum(line["queue"] == str(q) and line["verdict"] == ENQUEUE for line in seen) for q in range(4)]
    assert admitted[0] + admitted[1] == pytest.approx(200, abs=4), admitted
    assert sum(admitted) == pytest.approx(300, abs=4), admitted


@pytest.mark.parametrize("preset, size, gap", [("lab", 9600, 8000), (PRESET, 1514, 400), (PRESET, 9600, 2500)])
def test_the_advised_size_leaves_room_for_what_is_not_counted(tmp_path, preset, size, gap):
    """All ports are flooded with long frames: the pool refuses some, and no frame finds the buffer without a cell (docs/configuration/ports.md)."""
    shape, longest = build.shape(preset), -(-size // CELL)
    room = shape.inputs * (2 * longest + 40) + shape.egresses * (2 * longest + 3)
    pool = {"size": max(shape.cells - room, 0), "reserve": [0] * shape.egresses, "cap": [0] * shape.egresses}
    if pool["size"] < longest:
        pytest.skip("the buffer is too small for such frames")
    words = record(pool, {}, ["1Gbit"] * 4, list(range(4)))
    if shape.egresses == 1:
        words = quantise.hardware(egress("1Gbit")) | {"pool": pool}
    frames = [(gap * i, frame(i % SHAPE.inputs, i // 4 % SHARE, size)) for i in range(12 * shape.cells // longest)]
    verdicts = {line["verdict"] for line in decisions(tmp_path, words, frames, preset)}
    assert verdicts == {TAIL, ENQUEUE}, verdicts


def test_a_victim_where_the_pool_refuses_is_long_enough(tmp_path):
    """With `victim_window` a push-out starts there too: it gives back at least the bytes that the arriving packet takes."""
    print("seed 5")
    rng = random.Random(5)
    text = '[port]\nrate = "4Gbit"\n[[queue]]\nname = "all"\ndefault = true\nlimit = "1MB"\n'
    asked = config.parse(tomllib.loads(text + 'victim = "nearest"\nvictim_window = 16\n'), 16)
    words = quantise.hardware(asked) | {"pool": {"size": 200, "reserve": [0], "cap": [0]}}
    frames = [(200 * i, frame(0, 0, rng.randrange(60, 1500), rng.randrange(34, 65))) for i in range(4000)]
    full = [line for line in decisions(tmp_path, words, frames, "lab") if line["pool_full"] == "1"]
    pushed = [line for line in full if line["evicted"] == "1"]
    assert len(pushed) > 100 and any(line["verdict"] == TAIL for line in full)
    assert all(int(line["victim_bytes"]) >= int(line["len_bytes"]) for line in pushed)


@pytest.mark.parametrize("seed", range(1, 9))
def test_one_egress_shares_its_cells_as_the_model_does(tmp_path, seed):
    """A lane with one egress, which the model runs alone too: captures and statistics of both engines are equal."""
    print("seed", seed)
    rng = random.Random(seed)
    asked = random_lanes.configuration(rng, build.shape("lab"))
    pool = {
        "size": rng.randrange(20, 600),
        "reserve": [rng.choice((0, rng.randrange(20)))],
        "cap": [rng.choice((0, 300))],
    }
    words = write_words(tmp_path / "words.json", asked, {"pool": pool})
    held = json.loads(words.read_text())
    for queue in held["queues"]:
        queue["alpha"] = rng.choice((0, *range(1, 12)))
    words.write_text(json.dumps(held))
    capture = random_lanes.capture(tmp_path / "in.pcap", rng, 400)
    program = build.simulator("lab")
    rtl = run(program, tmp_path, words, capture)
    rtl.check()
    same(rtl, run(program, tmp_path, words, capture, "--engine", "model"))
