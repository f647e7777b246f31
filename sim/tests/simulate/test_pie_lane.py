"""PIE in whole lanes: both engines decide the same about every packet, and as RFC 8033 does in real numbers."""

import csv
import io
import random

import pytest
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.engine_outputs import run as ran
from support.engine_outputs import same as equal
from support.engine_outputs import write_words
from support.nightly import NIGHTLY, nightly
from support.runs import run, same, total
from support.tc_traffic import frame
from vermilion.configuration import config
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

TICK = 65_536  # ns, of updates
SECOND = 10**9
START = 10**6  # lane time of a capture's first frame


def bursts(rng: random.Random, count: int, mean: int, period: int = 400) -> list:
    """Frames of a lane that is overloaded, then not, then again; `mean`: ns between them in an overload. None comes just after a tick."""
    now, frames = 0, []
    for i in range(count):
        size = rng.choice((60, 500, 1500))
        if i:  # a run begins with the first frame
            now += rng.choice((0, mean // 2, 2 * mean)) if i % period < 0.75 * period else 3 * mean
        at = now if 2000 <= (now + START) % TICK <= TICK - 2000 else now + 4000
        frames.append((at, frame(size, dscp=rng.choice((0, 10, 18)), ecn=rng.randrange(4)), size))
        now = at + 3000  # no two at once: the second would not see the first in its backlog
    return frames


def random_pie(rng: random.Random, index: int) -> dict:
    return {
        "aqm": "pie",
        "target": f"{rng.choice((200, 1000))}us",
        "tupdate": f"{rng.choice((1000, 2000, 5000))}us",
        "pie_alpha": rng.choice((1, 0.3)),
        "pie_beta": rng.choice((3, 1)),
        "burst_allowance": rng.choice(("0ns", "3ms")),
        "mtu": rng.choice((64, 300, 1000)),
        "bytemode": rng.random() < 0.3,
        "ecn": rng.random() < 0.8,
        "limit": rng.choice(("30KB", "1MB")),
    } | ({"priority": index} if rng.random() < 0.3 else {"quantum": rng.choice((64, 1522))})


@pytest.mark.parametrize("preset", ["lab", nightly("nic100g-pie")])
def test_both_engines_are_one_with_pie(tmp_path, preset):
    """Two queues with PIE, or one beside a queue with CoDel where the build has it. The replay computes each decision from what the lane shows."""
    shape, program = build.shape(preset), build.simulator(preset)
    seen = dict.fromkeys(("early", "marked", "tail", "sent"), 0)
    for seed in range(1, 61 if NIGHTLY else 6):
        print("seed", seed)
        rng = random.Random(f"pie lane {seed}")
        queues = [
            {"name": str(i), "dscp": dscp} | random_pie(rng, i)
            for i, dscp in enumerate((["default", "AF11"], ["AF21"]))
        ]
        queues[0]["default"] = True
        if shape.codel and rng.random() < 0.5:
            queues[1] = {"name": "codel", "dscp": ["AF21"], "aqm": "codel", "target": "1ms", "interval": "20ms"}
        asked = config.parse({"seed": seed, "port": {"rate": 10**7}, "queue": queues}, shape.queues, shape.victims)
        words = write_words(tmp_path / "words.json", asked)
        capture = pcap(tmp_path / "in.pcap", bursts(rng, 1400, rng.choice((450_000, 550_000)), 1400))
        rtl = ran(program, tmp_path, words, capture)
        rtl.check()
        equal(rtl, ran(program, tmp_path, words, capture, "--engine", "model"))
        for name in seen:
            seen[name] += total(rtl.stats, name)
    print(seen)
    assert min(seen["early"], seen["tail"]) > 20 and seen["marked"] > 2


SCALE = [(1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2)]
TARGET, TUPDATE, ALLOWANCE, ALPHA, BETA, MTU = 2e-3, 16 * TICK, 10e-3, 0.06, 1, 1000
STEP = f"""
[port]
rate = "10Mbit"

[[queue]]
name            = "all"
default         = true
dscp            = ["default", "AF11", "AF21"]
aqm             = "pie"
ecn             = true
target          = "2ms"
tupdate         = "{TUPDATE}ns"
burst_allowance = "10ms"
pie_alpha       = {ALPHA}
pie_beta        = {BETA}
mtu             = {MTU}
"""


class Pie:
    """RFC 8033 in real numbers, with the departures' timestamps in place of the estimated rate, as Linux has it."""

    def __init__(self):
        self.p = self.sum = self.delay = self.before = 0.0
        self.allowance, self.departed = ALLOWANCE, None
        self.restarts, self.queued = 0, 0

    def update(self):
        by = next((by for below, by in SCALE if self.p < below), 1)
        change = (ALPHA * (self.delay - TARGET) + BETA * (self.delay - self.before)) / by
        if self.p >= 0.1:
            change = min(change, 0.02)
        self.p = min(max(self.p + change + (0.02 if self.delay > 0.25 else 0), 0.0), 1.0)
        if self.delay == self.before == 0 and self.queued == 0:
            self.p *= 63 / 64
        if self.p == 0 and max(self.delay, self.before) < TARGET / 2:
            self.allowance, self.sum, self.departed = ALLOWANCE, 0.0, None
            self.restarts += 1
        self.before = self.delay

    def departs(self, now: int, came: int, size: int):
        self.queued -= size
        self.delay = ((now >> 6) - (came >> 6)) * 64 / SECOND if self.queued else 0.0
        if self.departed is not None:
            self.allowance = max(0.0, self.allowance - (now - self.departed) / SECOND)
        self.departed = now

    def arrives(self, size: int, ect: bool, draw: float) -> str:
        passes = self.allowance > 0 or (self.delay < TARGET / 2 and self.p < 0.2) or self.queued < 2 * MTU
        verdict = "enqueue" if passes else self.chance(ect, draw)
        self.queued += size if verdict != "early" else 0
        return verdict

    def chance(self, ect: bool, draw: float) -> str:
        self.sum = self.sum + self.p if self.p else 0.0
        if self.sum < 0.85 or (self.sum < 8.5 and draw >= self.p):
            return "enqueue"
        self.sum = 0.0
        return "mark" if ect and self.p <= 0.1 else "early"


NAMES = {"0": "enqueue", "1": "mark", "2": "early"}
VERDICT_NS, SEES_NS = 12, 60  # from the choice of a packet to its departure; from an arrival's time to what it sees


def test_every_verdict_is_that_of_rfc_8033_in_real_numbers(tmp_path):
    """From the times of the trace, those of the capture that comes out, and the draws: each verdict, and the probability of each decision."""
    file, out, trace = (tmp_path / name for name in ("config.toml", "out.pcapng", "trace.csv"))
    file.write_text(STEP)
    more = ("--config", file, "--out", out, "--trace", trace)
    stats = run(tmp_path, pcap(tmp_path / "in.pcap", bursts(random.Random(5), 3000, 640_000, 1500)), *more)
    rows = [row for row in csv.DictReader(io.StringIO(trace.read_text())) if row["refresh"] == "0"]
    start = stats["lane_start_ns"] - stats["capture_start_ns"]
    with RawPcapNgReader(str(out)) as packets:
        left = [((about.tshigh << 32) + about.tslow) * 10**9 // int(about.tsresol) + start for _, about in packets]
    sent = [row for row in rows if row["verdict"] in "01"]
    events = [(int(row["time"]) + SEES_NS, 2, row) for row in rows]
    events += [(at - VERDICT_NS, 1, row) for at, row in zip(left, sent, strict=True)]
    first = stats["lane_start_ns"] // TICK * TICK + TUPDATE
    events += [(at, 0, None) for at in range(first, max(at for at, *_ in events), TUPDATE)]
    pie, seen, greatest = Pie(), dict.fromkeys(NAMES.values(), 0), 0.0
    for at, kind, row in sorted(events, key=lambda event: event[:2]):
        if kind == 0:
            pie.update()
        elif kind == 1:
            pie.departs(at, int(row["time"]), int(row["len_bytes"]))
        else:
            assert abs(int(row["probability"]) / 2**32 - pie.p) < 1e-6, (row["time"], pie.p)
            verdict = pie.arrives(int(row["len_bytes"]), row["ecn"] != "0", int(row["draw"]) / 2**32)
            assert verdict == NAMES[row["verdict"]], (row["time"], verdict, vars(pie))
            seen[verdict] += 1
            greatest = max(greatest, pie.p)
    print(seen, greatest, pie.restarts)
    assert seen["early"] > 40 and seen["mark"] > 5 and greatest > 0.1 and pie.restarts > 0
    assert total(stats, "early") == seen["early"] and total(stats, "marked") == seen["mark"]


def test_updates_go_on_while_no_frame_is_in_the_lane(tmp_path):
    """After a long pause the probability has fallen to 0, and the burst allowance holds again: the same overload meets the same verdicts."""
    file = tmp_path / "config.toml"
    file.write_text(STEP.replace(f"pie_alpha       = {ALPHA}", "pie_alpha = 2"))
    burst = bursts(random.Random(3), 300, 500_000)
    pause = 3 * SECOND // TICK * TICK
    again = [(at + pause, data, size) for at, data, size in burst]
    stats, _ = same(tmp_path, pcap(tmp_path / "in.pcap", burst + again), "--config", file)
    once, _ = same(tmp_path, pcap(tmp_path / "in.pcap", burst), "--config", file)
    early, alone = total(stats, "early") + total(stats, "marked"), total(once, "early") + total(once, "marked")
    assert alone > 10 and alone < early < 3 * alone
