"""The engine `rtl`: the Verilated lane as a library that serves sim/experiments/engine/engine.h, the policy pipeline by itself for the Poisson queue,
and runs of both beside the model's.

Built once, as position-independent code, from the preset `network`, or `network-aqm` for lanes with CoDel, PIE or DualPI2: the lane that the model's session has. `network-flows` has 1,024
queues for groups of flows. The run's own verdicts, averages and departures are hashed by the queue disc, so two engines whose results are equal have decided every packet alike.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vermilion.console.screen import Note
from vermilion.toolchain import build, chisel
from vermilion.toolchain import verilated as compiled

from . import runs

PRESET, AQM, FLOWS = "network", "network-aqm", "network-flows"
POLICY, POLICY_PRESET = "PolicyPipeline", "lab-protected-few-cells"  # a build without markers; of cells it has none
SOURCES = ("verilated_lane.cpp", "build_shape.cpp", "control_access.cpp")  # of the harness


def verilated(folder: Path, prefix: str, top: str, work: Path, note: Note) -> tuple[list[Path | str], str]:
    """Archives of the Verilated module and of Verilator's own part, with the library that it wants, to be linked into a library, and their digest."""
    verilog = sorted(folder.glob("*.sv"))
    verilate = ["verilator", "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert", "-Wno-fatal"]
    verilate += ["--prefix", prefix, "--top-module", top, "--Mdir", str(work), "-CFLAGS", "-fPIC"]
    made = work / "verilated.made"
    key = build.digest(
        [*verilog, Path(compiled.__file__)], *verilate, build.OPTIMISED, build.STANDARD, *build.versions()
    )

    def action() -> None:
        work.mkdir(parents=True, exist_ok=True)
        build.run([*verilate, *verilog], work / "verilator.log")
        compiled.forget_other_compiler(work)
        command = ["make", "-C", work, "-f", f"{prefix}.mk", f"-j{build.CORES}"]
        command += [*compiled.whole(work, prefix, build.OPTIMISED, build.STANDARD), *build.MAKE_VARIABLES]
        build.run(command, work / "make.log")
        made.touch()

    build.step(made, key, note, f"SystemVerilog to a library, {top}", action)
    return [work / f"lib{prefix}.a", work / "libverilated.a", compiled.LIBRARY], key


def flags(work: Path) -> list[str]:
    """For C++ that includes a Verilated module's header."""
    include = Path(os.environ.get("VERILATOR_ROOT", "")) / "include"
    return [*build.CXX_FLAGS, *build.MODEL_FLAGS, "-isystem", str(include), "-isystem", str(work)]


def library(note: Note, preset: str = PRESET) -> tuple[Path, str]:
    """The shared library of the lane, and its digest."""
    model, driver = build.model_library(note), build.driver_library(note)
    made = build.BUILD / f"libvermilion_rtl_engine{preset.removeprefix(PRESET)}.so"
    engine = build.ROOT / "sim" / "experiments" / "engine"
    sources = sorted(engine.glob("rtl_*.cpp")) + [build.ROOT / "sim" / "harness" / name for name in SOURCES]
    headers = [engine / "engine.h", engine / "rtl_session.h", *build.files("sim/harness", "*.h")]
    with build.locked(f"{preset}.lock"):
        folder, work = build.system_verilog(preset, note), build.BUILD / preset / "obj-library"
        archives, key = verilated(folder, build.PREFIX, build.top_module(folder), work, note)
        command = ["g++", *flags(work), "-shared", "-fPIC"]
        command += [*build.MODEL_FLAGS, f"-I{build.ROOT / 'sim' / 'harness'}"]
        command += [word.replace("\\", "") for word in build.definitions(preset, "")]
        command += [
            *map(str, (*sources, *archives)),
            *build.linked(model),
            *build.linked(driver),
            "-pthread",
            "-o",
            str(made),
        ]
        digest = build.digest(sources + headers + build.model_inputs(), key, *command)
        build.step(made, digest, note, "the engine rtl", lambda: build.run(command, build.BUILD / "rtl-engine.log"))
    return made, digest


def policy(note: Note) -> tuple[list[Path | str], list[str], str]:
    """The policy pipeline by itself: archives, compiler's words and digest. To be called with the build locked."""
    folder, work = build.BUILD / "policy" / "sv", build.BUILD / "policy" / "obj"
    key = chisel.key(chisel.sources(), POLICY, POLICY_PRESET)

    def action() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        chisel.emit(folder, folder.with_suffix(".log"), "vermilion.lane.EmitBlock", POLICY, POLICY_PRESET, str(folder))

    build.step(folder, key, note, "Chisel to SystemVerilog, the policy pipeline", action)
    archives, key = verilated(folder, "VPolicy", POLICY, work, note)
    return archives, flags(work), key


@dataclass(frozen=True)
class Beside:
    """Runs of the RTL beside the model's: all that a run gives, its hash of verdicts and departures with it, is equal or not."""

    runs: int
    differing: list[str]  # of runs and seeds
    packets: int  # decided
    hashes: dict[str, str]  # of each run and seed

    def sentence(self) -> str:
        text = f"same verdicts as the model: {self.runs - len(self.differing)} of {self.runs} runs ({self.packets:,} packets)"
        return text + (f"; others in {', '.join(self.differing[:8])}" if self.differing else "")

    def record(self) -> dict[str, Any]:
        return {"sentence": self.sentence(), "differing": self.differing, "hashes": self.hashes}


def beside_the_model(results: runs.Results, wanted: runs.Results) -> Beside:
    """The RTL's results beside the model's of the same runs."""
    names = {(name, seed): f"{name}, seed {seed}" for name, by_seed in results.items() for seed in by_seed}
    differing = [text for (name, seed), text in names.items() if results[name][seed] != wanted[name][seed]]
    fates = {text: results[name][seed]["fates"] for (name, seed), text in names.items()}
    packets = sum(lane["decided"] for each in fates.values() for lane in each["lanes"])
    return Beside(len(names), differing, packets, {text: each["hash"] for text, each in fates.items()})
