"""`vermilion sweep` and `vermilion dask`."""

import os
import sys
from pathlib import Path

import click

from vermilion.console import screen
from vermilion.toolchain import build
from vermilion.values.fields import UserError

FOLDER = build.HOME / "sweeps"


def conduct(client, missing: list, program, folder: Path, show):
    """Has the workers do what is missing; a run that fails leaves the others to go on, and is told at the end."""
    import cloudpickle
    from distributed import as_completed

    from vermilion.experiments import work

    from . import plan

    cloudpickle.register_pickle_by_value(work)
    tasks = {row.key: plan.task(row, program, folder) for row in missing}
    weights = {row.key: row.run.weight for row in missing}
    futures = client.map(work.execute, list(tasks.values()), key=list(tasks), pure=False, retries=0)
    failed = []
    for future in as_completed(futures):
        if future.status == "finished":
            show(weights[future.key])
        else:
            failed.append(f"{tasks[future.key]['record']['run']}: {future.exception()}")
        future.release()
    if failed:
        raise build.BuildError(f"{len(failed)} of {len(tasks)} runs failed; the first: {failed[0]}")


def survives(path: Path, runs: int, jobs: int, publish: bool):
    """`--survival`."""
    import tempfile

    from . import survival

    lines = []

    def say(text):
        screen.say(text)
        lines.append(f"* {text}")

    with tempfile.TemporaryDirectory(prefix="sweep-", dir=build.HOME) as folder:
        survival.show(path, Path(folder), runs, jobs, say)
    if publish:
        command = f"./vermilion sweep {path.relative_to(build.ROOT)} --jobs {jobs} --survival --publish"
        text = f"# A sweep that is killed\n\nMade by `{command}`: one sweep of {runs} runs made three times, in empty folders\n([sweeps](../sweeps.md)).\n\n"
        (build.ROOT / "docs" / "results" / "sweeps.md").write_text(text + "\n".join(lines) + "\n")


@click.command()
@click.argument("file", metavar="SPEC.toml")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler with workers; default: processes here.")
@click.option("--jobqueue", type=click.Choice(["lsf", "slurm", "sge"]), help="Workers as jobs of a batch system.")
@click.option("--jobs", type=click.IntRange(1, 10_000), default=os.cpu_count() or 1, show_default=True, help="Workers.")
@click.option("--out", metavar="FOLDER", default=str(FOLDER), help="Where runs are stored; default .vermilion/sweeps.")
@click.option(
    "--survival", is_flag=True, help="Shows in folders of its own that a killed sweep loses and repeats nothing."
)
@click.option("--publish", is_flag=True, help="With --survival: writes docs/results/sweeps.md.")
def sweep(file, scheduler, jobqueue, jobs, out, survival, publish):
    """Runs an experiment over any values of its settings, and draws what is best.

    Runs that are stored are not done again; a sweep that was stopped goes on where it was. See docs/sweeps.md.
    """
    from vermilion.experiments import runs
    from vermilion.experiments.papers import module

    from . import cluster, plan, results, spec

    if scheduler and jobqueue:
        raise UserError("--scheduler and --jobqueue are two ways to have workers; give one")
    if survival and (scheduler or jobqueue):
        raise UserError("--survival has schedulers and workers of its own; leave --scheduler and --jobqueue out")
    if publish and not survival:
        raise UserError("--publish is of --survival; give both")
    path, folder = Path(file), Path(out).resolve()
    if publish and not path.resolve().is_relative_to(build.ROOT):
        raise UserError(f"--publish: {path} is no sweep of this project; its page would name a file that is not here")
    asked = spec.load(path)
    try:
        points = spec.points(asked, path)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    work = module(points[0].of)
    if asked.engine not in work.ENGINES:
        raise UserError(f'{path}: engine is "{asked.engine}"; legal here are {", ".join(work.ENGINES)}')
    with screen.working() as note:
        program = work.program(asked.engine, note)
        target = cluster.packages(note)
    try:
        rows = plan.rows(asked, points, program)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
    for_key = {row.key: row for row in rows}
    if survival:
        survives(path.resolve(), len(for_key), jobs, publish)
        return
    try:
        (folder / "runs").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--out {out}: no folder can be made there: {error.strerror}") from None
    missing = [row for key, row in for_key.items() if runs.stored(folder / "runs" / f"{key}.json") is None]
    screen.say(f"{path.stem}: {len(points)} points, {len(for_key)} runs, {len(for_key) - len(missing)} of them stored")
    if missing:
        for row in missing:  # a file that is no run
            (folder / "runs" / f"{row.key}.json").unlink(missing_ok=True)
        most = max(row.run.weight for row in missing)
        total = max(1, round(100 * sum(row.run.weight for row in missing) / most))
        with cluster.client(target, scheduler, jobqueue, jobs) as client:
            with click.progressbar(length=total, label=f"{path.stem}, {len(missing)} runs", file=sys.stderr) as bar:
                done = [0.0]

                def show(weight):
                    done[0] += 100 * weight / most
                    bar.update(round(done[0]) - bar.pos)

                conduct(client, missing, program, folder, show)
    own = folder / path.stem
    own.mkdir(exist_ok=True)
    made = results.columns(asked, rows, results.records(rows, folder))
    results.write_parquet(own / "results.parquet", made)
    for name in (name for plot in asked.plot for name in (plot.x, plot.y)):
        if name not in made:
            legal = ", ".join(name for name in made if name not in ("run", "seed", "key"))
            raise UserError(f'{path}: a plot shows "{name}"; legal are {legal}; the runs are stored')
    results.write_report(own / "report.html", asked, rows, made, program.versions)
    screen.say(f"results: {own / 'results.parquet'}, {len(rows)} rows\nreport: {own / 'report.html'}")


@click.command(context_settings={"allow_extra_args": True, "allow_interspersed_args": False})
@click.argument("part", type=click.Choice(["scheduler", "worker"]))
@click.pass_context
def dask(context, part):
    """Starts Dask's own scheduler or worker, of the version that sweeps use; what follows PART is its own: dask worker --help."""
    from . import cluster

    with screen.working() as note:
        target = cluster.packages(note)
    words = [sys.executable, "-m", f"distributed.cli.dask_{part}", *context.args]
    os.execve(sys.executable, words, cluster.environment(target))
