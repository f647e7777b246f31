"""The command `exec`."""

import os

import click

from vermilion.values.fields import UserError


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("words", metavar="COMMAND [ARGS]...", nargs=-1, required=True, type=click.UNPROCESSED)
def execute(words):
    """Runs COMMAND with the project's tools in its path: fusesoc, verilator, mill, python with the project's packages.

    Its exit status is that of the command, or 2 if there is none of this name.
    """
    try:
        os.execvp(words[0], words)
    except OSError as error:
        raise UserError(f"exec {words[0]}: {error.strerror}") from None
