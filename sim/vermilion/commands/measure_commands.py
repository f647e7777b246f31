"""The commands that measure and publish in docs/results: `bench`, `speed`, `area`, `timing`, `place`, `vivado`, `battery`,
`fairness`, `distance-drops`; and `prove`. The work is in the modules of these names."""

import json
import sys
from pathlib import Path

import click

from vermilion.console.screen import console, working
from vermilion.synthesis.vivado import PART
from vermilion.toolchain import build
from vermilion.values.fields import UserError

anchor_files = click.option(
    "--anchor",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Verilog of the anchor; once for each file.",
)


@click.command()
@click.option(
    "--preset",
    "presets",
    type=click.Choice([*build.PRESETS, *build.FOR_BENCHES]),
    multiple=True,
    help="Default: every width.",
)
@click.option(
    "--packets",
    type=click.IntRange(100, 10_000_000),
    default=20_000,
    show_default=True,
    help="Frames of each row; with --line-rate a tenth of the clocks.",
)
@click.option(
    "--line-rate",
    is_flag=True,
    help="Frames as a port brings them, at three loads, with the distribution of latencies.",
)
@click.option("--json", "json_file", metavar="FILE", help="The figures as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/bench.md, or line-rate.md, and .json.")
def bench(presets, packets, line_rate, json_file, publish):
    """Measures clocks a decision, latency, and how fast the lane simulates."""
    from vermilion.measure import bench as measured
    from vermilion.measure import line_rate as paced
    from vermilion.simulation import show, simulate

    presets = presets or tuple(name for name in paced.PORTS if line_rate or build.shape(name).egresses == 1)
    for name in () if line_rate else presets:
        if build.shape(name).egresses > 1:
            raise UserError(f"--preset {name}: has several egresses, which bench measures with --line-rate alone")
    for name in presets if line_rate else ():
        if name not in paced.PORTS:
            raise UserError(f"--preset {name}: stands for no port; with --line-rate legal are {', '.join(paced.PORTS)}")
    with simulate.Outputs() as outputs:
        place = outputs.add("--json", json_file)
        with working() as note:
            programs = {name: build.simulator(name, "", note) for name in presets}
            rows = (
                paced.measure(programs, 10 * packets, note) if line_rate else measured.measure(programs, packets, note)
            )
        if place:
            place.write_text(json.dumps(rows, indent=1) + "\n")
    if publish and line_rate:
        paced.publish(rows)
    elif publish:
        measured.publish(rows, packets)
    (paced.show if line_rate else show.bench)(console(), rows)


@click.command()
@click.option(
    "--packets",
    type=click.IntRange(10_000, 10_000_000),
    default=100_000,
    show_default=True,
    help="Frames of 64 bytes; a tenth of 1,518; cocotb a hundredth of each.",
)
@click.option("--json", "json_file", metavar="FILE", help="The figures as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/speed.md and .json.")
def speed(packets, json_file, publish):
    """Measures how fast the RTL, the model and cocotb simulate, side by side."""
    from vermilion.measure import speed as measured
    from vermilion.simulation import simulate

    with simulate.Outputs() as outputs:
        place = outputs.add("--json", json_file)
        with working() as note:
            rows = measured.measure(packets, note)
        if place:
            place.write_text(json.dumps(rows, indent=1) + "\n")
    if publish:
        measured.publish(rows, packets)
    measured.show(console(), rows)


@click.command()
@click.argument("designs", nargs=-1)
@click.option("--json", "json_file", metavar="FILE", help="The figures as JSON.")
@click.option(
    "--publish",
    is_flag=True,
    help="Writes docs/results/area.md and fpga/resources.toml; other designs keep their rows.",
)
def area(designs, json_file, publish):
    """Estimates the LUTs, registers and memories of every block and lane, or the DESIGNS named (whole lanes: minutes each).

    A name that is no design gets the list of those that are.
    """
    from vermilion.simulation import simulate
    from vermilion.synthesis import area as estimate

    for name in designs:
        if name not in estimate.DESIGNS:
            raise UserError(f"area {name}: is no design; legal are {', '.join(estimate.DESIGNS)}")
    with simulate.Outputs() as outputs:
        place = outputs.add("--json", json_file)
        with working() as note:
            result = estimate.measure(designs or estimate.SHOWN, note)
        if place:
            place.write_text(json.dumps(result, indent=1) + "\n")
    if publish:
        with working() as note:
            estimate.publish(result, note)
    estimate.show(console(), result)


