"""`vermilion test`: formatters, pytest of the Python side, ScalaTest, cocotb; ends with the line `N passed, N failed`.

Every part counts what its own tool reports; a part whose tool fails without a count is one failure.
"""

import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from . import build, chisel

LOGS = build.HOME / "test"


@dataclass
class Count:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    names: list[str] = field(default_factory=list)  # of tests that failed


def execute(command: list, log: Path, cwd: Path = build.ROOT) -> int:
    """Runs a tool with all it prints in `log`; a tool that cannot be started has failed."""
    with log.open("w") as out:
        try:
            return subprocess.run(
                [str(c) for c in command],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                cwd=cwd,
                env=chisel.mill_environment(),
            ).returncode
        except OSError as error:
            out.write(f"{command[0]}: {error.strerror}\n")
            return 127


def end_of(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines()[-40:] if log.exists() else []


def formatter(command: list, log: Path) -> Count:
    return Count(1, 0) if execute(command, log) == 0 else Count(0, 1)


def junit(path: Path) -> Count:
    """Sums over all suites of a JUnit file; skipped tests are neither passed nor failed."""
    total = Count()
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


def is_test_file(name: str) -> bool:
    """Whether `name` is a file of Python or cocotb tests, from the top of the project."""
    path = (build.ROOT / name).resolve()
    return re.fullmatch(r"test_\w+\.py", path.name) is not None and path.is_file() and path.is_relative_to(build.ROOT)


def pytest(folder: str, log: Path) -> Count:
    """The tests of a folder, or of one file."""
    tests = list((build.ROOT / folder).rglob("test_*.py"))
    if not tests and not is_test_file(folder):
        log.write_text(f"{folder} holds no test_*.py\n")
        return Count()
    result = log.with_suffix(".xml")
    result.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder, f"--junitxml={result}"]
    command += [
        "-n",
        build.CORES,
        "--dist",
        "loadfile",
        "--no-loadscope-reorder",
    ]  # a file's tests share what they build
    status = execute(command, log)
    if not result.exists():
        return Count(0, 1)
    count = junit(result)
    return Count(count.passed, 1, count.skipped) if status and not count.failed else count


def scala(log: Path) -> Count:
    if not build.files("hw/test", "*.scala"):
        log.write_text("hw/test holds no tests\n")
        return Count()
    try:
        classes = chisel.test_classes()
        runner = chisel.java("org.scalatest.tools.Runner", "-R", str(classes), "-oWD", f"-P{build.CORES}", tests=True)
    except build.BuildError as error:
        log.write_text(f"{error}\n")
        return Count(0, 1)
    folder = LOGS / "scala"
    folder.mkdir(exist_ok=True)
    status = execute(runner, log, cwd=folder)
    count = scalatest(log.read_text(errors="replace"))
    return Count(count.passed, 1) if (status or not count.passed) and not count.failed else count


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


def generated(path: Path) -> bool:
    """Whether a file's first line says that a program wrote it; its form is that program's affair."""
    with path.open(errors="replace") as handle:
        return "Generated from" in handle.readline()


def c_sources() -> list[Path]:
    """C and C++; the form of each folder is that of the nearest `.clang-format`."""
    found = build.files("sim", "*.cpp", "*.c", "*.h") + build.files("sw_driver", "*.c", "*.h")
    return [path for path in found if not generated(path)]


def parts() -> dict:
    """Name and action of each part, in the order in which they run."""
    cpp = c_sources()
    python = [folder for folder in ("sim", "cocotb_tests", "fpga", "sw_driver") if build.files(folder, "*.py")]
    out = {"format-scala": lambda log: formatter(chisel.mill("hw.checkFormat"), log)}
    out["format-scala-tests"] = lambda log: formatter(chisel.mill("hw.test.checkFormat"), log)
    if cpp:
        out["format-cpp"] = lambda log: formatter(["clang-format", "--dry-run", "-Werror", *cpp], log)
    out["format-python"] = lambda log: formatter(
        [sys.executable, "-m", "black", "-q", "--check", "--diff", *python], log
    )
    out["python"] = lambda log: pytest("sim/tests", log)
    out["scala"] = scala
    out["cocotb"] = lambda log: pytest("cocotb_tests", log)
    return out


def reformat(say) -> int:
    """`vermilion format`: brings every source into the form that the checks want."""
    LOGS.mkdir(parents=True, exist_ok=True)
    cpp = c_sources()
    python = [folder for folder in ("sim", "cocotb_tests", "fpga", "sw_driver") if build.files(folder, "*.py")]
    status = 0
    for name, command in {
        "Scala": chisel.mill("hw.reformat"),
        "Scala tests": chisel.mill("hw.test.reformat"),
        "C++": ["clang-format", "-i", *cpp],
        "Python": [sys.executable, "-m", "black", "-q", *python],
    }.items():
        say(f"formatting {name} ...")
        log = LOGS / "format.log"
        if execute(command, log):
            say(log.read_text(errors="replace"))
            status = 1
    return status


def run(only: tuple[str, ...], say) -> int:
    """Runs the parts, all of them or those named; returns the exit status."""
    LOGS.mkdir(parents=True, exist_ok=True)
    total, chosen = Count(), {name: part for name, part in parts().items() if not only or name in only}
    for file in filter(is_test_file, only):
        chosen[Path(file).stem] = lambda log, file=file: pytest(file, log)
    for number, (name, part) in enumerate(chosen.items(), 1):
        say(f"[{number}/{len(chosen)}] {name} ...")
        began, log = time.monotonic(), LOGS / f"{name}.log"
        try:
            count = part(log)
        except (OSError, ElementTree.ParseError) as error:  # a full disk, a result that breaks off
            count = Count(0, 1)
            say(f"[{number}/{len(chosen)}] {name}: {type(error).__name__}: {error}")
        skipped = f", {count.skipped} skipped" if count.skipped else ""
        took = f"{time.monotonic() - began:.0f} s"
        say(f"[{number}/{len(chosen)}] {name}: {count.passed} passed, {count.failed} failed{skipped}, {took}")
        if count.failed:
            say("\n".join("    " + text for text in end_of(log)))
            say(f"    all of it: {os.path.relpath(log)}")
        total.passed += count.passed
        total.failed += count.failed
        total.names += [
            f"{name}: {each}" for each in count.names or [f"see {os.path.relpath(log)}"] * (count.failed > 0)
        ]
    for each in total.names:
        say(f"failed: {each}")
    say(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0
