"""`vermilion check`: a configuration file as asked and as the hardware has it."""

import click

from vermilion.configuration import config, egresses
from vermilion.console.screen import console
from vermilion.values.fields import UserError


@click.command()
@click.argument("file")
@click.option(
    "--queues", type=click.IntRange(2, 1024), default=16, show_default=True, help="Queues of the build, of each egress."
)
@click.option(
    "--victims", type=click.IntRange(0), help="Queues that can drop the nearest packet, up to --queues. Default: all."
)
@click.option(
    "--egresses",
    "count",
    type=click.Choice([str(n) for n in egresses.EGRESSES]),
    help="Egresses of the build. Default: as many as the file needs.",
)
@click.option(
    "--egress", type=click.IntRange(0, egresses.EGRESSES[-1] - 1), metavar="N", help="Only this egress. Default: all."
)
@click.option("--json", "json_file", metavar="FILE", help="The hardware's record, docs/hardware-configuration.md.")
@click.option("--registers", is_flag=True, help="Prints every register value instead, as vermilionctl dump does.")
def check(file, queues, victims, count, egress, json_file, registers):
    """Prints a configuration FILE as asked and as the hardware has it."""
    from vermilion.profile import quantise
    from vermilion.simulation import show, show_egresses, simulate

    if victims is not None and victims > queues:
        raise UserError(f"--victims is {victims}; legal is 0 to {queues}, the queues of the build")
    build = egresses.Build(queues, victims, egresses=int(count) if count else egresses.needed(file))
    lane = egresses.load(file, build)
    if egress is not None and egress >= build.egresses:
        has = f"0 to {build.egresses - 1}" if build.egresses > 1 else "0"
        raise UserError(f"--egress is {egress}; legal is {has}, the egresses of the build")
    with config.named(file):  # what the hardware cannot hold is refused whether or not the record is written
        record = quantise.lane(lane, queues) if egress is None else quantise.egress(lane, egress)
    with simulate.Outputs(file) as outputs:
        place = outputs.add("--json", json_file)
        if place:
            simulate.write_words(record, place)
    if registers:
        from .card_commands import register_lines

        click.echo("\n".join(register_lines(lane, egress)))
    elif build.egresses == 1:
        show.configuration(console(), lane.configs[0])
    else:
        show_egresses.lane(console(), lane, egress)
