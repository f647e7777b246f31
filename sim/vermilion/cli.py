"""The command line.

Exit status: 0 done, 1 a tool or test failed, 2 the user's input is at fault (one sentence, nothing written), 130 or 143 stopped by
SIGINT (Ctrl-C) or SIGTERM (one sentence; a run leaves no program and no unfinished file behind).
"""

import json
import signal
import sys
from pathlib import Path

import click

from . import build, front
from .card_commands import apply, ctl
from .check import check
from .command_line import completion_script, printable_everywhere, version_option
from .commits import commits
from .corundum_commands import corundum, release
from .device import device
from .experiments.command import experiment
from .fields import DISK, RATE_MAX, RATE_MIN, UserError
from .inject import inject
from .measure_commands import area, battery, bench, distance_drops, fairness, place, prove, speed, timing, vivado
from .oracle.command import oracle
from .screen import console, say, working
from .suite_command import reformat, test
from .sweeps.command import dask, sweep
from .ttl_option_command import ttl_option

DEFAULT_CONFIG = build.ROOT / "sim" / "configs" / "default.toml"
DEFAULT_REPORT = build.HOME / "report.html"
DEFAULT_CAPTURE = build.ROOT / "sim" / "captures" / "default.pcapng"


def parse_rate(_context, _parameter, raw):
    from . import units

    if raw is None:
        return None
    try:
        value = units.rate(raw)
    except ValueError as error:
        raise UserError(f"--rate {error}") from None
    if not RATE_MIN <= value <= RATE_MAX:
        raise UserError(f"--rate is {raw}; legal is 64kbit to 200Gbit")
    return value


