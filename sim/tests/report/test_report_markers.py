"""What a user sees of the markers: trace, JSON, terminal and report of the shipped capture under sim/configs/markers.toml."""

import csv
import io
import json
import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6

from support.browser_plots import opened
from support.flow_bench import Paper
from support.headers import MACS
from support.html_tables import Tables
from support.marker_traffic import lane, toml
from support.runs import ROOT, SHIPPED, same
from support.shipped_capture import packets
from vermilion import report
from vermilion.configuration import config_file
from vermilion.profile import marker_image, quantise
from vermilion.report import marker_points
from vermilion.simulation import show

pytestmark = pytest.mark.slow

FILE = ROOT / "sim/configs/markers.toml"
LEAF, REDP, SRTCM, TRTCM, THREE, WEB, ADAPTIVE = range(7)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The run in both engines, which agree to the byte, and its report with and without the trace."""
    folder = tmp_path_factory.mktemp("markers")
    stats, trace = same(folder, SHIPPED, "--config", FILE, traced=True)
    asked = config_file.load(FILE)
    for name, path in (("report", folder / "rtl.csv"), ("untraced", None)):
        report.write(folder / f"{name}.html", asked, quantise.hardware(asked), stats, path)
    rows = [row for row in csv.DictReader(io.StringIO(trace)) if row["refresh"] == "0"]
    return SimpleNamespace(folder=folder, config=asked, stats=stats, rows=rows, page=folder / "report.html")


def tables_of(page, index, title=None):
    """The tables of one queue's part: those outside of details, or those of the details with that title."""
    found = [t for t in Tables(page.read_text()).tables if t[0] == f"marker-{index}"]
    return [rows for _, where, rows in found if (where.startswith(title) if title else not where)]


def number(text):
    return int(text.replace(",", "")) if text else 0


def test_every_kind_of_marker_acts_in_the_example(shown):
    kinds = [q["marker"]["kind"] for q in shown.stats["queues"]]
    assert kinds == ["leaf", "redp", "srtcm", "trtcm", "3cpm", "wpm", "apm"]
    moved = [
        {(i, o) for i, row in enumerate(q["colours_in_out"]) for o, n in enumerate(row) if n and i != o}
        for q in shown.stats["queues"]
    ]
    assert moved[REDP] == {(0, 1), (1, 0)} and (0, 2) in moved[LEAF] and {(0, 1), (0, 2)} <= moved[SRTCM]
    assert {(0, 1), (0, 2), (1, 2)} == moved[TRTCM] and {(0, 1), (0, 2), (1, 0), (2, 0)} <= moved[THREE]
    assert moved[WEB] == {(0, 1)} and moved[ADAPTIVE] == {(0, 1), (0, 2)}


def test_events_of_trace_queues_and_registers_are_the_same(shown):
    traced = Counter((int(row["queue"]), event) for row in shown.rows for event in row["flow_events"].split())
    for name in show.FLOW_EVENTS:
        own = {q["index"]: q["marker"].get("flow_events", {}).get(name, 0) for q in shown.stats["queues"]}
        assert all(traced[index, name] == count for index, count in own.items())
        assert shown.stats["flow_events"][name] == sum(own.values()), name
    assert shown.stats["flow_events"]["loss"] > 0 and shown.stats["flow_events"]["probe"] > 0
    assert not any(row["flow"] for row in shown.rows if int(row["queue"]) < THREE)


def segment(frame):
    """A frame's headers as the paper's rules ask for them, and the flow's ends."""
    ip = frame[IP] if IP in frame else frame[IPv6]
    tcp = ip[TCP]
    behind = ip.len - 4 * ip.ihl if IP in frame else ip.plen
    header = SimpleNamespace(is_tcp=1, tcp_flags=int(tcp.flags), tcp_seq=tcp.seq)
    header.tcp_payload = behind > 4 * tcp.dataofs
    return header, (ip.src, ip.dst, tcp.sport, tcp.dport)


