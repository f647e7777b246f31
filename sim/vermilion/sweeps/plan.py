"""From points to runs. A run that two points share, or that another sweep has made, is one run: it is stored as `runs/KEY.json` of the
sweeps' folder, where KEY is the hash of the engine's and the program's sources and of the whole of its input, seed included.
"""

import fnmatch
from dataclasses import dataclass
from pathlib import Path

from vermilion.experiments import runs
from vermilion.experiments.papers import module
from vermilion.values.fields import UserError

from . import spec

LOG = "done.log"  # a line for each run that was made: its file, host and process


@dataclass(frozen=True)
class Row:
    """A line of the results: a run at a point."""

    point: spec.Point
    run: runs.Run
    key: str


def rows(sweep: spec.Sweep, points: list[spec.Point], program: runs.Program) -> list[Row]:
    """All of them, in the order of points, runs and seeds."""
    out = []
    for point in points:
        try:
            planned = module(point.of).planned(point.of, sweep.all_seeds(), 1)
        except UserError as error:
            raise UserError(f"{error}{spec.where(point.values)}") from None
        kept = [run for run in planned if any(fnmatch.fnmatchcase(run.name, each) for each in sweep.runs)]
        if not kept:
            names = list(dict.fromkeys(run.name for run in planned))
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            raise UserError(f"runs: {', '.join(sweep.runs)} is none of the runs at a point; they are {shown}")
        out += [Row(point, run, runs.key(program, run)) for run in kept]
    return out


def task(row: Row, program: runs.Program, folder: Path) -> dict:
    """What a worker is sent; see work.py."""
    return {
        "place": str(folder / "runs" / f"{row.key}.json"),
        "log": str(folder / LOG),
        "command": [str(program.path), *map(str, program.arguments)],
        "asked": row.run.asked,
        "record": {"run": row.run.name, "seed": row.run.seed, "versions": program.versions},
    }
