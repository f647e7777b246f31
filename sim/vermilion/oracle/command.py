"""`vermilion oracle`: the model beside implementations that others wrote, and beside exact arithmetic; docs/results/oracles.md."""

import json
import sys
from dataclasses import dataclass
from typing import Callable

import click

from .. import build, guest
from ..fields import UserError
from ..screen import working
from . import dpdk, floyd, lanes, linux, ns2, ns3
from .rows import Finding, figure

PAGE = build.ROOT / "docs" / "results" / "oracles.md"


@dataclass(frozen=True)
class Oracle:
    what: str
    run: Callable  # (quick, fault, note) -> Finding
    fault: Callable  # changes a hardware record
    faulty: str  # what the fault is
    builds: tuple = ()  # each called with a say


WEIGHT = "the mantissa of each weight is off by one"
ORACLES = {
    floyd.NAME: Oracle(floyd.SUMMARY, floyd.run, floyd.fault, WEIGHT),
    linux.NAME: Oracle("Linux's include/net/red.h in user space", linux.run, linux.fault, WEIGHT, (linux.program,)),
    "dpdk-meter": Oracle(
        "DPDK's srTCM and trTCM, rte_meter",
        dpdk.run_meter,
        dpdk.meter_fault,
        "the mantissa of a byte's time is off by one",
        (dpdk.meter_program,),
    ),
    "dpdk-red": Oracle("DPDK's RED, rte_red", dpdk.run_red, dpdk.red_fault, WEIGHT, (dpdk.red_program,)),
    ns2.NAME: Oracle("ns-2's dsRED on the bursts of P2", ns2.run, ns2.fault, "each weight is a tenth more"),
    ns3.NAME: Oracle("ns-3's RedQueueDisc", ns3.run, ns3.fault, WEIGHT, (ns3.program,)),
}


def prepare(names: list[str], say=build.quiet):
    """Builds what the oracles need; guest.Unavailable where Debian's packages cannot be had."""
    lanes.program(say)
    for name in names:
        for made in ORACLES[name].builds:
            made(say)


def consult(name: str, quick: bool, faulty: bool, note=lambda _: None) -> Finding:
    oracle = ORACLES[name]
    return oracle.run(quick, oracle.fault if faulty else None, note)


def verdict(found: list[dict]) -> str:
    held = sum(each["held"] for each in found)
    return f"{held} of {len(found)} oracles within tolerance"


def show(found: list[dict]):
    """A table of 80 columns for each oracle: a line for a comparison, its tolerance's reason and the difference's side below it."""
    for each in found:
        click.echo(f"\n{each['name']}: {each['against']}")
        click.echo(f"  {'compared':<42}{'worst':>9}  tolerance")
        for row in each["rows"]:
            worst, tolerance = figure(row["worst"]), f"{figure(row['tolerance'])} {row['unit']}"
            click.echo(f"  {row['what']:<42}{worst:>9}  {tolerance}{'' if row['held'] else '  OUT'}")
            click.echo(f"      tolerance: {row['reason']}")
            click.echo(f"      difference: {row['whose']}")
    click.echo()


def page(found: list[dict]) -> str:
    text = HEAD
    for each in found:
        text += f"\n## {each['name']}: {each['against']}\n\n"
        text += "| compared | over | worst | tolerance | reason of the tolerance | the difference is |\n"
        text += "| --- | ---: | ---: | ---: | --- | --- |\n"
        for row in each["rows"]:
            worst = figure(row["worst"]) + ("" if row["held"] else " **OUT**")
            cells = [row["what"], f"{row['count']:,}", worst, f"{figure(row['tolerance'])} {row['unit']}"]
            text += "| " + " | ".join([*cells, row["reason"], row["whose"]]) + " |\n"
        if each["told"]:
            text += "\nFor information, without a tolerance:\n\n"
            text += "".join(f"* {what}: {value}\n" for what, value in each["told"].items())
    return text + f"\n{verdict(found)}.\n"


