"""Runs emitters of the generator: Mill compiles once for a state of the sources, then a JVM of this process runs them all.

Mill lets one process at a time into a checkout; elaborations that only read what it compiled need not wait for each other.
"""

import json
import os
import threading
from pathlib import Path

from . import steps
from .elaborate import BRIEF, JVM, SERVER, Server
from .scala_source import stripped


def mill_environment() -> dict:
    """Mill's own JVM reads `.mill-jvm-opts`: without the second compiler and with room for what scalac makes and drops, it compiles the
    generator in 45 to 50 s of processor time; with its own choices in 128 s.
    """
    options = {"MILL_JVM_OPTS_PATH": str(steps.ROOT / ".mill-jvm-opts")}
    return os.environ | options | {"MILL_OUTPUT_DIR": str(steps.HOME / "mill")}


def mill(*arguments: str) -> list[str]:
    return ["mill", "--no-server", "--ticker", "false", *arguments]


def state(classes: Path) -> list[int]:
    """How many class files a folder holds and when the last one was written; what Mill compiled by hand changes it."""
    times = [path.stat().st_mtime_ns for path in classes.rglob("*.class")]
    return [len(times), max(times, default=0)]


def compiled(module: str) -> list[Path]:
    """The class path of a module of build.sc, brought up to date by Mill."""
    steps.run(mill(f"{module}.runClasspath"), steps.BUILD / f"{module}.log", env=mill_environment())
    told = steps.HOME.joinpath("mill", *module.split("."), "runClasspath.json")
    return [Path(entry.split(":")[-1]) for entry in json.loads(told.read_text())["value"]]  # "ref:v0:1a2b3c4d:/path"


def class_path(tests: bool = False) -> list[Path]:
    """The class path of `hw`, with its tests or without, compiled anew where a source has changed."""
    module = "hw.test" if tests else "hw"
    note = steps.BUILD / f"{module}.classpath"
    sources = steps.files("hw/src", "*.scala") + (steps.files("hw/test", "*.scala") if tests else [])
    key = steps.digest([steps.ROOT / "build.sc", *sources])
    with steps.locked("mill-lock"):
        if note.exists():
            known = json.loads(note.read_text())
            paths = [Path(path) for path in known["paths"]]
            if known["sources"] == key and known["classes"] == [state(path) for path in paths if path.is_dir()]:
                return paths
        paths = compiled(module)
        classes = [state(path) for path in paths if path.is_dir()]
        note.write_text(json.dumps({"sources": key, "classes": classes, "paths": [str(path) for path in paths]}))
        return paths


def scaladoc() -> Path:
    """The folder of the generator's Scaladoc. A link that leads nowhere is an error."""
    log = steps.BUILD / "scaladoc.log"
    folder = steps.HOME / "mill" / "hw" / "docJar.dest" / "javadoc"
    with steps.locked("mill-lock"):
        steps.step(
            folder, steps.digest([steps.ROOT / "build.sc", *sources()]), steps.quiet, "Scaladoc", lambda: made(log)
        )
    return folder


def made(log: Path):
    """Runs Mill's Scaladoc."""
    steps.run(mill("hw.docJar"), log, env=mill_environment())
    unknown = [line for line in log.read_text().splitlines() if " warning: " in line]
    if unknown:
        raise steps.BuildError(f"Scaladoc has {len(unknown)} warnings, the first: {unknown[0]}")


def test_classes() -> Path:
    """The folder of the compiled tests, where ScalaTest looks for suites."""
    return next(path for path in class_path(tests=True) if path.is_dir() and "test" in path.parts)


def java(main: str, *words: str, tests: bool = False) -> list[str]:
    """The command that runs a main."""
    return ["java", "-cp", os.pathsep.join(map(str, class_path(tests))), main, *words]


def sources() -> list[Path]:
    """The generator's sources, of which the tests are no part."""
    return steps.files("hw/src", "*.scala")


def key(paths: list[Path], *words: str) -> str:
    """A hash of Scala sources without their comments, of build.sc, and of words: what an elaboration depends on."""
    paths = sorted([steps.ROOT / "build.sc", *paths])
    texts = (text for path in paths for text in (path.relative_to(steps.ROOT), stripped(path.read_text())))
    return steps.digest([], *texts, *words)


def emit(folder: Path, log: Path, main: str, *words: str, tests: bool = False):
    """Runs a main that writes SystemVerilog below `folder`. A line number of a Scala source in it, which a comment can change, is
    a fault: `key` leaves comments out.
    """
    run(log, main, *words, tests=tests)
    for path in sorted(folder.rglob("*.sv")):
        if ".scala" in path.read_text():
            raise steps.BuildError(f"{path} names a Scala source; firtool's option --strip-debug-info leaves them out")


_servers: dict[bool, tuple[list, Server]] = {}  # with the state of the classes that each has loaded
_starting = threading.Lock()


def server(tests: bool) -> Server:
    """The JVM for elaborations, with the tests' classes or without; another one where Mill has compiled since."""
    with _starting:
        program, *words = java(SERVER, tests=tests)
        command = [program, *JVM, *BRIEF, *words]
        wanted = [command, [state(path) for path in class_path(tests) if path.is_dir()]]
        known, found = _servers.get(tests, (None, None))
        if found and (known != wanted or not found.lives()):
            found.close()
            found = None
        if not found:
            found = Server(command)
            _servers[tests] = wanted, found
        return found


def run(log: Path, main: str, *words: str, tests: bool = False):
    """Runs an emitter with all it prints in `log`; raises BuildError with the log's end where it fails."""
    server(tests).run(log, main, *words)
