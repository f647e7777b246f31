"""Losses by distance as a user sees them: the table on the screen and the section of the report have the figures of the run's JSON."""

import io
import json

import pytest
from rich.console import Console

from support.browser_plots import opened
from support.html_tables import Tables
from support.runs import run
from support.victims import CONFIG, traffic
from vermilion import report
from vermilion.configuration import config
from vermilion.profile import quantise
from vermilion.simulation import show

HEAD = ["queue", *show.LOSSES]


def queue(name, known, others, evicted=0, **push_outs):
    pair = lambda n: {"packets": n, "bytes": 100 * n}
    colours = [{"evicted": pair(evicted)}, {"evicted": pair(0)}, {"evicted": pair(0)}]
    slots = sum(d * packets for d, packets in known)
    found = {"name": name, "colours": colours, "lost_by_distance": known, "wasted_hops": slots}
    return found | {"lost_without_distance": others} | push_outs


def test_a_queue_that_lost_a_packet_has_a_row():
    queues = [queue("near", [[0, 3], [4, 1]], 0), queue("idle", [], 0), queue("others", [], 7)]
    queues += [queue("push-outs", [[2, 1000], [63, 1]], 1200, 900, push_outs=1500, stale=2, victims_by_distance=[])]
    assert show.loss_rows({"queues": queues}) == [
        ["near", "4", "0", "0", "1", "4", "", ""],
        ["others", "7", "0", "7", "", "0", "", ""],
        ["push-outs", "2,201", "900", "1,200", "2.06", "2,063", "1,500", "2"],
    ]
    assert show.loss_rows({"queues": [queue("idle", [], 0)]}) == show.loss_rows({}) == []


def test_the_screen_has_no_table_where_nothing_is_lost():
    assert show.loss_rows({"queues": [queue("idle", [], 0)]}) == []
    screen = Console(file=io.StringIO(), width=140)
    show.statistics(screen, {"queues": [queue("others", [[1, 5]], 7)]})
    assert "Losses by distance" in screen.file.getvalue() and "without" in screen.file.getvalue()
    screen = Console(file=io.StringIO(), width=140)
    show.statistics(screen, {"queues": [queue("idle", [], 0)]})
    assert "distance" not in screen.file.getvalue()


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A run with push-outs, and its report."""
    folder = tmp_path_factory.mktemp("losses")
    file = folder / "config.toml"
    file.write_text(CONFIG % "2Gbit")
    page = folder / "page.html"
    stats = run(folder, traffic(folder / "in.pcap", 1, 4000), "--config", file, "--engine", "model", "--report", page)
    return stats, page


def wanted(stats):
    """The rows, worked out again."""
    rows = []
    for q in stats["queues"]:
        names = ("early", "forced", "tail", "evicted")
        lost = sum(colour[name]["packets"] for colour in q["colours"] for name in names)
        if lost:
            evicted = sum(colour["evicted"]["packets"] for colour in q["colours"])
            known = lost - q["lost_without_distance"]
            slots = sum(d * packets for d, packets in q["lost_by_distance"])
            figures = [lost, evicted, q["lost_without_distance"], f"{slots / known:.3g}", slots]
            figures += [q.get("push_outs", ""), q.get("stale", "")]
            rows.append([q["name"], *(f"{n:,}" if isinstance(n, int) else n for n in figures)])
    return rows


@pytest.mark.slow
def test_the_report_says_what_the_run_lost(shown):
    stats, page = shown
    tables = [rows for part, _, rows in Tables(page.read_text()).tables if part == "losses"]
    assert tables == [[HEAD, *wanted(stats)]] and len(tables[0]) >= 5
    by_name = {row[0]: row for row in tables[0][1:]}
    assert by_name["plain"][6] and not by_name["arriving"][6], "push-outs where there can be none"
    assert "Without a distance are frames that are not IP" in page.read_text()


def test_a_report_of_a_run_without_losses_has_no_such_section(tmp_path):
    asked = config.parse({"port": {"rate": "1Gbit"}})
    report.write(tmp_path / "page", asked, quantise.hardware(asked), json.loads('{"queues": []}'), None)
    assert "Losses by distance" not in (tmp_path / "page").read_text()


@pytest.mark.slow
def test_a_browser_shows_the_table_of_losses_within_the_page(browser, shown):
    stats, page = shown
    opened(browser, page)
    head, *rows = browser.execute_script("""
        let at = document.getElementById("losses");
        while (!at.querySelector || !at.querySelector("table")) at = at.nextElementSibling;
        return [...at.querySelectorAll("tr")].map(tr => [...tr.children].map(cell => cell.innerText));""")
    assert [head, *rows] == [HEAD, *wanted(stats)]
    places = browser.execute_script("""
        let at = document.getElementById("losses");
        while (!at.querySelector || !at.querySelector("table")) at = at.nextElementSibling;
        return [...at.querySelectorAll("th, td")].map(cell => cell.getBoundingClientRect())
          .map(box => [box.left, box.right, box.height]);""")
    width = browser.execute_script("return document.documentElement.clientWidth")
    assert all(0 <= left < right <= width and height > 10 for left, right, height in places)
