"""What the commands of `cli.py` and `egress_commands.py` share: the device, arguments, output."""

import json

import click

from vermilion.values import units

from . import settings
from .errors import UserError
from .session import opened


def console():
    """Prints text as it is: a queue may be called `[/b]` or `:smile:`."""
    from rich.console import Console

    plain = {"highlight": False, "markup": False, "emoji": False}
    screen = Console(**plain)
    return screen if screen.is_terminal else Console(**plain, width=200)


def print_json(found):
    click.echo(json.dumps(found, indent=1))


def queue_fields(_context, parameter, incomplete):
    """For the shell: QUEUE's fields with their `=`."""
    return [f"{name}=" for name in settings.NAMES if f"{name}=".startswith(incomplete)]


def as_pairs(words) -> list[tuple[str, str]]:
    found = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name or not value:
            raise UserError(f"{word} is no setting; legal are FIELD=VALUE")
        found.append((name, value))
    return found


class Where:
    def __init__(self, device, lane, egress):
        self.device, self.lane, self.egress = device, lane, egress or 0
        self.is_chosen = egress is not None

    def named(self) -> str:
        if self.device is None:
            raise UserError("--device is missing; legal are pci:0000:03:00.0, unix:SOCKET and netlink:IFNAME")
        return self.device

    def session(self):
        return opened(self.named(), self.lane, self.egress)


as_json = click.option("--json", "json_", is_flag=True, help="As JSON.")


def chosen_queues(session, queue):
    if queue is None:
        return None
    known = {name: number for number, name in session.names().items()}
    if queue in known:
        return [known[queue]]
    number = units.bare(queue)
    if number is not None and number < session.has()["queues"]:
        return [number]
    raise UserError(
        f"queue {queue} is not there; legal are 0 to {session.has()['queues'] - 1}, or {', '.join(known) or 'no name'}"
    )
