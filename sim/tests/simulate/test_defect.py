"""A run that finds a defect of the lane: outputs kept, the failure on top of the report and last on the screen, status 1.

No lane here is broken: a program between command line and simulator passes everything on and then tells of a defect.
"""

import json
import sys

import pytest

from support.captures import pcap
from support.frames import ip4
from vermilion.commands import cli
from vermilion.toolchain import build

pytestmark = pytest.mark.slow

DOCTOR = """#!{python}
import json, os, pathlib, subprocess, sys
status = subprocess.run([{program!r}, *sys.argv[1:]]).returncode
if status:
    sys.exit(status)
path = pathlib.Path(sys.argv[sys.argv.index("--stats-json") + 1])
stats = json.loads(path.read_text())
{change}
path.write_text(json.dumps(stats))
print("error the model disagrees: doctored")
sys.exit({status})
"""
CHANGES = {
    "disagreement": (
        'stats["replay"]["agreed"] -= 1; stats["replay"]["first_disagreement"] = "decision 7 <b>"',
        ["The model disagrees on 1 of 40 decisions. First: decision 7 "],
    ),
    "refresh": (
        'stats["replay"]["refreshes"] += 2',
        ["The model disagrees on 2 of "],
    ),
    "accounting": (
        'stats["accounting"] = {"errors": 3, "first_error": "frame 5: still in its queue at the end"}',
        ["The accounting of frames has 3 errors. First: frame 5: still in its queue at the end"],
    ),
    "counters": (
        'stats["counters"] = {"errors": 2, "first_error": "queue 3: the lane counts 7 push-outs, seen were 6"}',
        ["The comparison of counters has 2 errors. First: queue 3: the lane counts 7 push-outs"],
    ),
    "stream": (
        'stats["stream"] = {"errors": 1, "first_error": "cycle 90: a beat came out with keep 0"}',
        ["The check of stream rules has 1 errors. First: cycle 90: a beat came out with keep 0"],
    ),
    "victims": (
        'stats["victims"] = {"errors": 1, "first_error": "cell: queue 0, a packet of 64 bytes"}',
        ["The check of victims has 1 errors. First: cell: queue 0, a packet of 64 bytes"],
    ),
    "unknown": ("", ["the model disagrees: doctored"]),
}


def doctored(tmp_path, monkeypatch, change, status):
    """`vermilion run` with all outputs over a doctored simulator; its exit status."""
    program = tmp_path / "doctor"
    program.write_text(
        DOCTOR.format(python=sys.executable, program=str(build.simulator("lab")), change=change, status=status)
    )
    program.chmod(0o755)
    monkeypatch.setattr(build, "simulator", lambda *_: program)
    capture = pcap(tmp_path / "in.pcap", [(i * 10**6, ip4(100), 114) for i in range(40)])
    outputs = {"--out": "out.pcapng", "--json": "stats.json", "--trace": "trace", "--report": "report.html"}
    words = [str(word) for option, name in outputs.items() for word in (option, tmp_path / name)]
    monkeypatch.setattr(sys, "argv", ["vermilion", "run", str(capture), *words])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code, [tmp_path / name for name in outputs.values()]


@pytest.mark.parametrize("name", CHANGES)
def test_the_outputs_are_there_and_the_failure_stands_on_top(tmp_path, monkeypatch, capfd, name):
    change, sentences = CHANGES[name]
    status, files = doctored(tmp_path, monkeypatch, change, 1)
    screen = capfd.readouterr()
    assert status == 1 and all(file.stat().st_size for file in files)
    assert json.loads(files[1].read_text())["packets"] == 40
    page = files[3].read_text()
    assert page.index('class="alarm"') < page.index("<nav") and "<b>" not in page
    for sentence in sentences:
        assert sentence in screen.err.split("this run found a defect of Vermilion's")[1]
        assert sentence in page[page.index('class="alarm"') : page.index("<nav")]
    assert "arrived" in screen.out  # the table is shown all the same
    assert "Traceback" not in screen.err and not list(tmp_path.glob(".*"))


def test_a_simulator_that_breaks_leaves_nothing(tmp_path, monkeypatch, capfd):
    status, files = doctored(tmp_path, monkeypatch, "", 3)
    screen = capfd.readouterr()
    assert status == 1 and "Traceback" not in screen.err and "ended with status 3" in screen.err
    assert not any(file.exists() for file in files) and not list(tmp_path.glob(".*"))


def test_a_good_run_has_no_alarm(tmp_path, monkeypatch):
    status, files = doctored(tmp_path, monkeypatch, "sys.exit(0)", 0)
    assert not status and 'class="alarm"' not in files[3].read_text()
