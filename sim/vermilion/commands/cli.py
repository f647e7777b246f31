"""The command line.

Exit status: 0 done, 1 a tool or test failed, 2 the user's input is at fault (one sentence, nothing written), 130 or 143 stopped by
SIGINT (Ctrl-C) or SIGTERM (one sentence; a run leaves no program and no unfinished file behind).
"""

import signal
import sys
from pathlib import Path

import click

from vermilion.console.command_line import completion_script, printable_everywhere, version_option
from vermilion.console.screen import say
from vermilion.console.stopping import Stopped, listen
from vermilion.experiments.command import experiment
from vermilion.measure.commits import commits
from vermilion.measure.inject import inject
from vermilion.oracle.command import oracle
from vermilion.sweeps.command import dask, sweep
from vermilion.toolchain import build
from vermilion.values.fields import DISK, UserError

from .card_commands import apply, ctl
from .check import check
from .corundum_commands import corundum
from .device import device
from .docs_command import docs
from .exec_command import execute
from .from_tc_command import from_tc
from .measure_commands import area, battery, bench, distance_drops, fairness, place, prove, speed, timing, vivado
from .release_command import release
from .run_command import run, tell_notes
from .sandbox_command import sandbox
from .suite_command import reformat, test
from .ttl_option_command import ttl_option

INSTALLED = (
    "apply",
    "check",
    "completion",
    "ctl",
    "curves",
    "from-tc",
    "help",
    "run",
    "ttl-option",
)  # what a package without the sources can do


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@version_option("vermilion")
@click.pass_context
def cli(context):
    """Vermilion: DiffServ marking and active queue management in hardware, simulated."""
    if build.INSTALLED and context.invoked_subcommand not in INSTALLED:
        raise UserError(
            f"{context.invoked_subcommand} needs a checkout of the project; an installed package has {', '.join(INSTALLED)}"
        )


@cli.command()
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="PICTURE", help="PNG, SVG or PDF, by its ending.")
@click.option("--egress", type=click.IntRange(0, 7), default=0, show_default=True, help="Egress of the file.")
def curves(file, output, egress):
    """Draws the drop curves of a configuration FILE, evaluated with the hardware's integers."""
    from vermilion.configuration import egresses
    from vermilion.simulation import simulate

    kind = Path(output).suffix.lower().lstrip(".")
    if kind not in ("png", "svg", "pdf"):
        raise UserError(f"-o {output}: has no known ending; legal are .png, .svg and .pdf")
    config = egresses.load_one(file, egress)
    tell_notes(config)
    from vermilion.profile import curves as picture

    with simulate.Outputs(file) as outputs:
        picture.draw(config, outputs.add("-o", output), kind)
    say(f"wrote {output}")


@cli.command()
@click.option("-o", "--output", metavar="FOLDER", help="Default .vermilion/build/regs.")
def regs(output):
    """Writes the register maps of a lane and of a NIC's app block, each as one HTML file and as Markdown."""
    from vermilion.generate.registers import generate

    if output == "":
        raise UserError("-o is empty; give a folder")
    for path in generate(Path(output) if output else build.BUILD / "regs"):
        say(f"wrote {path}")


@cli.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
def show_help(words):
    """Shows what `vermilion COMMAND --help` shows."""
    cli.main([*words, "--help"], prog_name="vermilion", standalone_mode=False)


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh"]))
def completion(shell):
    """Prints what makes a SHELL complete commands and options: eval "$(./vermilion completion bash)"."""
    click.echo(completion_script(cli, "vermilion", shell))


for command in (
    apply,
    area,
    battery,
    bench,
    check,
    commits,
    corundum,
    ctl,
    device,
    distance_drops,
    docs,
    execute,
    experiment,
    sweep,
    dask,
    fairness,
    inject,
    oracle,
    place,
    prove,
    reformat,
    release,
    run,
    sandbox,
    speed,
    test,
    timing,
    ttl_option,
    from_tc,
    vivado,
):
    cli.add_command(command)


def main():
    listen()
    printable_everywhere()
    try:
        sys.exit(cli.main(prog_name="vermilion", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        more = f" See: {context.command_path} --help" if context else ""
        text = " ".join(error.format_message().split())
        click.echo(f"vermilion: {text}{'' if text.endswith(('.', '?')) else '.'}{more}", err=True)
        sys.exit(2)
    except UserError as error:
        click.echo(f"vermilion: {error}", err=True)
        sys.exit(2)
    except build.BuildError as error:
        click.echo(f"vermilion: {error}", err=True)
        sys.exit(1)
    except Stopped as stopped:
        number = stopped.args[0]
        click.echo(f"vermilion: stopped by {signal.Signals(number).name}, {stopped.left}", err=True)
        sys.exit(128 + number)
    except click.exceptions.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except OSError as error:  # a folder, a name or a disk that the system refuses, where no command says so itself
        if error.filename is None and error.errno not in DISK:
            raise
        where = "" if error.filename is None else f"{error.filename}: "
        click.echo(f"vermilion: {where}{error.strerror}", err=True)
        sys.exit(1)
