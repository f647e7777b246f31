"""The experiments by name: each paper's settings, and the module that runs it."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

from vermilion.console.screen import Note
from vermilion.values.fields import UserError

from . import drawing, rows, runs, settings
from .rows import MUST, Experiment, Line

MODULES: dict[type[Experiment], str] = {  # by the class of the settings
    settings.Poisson: "poisson",
    settings.WredRio: "wred_rio",
    settings.Redp: "redp",
    settings.Ddred: "ddred",
    settings.ThreeColour: "three_colour",
}


class Work(Protocol):
    """What the module of an experiment has. Its settings `of` are of a class of its own."""

    ENGINES: tuple[str, ...]

    def program(self, engine: str, note: Note, ageing: int | None = None) -> runs.Program: ...
    def planned(self, of: Any, seeds: list[int], shorter: int) -> list[runs.Run]: ...
    def figures(self, of: Any, results: runs.Results, shorter: int) -> runs.Figures: ...
    def pictures(self, of: Any, measured: runs.Figures, results: runs.Results) -> list[drawing.Picture]: ...
    def notes(self, of: Any) -> list[str]: ...


def module(of: Experiment) -> Work:
    return cast(Work, importlib.import_module(f".{MODULES[type(of)]}", __package__))


def certain(of: Experiment, line: Line) -> str:
    """Why a row of an experiment cannot fail, by its settings alone; empty where it can."""
    why: Callable[[Experiment, Line], str] | None = getattr(module(of), "certain", None)
    return why(of, line) if why else ""


def load(path: Path) -> Experiment:
    """Settings; a row that must hold and cannot fail is refused."""
    of = settings.load(path)
    for line in rows.lines(of.row):
        if line.class_ == MUST and (why := certain(of, line)):
            raise UserError(
                f'{path}: has the row "{line.of}", which cannot fail: {why}; legal is class "informational"'
            )
    return of
