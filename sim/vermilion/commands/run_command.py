"""`vermilion run`: sends a capture through the lane, and says what became of it."""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from vermilion.console.screen import console, working
from vermilion.console.stopping import Stopped
from vermilion.simulation import front
from vermilion.simulation.result import Result
from vermilion.toolchain import build
from vermilion.values.fields import RATE_MAX, RATE_MIN, UserError

DEFAULT_CONFIG = build.ROOT / "sim" / "configs" / "default.toml"
DEFAULT_REPORT = build.HOME / "report.html"
DEFAULT_CAPTURE = build.ROOT / "sim" / "captures" / "default.pcapng"


def parse_rate(_context, _parameter, raw):
    from vermilion.values import units

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
    from vermilion.simulation import show

    for note in show.notes(config):
        click.echo(f"vermilion: note: {note}", err=True)


@dataclass(frozen=True)
class Asked:
    """The command's words. `rate` is in bit/s, `speed` a factor; one of them is None. Files are names, or None."""

    capture: str | None
    config_file: str | None
    engine: str
    preset: str
    rate: int | None
    speed: float | None
    spread: str | None
    split: int | None
    seed: int | None
    out: str | None
    json_file: str | None
    trace: str | None
    why: str | None
    reports: str | None
    report: str | None
    no_report: bool
    vcd: str | None
    fst: str | None
    start_ns: int | None

    @property
    def source(self) -> Path:
        return DEFAULT_CAPTURE if self.capture is None else Path(self.capture)

    @property
    def config(self):
        """The configuration's file."""
        return DEFAULT_CONFIG if self.config_file is None else self.config_file

    @property
    def page(self) -> str | None:
        """Where the report goes; an installation without plots makes one only if it is asked to, and then says why it cannot."""
        if self.no_report or (self.report is None and build.INSTALLED and not build.UPLOT.exists()):
            return None
        return str(DEFAULT_REPORT) if self.report is None else self.report

    def pace(self) -> str:
        from vermilion.values import units

        if self.rate is not None:
            return f"back to back at {units.rate_text(self.rate)}/s"
        return f"the capture's own, times {self.speed or 1:g}"

    def check(self):
        """Refuses words that contradict each other or are out of range."""
        for one, other, why in (
            ("rate", "speed", "one sets the pace"),
            ("vcd", "fst", "one run writes one waveform"),
        ):
            if getattr(self, one) not in (None, "") and getattr(self, other) not in (None, ""):
                raise UserError(f"--{one} and --{other} are both given; {why}")
        if self.speed is not None and not 1e-6 <= self.speed <= 1e6:
            raise UserError(f"--speed is {self.speed}; legal is 0.000001 to 1000000")
        if self.seed is not None and not 1 <= self.seed < 2**32:
            raise UserError(f"--seed is {self.seed}; legal is 1 to 4294967295")
        if self.engine == "rtl" and build.INSTALLED:
            raise UserError("--engine rtl needs a checkout of the project; an installed package has model")
        if (self.vcd or self.fst) and self.engine == "model":
            raise UserError("--engine model has no waveform; take --engine rtl")
        if self.capture == "":
            raise UserError("CAPTURE is empty; legal is the name of a pcap or pcapng file")
        if self.report is not None and self.no_report:
            raise UserError("--report and --no-report are both given; one of them says whether a report is written")
        if self.capture is None and not self.source.exists():
            raise UserError("no CAPTURE is given and this checkout has none of its own; give a pcap or pcapng file")


class Prepared:
    """A run whose configuration has been read and checked: `config` of the whole lane, `record` as the hardware holds it."""

    def __init__(self, asked: Asked):
        from vermilion.configuration import config, egresses
        from vermilion.profile import quantise

        self.asked, self.shape = asked, build.shape(asked.preset)
        has = self.shape.egresses
        if asked.engine == "model" and has > 1:
            raise UserError(f"--engine model runs lanes with one egress, {asked.preset} has {has}; take --engine rtl")
        lane, queues = egresses.load(asked.config, egresses.of_shape(self.shape)), self.shape.queues // has
        self.config = lane.whole(queues)
        tell_notes(self.config)
        if asked.seed is not None:
            self.config = self.config.model_copy(update={"seed": asked.seed})
        self.front = front.words(self.config, asked.spread)
        with config.named(asked.config):
            self.record = quantise.lane(lane, queues) | {"seed": self.config.seed}
        self.record |= {"buffer_cells": self.shape.cells, "max_frame_bytes": self.shape.max_frame_bytes}

    def program(self) -> Path:
        """The simulator, built."""
        waveform = "vcd" if self.asked.vcd else "fst" if self.asked.fst else ""
        with working() as note:
            if self.asked.engine == "model":
                return build.model_program(self.asked.preset, note)
            return build.simulator(self.asked.preset, waveform, note)

    def about(self, result: Result) -> list[tuple[str, str]]:
        """The head of the report: what was run."""
        asked = self.asked
        found = [("capture", str(asked.source)), ("configuration", str(asked.config_file or DEFAULT_CONFIG))]
        found += [("pace", asked.pace()), ("seed", str(self.config.seed))]
        return found + [("in front of the lane", each) for each in front.lines(result) if "rule" not in each]


