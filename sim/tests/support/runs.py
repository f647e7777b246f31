"""`vermilion run` as a process: its figures, what must hold after each run, and both engines beside each other."""

import json
import os
import subprocess
import sys
from pathlib import Path

from vermilion.simulation import simulate

ROOT = Path(__file__).resolve().parents[3]
CAPTURES = Path(
    os.environ.get("VERMILION_CAPTURES", ROOT / "captures")
)  # real traffic, which the project does not hold: docs/changing/tests.md
SHIPPED = ROOT / "sim" / "captures" / "default.pcapng"
REAL = ["netflix", "teams", "gnutella", "reddit", "wechat"]


def vermilion(*arguments):
    """Runs the command line in this Python; returns status, standard output and standard error. A run writes a report where it is asked to."""
    if arguments[0] == "run" and "--report" not in arguments:
        arguments = (*arguments, "--no-report")
    done = subprocess.run(
        [sys.executable, "-m", "vermilion", *map(str, arguments)],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def environment():
    return os.environ | {"PYTHONPATH": str(ROOT / "sim"), "COLUMNS": "160"}


def run(tmp_path, *arguments):
    """A run that must succeed; returns its statistics."""
    stats = tmp_path / "stats.json"
    status, out, err = vermilion("run", *arguments, "--json", stats)
    assert status == 0, out + err
    return json.loads(stats.read_text())


def check(stats):
    """What must hold after any run of the RTL."""
    replay, accounting = stats["replay"], stats["accounting"]
    assert replay["decisions"] == replay["agreed"] > 0, replay
    assert replay.get("departures") == replay.get("departures_agreed"), replay
    assert accounting["errors"] == 0, accounting
    total = {"arrived": 0}
    for queue in stats["queues"]:
        for colour in queue["colours"]:
            for kind in ("packets", "bytes"):
                lost = sum(colour[name][kind] for name in ("early", "forced", "tail", "nobuf", "bad", "policed"))
                assert colour["arrived"][kind] == colour["enqueued"][kind] + lost, colour
                gone = sum(colour[name][kind] for name in ("sent", "evicted", "departure_dropped"))
                assert colour["enqueued"][kind] == gone, "something stayed in a queue"
            total["arrived"] += colour["arrived"]["packets"]
    assert total["arrived"] == stats["packets"]


def alike(rtl, model):
    """Both engines' results are equal in all that is not an engine's own: counters, samples, events, latencies, warnings."""
    own = simulate.OF_ONE_ENGINE
    rtl, model = ({name: value for name, value in stats.items() if name not in own} for stats in (rtl, model))
    assert rtl.keys() == model.keys()
    for name, value in rtl.items():
        if isinstance(value, list):
            for number, (one, other) in enumerate(zip(value, model[name], strict=True)):
                assert one == other, f"{name}[{number}]"
        assert value == model[name], name


def same(tmp_path, capture, *arguments, traced=False):
    """Both engines, which agree; returns the RTL's figures and, where asked, the trace."""
    got = {}
    for engine in ("rtl", "model"):
        out, why, trace = (tmp_path / f"{engine}{end}" for end in (".pcapng", "-why.pcapng", ".csv"))
        more = ["--why", why] + (["--trace", trace] if traced else [])
        stats = run(tmp_path, capture, "--engine", engine, "--out", out, *more, *arguments)
        got[engine] = (out.read_bytes(), trace.read_text() if traced else "", why.read_bytes(), stats)
    (rtl, rtl_trace, rtl_why, stats), (model, model_trace, model_why, modelled) = got["rtl"], got["model"]
    check(stats)
    alike(stats, modelled)
    assert model == rtl, f"the captures differ, {len(model)} and {len(rtl)} bytes"
    assert model_why == rtl_why, "the captures of dropped and marked packets differ"
    for number, (one, other) in enumerate(zip(rtl_trace.splitlines(), model_trace.splitlines(), strict=True), 1):
        assert one == other, f"line {number} of the traces"
    assert rtl_trace == model_trace
    return stats, rtl_trace


def total(stats, outcome):
    return sum(c[outcome]["packets"] for q in stats["queues"] for c in q["colours"])
