"""ScalaTest's suites for `vermilion test`: which there are, and JVMs that run them, one on each core."""

import os
import re
from collections import deque
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from vermilion.toolchain import build, chisel, steps, verilated
from vermilion.toolchain.elaborate import JVM, SERVER, Server

from .suite_results import scalatest

JVMS = 8  # at most


def precompiled() -> Path:
    """Verilator's header for the two files that a simulation compiles with it."""
    parts = ("COVERAGE", "SC", "TIMING", "TRACE", "TRACE_FST", "TRACE_VCD", "TRACE_SAIF")
    return verilated.precompiled(["-O1", verilated.STANDARD, *(f"-DVM_{part}=0" for part in parts)])


def simulations(header: Path | None = None) -> dict:
    """The environment of ScalaTest's simulations: one compilation for a block whatever the test, through ccache."""
    words = ["OPT_FAST=-O1", "VM_PARALLEL_BUILDS=0", *verilated.COMPILER, f"CFG_CXXFLAGS_STD={verilated.STANDARD}"]
    make = {"OBJCACHE": str(Path(__file__).with_name("anywhere.sh")), "MAKEFLAGS": " ".join(words)}
    if header:
        make["PRECOMPILED"] = str(header)
    return steps.environment() | make


def suites() -> list[str]:
    """ScalaTest's suites, those with the longest sources first; BuildError for one that would not be found."""
    found = []
    for path in build.files("hw/test", "*.scala"):
        text = path.read_text()
        named = re.findall(r"^class (\w+) extends Any(?:FunSuite|FlatSpec)\b", text, re.M)
        styles = re.findall(r"^import org\.scalatest\.\w+\.Any\w+", text, re.M)
        if len(named) != len(re.findall(r"\bextends\s+Any(?!Val\b|Ref\b)\w", text)) or bool(styles) != bool(named):
            raise build.BuildError(
                f"{path}: a suite must begin with a line `class NAME extends AnyFunSuite` or AnyFlatSpec"
            )
        package = re.search(r"^package (\S+)$", text, re.M)
        if package is None:
            raise build.BuildError(f"{path}: a suite must have a line `package NAME`")
        found += [(-len(text), f"{package[1]}.{name}") for name in named]
    return [name for _, name in sorted(found)]


class Suites:
    """Runs ScalaTest's suites, one after the other on each core, in a JVM a core; each suite leaves a log in `folder`.

    The JVM and the simulations that it starts have one core: they wait for each other at every look at a port, and to wake a process on another
    core takes several times as long.
    """

    def __init__(self, names: list[str], folder: Path):
        self.names, self.folder = deque(names), folder
        self.servers: list[Server] = []
        self.header = precompiled()
        self.command = chisel.java(SERVER, tests=True)
        self.words = ["-R", str(chisel.test_classes()), "-oWD", "-u", str(folder / "junit")]

    def start(self, core: int) -> Server:
        program, *words = self.command
        pinned = ["taskset", "-c", str(core), program, *JVM, *words]
        server = Server(pinned, cwd=self.folder, env=simulations(self.header))
        self.servers.append(server)
        return server

    def work(self, core: int):
        """Until no suite is left."""
        server = None
        while True:
            try:
                name = self.names.popleft()
            except IndexError:
                break
            log = self.folder / f"{name}.log"
            try:
                server = server if server and server.lives() else self.start(core)
                server.run(log, "vermilion.RunSuite", *self.words, "-s", name)
            except build.BuildError as error:
                if not log.exists() or not scalatest(log.read_text(errors="replace")).failed:
                    with log.open("a") as out:
                        out.write(f"Suites: completed 0, aborted 1\n{error}\n")
        if server:
            server.close()

    def run(self):
        cores = sorted(os.sched_getaffinity(0))[: min(len(self.names), JVMS)]
        with ThreadPoolExecutor(len(cores)) as pool:
            running = [pool.submit(self.work, core) for core in cores]
            try:
                for each in wait(running, return_when=FIRST_EXCEPTION).done:
                    each.result()
            except BaseException:  # a signal: what runs is stopped, and nothing more begins
                self.names.clear()
                for server in self.servers:
                    server.process.kill()
                raise
