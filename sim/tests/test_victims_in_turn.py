"""The victim search in lanes that decide in turn. In the model: who pays is who should, at the verdict and never blindly, no packet is taken while
the search looks, every frame has one fate, and the replay agrees with all of it. And both engines are one."""

import json
import random
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest
from model_bindings import EARLY, ENQUEUE, FORCED, MARK, TAIL, library
from test_simulator import pcap
from test_victims_kinds import RED_FORM, mixed
from test_victims_run import CODES, CONFIG, TAILED, check_tail_drops, ip, traffic
from test_victims_wide import engines, floods

from vermilion import build, config, quantise

FEW = "lab-in-turn-victims-few-cells"
HERE = Path(__file__).resolve().parent
TO_VERDICT, HOLD = 26, 6  # clocks: from its slot; before the verdict's without a take
FIELDS = (
    "clock id since queue colour length queued distance ecn verdict ruling blind evicted victim_marked victim".split()
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder, made = tmp_path_factory.mktemp("in_turn"), {}

    def program(preset):
        if preset not in made:
            out = folder / preset
            sources = [HERE / "victims_in_turn.cpp"]
            sources += [build.ROOT / "sim/harness" / f"{name}.cpp" for name in ("replay", "victim_check")]
            command = ["g++", "-O1", *build.CXX_FLAGS[1:], *build.FOR_BENCHES[preset].defines(), *map(str, sources)]
            command += [f"-I{build.ROOT / folder}" for folder in ("sim/model", "sim/harness")]
            command += [library()._name, "-o", str(out)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
            made[preset] = out
        return made[preset]

    return program


def frames(seed, count, longest, pace, inputs):
    """Lines for the program, 400 of one class, then of another; `pace`: ns from frame to frame, at most."""
    rng, now, lines = random.Random(seed), 0, []
    for number in range(count):
        if number % 400 == 0:
            codes = rng.choice([sum(CODES.values(), []), *CODES.values()])
        near = 7 if number // 400 % 3 == 0 else rng.randrange(64)
        frame = bytes(12) + b"\x08\0" + ip(rng, rng.choice(codes), near, rng.choice((4, rng.randrange(4, longest))))
        frame += bytes(max(0, 60 - len(frame)))
        now += rng.randrange(pace + 1)
        lines.append(f"{now} {rng.randrange(inputs)} {frame.hex()}\n")
    return lines


def payer(queue, row, words):
    """Who pays, by looking at everybody: the place of a queued packet, or None for the arriving one."""
    _, by_colour, window = words["victim"]
    candidates = []
    for place, packet in enumerate(queue):
        behind = place >= len(queue) - window if window else True
        if place and behind and not packet["paid"] and (not by_colour or packet["colour"] >= row["colour"]):
            candidates.append((packet["distance"], -packet["colour"] if by_colour else 0, place))
    if not candidates or row["distance"] < min(candidates)[0]:
        return None
    place = min(candidates)[2]
    too_long = row["queued"] + row["length"] > words["limit_bytes"]
    return None if window and too_long and queue[place]["length"] < row["length"] else place


def decide(queue, row, words, tally):
    """A decision against `payer`; the queue behind it."""
    nearest, _, window = words["victim"]
    row["paid"] = False
    if nearest and row["ruling"] in ((TAIL,) if window else (EARLY, FORCED, MARK)):
        tally["contests"] += 1
        place, marks = payer(queue, row, words), words["ecn"] and not window and row["ruling"] != FORCED
        if place is None:
            row["paid"] = bool(marks and row["ecn"])
            tally["itself"] += 1
            assert row["verdict"] == (MARK if row["paid"] else row["ruling"])
            assert not row["evicted"] and not row["victim_marked"]
        else:
            assert row["victim"] == queue[place]["id"] and row["verdict"] == ENQUEUE
            kept = bool(marks and queue[place]["ecn"])
            assert (row["evicted"], row["victim_marked"]) == (not kept, kept)
            tally["evicted"] += not kept
            tally["marked"] += kept
            queue[place]["paid"] = True
            if not kept:
                tally["only one behind"] += len(queue) == 2
                tally["gone"].append(queue.pop(place)["id"])
    else:
        assert row["verdict"] == row["ruling"] and not row["evicted"] and not row["victim_marked"]
    if row["verdict"] in (ENQUEUE, MARK):
        queue.append(row)
    else:
        tally["gone"].append(row["id"])


CASES = {
    "mixed": ("lab-in-turn-all", CONFIG, "2Gbit", 1400, 3000),
    "short": ("nic10g-all", CONFIG, "1Gbit", 40, 40),
    "short-and-sent": ("nic10g-all", CONFIG, "7Gbit", 40, 64),
    "few-cells": (
        FEW,
        CONFIG.replace('limit = "60KB"', 'limit = "12KB"'),
        "2Gbit",
        1400,
        2000,
    ),
    "tail": ("lab-in-turn-all", TAILED, "2Gbit", 1400, 2500),
    "tail-short": ("nic10g-all", TAILED.replace("20KB", "6KB"), "3Gbit", 40, 64),
    "one-behind": ("lab-in-turn-all", TAILED.replace("30 packets", "2 packets"), "5Gbit", 40, 64),
}


@pytest.mark.parametrize("case", CASES)
def test_who_should_pays_at_the_verdict(programs, tmp_path, case):
    preset, text, rate, longest, pace = CASES[case]
    shape, seed = build.FOR_BENCHES[preset], 100 + list(CASES).index(case)
    print("seed", seed)
    words = quantise.hardware(config.parse(tomllib.loads(text % rate), shape.queues, shape.victims))
    (tmp_path / "words.json").write_text(json.dumps(words))
    lines = frames(seed, 5000, longest, pace, shape.inputs)
    command = [programs(preset), tmp_path / "words.json"]
    done = subprocess.run(command, input="".join(lines), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    by_index = {queue["index"]: queue for queue in words["queues"]}
    queues, tally, verdicts, takes, sent = defaultdict(list), defaultdict(int, gone=[]), [], [], []
    of, replay = {}, None
    for line in done.stdout.splitlines():
        what, rest = line.split(" ", 1)
        if what == "replay":
            replay = rest.split(" ", 4)
            continue
        numbers = [int(word) for word in rest.split()]
        if what == "decision":
            row = dict(zip(FIELDS, numbers))
            assert row["since"] == TO_VERDICT and not row["blind"]
            decide(queues[row["queue"]], row, by_index[row["queue"]], tally)
            verdicts.append(row["clock"])
            of[row["id"]] = row["queue"]
        elif what == "refresh":
            assert numbers[1] == TO_VERDICT
            tally["refreshes"] += 1
        elif what == "departed":
            assert queues[of[numbers[1]]].pop(0)["id"] == numbers[1]
            takes.append(numbers[0] - 1)  # shown a clock behind
        elif what == "sent":
            sent.append(numbers[1])
        else:
            tally["gone"].append(numbers[1])
            tally["lost"] += 1
    print({name: count for name, count in tally.items() if name != "gone"} | {"sent": len(sent)})
    assert sorted(sent + tally["gone"]) == list(range(len(lines))), "a frame has no fate, or two"
    assert replay[0] == replay[1] == str(len(verdicts)) and replay[2] == replay[3] == str(tally["refreshes"]), replay
    near = {clock - before for clock in verdicts for before in range(HOLD + 1)}
    assert not near.intersection(takes), "a packet was taken while a search looked"
    first = {clock + 1 for clock in verdicts}
    assert first.intersection(takes), "none was taken in the clock behind a verdict"
    assert tally["evicted"] > 50 and tally["itself"] > 20 and (tally["marked"] > 20) == ("window" not in text)
    assert tally["only one behind"] > 10 or case != "one-behind"


AT_ONCE = ("--rate", 32_000_000_000)  # two inputs of 64 bits, and more than one can bring
ENGINES = {
    "mixed": ("nic10g-all", CONFIG % "2Gbit", lambda path: traffic(path, 1, 4000), ("--speed", 1)),
    "mixed-at-wire-rate": ("nic10g-all", CONFIG % "7Gbit", lambda path: traffic(path, 2, 4000), AT_ONCE),
    "short-at-wire-rate": ("nic10g-all", CONFIG % "3Gbit", lambda path: pcap(path, floods(1)), AT_ONCE),
    "short-and-sent": ("nic10g-all", CONFIG % "9500Mbit", lambda path: pcap(path, floods(2)), AT_ONCE),
    "kinds": ("nic10g-all", RED_FORM % "3Gbit", lambda path: mixed(path, 32, 4000), ("--rate", 12_000_000_000)),
    "tail": ("nic10g-all", TAILED % "6Gbit", lambda path: traffic(path, 12, 4000, longest=40), AT_ONCE),
    "few-cells": (FEW, CONFIG % "2Gbit", lambda path: traffic(path, 3, 4000), ("--speed", 1)),
    "few-cells-tail": (
        FEW,
        (TAILED % "1Gbit").replace("20KB", "4KB"),
        lambda path: traffic(path, 4, 4000, longest=300),
        ("--rate", 5_000_000_000),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", ENGINES)
def test_both_engines_are_one(tmp_path, case):
    preset, text, made, pace = ENGINES[case]
    capture = made(tmp_path / "in.pcap")
    stats, rows = engines(build.simulator(preset), tmp_path, text, capture, build.FOR_BENCHES[preset], pace)
    contests = [row for row in rows if row["evicted"]]
    paid = [row for row in contests if "1" in (row["evicted"], row["victim_marked"])]
    nobuf = sum(colour["nobuf"]["packets"] for queue in stats["queues"] for colour in queue["colours"])
    print({"contests": len(contests), "paid": len(paid), "nobuf": nobuf})
    assert len(paid) > 50 and all(row["blind"] == "0" for row in contests)
    assert all(int(row["victim_distance"]) <= int(row["distance"]) for row in paid)
    assert nobuf > 0 or preset != FEW
    if "window" in text:
        check_tail_drops(rows)
