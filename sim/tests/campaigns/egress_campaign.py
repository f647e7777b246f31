"""Lanes with 1, 2, 4 and 8 egresses under random configurations, each decision and byte against the model.

    .vermilion/venv/bin/python sim/tests/campaigns/egress_campaign.py [--configurations 250] [--first 1001] [--publish]

The suite runs others (`test_egresses.py`). `--publish` writes docs/results/egresses.json and the page of it.
"""

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import click

sys.path[:0] = [str(Path(__file__).resolve().parents[above]) for above in (1, 2)]  # sim/tests, sim
from support.egress_lanes import FRAMES, ran, used
from vermilion.toolchain import build

PRESETS = ("lab", "card-1x25g", "lab-egresses", "card-4x10g")
DATA = build.ROOT / "docs" / "results" / "egresses.json"
PAGE = DATA.with_suffix(".md")


def one(preset: str, seed: int) -> dict:
    """What one configuration adds to a build's row."""
    shape = build.shape(preset)
    with tempfile.TemporaryDirectory() as folder:
        try:
            outputs, routes, refused = ran(Path(folder), seed, preset)
            sent = used(outputs, shape)
            assert sent <= set(routes), f"the routes are {routes}"
        except BaseException as error:
            raise AssertionError(f"{preset}, seed {seed}: {error}") from error
    replay, colours = outputs.stats["replay"], [c for queue in outputs.stats["queues"] for c in queue["colours"]]
    counts = {"decisions": replay["agreed"], "refreshes": replay["refreshes_agreed"], "pool_refusals": refused}
    return counts | {"evicted": sum(colour["evicted"]["packets"] for colour in colours), "sent": sent}


def measure(preset: str, seeds: range, workers, progress) -> dict:
    """What the runs of a build add up to. A difference ends the campaign with its seed."""
    shape = build.shape(preset)
    row = {"preset": preset, "bits": shape.data_bits, "inputs": shape.inputs, "egresses": shape.egresses}
    row |= {"configurations": len(seeds)} | dict.fromkeys(("decisions", "refreshes", "pool_refusals", "evicted"), 0)
    seen = set()
    for runs in as_completed(workers.submit(one, preset, seed) for seed in seeds):
        found = runs.result()
        seen |= found.pop("sent")
        row = row | {name: row[name] + count for name, count in found.items()}
        progress(1)
    return row | {"egresses_that_sent": len(seen)}


def page(found: dict) -> str:
    heads = ["preset", "bits", "inputs", "egresses", "configurations", "decisions", "refreshes", "refused by the pool"]
    heads.append("evicted")
    lines = ["| " + " | ".join(heads) + " |", "| --- |" + " ---: |" * (len(heads) - 1)]
    names = ("bits", "inputs", "egresses", "configurations", "decisions", "refreshes", "pool_refusals", "evicted")
    for row in found["rows"]:
        lines.append(f"| `{row['preset']}` | " + " | ".join(f"{row[name]:,}" for name in names) + " |")
    first = found["first"]
    return f"""# Random configurations of lanes with 1 to 8 egresses

Made by `sim/tests/campaigns/egress_campaign.py --configurations {found["configurations"]} --first {first} --publish` on {found["date"]}, commit {found["commit"]}.
Each egress has a random configuration: queues, averages, curves, ECN, markers, push-out, shapers. Inputs go to random egresses. Three of four have a
pool with random reserves, caps and thresholds. {FRAMES} random frames arrive in each run. The state at power-up is random, and so is what a
memory gives where a read meets a write. Every second run has random stalls and pauses. Seeds are {first} to {first + found["configurations"] - 1} in each row.

Every decision and every refresh of an average was the model's. Every frame was accounted for, every byte was the expected one, and the lane's
counters were those of the harness. A difference would have ended the campaign.

{chr(10).join(lines)}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configurations", type=int, default=250, help="of each build; default 250")
    parser.add_argument(
        "--first", type=int, default=1001, help="the first seed; default 1001, beyond those of the suite"
    )
    parser.add_argument("--publish", action="store_true", help="writes docs/results/egresses.json and .md")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.configurations)
    git = lambda *words: subprocess.check_output(["git", *words], cwd=build.ROOT, text=True).strip()
    commit = git("rev-parse", "--short", "HEAD") + " with changes" * bool(git("status", "--porcelain", "hw", "sim"))
    for preset in PRESETS:
        build.simulator(preset, "undefined", lambda text: print(text, file=sys.stderr))
    with click.progressbar(length=len(PRESETS) * len(seeds), label="configurations", file=sys.stderr) as bar:
        with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as workers:
            rows = [measure(preset, seeds, workers, bar.update) for preset in PRESETS]
    found = {"configurations": len(seeds), "first": asked.first, "date": f"{datetime.date.today()}", "commit": commit}
    found["rows"] = rows
    print(page(found))
    if asked.publish:
        DATA.write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(found))


if __name__ == "__main__":
    main()
