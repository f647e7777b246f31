"""What the command lines offer beside their commands: --version, help, and completion in a shell."""

import os
import subprocess
import sys
import tomllib

import pytest

from support.command_lines import command
from vermilion.commands import cli
from vermilion.console import command_line
from vermilion.generate import registers
from vermilion.sweeps import cluster
from vermilion.toolchain import build
from vermilionctl import cli as tools


@pytest.mark.parametrize("program, name", [(cli, "vermilion"), (tools, "vermilionctl")])
def test_version(monkeypatch, capfd, program, name):
    """Both programs name the version, the commit and the version of the register map, which is that of the SystemRDL source."""
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=build.ROOT, capture_output=True, text=True).stdout.strip()
    fields = next(r for r in registers.read_source()[1] if r.path == ["version"]).fields
    held = {field.name: field.reset for field in fields}
    status, out, err = command(monkeypatch, capfd, "--version", program=program)
    assert status == 0 and not err
    version = tomllib.loads((build.ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert out.startswith(f"{name} {version}, commit {commit[:12]}")
    assert out.endswith(f", register map {held['major']}.{held['minor']}\n")


def test_version_unknown(tmp_path, monkeypatch):
    """Outside a checkout, without git and in a broken repository the commit is unknown, whatever GIT_DIR says."""
    monkeypatch.setenv("GIT_DIR", str(build.ROOT / ".git"))
    monkeypatch.setattr(command_line, "ROOT", tmp_path)
    assert command_line.commit() == "unknown"
    (tmp_path / ".git").mkdir()
    assert command_line.commit() == "unknown"
    monkeypatch.setattr(command_line, "ROOT", build.ROOT)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command_line.commit() == "unknown"


@pytest.mark.parametrize("words", [(), ("check",), ("corundum", "check"), ("dask",)], ids=" ".join)
def test_help(monkeypatch, capfd, words):
    """`help COMMAND` is `COMMAND --help`."""
    asked = command(monkeypatch, capfd, "help", *words)
    assert asked == command(monkeypatch, capfd, *words, "--help")
    assert asked[0] == 0 and asked[1].startswith(" ".join(["Usage: vermilion", *words])) and not asked[2]


def test_help_of_nothing(monkeypatch, capfd):
    """`help` refuses what is no command."""
    status, out, err = command(monkeypatch, capfd, "help", "chekc")
    assert status == 2 and "No such command 'chekc'" in err and not out


def test_dask_words(monkeypatch, capfd):
    """What follows `dask worker` is Dask's own, --help too."""
    ran = []
    monkeypatch.setattr(cluster, "packages", lambda note: build.BUILD)
    monkeypatch.setattr(os, "execve", lambda program, words, environment: ran.append(words))
    command(monkeypatch, capfd, "dask", "worker", "--help", "tcp://a:1", "--nthreads", "1")
    assert ran == [[sys.executable, "-m", "distributed.cli.dask_worker", "--help", "tcp://a:1", "--nthreads", "1"]]


@pytest.fixture
def checkout(tmp_path):
    """A folder with a program `vermilion` in it, as a checkout has."""
    path = ":".join(map(str, (build.ROOT / "sim", build.ROOT / "sw_driver/tools")))
    program = tmp_path / "vermilion"
    program.write_text(f'#!/bin/sh\nexport PYTHONPATH={path}\nexec {sys.executable} -m vermilion "$@"\n')
    program.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize("typed", ["./vermilion", "~/vermilion"])
def test_bash_completion(checkout, typed):
    """bash completes commands, options and values where the program is called by a path; it leaves file names to readline."""
    script = subprocess.run(["./vermilion", "completion", "bash"], cwd=checkout, capture_output=True, text=True).stdout
    assert "-o bashdefault -o default -F" in script
    for words, found in (("cu", "curves"), ("check --vi", "--victims"), ("run --engine m", "model"), ("run capt", "")):
        typing = [typed, *words.split()]
        quoted = " ".join(f"'{word}'" for word in typing)
        ask = f'COMP_WORDS=({quoted}) COMP_CWORD={len(typing) - 1}; _vermilion_completion {quoted}; echo "${{COMPREPLY[*]}}"'
        shell = ["bash", "--norc", "-c", f"{script}\n{ask}"]
        done = subprocess.run(
            shell, cwd=checkout, env=os.environ | {"HOME": str(checkout)}, capture_output=True, text=True
        )
        assert (done.stdout, done.stderr) == (found + "\n", "")


def test_zsh_completion(monkeypatch, capfd):
    """zsh asks the program that is being typed, and completes file names where nothing else fits."""
    status, script, _ = command(monkeypatch, capfd, "completion", "zsh")
    assert status == 0 and "zsh_complete ${~words[1]})" in script and "$+commands" not in script
    assert '[[ -n "$response" ]] || _files\n' in script


def test_completion_sets_nothing_up(tmp_path):
    """A Tab in a fresh checkout does not begin to install."""
    program = tmp_path / "vermilion"
    program.write_bytes((build.ROOT / "vermilion").read_bytes())
    (tmp_path / "sim").mkdir()
    (tmp_path / "sim" / "requirements.txt").write_text("")
    environment = os.environ | {"_VERMILION_COMPLETE": "bash_complete", "COMP_WORDS": "vermilion ", "COMP_CWORD": "1"}
    done = subprocess.run(["bash", program], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "") and not (tmp_path / ".vermilion").exists()


def test_no_command_loads_what_few_need():
    """A command starts in half of the time without scipy and matplotlib, which draw reports and compare with other implementations."""
    code = "import sys, vermilion.commands.cli; print({name.split('.')[0] for name in sys.modules} & {'matplotlib', 'numpy', 'scipy'})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_exec_runs_a_command_and_gives_its_status():
    """In a process of its own, which the command replaces. Its options are not ours."""
    run = lambda *words: subprocess.run(
        [sys.executable, "-m", "vermilion", "exec", *words], capture_output=True, text=True
    )
    done = run("sh", "-c", "echo $0 $1; exit 3", "--help", "-h")
    assert (done.returncode, done.stdout) == (3, "--help -h\n")
    done = run("no-such-command", "--all")
    assert done.returncode == 2 and "exec no-such-command: No such file or directory" in done.stderr
    assert run().returncode == 2
