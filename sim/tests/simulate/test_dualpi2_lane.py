"""DualPI2 in whole lanes: both engines decide the same about every packet, and as RFC 9332 does in real numbers."""

import csv
import io
import random
import re
from collections import Counter, deque

import pytest
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.engine_outputs import run as ran
from support.engine_outputs import same as equal
from support.engine_outputs import write_words
from support.nightly import NIGHTLY, nightly
from support.runs import run, total
from support.tc_traffic import frame
from vermilion.configuration import config
from vermilion.oracle.xoshiro import Source, words
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

TICK = 65_536  # ns, of updates
SECOND = 10**9


def traffic(rng: random.Random, count: int, mean: int) -> list:
    """Frames of all ECN fields for a lane that is overloaded, then not, then again; `mean`: ns between them in an overload."""
    now, frames = 0, []
    for i in range(count):
        size = rng.choice((60, 500, 1500))
        data = bytearray(frame(size, dscp=rng.choice((0, 10, 18)), ecn=rng.randrange(4)))
        data[50:54] = i.to_bytes(4, "big")
        frames.append((now, bytes(data), size))
        now += rng.choice((1000, mean // 2, 2 * mean)) if i % 700 < 500 else 4 * mean
    return frames


def random_pair(rng: random.Random) -> list[dict]:
    c = {
        "dscp": ["default", "AF11"],
        "target": f"{rng.choice((200, 1000, 15_000))}us",
        "tupdate": f"{rng.choice((66, 1000, 5000))}us",
        "dualpi2_alpha": rng.choice((0.16, 1, 20)),
        "dualpi2_beta": rng.choice((3.2, 30, 200)),
        "coupling": rng.choice((1, 2, 5)),
        "step_threshold": f"{rng.choice((100, 1000, 10_000))}us",
        "overload": rng.choice(("drop", "mark")),
        "l4s_mask": rng.choice((1, 1, 2, 3)),
        "mtu": rng.choice((64, 300, 1514)),
        "limit": rng.choice(("30KB", "1MB")),
    }
    low = {"limit": "100KB"} | rng.choice(({}, {"dscp": ["AF21"]}))
    pair = [c | rng.choice(({}, {"quantum": rng.choice((64, 1522))})), low | rng.choice(({}, {"quantum": 1522}))]
    return [{"name": name, "aqm": "dualpi2"} | each for name, each in zip(("c", "l"), pair, strict=True)]


@pytest.mark.parametrize("preset", ["lab", nightly("network-aqm")])
def test_both_engines_are_one_with_dualpi2(tmp_path, preset):
    """A pair alone, or after queues with PIE and CoDel. The replay computes each verdict from what the lane shows."""
    shape, program = build.shape(preset), build.simulator(preset)
    names = ("departure_dropped", "departure_marked", "tail", "sent")
    seen = dict.fromkeys(names, 0)
    for seed in range(1, 61 if NIGHTLY else 6):
        print("seed", seed)
        rng = random.Random(f"dualpi2 lane {seed}")
        queues = random_pair(rng)
        if rng.random() < 0.5:
            others = (
                {"name": "pie", "aqm": "pie", "target": "1ms"},
                {"name": "codel", "aqm": "codel", "target": "1ms"},
            )
            queues = [each | {"dscp": [dscp]} for each, dscp in zip(others, ("AF12", "AF13"), strict=True)] + queues
        asked = config.parse({"seed": seed, "port": {"rate": 10**7}, "queue": queues}, shape.queues, shape.victims)
        made = write_words(tmp_path / "words.json", asked)
        capture = pcap(tmp_path / "in.pcap", traffic(rng, 1400, rng.choice((450_000, 550_000))))
        rtl = ran(program, tmp_path, made, capture)
        rtl.check()
        equal(rtl, ran(program, tmp_path, made, capture, "--engine", "model"))
        for name in seen:
            seen[name] += total(rtl.stats, name)
    print(seen)
    assert min(seen[name] for name in names) > 20


TARGET, TUPDATE, ALPHA, BETA, K, STEP, SEED = 1e-3, 16 * TICK, 8, 60, 2, 1_500_000, 11
FILE = f"""
seed = {SEED}

[port]
rate = "10Mbit"

[[queue]]
name           = "c"
default        = true
dscp           = ["default", "AF11"]
aqm            = "dualpi2"
target         = "1ms"
tupdate        = "{TUPDATE}ns"
dualpi2_alpha  = {ALPHA}
dualpi2_beta   = {BETA}
coupling       = {K}
step_threshold = "{STEP}ns"
mtu            = MTU
overload       = "OVERLOAD"

[[queue]]
name = "l"
dscp = ["AF21"]
aqm  = "dualpi2"
"""
TAKEN_NS = 12  # from the choice of a packet to its departure
LISTED_NS = 116  # from a packet's time to where its bytes count
APPLIES_NS = 52  # from a tick to the packets that see its update


class DualPi2:
    """RFC 9332, appendix A, in real numbers, with the sojourn time of the last packet of each queue."""

    def __init__(self, drops: bool, mtu: int):
        self.most, self.mtu = 1.0 if drops else 1 / K, mtu
        self.drops, self.p, self.shown, self.before = drops, 0.0, 0.0, 0.0
        self.delay, self.queued, self.seen = [0.0, 0.0], [0, 0], Counter()
        self.source = Source(words(SEED, 2))

    def update(self):
        delay = max(self.delay)
        self.p += ALPHA * (delay - TARGET) + BETA * (delay - self.before)
        self.p, self.before = min(max(self.p, 0.0), self.most), delay

    def leaves(self, now: int, came: int, size: int, is_l: bool, ecn: int) -> str:
        """The verdict on a packet that is chosen now."""
        self.queued[is_l] -= size
        sojourn = ((now >> 6) - (came >> 6)) * 64
        self.delay[is_l] = sojourn / SECOND if self.queued[is_l] else 0.0
        first, second = (self.source.draw() / 2**32 for _ in range(2))
        enough = sum(self.queued) >= 2 * self.mtu
        for draw, chance in ((first, self.shown), (second, self.shown), (first, K * self.shown)):
            assert abs(draw - chance) > 1e-8, "a draw is too near to tell"
        verdict = self.of_l(enough, first, second, sojourn, ecn) if is_l else self.of_c(enough, first, second, ecn)
        self.seen["by the step alone"] += is_l and verdict != "sent" and (not enough or first > K * self.shown)
        self.seen["not enough"] += not enough and first <= self.shown
        self.seen["LC"[not is_l], verdict, "overload" if K * self.shown > 1 else "", "ECT" if ecn else "not ECT"] += 1
        return verdict

    def of_c(self, enough, first, second, ecn):
        if not enough or max(first, second) > self.shown:
            return "sent"
        return "departure_marked" if ecn and K * self.shown <= 1 else "departure_dropped"

    def of_l(self, enough, first, second, sojourn, ecn):
        overload = K * self.shown > 1
        if enough and overload and self.drops and max(first, second) <= self.shown:
            return "departure_dropped"
        by_chance = enough and (overload or first <= K * self.shown)
        if ecn:
            return "departure_marked" if by_chance or sojourn // 64 > STEP // 64 else "sent"
        return "departure_dropped" if sojourn // 64 > STEP // 64 or (by_chance and not overload) else "sent"


@pytest.mark.parametrize("overload, mtu", [("drop", 64), ("mark", 700)])
def test_every_verdict_is_that_of_rfc_9332_in_real_numbers(tmp_path, overload, mtu):
    """From the times of the trace, those of the captures that come out, and draws of its own: each verdict, and to which queue each packet goes."""
    names = ("config.toml", "out.pcapng", "why.pcapng", "trace.csv")
    file, out, why, trace = (tmp_path / name for name in names)
    file.write_text(FILE.replace("OVERLOAD", overload).replace("= MTU", f"= {mtu}"))
    more = ("--config", file, "--out", out, "--why", why, "--trace", trace)
    frames = traffic(random.Random(f"verdicts {overload}"), 3000, 560_000)
    stats = run(tmp_path, pcap(tmp_path / "in.pcap", frames), *more)
    rows = [row for row in csv.DictReader(io.StringIO(trace.read_text())) if row["refresh"] == "0"]
    start = stats["lane_start_ns"] - stats["capture_start_ns"]
    left = {}  # by frame: when it was chosen, and what became of it
    with RawPcapNgReader(str(out)) as packets:
        for data, about in packets:
            left[int.from_bytes(data[50:54], "big")] = ((about.tshigh << 32) + about.tslow + start - TAKEN_NS, "sent")
    with RawPcapNgReader(str(why)) as packets:
        for _, about in packets:
            reason, number = re.match(rb"reason=(\w+) frame=(\d+)", about.comments[0]).groups()
            at = (about.tshigh << 32) + about.tslow + start - TAKEN_NS
            left[int(number)] = (left.get(int(number), (at,))[0], reason.decode())
    assert sorted(left) == list(range(len(rows)))
    events = [(int(row["time"]) + LISTED_NS, 2, number) for number, row in enumerate(rows)]
    events += [(at, 3, number) for number, (at, _) in left.items()]
    first = stats["lane_start_ns"] // TICK * TICK + TUPDATE
    ticks = range(first, max(at for at, *_ in events), TUPDATE)
    events += [(at, 0, None) for at in ticks] + [(at + APPLIES_NS, 1, None) for at in ticks]
    dscps = [data[15] >> 2 for _, data, _ in frames]
    lane, waiting = DualPi2(overload == "drop", mtu), (deque(), deque())
    for at, kind, number in sorted(events, key=lambda event: event[:2]):
        if kind == 0:
            lane.update()
        elif kind == 1:
            lane.shown = lane.p
        else:
            row = rows[number]
            queue, size = int(row["queue"]), int(row["len_bytes"])
            assert queue == (int(row["ecn"]) & 1 or dscps[number] == 18)
            if kind == 2:
                waiting[queue].append(number)
                lane.queued[queue] += size
                continue
            assert waiting[queue].popleft() == number, "a queue is not first in, first out"
            verdict = lane.leaves(at, int(row["time"]), size, bool(queue), int(row["ecn"]))
            assert verdict == left[number][1], (number, row["time"], at, vars(lane))
    print(lane.seen)
    wanted = [("C", "departure_marked", "", "ECT"), ("C", "departure_dropped", "", "not ECT")]
    wanted += [("L", "departure_marked", "", "ECT"), ("L", "departure_dropped", "", "not ECT")]
    if overload == "drop":
        wanted += [(queue, "departure_dropped", "overload", "ECT") for queue in "CL"]
    wanted += ["by the step alone", "not enough"] if overload == "mark" else ["by the step alone"]
    assert all(lane.seen[each] > 5 for each in wanted), lane.seen
