"""A run that is stopped by a signal leaves no program and no file behind, and says so in one line."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_run import ROOT, environment
from test_simulator import mixed, pcap, program  # noqa: F401
from vermilion import build


def children(process):
    return [int(pid) for pid in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def alive(process):
    """Whether it runs; one that has ended and that nobody has waited for does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def simulators(process):
    return [pid for pid in children(process) if b"--config-words" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def listed(folder):
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


@pytest.mark.parametrize("number, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.parametrize("group", [False, True], ids=["alone", "with-its-group"])
def test_a_stopped_run_ends_its_simulator_and_leaves_no_file(tmp_path, program, number, status, group):  # noqa: F811
    capture = pcap(tmp_path / "in.pcap", mixed(200))
    once = capture.read_bytes()
    capture.write_bytes(once + once[24:] * 500)  # minutes of work
    outputs = [word for name in ("out", "json", "trace", "report") for word in (f"--{name}", str(tmp_path / name))]
    runs = build.BUILD / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    before = listed(runs)
    with subprocess.Popen(
        [sys.executable, "-m", "vermilion", "run", str(capture), *outputs],
        cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as run:  # fmt: skip
        until = time.monotonic() + 60
        while not (found := simulators(run.pid)) or not list(tmp_path.glob(".out.*.part")):
            assert run.poll() is None and time.monotonic() < until, "the simulator never began"
            time.sleep(0.05)
        time.sleep(0.3)
        os.killpg(run.pid, number) if group else os.kill(run.pid, number)
        _, err = run.communicate(timeout=30)
    lines = [text for text in err.splitlines() if "vermilion: " in text]
    assert run.returncode == status and lines == [f"vermilion: stopped by {number.name}, nothing is written"], err
    assert "Traceback" not in err
    assert not any(map(alive, found)), "the simulator goes on"
    assert listed(tmp_path) == {"in.pcap"} and listed(runs) == before
