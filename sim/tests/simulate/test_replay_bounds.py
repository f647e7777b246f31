"""The replay's counts where all goes wrong: agreement is never below none, so it never reads as a very large number."""

import subprocess

import pytest

from vermilion.toolchain import build

pytestmark = pytest.mark.slow

OBJECTS = "replay victim_check average clocked_verdicts clocked_victims codel curve decide distance flow_marker flow_table mark_stage parser"
OBJECTS += " pipeline_view random spacing token_marker victims"


def test_a_lone_departure_is_a_disagreement_and_no_negative_agreement(tmp_path):
    shape, out = build.shape_object("lab"), tmp_path / "lone_departure"
    objects = {path.stem: path for path in build.harness_objects()}
    command = ["g++", "-std=gnu++20", *build.MODEL_FLAGS]
    command += ["-I", build.ROOT / "sim/harness", build.ROOT / "sim/tests/simulate/lone_departure.cpp", "-o", out]
    command += [shape, *(objects[name] for name in OBJECTS.split())]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    decisions, agreed, first = subprocess.run([out], capture_output=True, text=True).stdout.split(" ", 2)
    assert (decisions, agreed) == ("0", "0") and "victim search" in first, first
