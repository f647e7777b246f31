"""`vermilion experiment`: lists, runs, prints, reports and publishes."""

import json
import os
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vermilion.console import screen
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from .rows import MUST, Experiment

if TYPE_CHECKING:
    from .rtl import Beside
    from .runs import Part, Program, Results
    from .verdicts import Judged


def listed(home: Path) -> None:
    """What there is, and what of it was run."""
    from vermilion.console.tables import table

    from . import papers, settings

    made = table("Experiments", ["name", "what", "engines"], ["seeds", "runs", "records"])
    for name in settings.names():
        of = papers.load(settings.FOLDER / f"{name}.toml")
        count = len(of.seeds) * len(papers.module(of).planned(of, of.seeds[:1], 1))
        kept = len(list((home / name).glob("*/runs/*.json")))
        made.add_row(name, of.title, ", ".join(papers.module(of).ENGINES), str(len(of.seeds)), str(count), str(kept))
    out = screen.console()
    out.print(made)
    out.print("not part of all: schemes, every queue with every marker, with ECN and without, and ns-3's queues")
    out.print("                 ageing, P2 and P3 with three rules for the average of an idle queue")
    out.print("                 bufferbloat, standing delay of PIE, CoDel, RED and tail drop, ours and ns-3's")
    out.print("                 l4s, DCTCP in L beside a classic flow in C of a DualPI2 pair")
    out.print("                 step, DCTCP over a queue that marks from K packets on, at enqueue and at dequeue")


@dataclass(frozen=True)
class Asked:
    """One experiment, ready to run."""

    name: str
    of: Experiment
    engine: str
    seeds: list[int]
    quick: bool
    programs: "dict[str, Program]"  # by engine
    home: Path

    @property
    def shorter(self) -> int:
        return self.of.quick.shorter if self.quick else 1

    @property
    def folder(self) -> Path:
        return self.home / self.name / self.engine

    def parts(self, jobs: int) -> "list[Part]":
        """What is to be run: with the RTL the model's runs beside it."""
        from . import papers, runs

        plan = papers.module(self.of).planned(self.of, self.seeds, self.shorter)
        return [
            runs.Part(runs.Runner(program, self.home / self.name / engine, jobs), plan)
            for engine, program in self.programs.items()
        ]

    def about(self) -> dict[str, Any]:
        """What a record says of how it was made."""
        text = self.of.quick.about(self.seeds) if self.quick else ""
        made = {"name": self.name, "engine": self.engine, "seeds": self.seeds, "quick": text}
        return made | {"versions": self.programs[self.engine].versions}


def prepare(name: str, of: Experiment, engine: str, seeds: list[int], quick: bool, home: Path) -> Asked:
    from . import papers

    with screen.working() as note:
        programs = {each: papers.module(of).program(each, note) for each in dict.fromkeys((engine, "model"))}
    return Asked(name, of, engine, seeds, quick, programs, home)


def tell(asked: Asked, judged: "list[Judged]", made: dict[str, Any], beside: "Beside | None") -> None:
    """The table on the screen."""
    from vermilion.console.tables import table

    from . import pages, verdicts

    shown = table(asked.of.title, verdicts.BRIEF[:1], verdicts.BRIEF[1:4])
    shown.add_column(verdicts.BRIEF[4])
    for row in judged:
        shown.add_row(*verdicts.brief(row), style="" if row.good else "red")
    out = screen.console()
    out.print(shown)
    out.print(f"{asked.name}: {verdicts.counted(judged)}; {pages.about(made)}", markup=False, soft_wrap=True)
    if beside:
        out.print(beside.sentence(), markup=False, soft_wrap=True)


