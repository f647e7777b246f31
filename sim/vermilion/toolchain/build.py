"""Builds what a run needs, and nothing twice: each step is skipped while the content it was made from is the same.

    Chisel --mill--> <preset>/sv/*.sv --verilator, clang++--> <preset>/vermilion-sim     sim/model/*.cpp --g++--> libvermilion_model.so
    sim/harness/*.cpp but RTL_ONLY, sim/model/*.cpp --g++--> <preset>/vermilion-model
                                                                                          sw_driver/lib/*.c --gcc--> libvermilion_driver.so
                     the simulator's objects, sim/harness/device/*.cpp --g++--> <preset>/vermilion-device

Everything lies in `.vermilion/build/`. A step's inputs (file contents and its command line) are hashed into `<output>.made`.
"""

import importlib.metadata
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from vermilion.values.fields import UserError

from . import chisel, undefined, verilated

# `build.X` is how others write these
from .presets import FOR_BENCHES, PRESETS, RTL_ONLY, SEVERAL, Preset, definitions, shape  # noqa: F401
from .steps import (  # noqa: F401
    BUILD,
    CORES,
    HOME,
    INSTALLED,
    ROOT,
    UPLOT,
    BuildError,
    digest,
    files,
    is_made,
    locked,
    quiet,
    run,
    stamps,
    step,
)

PREFIX = "Vlane"  # C++ class of the Verilated lane, whatever the module is called
STANDARD = "-std=gnu++20"
CXX_FLAGS = ["-O2", STANDARD, "-Wall", "-Wextra"]
OPTIMISED = "-O1"  # of what Verilator wrote: two thirds of the time that -O2 takes to compile, and as fast (preset lab)
C_FLAGS = ["-O2", "-std=gnu11", "-Wall", "-Wextra", "-Wconversion"]  # gnu11: the kernel's
# Builds of the simulator beside the plain one, each a program of its own, and what Verilator is told for them.
VARIANTS = {
    "": [],
    "vcd": ["--trace"],  # waveforms slow a run
    "fst": ["--trace-fst"],
    "undefined": ["--x-assign", "unique", "--x-initial", "unique"],  # random at request: sim/harness/undefined.h
}
DRIVER = "sw_driver/lib"  # the simulator programs its registers with the driver's code
MODEL_FLAGS = [f"-I{ROOT / 'sim/model'}", f"-I{ROOT / DRIVER}"]
HARNESS_FLAGS = [*CXX_FLAGS, *MODEL_FLAGS, f"-I{ROOT / 'sim/harness'}"]
MAKE_VARIABLES = [
    "CFG_CXXFLAGS_PCH_I=-include",
    "CFG_LDLIBS_THREADS=-pthread",
    "CFG_CXXFLAGS_COROUTINES=-fcoroutines",
]
SHAPED = {"verilated_lane", "build_shape"}  # files of the harness that are compiled for each build of the lane
SHAPE = ROOT / "sim/harness/build_shape.cpp"


def verilator_version() -> str:
    return importlib.metadata.version("verilator")


def versions() -> tuple[str, str]:
    """Of the tools that make a program of SystemVerilog."""
    return verilator_version(), verilated.compiler_version()


def system_verilog(preset: str, say=quiet) -> Path:
    """The folder with the lane's SystemVerilog."""
    folder = BUILD / preset / "sv"
    key = chisel.key(chisel.sources(), preset)

    def action():
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("*.sv"):
            old.unlink()
        chisel.emit(folder, BUILD / preset / "chisel.log", "vermilion.lane.EmitLane", preset, str(folder))
        if not list(folder.glob("*.sv")):
            raise BuildError(f"EmitLane wrote no .sv file; log {BUILD / preset / 'chisel.log'}")

    step(folder, key, say, f"Chisel to SystemVerilog, preset {preset}", action)
    return folder


def top_module(folder: Path) -> str:
    """The module to simulate: the one of the folder's files that no other file instantiates."""
    texts = {path.stem: path.read_text() for path in sorted(folder.glob("*.sv"))}
    used = {
        name for text in texts.values() for name in re.findall(r"^\s+(\w+) (?:#\(.*?\) )?\w+ \(", text, re.M | re.S)
    }
    tops = [name for name, text in texts.items() if name not in used and re.search(rf"^module {name}\b", text, re.M)]
    if len(tops) != 1:
        raise BuildError(f"{folder} holds {len(tops)} modules that could be the top: {', '.join(tops) or 'none'}")
    return tops[0]


