"""A configuration file of a lane with one egress. Those of several: `egresses.py`."""

from pathlib import Path

from . import egresses
from .config import Config, checked, parse


def load(
    path: str | Path,
    build_queues: int = 16,
    build_victims: int | None = None,
    build_cells: int | None = None,
    pool_elsewhere: bool = False,
    build_aqms: frozenset[str] | None = None,
) -> Config:
    """Reads and checks a file for a lane with one egress. Without `build_cells` a pool may have any size; `pool_elsewhere`: it is in the file of another
    egress of the lane."""
    if pool_elsewhere:
        return checked(
            path,
            lambda raw: parse(raw, build_queues, build_victims, build_cells, pool_elsewhere, build_aqms),
        )
    return egresses.load(path, egresses.Build(build_queues, build_victims, build_cells, aqms=build_aqms)).configs[0]
