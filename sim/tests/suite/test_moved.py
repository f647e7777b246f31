"""A checkout that was copied or moved with its `.vermilion`: tools' state that holds the old folder goes, and nothing reaches there."""

import os
import shutil
import subprocess
import sys

import pytest

from vermilion.report import live
from vermilion.toolchain import build, moved

KEPT = {
    "build/lab/vermilion-sim": "program",
    "build/lab/vermilion-sim.made": "key",
    "build/lab/sv/Lane.sv": "module Lane;",
    "build/libvermilion_model.so": "library",
    "kept/Lane-0123/Lane": "model",
    "experiments/p1/model/runs/0123.json": "{}",
    "venv/lib/python3.11/site-packages/click.py": "",
}
GONE = {
    "mill/hw/compile.json": "{root}/.vermilion/mill/hw/compile.dest",
    "build/hw.classpath": "{root}/.vermilion/mill/hw/compile.dest/classes",
    "build/hw.test.classpath": "",
    "build/lab/obj/main.d": "main.o: {root}/sim/harness/lane.h",
    "build/lab/obj-device/device.o": "",
    "build/obj-model/lane.o": "",
    "kept/verilated.h-0123456789abcdef/include": "{root}/.vermilion/venv",
    "build/policy/obj/VPolicy.mk": "{root}",
    "build/module-6.12/kernel/.vm_main.o.cmd": "{root}",
    "ready": "3 0.12.17 {root} 12345 403\n",
}
CHANGED = {
    "venv/bin/black": "#!{root}/.vermilion/venv/bin/python\n{root}2/.vermilion",
    "venv/pyvenv.cfg": "command = python3 -m venv {root}/.vermilion/venv",
    "bin/mill": '#!/bin/sh\nexec sh "{root}/.vermilion/bin/mill-0.12.17" "$@"\n',
    "guest/apt.conf": 'Dir::Cache "{root}/.vermilion/guest/cache";\n',
    "guest-6.1/system/usr/src/linux-headers-6.1-cloud-amd64/Makefile": "include {root}/.vermilion/guest-6.1/system/usr/src/x",
}


def checkout(root):
    """A folder with a state of tools that names it; a link in it leads to a program of the system."""
    for name, text in (KEPT | GONE | CHANGED).items():
        path = root / ".vermilion" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{root}", str(root)))
        path.chmod(0o755 if "bin/" in name else 0o644)
    (root / ".vermilion/venv/bin/python").symlink_to(sys.executable)
    return root


def contents(root):
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode)
        for path in root.rglob("*")
        if path.is_file()
    }


def check(old, new):
    """What a state of `new` holds that was one of `old`."""
    home = new / ".vermilion"
    assert (home / "place").read_text() == f"{new}\n"
    assert all((home / name).read_text() == text for name, text in KEPT.items())
    assert not any((home / name).exists() for name in GONE)
    for name, text in CHANGED.items():
        assert (home / name).read_text() == text.replace("{root}2", f"{old}2").replace("{root}", str(new))
        assert os.access(home / name, os.X_OK) == ("bin/" in name)
    assert (home / "venv/bin/python").is_symlink()


@pytest.mark.parametrize("links", [False, True], ids=["copy", "hard links"])
def test_copy_reaches_nothing_of_the_original(tmp_path, links):
    """A copy is cleaned and the original keeps every byte, also where both share files by hard links."""
    old, new = checkout(tmp_path / "old one"), tmp_path / "new"
    assert not moved.settle(old)
    before = contents(old)
    shutil.copytree(old, new, symlinks=True, copy_function=os.link if links else shutil.copy2)
    assert moved.settle(new) and not moved.settle(new)
    check(old, new)
    assert contents(old) == before


@pytest.mark.parametrize("noted", [False, True])
def test_moved_checkout_goes_on(tmp_path, noted):
    """After a move too; the place is that of the last setting up where an older state has no note of its own."""
    old, new = checkout(tmp_path / "old"), tmp_path / "new"
    if noted:
        moved.settle(old)
    old.rename(new)
    assert moved.settle(new)
    check(old, new)
    assert not old.exists()


def test_own_state_stays(tmp_path):
    root = checkout(tmp_path / "a")
    before = contents(root)
    assert not moved.settle(root)
    after = contents(root)
    assert after.pop(".vermilion/place")[0] == f"{root}\n".encode() and after == before
    (tmp_path / "empty").mkdir()
    assert not moved.settle(tmp_path / "empty") and not list((tmp_path / "empty").iterdir())


def test_interrupted_cleaning_is_done_again(tmp_path, monkeypatch):
    old, new = checkout(tmp_path / "old"), tmp_path / "new"
    old.rename(new)
    with monkeypatch.context() as patch:
        patch.setattr(moved, "replace", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            moved.settle(new)
    assert moved.settle(new)
    check(old, new)


def test_vermilion_settles_when_it_sets_up(tmp_path):
    """`./vermilion` in a copied checkout cleans the state before it uses a tool of it."""
    old, new = checkout(tmp_path / "old"), tmp_path / "new"
    old.rename(new)
    (new / "vermilion").write_bytes((build.ROOT / "vermilion").read_bytes())
    (new / "sim/vermilion/toolchain").mkdir(parents=True)
    (new / "sim/requirements.txt").write_text("")
    (new / "sim/vermilion/toolchain/moved.py").write_bytes(
        (build.ROOT / "sim/vermilion/toolchain/moved.py").read_bytes()
    )
    include = new / ".vermilion/venv/lib/python3.11/site-packages/verilator/include"
    include.mkdir(parents=True)
    (include / "verilated.mk").write_text("")
    python = new / ".vermilion/venv/bin/python"
    python.unlink()
    python.write_text('#!/bin/sh\necho "$@" >&2\ntest ! -e "$(dirname "$0")/../../mill"\n')
    python.chmod(0o755)
    mill = new / ".vermilion/bin/mill-0.12.17"
    mill.write_text("")
    mill.chmod(0o755)
    shutil.copy(live.JAR, new / ".vermilion/uplot.jar")
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("apt-get", "mvn", "java"):  # nothing is installed or fetched
        (tools / name).write_text("#!/bin/sh\nexit 1\n")
        (tools / name).chmod(0o755)
    done = subprocess.run(
        ["bash", new / "vermilion", "--version"],
        env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "was copied or moved" in done.stderr and done.stderr.endswith("-m vermilion --version\n")
    home = new / ".vermilion"
    assert not (home / "mill").exists() and str(old) not in (home / "bin/mill").read_text()
    assert str(new) in (home / "ready").read_text()
