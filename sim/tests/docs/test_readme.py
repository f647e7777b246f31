"""The README: short, plain, and true: what it shows of a command is what the command prints."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from campaigns import loop_times
from support.prose import sentences
from support.runs import ROOT, environment
from support.shown_commands import follows, shown
from vermilion.synthesis import area, timing
from vermilion.testing import suite

TEXT = (ROOT / "README.md").read_text()
COMMANDS = dict(shown(TEXT))


def test_the_readme_is_short():
    assert len(TEXT.splitlines()) <= 120 and len(TEXT.split()) <= 900


def test_no_sentence_is_longer_than_25_words():
    long = [" ".join(words) for words in sentences(TEXT) if len(words) > 25]
    assert not long


@pytest.mark.slow
def test_the_run_of_the_readme():
    """`./vermilion run` with the RTL."""
    done = subprocess.run(
        [sys.executable, "-m", "vermilion", "run"], cwd=ROOT, env=environment(), capture_output=True, text=True
    )
    status, out, err = done.returncode, done.stdout, done.stderr
    assert status == 0, err
    assert follows(COMMANDS["./vermilion run"], out.splitlines()) is None, out


def test_the_test_of_the_readme(monkeypatch, tmp_path):
    """The suite cannot run in itself: its parts by name, with nothing in them, print what is shown."""
    said, names = [], list(suite.parts())
    monkeypatch.setattr(suite, "LOGS", tmp_path)
    monkeypatch.setattr(suite, "parts", lambda *_: {name: lambda log: suite.Count(2) for name in names})
    assert suite.run((), said.append) == 0
    assert follows(COMMANDS["./vermilion test"], "\n".join(said).splitlines()) is None, said


def test_the_form_of_the_readme():
    """One drawing, one screenshot, ten rows of what works at most, a line of status, and three links by what the reader does."""
    images = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert [Path(image).suffix for image in images] == [".svg", ".png"]
    rows = re.findall(r"^\| .* \|$", TEXT, re.M)
    assert 3 <= len(rows) <= 12 and all(len(row) < 180 for row in rows)
    assert len(re.findall(r"^\*\*Status\*\*: .*\.$", TEXT, re.M)) == 1
    assert re.findall(r"^\* \*\*(I \w+)", TEXT, re.M) == ["I run", "I build", "I operate"]


def test_the_time_of_the_suite_is_the_published_one():
    times = json.loads((ROOT / "docs" / "results" / "loop.json").read_text())
    suite_seconds = list(times.values())[-1][loop_times.SUITE]
    assert f"The tests take about {suite_seconds / 60:.0f} minutes on two cores." in TEXT


@pytest.mark.slow
def test_the_device_of_the_readme(tmp_path):
    """The device with a capture, and its counters by vermilionctl: not empty."""
    serve, stats = [command for command in COMMANDS if command.split()[1] in ("device", "ctl")]
    assert serve.endswith(" &")
    place = str(tmp_path / "lane")
    words = serve.removesuffix(" &").replace("/tmp/lane", place).split()[1:]
    python = [sys.executable, "-m", "vermilion"]
    about = {
        "cwd": ROOT,
        "env": environment() | {"PYTHONPATH": f"{ROOT / 'sim'}:{ROOT / 'sw_driver' / 'tools'}"},
        "text": True,
    }
    device = subprocess.Popen([*python, *words], stdout=subprocess.PIPE, **about)
    try:
        assert any(line.startswith("listening") for line in device.stdout)
        told = subprocess.run([*python, *stats.replace("/tmp/lane", place).split()[1:]], capture_output=True, **about)
        assert told.returncode == 0 and re.search(r" green +1,065 ", told.stdout), told.stdout + told.stderr
    finally:
        device.terminate()
        device.communicate()


def test_figures_of_the_readme_are_the_published_ones():
    """Faults of inject.json, colours of oracles.md, rows of papers.md, the area of a card and the longest paths."""
    faults = json.loads((ROOT / "docs" / "results" / "inject.json").read_text())
    rows = faults["faults"]
    assert f"{len(rows)} of {len(rows)} injected faults" in TEXT and all(row["named"] for row in rows)
    oracles = (ROOT / "docs" / "results" / "oracles.md").read_text()
    same = re.findall(r"^\| \w+: colours other than the RFC's \| ([\d,]+) \| 0 \|", oracles, re.M)
    total = sum(int(count.replace(",", "")) for count in same)
    assert len(same) == 2 and f"{total:,} of {total:,} packets" in TEXT
    results = ROOT / "docs" / "results"
    rows = re.findall(
        r"^\* \[P\d.*: (\d+) of (\d+) rows that must hold held", (results / "papers.md").read_text(), re.M
    )
    held, required = (sum(map(int, column)) for column in zip(*rows, strict=True))
    assert len(rows) == 6 and f"{held} of {required} required results hold" in TEXT
    card = json.loads((results / "area.json").read_text())["card-2x25g-aqm"]
    used = {"LUT": ("lut", "lut"), "BRAM36": ("bram36", "bram"), "UltraRAM": ("uram", "uram")}
    shown_area = ", ".join(f"{card[name]:,} {what}" for what, (name, _) in used.items())
    shares = ", ".join(f"{100 * card[name] / area.XCKU3P[most]:.0f}" for name, most in used.values())
    assert f"{shown_area}: {shares} % of an XCKU3P" in TEXT
    longest = json.loads((results / "timing.json").read_text())
    wide, card = (longest[name]["ns"] for name in ("card-1x100g", "card-2x25g"))
    told = f"{wide['-2']} ns at 512 bits, {card['-2']} ns for 2 x 25G, with push-out, grade -2"
    assert f"{told} (-1: {wide['-1']}, {card['-1']})" in TEXT and max(wide["-2"], card["-2"]) <= timing.LIMIT_NS


@pytest.mark.parametrize("image", re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT))
def test_the_images_are_small_files_of_the_project(image):
    path = ROOT / image
    assert path.stat().st_size < 300_000 and path.is_relative_to(ROOT)