def test_flow_numbers_and_states_in_the_trace_follow_the_rules_packet_by_packet(shown):
    """Colour, A_Y, L_Y, credits and SN_h worked out from the frames alone, in exact fractions."""
    markers = {q.index: m for q in shown.config.queue for m in shown.config.marker if m.queue == q.name and m.by_flow}
    paper, numbers, compared = Paper(), {}, Counter()
    assert len(shown.rows) == len(packets())  # one input, so decisions come in the order of frames
    for row, (_, length, frame) in zip(shown.rows, packets(), strict=True):
        assert int(row["len_bytes"]) == length
        index = int(row["queue"])
        if index not in markers or TCP not in frame:
            assert row["flow"] == row["flow_average"] == row["flow_events"] == ""
            continue
        c = SimpleNamespace(**marker_image.flow_record(markers[index]))
        header, key = segment(frame)
        assert int(row["colour"]) == paper.step((index, key), header, c)
        if not header.tcp_payload and not header.tcp_flags & 2:
            assert row["flow"] == row["flow_average"] == ""
            continue
        assert int(row["flow"]) == numbers.setdefault((index, key), len(numbers))
        f = paper.flows[index, key]
        whole = Fraction(8, 8 - c.alpha) if row["flow_raised"] == "1" else 1
        assert Fraction(int(row["flow_average"]), 256) * whole == f.average
        assert [int(row[f"flow_{n}"]) for n in ("burst", "credits", "seq")] == [f.burst, f.credits, f.highest]
        assert ("probe" in row["flow_events"]) == (row["colour"] == "2")
        compared[index] += 1
    assert min(compared.values()) > 100 and set(compared) == set(markers)
    for q in shown.stats["queues"][THREE:]:
        for flow in q["marker"]["busiest"]:
            last = [row for row in shown.rows if row["flow"] == str(flow["flow"])]
            key = next(key for key, n in numbers.items() if n == flow["flow"])
            assert sum(flow["packets"]) == len(last)
            assert flow["packets"] == [sum(row["colour"] == str(c) for row in last) for c in range(3)]
            assert flow["average"] == float(paper.flows[key].average) and flow["burst"] == paper.flows[key].burst


def test_tables_of_colours_are_the_counters(shown):
    for q in shown.stats["queues"]:
        head, *rows = tables_of(shown.page, q["index"])[0]
        assert head[0] == "came" and head[1:4] == ["left green", "left yellow", "left red"]
        matrix = {row[0]: [number(cell) for cell in row[1:4]] for row in rows}
        policed = matrix.pop("of these dropped", [0, 0, 0])
        for colour, counts in zip(("green", "yellow", "red"), q["colours_in_out"], strict=True):
            assert matrix.get(colour, [0, 0, 0]) == counts
        assert policed == [c["policed"]["packets"] for c in q["colours"]]
        (spans,) = tables_of(shown.page, q["index"], "Colours over time")
        sums = [sum(number(row[i]) for row in spans[1:]) for i in range(1, 8)]
        arrived = [c["arrived"]["bytes"] for c in q["colours"]]
        dropped = [c["policed"]["bytes"] for c in q["colours"]]
        assert sum(sums[:3]) == sum(arrived)
        assert sums[3:] == [a - d for a, d in zip(arrived, dropped, strict=True)] + [sum(dropped)]


def test_tables_of_flows_are_the_counters(shown):
    for q in shown.stats["queues"][THREE:]:
        flows = tables_of(shown.page, q["index"])[1]
        assert [row[0] for row in flows[1:]] == [str(f["flow"]) for f in q["marker"]["busiest"]]
        for row, flow in zip(flows[1:], q["marker"]["busiest"], strict=True):
            counts = [sum(flow["packets"]), *flow["packets"], flow["losses"], flow["probes"]]
            assert [number(cell) for cell in row[3:9]] == counts and row[1] == flow["from"]
        if q["index"] != ADAPTIVE:
            (listed,) = tables_of(shown.page, q["index"], "Events of these flows")
            kinds = Counter(row[2] for row in listed[1:])
            assert kinds["loss"] == q["marker"]["flow_events"]["loss"]
    (rows,) = [rows for part, _, rows in Tables(shown.page.read_text()).tables if part == "marker-events"]
    assert rows[-1][0] == "all, by the hardware's registers" and len(rows) == 5
    assert [number(cell) for cell in rows[-1][1:]] == list(shown.stats["flow_events"].values())


def test_tokens_are_those_of_a_bucket_and_redps_shares_those_of_eq_1(shown):
    markers = {q.index: m for q in shown.config.queue for m in shown.config.marker if m.queue == q.name}
    seen = marker_points.collect(markers, shown.stats, shown.folder / "rtl.csv")
    for index in (LEAF, REDP, SRTCM, TRTCM):
        rate, depth = marker_image.buckets(markers[index])[0]
        levels = [(time, level) for time, level, *_ in seen[index].levels.kept]
        assert len(levels) == sum(map(sum, shown.stats["queues"][index]["colours_in_out"]))
        assert max(level for _, level in levels) <= depth + 1
        for (early, before), (late, after) in pairwise(levels):  # it never fills faster than its rate
            assert after - before <= rate * (late - early + 64) / 8e9 + 0.01
    redp = seen[REDP]
    for binned, rule in ((redp.demoted, marker_points.demotion), (redp.promoted, marker_points.promotion)):
        bins = binned.filled(10)
        assert len(bins) >= 3
        for b in bins:
            low, high = b.interval
            assert low <= rule(markers[REDP], b.average) <= high
    (shares,) = tables_of(shown.page, REDP, "Demotion")
    assert sum(number(row[2]) for row in shares[1:]) == sum(
        b.decisions for binned in (redp.demoted, redp.promoted) for b in binned.filled()
    )


