"""What a run says first, and its tables in 80 columns."""

import csv
import os
import pty
import random
import re
import subprocess
import sys

import pytest
from rich.cells import cell_len
from rich.console import Console
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import RawPcapNgReader

from support.captures import pcap
from support.runs import ROOT, environment, run, vermilion
from vermilion.console import narrow
from vermilion.simulation import digest, front, show

ONE = """
[port]
rate = "{rate}"

[[queue]]
name    = "all"
default = true
limit   = "60KB"
green   = {{ curve = "red", min = "5KB", max = "30KB", p = 0.1 }}
"""


def poisson(folder, seed, load):
    """2,000 frames with exponential gaps, at `load` of 10 Mbit/s."""
    rng, now, frames = random.Random(seed), 10**9, []
    for _ in range(2000):
        length = rng.randrange(60, 1515)
        now += int(rng.expovariate(1) * length * 800 / load)
        frames.append((now, bytes(12) + b"\x08\0" + bytes(length - 14), length))
    return pcap(folder / "in.pcap", frames)


CAPTURES = {
    "half": lambda folder: poisson(folder, 1, 0.5),
    "full": lambda folder: poisson(folder, 2, 1.0),
    "over": lambda folder: poisson(folder, 3, 1.6),
    "idle": lambda folder: poisson(folder, 4, 0.0005),
    "apart": lambda folder: pcap(folder / "in.pcap", [(10**9 + i * 10**7, bytes(60), 60) for i in range(50)]),
}


def union(spans):
    """Length of the union of intervals."""
    total = end = 0
    for begin, to in sorted(spans):
        total += max(0, to - max(begin, end))
        end = max(end, to)
    return total