@click.command()
@click.argument("designs", nargs=-1)
@click.option("--paths", "count", type=click.IntRange(1, 1000), default=10, show_default=True, help="Paths to show.")
@anchor_files
@click.option("--anchor-top", default="", help="Top module of the anchor: any Verilog core, measured beside.")
@click.option("--anchor-clock", default="clk", show_default=True, help="Its clock.")
@click.option("--json", "json_file", metavar="FILE", help="The paths as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/timing.md and .json.")
def timing(designs, count, anchor, anchor_top, anchor_clock, json_file, publish):
    """Estimates the longest paths of DESIGNS, those of `area` (whole lanes: minutes each); without any, of the small ones."""
    from vermilion.simulation import simulate
    from vermilion.synthesis import area as estimate
    from vermilion.synthesis import timing as measured

    for name in designs:
        if name not in estimate.DESIGNS:
            raise UserError(f"timing {name}: is no design; legal are {', '.join(estimate.DESIGNS)}")
    if bool(anchor) != bool(anchor_top):
        raise UserError("--anchor and --anchor-top go together: its Verilog files and its top module")
    result = {}
    with simulate.Outputs() as outputs:
        place = outputs.add("--json", json_file)
        with working() as note:
            for name in designs or estimate.SMALL:
                result[name] = measured.paths(name, note)
            if anchor:
                result["anchor"] = measured.anchor(list(anchor), anchor_top, anchor_clock, note)
        if place:
            place.write_text(json.dumps({name: found[:count] for name, found in result.items()}, indent=1) + "\n")
    if publish:
        with working() as note:
            measured.publish(result, count, note)
    for name, found in result.items():
        measured.show(console(), name, found, count)


@click.command()
@anchor_files
@click.option("--anchor-top", default="", help="Top module of the anchor: any Verilog core, placed and routed too.")
@click.option("--anchor-only", is_flag=True, help="Leaves the lane out.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the placer.")
@click.option("--json", "json_file", metavar="FILE", help="The figures as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/place.md and .json.")
def place(anchor, anchor_top, anchor_only, seed, json_file, publish):
    """Places and routes a lane in an ECP5 with open tools (a quarter of an hour)."""
    from vermilion.simulation import simulate
    from vermilion.synthesis import place as measured

    if bool(anchor) != bool(anchor_top):
        raise UserError("--anchor and --anchor-top go together: its Verilog files and its top module")
    if anchor_only and not anchor:
        raise UserError("--anchor-only needs --anchor: there would be nothing to do")
    rows = {}
    with simulate.Outputs() as outputs:
        target = outputs.add("--json", json_file)
        with working() as note:
            if anchor:
                rows["anchor"] = measured.anchor(list(anchor), anchor_top, seed, note)
            if not anchor_only:
                rows["lane"] = measured.lane(seed, note)
        if target:
            target.write_text(json.dumps(rows, indent=1) + "\n")
    if publish:
        measured.publish(rows)
    measured.show(console(), rows)


@click.group()
def vivado():
    """A lane or application block for Vivado, and what Vivado reported of it. Vivado itself is yours to start."""


@vivado.command("write")
@click.argument("folder", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--preset",
    metavar="PRESET",
    default="nic10g",
    show_default=True,
    help="Build of the lane, or of the application block (app..., card...).",
)
@click.option("--part", default=PART, show_default=True, help="Vivado's name of the device.")
@click.option(
    "--period",
    type=click.FloatRange(1, 100),
    help="Period of the clock, ns; without it, the one that the preset is built for.",
)
def vivado_write(folder, preset, part, period):
    """Writes SystemVerilog and scripts to DIR, ready for Vivado."""
    from vermilion.synthesis import vivado as tool

    with working() as note:
        command = tool.write(preset, folder, part, period, note)
    click.echo(f"written to {folder}; there, or with {folder}/run.sh:\n{command}")


@vivado.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="File to write; DIR.zip without.")
def vivado_report(folder, output):
    """Packs the reports of a run that has ended in DIR into one file, to send to the project."""
    from vermilion.synthesis import vivado as tool

    target = output or folder.resolve().with_name(f"{folder.resolve().name}.zip")
    tool.show(console(), tool.pack(folder, target))
    click.echo(f"packed: {target}")


@vivado.command("read")
@click.argument("place", metavar="FILE|DIR", type=click.Path(exists=True, path_type=Path))
@click.option("--publish", is_flag=True, help="Writes docs/results/vivado*.md and .json.")
def vivado_read(place, publish):
    """Shows the reports of a packed FILE, or of a run that has ended in DIR."""
    from vermilion.synthesis import area as estimate
    from vermilion.synthesis import vivado as tool

    result = tool.read(place)
    if publish:
        tool.publish(result, estimate.pins())
    tool.show(console(), result)


