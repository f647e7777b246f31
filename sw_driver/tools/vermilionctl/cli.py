"""The command line. Exit status: 0 done, 1 the card fails, or what this host keeps of it, 2 the caller's fault
(one sentence, nothing written), 130 or 143 stopped."""

import json
import signal
import sys
import time

import click

from vermilion.configuration import egresses
from vermilion.console.command_line import completion_script, printable_everywhere, version_option
from vermilion.hardware.driver_library import C
from vermilion.values.fields import read_toml

from . import counters, egress_commands, nic, programming, registers, settings, show
from .arguments import Where, as_json, as_pairs, chosen_queues, console, print_json, queue_fields
from .errors import DeviceError, UserError
from .session import opened

SHELLS = ("bash", "zsh", "fish")


class Stopped(BaseException):
    """A signal asked the command to end."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--device",
    "-d",
    envvar="VERMILION_DEVICE",
    metavar="WHERE",
    help="pci:0000:03:00.0, unix:SOCKET or netlink:IFNAME.",
)
@click.option("--lane", type=click.IntRange(0, 63), default=0, show_default=True, help="Lane of the card.")
@click.option(
    "--egress",
    type=click.IntRange(0, C.VM_EGRESSES_MAX - 1),
    help="Egress of the lane, each with its queues from 0 on. Default: 0; for `apply` all, if its FILE describes several.",
)
@version_option("vermilionctl")
@click.pass_context
def cli(context, device, lane, egress):
    """Vermilion on a card: settings, counters, registers."""
    context.obj = Where(device, lane, egress)


for command in (egress_commands.flush, egress_commands.pause, egress_commands.resume, egress_commands.reports):
    cli.add_command(command)


@cli.command("show")
@click.argument("queue", required=False)
@click.option("--build", is_flag=True, help="Only what the build has, whatever was written to it.")
@as_json
@click.pass_obj
def show_command(where, queue, build, json_):
    """What the card has, and what it was given; or all fields of one QUEUE."""
    with where.session() as session:
        held = None if build else session.settings()
        if queue is not None:
            if build:
                raise UserError("--build is of the card, not of a queue")
            number = programming.number_of(held, queue)
            print_json(show.queue(held, number)) if json_ else show.print_queue(console(), held, number)
        elif json_:
            print_json(show.overview(session, held))
        else:
            show.print_overview(console(), session, held)


@cli.command("set")
@click.argument("what")
@click.argument("fields", nargs=-1, required=True, shell_complete=queue_fields)
@click.pass_obj
def set_command(where, what, fields):
    """Changes fields of a queue at once: set QUEUE FIELD=VALUE ...

    WHAT is a queue's name or number; or `port` (rate, burst), `pool` (size; reserve and cap of an egress), or `class` (DSCP=QUEUE,COLOUR; no-ip for frames without IP).
    Fields have the configuration file's names: limit=50KB green.p=0.5 marker.rate=2Mbit.
    """
    pairs = as_pairs(fields)
    with where.session() as session:
        held = session.settings()
        if what == "port":
            wanted = programming.change_port(held, pairs)
        elif what == "pool":
            wanted = programming.change_pool(held, pairs)
        elif what == "class":
            wanted = programming.change_classes(held, pairs)
        else:
            wanted = programming.change_queue(held, what, pairs)
        session.write(wanted)
        has_pool = session.has_pool(wanted)
    hints = [] if what in ("port", "pool", "class") else settings.hints(pairs)
    if what == "pool" or "alpha" in dict(pairs):
        hints += programming.notes(wanted, has_pool)
    for hint in hints:
        click.echo(f"vermilionctl: note: {hint}", err=True)


@cli.command()
@click.argument("queue", required=False)
@click.option("--clear", is_flag=True, help="Sets all counters of the lane, of all its egresses, to 0 behind it.")
@as_json
@click.pass_obj
def stats(where, queue, clear, json_):
    """Counters of every queue, or of one QUEUE, each as of one clock."""
    with where.session() as session:
        found = counters.read(session, chosen_queues(session, queue))
        if clear:
            session.clear()
    if json_:
        print_json(found)
        return
    screen = console()
    for table in counters.tables(found):
        screen.print(table)
    for number, lost in enumerate(found["lost"]):
        if lost["packets"]:
            screen.print(
                f"input {number} lost {lost['packets']:,} frames, {lost['bytes']:,} bytes: no place in the lane"
            )


@cli.command()
@click.argument("queue", required=False)
@click.option(
    "--every",
    type=click.FloatRange(0.05, 3600),
    default=1,
    show_default=True,
    metavar="S",
    help="Seconds between looks.",
)
@click.option("--count", type=click.IntRange(1), metavar="N", help="Ends after N looks.")
@as_json
@click.pass_obj
def watch(where, queue, every, count, json_):
    """Counters and rates, again and again; with --json an object a line."""
    from rich.console import Group
    from rich.live import Live

    screen, before, looks = console(), None, 0

    def look():
        with where.session() as session:
            return counters.read(session, chosen_queues(session, queue))

    live = None if json_ else Live(console=screen, auto_refresh=False, screen=screen.is_terminal)
    if live:
        live.start()
    try:
        while count is None or looks < count:
            if looks:
                time.sleep(every)
            found, looks = look(), looks + 1
            if json_:
                click.echo(json.dumps(found))
            else:
                live.update(Group(counters.rates(before or found, found), *counters.tables(found)), refresh=True)
            before = found
    finally:
        if live:
            live.stop()


@cli.command()
@as_json
@click.pass_obj
def dump(where, json_):
    """Every register value, as ./vermilion check FILE --registers prints it."""
    with where.session() as session:
        parts = session.registers(session.settings())
    if json_:
        print_json(parts)
    else:
        click.echo("\n".join(registers.lines(parts)))


def with_progress(action, label: str):
    """A bar on standard error, if that is a terminal and the work takes long enough to see it."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = TextColumn(label), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(label, total=None)
        action(lambda done, total: bar.update(task, completed=done, total=total))


