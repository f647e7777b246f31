"""The wheel, built as pip builds it and installed where nothing else of the project is found: no sources, no Java, no Verilator."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from support.pci_function import STATUS, WHERE
from vermilion.configuration import config_file
from vermilion.toolchain import build
from vermilionctl import programming, registers

CONFIG = build.ROOT / "sim/configs/default.toml"
SOURCES = ("sim/vermilion", "sim/model", "sim/harness", "sim/configs", "sim/captures", "sw_driver")
FILES = ("pyproject.toml", "README.md", "LICENSE")
HIDDEN = ("java", "mill", "verilator", "verilator_bin", "g++", "gcc", "clang++")
LOCK = build.ROOT / "sim/requirements.txt"


def finished(command, **options) -> subprocess.CompletedProcess:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def wheel(folder: Path, **variables) -> tuple[Path, str]:
    """A wheel of a copy of the sources, and what its build said."""
    copy = folder / "copy"
    for name in SOURCES:
        shutil.copytree(build.ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "*.o"))
    for name in FILES:
        shutil.copy(build.ROOT / name, copy)
    (copy / ".vermilion").mkdir()
    shutil.copy(build.HOME / "uplot.jar", copy / ".vermilion")
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-deps", "-w", folder / "wheels", copy]
    done = finished(command, env=os.environ | variables)
    (made,) = (folder / "wheels").glob("*.whl")
    return made, done.stdout + done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The folder of an installed package."""
    folder = tmp_path_factory.mktemp("package")
    finished([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder / "site", wheel(folder)[0]])
    return folder / "site"


@pytest.fixture
def installed(place, tmp_path):
    """Runs `vermilion` of the package; (exit status, standard output, standard error). Compilers and simulators are not in the path."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in HIDDEN:
        (tools / name).write_text("#!/bin/sh\necho $0 >> called\nexit 1\n")
        (tools / name).chmod(0o755)
    path = f"{place / 'bin'}:{tools}:/usr/bin:/bin"

    def run(*words):
        environment = {"HOME": str(tmp_path), "PATH": path, "PYTHONPATH": str(place)}
        command = [sys.executable, "-m", "vermilion", *map(str, words)]
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert not (tmp_path / "called").exists(), (tmp_path / "called").read_text()
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.mark.slow
def test_the_package_runs_a_capture_by_the_model(installed, tmp_path):
    """The same counters as the checkout's model."""
    status, said, told = installed("run", "--json", "stats.json", "--out", "out.pcapng", "--report", "report.html")
    assert status == 0 and "every frame is accounted for" in said, told
    assert (tmp_path / "report.html").stat().st_size > 100_000 and (tmp_path / "out.pcapng").stat().st_size > 1_000_000
    stats = json.loads((tmp_path / "stats.json").read_text())
    command = [
        sys.executable,
        "-m",
        "vermilion",
        "run",
        "--engine",
        "model",
        "--no-report",
        "--json",
        tmp_path / "own.json",
    ]
    finished(command, cwd=build.ROOT, env=os.environ | {"PYTHONPATH": str(build.ROOT / "sim")})
    assert stats["queues"] == json.loads((tmp_path / "own.json").read_text())["queues"]


@pytest.mark.slow
def test_an_installation_without_plots_runs_and_makes_no_report(place, installed, tmp_path):
    """pip install in a checkout where ./vermilion has not run, so has not fetched what draws plots."""
    plots, hidden = place / "vermilion/data/uplot.jar", tmp_path / "hidden"
    plots.rename(hidden)
    try:
        status, said, told = installed("run")
        assert status == 0 and "every frame is accounted for" in said and "report:" not in said, told
        assert installed("run", "--report", "a.html") == (
            2, "", "vermilion: --report: this installation has no plots, as ./vermilion had not run where it was built\n"
        )  # fmt: skip
        assert not (tmp_path / "a.html").exists()
    finally:
        hidden.rename(plots)


@pytest.mark.slow
def test_what_needs_the_sources_is_refused(installed, tmp_path):
    sentence = "vermilion: {} needs a checkout of the project; an installed package has "
    assert installed("area", "token") == (
        2,
        "",
        sentence.format("area") + "apply, check, completion, ctl, curves, from-tc, help, run, ttl-option\n",
    )
    assert installed("run", "--engine", "rtl") == (2, "", sentence.format("--engine rtl") + "model\n")
    status, _, told = installed("run", "--preset", "card-2x25g")
    assert status == 2 and "--engine model runs lanes with one egress, card-2x25g has 4" in told
    assert installed("check", CONFIG)[0] == 0


@pytest.mark.slow
def test_the_package_programs_a_card(place, function, tmp_path):
    code = f"import pathlib, vermilion, vermilionctl.bus as b; b.SYSFS = pathlib.Path({str(function.parent)!r}); "
    code += f"w = b.PciBus.write; b.PciBus.write = lambda s, o, v: None if o == {STATUS} else w(s, o, v); "
    code += "print(vermilion.__file__); from vermilionctl.cli import main; main()"

    def run(*words):
        command = [sys.executable, "-c", code, "--device", WHERE, *words]
        return finished(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(place)}).stdout

    assert run("apply", CONFIG).startswith(str(place))
    lines = run("dump").splitlines()[1:]
    assert lines == registers.lines(registers.table(programming.of_config(config_file.load(CONFIG), None)))
    scripts = {path.name for path in (place / "bin").iterdir()}
    assert scripts == {"vermilion", "vermilionctl"}


@pytest.mark.slow
def test_without_a_cpp_compiler_the_package_has_no_model(tmp_path):
    made, said = wheel(tmp_path, CXX="false")
    assert "no C++20 compiler, or one of pcap/pcap.h, nlohmann/json.hpp is missing: built without the model" in said
    names = finished([sys.executable, "-m", "zipfile", "-l", made]).stdout
    assert "libvermilion_driver.so" in names and "vermilion-model" not in names


def test_the_lock_holds_what_the_distribution_asks_for():
    """Each pinned package with the same version, every line with hashes: pip refuses a file with another one."""
    project = tomllib.loads((build.ROOT / "pyproject.toml").read_text())["project"]
    asked = {*project["dependencies"], *(each for extra in project["optional-dependencies"].values() for each in extra)}
    text = LOCK.read_text()
    normal = lambda name: re.sub(r"[-_.]+", "-", name).lower()
    locked = {normal(name): version for name, version in re.findall(r"^([\w.-]+)==([\w.]+)", text, re.M)}
    for each in asked:
        name, version = re.split("[=>]=", each)
        assert locked[normal(name)] == version, each
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=\w)", text.split("\n", 1)[1]) if entry.strip())
    assert "--require-hashes" in (build.ROOT / "vermilion").read_text()


def test_a_file_with_another_hash_is_refused(tmp_path):
    """As `./vermilion` installs."""
    line = next(line for line in re.split(r"\n(?=\w)", LOCK.read_text()) if line.startswith("click=="))
    wrong = re.sub(r"sha256:\w{8}", "sha256:00000000", line)
    (tmp_path / "lock.txt").write_text(wrong.replace("\n    # via", "") + "\n")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path), "--require-hashes"]
    done = subprocess.run([*command, "-r", str(tmp_path / "lock.txt")], capture_output=True, text=True)
    assert done.returncode == 1 and "DO NOT MATCH THE HASHES" in done.stderr