def finish(asked: Asked, results: "list[Results]", publish: bool) -> "list[Judged]":
    """From results, the model's last, to the experiment's pages; gives its rows as judged."""
    from . import pages, papers, rows, rtl, verdicts

    of, work, folder = asked.of, papers.module(asked.of), asked.folder
    beside = rtl.beside_the_model(*results) if asked.engine == "rtl" else None
    measured = work.figures(of, results[0], asked.shorter)
    lines = rows.lines(of.row)
    reasons = [papers.certain(of, line) for line in lines]
    judged = [verdicts.judge(line, measured, why, not asked.quick) for line, why in zip(lines, reasons, strict=True)]
    notes = work.notes(of) + [f"Rows that cannot fail: {why}." for why in dict.fromkeys(filter(None, reasons))]
    made = asked.about() | ({"beside": beside.record()} if beside else {})
    kind = pages.kind(asked.quick, asked.seeds, of.seeds)
    figures = {figure: [verdicts.number(each) for each in numbers] for figure, numbers in measured.items()}
    record = made | {"figures": figures, "rows": [row.record() for row in judged]}
    (folder / f"{kind}table.json").write_text(json.dumps(record, indent=1) + "\n")
    page = folder / f"{kind}report.html"
    pictures = work.pictures(of, measured, results[0])
    pages.write(page, of, made, judged, pictures, notes)
    if publish:
        pages.publish(asked.name, of, made, judged, pictures, notes)
    tell(asked, judged, made, beside)
    screen.console().print(f"report: {page}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
    if beside and beside.differing:
        raise build.BuildError(f"{asked.name}: {beside.sentence()}")
    return judged


def conduct(every: list[Asked], jobs: int, publish: bool) -> list[str]:
    """All of them, the runs in one pool; gives the rows that must hold and do not."""
    from . import progress, runs

    parts = [each.parts(jobs) for each in every]
    bar = progress.Bar(every[0].name if len(every) == 1 else "all")
    broken = []
    with closing(runs.pooled([part for each in parts for part in each], jobs, bar)) as done:
        for asked, own in zip(every, parts, strict=True):
            judged = finish(asked, [next(done) for _ in own], publish)
            broken += [f"{asked.name}: {row.of}" for row in judged if row.class_ == MUST and not row.good]
    return broken


def compare(engine: str, seeds: int | None, quick: bool, jobs: int, publish: bool, home: Path) -> None:
    """Schemes beside each other, which is no paper's experiment and has no rows that must hold."""
    from . import schemes, schemes_pages

    if engine not in schemes.ENGINES:
        raise UserError(
            f"--engine {engine}: does not serve experiment schemes (the RTL's lane there has no victim search)"
        )
    if seeds and seeds > (most := len(schemes.load().seeds)):
        raise UserError(f"--seeds is {seeds}; experiment schemes has {most}, so legal is 1 to that")
    schemes_pages.conduct(seeds, quick, jobs, publish, home)


@click.command()
@click.argument("name")
@click.option(
    "--engine",
    type=click.Choice(["model", "rtl"]),
    default="model",
    show_default=True,
    help="The bit-exact model, or the Verilated RTL beside it; docs/experiments.md.",
)
@click.option(
    "--seeds", type=click.IntRange(min=1), metavar="N", help="The first N seeds of the settings. Default: all."
)
@click.option("--quick", is_flag=True, help="Few seeds and short runs: to see that it works, not to compare.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=os.cpu_count() or 1, show_default=True, help="Runs at once."
)
@click.option("--publish", is_flag=True, help="Writes the experiment's part of docs/results/papers.md.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where runs are kept. Default: .vermilion/experiments.",
)
def experiment(
    name: str, engine: str, seeds: int | None, quick: bool, jobs: int, publish: bool, out: Path | None
) -> None:
    """Runs a paper's experiment beside its figures: NAME is list, all, one of the list, schemes, ageing, bufferbloat, l4s, or step.

    Runs that are done are kept and not done again, so a command that was killed goes on where it was. Exit status 1: a row that must hold does not.
    """
    from . import papers, runs, settings

    known, home = settings.names(), out or runs.HOME
    if name == "list":
        listed(home)
        return
    if publish and (quick or seeds):
        raise UserError("--publish takes every seed and whole runs; leave --quick and --seeds out")
    if name == "schemes":
        compare(engine, seeds, quick, jobs, publish, home)
        return
    if name in ("ageing", "bufferbloat", "l4s", "step"):
        from . import ageing, bufferbloat_pages, l4s_pages, step_pages

        work = {"ageing": ageing, "bufferbloat": bufferbloat_pages, "l4s": l4s_pages, "step": step_pages}[name]
        work.conduct(engine, seeds, quick, jobs, publish, home)
        return
    if name != "all" and name not in known:
        legal = f"list, all, {', '.join(known)}, schemes, ageing, bufferbloat, l4s, step"
        raise UserError(f"experiment {name}: is no experiment; legal are {legal}")
    loaded = {each: papers.load(settings.FOLDER / f"{each}.toml") for each in (known if name == "all" else [name])}
    for each, of in loaded.items():
        if engine not in papers.module(of).ENGINES:
            legal = ", ".join(papers.module(of).ENGINES)
            raise UserError(f"--engine {engine}: does not serve experiment {each} yet; legal is {legal}")
        if seeds and seeds > len(of.seeds):
            raise UserError(f"--seeds is {seeds}; experiment {each} has {len(of.seeds)}, so legal is 1 to that")
    chosen = {each: of.quick.chosen(seeds) if quick else of.seeds[:seeds] for each, of in loaded.items()}
    every = [prepare(each, of, engine, chosen[each], quick, home) for each, of in loaded.items()]
    if broken := conduct(every, jobs, publish):
        raise build.BuildError("rows that must hold and do not:\n  " + "\n  ".join(broken))
