"""One run on a worker. Sent to it by value, so that workers need Dask and Python and nothing else; only the standard library here.

A worker sees the sweep's folder and the program where the one who asks sees them, as processes of one machine or nodes with a shared file
system do. It stores the run itself, whole or not at all: what is stored stays done, whoever dies. A program dies with its worker.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import time
from typing import Any

PR_SET_PDEATHSIG = 1  # linux/prctl.h


class Failed(Exception):
    """The program ended with another status than 0."""


def dies_with_its_worker() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def execute(task: dict[str, Any]) -> str:
    """Does the run unless it is stored. `task`: place, log (files), command, asked, record (what the stored run says besides)."""
    place: str = task["place"]
    if os.path.exists(place):
        return place
    began = time.monotonic()
    process = subprocess.Popen(
        task["command"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=dies_with_its_worker,
    )
    try:
        out, err = process.communicate(json.dumps(task["asked"]))
    except BaseException:
        process.kill()
        raise
    if process.returncode:
        raise Failed(
            f"run {task['record']['run']}, seed {task['record']['seed']}, ended with status {process.returncode}\n{err[-3000:]}"
        )
    record = task["record"] | {"wall_seconds": round(time.monotonic() - began, 3)}
    record |= {"settings": task["asked"], "results": json.loads(out)}
    who = f"{socket.gethostname()}.{os.getpid()}"
    part = f"{place}.{who}.part"
    with open(part, "w") as file:
        file.write(json.dumps(record) + "\n")
    os.replace(part, place)
    with open(task["log"], "a") as file:  # one write of a line: lines of several workers do not mix
        file.write(f"{os.path.basename(place)} {who}\n")
    return place
