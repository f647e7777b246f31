"""`vermilion oracle`: compares the model with implementations that others wrote, and with exact arithmetic; docs/results/oracles.md."""

import json
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

import click

from vermilion.console.screen import working
from vermilion.guests import guest
from vermilion.toolchain import build
from vermilion.values.fields import UserError

from . import departure, dpdk, exact, flows, floyd, lanes, linux, ns2, ns3
from .rows import Finding, figure

PAGE = build.ROOT / "docs" / "results" / "oracles.md"


@dataclass(frozen=True)
class Oracle:
    what: str
    run: Callable  # (quick, fault, note) -> Finding
    fault: Callable  # changes a hardware record
    faulty: str  # what the fault is
    builds: tuple = ()  # each called with a say


WEIGHT = "each weight's mantissa is wrong by one unit"
ORACLES = {
    floyd.NAME: Oracle(floyd.SUMMARY, floyd.run, floyd.fault, WEIGHT),
    linux.NAME: Oracle("Linux's include/net/red.h in user space", linux.run, linux.fault, WEIGHT, (linux.program,)),
    departure.CODEL: Oracle(
        "Linux's include/net/codel_impl.h in user space",
        departure.run_codel,
        departure.fault,
        "the interval is too long by 1,024 ns",
        (departure.codel_program, departure.ours),
    ),
    departure.PIE: Oracle(
        "Linux's net/sched/sch_pie.c in user space",
        departure.run_pie,
        departure.fault,
        "alpha is too large by 2^-20",
        (departure.pie_program, departure.ours),
    ),
    exact.DUALPI2: Oracle(
        "RFC 9332 in exact arithmetic",
        exact.run_pair,
        departure.fault,
        "alpha is too large by one unit",
        (departure.ours,),
    ),
    exact.MARKS: Oracle(
        "marks of curves at departure in exact arithmetic",
        exact.run_marks,
        departure.fault,
        "max is too large by one unit",
        (departure.ours,),
    ),
    flows.NAME: Oracle(
        "RFC 8290's lists and Toeplitz's hash",
        flows.run,
        departure.fault,
        "the statement's quantum is one byte too large, and its seed another one",
    ),
    "dpdk-meter": Oracle(
        "DPDK's srTCM and trTCM, rte_meter",
        dpdk.run_meter,
        dpdk.meter_fault,
        "the mantissa of the time per byte is one unit too large",
        (dpdk.meter_program,),
    ),
    "dpdk-red": Oracle("DPDK's RED, rte_red", dpdk.run_red, dpdk.red_fault, WEIGHT, (dpdk.red_program,)),
    ns2.NAME: Oracle(
        "ns-2's dsRED, with the bursty traffic of paper P2", ns2.run, ns2.fault, "each weight is 10 % too large"
    ),
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
    """A table of 80 columns for each oracle: a line for a comparison, its tolerance and its cause below it; then what is not judged."""
    for each in found:
        click.echo(f"\n{each['name']}: {each['against']}")
        click.echo(f"  {'compared':<54}{'samples':>10}{'worst':>10}")
        for row in each["rows"]:
            worst = figure(row["worst"])
            click.echo(f"  {row['what']:<54}{row['count']:>10,}{worst:>10}{'' if row['held'] else '  OUT'}")
            click.echo(f"      tolerance: {figure(row['tolerance'])} {row['unit']}")
            click.echo(f"      basis of the tolerance: {row['reason']}")
            click.echo(f"      cause of the difference: {row['whose']}")
        for line in told(each):
            click.echo(textwrap.fill(line, 80, initial_indent="  ", subsequent_indent="      "))
    click.echo()


def told(each: dict) -> list[str]:
    """Lines of an oracle's notes and of what is not judged."""
    lines = [*each["notes"]]
    if each["told"] or each["tables"]:
        lines.append("Informational, not judged:")
    lines += [f"{what}: {value}" for what, value in each["told"].items()]
    for table in each["tables"]:
        lines.append(f"{table['title']}:")
        for row in table["rows"]:
            names, cells = row[: table["texts"]], zip(table["head"], row, strict=True)
            figures = [f"{head} {cell}" for head, cell in list(cells)[table["texts"] :] if cell]
            lines.append(f"{', '.join(names)}: {', '.join(figures)}")
    return lines


def tabled(head: list[str], texts: int, rows: list[list[str]]) -> str:
    """A table in Markdown; columns after the first `texts` are flush right."""
    line = lambda cells: "| " + " | ".join(cells) + " |\n"
    rule = ["---" if number < texts else "---:" for number in range(len(head))]
    return line(head) + line(rule) + "".join(map(line, rows))


def page(found: list[dict]) -> str:
    text = HEAD
    for each in found:
        text += f"\n## {each['name']}: {each['against']}\n\n"
        text += "| compared | samples | worst | tolerance | basis of the tolerance | cause of the difference |\n"
        text += "| --- | ---: | ---: | ---: | --- | --- |\n"
        for row in each["rows"]:
            worst = figure(row["worst"]) + ("" if row["held"] else " **OUT**")
            cells = [row["what"], f"{row['count']:,}", worst, f"{figure(row['tolerance'])} {row['unit']}"]
            text += "| " + " | ".join([*cells, row["reason"], row["whose"]]) + " |\n"
        if each["notes"]:
            text += "\n" + "".join(f"* {note}\n" for note in each["notes"])
        if each["told"] or each["tables"]:
            text += "\nInformational, not judged:\n"
        if each["told"]:
            text += "\n" + "".join(f"* {what}: {value}\n" for what, value in each["told"].items())
        for table in each["tables"]:
            text += f"\n{table['title']}:\n\n{tabled(table['head'], table['texts'], table['rows'])}"
    return text + f"\n{verdict(found)}.\n"


def data(found: list[dict]) -> str:
    """JSON, a list of numbers in a line."""
    joined = lambda match: re.sub(r"\s+", " ", match[0]).replace("[ ", "[").replace(" ]", "]")
    return re.sub(r"\[[^\[\]{}\"]*\]", joined, json.dumps(found, indent=1)) + "\n"


HEAD = """# The model compared with other implementations

`./vermilion oracle --publish` makes this page and the same as data, [oracles.json](oracles.json).
The bit-exact model of the lane and another implementation process the same packets. We call the other implementation an oracle.
An unexplained difference would be an error in the model, and so in the hardware, which must equal the model. The RTL itself takes no part here: other tests compare it with the model.
The model's register values come from a configuration file, through the same quantiser that users run. The models of CoDel, PIE, DualPI2 and marks at departure are compared by themselves, without the rest of a lane.

* Each tolerance is derived from number formats, from rules of both sides, or from statistics. No tolerance was fitted to a result.
* *samples*: packets, drops, cases or, of ns-2, figures of a simulation. *worst*: the largest difference found.
* `of tolerance`: the tolerance differs from sample to sample, so *worst* is the largest ratio of difference and tolerance. 1 is the limit.
* `sqrt(n) D`: the Kolmogorov-Smirnov statistic of two distributions. By chance it exceeds 1.95 in 1 of 1,000 tests.
* `./vermilion oracle --fault` tests the oracles themselves. It gives one side a slightly wrong setting, such as a weight or a gain, and every oracle must report a difference.
  `sim/tests/oracle/test_oracle.py` runs both commands with fewer cases.
* Seeds are fixed. This project stores nothing of the other implementations. The command first needs Debian's `libdpdk-dev`, `ns2` and `xz-utils`; root gets them, others the line to type. Its oracles fetch `linux-source-6.1` and PyPI's `ns3`.

*Floyd 1993* is the paper on RED by Floyd and Jacobson ([papers](../words.md#papers)). There an average decays by `(1-w)^m` after m idle packet times. *ns-2's step* is one factor `(1-w)` more, for the arriving packet.
Model and RTL have that step ([decision 16](../decisions/0016-ageing-keeps-its-remainder.md)).

An earlier model discarded the remainder of each idle spell. It fails the oracle `floyd`: its average leaves the tolerance after each of the seven silences.
After five of them the idle spells are below 2^-10 halvings, and it drops every packet. `sim/tests/oracle/test_oracle.py` still builds that model and checks both.

## What it shows

* **Exact arithmetic**: averages equal those of Floyd 1993 with ns-2's step, within the rounding of the model. This holds at no more than one decision in six cycles, for the backlogs and
  departure times that the model reports. Drop probabilities and gaps between drops agree, too. `sim/tests/oracle/test_oracle_lookahead.py` compares decisions that are closer with the rule that the lane documents for them.
* **Linux** supports only weights of 2^-n. It decays an idle average later than the lane. It subtracts at most one half, linearly in the idle time, and after longer times it only halves ([the driver's page](../driver.md#where-an-offloaded-red-differs-from-the-kernels)).
* **Linux's CoDel and PIE** decide as the model does, with the same state bit by bit. Both sides have the same port and packets (`sim/oracles/port.h`). In two points the model follows RFC 8033 instead:
  Linux lets PIE's probability grow beyond 1, and an early mark at an accumulated probability of 8.5 or more does not reset it. Every packet that passes the other conditions is then marked, until one is dropped or the probability is 0.
  For the comparison these two are corrected on Linux's side, and delays are limited to 4.29 s. The last lines of the oracle count the cases in which Linux differs without this.
* **RFC 9332, RFC 8290 and the marks of curves** are stated in Python, with integers of any size (`sim/vermilion/oracle/exact.py`, `rfc8290.py`). No verdict, probability, threshold or place in a list differs.
  RFC 9332 is stated with Linux's rules (no chance below two packets, a step that drops what is not ECT) and with the model's rounding. The scheduler of the pair takes no part. RFC 8290 is stated with the four rules
  of [decision 37](../decisions/0037-fq-codel.md), and without drops by CoDel.
  Packets for a group of flows arrive on a grid of the port's byte times. A packet that is listed in the very cycle of a choice could go before or after it.
* **DPDK**: the model's srTCM and trTCM colour every packet as RFC 2697 and RFC 2698 do. DPDK adds tokens in quanta, so it colours 0.8 % (srTCM) or 2.8 % (trTCM) of the packets differently.
  Its RED has half the drop probability of Floyd 1993 and never drops at an empty queue. It draws one random number per drop, so its mean gaps are 6 to 13 % longer.
* **ns-2** loses less yellow than the lane on the traffic of paper P2: 1.1 points in table 2, 1.8 to 2.2 in tables 3 and 4. ns-2 has four rules of its own (`sim/vermilion/oracle/dsred.py`).
  Exact arithmetic reproduces ns-2 with these four rules, and the lane with the lane's rules. Rules were tried one by one for table 2 only. There `spell` alone lowers the yellow loss by 1.0 to 1.1 points.
  By this rule, each packet that is dropped at an empty queue decays the average by the whole idle time again. For WRED, `colour` alone lowers it by 0.95 points, too. The two do not add up.
* **ns-3** truncates the number of idle packet times to an integer. After a shorter idle time the average decays by one step only.
"""


@click.command()
@click.argument("names", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="Lists the oracles and their faults, and runs none.")
@click.option("--quick", is_flag=True, help="Runs fewer and shorter cases, like the tests.")
@click.option(
    "--fault",
    "faulty",
    is_flag=True,
    help="Tests the oracles: runs the model with slightly wrong register values. Every oracle must report a difference.",
)
@click.option("--json", "json_file", metavar="FILE", help="The figures as JSON.")
@click.option("--publish", is_flag=True, help="Writes docs/results/oracles.md and .json.")
def oracle(names, listed, quick, faulty, json_file, publish):
    """Compares the model with Linux, DPDK, ns-2, ns-3 and exact arithmetic. Runs all oracles, or those given as NAMES. --list shows them."""
    from vermilion.simulation import simulate

    if listed:
        for name, each in ORACLES.items():
            click.echo(f"{name}: {each.what}\n  fault: {each.faulty}")
        return
    for name in names:
        if name not in ORACLES:
            raise UserError(f"oracle {name}: unknown oracle; choose from {', '.join(ORACLES)}")
    if publish and (names or quick or faulty):
        raise UserError("--publish needs a full run of all oracles: no NAMES, no --quick, no --fault")
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
            place.write_text(data(found))
    if publish:
        PAGE.with_suffix(".json").write_text(data(found))
        PAGE.write_text(page(found))
    show(found)
    within = [each["name"] for each in found if each["held"]]
    outside = [each["name"] for each in found if not each["held"]]
    if faulty and within:
        raise build.BuildError(f"fault not detected by {', '.join(within)}")
    click.echo(f"{len(found)} of {len(found)} oracles detected the fault" if faulty else verdict(found))
    if not faulty and outside:
        raise build.BuildError("out of tolerance: " + ", ".join(outside))
