"""Elaborates one block, or a NIC's app block in its shell, builds it with Verilator and runs a cocotb module on it.

The Verilator of the virtual environment is used (`VERILATOR_ROOT`, see sim/vermilion/build.py). Built models are kept
by a hash of the SystemVerilog and of the options, so a second run only simulates; of test runs side by side one builds and the others wait.
"""

import hashlib
import re
import subprocess
from pathlib import Path

from cocotb_tools import config as cocotb
from cocotb_tools.runner import get_runner
from vermilion import chisel
from vermilion.steps import locked

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / ".vermilion" / "cocotb"
SHELL, APP = ROOT / "fpga" / "corundum" / "rtl", "mqnic_app_block"


def elaborated(name: str, main: str, *words: str) -> Path:
    """The folder with what a Chisel main writes when called with `words` and the folder; anew when a Chisel source has
    changed.
    """
    sources = sorted((ROOT / "hw" / "src").rglob("*.scala")) + [ROOT / "build.sc"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = WORK / f"{name}-{digest}"
    WORK.mkdir(parents=True, exist_ok=True)
    with locked(f"cocotb-{name}.lock"):
        if not (folder / "filelist.f").exists():
            chisel.run(WORK / f"{name}.log", main, *words, str(folder))
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
    sources, options = sorted(folder.glob("*.sv")), ["--assert", "-Wno-fatal", "-O3", "--x-assign", "fast"]
    verilated = folder / f"obj-{digest(options, sources)}"
    with locked(f"cocotb-{folder.name}.lock"):
        if not (verilated / "made").exists():
            get_runner("verilator").build(
                sources=sources,
                hdl_toplevel=block,
                build_dir=verilated,
                build_args=options,
            )
            finish(verilated)
    simulate(block, module, verilated, folder, plusargs, environment)


def run_app(modules: str, preset: str, parameters: dict[str, int], optimise: str = "-O1", **environment: str) -> None:
    """Runs cocotb modules on the app block of a NIC: the shell that Corundum's core instantiates, with `parameters`,
    round the build `preset`.
    """
    folder = emit_app(preset)
    with locked(f"cocotb-{folder.name}.lock"):
        verilated = verilate_app(folder, parameters, optimise)
    simulate(APP, modules, verilated, folder, (), environment)


def verilate_app(folder: Path, parameters: dict[str, int], optimise: str) -> Path:
    """The folder with the model of the app block in its shell. Only the shell's signals can be seen from outside: with
    all of them, as the runner builds, the model of four lanes is three times as large. Warnings stop nothing, but what
    the shell refuses does ($fatal at elaboration).
    """
    shell = sorted(path for path in SHELL.glob("*") if path.suffix in (".v", ".sv"))
    options = ["--vpi", "--assert", "-Wno-fatal", "-Werror-USERFATAL", "-O3", "--x-assign", "fast"]
    options += [f"-G{name}={value}" for name, value in sorted(parameters.items())]
    verilated = folder / f"obj-{digest([optimise, *options], shell)}"
    if (verilated / "made").exists():
        return verilated
    verilated.mkdir(exist_ok=True)
    public = folder / "public.vlt"
    public.write_text(f'`verilator_config\npublic_flat_rw -module "{APP}" -var "*"\n')
    libraries = f"-Wl,-rpath,{cocotb.libs_dir} -L{cocotb.libs_dir} -lcocotbvpi_verilator"
    main = cocotb.share_dir / "lib" / "verilator" / "verilator.cpp"
    command = ["verilator", "--cc", "--exe", "-Mdir", verilated, "--top-module", APP, "--prefix", "Vtop", "-o", APP]
    command += [*options, f"-I{folder}", "-LDFLAGS", libraries]
    build([*command, main, public, *shell, *sorted(folder.glob("*.sv"))], "verilated")
    build(["make", "-C", verilated, "-f", "Vtop.mk", f"OPT_FAST={optimise}"], "compiled")
    finish(verilated)
    return verilated


def digest(options: list[str], sources: list[Path]) -> str:
    text = repr(options).encode() + b"".join(path.read_bytes() for path in sources)
    return hashlib.sha256(text).hexdigest()[:16]


def finish(verilated: Path) -> None:
    """Marks a model as made, without the precompiled headers: no one builds it again, and they are 180 MB a model."""
    for header in verilated.glob("*.gch"):
        header.unlink()
    (verilated / "made").touch()


def build(command: list, what: str) -> None:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{APP} could not be {what}:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")


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
