"""`vermilion apply`, and the register values that `check --registers` prints: the work is that of the tools (`sw_driver/tools`)."""

import os
import sys

import click

from vermilion.toolchain import build


@click.command()
@click.argument("file")
@click.option(
    "--device", required=True, metavar="WHERE", help="pci:0000:03:00.0, unix:SOCKET or netlink:IFNAME: docs/tools.md."
)
@click.option("--lane", type=click.IntRange(0, 63), default=0, show_default=True, help="Lane of the card.")
@click.option(
    "--egress", type=click.IntRange(0, 7), help="Egress of the lane. Default: all, if FILE describes several; else 0."
)
def apply(file, device, lane, egress):
    """Loads a configuration FILE into a card, each queue whole or not at all."""
    from vermilionctl import cli
    from vermilionctl.errors import DeviceError

    try:
        cli.apply_file(device, lane, egress, file)
    except DeviceError as error:
        raise build.BuildError(str(error)) from None


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def ctl(words):
    """vermilionctl from this checkout: settings, counters and registers of a card; docs/tools.md."""
    os.execv(sys.executable, [sys.executable, "-m", "vermilionctl", *words])


def register_lines(lane, egress: int | None = None) -> list[str]:
    """What `vermilionctl dump` prints of a card with this lane's configuration, of an egress or of all. A cap that the file does not give is left out, as it is the number of the build's cells."""
    from vermilionctl import programming, registers

    found, count = [], len(lane.configs)
    for number in range(count) if egress is None else [egress]:
        parts = registers.table(programming.of_egress(lane, number, 0))
        if not lane.shares[number].cap.value:
            parts["lane"].pop(f"pool_cap[{number}]", None)
        found += [f"egress {number}"] * (count > 1 and egress is None) + registers.lines(parts)
    return found
