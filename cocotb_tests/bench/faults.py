"""Faults put into a block's SystemVerilog, each of which its bench must find."""

import re
import shutil
from pathlib import Path

import pytest

from bench.build import emit, run


def must_be_found(
    block: str, bench: str, fault: tuple[str, str], folder: Path, module: str | None = None, **environment: str
) -> None:
    """Puts `fault`, a pattern and what replaces it, into a copy of the block of preset `lab` below `folder`, in the file of `module`. The bench has to fail."""
    copy = shutil.copytree(emit(block, "lab"), folder / "sv")
    source = copy / f"{module or block}.sv"
    text, times = re.subn(*fault, source.read_text())
    assert times == 1, "the fault fits no place of the block"
    source.write_text(text)
    with pytest.raises((AssertionError, SystemExit)):  # cocotb's runner exits where a test fails
        run(block, bench, "lab", folder=copy, **environment)