@click.command()
@click.option(
    "--seed", type=click.IntRange(1, 2**32 - 1), default=1, show_default=True, help="Seed of the random source."
)
@click.option("--publish", is_flag=True, help="Writes docs/results/random-source.md and .json.")
def battery(seed, publish):
    """Puts the random source through dieharder (some minutes)."""
    from vermilion.measure import battery as tests

    with click.progressbar(length=len(tests.TESTS), label="dieharder", file=sys.stderr) as bar:
        result = tests.run(seed, lambda done, total: bar.update(done - bar.pos))
    if publish:
        tests.publish(result)
    verdicts = [row["verdict"] for row in result["rows"]]
    size = result["bytes"] / tests.GIGABYTE
    counts = ", ".join(f"{verdicts.count(name)} {name}" for name in ("passed", "weak", "failed"))
    click.echo(f"{size:.1f} GB of draws, {len(verdicts)} p-values: {counts}")
    if "failed" in verdicts:
        raise build.BuildError("the random source fails a test")


@click.command()
@click.option("--publish", is_flag=True, help="Writes docs/results/redp-fairness.md and .json.")
def fairness(publish):
    """Measures how evenly REDP demotes flows of equal rate, by the phases of their packets."""
    from vermilion.console.tables import table
    from vermilion.measure import fairness as measured

    with working() as note:
        program = measured.program(note)
    with click.progressbar(length=len(measured.PATTERNS) * len(measured.LOADS), file=sys.stderr) as bar:
        rows = measured.measure(program, lambda done, _: bar.update(done - bar.pos))
    if publish:
        measured.publish(rows)
    made = table("Most demoted flow over least demoted", measured.HEADS[:1], measured.HEADS[1:])
    for row in rows:
        made.add_row(row["pattern"], *measured.cells(row))
    console().print(made)


@click.command("distance-drops")
@click.argument("captures", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "json_file", metavar="FILE", help="The rows as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/distance-drops.md and .json.")
def distance_drops(captures, json_file, publish):
    """Measures on CAPTURES what dropping the nearest packet saves, beside the arriving one; without any, on the shipped one.

    A capture that is too short for an average to settle is sent several times over; one that loses fewer than 100 packets is left out.
    """
    from vermilion.measure import distance_drops as measured
    from vermilion.simulation import simulate

    captures = captures or (measured.SHIPPED,)
    for capture in captures:
        simulate.check_capture(capture)
    with simulate.Outputs(*captures) as outputs:
        place = outputs.add("--json", json_file)
        with working() as note:
            program = build.model_program("lab", note)
        with click.progressbar(length=len(measured.FORMS) * len(captures), file=sys.stderr) as bar:
            rows = measured.compare(program, captures, progress=lambda done: bar.update(done - bar.pos))
        if place:
            place.write_text(json.dumps(rows, indent=1) + "\n")
    if publish:
        measured.publish(rows)
    screen = console()
    for form in measured.FORMS:
        for made in measured.tables(rows, form):
            screen.print(made)
    if measured.left_out(rows):
        screen.print(measured.left_out(rows), markup=False, soft_wrap=True)


@click.command()
@click.argument("proofs", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="Names the proofs and their faults, and runs none.")
@click.option(
    "--depth",
    type=click.IntRange(1, 200),
    help="Clocks from the first packet on. Default: 13 for the victim search, each block's own for the others.",
)
@click.option(
    "--cells", type=click.Choice(["4", "8"]), default="4", show_default=True, help="Cells of the victim search."
)
@click.option("--fault", help="Builds a fault in, which must be found; names by --list.")
@click.option("--unknown-rams", is_flag=True, help="What a RAM holds before its first write is unknown; else zeros.")
def prove(proofs, listed, depth, cells, fault, unknown_rams):
    """Proves the victim search to a depth, and single blocks to a depth or for ever; or only the PROOFS named."""
    from vermilion.formal import prove as proving

    if listed:
        for name, what in proving.listed():
            click.echo(f"{name}: {what}")
            faults = proving.faults_of(name)
            click.echo(f"  faults: {', '.join(faults)}" if faults else "  faults: none of its own")
        return
    known = [name for name, _ in proving.listed()]
    for name in proofs:
        if name not in known:
            raise UserError(f"prove {name}: is no proof; legal are {', '.join(known)}")
    if fault and not proofs:
        raise UserError("--fault needs the proof that it is to be built into; prove --list names both")
    for name in proofs if fault else ():
        if fault not in proving.faults_of(name):
            raise UserError(f"--fault is {fault}; legal for {name} are {', '.join(proving.faults_of(name)) or 'none'}")
    rams, wrong = "unknown" if unknown_rams else "zeros", []
    for name in proofs or known:
        clocks = depth or proving.depth_of(name)
        with working() as note, click.progressbar(length=clocks, label=name, file=sys.stderr) as bar:
            shown = lambda done: bar.update(done - bar.pos)
            result = proving.run(name, clocks, fault or "", rams, int(cells), note, shown)
        click.echo(f"{name}: {proving.sentence(result)}")
        if bool(result.failed) != bool(fault):
            wrong.append(name)
    if wrong:
        what = f"the fault {fault} is not found in" if fault else "a property can fail in"
        raise build.BuildError(f"{what} {', '.join(wrong)}")
