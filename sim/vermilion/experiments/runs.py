"""Runs of an experiment: each is one call of a program with a JSON object on standard input and one on standard output.

A finished run is kept as `.vermilion/experiments/NAME/ENGINE/runs/KEY.json`, where KEY is the hash of what it depends on: the sources of program and
engine, and the whole of its input, seed included. So nothing is run twice, and an experiment that was killed goes on where it was, in another checkout
of the same sources too.
"""

import hashlib
import json
import os
import platform
import subprocess
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vermilion.toolchain import build

from .progress import SILENT, Silent
from .work import dies_with_its_worker

HOME = build.HOME / "experiments"
Result = dict[str, Any]  # what a run prints, JSON
Results = dict[str, dict[int, Result]]  # by the runs' names and seeds
Figures = dict[str, list[float]]  # one number a seed, in the order of the seeds


@dataclass(frozen=True)
class Run:
    name: str  # of the figures that it gives, as in a row's `value`
    seed: int
    asked: dict[str, Any]  # the program's input
    weight: float  # expected processor seconds, for the order of runs and the time left


@dataclass(frozen=True)
class Program:
    path: Path
    digest: str  # of its sources and those of what it is linked with, wherever they lie
    versions: dict[str, Any]
    arguments: tuple[object, ...] = ()
    stamps: tuple[tuple[Path, str], ...] = ()  # files that were built, each with its step's key: build.stamps

    def is_whole(self) -> bool:
        """Whether it is still what was built for these runs."""
        return all(build.is_made(path, key) for path, key in self.stamps)


def key(program: Program, run: Run) -> str:
    text = json.dumps([program.digest, run.asked], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def stored(path: Path) -> dict[str, Any] | None:
    """The record of a run that was done; a file that is none counts as missing."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and "results" in found else None


def results(path: Path) -> Result:
    """The results of a run that was done."""
    record = stored(path)
    if record is None:
        raise build.BuildError(f"{path}: is no record of a run; it was changed or taken away while runs were under way")
    found: Result = record["results"]
    return found


class Stop(Exception):
    """Others of the runs have failed, or the user has stopped them."""


class Runner:
    """Runs what is missing, `jobs` at a time."""

    def __init__(self, program: Program, folder: Path, jobs: int) -> None:
        self.program, self.folder, self.jobs = program, folder / "runs", jobs
        self.lock, self.stopped = threading.Lock(), False
        self.processes: set[subprocess.Popen[str]] = set()

    def place(self, run: Run) -> Path:
        return self.folder / f"{key(self.program, run)}.json"

    def execute(self, run: Run) -> dict[str, Any]:
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
        if not self.program.is_whole():
            raise build.BuildError(
                "sources were changed and built anew while runs were under way; start the command again"
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

    def stop(self) -> None:
        with self.lock:
            self.stopped = True
            for process in self.processes:
                process.kill()

    def missing(self, plan: list[Run]) -> list[list[Run]]:
        """Runs that are not kept, the longest first; those with the same input are one."""
        out: dict[Path, list[Run]] = {}
        for run in plan:
            if stored(self.place(run)) is None:
                out.setdefault(self.place(run), []).append(run)
        return sorted(out.values(), key=lambda same: -same[0].weight)

    def all(self, plan: list[Run], told: Silent = SILENT) -> Results:
        """Results by run's name and seed; `told`: progress.py."""
        return list(pooled([Part(self, plan)], self.jobs, told))[0]


@dataclass(frozen=True)
class Part:
    """An experiment's share of the work."""

    runner: Runner
    plan: list[Run]

    def results(self) -> Results:
        """Of runs that are all kept, by name and seed, in the order of the plan."""
        out: Results = {}
        for run in self.plan:
            out.setdefault(run.name, {})[run.seed] = results(self.runner.place(run))
        return out


def pooled(parts: list[Part], jobs: int, told: Silent = SILENT) -> Generator[Results]:
    """Gives the results of each part in turn, as soon as all of its runs are done.

    `jobs` runs at a time, of all parts together: no processor waits for the last run of a part. What is done stays kept, whatever happens to the rest.
    """
    pool = ThreadPoolExecutor(jobs)
    waiting: list[dict[Future[Result], float]] = []
    try:
        for part in parts:
            part.runner.folder.mkdir(parents=True, exist_ok=True)
            missing = part.runner.missing(part.plan)
            waiting.append({pool.submit(part.runner.execute, same[0]): same[0].weight for same in missing})
        weights = {future: weight for each in waiting for future, weight in each.items()}
        told.begin(sum(len(part.plan) for part in parts) - len(weights), len(weights), sum(weights.values()))
        done = as_completed(list(weights))
        for part, futures in zip(parts, waiting, strict=True):
            while futures.keys() & weights.keys():
                future = next(done)
                future.result()
                told.done(weights.pop(future))
            yield part.results()
    except BaseException:
        for part in parts:
            part.runner.stop()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        told.end()


def measured(results: Results, of_run: Callable[[str, Result], dict[str, float]]) -> dict[str, list[float]]:
    """Figures of runs by themselves: `RUN.FIGURE`, one number a seed in the order of the seeds. `of_run(name, result)` gives those of one run."""
    out: dict[str, list[float]] = {}
    for name, by_seed in results.items():
        for _, result in sorted(by_seed.items()):
            for what, number in of_run(name, result).items():
                out.setdefault(f"{name}.{what}", []).append(number)
    return out


def versions(**more: str) -> dict[str, Any]:
    """What every run's record says of the software."""
    return {"machine": platform.machine(), "python": platform.python_version(), **more}
