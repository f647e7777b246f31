"""`vermilion experiment`: lists, runs, prints, reports and publishes."""

import importlib
import json
import os
import sys

import click

from .. import build, screen, show
from ..fields import UserError

MODULES = {"poisson": "poisson", "wred-rio": "wred_rio", "redp": "redp", "ddred": "ddred", "3cpm": "three_colour"}


def module(of):
    return importlib.import_module(f".{MODULES[of.kind]}", __package__)


def listed():
    """What there is, and what of it was run."""
    from . import runs, settings

    made = show.table("Experiments", ["name", "what", "engines"], ["seeds", "runs", "records"])
    for name in settings.names():
        of = settings.load(settings.FOLDER / f"{name}.toml")
        plan = module(of).planned(of, of.seeds, 1)
        kept = len(list((runs.HOME / name).glob("*/runs/*.json")))
        made.add_row(name, of.title, ", ".join(module(of).ENGINES), str(len(of.seeds)), str(len(plan)), str(kept))
    out = screen.console()
    out.print(made)
    out.print("schemes: every queue with every marker, with ECN and without, on the same traffic; not part of all")


def conduct(name: str, of, engine: str, seeds: list[int], quick: bool, jobs: int, publish: bool) -> list:
    """One experiment, from the build to its pages; gives its rows as judged."""
    from . import pages, rtl, runs, settings, verdicts

    work = module(of)
    shorter = of.quick.shorter if quick else 1
    with screen.working() as note:
        program = work.program(engine, note)
        model = work.program("model", note) if engine == "rtl" else None
    plan = work.planned(of, seeds, shorter)
    folder = runs.HOME / name / engine
    total = max(1, round(1000 * sum(run.weight for run in plan) / max(run.weight for run in plan)))
    each = total / sum(run.weight for run in plan)
    with click.progressbar(length=total, label=f"{name}, {len(plan)} runs", file=sys.stderr) as bar:
        done = [0.0]

        def progress(weight):
            done[0] += weight * each
            bar.update(round(done[0]) - bar.pos)

        results = runs.Runner(program, folder, jobs).all(plan, progress)
    beside = rtl.beside_the_model(plan, results, model, runs.HOME / name / "model", jobs) if model else None
    measured = work.figures(of, results, shorter)
    judged = [verdicts.judge(line, measured, len(of.seeds)) for line in settings.lines(of.row)]
    made = {"name": name, "engine": engine, "seeds": seeds, "quick": quick, "versions": program.versions}
    if beside:
        made["beside"] = beside.record()
    kind = pages.kind(quick, seeds, of.seeds)
    figures = {figure: [verdicts.number(each) for each in numbers] for figure, numbers in measured.items()}
    (folder / f"{kind}table.json").write_text(
        json.dumps(made | {"figures": figures, "rows": [row.record() for row in judged]}, indent=1) + "\n"
    )
    page = folder / f"{kind}report.html"
    pages.write(page, of, made, judged, work.pictures(of, measured, results), work.notes(of))
    if publish:
        pages.publish(name, of, made, judged, list(work.pictures(of, measured, results)), work.notes(of))
    table = show.table(of.title, verdicts.HEADS[:2], verdicts.HEADS[2:5])
    for head in verdicts.HEADS[5:]:
        table.add_column(head)
    for row in judged:
        table.add_row(*verdicts.cells(row), style="red" if not row.good and row.verdict else "")
    out = screen.console()
    out.print(table)
    out.print(f"{name}: {verdicts.counted(judged)}; {pages.about(made)}", markup=False, soft_wrap=True)
    if beside:
        out.print(beside.sentence(), markup=False, soft_wrap=True)
    out.print(f"report: {page}\nruns: {folder / 'runs'}", markup=False, soft_wrap=True)
    if beside and beside.differing:
        raise build.BuildError(f"{name}: {beside.sentence()}")
    return judged


def compare(engine, seeds, quick, jobs, publish):
    """Schemes beside each other, which is no paper's experiment and has no gates."""
    from . import schemes, schemes_pages

    if engine not in schemes.ENGINES:
        raise UserError(
            f"--engine {engine}: does not serve experiment schemes (the RTL's lane there has no victim search)"
        )
    if seeds and seeds > (most := len(schemes.load().seeds)):
        raise UserError(f"--seeds is {seeds}; experiment schemes has {most}, so legal is 1 to that")
    if publish and (quick or seeds):
        raise UserError("--publish takes every seed and whole runs; leave --quick and --seeds out")
    schemes_pages.conduct(seeds, quick, jobs, publish)


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
def experiment(name, engine, seeds, quick, jobs, publish):
    """Runs a paper's experiment beside its figures: NAME is list, all, one of the list, or schemes.

    Runs that are done are kept in .vermilion/experiments and not done again. Exit status 1: a gate does not hold.
    """
    from . import settings

    known = settings.names()
    if name == "list":
        listed()
        return
    if name == "schemes":
        compare(engine, seeds, quick, jobs, publish)
        return
    if name != "all" and name not in known:
        raise UserError(f"experiment {name}: is no experiment; legal are list, all, {', '.join(known)}, schemes")
    if publish and (quick or seeds):
        raise UserError("--publish takes every seed and whole runs; leave --quick and --seeds out")
    loaded = {each: settings.load(settings.FOLDER / f"{each}.toml") for each in (known if name == "all" else [name])}
    for each, of in loaded.items():
        if engine not in module(of).ENGINES:
            legal = ", ".join(module(of).ENGINES)
            raise UserError(f"--engine {engine}: does not serve experiment {each} yet; legal is {legal}")
        if seeds and seeds > len(of.seeds):
            raise UserError(f"--seeds is {seeds}; experiment {each} has {len(of.seeds)}, so legal is 1 to that")
    broken = []
    for each, of in loaded.items():
        chosen = of.seeds[: seeds or (of.quick.seeds if quick else None)]
        judged = conduct(each, of, engine, chosen, quick, jobs, publish)
        broken += [f"{each}: {row.of}" for row in judged if row.class_ == "gate" and not row.good]
    if broken:
        raise build.BuildError("gates that do not hold:\n  " + "\n  ".join(broken))
