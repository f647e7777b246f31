"""A report that fails costs the page alone: figures, trace and capture of the run are in place, a sentence comes last, status 1."""

import json
import os
import signal
import sys

import pytest

from support.captures import pcap
from support.frames import ip4
from vermilion import report
from vermilion.commands import cli

pytestmark = pytest.mark.slow

NAMES = {"--out": "out.pcapng", "--json": "stats.json", "--trace": "trace", "--report": "report.html"}


def run(folder, monkeypatch, action):
    """`vermilion run` with all outputs, where the report is written by `action`; its exit status."""
    monkeypatch.setattr(report, "write", action)
    capture = pcap(folder / "in.pcap", [(i * 10**6, ip4(100), 114) for i in range(40)])
    words = [str(word) for option, name in NAMES.items() for word in (option, folder / name)]
    monkeypatch.setattr(sys, "argv", ["vermilion", "run", str(capture), "--engine", "model", *words])
    held = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with pytest.raises(SystemExit) as end:
            cli.main()
    finally:
        for number, action in held.items():
            signal.signal(number, action)
    return end.value.code


def half(page, error):
    page.write_text("half a page")
    raise error


def stopped(page):
    os.kill(os.getpid(), signal.SIGTERM)
    half(page, AssertionError("the signal did nothing"))


FAILURES = {
    "a defect": (lambda page, *_: half(page, ZeroDivisionError("division by zero")), 1, "defect of Vermilion's"),
    "a full disk": (lambda page, *_: half(page, OSError(28, "No space left")), 1, "cannot be written: No space left;"),
    "a signal": (lambda page, *_: stopped(page), 143, "stopped by SIGTERM, the report is not written"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_the_runs_other_outputs_are_kept(tmp_path, monkeypatch, capfd, program, name):
    action, status, words = FAILURES[name]
    (tmp_path / "report.html").write_text("an earlier page")
    assert run(tmp_path, monkeypatch, action) == status
    screen = capfd.readouterr()
    last = screen.err.splitlines()[-1]
    assert last.startswith("vermilion: ") and words in last and last.endswith("the run's other outputs are in place")
    assert "Traceback" not in screen.err and "report:" not in screen.out
    assert json.loads((tmp_path / "stats.json").read_text())["packets"] == 40
    assert (tmp_path / "trace").read_text().count("\n") > 40 and (tmp_path / "out.pcapng").stat().st_size > 40 * 100
    assert (tmp_path / "report.html").read_text() == "an earlier page" and not list(tmp_path.glob(".*"))
    assert name == "a signal" or "arrived" in screen.out


def test_a_report_that_succeeds_is_in_place_with_the_rest(tmp_path, monkeypatch, program):
    assert not run(tmp_path, monkeypatch, report.write)
    assert all((tmp_path / name).stat().st_size for name in NAMES.values()) and not list(tmp_path.glob(".*"))
