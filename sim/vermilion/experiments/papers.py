"""The experiments by name: each paper's settings, and the module that runs it."""

import importlib
from pathlib import Path

from vermilion.values.fields import UserError

from . import rows, settings
from .rows import MUST, Line

MODULES = {"poisson": "poisson", "wred-rio": "wred_rio", "redp": "redp", "ddred": "ddred", "3cpm": "three_colour"}


def module(of):
    return importlib.import_module(f".{MODULES[of.kind]}", __package__)


def certain(of, line: Line) -> str:
    """Why a row of an experiment cannot fail, by its settings alone; empty where it can."""
    return getattr(module(of), "certain", lambda _of, _line: "")(of, line)


def load(path: Path):
    """Settings; a row that must hold and cannot fail is refused."""
    of = settings.load(path)
    for line in rows.lines(of.row):
        if line.class_ == MUST and (why := certain(of, line)):
            raise UserError(
                f'{path}: has the row "{line.of}", which cannot fail: {why}; legal is class "informational"'
            )
    return of
