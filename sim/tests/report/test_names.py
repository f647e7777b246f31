"""Names of queues are text: no name is markup, mathematics or HTML, and every legal one can be printed and drawn."""

import json
import os
import random
import re
import subprocess
import sys
from html import escape

import pytest
from rich.cells import cell_len

from support.command_lines import command
from support.tool_cards import Bench
from vermilion.configuration import config, config_file, egresses
from vermilion.console.screen import console
from vermilion.report import tables
from vermilion.simulation import show

pytestmark = pytest.mark.usefixtures("state")

SEED = 24
NASTY = [
    "a[/b]",
    "[red]",
    "[bold",
    "]",
    "\\[x]",
    ":smile:",
    "$x_$",
    "$\\frac{",
    "<b>&amp;",
    "{0}%s",
    "🚀🚀",
    "é" * 64,
    "[/]" * 21,
]


def random_names(count: int) -> list[str]:
    """Printable text of 1 to 64 characters from all of Unicode, half of it with characters that markup is made of."""
    rng, found = random.Random(SEED), dict.fromkeys(NASTY)
    printable = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isprintable()]
    while len(found) < count:
        letters = rng.choice([printable, printable[:600], list("[]/\\:$<>&ab😀 ")])
        name = "".join(rng.choices(letters, k=rng.choice([1, 2, 3, 8, 20, 64])))
        found |= {name: None} if name.strip() else {}
    return list(found)


NAMES = random_names(100)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A configuration with a curve and a marker for every name."""
    lines = ['[port]\nrate = "1Gbit"']
    for name in NAMES:
        lines.append(
            f"[[queue]]\nname = {json.dumps(name, ensure_ascii=False)}\ndefault = {str(name == NAMES[0]).lower()}"
        )
        lines.append('green = { curve = "red", min = "1KB", max = "2KB", p = 1e-300 }')
        lines.append(
            f'[[marker]]\nqueue = {json.dumps(name, ensure_ascii=False)}\nkind = "leaf"\nrate = "1Mbit"\nburst = "9KB"'
        )
    path = tmp_path_factory.mktemp("names") / "names.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def result() -> dict:
    """A run's figures with packets in every queue."""
    count = {"packets": 1, "bytes": 64}
    colours = [dict.fromkeys(show.OUTCOMES, count)] * 3
    more = {"lost_by_distance": [[3, 1]], "wasted_hops": 3, "marker": {"kind": "wpm", "flows": 1}}
    more["marker"]["flow_events"] = dict.fromkeys(show.FLOW_EVENTS, 1)
    more |= {"colours_in_out": [[1, 1, 1]] * 3, "latency": [[0, 1]], "latency_max_ns": 9}
    return {"queues": [{"index": i, "name": name, "colours": colours, **more} for i, name in enumerate(NAMES)]}


def is_shown(text: str):
    """Names of up to 8 columns stand in a cell; longer ones may be broken into lines."""
    return all(name in text for name in NAMES if cell_len(name) <= 8)


def test_check(file, monkeypatch, capfd):
    """`check` prints tables and notes with any legal name."""
    status, out, err = command(monkeypatch, capfd, "check", file, "--queues", 128)
    assert status == 0 and not err and is_shown(out)
    assert out.count("Note: ") == len(NAMES) and 'Note: queue "a[/b]" has green.p 1e-300' in out


def test_curves(file, tmp_path, monkeypatch, capfd):
    """`curves` draws any legal name, and says nothing of characters that its font lacks."""
    asked = config_file.load(file, 128)
    few = asked.model_copy(update={"queue": asked.queue[:16], "marker": []})
    monkeypatch.setattr(egresses, "load_one", lambda *_: few)
    for kind in ("png", "svg", "pdf"):
        status, out, err = command(monkeypatch, capfd, "curves", file, "-o", tmp_path / f"names.{kind}")
        assert (status, out) == (0, f"wrote {tmp_path / f'names.{kind}'}\n")
        assert err.count("\n") == len(few.queue) and err.count("vermilion: note: ") == len(few.queue)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_encodings(file, tmp_path, encoding):
    """What the terminal's encoding lacks is printed as an escape, in names of queues and of files."""
    words = [sys.executable, "-m", "vermilion"]
    environment = os.environ | {"PYTHONIOENCODING": encoding, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = lambda *more: subprocess.run([*words, *more], capture_output=True, cwd=tmp_path, env=environment)
    done = run("check", file, "--queues", "128")
    assert done.returncode == 0 and b"Traceback" not in done.stderr
    assert ("\U0001f680\U0001f680".encode(encoding, "backslashreplace")) in done.stdout
    done = run("check", "\udcff.toml")
    assert done.returncode == 2 and re.match(rb"vermilion: (\\udcff|\?)\.toml: cannot be read", done.stderr)


def test_tables(file, capfd):
    """The tables of a run and of its report take any legal name."""
    show.statistics(console(), result())
    assert is_shown(capfd.readouterr().out)
    asked = config_file.load(file, 128)
    made = [tables.verdicts(result(), "packets"), tables.losses(result()), tables.latencies(result()["queues"])]
    made += [tables.values(asked), tables.drop_curves(asked), tables.queues(asked)]
    for page in made:
        assert all(f"<td>{escape(name)}</td>" in page for name in NAMES if len(name) <= 3)


def test_alpha_in_the_table():
    """The report shows a queue's dynamic threshold beside its limit."""
    asked = config.parse({"port": {"rate": 10**6}, "pool": {"size": 640}, "queue": [{"name": "a", "alpha": 0.25}]})
    assert "<td>alpha 0.25</td>" in tables.queues(asked)


def test_tools(file, monkeypatch):
    """`vermilionctl` loads, shows and counts queues with any legal name."""
    bench = Bench(monkeypatch, queues=128)
    assert bench.ctl("apply", file)[0] == 0
    for words in (("show",), ("stats",), ("show", "a[/b]"), ("show", ":smile:"), ("set", "[bold", "ecn=1")):
        status, out = bench.ctl(*words)
        assert status == 0, (words, out)
        assert words != ("show",) or is_shown(out)


@pytest.mark.parametrize(
    "name", ["x" * 5000, "a\x07", "a\x1b[31m", "\x9b", "a\u202eb", "a\nb", "\u200b", "\ue000", " ", ""]
)
def test_refused(tmp_path, monkeypatch, capfd, name):
    """Control and invisible characters and long names are refused with one short sentence, for queues and for markers."""
    text = json.dumps(name)
    for body in (
        f"[[queue]]\nname = {text}\n",
        f'[[marker]]\nqueue = {text}\nkind = "nm"\n',
        f'[[queue]]\nname = "a"\n{text} = 1\n',
    ):
        (tmp_path / "names.toml").write_text('[port]\nrate = "1Gbit"\n' + body)
        status, out, err = command(monkeypatch, capfd, "check", tmp_path / "names.toml")
        assert status == 2 and not out and err.startswith("vermilion: ") and err.count("\n") == 1
        assert err[:-1].isprintable() and len(err) < 700
        if body.startswith("[[queue]]\nname = " + text):
            assert "legal are 1 to 64 printable characters" in err
