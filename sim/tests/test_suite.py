"""What `vermilion test` counts, from what the tools report."""

from vermilion import suite

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
        suite, "parts", lambda: {n: lambda log, n=n: log.write_text("") and None or ends[n] for n in ends}
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
    monkeypatch.setattr(suite, "parts", lambda: ends)
    said = []
    assert suite.run((), said.append) == 1
    assert said[-1] == "5 passed, 2 failed"
    assert any("ParseError" in line for line in said) and any("No space left" in line for line in said)


def test_a_file_of_tests_is_a_part_and_nothing_else_is():
    assert suite.is_test_file("sim/tests/test_suite.py")
    for name in (
        "sim/tests/devices.py",
        "sim/tests/test_none.py",
        "../test_suite.py",
        "/etc/hostname",
        "sim/tests",
        "",
    ):
        assert not suite.is_test_file(name), name
