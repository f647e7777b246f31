"""Where the commands print to: the console, and a line a build step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.console import Console

Note = Callable[..., None]  # of a step: its text, and what is done and was done where it is no build


def console() -> "Console":
    """Prints text as it is: a queue may be called `[/b]` or `:smile:`."""
    from rich.console import Console

    screen = Console(highlight=False, markup=False, emoji=False)
    return screen if screen.is_terminal else Console(highlight=False, markup=False, emoji=False, width=130)


@contextmanager
def any_glyph() -> Iterator[None]:
    """While matplotlib draws names: for characters that its font lacks it draws a box, and does not warn of each."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ", UserWarning)
        yield


def say(text: str) -> None:
    click.echo(text)


@contextmanager
def working() -> Iterator[Note]:
    """Gives a `say` for the steps of long work that shows what runs and how long it took; a step that is no build says what it is."""
    import time

    from rich.console import Console
    from rich.status import Status

    screen = Console(stderr=True, highlight=False)
    running: list[tuple[str, float, Status]] = []

    def finish() -> None:
        if running:
            text, began, status = running.pop()
            status.stop()
            screen.print(f"{text} in {time.monotonic() - began:.0f} s", markup=False)

    def begin(text: str, doing: str = "building", done: str = "built") -> None:
        finish()
        running.append((f"{done} {text}", time.monotonic(), screen.status(f"{doing} {text}")))
        running[-1][2].start()
        if not screen.is_terminal:
            screen.print(f"{doing} {text} ...", markup=False)

    try:
        yield begin
        finish()
    finally:
        for _, _, status in running:
            status.stop()
