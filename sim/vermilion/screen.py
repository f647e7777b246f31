"""Where the commands print to: the console, and a line a build step."""

from contextlib import contextmanager

import click


def console():
    from rich.console import Console

    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=130)


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
