"""The engine `rtl`: the Verilated lane as a library that serves sim/experiments/engine/engine.h, and its runs beside the model's.

Built once, as position-independent code, from the preset `network`: the lane that the model's session has. The run's own verdicts, averages
and departures are hashed by the queue disc, so two engines whose results are equal have decided every packet alike.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from .. import build
from . import runs

PRESET = "network"
SOURCES = ("verilated_lane.cpp", "control_access.cpp")  # of the harness


def library(note):
    """The shared library, and its digest."""
    model = build.model_library(note)
    made = build.BUILD / "libvermilion_rtl_engine.so"
    own = sorted(build.files("sim/experiments/engine", "rtl_*.cpp"))
    sources = own + [build.ROOT / "sim" / "harness" / name for name in SOURCES]
    engine = build.ROOT / "sim" / "experiments" / "engine"
    headers = [engine / "engine.h", engine / "rtl_session.h", *build.files("sim/harness", "*.h")]
    with build.locked():
        folder = build.system_verilog(PRESET, note)
        verilog, work = sorted(folder.glob("*.sv")), build.BUILD / PRESET / "obj-library"
        verilate = ["verilator", "--cc", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--assert", "-Wno-fatal"]
        verilate += ["--prefix", build.PREFIX, "--top-module", build.top_module(folder), "--Mdir", work]
        verilate += ["-CFLAGS", "-fPIC"]
        compiled = work / "verilated.made"
        verilated = build.digest(verilog, *verilate)

        def translate():
            work.mkdir(parents=True, exist_ok=True)
            build.run([*verilate, *verilog], work / "verilator.log")
            command = ["make", "-C", work, "-f", f"{build.PREFIX}.mk", f"-j{os.cpu_count() or 1}"]
            command += ["OPT_FAST=-O2", "OPT_GLOBAL=-O2", *build.MAKE_VARIABLES]
            build.run(command, work / "make.log")
            compiled.touch()

        build.step(compiled, verilated, note, f"SystemVerilog to a library, preset {PRESET}", translate)
        include = os.path.join(os.environ.get("VERILATOR_ROOT", ""), "include")
        flags = [*build.CXX_FLAGS, "-shared", "-fPIC", "-isystem", include, "-isystem", work]
        flags += [f"-I{build.ROOT / 'sim' / each}" for each in ("model", "harness")]
        flags += [word.replace("\\", "") for word in build.definitions(PRESET, "")]
        command = ["g++", *flags, *sources, work / f"lib{build.PREFIX}.a", work / "libverilated.a", model]
        command += [f"-Wl,-rpath,{model.parent}", "-pthread", "-o", made]
        digest = build.digest(sources + headers + build.files("sim/model", "*.cpp", "*.h"), verilated, *command)
        build.step(made, digest, note, "the engine rtl", lambda: build.run(command, build.BUILD / "rtl-engine.log"))
    return made, digest


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

    def record(self) -> dict:
        return {"sentence": self.sentence(), "differing": self.differing, "hashes": self.hashes}


def beside_the_model(plan: list[runs.Run], results: dict, model: runs.Program, folder: Path, jobs: int) -> Beside:
    """Has the model do the same runs, where it has not."""
    wanted = runs.Runner(model, folder, jobs).all(plan)
    names = {(run.name, run.seed): f"{run.name}, seed {run.seed}" for run in plan}
    differing = [text for (name, seed), text in names.items() if results[name][seed] != wanted[name][seed]]
    fates = {text: results[name][seed]["fates"] for (name, seed), text in names.items()}
    packets = sum(lane["decided"] for each in fates.values() for lane in each["lanes"])
    return Beside(len(plan), differing, packets, {text: each["hash"] for text, each in fates.items()})