def forget_missing_headers(work: Path):
    """Makes `make` compile anew what was compiled with a header that is gone, where it would stop for want of it."""
    for dependencies in work.glob("*.d"):
        named = dependencies.read_text().replace("\\\n", " ").split()  # from `work`, if ccache wrote them
        if not all((work / name).exists() for name in named if name.endswith(".h")):
            dependencies.with_suffix(".o").unlink(missing_ok=True)
            dependencies.unlink()


def harness(*patterns: str) -> list[Path]:
    """Sources of the simulator's program: all of `sim/harness` but the device's own."""
    return [path for path in files("sim/harness", *patterns) if "device" not in path.relative_to(ROOT).parts]


def libraries(variant: str) -> str:
    return "-lpcap -pthread" + (" -llz4 -lz" if variant == "fst" else "")


def beside(name: str, variant: str) -> str:
    """The name of a file or folder of a variant."""
    return f"{name}-{variant}" if variant else name


def undefined_verilog(preset: str, folder: Path, say) -> Path:
    """The folder with the lane's SystemVerilog for the variant "undefined"."""
    target = BUILD / preset / "sv-undefined"
    key = digest([*sorted(folder.glob("*.sv")), Path(undefined.__file__)])
    step(target, key, say, f"what is undefined made random, preset {preset}", lambda: undefined.rewrite(folder, target))
    return target


def check_preset(preset: str):
    if preset not in FOR_BENCHES | PRESETS:
        raise UserError(f"--preset is {preset}; legal are {', '.join(PRESETS | SEVERAL)}")


def objects(sources: list[Path], folder: Path, flags: list, headers: list[Path]) -> list[Path]:
    """Compiles each source whose text, headers or flags have changed, several at once; returns the object files. C has its own flags."""

    def compiled(source: Path) -> Path:
        out = folder / f"{source.stem}.o"
        compiler, own = ("gcc", C_FLAGS) if source.suffix == ".c" else ("g++", [])
        command = [compiler, *(own or flags), "-c", source, "-o", out]
        step(out, digest([source, *headers], *command), quiet, "", lambda: run(command, folder / f"{source.stem}.log"))
        return out

    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(CORES) as pool:
        return list(pool.map(compiled, sources))


def model_program(preset: str, say=quiet) -> Path:
    """The simulator's program with the model alone (`--engine model`): C++ only, so neither Chisel nor Verilator runs."""
    check_preset(preset)
    if INSTALLED:
        return installed_program(preset)
    program, work = BUILD / preset / "vermilion-model", BUILD / preset / "obj-model"
    flags, headers = HARNESS_FLAGS, harness_headers()
    own = [path for path in harness("*.cpp") if path.stem not in RTL_ONLY | SHAPED | {"main"}]
    main, defines = ROOT / "sim/harness/main.cpp", definitions(preset, "")

    def action():
        parts = shared_objects(own) + objects([main], work, [*flags, "-DVM_MODEL_ONLY"], headers)
        parts += [shape_object(preset)]
        run(["g++", *parts, *libraries("").split(), "-o", program], work / "link.log")

    with locked(f"{preset}-model.lock"):
        key = digest([main, SHAPE, *own, *lane_sources(), *headers], *flags, *defines)
        step(program, key, say, f"the model, preset {preset}", action)
    return program


def installed_program(preset: str) -> Path:
    """The same of an installed package, which has it for some presets."""
    program = ROOT / "bin" / f"vermilion-model-{preset}"
    if not program.exists():
        held = ", ".join(sorted(path.name.removeprefix("vermilion-model-") for path in program.parent.glob("*")))
        raise UserError(
            f"--preset is {preset}; this installation has the model of {held or 'none: it was built without a C++ compiler, libpcap or nlohmann-json'}"
        )
    return program


def harness_headers() -> list[Path]:
    return sorted(harness("*.h") + model_headers())


def model_headers() -> list[Path]:
    return files("sim/model", "*.h") + files(DRIVER, "*.h")


def model_inputs() -> list[Path]:
    """All that the model is made from, for keys."""
    return files("sim/model", "*.cpp") + model_headers()


def lane_sources() -> list[Path]:
    """What every program of the simulator has: the model, and the driver's library."""
    return files("sim/model", "*.cpp") + files(DRIVER, "*.c")