@pytest.mark.parametrize("low, high", [(0, 1501), (1501, 1501), (0, 0), (60, 1500)])
def test_a_report_stands_the_edges_of_redps_regions(tmp_path, program, low, high):
    """A threshold at the bucket's end leaves no region to share out; the bucket's depth in whole ns is a little above what was asked."""
    fields = {"kind": "redp", "rate": "3Mbit", "bucket": 1501, "low": low, "high": high, "max_promote": 1.0}
    text = toml([("af1", '["AF11", "AF12"]'), ("rest", None)], {"af1": fields})
    frames = [(n * 10**8, MACS + b"\x08\0" + bytes([0x45, (10, 12)[n % 2] << 2]) + bytes(98)) for n in range(400)]
    stats, rows = lane(program, tmp_path, frames, text, engine="model", traced=True)
    asked = config_file.load(tmp_path / "c.toml")
    seen = marker_points.collect({0: asked.marker[0]}, stats, tmp_path / "trace")[0]
    assert max(level for _, level, *_ in seen.levels.kept) > 1501 - 0.01
    assert (sum(b.decisions for b in seen.promoted.bins) > 100) == (high < 1501)
    report.write(tmp_path / "page.html", asked, quantise.hardware(asked), stats, tmp_path / "trace")
    assert 'id="plot-shares-0"' in (tmp_path / "page.html").read_text()


def test_without_a_trace_counters_stay_and_a_sentence_says_what_is_missing(shown):
    text = (shown.folder / "untraced.html").read_text()
    assert "Without a trace there is nothing over time here" in text and "plot-colours" not in text
    for index in range(7):
        assert tables_of(shown.folder / "untraced.html", index) == tables_of(shown.page, index)
    assert 'id="markers"' in text and 'id="markers"' not in empty_page(shown.folder, "sim/configs/default.toml", {})


def empty_page(folder, file, stats):
    asked = config_file.load(ROOT / file)
    report.write(folder / "empty.html", asked, quantise.hardware(asked), stats, None)
    return (folder / "empty.html").read_text()


def test_a_run_without_packets_has_its_parts_all_the_same(shown):
    text = empty_page(shown.folder, FILE, json.loads("{}"))
    assert text.count("No packet came to this queue.") == 7


def test_the_terminal_shows_flow_markers(shown):
    from rich.console import Console

    def printed(stats):
        screen = Console(width=160, file=io.StringIO())
        show.statistics(screen, stats)
        return screen.file.getvalue()

    text = printed(shown.stats)
    lines = text[text.index("Flow markers") :].splitlines()
    total = next(line.split() for line in lines if line.split()[:1] == ["all"])
    assert total[1] == "registers" and str(shown.stats["flow_events"]["probe"]) in total
    assert sum(line.split()[:2] in (["3cpm", "3cpm"], ["wpm", "wpm"], ["apm", "apm"]) for line in lines) == 3
    bare = {**shown.stats, "queues": [{**q, "marker": {}} for q in shown.stats["queues"]]}
    assert "Flow markers" not in printed(bare)


def test_a_browser_draws_every_figure_and_cuts_no_label(browser, shown):
    plots = {plot["name"]: plot for plot in opened(browser, shown.page)}
    least = {f"plot-colours-{i}": 8 for i in range(7)} | {f"plot-tokens-{i}": 60 for i in range(4)}
    least |= {f"plot-flows-{i}": 20 for i in range(4, 7)} | {f"plot-shares-{REDP}": 15}
    assert {name for name in plots if re.match("plot-(colours|tokens|flows|shares)", name)} == set(least)
    for name, count in least.items():
        assert plots[name]["width"] > 600 and plots[name]["paths"] >= count, (name, plots[name])
        assert plots[name]["inside"] == plots[name]["paths"], name
    assert {"demotion", "balanced", "promotion"} <= set(plots[f"plot-tokens-{REDP}"]["texts"])
    assert {"A_Y", "L_Y", "red: a probe", "loss seen"} <= set(plots[f"plot-flows-{THREE}"]["texts"])
    wrong = browser.execute_script("""
        const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
        return [...document.querySelectorAll("figure svg")].flatMap(svg => {
          const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll("text")];
          const boxes = texts.map(t => t.getBoundingClientRect());
          return texts.flatMap((t, i) => {
            const b = boxes[i], bad = [];
            if (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1)
              bad.push(svg.id + " cuts " + t.textContent);
            boxes.slice(0, i).forEach((o, j) => { if (hit(b, o)) bad.push(svg.id + ": " + t.textContent + " on " + texts[j].textContent); });
            return bad;
          });
        });""")
    assert [w for w in wrong if re.match("plot-(colours|tokens|flows|shares)", w)] == []


def test_on_a_small_screen_the_page_of_markers_is_no_wider(browser, shown):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened(browser, shown.page)
    wide = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide[0] <= wide[1] == 390
