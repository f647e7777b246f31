"""The report of a run: what it measures, what it says, and that a browser draws it, offline."""

import json
import math
import re

import pytest

from support.browser_plots import opened
from support.report_runs import NASTY, run_json, setting, trace_file, traffic
from vermilion import report
from vermilion.report import plots, points


def test_the_interval_is_clopper_and_pearsons():
    assert points.binomial_interval(0, 10, 0.95) == pytest.approx((0, 1 - 0.025 ** (1 / 10)))
    assert points.binomial_interval(10, 10, 0.95) == pytest.approx((0.025 ** (1 / 10), 1))
    for hits, trials in ((1, 7), (5, 40), (300, 5000), (20, 100)):
        low, high = points.binomial_interval(hits, trials)

        def at_most(k, p):
            terms = (math.lgamma(trials + 1) - math.lgamma(i + 1) - math.lgamma(trials - i + 1) for i in range(k + 1))
            return sum(math.exp(t + i * math.log(p) + (trials - i) * math.log1p(-p)) for i, t in enumerate(terms))

        assert 1 - at_most(hits - 1, low) == pytest.approx(0.0005, rel=1e-6)
        assert at_most(hits, high) == pytest.approx(0.0005, rel=1e-6)


def test_each_decision_counts_for_the_curve_that_made_it(tmp_path):
    _, record = setting()
    not_ect, ect = 0, 2
    rows = [(0, 0, 0, not_ect, 15_000, 0)] * 6 + [(0, 0, 0, not_ect, 15_000, 2)] * 4
    rows += [(0, 0, 0, ect, 15_000, 1)] * 5 + [(0, 0, 0, ect, 2_000, 0)] * 3 + [(0, 0, 0, ect, 40_000, 3)] * 2
    rows += [(0, 0, 0, not_ect, 15_000, verdict) for verdict in (4, 5, 6)] + [(1, 0, 0, not_ect, 15_000, 0)]
    rows += [(0, 0, 2, not_ect, 15_000, 0), (0, 2, 0, not_ect, 100, 0)]  # neither has a curve
    found = points.collect(record, {}, trace_file(tmp_path / "trace", rows))
    assert set(found) == {(0, 0, "drop"), (0, 0, "ecn")}
    assert [(b.decisions, b.hits, b.average) for b in found[0, 0, "drop"].filled()] == [(10, 4, 15_000)]
    assert [(b.decisions, b.hits, b.average) for b in found[0, 0, "ecn"].filled()] == [(3, 0, 2_000), (5, 5, 15_000)]


def test_an_average_on_a_threshold_belongs_above_it():
    binned = points.Binned(points.edges({"min": 10, "max": 20, "end": 40}))
    for average in (9.99, 10, 20, 40):
        binned.add(average, False)
    counts = [b.decisions for b in binned.bins]
    assert len(counts) == 10 and [i for i, n in enumerate(counts) if n] == [0, 1, 6, 9]


def test_samples_stand_in_for_a_missing_trace_where_they_can(tmp_path):
    _, record = setting()
    found = points.collect(record, run_json(traffic()), tmp_path / "none")
    assert (0, 1, "drop") in found and (1, 0, "drop") in found and (0, 0, "drop") not in found


def test_the_page_says_what_the_run_found(written):
    text = written.read_text()
    for part in (
        "model agrees on 3000 of 3000 decisions",
        "frames below 14 bytes",
        "12,345",
        'id="curves"',
        'id="latency"',
    ):
        assert part in text, part
    assert re.search(r"average\.weight</td><td[^>]*>0\.02</td><td[^>]*>0\.0200195<", text)


def test_a_line_breaks_in_silences_only():
    steady = [float(i) for i in range(100)]
    assert plots.broken(steady, steady, 100)[0] == steady
    times, values = plots.broken(steady[:30] + steady[60:], [1.0] * 70, 100)
    assert times[30] == 60 and math.isnan(values[30]) and len(times) == 71
    assert sum(map(math.isnan, values)) == 1 and not math.isnan(values[31])
    sparse = [0.0, 30.0, 60.0, 90.0]  # always so: no silence
    assert plots.broken(sparse, sparse, 100) == (sparse, sparse)
    assert plots.broken([5.0], [1.0], 0) == ([5.0], [1.0]) and plots.broken([], [], 1) == ([], [])


