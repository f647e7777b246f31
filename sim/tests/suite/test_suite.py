"""What `vermilion test` runs, and what it counts from what the tools report."""

import os
import subprocess
import sys
import threading
from collections import deque

import pytest

from vermilion.commands import cli
from vermilion.testing import scala_suites, suite, suite_results
from vermilion.toolchain import build, steps
from vermilion.values.fields import UserError

JUNIT = """<testsuites><testsuite tests="4" failures="1" errors="1" skipped="1">
<testcase classname="sim.tests.test_a" name="test_good"/>
<testcase classname="sim.tests.test_a" name="test_wrong[3]"><failure message="x"/></testcase>
<testcase classname="sim.tests.test_b" name="test_broken"><error message="y"/></testcase>
<testcase classname="sim.tests.test_b" name="test_left_out"><skipped/></testcase>
</testsuite></testsuites>"""

SCALA = """\x1b[32mFreeListTest:\x1b[0m
- \x1b[31mgives every cell once *** FAILED ***\x1b[0m
Tests: succeeded 3, failed 1, canceled 0
Suites: completed 2, aborted 1
"""


def test_pytest_failures_are_counted_and_named(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text(JUNIT)
    count = suite.junit(path)
    assert (count.passed, count.failed, count.skipped) == (1, 2, 1)
    assert count.names == ["sim.tests.test_a::test_wrong[3]", "sim.tests.test_b::test_broken"]


def test_scala_failures_and_aborted_suites_are_counted_and_named():
    count = suite.scalatest(SCALA)
    assert (count.passed, count.failed) == (3, 2)
    assert len(count.names) == 1 and "gives every cell once" in count.names[0]


def test_every_failure_is_named_and_the_last_line_is_the_count(tmp_path, monkeypatch):
    ends = {"good": suite.Count(5), "named": suite.Count(1, 1, names=["a::b"]), "unnamed": suite.Count(0, 1)}
    monkeypatch.setattr(suite, "LOGS", tmp_path)
    monkeypatch.setattr(
        suite, "parts", lambda *_: {n: lambda log, n=n: log.write_text("") and None or ends[n] for n in ends}
    )
    said = []
    assert suite.run((), said.append) == 1
    assert said[-1] == "6 passed, 2 failed"
    assert "failed: named: a::b" in said and any(line.startswith("failed: unnamed: see ") for line in said)
    assert suite.run(("good",), said.append) == 0


def test_a_part_whose_result_breaks_off_is_a_failure_and_the_others_run(tmp_path, monkeypatch):
    def breaks_off(log):
        path = tmp_path / "junit.xml"
        path.write_text(JUNIT[:100])
        return suite.junit(path)

    def no_room(log):
        raise OSError(28, "No space left on device")

    ends = {"broken": breaks_off, "full": no_room, "good": lambda log: suite.Count(5)}
    monkeypatch.setattr(suite, "LOGS", tmp_path)
    monkeypatch.setattr(suite, "parts", lambda *_: ends)
    said = []
    assert suite.run((), said.append) == 1
    assert said[-1] == "5 passed, 2 failed"
    assert any("ParseError" in line for line in said) and any("No space left" in line for line in said)


def test_a_file_of_tests_is_a_part_and_nothing_else_is():
    assert suite.is_test("sim/tests/suite/test_suite.py")
    for name in (
        "sim/tests/support/devices.py",
        "sim/tests/test_none.py",
        "../test_suite.py",
        "/etc/hostname",
        "sim/tests",
        "",
        "sim/tests/support/devices.py::test_x",
    ):
        assert not suite.is_test(name), name
    assert suite.is_test("sim/tests/suite/test_suite.py::test_x")


FIRST = """import os
def test_good(): pass
def test_seed(): assert os.environ.get("VERMILION_SEED") == "7"
def test_other(): pass
"""
SECOND = "def test_good(): pass\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with two files of tests; a test of the first fails but with the seed 7. Gives a function that runs them."""
    (tmp_path / "test_a.py").write_text(FIRST)
    (tmp_path / "test_b.py").write_text(SECOND)
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(suite, "LOGS", tmp_path / "logs")
    monkeypatch.delenv("VERMILION_SEED", raising=False)

    def run(*names, **options):
        said = []
        status = suite.run(names, said.append, suite.Choice(**options))
        assert (status == 0) == (said[-1].endswith(" 0 failed") and not said[-1].startswith("0 ")), said
        run.said = said
        return said[-1]

    return run


def test_options_choose_tests(project):
    """A choice of tests by name, of those that failed, and the seed."""
    assert project("test_a.py", "test_b.py") == "3 passed, 1 failed"
    assert project("test_a.py::test_good", "test_a.py::test_other", "test_b.py::test_good") == "3 passed, 0 failed"
    assert project("./test_a.py", "test_b.py", failed=True) == "0 passed, 1 failed"
    assert project("test_a.py", "test_b.py", failed=True, seed=7) == "1 passed, 0 failed"
    assert project("test_a.py", "test_b.py", expression="other or seed") == "1 passed, 1 failed"
    assert project("test_b.py", expression="nothing") == "0 passed, 0 failed"
    assert project("test_b.py", failed=True) == "0 passed, 0 failed"
    assert "    no test failed when it last ran" in project.said


MARKED = """import pytest
@pytest.mark.slow
def test_slow(): pass
@pytest.mark.quick
def test_quick(): pass
"""


def test_markers_choose_tests(project, tmp_path):
    (tmp_path / "test_marked.py").write_text(MARKED)
    options = '[tool.pytest.ini_options]\naddopts = "--strict-markers"\nmarkers = ["slow", "quick"]\n'
    (tmp_path / "pyproject.toml").write_text(options)
    assert project("test_marked.py", marker="slow") == "1 passed, 0 failed"
    assert project("test_marked.py", marker="slow or quick") == "2 passed, 0 failed"
    (tmp_path / "test_marked.py").write_text(MARKED.replace("slow", "slwo"))
    assert project("test_marked.py").startswith("0 passed"), "a marker that is not registered"


def test_quick_is_formats_and_quick_tests(monkeypatch):
    """The part `quick` runs the formatters and the Python side's quick tests; with an option of pytest's, these alone."""
    ran = []
    monkeypatch.setattr(suite, "pytest", lambda targets, log, choice: ran.append((targets, choice.marker)))
    forms = [name for name in suite.parts() if name.startswith(suite.FORMS)]
    assert list(suite.chosen(("quick",), suite.Choice())) == [*forms, "quick"] and "lint-types" in forms
    todo = suite.chosen(("quick",), suite.Choice(marker="not guest"))
    assert list(todo) == ["quick"]
    todo["quick"](None)
    assert ran == [(["sim/tests"], "quick and (not guest)")]


def test_first_failure_ends_the_run(project, tmp_path):
    """Within a part, and between parts."""
    (tmp_path / "test_c.py").write_text("def test_bad(): assert 0\ndef test_worse(): assert 0\n")
    assert project("test_c.py", first=True) == "0 passed, 1 failed"
    assert project("test_a.py::test_seed", "test_b.py", first=True) == "0 passed, 1 failed"
    assert project("test_c.py", "test_b.py") == "1 passed, 2 failed"


def test_files_of_one_name_are_two_parts(project, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "test_a.py").write_text("def test_good(): pass\n")
    assert project("test_b.py", "test_a.py::test_good", "more/test_a.py") == "3 passed, 0 failed"
    assert (tmp_path / "logs" / "more.test_a.py.xml").exists() or (tmp_path / "logs" / "more.test_a.py.log").exists()


def test_formatter_leaves_junit(tmp_path):
    """A formatter's JUnit file holds one test, with the end of the log where it failed; control characters are replaced."""
    for name, code, counts in (("good", "", (1, 0)), ("bad", "print('not\\x1b[1m formatted'); exit(1)", (0, 1))):
        log = tmp_path / f"{name}.log"
        count = suite.formatter([sys.executable, "-c", code], log)
        assert (count.passed, count.failed) == counts
        again = suite.junit(log.with_suffix(".xml"))
        assert (again.passed, again.failed) == counts
    assert "not?[1m formatted" in (tmp_path / "bad.xml").read_text()


def test_slowest_tests_are_listed(tmp_path, monkeypatch):
    """The twenty slowest of all parts, before the closing line; none that took less than a second."""
    found = [(float(seconds), f"test_{seconds}") for seconds in range(30)] + [(0.5, "test_quick")]
    assert len(suite_results.slowest(found)) == 20
    assert suite_results.slowest(found)[0].split() == ["29.0", "s", "test_29"]
    assert suite_results.slowest([(0.5, "test_quick")]) == []
    monkeypatch.setattr(suite, "LOGS", tmp_path)
    monkeypatch.setattr(suite, "parts", lambda *_: {"a": lambda log: suite.Count(31, times=found)})
    said = []
    assert suite.run((), said.append) == 0
    assert said[-1] == "31 passed, 0 failed" and said[-2].startswith("slowest tests:\n    29.0 s  a: test_29\n")


def test_options_of_pytest_alone(monkeypatch):
    """With an option that only pytest takes, its parts alone run; a part that is none is refused by name."""
    for options in ({"expression": "a"}, {"marker": "a"}, {"failed": True}, {"seed": 1}):
        assert list(suite.chosen((), suite.Choice(**options))) == ["python", "cocotb"]
    assert list(suite.chosen((), suite.Choice(first=True))) == list(suite.parts())
    monkeypatch.setattr(suite, "run", lambda *_: 0)
    for option in (["-k", "a"], ["-m", "a"], ["--lf"], ["--seed", "2"]):
        with pytest.raises(
            UserError,
            match=f"^test scala: does not take {option[0]}, which is for quick, python, cocotb, python-main, .* and files",
        ):
            cli.cli.main(["test", "cocotb", "scala", *option], standalone_mode=False)
        with pytest.raises(SystemExit, match="^0$"):
            cli.cli.main(["test", "cocotb", "sim/tests/suite/test_suite.py::test_x", *option], standalone_mode=False)


def test_what_verilator_wrote_is_compiled_without_the_folder_of_the_test(tmp_path):
    """The same block in two tests is the same text to the compiler, so that ccache has the second."""
    texts = []
    for name in ("one", "another one's"):
        work = tmp_path / name / "verilated-sources"
        work.mkdir(parents=True)
        (work / "a.cpp").write_text(f'const char* at = "{work.parent}/../primary-sources/A.sv";\n')
        command = [scala_suites.simulations()["OBJCACHE"], "g++", "-c", "a.cpp"]
        subprocess.run(command, cwd=work, check=True, env=steps.environment())
        assert (work / "a.o").exists()
        texts.append((work / "a.cpp").read_text())
    assert texts == ['const char* at = "../primary-sources/A.sv";\n'] * 2


def test_simulations_read_verilators_header_precompiled(tmp_path, monkeypatch):
    """The two files that include it do. Flags of the user's, which it might not have, stay away."""
    monkeypatch.setenv("CXXFLAGS", "-fno-exceptions")
    (tmp_path / "tools").mkdir()
    header = scala_suites.precompiled()
    environment = scala_suites.simulations(header)
    assert "CXXFLAGS" not in environment
    (tmp_path / "tools/ccache").write_text('#!/bin/sh\necho "$@"\n')
    (tmp_path / "tools/ccache").chmod(0o755)
    environment["PATH"] = f"{tmp_path / 'tools'}:{environment['PATH']}"
    with_header = ["-include-pch", str(header)]
    for name, wanted in {
        "a__ALL.cpp": with_header,
        "simulation-driver.cpp": with_header,
        "c-dpi-bridge.cpp": [],
    }.items():
        command = [environment["OBJCACHE"], "clang++", "-c", name]
        said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True).stdout
        assert said.split() == ["clang++", "-c", name, *wanted]