def tell_notes(config):
    from . import show

    for note in show.notes(config):
        click.echo(f"vermilion: note: {note}", err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@version_option("vermilion")
def cli():
    """Vermilion: DiffServ marking and active queue management in hardware, simulated."""


@cli.command(cls=front.Run)
@click.argument("capture", required=False)
@click.option("--config", "config_file", metavar="FILE", help="Configuration; default sim/configs/default.toml.")
@click.option(
    "--engine",
    type=click.Choice(["rtl", "model"]),
    default="rtl",
    show_default=True,
    help="The hardware in simulation, checked against the model; or the model alone, ten times as fast, same output.",
)
@click.option(
    "--preset",
    type=click.Choice(list(build.PRESETS | build.SEVERAL)),
    default="lab",
    show_default=True,
    help="Build of the lane.",
)
@click.option("--rate", callback=parse_rate, metavar="R", help='Back to back at a line rate, such as "1Gbit".')
@click.option("--speed", type=float, metavar="X", help="The capture's own pace, X times as fast (default 1).")
@front.options
@click.option("--seed", type=int, metavar="N", help="Seed of the random source; default the configuration's.")
@click.option("--out", metavar="OUT.pcapng", help="The packets that came out, as a capture.")
@click.option(
    "--json",
    "json_file",
    metavar="STATS.json",
    help="Counters and the run's figures, as JSON; names in sim/harness/results.h.",
)
@click.option(
    "--trace", metavar="TRACE.csv", help="Every decision with all that it saw, as CSV; sim/harness/trace_writer.h."
)
@click.option("--report", metavar="REPORT.html", help="One page with the plots; default .vermilion/report.html.")
@click.option("--no-report", is_flag=True, help="Writes no report, which saves some seconds.")
@click.option("--vcd", metavar="FILE", help="Waveform as VCD (a build of its own; large).")
@click.option("--fst", metavar="FILE", help="Waveform as FST (a build of its own).")
@click.option("--start-ns", type=click.IntRange(10**6, 2**60), hidden=True)  # for tests: lane time of the first frame
def run(
    capture, config_file, engine, preset, rate, speed, spread, split, seed, out, json_file, trace, report, no_report, vcd,
    fst, start_ns
):  # fmt: skip
    """Sends a CAPTURE (pcap, pcapng) through the lane; without one, the project's own.

    Prints a digest and what became of the packets of each queue and colour; the last line says where the report is.
    """
    from . import egresses, quantise, show, simulate, units

    if rate is not None and speed is not None:
        raise UserError("--rate and --speed are both given; one sets the pace")
    if vcd and fst:
        raise UserError("--vcd and --fst are both given; one run writes one waveform")
    if speed is not None and not 1e-6 <= speed <= 1e6:
        raise UserError(f"--speed is {speed}; legal is 0.000001 to 1000000")
    if seed is not None and not 1 <= seed < 2**32:
        raise UserError(f"--seed is {seed}; legal is 1 to 4294967295")
    if (vcd or fst) and engine == "model":
        raise UserError("--engine model has no waveform; take --engine rtl")
    if capture == "":
        raise UserError("CAPTURE is empty; legal is the name of a pcap or pcapng file")
    source = DEFAULT_CAPTURE if capture is None else Path(capture)
    if report is not None and no_report:
        raise UserError("--report and --no-report are both given; one of them says whether a report is written")
    if report is None and not no_report:
        report = str(DEFAULT_REPORT)
    if capture is None and not source.exists():
        raise UserError("no CAPTURE is given and this checkout has none of its own; give a pcap or pcapng file")
    simulate.check_capture(source)
    shape = build.shape(preset)
    if engine == "model" and shape.egresses > 1:
        raise UserError(f"--engine model runs lanes with one egress, {preset} has {shape.egresses}; take --engine rtl")
    lane = egresses.load(DEFAULT_CONFIG if config_file is None else config_file, egresses.of_shape(shape))
    config = lane.whole(shape.queues // shape.egresses)
    tell_notes(config)
    if seed is not None:
        config = config.model_copy(update={"seed": seed})
    before = front.words(config, shape.inputs, spread)
    record = quantise.lane(lane, shape.queues // shape.egresses) | {"seed": config.seed}
    record |= {"buffer_cells": shape.cells, "max_frame_bytes": shape.max_frame_bytes}

    if report:
        from .report import live

        live.library()  # a long run would end without its report
    with simulate.Outputs(source, config_file or DEFAULT_CONFIG) as outputs:
        work = build.BUILD / "runs"
        work.mkdir(parents=True, exist_ok=True)
        words = outputs.add("--config-words", str(work / "last-words.json"))
        stats = outputs.add("--json", str(work / "last-stats.json") if json_file is None else json_file)
        command = ["--in", source, "--config-words", words, "--engine", engine, "--stats-json", stats]
        places = {
            "--out": out,
            "--trace": str(work / "last-trace") if trace is None and report else trace,
            "--vcd": vcd,
            "--fst": fst,
        }
        for option, target in places.items():
            place = outputs.add(option, target)
            command += [option, place] if place else []
        page = outputs.add("--report", report)
        command += ["--rate", rate] if rate is not None else ["--speed", 1 if speed is None else speed]
        command += ["--start-ns", start_ns] if start_ns else []
        command += front.arguments(before, split, lambda: outputs.add("--front", str(work / "last-front.json")))
        simulate.write_words(record, words)
        with working() as note:
            if engine == "model":
                program = build.model_program(preset, note)
            else:
                program = build.simulator(preset, "vcd" if vcd else "fst" if fst else "", note)
        warnings, defect = [], None
        try:
            show.with_progress(lambda progress, warn: simulate.run(program, command, progress, warn), warnings)
        except simulate.Defect as found:  # the outputs tell of it: they are kept, and the failure comes last
            defect = found
        result = json.loads(stats.read_text())
        failures, unwritten = show.failures(result) or ([str(defect)] if defect else []), None
        if page:
            pace = (
                f"back to back at {units.rate_text(rate)}/s"
                if rate is not None
                else f"the capture's own, times {speed or 1:g}"
            )
            about = [("capture", str(source)), ("configuration", str(config_file or DEFAULT_CONFIG)), ("pace", pace)]
            about += [("seed", str(config.seed)), *(("in front of the lane", each) for each in front.lines(result))]
            traced = outputs.final(command[command.index("--trace") + 1])
            outputs.keep(but=page)  # whatever becomes of the page
            unwritten = write_report(page, config, record, result, traced, failures, about)
            if unwritten:
                outputs.drop()
    for warning in warnings:
        click.echo(f"vermilion: warning: {show.warning(warning, shape.max_frame_bytes)}", err=True)
    show.statistics(console(), result, config)
    if report and not unwritten:
        click.echo(f"report: {nearby(report)}")
    if failures:
        also = [unwritten] if unwritten else []
        raise build.BuildError(
            "\n  ".join(["this run found a defect of Vermilion's, please report it:", *failures, *also])
        )
    if unwritten:
        raise build.BuildError(unwritten)


def nearby(place: str) -> Path:
    """A path as seen from the current folder, if it lies below that."""
    path = Path(place).absolute()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else Path(place)


def write_report(*arguments) -> str | None:
    """Writes the page; where that fails, a sentence that says so: the run's figures are worth more than their picture."""
    kept = "the run's other outputs are in place"
    try:
        from . import report as pages

        pages.write(*arguments)
    except OSError as error:
        return f"the report cannot be written: {error.strerror or error}; {kept}"
    except Stopped as stopped:
        stopped.left = f"the report is not written, {kept}"
        raise
    except Exception as error:
        import traceback

        at = traceback.extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error}, in {Path(at.filename).name} line {at.lineno}"
        return f"the report is not written, which is a defect of Vermilion's, please report it ({what}); {kept}"
    return None


@cli.command()
@click.argument("file")
@click.option("-o", "--output", required=True, metavar="PICTURE", help="PNG, SVG or PDF, by its ending.")
@click.option("--egress", type=click.IntRange(0, 7), default=0, show_default=True, help="Egress of the file.")
def curves(file, output, egress):
    """Draws the drop curves of a configuration FILE, evaluated with the hardware's integers."""
    from . import egresses, simulate

    kind = Path(output).suffix.lower().lstrip(".")
    if kind not in ("png", "svg", "pdf"):
        raise UserError(f"-o {output}: has no known ending; legal are .png, .svg and .pdf")
    config = egresses.load_one(file, egress)
    tell_notes(config)
    from . import curves as picture

    with simulate.Outputs(file) as outputs:
        picture.draw(config, outputs.add("-o", output), kind)
    say(f"wrote {output}")


@cli.command()
@click.option("-o", "--output", metavar="FOLDER", help="Default .vermilion/build/regs.")
def regs(output):
    """Writes the register maps of a lane and of a NIC's app block, each as one HTML file and as Markdown."""
    from .registers import generate

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
    speed,
    test,
    timing,
    ttl_option,
    vivado,
):
    cli.add_command(command)


class Stopped(BaseException):
    """A signal asked the command to end; `left`: what becomes of its outputs."""

    left = "nothing is written"


def stop(number, _frame):
    """Ends the command as an error does, so that programs it runs end first and unfinished outputs go; once is enough."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def main():
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, stop)
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
