"""How long `./vermilion run` takes after a change, for commits side by side: the developer's loop.

    .vermilion/venv/bin/python sim/tests/campaigns/loop_times.py [COMMIT...] [--folder DIR] [--publish]

Clones this checkout at each commit (default: HEAD) into DIR, runs it once to set up and build, and then three times after each kind of change, with
another line each time; the table has the median. Every time is of the whole command, in seconds of the wall clock, on the shipped capture. Commits are
measured one after the other on the same machine. The first run is not in the table: for the second commit, downloads are already on the machine.
`--publish` writes docs/results/loop.json and .md; the times of the whole suite there are those of `./vermilion test`, given by `--suite SECONDS` for
each commit; `-` for one that was not measured.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[above]) for above in (1, 2)]  # sim/tests, sim
from support.checkouts import environment

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "results" / "loop.md"
TOUCHED = {  # a change, the file that gets a line more, and the line
    "nothing": (None, ""),
    "a file of the C++ model": ("sim/model/curve.cpp", 'static_assert(sizeof(int) == 4, "TURN");\n'),
    "a file of the C++ simulator": ("sim/harness/replay.cpp", 'static_assert(sizeof(int) == 4, "TURN");\n'),
    "a comment in a Scala file": ("hw/src/vermilion/average/AverageUnit.scala", "// Comment TURN.\n"),
    "a Scala file, but not its SystemVerilog": (
        "hw/src/vermilion/average/AverageUnit.scala",
        "private object UnusedTURN { val number = 4 }\n",
    ),
}
COPIED, USED = "the checkout's folder: a copy, first run", "nothing, in that copy"
SUITE = "the whole suite, fresh clone"
TURNS = 3
HEAD = """# Times of the developer's loop

Made by `.vermilion/venv/bin/python sim/tests/campaigns/loop_times.py COMMIT COMMIT --suite SECONDS --suite SECONDS --publish` with {cores} cores. Seconds of
the command `./vermilion run` on the shipped capture after a change: the median of three, and one for the first run of a copy. Where nothing is built, the
run itself takes the time, and since 4f5ebcc it writes a report, too. The last row is `./vermilion test` on a fresh clone, once, with nothing beside it.
"""


def run(checkout: Path) -> float:
    """Seconds of a whole run."""
    began = time.monotonic()
    done = subprocess.run(["./vermilion", "run"], cwd=checkout, capture_output=True, text=True, env=environment())
    if done.returncode:
        raise SystemExit(f"{checkout}: ./vermilion run failed:\n{done.stderr[-3000:]}")
    return round(time.monotonic() - began, 1)


def measure(commit: str, folder: Path) -> dict[str, float]:
    checkout = folder / commit
    subprocess.run(["git", "clone", "-q", ROOT, checkout], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=checkout, check=True)
    run(checkout)
    times = {}
    for what, (name, line) in TOUCHED.items():
        each = []
        for turn in range(TURNS):
            if name:
                with (checkout / name).open("a") as file:
                    file.write(line.replace("TURN", str(turn)))
            each.append(run(checkout))
        times[what] = statistics.median(each)
        print(f"{commit}: {what}: {times[what]} s", flush=True)
    copy = folder / f"{commit}-copy"
    shutil.copytree(checkout, copy, symlinks=True)
    times |= {COPIED: run(copy), USED: statistics.median(run(copy) for _ in range(TURNS))}
    return times


def table(results: dict[str, dict[str, float]]) -> str:
    rows = [f"| changed | {' | '.join(results)} |", "| --- |" + " ---: |" * len(results)]
    for what in dict.fromkeys(what for times in results.values() for what in times):
        shown = [f"{times[what]:,.1f}" if what in times else "not measured" for times in results.values()]
        rows.append(f"| {what} | {' | '.join(shown)} |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commits", nargs="*", default=["HEAD"])
    parser.add_argument("--folder", type=Path, help="for the clones; default: a temporary one")
    parser.add_argument(
        "--suite", action="append", default=[], help="seconds of ./vermilion test, of each commit; -: not measured"
    )
    parser.add_argument("--publish", action="store_true")
    asked = parser.parse_args()
    if asked.suite and len(asked.suite) != len(asked.commits):
        parser.error("--suite is to be given once for each commit")
    short = lambda name: subprocess.check_output(["git", "rev-parse", "--short", name], cwd=ROOT, text=True).strip()
    commits = list(dict.fromkeys(short(name) for name in asked.commits))
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        results = {commit: measure(commit, Path(folder)) for commit in commits}
    for commit, seconds in zip(commits, asked.suite, strict=False):
        if seconds != "-":
            results[commit][SUITE] = float(seconds)
    print(table(results))
    if asked.publish:
        PAGE.with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")
        PAGE.write_text(HEAD.format(cores=len(os.sched_getaffinity(0))) + "\n" + table(results))


if __name__ == "__main__":
    main()
