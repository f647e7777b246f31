"""Elaborates one block, or a NIC's app block in its shell, builds it with Verilator and runs a cocotb module on it.

The Verilator of the virtual environment is used (`VERILATOR_ROOT`, see sim/vermilion/toolchain/build.py). A built model is kept by a hash of its
SystemVerilog, of the options and of the tools' versions: benches whose SystemVerilog is equal share it, wherever that was
elaborated. A second run only simulates; of test runs side by side one builds and the others wait.
"""

import inspect
import os
import re
import shutil
import subprocess
from pathlib import Path

from cocotb import __version__ as cocotb_version
from cocotb_tools import config as cocotb
from cocotb_tools.runner import get_runner

from vermilion.toolchain import chisel
from vermilion.toolchain.build import versions
from vermilion.toolchain.steps import CORES, KEPT, content, environment, kept, locked
from vermilion.toolchain.verilated import whole

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / ".vermilion" / "cocotb"
SHELL, APP = ROOT / "fpga" / "corundum" / "rtl", "mqnic_app_block"
BENCH = "-O1"  # compiles in two thirds of the time of Verilator's -Os; Python takes most of a bench's time
PLAIN = ["--vpi", "--assert", "-Wno-fatal", "-O3", "--x-assign", "fast"]


def elaborated(name: str, main: str, *words: str) -> Path:
    """The folder with what a Chisel main writes when called with `words` and the folder; anew when a Chisel source has
    changed.
    """
    folder = WORK / f"{name}-{chisel.key(chisel.sources(), main, *words)[:16]}"
    WORK.mkdir(parents=True, exist_ok=True)
    with locked(f"cocotb-{name}.lock"):
        if not (folder / "filelist.f").exists():
            chisel.emit(folder, WORK / f"{name}.log", main, *words, str(folder))
    return folder


def emit(block: str, preset: str) -> Path:
    """The folder with `block`'s SystemVerilog in the build `preset`."""
    return elaborated(f"{block}-{preset}", "vermilion.lane.EmitBlock", block, preset)


def emit_app(preset: str) -> Path:
    """The folder with the SystemVerilog of a NIC's app block, and the header that its shell reads."""
    return elaborated(preset, "vermilion.nic.EmitApp", preset)


def lint(block: str, folder: Path) -> None:
    """Raises where Verilator has anything to say of `block`'s SystemVerilog in `folder`."""
    sources = map(str, sorted(folder.glob("*.sv")))
    command = ["verilator", "--lint-only", "--assert", "--top-module", block, *sources]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or "%" in done.stderr:
        raise AssertionError(done.stderr[-4000:])


def run(
    block: str,
    module: str,
    preset: str = "lab",
    folder: Path | None = None,
    plusargs: tuple[str, ...] = (),
    **environment: str,
) -> None:
    """Runs every cocotb test of `module` on `block`, or on what stands in `folder`; raises when one of them fails."""
    folder = folder or emit(block, preset)
    verilated = model(block, [ports(block, folder), *sorted(folder.glob("*.sv"))], PLAIN, BENCH)
    simulate(block, module, verilated, folder, plusargs, environment)


def ports(block: str, folder: Path) -> Path:
    """Verilator's configuration file that opens a block's ports to cocotb. With all signals open, as by `--public-flat-rw`, a lane is
    twice the C++. A bench that looks inside has its own marks in the SystemVerilog.
    """
    head = re.search(rf"^module {block}\((.*?)^\);", (folder / f"{block}.sv").read_text(), re.M | re.S)[1]
    names = [re.findall(r"\w+", port)[-1] for port in re.sub(r"//.*", "", head).split(",")]
    path = WORK / "ports" / folder.name / block / "ports.vlt"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f'public_flat_rw -module "{block}" -var "{name}"' for name in names]
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text("\n".join(["`verilator_config", *lines, ""]))
    return fresh.replace(path)


