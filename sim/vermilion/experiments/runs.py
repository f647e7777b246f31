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


class Stop(Exception):
    """Others of the runs have failed, or the user has stopped them."""


class Runner:
    """Runs what is missing, `jobs` at a time."""

    def __init__(self, program: Program, folder: Path, jobs: int):
        self.program, self.folder, self.jobs = program, folder / "runs", jobs
        self.lock, self.stopped, self.processes = threading.Lock(), False, set()

    def place(self, run: Run) -> Path:
        return self.folder / f"{key(self.program, run)}.json"

    def kept(self, run: Run) -> dict | None:
        try:
            return json.loads(self.place(run).read_text())
        except (OSError, ValueError):
            return None

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
        missing = []
        for run in runs:
            found = self.kept(run)
            if found is None:
                missing.append(run)
            else:
                out[run.name][run.seed] = found["results"]
                progress(run.weight)
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self.execute, run): run for run in sorted(missing, key=lambda run: run.seed)}
            try:
                for future in as_completed(futures):
                    run = futures[future]
                    out[run.name][run.seed] = future.result()["results"]
                    progress(run.weight)
            except BaseException:
                self.stop()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return out


def versions(**more) -> dict:
    """What every run's record says of the software."""
    return {"machine": platform.machine(), "python": platform.python_version(), **more}