def shared_objects(own: list[Path]) -> list[Path]:
    """The objects of the model and of these files of the harness, which all builds of the lane have in common."""
    with locked("obj-harness.lock"):
        return objects(sorted([*lane_sources(), *own]), BUILD / "obj-harness", HARNESS_FLAGS, harness_headers())


def shape_object(preset: str) -> Path:
    """The object that holds the numbers of a preset."""
    flags = [*HARNESS_FLAGS, *(word.replace("\\", "") for word in definitions(preset, ""))]
    with locked(f"{preset}-shape.lock"):
        return objects([SHAPE], BUILD / preset / "obj-shape", flags, harness_headers())[0]


def harness_objects() -> list[Path]:
    """Those of every simulator, but for the files in `SHAPED`."""
    return shared_objects([path for path in harness("*.cpp") if path.stem not in SHAPED])


def simulator(preset: str, variant: str = "", say=quiet) -> Path:
    """The simulator's program, one of `VARIANTS`."""
    check_preset(preset)
    cpp = [ROOT / "sim/harness/verilated_lane.cpp"]
    if not harness("*.cpp"):
        raise BuildError("sim/harness holds no C++ yet, so there is no simulator to build")
    with locked(f"{preset}.lock"):
        folder = system_verilog(preset, say)
        if variant == "undefined":
            folder = undefined_verilog(preset, folder, say)
        work = BUILD / preset / beside("obj", variant)
        program = BUILD / preset / beside("vermilion-sim", variant)
        sources = sorted(folder.glob("*.sv"))
        defines = definitions(preset, variant)
        verilate = ["verilator", "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast"]
        # The lane's own assertions stay on in every simulation.
        verilate += ["--assert", "-Wno-fatal", "--prefix", PREFIX, "--top-module", top_module(folder)]
        verilate += ["--Mdir", str(work), "-o", str(program)]
        verilate += VARIANTS[variant]
        verilate += ["-CFLAGS", " ".join([*HARNESS_FLAGS[len(CXX_FLAGS) :], *defines])]
        common, shaped = BUILD / "obj-harness", BUILD / preset / "obj-shape" / f"{SHAPE.stem}.o"
        linked_too = " ".join(
            str(common / f"{path.stem}.o") for path in harness("*.cpp") + lane_sources() if path.stem not in SHAPED
        )
        verilate += ["-LDFLAGS", f"{shaped} {linked_too} {libraries(variant)}"]
        inputs = sources + harness("*.cpp", "*.h") + lane_sources() + model_headers()
        inputs += [Path(verilated.__file__)]
        key = digest(inputs, *verilate, *HARNESS_FLAGS, *MAKE_VARIABLES, OPTIMISED, *versions())

        def action():
            work.mkdir(parents=True, exist_ok=True)
            harness_objects()
            shape_object(preset)
            program.unlink(missing_ok=True)  # make does not know of these objects
            run([*verilate, *sources, *cpp], work / "verilator.log")
            forget_missing_headers(work)
            verilated.forget_other_compiler(work)
            command = ["make", "-C", work, "-f", f"{PREFIX}.mk", f"-j{CORES}"]
            words = verilated.whole(work, PREFIX, OPTIMISED, STANDARD)
            run([*command, f"OPT_GLOBAL={OPTIMISED}", *words, *MAKE_VARIABLES], work / "make.log")

        step(
            program,
            key,
            say,
            f"SystemVerilog to a simulator, preset {preset}" + (f", {variant}" if variant else ""),
            action,
        )
    return program


def simulator_objects(preset: str, variant: str = "", say=quiet) -> Path:
    """The folder with the objects of a simulator, which are built anew where they are gone and the program is not."""
    program = simulator(preset, variant, say)
    work = program.parent / beside("obj", variant)
    if not (work / f"{PREFIX}__ALL.a").exists():
        program.with_name(program.name + ".made").unlink()
        simulator(preset, variant, say)
    return work


def linked(library: Path) -> list[str]:
    """The linker's words for a library in the folder of what is linked with it, where both find each other wherever that lies."""
    return [f"-L{library.parent}", f"-l:{library.name}", "-Wl,-rpath,$ORIGIN"]


