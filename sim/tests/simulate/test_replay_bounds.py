"""The replay's counts where all goes wrong: agreement is never below none, so it never reads as a very large number."""

import subprocess

import pytest

from vermilion.toolchain import build

pytestmark = pytest.mark.slow


def test_a_lone_departure_is_a_disagreement_and_no_negative_agreement(tmp_path):
    shape, out = build.shape_object("lab"), tmp_path / "lone_departure"
    # As an archive: the linker takes what the replay needs, and leaves the simulator's own `main`.
    archive = tmp_path / "harness.a"
    subprocess.run(["ar", "rcs", archive, *build.harness_objects()], check=True)
    command = ["g++", "-std=gnu++20", *build.MODEL_FLAGS]
    command += ["-I", build.ROOT / "sim/harness", build.ROOT / "sim/tests/simulate/lone_departure.cpp", "-o", out]
    command += [archive, shape, archive]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    decisions, agreed, first = subprocess.run([out], capture_output=True, text=True).stdout.split(" ", 2)
    assert (decisions, agreed) == ("0", "0") and "victim search" in first, first
