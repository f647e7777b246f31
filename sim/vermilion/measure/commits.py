"""`vermilion commits`: profile changes while frames come back to back, and whether each decision used one profile whole; docs/results/commits.md.

Settings: four queues over all DSCPs, behind a port of half the stream's rate, so that queues stand and every verdict is given.
A profile is drawn at random over averages, curves, spacing, ECN, limits, markers, distances and which colours may pay. Service, rewriting, the class table, `update` and the form of the
victim search stay: queues 1 and 3 update at departures, 2 has the search's RED form, 3 its tail-drop form among 8.
"""

import json
import random
import subprocess
import tempfile
from pathlib import Path

import click

from vermilion.configuration import config
from vermilion.console.screen import say, working
from vermilion.profile import quantise
from vermilion.profile.record import LaneRecord
from vermilion.toolchain import build
from vermilion.values.fields import COLOURS

QUEUES, PROFILES, CHANGES, SEED = 4, 64, 10_000, 1
CELL_BYTES = 64
RESULTS = build.ROOT / "docs" / "results"
FRAMES = {"lab": 64, "nic10g-all": 64, "nic100g": 64, "nic100g-all": 64}
VERDICTS = ("enqueue", "mark", "early", "forced", "tail", "nobuf", "policed")


def curve(rng, limit: int) -> dict:
    """Thresholds within the queue, so that averages move over them."""
    kind = rng.choice(["tail", "red", "red", "gentle", "exred"])
    if kind == "tail":
        return {"curve": "tail"}
    low = rng.randrange(0, limit // 3)
    high = rng.randrange(low + 1, limit // 2)
    if kind == "exred":
        return {
            "curve": kind,
            "min": low,
            "max": high,
            "p": round((high - low) / (limit - low) * rng.uniform(0.1, 1) * 0.99, 4),
        }
    return {"curve": kind, "min": low, "max": high, "p": round(rng.uniform(0.001, 1), 3)}


def marker(rng, name: str, rate: int) -> dict:
    kind = rng.choice(["leaf", "srtcm", "trtcm", "redp", "3cpm", "wpm", "apm", "nm"])
    bps = lambda: int(rate * rng.uniform(0.1, 1.2))
    depth = lambda: rng.randrange(1522, 20000)
    out = {"queue": name, "kind": kind}
    if kind == "leaf":
        out |= {"rate": bps(), "burst": depth(), "out": rng.choice(["yellow", "red"])}
    elif kind == "srtcm":
        out |= {"cir": bps(), "cbs": depth(), "ebs": depth(), "colour_aware": rng.random() < 0.5}
    elif kind == "trtcm":
        low, high = sorted((bps(), bps()))
        out |= {"cir": low, "cbs": depth(), "pir": high, "pbs": depth(), "colour_aware": rng.random() < 0.5}
    elif kind == "redp":
        deep = depth()
        out |= {"rate": bps(), "bucket": deep, "low": deep // 4, "high": deep * 3 // 4, "p_drop": rng.choice([0, 0.1])}
    if kind != "nm" and rng.random() < 0.3:
        out["drop"] = ["red"] if kind not in ("wpm",) and out.get("out") != "yellow" else ["yellow"]
    return out


def profile(rng, name: str, shape: build.Preset, rate: int) -> tuple[dict, dict | None]:
    """One queue's table, and its marker's."""
    packets = rng.random() < 0.4
    most = shape.cells // (2 * QUEUES)  # frames of a cell each
    frames = rng.randrange(most // 4, most)
    limit = frames if packets else frames * CELL_BYTES
    out = {
        "average": {
            "kind": rng.choice(["red", "wred", "rio-c", "rio-2", "rio-dc"]),
            "weight": round(2 ** rng.uniform(-12, 0), 6),
            "unit": "packet" if packets else "byte",
            "update": "both" if int(name) % 2 else "arrival",  # stays: what a refresh has not done, no trace tells
        },
        "limit_packets" if packets else "limit": limit,
        "spacing": rng.choice(["geometric", "uniform", "wait"]),
        "ecn": rng.random() < 0.5,
        "distance": {"option": True, "infer": rng.random() < 0.7, "share": rng.random() < 0.5},
    }
    if rng.random() < 0.3:
        out["size_weight"] = rng.randrange(64, 1000)
    for colour in COLOURS:
        out[colour] = curve(rng, limit)
        if out["ecn"] and rng.random() < 0.5:
            own = curve(rng, limit)
            if own["curve"] != "tail":
                out[colour]["ecn"] = own
    if (
        shape.victims >= QUEUES and int(name) >= 2
    ):  # a queue's form stays: a packet that another form queued is none of the new one's victims
        out |= {"victim": "nearest", "victim_by_colour": rng.random() < 0.5}
        if int(name) == 3:
            out["victim_window"] = 8
    return out, marker(rng, name, rate) if rng.random() < 0.7 else None


def records(preset: str, seed: int, count: int = PROFILES) -> list[LaneRecord]:
    """Configurations that differ in their queues' profiles alone."""
    rng, shape = random.Random(seed), (build.FOR_BENCHES | build.PRESETS)[preset]
    frame = FRAMES.get(preset, CELL_BYTES)
    stream = frame * 8 * 10**9 // (4 * -(-frame * 8 // shape.data_bits))
    dscp = lambda q: {name: [d for d in range(64) if d % QUEUES == q and d % 3 == c] for c, name in enumerate(COLOURS)}
    made = []
    for _ in range(count):
        queues: list[dict] = []
        markers: list[dict] = []
        for q in range(QUEUES):
            queue, mark = profile(rng, str(q), shape, stream // QUEUES)
            queues.append({"name": str(q), "dscp": dscp(q), **queue})
            markers += [mark] if mark else []
        asked = {"port": {"rate": min(stream // 2, 200 * 10**9)}, "queue": queues, "marker": markers}
        made.append(quantise.hardware(config.parse(asked, shape.queues, shape.victims)))
    return made


def campaign(
    preset: str, changes: int, seed: int, wrong: int = 0, program=None, progress=lambda done, total: None
) -> tuple[int, dict]:
    """The program's exit status and what it found."""
    program = program or build.commits(preset)
    with tempfile.TemporaryDirectory() as folder:
        profiles = Path(folder) / "profiles"
        profiles.write_text("".join(json.dumps(record) + "\n" for record in records(preset, seed)))
        command = [program, "--profiles", profiles, "--changes", changes, "--seed", seed, "--wrong", wrong]
        command += ["--frame-bytes", FRAMES.get(preset, CELL_BYTES)]
        last = ""
        with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
            for last in process.stdout or ():
                if last.startswith("progress "):
                    progress(*map(int, last.split()[1:]))
    if process.returncode not in (0, 1) or not last.startswith("{"):
        raise build.BuildError(f"the campaign ended with status {process.returncode}: {last.strip()}")
    return process.returncode, json.loads(last)


def page(found: list[dict]) -> str:
    lines = ["# Profile changes at line rate", "", *HEAD, ""]
    lines += [
        "| | " + " | ".join(each["preset"] + " *" * each.get("old", False) for each in found) + " |",
        "| --- |" + " --- |" * len(found),
    ]
    row = lambda name, text: lines.append(f"| {name} | " + " | ".join(text(each) for each in found) + " |")
    row("seed, frames", lambda each: f"{each['seed']}, {each['frame_bytes']} bytes back to back")
    for name, key in (
        ("changes", "changes"),
        ("clocks", "clocks"),
        ("decisions", "decisions"),
        ("refreshes of averages", "refreshes"),
        ("decisions of the queue between COMMIT and its end", "decisions_under_way"),
        ("changes in which one of these agreed with the old profile alone", "changes_with_a_decision_of_the_old_alone"),
        ("... with the new one alone", "changes_with_a_decision_of_the_new_alone"),
        ("... that had both", "changes_with_both"),
        ("possibilities still open at a next change, at most", "most_stories"),
    ):
        row(name, lambda each: f"{each[key]:,}")
    row("verdicts", lambda each: ", ".join(f"{each['verdicts'][name]:,} {name}" for name in VERDICTS))
    row("**decisions of neither profile, or of a mix**", lambda each: each["fault"] or "0")
    if any(each.get("old") for each in found):
        lines += ["", "The column with a star is of other Verilog than the sources give now."]
    return "\n".join(lines) + "\n"


HEAD = [
    "`./vermilion commits --publish`; settings are in `sim/vermilion/measure/commits.py`, the check in `sim/commits`. Trial runs changed `update` and the form of the victim search too; why they stay now: [limits](../limits/policy.md#profile-changes).",
    "",
    "Frames come back to back at the width of the stream, a port of half that rate empties four queues, and again and again one of them is given another whole profile",
    "through the register port: 64 profiles a queue, drawn at random over averages, curves, spacing, ECN, limits, markers, distances and which colours may pay. Which packet is the first to",
    "meet a commit only the lane knows, so from the write of COMMIT on the model is run once for each possibility; every decision must be, bit for bit, what the old profile gives, or what",
    "the new one gives, and from the first new one on always the new. Service (quantum, priority, shaper) is not part of a decision and stays, as do the DSCPs of `remark`, `update` and the form of the victim search.",
]


@click.command()
@click.option(
    "--preset",
    "presets",
    multiple=True,
    type=click.Choice(list(FRAMES)),
    default=["lab"],
    show_default=True,
    help="Build of the lane; may be given again.",
)
@click.option(
    "--changes", type=click.IntRange(1, 10**7), default=CHANGES, show_default=True, help="Profile changes in each run."
)
@click.option(
    "--seed", type=click.IntRange(1, 2**31), default=SEED, show_default=True, help="Seed of profiles and their order."
)
@click.option("--publish", is_flag=True, help="Writes docs/results/commits.md and .json.")
def commits(presets, changes, seed, publish):
    """Changes profiles at random while frames come at line rate: is every decision that of one profile?"""
    from vermilion.simulation.show import with_progress

    found, status = [], 0
    for preset in presets:
        with working() as note:
            program = build.commits(preset, note)
        got = []
        with_progress(
            lambda progress, _: got.append(campaign(preset, changes, seed, 0, program, progress)),
            [],
            f"changing, {preset}",
        )
        status |= got[0][0]
        found.append(got[0][1])
    text = page(found)
    if publish:
        (RESULTS / "commits.json").write_text(json.dumps(found, indent=1) + "\n")
        (RESULTS / "commits.md").write_text(text)
        say("wrote docs/results/commits.md")
    else:
        say(text)
    if status:
        raise build.BuildError(
            "a decision was neither the old profile's nor the new one's: " + "; ".join(each["fault"] for each in found)
        )
