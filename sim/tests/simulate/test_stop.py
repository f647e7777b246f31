"""A run that is stopped by a signal leaves no program and no file behind, and says so in one line."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.captures import pcap
from support.frames import mixed
from support.runs import ROOT, environment
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

RUNS = build.BUILD / "runs"  # shared by all runs of a checkout, also by those of other tests at the same time


def children(process):
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def alive(process):
    """Whether it runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def simulators(process):
    """Process and argument list of each simulator below a run."""
    found = {}
    for pid in children(process):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue  # another child, that has ended
        if "--config-words" in words:
            found[pid] = words
    return found


@pytest.mark.parametrize("number, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("group", [False, True], ids=["alone", "with-its-group"])
def test_a_stopped_run_ends_its_simulator_and_leaves_no_file(tmp_path, program, number, status, group):
    capture = pcap(tmp_path / "in.pcap", mixed(200))
    once = capture.read_bytes()
    capture.write_bytes(once + once[24:] * 500)  # minutes of work
    outputs = [word for name in ("out", "json", "trace", "report") for word in (f"--{name}", str(tmp_path / name))]
    with subprocess.Popen(
        [sys.executable, "-m", "vermilion", "run", str(capture), *outputs],
        cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as run:  # fmt: skip
        until = time.monotonic() + 60
        while not (found := simulators(run.pid)) or not list(tmp_path.glob(".out.*.part")):
            assert run.poll() is None and time.monotonic() < until, "the simulator never began"
            time.sleep(0.05)
        time.sleep(0.3)
        between = [Path(word) for words in found.values() for word in words if Path(word).parent == RUNS]
        assert between and all(path.exists() for path in between), "its files between the steps are elsewhere"
        os.killpg(run.pid, number) if group else os.kill(run.pid, number)
        _, err = run.communicate(timeout=30)
    lines = [text for text in err.splitlines() if "vermilion: " in text]
    assert run.returncode == status and lines == [f"vermilion: stopped by {number.name}, nothing is written"], err
    assert "Traceback" not in err
    assert not any(map(alive, found)), "the simulator goes on"
    assert {path.name for path in tmp_path.iterdir()} == {"in.pcap"}
    assert not [path.name for path in between if path.exists()]
