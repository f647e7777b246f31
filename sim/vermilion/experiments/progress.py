"""How far the runs of experiments have come, on standard error: a bar in a terminal, elsewhere a line for every twentieth of the work.

Weights are expected processor seconds, so the time left is told from what the runs that are done took. Runs that were kept from before do not count.
"""

import sys
import time
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click._termui_impl import ProgressBar  # click exports no name of what `progressbar` gives

STEPS = 20


class Silent:
    """Tells nothing."""

    def begin(self, kept: int, missing: int, weight: float) -> None:
        pass

    def done(self, weight: float) -> None:
        pass

    def end(self) -> None:
        pass


SILENT = Silent()


class Bar(Silent):
    def __init__(self, label: str) -> None:
        self.label = label
        self.bar: ProgressBar[int] | None = None

    def begin(self, kept: int, missing: int, weight: float) -> None:
        self.began, self.weight, self.come, self.told = time.monotonic(), weight, 0.0, 0
        label = f"{self.label}, {missing} runs" + (f" ({kept} more are kept)" if kept else "")
        if not missing or not sys.stderr.isatty():
            click.echo(label, err=True)
        else:
            self.bar = click.progressbar(length=max(1, round(10 * weight)), label=label, file=sys.stderr)
            self.bar.__enter__()

    def done(self, weight: float) -> None:
        self.come += weight
        if self.bar:
            self.bar.update(round(10 * self.come) - self.bar.pos)
            return
        part = self.come / self.weight
        if int(STEPS * part + 1e-9) > self.told:
            self.told = int(STEPS * part + 1e-9)
            left = (time.monotonic() - self.began) * (1 - part) / part
            click.echo(f"{self.label}: {part:.0%} done, {left / 60:.0f} minutes left", err=True)

    def end(self) -> None:
        if self.bar:
            self.bar.__exit__(None, None, None)
            self.bar = None
