"""clang-tidy over the C++ of the model and of the simulator, by the rules in `sim/.clang-tidy`, with the flags of their builds.

One file needs the class that Verilator writes of the lane: for it the lane of a preset is elaborated and translated, but not compiled. A file
without findings is read again when it, a header, the rules or the flags have changed.
"""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import click

from vermilion.toolchain import build

PRESET = "lab"  # that `vermilion run` builds
RULES = build.ROOT / "sim/.clang-tidy"
TOOL = Path(sys.executable).with_name("clang-tidy")
FOLDERS = ("sim/model", "sim/harness")
# The analyzer takes half of the time; the nightly run has it.
QUICKER = () if os.environ.get("VERMILION_LONG") else ("--checks=-clang-analyzer-*",)


def sources() -> list[Path]:
    """The largest first, so that no core waits long for the last."""
    found = [path for folder in FOLDERS for path in build.files(folder, "*.cpp")]
    return sorted(found, key=lambda path: (-path.stat().st_size, path))


def lane_headers() -> Path:
    """The folder with the headers of the Verilated lane."""
    folder = build.system_verilog(PRESET)
    out = build.BUILD / PRESET / "headers"
    verilog = sorted(folder.glob("*.sv"))
    command = ["verilator", "--cc", "-Wno-fatal", "--prefix", build.PREFIX, "--top-module", build.top_module(folder)]
    command += ["--Mdir", str(out)]
    with build.locked(f"{PRESET}-headers.lock"):
        key = build.digest(verilog, *command, build.verilator_version())
        build.step(out, key, build.quiet, "", lambda: build.run([*command, *verilog], out.with_suffix(".log")))
    return out


def flags(source: Path) -> list[str]:
    """Those of its build."""
    words = [*build.HARNESS_FLAGS, f"-I{build.ROOT / 'sim/harness/device'}"]
    if source.stem in build.SHAPED:
        words += [word.replace("\\", "") for word in build.definitions(PRESET, "")]
    if source.stem == "verilated_lane":
        include = Path(os.environ.get("VERILATOR_ROOT", "")) / "include"
        # Not the project's: no findings of theirs.
        words += [f"-isystem{folder}" for folder in (lane_headers(), include, include / "vltstd")]
    return words


def findings(source: Path, words: list[str]) -> str:
    """What clang-tidy says of a file; empty if it has nothing to say."""
    command = [TOOL, "--quiet", f"--config-file={RULES}", *QUICKER, source, "--", *words]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=build.ROOT)
    if not done.returncode:
        return ""
    return done.stdout or done.stderr or f"{source}: clang-tidy ends with status {done.returncode}\n"


def checked(source: Path, folder: Path, headers: list[Path]) -> str:
    """The same, and nothing where the file had no findings before and all that they depend on is as it was."""
    words = flags(source)
    tool = TOOL.stat().st_size, TOOL.stat().st_mtime_ns
    key = build.digest([source, *headers, RULES], *words, *tool, *QUICKER)
    passed = folder / f"{source.parent.name}-{source.stem}.passed"
    if passed.exists() and passed.read_text() == key:
        return ""
    if not (said := findings(source, words)):
        passed.write_text(key)
    return said


def run(log: Path) -> int:
    """Checks every file, with all findings in `log`; 0 if there are none."""
    folder = log.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    headers = [path for each in (*FOLDERS, build.DRIVER) for path in build.files(each, "*.h")]
    todo, failed = sources(), False
    with log.open("w") as out:
        try:
            lane_headers()
            with ThreadPoolExecutor(build.CORES) as pool:
                work = [pool.submit(checked, source, folder, headers) for source in todo]
                with click.progressbar(as_completed(work), len(work), label="clang-tidy", file=sys.stderr) as bar:
                    for each in bar:
                        failed |= bool(each.result())
                        out.write(each.result())
                        out.flush()
        except (build.BuildError, OSError) as error:
            failed = True
            out.write(f"{error}\n")
        if not failed:
            out.write(f"no findings in {len(todo)} files\n")
    return int(failed)
