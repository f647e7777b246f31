"""Commands that act on what an egress sends: discard its packets, stop it, let it go on, report its drops."""

import click

from vermilion.configuration import egresses
from vermilion.configuration.reports import Reports

from . import counters
from .arguments import as_json, chosen_queues, print_json
from .errors import DeviceError, UserError


@click.command()
@click.argument("queue", required=False)
@as_json
@click.pass_obj
def flush(where, queue, json_):
    """Discards the packets of a QUEUE, or of all queues of the egress, in place of sending them.

    Packets that come meanwhile go, too, until the queue is seen empty once. Neither shapers nor a pause hold them. A QUEUE alone keeps its place among
    the others: while packets that go before its own may not be sent, it waits. Where nothing goes any more, the command ends with exit status 1.
    """
    with where.session() as session:
        session.may_flush()
        one = chosen_queues(session, queue)
        chosen = one or range(session.has()["queues"])
        before = counters.read(session, chosen)
        empty = session.flush(one and one[0])
        gone = counters.gained(before, counters.read(session, chosen), "flushed")
    if json_:
        print_json(gone | {"empty": empty})
    else:
        click.echo(f"{gone['packets']:,} packets discarded, {gone['bytes']:,} bytes")
    if not empty:
        raise DeviceError("packets are still queued: others go before them, or more come than are discarded")


@click.command()
@click.pass_obj
def pause(where):
    """Stops the egress between two frames, until `resume`.

    Packets that arrive are classified, admitted or dropped, and queued as before. Other egresses go on. The frame on its way out and at most one more are
    sent whole.
    """
    with where.session() as session:
        session.pause(True)


@click.command()
@click.pass_obj
def resume(where):
    """Lets a paused egress send again."""
    with where.session() as session:
        session.pause(False)


@click.command()
@click.option("--config", metavar="FILE", help="A configuration: its [reports] selects what is reported.")
@click.option("--off", is_flag=True, help="Reports nothing of this egress from now on.")
@as_json
@click.pass_obj
def reports(where, config, off, json_):
    """Counts of the reports of drops and marks; with --config or --off it first selects what is reported.

    A card sends reports as frames to the host of a port, with the EtherType that [reports] names. How often, and their header, is set for all egresses of
    the lane. Queues have their own reasons by the names with which `apply` wrote them.
    """
    if config is not None and off:
        raise UserError("--config and --off are both given; one of them says what is reported")
    with where.session() as session:
        if config is not None or off:
            wanted = None if off else of_file(config)
            session.report(wanted, session.names() if wanted and wanted.queues else {})
        found = session.reported()
    if json_:
        print_json(found)
        return
    click.echo(f"{found['offered']:,} reports offered, {found['lost']:,} lost")
    click.echo(f"{found['limited']:,} above the rate, {found['headless']:,} sent without the packet's bytes")


def of_file(path: str) -> Reports:
    """The [reports] of a configuration, whose queues may be of any build."""
    lane = egresses.load(path, egresses.Build(4096, egresses=egresses.needed(path)))
    if lane.reports is None:
        raise UserError(f"{path}: has no [reports]; give it one, or --off")
    return lane.reports
