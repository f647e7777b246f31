"""Dask distributed: the pinned packages of sim/experiments/sweeps/requirements.txt, fetched when the first sweep needs them into
.vermilion/dask, and whatever gives a sweep its workers.
"""

import hashlib
import os
import sys
from contextlib import contextmanager
from pathlib import Path

from vermilion.toolchain import build
from vermilion.values.fields import UserError

WANTED = build.ROOT / "sim" / "experiments" / "sweeps" / "requirements.txt"
QUEUES = {"lsf": "LSFCluster", "slurm": "SLURMCluster", "sge": "SGECluster"}
SECONDS_TO_ANSWER = 20


def packages(note) -> Path:
    """The folder of the packages, first fetched and then on the module path of this process and those that it starts."""
    target = build.HOME / "dask" / hashlib.sha256(WANTED.read_bytes()).hexdigest()[:12]
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--target", str(target), "-r", str(WANTED)]
    with build.locked("dask-lock"):
        action = lambda: build.run(command, build.BUILD / "dask.log")
        build.step(target, build.digest([WANTED]), lambda text: note(text, "fetching", "fetched"), "Dask", action)
    if str(target) not in sys.path:
        sys.path.append(str(target))
    return target


def environment(target: Path) -> dict:
    """Of Dask's own programs: the packages, behind those of this process."""
    paths = [str(build.ROOT / "sim"), str(target), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def settings():
    """A run whose worker died is given to another ten times before the sweep takes it for its murderer."""
    import dask

    return dask.config.set(
        {"distributed.scheduler.allowed-failures": 10, "distributed.logging.distributed": "critical"}
    )


def quietly():
    import logging

    for name in ("distributed", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


def queue(kind: str, target: Path, jobs: int):
    """A cluster of the batch system's jobs, one worker of one run each. Queue, project, wall time and memory come from Dask's own
    configuration, ~/.config/dask/jobqueue.yaml, with an hour and 2 GB where that says nothing."""
    import dask
    import dask_jobqueue

    given = dask.config.get(f"jobqueue.{kind}", {})
    words = {"cores": 1, "processes": 1, "python": sys.executable}
    words["memory"] = given.get("memory") or "2GB"
    words["walltime"] = given.get("walltime") or ("01:00" if kind == "lsf" else "01:00:00")
    prologue = list(given.get("job-script-prologue") or [])
    words["job_script_prologue"] = [*prologue, f"export PYTHONPATH={environment(target)['PYTHONPATH']}"]
    made = getattr(dask_jobqueue, QUEUES[kind])(**words)
    if jobs:
        made.scale(jobs=jobs)
    return made


def await_workers(made, scheduler: str):
    try:
        made.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
    except TimeoutError:
        raise UserError(
            f"--scheduler {scheduler}: has no workers; start some with ./vermilion dask worker {scheduler} --nthreads 1"
        ) from None


@contextmanager
def client(target: Path, scheduler: str | None, jobqueue: str | None, jobs: int):
    """A client of one of the three kinds of workers."""
    from distributed import Client, LocalCluster

    with settings():
        quietly()
        if scheduler:
            try:
                made = Client(scheduler, timeout=SECONDS_TO_ANSWER)
            except (OSError, ValueError) as error:
                raise UserError(
                    f"--scheduler {scheduler}: no Dask scheduler answers there; give an address such as tcp://10.0.0.1:8786 ({error})"
                ) from None
            cluster = None
        else:
            if jobqueue:
                cluster = queue(jobqueue, target, jobs)
            else:
                os.environ["PYTHONPATH"] = environment(target)["PYTHONPATH"]
                cluster = LocalCluster(n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None)
            made = Client(cluster)
        try:
            quietly()
            if scheduler:
                await_workers(made, scheduler)
            yield made
        finally:
            made.close()
            if cluster is not None:
                cluster.close()
