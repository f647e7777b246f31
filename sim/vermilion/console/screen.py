"""Where the commands print to: the console, and a line a build step."""

from contextlib import contextmanager

import click


def console():
    """Prints text as it is: a queue may be called `[/b]` or `:smile:`."""
    from rich.console import Console

    plain = {"highlight": False, "markup": False, "emoji": False}
    screen = Console(**plain)
    return screen if screen.is_terminal else Console(**plain, width=130)


@contextmanager
def any_glyph():
    """While matplotlib draws names: for characters that its font lacks it draws a box, and does not warn of each."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ", UserWarning)
        yield


def say(text: str):
    click.echo(text)


@contextmanager
def working():
    """Gives a `say` for the steps of long work that shows what runs and how long it took; a step that is no build says what it is."""
    import time

    from rich.console import Console

    screen, running = Console(stderr=True, highlight=False), []

    def finish():
        if running:
            text, began, status = running.pop()
            status.stop()
            screen.print(f"{text} in {time.monotonic() - began:.0f} s", markup=False)

    def begin(text, doing="building", done="built"):
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
