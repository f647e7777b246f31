"""Commands that act on what an egress sends: discard its packets, stop it, let it go on."""

import click

from . import counters
from .arguments import as_json, chosen_queues, print_json
from .errors import DeviceError


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
