"""Drawings of the pages, `docs/images/*.svg`: `python -m vermilion.generate.drawings` writes them, a test keeps them fresh.

Each function of `hardware.py`, `policy.py` and `system.py` draws one. Cycle counts come from `sim/model/timing.h`, so a drawing
says what the model says. `waves.py` draws the WaveJSON files of `docs/waves` with WaveDrom.
"""

from pathlib import Path

from vermilion.toolchain.build import ROOT

from . import curves, hardware, policy, system, waves
from .svg import Drawing

FOLDER = ROOT / "docs" / "images"


def drawings() -> list[Drawing]:
    """Each drawing, in the order of the files."""
    return [draw() for module in (hardware, policy, curves, system) for draw in module.ALL]


def files() -> dict[Path, str]:
    """Each file with its text."""
    made = {FOLDER / f"{drawing.name}.svg": drawing.svg() for drawing in drawings()}
    return made | {FOLDER / f"wave-{path.stem}.svg": waves.draw(path) for path in waves.sources()}
