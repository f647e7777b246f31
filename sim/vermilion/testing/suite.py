"""`vermilion test`: formatters, linters, pytest of the Python side, ScalaTest, cocotb; ends with the line `N passed, N failed`.

Every part counts what its own tool reports; a part whose tool fails without a count is one failure. Each part leaves its log and
a JUnit file in `.vermilion/test`: PART.log and PART.xml; ScalaTest a file for each class, in `scala/junit`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from vermilion.toolchain import build, chisel

from . import cpp_lint
from .scala_suites import Suites, suites
from .suite_results import Count, junit, scalatest, slowest, times, write_junit

LOGS = build.HOME / "test"
PYTEST = {"python": "sim/tests", "cocotb": "cocotb_tests"}  # parts that pytest runs, and their folders
QUICK = "quick"  # formatters, linters, and the tests of the Python side with this marker
FORMAT = "format"  # formatters and linters
FORMS = ("format-", "lint-")  # how the names of their parts begin
RUFF = [sys.executable, "-m", "ruff"]
SOURCES = ("hw", "sim", "cocotb_tests", "fpga", "sw_driver", "docs")
IMPORTABLE = {"PYTHONPATH": f"{build.ROOT / 'sim'}:{build.ROOT / 'sw_driver/tools'}"}
SPELT = tuple(f"*.{end}" for end in "md py scala c cpp h rdl toml yaml sh sc tcl html js".split())
SLOWER = ("slow", "guest", "proof", "long")  # markers in pyproject.toml: a test with none of them is quick
NOTHING_COLLECTED = 5  # pytest's status where no test fits its options


@dataclass(frozen=True)
class Shard:
    """A share of the tests of one of pytest's parts, by a marker or by the entries of the part's folder."""

    part: str
    marker: str = ""
    only: tuple[str, ...] = ()  # the entries of the folder that hold its tests; none: all of them
    without: tuple[str, ...] = ()  # the entries that it leaves out

    def targets(self) -> list[str]:
        """Folders and files for pytest. A new one belongs to a shard without being named here."""
        folder = PYTEST[self.part]
        if not self.only and not self.without:
            return [folder]
        holding = {path.relative_to(build.ROOT / folder).parts[0] for path in build.files(folder, "test_*.py")}
        return [f"{folder}/{name}" for name in sorted((set(self.only) or holding) - set(self.without))]


# Each test of a part is in exactly one of its shards: a part in several jobs of continuous integration.
SHARDS = {
    "python-main": Shard("python", marker="not guest and not proof"),
    "guests": Shard("python", marker="guest"),
    "proofs": Shard("python", marker="proof and not guest"),
    "cocotb-a": Shard("cocotb", only=("blocks",)),
    "cocotb-b": Shard("cocotb", without=("blocks",)),
}
# Parts that hold all tests of another part, which then does not run again.
HOLDING = {name: {shard.part} for name, shard in SHARDS.items()} | {QUICK: {"python", "python-main"}}


@dataclass(frozen=True)
class Choice:
    """Which of pytest's tests run, and how."""

    expression: str = ""
    marker: str = ""
    failed: bool = False  # only those that failed when they last ran
    first: bool = False  # stops at the first failure
    seed: int | None = None

    def options(self) -> list[str]:
        """The options given that only pytest's parts take."""
        given = {"-k": self.expression, "-m": self.marker, "--lf": self.failed, "--seed": self.seed is not None}
        return [option for option, value in given.items() if value]

    def within(self, marker: str) -> "Choice":
        """The same, of the tests with a marker alone."""
        both = " and ".join(f"({each})" if " " in each else each for each in (marker, self.marker) if each)
        return replace(self, marker=both)

    def words(self) -> list[str]:
        """For pytest's command line."""
        words = ["-k", self.expression] if self.expression else []
        words += ["-m", self.marker] if self.marker else []
        words += ["--lf", "--lfnf", "none"] if self.failed else []
        return words + ["-x"] * self.first


EVERYTHING = Choice()


