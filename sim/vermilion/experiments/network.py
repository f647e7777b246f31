"""Builds the ns-3 program of the experiments (sim/experiments/ns3) and the engines that it loads; scenarios for it.

ns-3 comes from PyPI, pinned in sim/experiments/ns3/requirements.txt, without its Python dependencies, into .vermilion/ns3: once, when an experiment first
needs it. Its CMake and pkg-config files hold paths of the machine that built it, so it is linked by hand.
"""

import importlib.metadata
import os
import random
import sys
from pathlib import Path
from typing import Any

from vermilion.console.screen import Note
from vermilion.profile import quantise
from vermilion.toolchain import build

from . import rtl, runs, settings

HERE = build.ROOT / "sim" / "experiments"
NS3 = build.HOME / "ns3"
LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")
COLOURS = ("green", "yellow", "red")
DSCP = {"green": 10, "yellow": 12, "red": 14}  # AF11, AF12, AF13
NOT_ARRIVALS = ("evicted", "dropped", "left", "left_bytes", "waited_ns", "ce")
LOST = ("early", "forced", "tail", "nobuf", "bad", "policed", "evicted", "dropped")
MS, SECOND = 10**6, 10**9


def ns3(note: Note) -> tuple[Path, str]:
    """Folder of ns-3's headers and libraries, and its version."""
    wanted = HERE / "ns3" / "requirements.txt"
    target = NS3 / wanted.read_text().strip().replace("==", "-")
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    command += ["--target", str(target), "-r", str(wanted)]
    action = lambda: build.run(command, build.BUILD / "ns3.log")
    with build.locked("ns3.lock"):
        build.step(target, build.digest([wanted]), lambda text: note(text, "fetching", "fetched"), "ns-3", action)
    found = next(iter(importlib.metadata.distributions(path=[str(target)])))
    return target / "ns3", found.version


def linked(folder: Path, version: str) -> list[str]:
    """The compiler's words for ns-3's libraries."""
    lib, short = folder / "lib64", ".".join(version.split(".")[:2])
    rpath = f"-Wl,-rpath,$ORIGIN/{os.path.relpath(lib, build.BUILD)}"  # the program lies in build.BUILD
    return [f"-L{lib}", rpath, *(f"-lns{short}-{each}" for each in LIBRARIES)]


def engine(name: str, note: Note, ageing: int | None = None, preset: str = rtl.PRESET) -> tuple[Path, str]:
    """The library that serves the C interface of sim/experiments/engine, and the digest of its sources. `ageing`: build.model_library, of the model only.
    `preset`: of the RTL (rtl.py); the model takes all lanes."""
    if name == "rtl":
        return rtl.library(note, preset)
    library, source = build.model_library(note, ageing), HERE / "engine" / f"{name}_engine.cpp"
    variant = "" if ageing is None else f"-ageing{ageing}"
    made = build.BUILD / f"libvermilion_{name}_engine{variant}.so"
    command = [
        "g++",
        *build.CXX_FLAGS,
        *build.MODEL_FLAGS,
        "-shared",
        "-fPIC",
        source,
        *build.linked(library),
        "-o",
        made,
    ]
    inputs = [source, HERE / "engine" / "engine.h", *build.model_inputs()]
    with build.locked(f"{made.name}.lock"):
        action = lambda: build.run(command, build.BUILD / f"{name}-engine{variant}.log")
        build.step(made, build.digest(inputs, *command), note, f"the engine {name}{variant}", action)
    return made, build.digest(inputs, variant)


def program(name: str, note: Note, ageing: int | None = None, preset: str = rtl.PRESET) -> runs.Program:
    """The program with an engine: scenarios in, results out (sim/experiments/ns3/scenario.h). `ageing`, `preset`: as for `engine`."""
    folder, version = ns3(note)
    library, served = engine(name, note, ageing, preset)
    made = build.BUILD / "vermilion-network"
    sources = [path for path in build.files("sim/experiments/ns3", "*.cpp") if path.parent.name == "ns3"]
    command = [
        "g++",
        *build.CXX_FLAGS,
        *build.MODEL_FLAGS,
        "-isystem",
        folder / "include",
        *sorted(sources),
        "-o",
        made,
    ]
    command += [*linked(folder, version), "-ldl"]
    headers = build.files("sim/experiments/ns3", "*.h") + build.files("sim/experiments/engine", "*.h")
    inputs = [*sources, *headers, build.ROOT / "sim" / "model" / "records.h"]
    with build.locked(f"{made.name}.lock"):
        action = lambda: build.run(command, build.BUILD / "network.log")
        build.step(made, build.digest(inputs, *command), note, "the network simulator", action)
    own = build.digest(inputs, version)
    about = runs.versions(engine=name, ns3=version, sources=f"{served[:16]} {own[:16]}")
    stamps = build.stamps(made, library, build.model_library(note, ageing))
    return runs.Program(made, f"{served} {own}", about, (library,), stamps)


# Pieces of scenarios; the C++ side has no randomness but the lanes' own.


def lane(at: str, name: str, tables: dict[str, Any], seed: int, trace: dict[str, int] | None = None) -> dict[str, Any]:
    """A lane with its draws by `seed`, where traffic leaves node `at`."""
    record = {**quantise.hardware(settings.lane(tables)), "seed": seed}
    return {"at": at, "name": name, "lane": record} | ({"trace": trace} if trace else {})


def link(a: str, b: str, rate: int, delay_ms: float, *lanes: dict[str, Any]) -> dict[str, Any]:
    return {"ends": [a, b], "rate": rate, "delay_ns": round(delay_ms * MS), "lanes": list(lanes)}


def starts(of: str, seed: int, count: int, within_ms: float) -> list[int]:
    """Starting times, ns: the same for every scheme of a seed."""
    source = random.Random(f"{of} {seed}")
    return [int(source.uniform(0, within_ms * MS)) for _ in range(count)]


# Readings of results.


def arrived(lane_: dict[str, Any], colour: str, node: str | None = None) -> int:
    """Packets of a colour that came to a lane."""
    nodes = [node] if node else lane_.get("sources", {})
    return sum(
        sum(n for what, n in lane_["sources"][each][colour].items() if what not in NOT_ARRIVALS) for each in nodes
    )


def lost(lane_: dict[str, Any], colour: str) -> int:
    return sum(per[colour][what] for per in lane_.get("sources", {}).values() for what in LOST)


def loss_percent(lane_: dict[str, Any], colour: str) -> float:
    came = arrived(lane_, colour)
    return 100 * lost(lane_, colour) / came if came else 0.0