class Begun(suite.Suites):
    """Suites that are never run: one worker waits for good, the other one gets a signal."""

    def __init__(self, names):
        self.names, self.servers, self.let = deque(names), [self], threading.Event()
        self.process = self

    def kill(self):
        self.let.set()

    def work(self, core):
        name = self.names.popleft()
        if name == "signal":
            raise KeyboardInterrupt
        assert self.let.wait(60), "the JVM was not killed"
        assert not self.names, "another suite would begin"


def test_a_signal_ends_the_suites_that_run_and_begins_no_other(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    begun = Begun(["long", "signal", "next", "last"])
    with pytest.raises(KeyboardInterrupt):
        begun.run()
    assert begun.let.is_set() and not begun.names


def test_every_suite_of_scalatest_is_found(monkeypatch, tmp_path):
    found = suite.suites()
    assert len(found) == len(set(found)) >= 30 and "vermilion.stream.IngressSpec" in found
    for text in (
        "final class A extends AnyFunSuite",
        "class A\n    extends AnyFunSuite",
        "class A(b: Int) extends AnyWordSpec",
        "import org.scalatest.funsuite.AnyFunSuite\nclass A extends Common",
    ):
        (tmp_path / "A.scala").write_text(f"package a\n{text} {{}}\n")
        monkeypatch.setattr(suite.build, "files", lambda *_: [tmp_path / "A.scala"])
        with pytest.raises(suite.build.BuildError, match="a suite must begin with a line"):
            suite.suites()


class Item:
    """A collected test, as far as its order is concerned."""

    def __init__(self, path: str, number: int, marker: str):
        self.path, self.number, self.marker = path, number, marker

    def get_closest_marker(self, name):
        return self if name == self.marker else None


def test_files_alternate_and_their_tests_stay_together():
    kinds = {"a": "slow", "b": "slow", "c": "quick", "d": "guest", "e": "quick", "f": "quick", "g": "quick"}
    items = [Item(path, number, kinds[path]) for path in kinds for number in range(3)]
    items.append(Item("c", 3, "slow"))  # one slow test makes the file slow
    before = {(item.path, item.number) for item in items}
    suite.interleave(items)
    assert {(item.path, item.number) for item in items} == before and len(items) == len(before)
    assert list(dict.fromkeys(item.path for item in items)) == ["a", "e", "b", "f", "c", "g", "d"]
    suite.interleave(items, first=("d",))
    assert list(dict.fromkeys(item.path for item in items))[:3] == ["d", "e", "a"]
    for path in kinds:
        places = [at for at, item in enumerate(items) if item.path == path]
        assert places == list(range(places[0], places[-1] + 1)), "the tests of a file are apart"
        assert [items[at].number for at in places] == sorted(items[at].number for at in places)
