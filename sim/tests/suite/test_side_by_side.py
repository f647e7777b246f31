"""Checkouts side by side, each with a copy of the same tools' state, compile, elaborate and run at the same time, each in its own folder."""

import os
import shutil
import subprocess

import pytest

from support import checkouts
from support.nightly import nightly
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

EMITTER = "hw/src/vermilion/lane/Emitter.scala"
ONLY = "OnlyInOneCheckout"  # an object that changes no SystemVerilog
STATE = ("mill", "bin", "venv/bin")  # not `build`: its programs hold names of sources, for messages
CLASSES = ("mill/hw/compile.dest", "bin", "venv/bin")  # that no other test writes meanwhile


@pytest.fixture(scope="module", autouse=True)
def simulator():
    """Here, before the state is copied: the clones then build no simulator."""
    if not (shutil.which("mill") and shutil.which("verilator") and shutil.which("git")):
        pytest.skip("no Mill, Verilator or git: run through ./vermilion test")
    build.simulator("lab")


def watched(root, names=STATE):
    """The files of a checkout's state, with their sizes and times."""
    paths = (path for name in names for path in (root / ".vermilion" / name).rglob("*") if path.is_file())
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


def naming(root, other) -> list[str]:
    """Files of a checkout's state that name another checkout's state."""
    word = os.fsencode(other / ".vermilion")
    return [str(path) for path in watched(root) if word in path.read_bytes()]


def start(root, out):
    """Begins a run in a checkout that writes nothing there but what it builds."""
    command = ["./vermilion", "run", "--no-report", "--out", str(out)]
    about = {"env": checkouts.environment(), "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=root, **about)


def ended(process) -> str:
    printed, _ = process.communicate(timeout=1800)
    assert process.returncode == 0, printed
    assert "SystemVerilog to a simulator" not in printed, printed
    assert "model agrees on 5178 of 5178 decisions" in printed, printed
    return printed


def changed(root):
    """One source more, so that Mill compiles it and Chisel elaborates; the SystemVerilog stays what it is."""
    with (root / EMITTER).open("a") as source:
        source.write(f"\nobject {ONLY}\n")
    return root


def elaborated(root, printed):
    """What a checkout that was copied says and holds, once it has elaborated."""
    assert "was copied or moved" in printed and "Chisel to SystemVerilog" in printed, printed
    assert (root / ".vermilion/place").read_text() == f"{root}\n"


def verilog(root) -> dict:
    return {path.name: path.read_bytes() for path in (root / ".vermilion/build/lab/sv").iterdir()}


# In place of the generator, in a copy: Mill compiles one file, where all of them take two minutes of a processor.
SMALL = """package vermilion.lane

import java.nio.file._

/** Gives every request the files of one folder. */
object EmitServer {
  def main(words: Array[String]): Unit =
    Iterator.continually(scala.io.StdIn.readLine()).takeWhile(_ != null).foreach { line =>
      val out = Paths.get(line.split("\\t").last)
      Files.list(Paths.get("FOLDER")).filter(_.toString.endsWith(".sv"))
        .forEach(file => Files.copy(file, out.resolve(file.getFileName)))
      println("done")
    }
}

object ONLY
"""


def replaced(root):
    """One source in place of all: Mill compiles it, and a JVM gives back the SystemVerilog that came with the copy."""
    held = shutil.copytree(root / ".vermilion/build/lab/sv", root / ".vermilion/held")
    for path in (root / "hw/src").rglob("*.scala"):
        path.unlink()
    (root / EMITTER).write_text(SMALL.replace("FOLDER", str(held)).replace("ONLY", ONLY))
    return root


@pytest.mark.parametrize("change", [nightly(replaced), nightly(changed)])
def test_a_copy_and_this_checkout_are_used_at_once(tmp_path, change):
    """The copy has other sources: it compiles them with Mill, asks a JVM for the SystemVerilog and runs the RTL. This one, which other tests use at
    the same time, runs the RTL. No state names or holds anything of the other. The nightly form compiles and elaborates the whole generator.
    """
    before = watched(build.ROOT, CLASSES)
    assert any(path.suffix == ".class" for path in before)
    copy = change(checkouts.clone(tmp_path / "copy"))
    running = [start(copy, tmp_path / "copy.pcapng"), start(build.ROOT, tmp_path / "here.pcapng")]
    printed, here = (ended(process) for process in running)
    elaborated(copy, printed)
    assert "was copied or moved" not in here and "Chisel to SystemVerilog" not in here, here
    assert (tmp_path / "copy.pcapng").read_bytes() == (tmp_path / "here.pcapng").read_bytes()
    assert change is replaced or verilog(copy) == verilog(build.ROOT)
    assert list((copy / ".vermilion/mill").rglob(f"{ONLY}.class"))
    assert naming(copy, build.ROOT) == []
    assert watched(build.ROOT, CLASSES) == before


def whole(root) -> dict:
    """Every file and folder of a checkout's state: kind and mode, time, and what a file holds."""
    out = {}
    for path in (root / ".vermilion").rglob("*"):
        about = path.lstat()
        held = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        out[path] = (about.st_mode, about.st_mtime_ns, hash(held))
    return out


def test_a_copy_that_is_used_leaves_the_state_of_the_original_as_it_is(tmp_path):
    """The copy shares the tools' files by hard links, so what is written in place shows. It sets up, settles and runs the RTL."""
    root, copy = checkouts.clone(tmp_path / "original"), tmp_path / "copy"
    assert "was copied or moved" in ended(start(root, tmp_path / "root.pcapng"))
    tools = str(root / ".vermilion/venv")
    own = lambda source, target: (checkouts.link if source.startswith(tools) else shutil.copy2)(source, target)
    shutil.copytree(root, copy, symlinks=True, copy_function=own)
    before = whole(root)
    assert "was copied or moved" in ended(start(copy, tmp_path / "copy.pcapng"))
    assert whole(root) == before and len(before) > 1000


@pytest.mark.parametrize("change", [nightly(changed)])
def test_two_copies_are_used_at_once(tmp_path, change):
    """One has a changed source; both compile with the real Mill, elaborate and run the RTL at the same time."""
    before = watched(build.ROOT, CLASSES)
    one, two = (checkouts.clone(tmp_path / name) for name in ("one", "two"))
    change(one)
    (two / ".vermilion/build/lab/sv.made").unlink()  # elaborates again though nothing has changed
    running = [(root, start(root, root / "out.pcapng")) for root in (one, two)]
    for root, process in running:
        elaborated(root, ended(process))
    assert (one / "out.pcapng").read_bytes() == (two / "out.pcapng").read_bytes()
    assert verilog(one) == verilog(two)
    assert list((one / ".vermilion/mill").rglob(f"{ONLY}.class"))
    assert not list((two / ".vermilion/mill").rglob(f"{ONLY}.class"))
    assert naming(one, two) == naming(two, one) == naming(one, build.ROOT) == naming(two, build.ROOT) == []
    assert watched(build.ROOT, CLASSES) == before
