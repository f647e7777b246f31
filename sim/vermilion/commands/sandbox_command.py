"""`vermilion sandbox`: a guest whose TCP passes through the RTL in real time; docs/tutorials/sandbox.md."""

import sys
import tempfile
from pathlib import Path

import click

from vermilion.console.screen import working
from vermilion.guests import guest
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from .device import check_socket

# Of 512 bits, so a packet takes a quarter of the cycles that it takes in `lab`, and the simulation keeps up with 10 Mbit/s.
PRESETS = ("network-aqm", "nic100g-aqm")
SOCKETS = ("device", "control", "in", "a", "b", "words", "netlink")


@click.command()
@click.option(
    "--run", "command", metavar="CMD", help="Runs a command line in the guest; its status is the exit status."
)
@click.option(
    "--preset",
    type=click.Choice([*PRESETS, *build.PRESETS]),
    default=PRESETS[0],
    show_default=True,
    help="Build of the lane.",
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Of the live page; default: a free one."
)
@click.option("--no-page", is_flag=True, help="No live page.")
@click.pass_context
def sandbox(context, command, preset, port, no_page):
    """A Linux guest with the card, and two namespaces whose TCP passes through the RTL in real time."""
    from vermilion.guests import sandbox as parts
    from vermilion.report.sandbox_page import Server

    if command is None and not sys.stdin.isatty():
        command = sys.stdin.read()
    if command is not None and not command.strip():
        raise UserError("there is no command; give one with --run or on standard input, or start it at a terminal")
    with tempfile.TemporaryDirectory(prefix="vermilion-") as name:
        folder = Path(name)
        for each in SOCKETS:
            check_socket("a socket of the sandbox", str(folder / each))
        page = None if no_page else Server(port)

        def ready():
            if page:
                page.begin(folder / "control")
                click.echo(f"live page: {page.address}", err=True)

        try:
            with working() as note:
                guest.check_system()
                program = build.device(preset, "", note)
                made = parts.Sandbox(folder, program, command)
                made.prepare(note)
            status = made.run(ready)
        except guest.Unavailable as error:
            raise build.BuildError(str(error)) from None
        except parts.Failed as error:
            click.echo(f"vermilion: {error}", err=True)
            status = parts.FAILED
    context.exit(status)
