"""Two checkouts side by side, each with a copy of the same tools' state, compile, elaborate and run at the same time, each in its own folder."""

import os
import shutil
import subprocess

import checkouts
import pytest
from vermilion import build

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


def test_two_checkouts_are_used_at_once(tmp_path):
    """One checkout has a changed source; both elaborate with the real Mill and run the RTL at the same time. No state names or holds anything of another."""
    before = watched(build.ROOT, CLASSES)
    assert any(path.suffix == ".class" for path in before)
    one, two = (checkouts.clone(tmp_path / name) for name in ("one", "two"))
    with (one / EMITTER).open("a") as source:
        source.write(f"\nobject {ONLY}\n")
    (two / ".vermilion/build/lab/sv.made").unlink()  # elaborates again though nothing has changed
    command = ["./vermilion", "run", "--no-report", "--out", "out.pcapng"]
    about = {"env": checkouts.environment(), "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    running = [subprocess.Popen(command, cwd=root, **about) for root in (one, two)]
    for root, process in zip((one, two), running):
        printed, _ = process.communicate(timeout=1800)
        assert process.returncode == 0, printed
        assert "was copied or moved" in printed and "Chisel to SystemVerilog" in printed, printed
        assert "SystemVerilog to a simulator" not in printed, printed
        assert "model agrees on 5178 of 5178 decisions" in printed, printed
        assert (root / ".vermilion/place").read_text() == f"{root}\n"
    assert (one / "out.pcapng").read_bytes() == (two / "out.pcapng").read_bytes()
    verilog = [{p.name: p.read_bytes() for p in (root / ".vermilion/build/lab/sv").iterdir()} for root in (one, two)]
    assert verilog[0] == verilog[1]
    assert list((one / ".vermilion/mill").rglob(f"{ONLY}.class"))
    assert not list((two / ".vermilion/mill").rglob(f"{ONLY}.class"))
    assert naming(one, two) == naming(two, one) == naming(one, build.ROOT) == naming(two, build.ROOT) == []
    assert watched(build.ROOT, CLASSES) == before