HEAD = """# Beside other implementations

Made by `./vermilion oracle --publish`; the same as data: [oracles.json](oracles.json). The bit-exact model and other implementations of the same algorithms get the same packets.
The model's numbers come from a configuration, through the quantiser, as a user's do.

* Each tolerance is derived from the number formats and rules of both sides, or from chance, and not from results. `of tolerance` means that the tolerance depends on the packet: the worst share of it is given.
* The last column names the side that makes the difference, and why.
* Each oracle has a fault: the model gets other numbers than the configuration asks for, by one unit of a mantissa mostly. `./vermilion oracle --fault` feeds it,
  and every oracle must find it. `sim/tests/test_oracle.py` holds both, in short forms.
* Seeds are fixed. Nothing of the other implementations is stored in this project: Debian's `linux-source-6.1`, `libdpdk-dev` and `ns2` and PyPI's `ns3` are fetched when an oracle first runs.

The model before the remainder of each idle spell was kept ([decision 16](../decisions/0016-ageing-keeps-its-remainder.md)) was out of the tolerances of `floyd`: after a silence
all packets were dropped in 9 of 9 cases, and the average was off by 16 % of the longest queue. `sim/tests/test_oracle.py` builds that model still, and sees it fail.

## What it shows

* **The lane is Floyd's RED to its own rounding**: averages at any spacing of arrivals, curves, gaps between drops. Its srTCM and trTCM give the RFCs' colours without an exception.
* **Linux** has weights of powers of two, and decays an empty queue late and in halvings ([the driver's page](../driver.md#where-an-offloaded-red-differs-from-the-kernels)).
* **DPDK** adds tokens in quanta, which changes the colour of single packets. Its RED has half of Floyd's probability and never drops at an empty queue. It keeps one random number from drop to drop, so gaps are longer.
* **ns-2**'s yellow losses of P2 are a point lower than the lane's. The rule `spell` alone makes that point: while packets are dropped at an empty queue, ns-2 ages the average at each of them by the whole idle
  spell again. With ns-2's four rules in exact arithmetic ns-2's losses come out, and with the lane's rules the lane's.
* **ns-3** casts the idle packets to an integer. Arrivals that are less than a packet's time apart take one step each, whatever the time.
"""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="Names the oracles and their faults, and runs none.")
@click.option("--quick", is_flag=True, help="Fewer and shorter cases, as the tests have them.")
@click.option(
    "--fault", "faulty", is_flag=True, help="Gives the model numbers that were not asked for, which must be found."
)
@click.option("--json", "json_file", metavar="FILE", help="The figures as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/oracles.md and .json.")
def oracle(names, listed, quick, faulty, json_file, publish):
    """Compares the model with implementations that others wrote, and with exact arithmetic: all oracles, or the NAMES given."""
    from .. import simulate

    if listed:
        for name, each in ORACLES.items():
            click.echo(f"{name}: {each.what}\n  fault: {each.faulty}")
        return
    for name in names:
        if name not in ORACLES:
            raise UserError(f"oracle {name}: is no oracle; legal are {', '.join(ORACLES)}")
    if publish and (names or quick or faulty):
        raise UserError("--publish takes every oracle, in its whole form and without a fault")
    chosen = list(dict.fromkeys(names)) or list(ORACLES)
    with simulate.Outputs() as outputs:
        place = outputs.add("--json", json_file)
        with working() as say:
            try:
                prepare(chosen, say)
            except guest.Unavailable as error:
                raise build.BuildError(str(error)) from None
        found = []
        with click.progressbar(length=len(chosen), file=sys.stderr) as bar:

            def note(name, text=""):
                bar.label = f"{name}: {text}" if text and sys.stderr.isatty() else name
                bar.render_progress()

            for name in chosen:
                found.append(consult(name, quick, faulty, lambda text: note(name, text)).as_json())
                bar.update(1)
        if place:
            place.write_text(json.dumps(found, indent=1) + "\n")
    if publish:
        PAGE.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
        PAGE.write_text(page(found))
    show(found)
    blind = [each["name"] for each in found if each["held"]]
    if faulty and blind:
        raise build.BuildError(f"the fault is not found by {', '.join(blind)}")
    click.echo(f"{len(found)} of {len(found)} oracles found the fault" if faulty else verdict(found))
    if not faulty and len(blind) < len(found):
        raise build.BuildError("an oracle is out of tolerance")
