"""The commands `test` and `format`."""

import sys

import click

from vermilion.console.screen import say
from vermilion.values.fields import UserError


@click.command()
@click.argument("parts", nargs=-1)
@click.option("-k", "expression", default="", metavar="EXPR", help="Tests whose names fit, as in pytest.")
@click.option("-m", "marker", default="", metavar="MARKER", help="Tests with a marker, as in pytest.")
@click.option("--lf", "failed", is_flag=True, help="The tests that failed when they last ran.")
@click.option("-x", "first", is_flag=True, help="Stops at the first failure; parts that would follow do not run.")
@click.option("--seed", type=click.IntRange(1, 2**32 - 1), metavar="N", help="Seed of random tests (VERMILION_SEED).")
def test(parts, expression, marker, failed, first, seed):
    """Runs every test, or the PARTS named: parts of the suite, files test_*.py, or single tests, FILE::TEST.

    Parts: format-scala, format-cpp, format-python, lint-cpp, lint-python, lint-imports, lint-types, lint-shell,
    lint-spelling, python, scala, cocotb. format is all formatters and linters; quick is format and those tests of
    python that need no RTL. Shards of python: python-main, guests, proofs; of cocotb: cocotb-a, cocotb-b. -k, -m, --lf
    and --seed are for pytest: python, cocotb, their shards, quick and files; if no PARTS are named, python and cocotb
    run. Logs and JUnit files: .vermilion/test.
    """
    from vermilion.testing import suite

    choice = suite.Choice(expression, marker, failed, first, seed)
    legal = suite.legal()
    for part in parts:
        if part not in legal and not suite.is_test(part):
            names = ", ".join(legal)
            raise UserError(f"test {part}: is no part and no file test_*.py of the project; legal parts are {names}")
        if choice.options() and part in legal and not suite.takes_options(part):
            names = ", ".join(filter(suite.takes_options, legal))
            raise UserError(f"test {part}: does not take {choice.options()[0]}, which is for {names} and files")
    sys.exit(suite.run(parts, say, choice))


@click.command("format")
def reformat():
    """Formats Scala, C++ and Python as the tests want it."""
    from vermilion.testing import suite

    sys.exit(suite.reformat(say))
