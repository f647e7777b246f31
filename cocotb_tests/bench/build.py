"""Elaborates one block, builds it with Verilator and runs a cocotb module on it.

The Verilator of the virtual environment is used (`VERILATOR_ROOT`, see sim/vermilion/build.py). Built models are kept by the
hash of the SystemVerilog, so a second run only simulates.
"""

import hashlib
import re
import subprocess
from pathlib import Path

from cocotb_tools.runner import get_runner
from vermilion.build import mill, mill_environment

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / ".vermilion" / "cocotb"


def emit(block: str, preset: str) -> Path:
    """The folder with `block`'s SystemVerilog in the build `preset`, elaborated anew when a Chisel source has changed."""
    sources = sorted((ROOT / "hw" / "src").rglob("*.scala")) + [ROOT / "build.sc"]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[:16]
    folder = WORK / f"{block}-{preset}-{digest}"
    if not (folder / "filelist.f").exists():
        command = mill("hw.runMain", "vermilion.lane.EmitBlock", block, preset, str(folder))
        done = subprocess.run(command, cwd=ROOT, env=mill_environment(), capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{block} did not elaborate:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return folder


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
    runner = get_runner("verilator")
    verilated = folder / "obj"
    runner.build(
        sources=sorted(folder.glob("*.sv")),
        hdl_toplevel=block,
        build_dir=verilated,
        build_args=["--assert", "-Wno-fatal", "-O3", "--x-assign", "fast"],
    )
    results = runner.test(
        hdl_toplevel=block,
        test_module=module,
        build_dir=verilated,
        test_dir=folder,
        extra_env=environment,
        plusargs=list(plusargs),
    )
    text = Path(results).read_text()
    failed = re.findall(r"<(?:failure|error)", text)
    if failed or "<testcase" not in text:
        raise AssertionError(f"{len(failed)} cocotb tests of {module} failed; see {results}")
