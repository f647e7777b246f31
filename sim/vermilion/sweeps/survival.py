"""What a sweep promises, shown on the sweep itself, three times over in folders of its own:

    whole      without anything happening
    killed     killed (SIGKILL) when half of its runs are stored, then asked for again
    scheduler  on a Dask scheduler with two workers, one of them killed when half of the runs are stored

No run may be made twice, none may be missing, and all Parquet files must be the same to the byte.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from vermilion.toolchain import build

from .plan import LOG

SETTLED = 2.0  # seconds without another run: those that were under way have died with their workers
PATIENCE = 600.0  # for anything


@dataclass(frozen=True)
class Shown:
    way: str
    stored_before: int  # when something was killed
    made: int  # lines of the log
    runs: int  # stored in the end
    digest: str  # SHA-256 of the Parquet file

    def sentence(self) -> str:
        before = f"{self.stored_before} stored when it was killed, " if self.stored_before else ""
        return f"{self.way}: {before}{self.runs} runs stored, {self.made} made, Parquet {self.digest[:16]}"


def ours(*words) -> list[str]:
    return [sys.executable, "-m", "vermilion", *map(str, words)]


def environment() -> dict:
    paths = [str(build.ROOT / "sim"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def started(command: list[str], log: Path) -> subprocess.Popen:
    with log.open("a") as out:
        return subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment())


def made(folder: Path) -> list[str]:
    try:
        return [line.split()[0] for line in (folder / LOG).read_text().splitlines()]
    except OSError:
        return []


def until(met, what: str, process: subprocess.Popen | None = None):
    began = time.monotonic()
    while not met():
        if process is not None and process.poll() is not None:
            raise build.BuildError(f"the sweep ended (status {process.returncode}) before {what}")
        if time.monotonic() - began > PATIENCE:
            raise build.BuildError(f"nothing came of waiting until {what}")
        time.sleep(0.02)


def finished(process: subprocess.Popen, log: Path):
    try:
        status = process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise build.BuildError(f"the sweep was not done after {PATIENCE:g} s; show it with a shorter one") from None
    if status:
        tail = "\n".join(log.read_text().splitlines()[-20:])
        raise build.BuildError(f"the sweep ended with status {status}:\n{tail}")


def shown(way: str, folder: Path, name: str, before: int, runs: int) -> Shown:
    lines = made(folder)
    stored = {path.name for path in (folder / "runs").glob("*.json")}
    out = Shown(
        way,
        before,
        len(lines),
        len(stored),
        hashlib.sha256((folder / name / "results.parquet").read_bytes()).hexdigest(),
    )
    if sorted(lines) != sorted(stored) or len(stored) != runs:
        raise build.BuildError(f"{out.sentence()}; asked were {runs}, each once")
    return out


def killed(spec: Path, folder: Path, jobs: int, runs: int) -> Shown:
    command, log = ours("sweep", spec, "--out", folder, "--jobs", jobs), folder.with_suffix(".log")
    process = started(command, log)
    until(lambda: len(made(folder)) >= runs // 2, "half of it was done", process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = -1
    while before != len(made(folder)):
        before = len(made(folder))
        time.sleep(SETTLED)
    finished(started(command, log), log)
    return shown("killed at half and resumed", folder, spec.stem, before, runs)


def on_a_scheduler(spec: Path, folder: Path, runs: int) -> Shown:
    log, where = folder.with_suffix(".log"), folder.with_suffix(".scheduler")
    others = [started(ours("dask", "scheduler", "--port", 0, "--no-dashboard", "--scheduler-file", where), log)]
    try:
        until(where.exists, "the scheduler answered", others[0])
        address = json.loads(where.read_text())["address"]
        worker = ours("dask", "worker", address, "--nthreads", 1, "--no-nanny", "--no-dashboard")
        worker += ["--local-directory", str(folder.with_suffix(".workers"))]
        others += [started([str(word) for word in worker], log) for _ in range(2)]
        process = started(ours("sweep", spec, "--out", folder, "--scheduler", address), log)
        until(lambda: len(made(folder)) >= runs // 2, "half of it was done", process)
        before = len(made(folder))
        others[1].kill()
        finished(process, log)
    finally:
        for other in others:
            other.kill()
            other.wait()
    return shown("on a scheduler with two workers, one of them killed", folder, spec.stem, before, runs)


def whole(spec: Path, folder: Path, jobs: int, runs: int) -> Shown:
    log = folder.with_suffix(".log")
    finished(started(ours("sweep", spec, "--out", folder, "--jobs", jobs), log), log)
    return shown("whole", folder, spec.stem, 0, runs)


def show(spec: Path, folder: Path, runs: int, jobs: int, say) -> list[Shown]:
    """All of it below `folder`, which must be empty; raises BuildError where a promise is broken."""
    out = []

    def told(made: Shown):
        out.append(made)
        say(made.sentence())

    told(whole(spec, folder / "whole", jobs, runs))
    told(killed(spec, folder / "killed", jobs, runs))
    told(on_a_scheduler(spec, folder / "scheduler", runs))
    if len({each.digest for each in out}) != 1:
        raise build.BuildError("the Parquet files differ")
    say("the Parquet files are the same to the byte, and no run was made twice")
    return out