def apply_file(device, lane, egress, file):
    """`apply`, for this command line and for `./vermilion apply`. Without `egress` a file with `[[egress]]` is that of all: what one of them is
    refused for comes before the first write. A netdev takes its own egress's part."""
    several, every = egress is None and egresses.given(file), []
    if "reports" in read_toml(file):
        click.echo(
            f"vermilionctl: note: [reports] stays as it is; `vermilionctl reports --config {file}` sets it", err=True
        )
    with opened(device, lane, egress or 0) as session:
        count = session.has().get("egresses", 0)
        several = several and count > 1
        if not several or session.is_netdev:
            which = f"egress {session.egress} of " if several else ""
            click.echo(f"applied {which}{load_into(session, session.load(file), file)}")
            return
    for number in range(count):
        with opened(device, lane, number) as session:
            every.append(session.load(file))
            every[-1].of_all = True
            for queue in every[-1].queues:
                every[-1].image(queue)
    for number, wanted in enumerate(every):
        with opened(device, lane, number) as session:
            click.echo(f"applied egress {number} of {load_into(session, wanted, file)}")


def load_into(session, wanted, file) -> str:
    """Writes a record whole; gives what to say."""
    with_progress(lambda progress: session.write(wanted, True, progress), "applying")
    for note in programming.notes(wanted, session.has_pool(wanted)):
        click.echo(f"vermilionctl: note: {note}", err=True)
    return f"{file}: {len(wanted.queues)} queues, {sum(bool(q.marker.kind) for _, q in wanted.queues.values())} markers"


@cli.command()
@click.argument("file")
@click.pass_obj
def apply(where, file):
    """Loads a configuration FILE of the simulator's into the card, each queue whole or not at all."""
    apply_file(where.named(), where.lane, where.egress if where.is_chosen else None, file)


@cli.group("nic")
def nic_group():
    """The block of a Corundum NIC: routes, completions, time (docs/nic.md)."""


@nic_group.command("show")
@as_json
@click.pass_obj
def nic_show(where, json_):
    """Where frames of each port go, by which lanes, and what was counted."""
    with nic.opened(where.named()) as block:
        state = block.state()
    print_json(state) if json_ else nic.print_state(console(), state)


@nic_group.command("set")
@click.argument("port", type=int)
@click.argument("fields", nargs=-1, required=True)
@click.pass_obj
def nic_set(where, port, fields):
    """Sets fields of a PORT: tx=bypass|lane, rx=bypass|host-lane|forward|drop, at_enqueue=on|off.

    A route takes effect between two frames. With at_enqueue the host gets a frame's completion at its admission, but for PTP event frames.
    """
    pairs = as_pairs(fields)
    with nic.opened(where.named()) as block:
        block.change(port, pairs)


@nic_group.command("time")
@click.argument("source", type=click.Choice(nic.TIMES))
@click.pass_obj
def nic_time(where, source):
    """Whose time the lanes have: the block's own counter, or the NIC's PTP clock."""
    with nic.opened(where.named()) as block:
        block.set_time(source)


@cli.command()
@click.option(
    "--listen", default="127.0.0.1:9464", show_default=True, metavar="[ADDRESS]:PORT", help="Where to be scraped."
)
@click.pass_obj
def export(where, listen):
    """Serves the counters to Prometheus until it is stopped."""
    from . import export as exporter

    exporter.serve(where, listen)


@cli.command()
@click.argument("shell", type=click.Choice(SHELLS), default="bash")
def completion(shell):
    """Prints what makes a SHELL complete: eval "$(vermilionctl completion bash)"."""
    click.echo(completion_script(cli, "vermilionctl", shell))


def stop(number, _frame):
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def main():
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
    printable_everywhere()
    say = lambda text: click.echo(f"vermilionctl: {text}", err=True)
    try:
        sys.exit(cli.main(prog_name="vermilionctl", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        text = " ".join(error.format_message().split())
        say(text if text.endswith((".", "?")) else text + ".")
        sys.exit(2)
    except UserError as error:
        say(error)
        sys.exit(2)
    except DeviceError as error:
        say(error)
        sys.exit(1)
    except Stopped as stopped:
        say(f"stopped by {signal.Signals(stopped.args[0]).name}")
        sys.exit(128 + stopped.args[0])
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