class Files:
    """The outputs of a run: `command` is the simulator's command line, `stats`, `trace` and `page` are places."""

    def __init__(self, run: Prepared, outputs):
        from vermilion.simulation import simulate

        asked, work = run.asked, build.BUILD / "runs"
        work.mkdir(parents=True, exist_ok=True)
        words = outputs.add("--config-words", str(work / "last-words.json"))
        self.stats = outputs.add(
            "--json", str(work / "last-stats.json") if asked.json_file is None else asked.json_file
        )
        command = ["--in", asked.source, "--config-words", words, "--engine", asked.engine, "--stats-json", self.stats]
        places = {
            "--out": asked.out,
            "--trace": str(work / "last-trace") if asked.trace is None and asked.page else asked.trace,
            "--why": asked.why,
            "--reports": asked.reports,
            "--vcd": asked.vcd,
            "--fst": asked.fst,
        }
        placed = {option: outputs.add(option, target) for option, target in places.items()}
        for option, place in placed.items():
            command += [option, place] if place else []
        self.trace, self.page = placed["--trace"], outputs.add("--report", asked.page)
        command += (
            ["--rate", asked.rate] if asked.rate is not None else ["--speed", 1 if asked.speed is None else asked.speed]
        )
        command += ["--start-ns", asked.start_ns] if asked.start_ns else []
        command += front.arguments(
            run.front, asked.split, lambda: outputs.add("--front", str(work / "last-front.json"))
        )
        simulate.write_words(run.record, words)
        self.command = command


@click.command(cls=front.Run)
@click.argument("capture", required=False)
@click.option("--config", "config_file", metavar="FILE", help="Configuration; default sim/configs/default.toml.")
@click.option(
    "--engine",
    type=click.Choice(["rtl", "model"]),
    default="model" if build.INSTALLED else "rtl",
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
@click.option(
    "--why",
    metavar="WHY.pcapng",
    help="The packets that were dropped or marked, as a capture. Each has its reason as a comment; sim/harness/why_writer.h.",
)
@click.option(
    "--reports",
    metavar="REPORTS.pcapng",
    help="The reports that the lane sends, as a capture: [reports] of the configuration; docs/reports.md.",
)
@click.option("--report", metavar="REPORT.html", help="One page with the plots; default .vermilion/report.html.")
@click.option("--no-report", is_flag=True, help="Writes no report, which saves some seconds.")
@click.option("--vcd", metavar="FILE", help="Waveform as VCD (a build of its own; large).")
@click.option("--fst", metavar="FILE", help="Waveform as FST (a build of its own).")
@click.option("--start-ns", type=click.IntRange(10**6, 2**60), hidden=True)  # for tests: lane time of the first frame
def run(**words):
    """Sends a CAPTURE (pcap, pcapng) through the lane; without one, the project's own.

    Prints a digest and what became of the packets of each queue and colour; the last line says where the report is.
    """
    from vermilion.simulation import show, simulate

    asked = Asked(**words)
    asked.check()
    simulate.check_capture(asked.source)
    prepared = Prepared(asked)
    if asked.page:
        from vermilion.report import live

        live.library()  # a long run would end without its report
    warnings, defect, unwritten = [], None, None
    with simulate.Outputs(asked.source, asked.config) as outputs:
        files = Files(prepared, outputs)
        program = prepared.program()
        try:
            show.with_progress(lambda progress, warn: simulate.run(program, files.command, progress, warn), warnings)
        except simulate.Defect as found:  # the outputs tell of it: they are kept, and the failure comes last
            defect = found
        result = json.loads(files.stats.read_text())
        failures = show.failures(result) or ([str(defect)] if defect else [])
        if files.page:
            traced = outputs.final(files.trace)
            outputs.keep(but=files.page)  # whatever becomes of the page
            about = prepared.about(result)
            unwritten = write_report(files.page, prepared.config, prepared.record, result, traced, failures, about)
            if unwritten:
                outputs.drop()
    for warning in warnings:
        click.echo(f"vermilion: warning: {show.warning(warning, prepared.shape.max_frame_bytes)}", err=True)
    show.statistics(console(), result, prepared.config)
    if asked.page and not unwritten:
        click.echo(f"report: {nearby(asked.page)}")
    if failures:
        told = ["this run found a defect of Vermilion's, please report it:", *failures]
        raise build.BuildError("\n  ".join(told + ([unwritten] if unwritten else [])))
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
        from vermilion import report as pages

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
