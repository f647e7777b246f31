"""Runs of an experiment: each is one call of a program with a JSON object on standard input and one on standard output.

A finished run is kept as `.vermilion/experiments/NAME/ENGINE/runs/KEY.json`, where KEY is the hash of what it depends on: program, engine and the
whole of its input. So nothing is run twice, and an experiment that was stopped goes on where it was.
"""

import hashlib
import json
import os
import platform
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from .. import build
from ..sweeps.work import dies_with_its_worker

HOME = build.HOME / "experiments"


@dataclass(frozen=True)
class Run:
    name: str  # of the figures that it gives, as in a row's `value`
    seed: int
    asked: dict  # the program's input
    weight: float  # expected effort, against that of the others


@dataclass(frozen=True)
class Program:
    path: Path
    digest: str  # of its sources and those of what it is linked with
    versions: dict
    arguments: tuple = ()


def key(program: Program, run: Run) -> str:
    text = json.dumps([program.digest, run.asked], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def stored(path: Path) -> dict | None:
    """The record of a run that was done; a file that is none counts as missing."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "results" in found else None


class Stop(Exception):
    """Others of the runs have failed, or the user has stopped them."""


class Runner:
    """Runs what is missing, `jobs` at a time."""

    def __init__(self, program: Program, folder: Path, jobs: int):
        self.program, self.folder, self.jobs = program, folder / "runs", jobs
        self.lock, self.stopped, self.processes = threading.Lock(), False, set()

    def place(self, run: Run) -> Path:
        return self.folder / f"{key(self.program, run)}.json"

    def execute(self, run: Run) -> dict:
        """One run, kept whole or not at all."""
        began = time.monotonic()
        with self.lock:
            if self.stopped:
                raise Stop
            process = subprocess.Popen(
                [str(self.program.path), *map(str, self.program.arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                preexec_fn=dies_with_its_worker,  # whatever ends this process, no run goes on that nobody waits for
            )
            self.processes.add(process)
        out, err = process.communicate(json.dumps(run.asked))
        with self.lock:
            self.processes.discard(process)
            if self.stopped:
                raise Stop
        if process.returncode:
            raise build.BuildError(
                f"{self.program.path.name}, run {run.name}, seed {run.seed}, ended with status {process.returncode}\n{err[-3000:]}"
            )
        record = {
            "run": run.name,
            "seed": run.seed,
            "versions": self.program.versions,
            "wall_seconds": round(time.monotonic() - began, 3),
            "settings": run.asked,
            "results": json.loads(out),
        }
        part = self.place(run).with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(record, indent=1) + "\n")
        part.replace(self.place(run))
        return record

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.processes:
                process.kill()

    def all(self, runs: list[Run], progress=lambda weight: None) -> dict[str, dict[int, dict]]:
        """Results by run's name and seed, seed after seed; `progress` gets the weight of each that is done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        out = {run.name: {} for run in runs}
        missing: dict[Path, list[Run]] = {}  # runs with the same input are one
        for run in runs:
            found = stored(self.place(run))
            if found is None:
                missing.setdefault(self.place(run), []).append(run)
            else:
                out[run.name][run.seed] = found["results"]
                progress(run.weight)
        with ThreadPoolExecutor(self.jobs) as pool:
            ordered = sorted(missing.values(), key=lambda same: same[0].seed)
            futures = {pool.submit(self.execute, same[0]): same for same in ordered}
            try:
                for future in as_completed(futures):
                    results = future.result()["results"]
                    for run in futures[future]:
                        out[run.name][run.seed] = results
                        progress(run.weight)
            except BaseException:
                self.stop()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return out


def measured(results: dict[str, dict[int, dict]], of_run) -> dict[str, list[float]]:
    """Figures of runs by themselves: `RUN.FIGURE`, one number a seed in the order of the seeds. `of_run(name, result)` gives those of one run."""
    out: dict[str, list[float]] = {}
    for name, by_seed in results.items():
        for _, result in sorted(by_seed.items()):
            for what, number in of_run(name, result).items():
                out.setdefault(f"{name}.{what}", []).append(number)
    return out


def versions(**more) -> dict:
    """What every run's record says of the software."""
    return {"machine": platform.machine(), "python": platform.python_version(), **more}