def execute(
    command: list, log: Path, cwd: Path | None = None, choice: Choice = EVERYTHING, variables: dict | None = None
) -> int:
    """Runs a tool with all it prints in `log`; a tool that cannot be started has failed. `variables`: its environment's, beside the rest."""
    seed = {} if choice.seed is None else {"VERMILION_SEED": str(choice.seed)}
    with log.open("w") as out:
        try:
            return subprocess.run(
                [str(c) for c in command],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                cwd=cwd or build.ROOT,
                env=chisel.mill_environment() | (variables or {}) | seed,
            ).returncode
        except OSError as error:
            out.write(f"{command[0]}: {error.strerror}\n")
            return 127


def end_of(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines()[-40:] if log.exists() else []


def formatter(command: list, log: Path, variables: dict | None = None) -> Count:
    return one(lambda log: execute(command, log, variables=variables), log)


def one(check, log: Path) -> Count:
    """A part that counts as one test: `check(log)` gives its status."""
    began = time.monotonic()
    status, result = check(log), log.with_suffix(".xml")
    failure = "\n".join(end_of(log)) or f"status {status}" if status else ""
    write_junit(result, log.stem, time.monotonic() - began, failure)
    return Count(0, 1, times=times(result)) if status else Count(1, 0, times=times(result))


def is_test(name: str) -> bool:
    """Whether `name` is a file of Python or cocotb tests, from the top of the project, or FILE::TEST."""
    path = (build.ROOT / name.split("::")[0]).resolve()
    return re.fullmatch(r"test_\w+\.py", path.name) is not None and path.is_file() and path.is_relative_to(build.ROOT)


def failed_before(targets: list[str]) -> list[str]:
    """Those of the targets, or files of theirs, where a test failed when it last ran: pytest runs all others in full."""
    try:
        known = json.loads((LOGS / "cache/v/cache/lastfailed").read_text())
    except (OSError, ValueError):
        return []
    found = set()
    for target in targets:
        for test in known:
            file = test.split("::")[0]
            if test.startswith((f"{target}::", f"{target}[")) or test == target:
                found.add(target)
            elif test.startswith(f"{target}/") and (build.ROOT / file).exists():
                found.add(file)
    return sorted(found)


def pytest(targets: list[str], log: Path, choice: Choice = EVERYTHING) -> Count:
    """The tests of a folder, of a file, or some of a file's."""
    if not any(is_test(each) or list((build.ROOT / each).rglob("test_*.py")) for each in targets):
        log.write_text(f"{' '.join(targets)} holds no test_*.py\n")
        return Count()
    result = log.with_suffix(".xml")
    result.unlink(missing_ok=True)
    if choice.failed:
        targets = failed_before(targets)
        if not targets:
            log.write_text("no test failed when it last ran\n")
            return Count()
    command = [sys.executable, "-m", "pytest", "-q", f"--rootdir={build.ROOT}", "-o", f"cache_dir={LOGS / 'cache'}"]
    command += [*targets, f"--junitxml={result}", *choice.words()]
    # Tests of a file share what they build. More workers than cores: some wait, for a build of another's or for a guest.
    waiting = 1 if any(target.startswith(PYTEST["cocotb"]) for target in targets) else 2
    command += ["-n", str(build.CORES + waiting), "--dist", "loadfile", "--no-loadscope-reorder"]
    status = execute(command, log, choice=choice)
    if status == NOTHING_COLLECTED and choice.options():
        return Count()
    if not result.exists():
        return Count(0, 1)
    count = junit(result)
    if status and not count.failed:
        count.failed = 1
    return count


def scala(log: Path) -> Count:
    if not build.files("hw/test", "*.scala"):
        log.write_text("hw/test holds no tests\n")
        return Count()
    folder = LOGS / "scala"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "junit").mkdir(parents=True)
    try:
        Suites(suites(), folder).run()
    except build.BuildError as error:
        log.write_text(f"{error}\n")
        return Count(0, 1)
    log.write_text("".join(path.read_text(errors="replace") for path in sorted(folder.glob("*.log"))))
    count = scalatest(log.read_text())
    count.times = [pair for path in (folder / "junit").glob("*.xml") for pair in times(path)]
    if not count.passed and not count.failed:
        count.failed = 1
    return count


