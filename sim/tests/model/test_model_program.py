"""`--engine model` needs a C++ compiler, and neither Chisel nor Verilator."""

import os
import shutil
import subprocess
import sys

from support.captures import pcap
from support.frames import ip4
from vermilion.toolchain import build, steps

# The command line with another place for builds, so that nothing is there yet.
FRESH = """
import sys
from pathlib import Path
from vermilion.toolchain import steps
steps.HOME = Path(sys.argv.pop(1))
steps.BUILD = steps.HOME / "build"
from vermilion.commands import cli
cli.main()
"""
TOOLS = ("g++", "gcc", "as", "ld", "ccache")
FORBIDDEN = ("verilator", "verilator_bin", "java", "mill", "make", "perl", "sh")


def test_model_of_the_largest_preset_runs_without_verilator(tmp_path):
    tools, called = tmp_path / "bin", tmp_path / "called"
    tools.mkdir()
    for name in filter(shutil.which, TOOLS):
        (tools / name).symlink_to(shutil.which(name))
    for name in FORBIDDEN:
        (tools / name).write_text(f"#!/bin/bash\necho {name} >> {called}\nexit 1\n")
        (tools / name).chmod(0o755)
    environment = {name: text for name, text in os.environ.items() if name != "VERILATOR_ROOT"}
    environment |= {"PATH": str(tools), "PYTHONPATH": str(build.ROOT / "sim")}
    environment |= {name: place for name, place in steps.environment().items() if name.startswith("CCACHE_")}
    capture, stats = pcap(tmp_path / "in.pcap", [(i * 1000, ip4(100), 114) for i in range(50)]), tmp_path / "stats.json"
    command = [sys.executable, "-c", FRESH, tmp_path / "home", "run", capture, "--engine", "model"]
    command += ["--preset", "nic100g", "--json", stats, "--no-report"]  # that place has no uPlot
    done = subprocess.run(
        [str(word) for word in command], env=environment, cwd=build.ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not called.exists(), called.read_text()
    assert '"preset":"nic100g"' in stats.read_text() and '"packets":50' in stats.read_text()
    assert not list((tmp_path / "home").rglob("*.sv"))


def test_model_program_refuses_the_rtl(tmp_path):
    words = tmp_path / "words.json"
    words.write_text("{}")
    done = subprocess.run(
        [build.model_program("lab"), "--in", "a", "--config-words", words], capture_output=True, text=True
    )
    assert done.returncode == 2 and done.stdout == (
        "error --engine is rtl; this program has the model alone: give --engine model\n"
    )