def test_failures_come_above_all_and_the_run_is_named(tmp_path):
    about = [("capture", "<in>.pcap")]
    report.write(tmp_path / "page", *setting(), run_json(traffic(50)), None, ["all is lost & <more>"], about)
    text = (tmp_path / "page").read_text()
    assert text.index("all is lost &amp; &lt;more&gt;") < text.index("<nav") and "&lt;in&gt;.pcap" in text


def test_names_are_text_and_nothing_is_fetched(written):
    text = re.sub(
        "<script>.*?</script>", "", written.read_text(), flags=re.S
    )  # the library's own text; a browser test loads it
    assert "<b>" not in text and "&lt;b&gt;" in text and "$x_1$" in text
    assert not re.search(r'(?:src|href)="(?!#|data:,)', text) and "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    names = re.findall(r'\bid="([^"]*)"', text)
    assert len(names) == len(set(names))
    targets = re.findall(r'href="#([^"]*)"', text) + re.findall(r"url\(#([^)]*)\)", text)
    assert set(targets) <= set(names)


def test_a_disagreement_and_a_lost_frame_are_told(tmp_path):
    stats = run_json(traffic(50))
    stats["replay"] = {"decisions": 50, "agreed": 49, "first_disagreement": "average <off> at 17 ns"}
    stats["accounting"] = {"errors": 2, "first_error": "a frame is gone"}
    report.write(tmp_path / "page", *setting(), stats, None)
    text = (tmp_path / "page").read_text()
    assert '<p class="verdict wrong">model agrees on 49 of 50 decisions</p>' in text
    assert "average &lt;off&gt; at 17 ns" in text and "The accounting of frames has 2 errors" in text


@pytest.mark.parametrize(
    "stats", [run_json([]), {}, run_json(traffic(1)), run_json([[1_000_000, 2, 0, 0.0, 0, 0, 0.0, 4]])]
)
def test_runs_with_next_to_nothing_give_a_page(tmp_path, stats):
    report.write(tmp_path / "page", *setting(), json.loads(json.dumps(stats)), None)
    text = (tmp_path / "page").read_text()
    assert text.count("<h2") == text.count("</h2>") >= 5 and "nan" not in re.sub(r"[\w-]*nan\w+", "", text)
    if not stats.get("packets"):
        assert "No packet came to any queue." in text and "No packet left." in text


def test_a_browser_draws_every_plot(browser, written):
    plots = {plot["name"]: plot for plot in opened(browser, written)}
    curves = {"plot-curve-0": 30, "plot-curve-1": 20}
    least = curves | {"verdict-bars": 15, "plot-latency": 10}
    assert set(plots) == set(least)  # "silent" had no packet and has no curve
    for name, count in least.items():
        plot = plots[name]
        assert plot["width"] > 600 and plot["height"] > 100, name
        assert plot["paths"] >= count and plot["inside"] == plot["paths"], (name, plot)
    assert any(NASTY in text for text in plots["verdict-bars"]["texts"])
    assert "measured" in plots["plot-curve-0"]["texts"]


def test_a_browser_draws_a_run_without_packets(browser, tmp_path):
    report.write(tmp_path / "page.html", *setting(), run_json([]), None)
    assert [plot["name"] for plot in opened(browser, tmp_path / "page.html")] == ["plot-curve-0", "plot-curve-1"]
    assert (tmp_path / "page.html").read_text().count("these curves judged no packet</summary>") == 2


def test_on_a_small_screen_only_plots_and_tables_scroll_sideways(browser, written):
    size = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    plots_seen = opened(browser, written)
    wide = browser.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide[0] <= wide[1] == 390
    assert all(plot["width"] > 600 and plot["inside"] == plot["paths"] for plot in plots_seen)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_paper_in_light_and_dark(browser, written, scheme):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    opened(browser, written)
    paper, *inks = browser.execute_script(
        """
        const look = (e, what) => getComputedStyle(e)[what].match(/[0-9.]+/g).slice(0, 3).map(Number);
        return [look(document.body, "backgroundColor"), look(document.querySelector("p"), "color"),
                look(document.querySelector("figcaption"), "color"), look(document.querySelector("svg text"), "fill")];"""
    )

    def light(rgb):
        linear = [(c / 255 / 12.92) if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    assert (light(paper) < 0.1) == (scheme == "dark")
    for ink in inks[:2]:
        low, high = sorted((light(ink), light(paper)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, paper)