def mark_quick(items, others: str = QUICK):
    """Marks each test that has no marker of the slower ones."""
    for item in items:
        if not any(item.get_closest_marker(name) for name in (*SLOWER, QUICK)):
            item.add_marker(others)


def interleave(items, first: tuple[str, ...] = ()):
    """Puts files of quick tests between those of slow ones: a core has work while a file waits for what another one builds, and the end is short.
    `first`: names of slow files that come before the others.
    """
    files: dict[Path, list] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    slow = [file for file, held in files.items() if not all(item.get_closest_marker(QUICK) for item in held)]
    quick = [file for file in files if file not in set(slow)]
    slow.sort(key=lambda file: Path(file).name not in first)
    order = [file for pair in zip_longest(slow, quick) for file in pair if file is not None]
    items[:] = [item for file in order for item in files[file]]


def generated(path: Path) -> bool:
    """Whether a file's first line says that a program wrote it; its form is that program's affair."""
    with path.open(errors="replace") as handle:
        return "Generated from" in handle.readline()


def tool(name: str) -> str:
    """A program of the Python packages."""
    return str(Path(sys.executable).with_name(name))


def tracked(*patterns: str) -> list[str]:
    """Files of the project whose names match one of the patterns: those in Git, or all where the folder is no checkout."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=build.ROOT, capture_output=True, text=True)
    if not listed.returncode:
        return [name for name in listed.stdout.splitlines() if (build.ROOT / name).is_file()]
    top = (path for folder in SOURCES for path in (build.ROOT / folder).rglob("*") if path.is_file())
    return [str(path.relative_to(build.ROOT)) for path in top if any(path.match(pattern) for pattern in patterns)]


def shell_sources() -> list[str]:
    """Scripts of bash and sh."""
    return [name for name in ("vermilion", ".ci/run") if (build.ROOT / name).exists()] + tracked("*.sh")


def texts() -> list[str]:
    """What a spelling checker reads: prose and sources, no data."""
    return tracked(*SPELT)


def c_sources() -> list[Path]:
    """C and C++; the form of each folder is that of the nearest `.clang-format`."""
    found = build.files("sim", "*.cpp", "*.c", "*.h") + build.files("sw_driver", "*.c", "*.h")
    return [path for path in found if not generated(path)]


def parts(choice: Choice = EVERYTHING) -> dict:
    """Name and action of each part, in the order in which they run."""
    cpp = c_sources()
    python = [folder for folder in ("sim", "cocotb_tests", "fpga", "sw_driver") if build.files(folder, "*.py")]
    scala_form = chisel.mill("hw.checkFormat", "+", "hw.test.checkFormat")
    out = {"format-scala": lambda log: formatter(scala_form, log)}
    if cpp:
        out["format-cpp"] = lambda log: formatter(["clang-format", "--dry-run", "-Werror", *cpp], log)
    out["format-python"] = lambda log: formatter([*RUFF, "format", "-q", "--diff", *python], log)
    if cpp:
        out["lint-cpp"] = lambda log: one(cpp_lint.run, log)
    out["lint-python"] = lambda log: formatter([*RUFF, "check", "-q", *python], log)
    out["lint-imports"] = lambda log: formatter([tool("lint-imports"), "--no-cache"], log, variables=IMPORTABLE)
    out["lint-types"] = lambda log: formatter([tool("mypy")], log)
    out["lint-shell"] = lambda log: formatter([tool("shellcheck"), *shell_sources()], log)
    out["lint-spelling"] = lambda log: formatter([tool("codespell"), *texts()], log)
    out["python"] = lambda log: pytest([PYTEST["python"]], log, choice)
    out["scala"] = scala
    out["cocotb"] = lambda log: pytest([PYTEST["cocotb"]], log, choice)
    return out


def legal() -> list[str]:
    """The names of all parts for the command line: groups and shards too."""
    return [QUICK, FORMAT, *parts(), *SHARDS]


def takes_options(part: str) -> bool:
    """Whether pytest runs the part."""
    return part == QUICK or part in PYTEST or part in SHARDS


def reformat(say) -> int:
    """`vermilion format`: brings every source into the form that the checks want."""
    LOGS.mkdir(parents=True, exist_ok=True)
    cpp = c_sources()
    python = [folder for folder in ("sim", "cocotb_tests", "fpga", "sw_driver") if build.files(folder, "*.py")]
    status = 0
    commands: dict[str, list] = {
        "Scala": chisel.mill("hw.reformat"),
        "Scala tests": chisel.mill("hw.test.reformat"),
        "C++": ["clang-format", "-i", *cpp],
        "Python": [*RUFF, "format", "-q", *python],
        "imports": [*RUFF, "check", "-q", "--select", "I", "--fix", *python],
    }
    for name, command in commands.items():
        say(f"formatting {name} ...")
        log = LOGS / "format.log"
        if execute(command, log):
            say(log.read_text(errors="replace"))
            status = 1
    return status


def chosen(only: tuple[str, ...], choice: Choice) -> dict:
    """Name and action of the parts to run: all, or those named; of options for pytest alone, its own. No test of a part runs twice."""
    known = parts(choice)
    names = set(only) or (set(PYTEST) if choice.options() else set(known))
    if FORMAT in names or (QUICK in names and not choice.options()):
        names |= {name for name in known if name.startswith(FORMS)}
    out = {name: part for name, part in known.items() if name in names}
    for name, shard in (SHARDS | {QUICK: Shard("python", marker=QUICK)}).items():
        if name in names and not names & HOLDING[name]:
            out[name] = lambda log, shard=shard: pytest(shard.targets(), log, choice.within(shard.marker))
    files: dict[str, list[str]] = {}
    for test in filter(is_test, only):
        file, *inside = test.split("::", 1)
        file = str((build.ROOT / file).resolve().relative_to(build.ROOT))
        files.setdefault(file, []).append("::".join([file, *inside]))
    for file, tests in files.items():
        name = Path(file).stem
        name = name if name not in out else file.replace("/", ".")
        out[name] = lambda log, tests=tests: pytest(tests, log, choice)
    return out


def run(only: tuple[str, ...], say, choice: Choice = EVERYTHING) -> int:
    """Runs the parts, all of them or those named; returns the exit status."""
    LOGS.mkdir(parents=True, exist_ok=True)
    total, todo = Count(), chosen(only, choice)
    for number, (name, part) in enumerate(todo.items(), 1):
        say(f"[{number}/{len(todo)}] {name} ...")
        began, log = time.monotonic(), LOGS / f"{name}.log"
        try:
            count = part(log)
        except (OSError, ElementTree.ParseError) as error:  # a full disk, a result that breaks off
            count = Count(0, 1)
            say(f"[{number}/{len(todo)}] {name}: {type(error).__name__}: {error}")
        skipped = f", {count.skipped} skipped" if count.skipped else ""
        took = f"{time.monotonic() - began:.0f} s"
        say(f"[{number}/{len(todo)}] {name}: {count.passed} passed, {count.failed} failed{skipped}, {took}")
        if count.failed:
            say("\n".join("    " + text for text in end_of(log)))
            say(f"    all of it: {os.path.relpath(log)}")
        if not count.passed + count.failed + count.skipped:
            say("\n".join("    " + text for text in end_of(log)[-1:]))
        total.passed += count.passed
        total.failed += count.failed
        total.names += [
            f"{name}: {each}" for each in count.names or [f"see {os.path.relpath(log)}"] * (count.failed > 0)
        ]
        total.times += [(seconds, f"{name}: {each}") for seconds, each in count.times]
        if choice.first and total.failed:
            break
    if lines := slowest(total.times):
        say("\n".join(["slowest tests:", *lines]))
    for each in total.names:
        say(f"failed: {each}")
    say(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed or not total.passed else 0
