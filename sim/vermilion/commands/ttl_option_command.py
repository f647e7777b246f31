"""The command `vermilion ttl-option`: its options and what it prints; the work is in `ttl_option.py`."""

from pathlib import Path

import click

from vermilion.values import units
from vermilion.values.fields import UserError


def parse_initial(_context, _parameter, raw):
    if raw == "auto":
        return None
    initial = units.bare(raw)
    if initial is None or not 1 <= initial <= 255:
        raise UserError(f"--initial is {raw}; legal is auto, or 1 to 255")
    return initial


@click.command("ttl-option")
@click.argument("capture")
@click.argument("out")
@click.option(
    "--initial",
    default="auto",
    callback=parse_initial,
    metavar="N|auto",
    help="Initial TTL of every packet; auto (the default): the least of 32, 64, 128 and 255 not below the packet's TTL.",
)
@click.option(
    "--final",
    type=click.IntRange(0, 255),
    default=0,
    metavar="N",
    help="TTL that packets have left when they arrive; default 0: not known.",
)
@click.option(
    "--mtu",
    type=click.IntRange(68, 65535),
    default=65535,
    metavar="BYTES",
    help="Longest IP packet there may be then; default 65535.",
)
@click.option("--config", "config_file", metavar="FILE", help="Takes the option's types from this configuration.")
def ttl_option(capture, out, initial, final, mtu, config_file):
    """Adds the TTL option to the IP packets of a CAPTURE, as their senders would, and writes the pcap file OUT.

    Packets that cannot take it are passed as they are; a table says how many, and why. docs/ttl-option.md.
    """
    from vermilion.configuration import config as configuration
    from vermilion.configuration import egresses
    from vermilion.configuration import ttl_option as sender
    from vermilion.console.screen import console
    from vermilion.simulation import show, simulate

    source = Path(capture)
    simulate.check_capture(source)
    types = egresses.load_one(config_file, 0).ttl_option if config_file else configuration.TtlOption()
    wanted = sender.Wanted(types.ip4, types.ip6, initial, final, mtu)
    if initial is not None and final > initial:
        raise UserError(f"--final is {final}, above --initial {initial}; a TTL does not grow on the way")
    warnings, counts = [], {}
    with simulate.Outputs(source) as outputs:
        place = outputs.add("OUT", out)

        def action(progress, warn):
            counts.update(sender.convert(source, place, wanted, progress, warn))

        show.with_progress(action, warnings, "adding")
    for warning in warnings:
        click.echo(f"vermilion: warning: {warning}", err=True)
    show.ttl_option(console(), counts)
