"""What the tools of `vermilion test` report: counts, names of failed tests, and times, from JUnit files and ScalaTest's output."""

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

SLOWEST = 20


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    names: list[str] = field(default_factory=list)  # of tests that failed
    times: list[tuple[float, str]] = field(default_factory=list, compare=False)  # seconds and name of each test


def times(path: Path) -> list[tuple[float, str]]:
    """Seconds and name of each test of a JUnit file."""
    cases = ElementTree.parse(path).getroot().iter("testcase")
    return [(float(case.get("time") or 0), f"{case.get('classname')}::{case.get('name')}") for case in cases]


def junit(path: Path) -> Count:
    """Sums over all suites of a JUnit file; skipped tests are neither passed nor failed."""
    total = Count(times=times(path))
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        total.failed += bad
        total.skipped += skipped
        total.passed += int(suite.get("tests", 0)) - bad - skipped
        for case in suite.iter("testcase"):
            if case.find("failure") is not None or case.find("error") is not None:
                total.names.append(f"{case.get('classname')}::{case.get('name')}")
    return total


def write_junit(path: Path, name: str, seconds: float, failure: str = ""):
    """A JUnit file of one test, for a tool that writes none."""
    attributes = {"name": name, "tests": "1", "failures": str(int(bool(failure))), "errors": "0", "skipped": "0"}
    suite = ElementTree.Element("testsuite", attributes | {"time": f"{seconds:.3f}"})
    case = ElementTree.SubElement(suite, "testcase", {"classname": "vermilion", "name": name, "time": f"{seconds:.3f}"})
    if failure:
        printable = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", failure)  # XML 1.0, 2.2
        ElementTree.SubElement(case, "failure", {"message": f"{name} failed"}).text = printable
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def scalatest(text: str) -> Count:
    """Sums ScalaTest's closing lines; an aborted suite is a failure."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    count = Count()
    for passed, failed in re.findall(r"Tests: succeeded (\d+), failed (\d+)", plain):
        count.passed += int(passed)
        count.failed += int(failed)
    for aborted in re.findall(r"Suites: completed \d+, aborted (\d+)", plain):
        count.failed += int(aborted)
    count.names = [name.strip() for name in re.findall(r"- (.*) \*\*\* FAILED \*\*\*", plain)]
    return count


def slowest(found: list[tuple[float, str]]) -> list[str]:
    """A line for each of the slowest tests that took a second or more, the slowest first."""
    return [f"{seconds:8.1f} s  {name}" for seconds, name in sorted(found, reverse=True)[:SLOWEST] if seconds >= 1]