def beside_simulator(preset: str, folder: str, name: str, text: str, variant: str = "", say=quiet) -> Path:
    """A program of the simulator's objects with another main, in `folder`, so that the lane is compiled once."""
    base = simulator(preset, variant, say)
    program = base.with_name(base.name.replace("-sim", f"-{name}"))
    own_objects = base.parent / beside(f"obj-{name}", variant)
    own = sorted(files(folder, "*.cpp"))
    headers = files("sim/harness", "*.h") + model_headers() + files(folder, "*.h")
    folders = ["sim/model", DRIVER, "sim/harness", folder]
    include = Path(os.environ.get("VERILATOR_ROOT", "")) / "include"
    flags = [*CXX_FLAGS, *[f"-I{ROOT / folder}" for folder in folders], f"-I{include}"]

    key = digest(own + sorted(set(headers)), base.with_name(base.name + ".made").read_text(), *flags)
    if is_made(program, key):
        return program
    work = simulator_objects(preset, variant, say)

    def action():
        parts = objects(own, own_objects, flags, sorted(set(headers)))
        parts += [path for path in harness_objects() if path.stem != "main"]
        parts += [shape_object(preset)]
        parts += [work / f"{each}.o" for each in ["verilated_lane", "verilated", "verilated_threads"]]
        parts += {"vcd": [work / "verilated_vcd_c.o"], "fst": [work / "verilated_fst_c.o"]}.get(variant, [])
        command = ["g++", *parts, work / f"{PREFIX}__ALL.a", *libraries(variant).split(), verilated.LIBRARY]
        run([*command, "-o", program], own_objects / "link.log")

    with locked(f"{preset}.lock"):
        step(program, key, say, f"{text}, preset {preset}" + (f", {variant}" if variant else ""), action)
    return program


def device(preset: str, waves: str = "", say=quiet) -> Path:
    """The lane as a PCI device, docs/device.md."""
    return beside_simulator(preset, "sim/harness/device", "device", "the device", waves, say)


def inject(preset: str, say=quiet) -> Path:
    """Faults put into what the checkers of a run see, sim/inject."""
    return beside_simulator(preset, "sim/inject", "inject", "the fault injector", "", say)


def commits(preset: str, say=quiet) -> Path:
    """Profile changes under traffic, sim/commits."""
    return beside_simulator(preset, "sim/commits", "commits", "the campaign of commits", "", say)


def model_library(say=quiet, ageing: int | None = None) -> Path:
    """The bit-exact model as a shared library with a C interface.

    `ageing` is the definition VERMILION_AGEING, a variant of the averages' ageing (docs/results/ageing.md); without it the library is the model that the RTL equals.
    """
    variant = "" if ageing is None else f"-ageing{ageing}"
    library = BUILD / f"libvermilion_model{variant}.so"
    fresh = library.with_suffix(".new")
    sources = sorted(files("sim/model", "*.cpp"))
    if not sources:
        raise BuildError("sim/model holds no C++ yet")
    # One unit with calls of its own bound to it: the clocked lane calls across files in every clock, through the PLT otherwise.
    whole = ["-O3", "-flto=auto", "-fno-semantic-interposition"]
    defines = [] if ageing is None else [f"-DVERMILION_AGEING={ageing}"]
    flags = [*CXX_FLAGS, f"-I{ROOT / DRIVER}", *whole, "-fPIC", *defines]

    def action():
        parts = objects(sources, BUILD / f"obj-library{variant}", flags, model_headers())
        run(["g++", *flags, "-shared", "-o", fresh, *parts], BUILD / f"model{variant}.log")
        fresh.replace(library)  # a program that is linked with the old one meanwhile gets it whole

    with locked(f"{library.name}.lock"):
        key = digest(model_inputs(), *flags, fresh)
        step(library, key, say, f"the model{variant}", action)
    return library


def driver_library(say=quiet) -> Path:
    """The driver's conversion and register access (sw_driver/lib) as a shared library."""
    library, fresh = BUILD / "libvermilion_driver.so", BUILD / "libvermilion_driver.so.new"
    sources = sorted(files(DRIVER, "*.c"))
    command = ["gcc", *C_FLAGS, "-shared", "-fPIC", "-o", fresh, *sources]
    key = digest(files(DRIVER, "*.c", "*.h"), *command)

    def action():
        run(command, BUILD / "driver.log")
        fresh.replace(library)  # whoever has the old one loaded keeps it

    if not is_made(library, key):
        with locked("driver-lock"):
            step(library, key, say, "the driver's library", action)
    return library