@pytest.mark.parametrize("name", CAPTURES)
def test_the_digest_is_what_went_in_and_out(tmp_path, name):
    """Counts and times worked out from the captures before and after and from the trace; one queue, so that it is first in, first out."""
    config, out, trace = tmp_path / "c.toml", tmp_path / "out.pcapng", tmp_path / "trace.csv"
    config.write_text(ONE.format(rate="10Mbit"))
    capture = CAPTURES[name](tmp_path)
    stats = run(tmp_path, capture, "--config", config, "--engine", "model", "--out", out, "--trace", trace)
    rows = [row for row in csv.DictReader(trace.open()) if row["refresh"] == "0"]
    kept = [int(row["time"]) for row in rows if row["verdict"] == "0"]
    with RawPcapNgReader(str(out)) as packets:
        sent = [((meta.tshigh << 32) + meta.tslow, len(data)) for data, meta in packets]
    left = [time - stats["capture_start_ns"] + stats["lane_start_ns"] for time, _ in sent]
    assert len(kept) == len(left)
    waited = union([(came + 256, went) for came, went in zip(kept, left, strict=True) if went > came + 256])
    span = max(left) - kept[0]
    got = digest.figures(stats, 10_000_000)
    assert got["offered"] == len(rows) and got["carried"] == len(left)
    assert got["aqm"] + got["limits"] == len(rows) - len(left) and got["other"] == 0
    assert got["congested"] == waited / span
    sizes = sum(length for _, length in sent)
    assert got["used"] == min(1, 8e9 * sizes / 10**7 / span)
    said = digest.lines(stats, 10**7)
    print(said)
    told = [int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", said[0])]
    lost = len(rows) - len(left)
    assert told[:3] == [len(rows), len(left), lost] and (sum(told[3:]), len(told)) == ((lost, 6) if lost else (0, 3))
    percent = re.search(r"used, congested for (?:over |under )?([\d.]+) % of the time", said[1])
    assert (float(percent[1]) if percent else 0) == pytest.approx(100 * waited / span, rel=0.06, abs=1)
    idle = name in ("idle", "apart")
    assert ("hint: " in said[-1]) == idle and (got["congested"] < 0.01) == idle


@pytest.mark.parametrize(
    "part, text",
    [(0, "0 %"), (1e-9, "under 0.001 %"), (0.00042, "0.042 %"), (0.384, "38 %"), (0.9999, "over 99 %"), (1, "100 %")],
)
def test_a_share_says_no_more_than_it_knows(part, text):
    assert digest.share(part) == text


def printed(made):
    """The lines of tables in a terminal of 80 columns."""
    screen = Console(width=80, highlight=False)
    with screen.capture() as caught:
        for one in made:
            screen.print(one)
    return caught.get().splitlines()


@pytest.mark.parametrize("seed", range(40))
def test_no_number_is_cut_in_80_columns(seed):
    """Random tables: each number stands whole, names keep 8 characters at least, totals are right, columns of zeros are named."""
    rng = random.Random(seed)
    heads = [show.OUTCOME_TEXT.get(name, name) for name in show.OUTCOMES][: rng.randrange(1, 12)]
    names = [
        rng.choice(["ef", "af1", "a[/b]", "x" * 30, "日本語の待ち行列の名前", "🚀" * 9])
        for _ in range(rng.randrange(1, 9))
    ]
    rows = [
        [n, "yellow", *(rng.choice([0, 7, rng.randrange(10 ** rng.randrange(1, 12))]) for _ in heads)] for n in names
    ]
    gone = rng.sample(range(len(heads)), rng.randrange(len(heads)))
    rows = [row[:2] + [0 if i in gone else number + 1 for i, number in enumerate(row[2:])] for row in rows]
    lines = printed(narrow.tables("Packets", ["queue", "colour"], heads, rows, sums=True))
    text = "\n".join(lines)
    assert max(map(cell_len, lines)) <= 80 and text.count("…") == text.count("… ")
    for row in rows:
        whole = row[0] if cell_len(row[0]) <= 8 else row[0][: 8 // cell_len(row[0][0]) - 1]
        assert whole in text
        assert all(f" {number:,} " in line + " " for number in row[2:] if number for line in [text.replace("\n", " ")])
    if len(rows) > 1:
        sums = [sum(column) for column in list(zip(*rows, strict=True))[2:]]
        assert re.findall(r"[\d,]+", " ".join(line for line in lines if line.startswith(" total"))) == [
            f"{n:,}" for n in sums if n
        ]
    assert narrow.zeros(heads, rows, 2) == [heads[i] for i in sorted(gone)]


def test_the_projects_capture_fits_80_columns(tmp_path):
    """`./vermilion run --engine model`: no line is longer than 80 characters, and no name is cut."""
    status, out, err = vermilion("run", "--engine", "model", "--report", tmp_path / "page.html")
    assert status == 0, err
    lines = out.splitlines()
    assert all(cell_len(line) <= 80 for line in lines if not line.startswith("report: ")) and "…" not in out
    assert re.fullmatch(r"[\d,]+ offered, [\d,]+ carried, [\d,]+ lost \([\d,]+ AQM, [\d,]+ limits, 0 other\)", lines[0])
    assert re.fullmatch(r"port \d+ % used, congested for \d+ % of the time, \d+ marked CE", lines[1])
    assert lines[-1] == f"report: {tmp_path / 'page.html'}" and any(line.startswith(" total ") for line in lines)
    assert f'<p class="digest">{lines[0]}<br>{lines[1]}</p>' in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("config", ["default", "markers"])
def test_a_terminal_of_80_columns_shows_all(tmp_path, config):
    """With COLUMNS=80 on a terminal: no line is wider, and no cell is cut."""
    screen, end = pty.openpty()
    command = [sys.executable, "-m", "vermilion", "run", "--engine", "model", "--no-report"]
    about = environment() | {"COLUMNS": "80", "TERM": "dumb"}
    more = ["--config", f"sim/configs/{config}.toml"]
    process = subprocess.Popen([*command, *more], cwd=ROOT, env=about, stdout=end, stderr=subprocess.DEVNULL)
    os.close(end)
    text = b""
    try:
        while part := os.read(screen, 65536):
            text += part
    except OSError:  # how a terminal says that its other end is closed
        pass
    os.close(screen)
    assert process.wait() == 0
    lines = text.decode().replace("\r", "").splitlines()
    assert max(map(cell_len, lines)) <= 80 and "…" not in text.decode() and len(lines) > 20
    assert any(line.startswith(" total ") for line in lines) and (config == "default") != any(
        "srtcm" in line for line in lines
    )


def test_a_run_says_where_its_report_is(tmp_path):
    """A capture of one's own has a report, too, unless --no-report asks for none; both together are refused."""
    capture, page = CAPTURES["apart"](tmp_path), ROOT / ".vermilion" / "report.html"
    status, out, _ = vermilion("run", capture, "--engine", "model", "--report", page)
    assert status == 0 and out.splitlines()[-1] == "report: .vermilion/report.html" and "<svg" in page.read_text()
    assert "report:" not in vermilion("run", capture, "--engine", "model")[1]
    status, _, err = vermilion("run", capture, "--no-report", "--report", page)
    assert status == 2 and "--report and --no-report are both given" in err


def spread_of(*queues):
    """A run's statistics with these DSCPs and packets in each queue."""
    return {"queues": [{"dscps": dscps, "not_ip": 5} for dscps in queues]}


@pytest.mark.parametrize(
    "result, found",
    [
        (spread_of([[0, 97]], [[46, 3]]), "97 % have DSCP 0 and"),
        (spread_of([[46, 3]], [[0, 9997]], []), "over 99 % have DSCP 0 and"),
        (spread_of([[10, 85]], [[46, 15]]), "85 % have DSCP 10 and"),
        (spread_of([[0, 60], [1, 40]], []), "100 % of the packets"),
        (spread_of([[0, 849]], [[46, 151]]), None),
        (spread_of([], []), None),
        (spread_of([[0, 9]], []) | {"rules": []}, None),
        (spread_of([[0, 9]], []) | {"spread": {}}, None),
        ({"queues": [{"colours": []}]}, None),
    ],
)
def test_lopsided(result, found):
    """85 % of the IP packets in one queue are told of, with their DSCP if it is one; not where rules or --spread say where packets go."""
    assert digest.lopsided(result) == found
    hints = [line for line in digest.lines(result, 10**6, 2) if line.startswith("hint: ") and "queue;" in line]
    assert len(hints) == (found is not None) and all(len(line) <= 80 for line in hints)
    assert not any("queue;" in line for line in digest.lines(result, 10**6, 1))


@pytest.mark.parametrize("options, told", [((), True), (("--spread", "flows"), False), (("--config", "one"), False)])
def test_hint(tmp_path, options, told):
    """A capture of DSCP 0 is told of once, unless the configuration has a single queue or flows are spread."""
    config = tmp_path / "one"
    config.write_text(ONE.format(rate="10Mbit"))
    options = [config if word == "one" else word for word in options]
    frames = [bytes(Ether() / IP(dst=f"10.0.0.{i}") / UDP(sport=i)) for i in range(99)]
    capture = pcap(tmp_path / "in.pcap", [(i, data, len(data)) for i, data in enumerate(frames)])
    status, out, err = vermilion("run", capture, "--engine", "model", *options)
    assert status == 0, err
    hint = "hint: 100 % have DSCP 0 and met one queue; give [[rule]]s or --spread flows"
    assert out.splitlines().count(hint) == told and out.count("met one queue") == told


def test_page():
    """What docs/first-steps.md shows of a hint, a warning and segments is what is printed."""
    page = (ROOT / "docs" / "first-steps.md").read_text()
    shown = digest.lines(spread_of([[0, 97]], [[46, 3]]), 10**6, 2)[1:2]
    shown += [f"warning: {show.warning('oversize: 12', 9728)}"]
    shown += front.lines({"split": {"frames": 12, "segments": 168, "whole": 0}})
    assert all(f"```\n{line}\n```\n" in page for line in shown), shown


def test_oversize(tmp_path):
    """The warning of frames that are too long names the build's limit and what to do; with --split there is none."""
    data = bytes(Ether() / IP() / TCP(flags="A") / Raw(bytes(20_000)))
    capture = pcap(tmp_path / "in.pcap", [(0, data, len(data))])
    page = tmp_path / "page.html"
    err = vermilion("run", capture, "--engine", "model", "--report", page)[2]
    for text in ("oversize: 1", "longer than the 9,728 bytes that this build stores", "--split segments those of TCP"):
        assert text in err
    assert "longer than the 9,728 bytes that this build stores" in page.read_text()
    status, out, err = vermilion("run", "--split", capture, "--engine", "model", "--report", page)
    assert status == 0 and "oversize" not in err and "split: 1 frames became 14 segments" in out
    assert "1 frames became 14 segments" in page.read_text()