def run_app(modules: str, preset: str, parameters: dict[str, int], optimise: str = BENCH, **environment: str) -> None:
    """Runs cocotb modules on the app block of a NIC: the shell that Corundum's core instantiates, with `parameters`,
    round the build `preset`.
    """
    folder = emit_app(preset)
    simulate(APP, modules, app_model(folder, parameters, optimise), folder, (), environment)


def app_model(folder: Path, parameters: dict[str, int], optimise: str) -> Path:
    """The model of the app block in its shell. Only the shell's signals can be seen from outside: with all of them, as
    those of a block, the model of four lanes is three times as large. Warnings stop nothing, but what the shell refuses
    does ($fatal at elaboration).
    """
    shell = sorted(path for path in SHELL.glob("*") if path.suffix in (".v", ".sv"))
    options = [*PLAIN, "-Werror-USERFATAL", *(f"-G{name}={value}" for name, value in sorted(parameters.items()))]
    public = Path(__file__).with_name("app_block.vlt")
    sources = [public, *shell, *sorted(folder.glob("*.sv")), *sorted(folder.glob("*.vh"))]
    return model(APP, sources, options, optimise)


def model(top: str, sources: list[Path], options: list[str], optimise: str = BENCH) -> Path:
    """The folder with a Verilated model that cocotb can drive: `top` is its program, `verilog` holds copies of the
    sources.
    """
    main = cocotb.share_dir / "lib" / "verilator" / "verilator.cpp"

    def build(folder: Path):
        (folder / "verilog").mkdir()
        copies = [shutil.copy(path, folder / "verilog") for path in sources]
        names = [os.path.relpath(copy, folder) for copy in copies if not copy.endswith(".vh")]
        command = ["verilator", "--cc", "--exe", "-Mdir", ".", "--top-module", top, "--prefix", "Vtop", "-o", top]
        command += [*options, "-Iverilog", "-LDFLAGS", libraries(folder)]
        tool([*command, main, *names], folder, f"{top} could not be verilated")
        words = whole(folder, "Vtop", optimise)
        tool(["make", f"-j{CORES}", "-f", "Vtop.mk", *words], folder, f"{top} could not be compiled")
        for pattern in ("*.gch", "*.o", "*.a", "*.d"):  # some 200 MB a model: nothing is compiled here again
            for path in folder.glob(pattern):
                path.unlink()

    made_by = Path(inspect.getsourcefile(whole))
    key = content([*sources, made_by], top, *options, optimise, *versions(), cocotb_version, libraries(KEPT / top))
    return kept(top, key, build)


def libraries(folder: Path) -> str:
    """The linker's words for cocotb's libraries, found from the program's own folder if they lie in this checkout."""
    place = cocotb.libs_dir
    inside = Path(place).is_relative_to(ROOT)
    seen = f"'$$ORIGIN/{os.path.relpath(place, folder)}'" if inside else place  # $$: make reads this
    return f"-Wl,-rpath,{seen} -L{place} -lcocotbvpi_verilator"


def tool(command: list, folder: Path, failure: str) -> None:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, capture_output=True, text=True, env=environment()
    )
    if done.returncode:
        raise RuntimeError(f"{failure}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


def simulate(block, module, verilated: Path, folder: Path, plusargs: tuple[str, ...], environment) -> None:
    """Runs a built model; raises when a test fails."""
    results = get_runner("verilator").test(
        hdl_toplevel=block,
        hdl_toplevel_lang="verilog",
        test_module=module,
        build_dir=verilated,
        test_dir=folder,
        results_xml=str(folder / f"results-{module.replace(',', '-')}.xml"),
        extra_env=environment,
        plusargs=list(plusargs),
    )
    text = Path(results).read_text()
    failed = re.findall(r"<(?:failure|error)", text)
    if failed or "<testcase" not in text:
        raise AssertionError(f"{len(failed)} cocotb tests of {module} failed; see {results}")
