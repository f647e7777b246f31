"""The command `vermilion from-tc`: its options; the work is in `configuration/from_tc.py`."""

import sys

import click

from vermilion.values import units
from vermilion.values.fields import UserError

MOST_QUEUES = 1024  # of a build


@click.command("from-tc")
@click.argument("commands", nargs=-1, required=True, metavar="COMMAND...")
@click.option("--rate", metavar="RATE", help="Of the port, where no tbf gives one, such as 10Gbit.")
@click.option("--name", default="all", show_default=True, help="Of the queue; L of dualpi2 has -l4s behind it.")
def from_tc(commands, rate, name):
    """Prints a configuration file that does what `tc qdisc add` commands ask for.

    Each COMMAND is one, in quotes; `-` reads them from standard input, one a line. A qdisc is codel, fq_codel, pie, dualpi2, red, pfifo or bfifo, at the root or below a tbf.
    """
    from vermilion.configuration import config, from_tc

    try:
        asked = units.rate(rate) if rate is not None else None
    except ValueError as error:
        raise UserError(f"--rate {error}") from None
    lines = [line for each in commands for line in (sys.stdin.read().splitlines() if each == "-" else [each])]
    made = from_tc.tables(lines, asked, name)
    config.parse(made, MOST_QUEUES)  # what no lane can hold is refused here
    click.echo(from_tc.toml(made), nl=False)
