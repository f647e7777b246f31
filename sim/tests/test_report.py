"""The report of a run: what it measures, what it says, and that a browser draws it, offline."""

import json
import math
import random
import re
import shutil

import pytest

from vermilion import config, formats, quantise, report
from vermilion.report import plots, points

NASTY = '<b>"q" & $x_1$</b>'
ASKED = {
    "port": {"rate": "2Mbit"},
    "queue": [
        {
            "name": NASTY,
            "default": True,
            "ecn": True,
            "limit": "60KB",
            "spacing": "uniform",
            "average": {"kind": "rio-c", "weight": 0.02},
            "green": {
                "curve": "red", "min": "10KB", "max": "30KB", "p": 0.1,
                "ecn": {"min": "5KB", "max": "5KB", "p": 1.0},
            },
            "yellow": {"curve": "gentle", "min": "5KB", "max": "20KB", "p": 0.2},
        },
        {
            "name": "packets",
            "dscp": ["AF11", "AF12"],
            "limit_packets": "60p",
            "average": {"unit": "packet"},
            "green": {"curve": "exred", "min": "10p", "max": "30p", "p": 0.1},
        },
        {"name": "silent", "dscp": ["EF"], "limit": "6KB"},
    ],
}  # fmt: skip
FATES = ("enqueued", "mark", "early", "forced", "tail", "nobuf", "bad", "policed")


def setting():
    asked = config.parse(ASKED)
    return asked, quantise.hardware(asked)


def counters(verdicts):
    def pair(*codes):
        count = sum(verdicts.count(code) for code in codes)
        return {"packets": count, "bytes": 500 * count}

    out = {"arrived": pair(*range(7)), "enqueued": pair(0, 1), "marked": pair(1), "ce_written": pair(1)}
    out |= {name: pair(code) for code, name in enumerate(FATES) if code >= 2}
    return out | {"sent": pair(0, 1)}


def run_json(decisions):
    """The JSON of sim/harness/results.h for decisions [time, queue, colour, average, bytes, packets, p, verdict]."""
    queues = []
    for index, name in enumerate([NASTY, "packets", "silent"]):
        own = [d for d in decisions if d[1] == index]
        colours = [counters([d[7] for d in own if d[2] == c]) for c in range(3)]
        sent = sum(c["sent"]["packets"] for c in colours)
        latency = [[0, 1], [1024, 2], [90112, sent]] if sent else []
        queues.append({"index": index, "name": name, "colours": colours, "latency": latency, "latency_max_ns": 98000})
    out = {"engine": "rtl", "preset": "lab", "packets": len(decisions), "bytes": 500 * len(decisions), "clocks": 12345}
    out |= {"seconds": 0.5, "queues": queues, "samples": decisions, "sample_every": 1, "event_every": 1}
    out |= {"events": [d for d in decisions if d[7]], "lane_start_ns": 1_000_000, "accounting": {"errors": 0}}
    return out | {"replay": {"decisions": len(decisions), "agreed": len(decisions)}, "warnings": {"runt": 3}}


def traffic(count=3000):
    chance, out = random.Random(7), []
    for i in range(count):
        queue, colour = int(i % 3 == 0), int(i % 5 == 0)
        level = 0.5 - 0.5 * math.cos(i / 200)
        backlog = int(level * (50 if queue else 50_000))
        verdict = chance.choices(range(6), weights=(80, 4, 8, 4, 3, 1))[0]
        row = [1_000_000 + i * 10_000, queue, colour, backlog * 0.8, backlog * 1000 if queue else backlog]
        out.append(row + [backlog if queue else backlog // 1000, 0.1, verdict])
    return out


def trace_file(path, rows):
    """A trace with the columns that matter in the order of sim/harness/trace_writer.h: (refresh, queue, colour, ecn, average, verdict)."""
    names = "time,refresh,input,queue,colour,len_bytes,ecn,bad,no_buffer,draw,probability,ruling".split(",")
    names += [
        f"{n}_{c}" for c in range(3) for n in ("backlog_bytes", "backlog_packets", "last_departure", "ahead", "average")
    ]
    lines = [",".join(names)]
    for refresh, queue, colour, ecn, average, verdict in rows:
        row = dict.fromkeys(names, 0) | {"refresh": refresh, "queue": queue, "colour": colour, "ecn": ecn}
        row |= {f"average_{colour}": int(average * 2**formats.AVG_FRAC), "ruling": verdict}
        lines.append(",".join(str(row[n]) for n in names))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    decisions = traffic()
    trace = trace_file(folder / "trace", [(0, d[1], d[2], i % 2, d[3], d[7]) for i, d in enumerate(decisions)])
    report.write(folder / "report.html", *setting(), run_json(decisions), trace)
    return folder / "report.html"


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


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("chromium and chromedriver are not installed; apt-get install chromium chromium-driver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    flags += " --disable-component-update --disable-sync --window-size=1100,1400"
    for flag in flags.split() + [f"--user-data-dir={tmp_path_factory.mktemp('browser')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started = webdriver.Chrome(options=options, service=Service(driver))
    yield started
    started.quit()


def opened(browser, page) -> list[dict]:
    """Every plot as the browser drew it; fails on messages in the console and on requests beyond the page."""
    browser.get_log("performance"), browser.get_log("browser")
    browser.get(page.as_uri())
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    asked = [
        a["request"]["url"] for a in asked if a["documentURL"] == page.as_uri()
    ]  # not the browser's own first page
    assert {url for url in asked if not url.startswith("data:")} == {page.as_uri()}
    return browser.execute_script("""
        return [...document.querySelectorAll("figure svg")].map(svg => {
          const box = svg.getBoundingClientRect();
          const drawn = [...svg.querySelectorAll("path, use")].filter(p => !p.closest("defs, clipPath"));
          const seen = drawn.map(p => p.getBoundingClientRect()).filter(b => b.width + b.height > 0);
          const inside = seen.filter(b => b.left >= box.left - 2 && b.right <= box.right + 2);
          const texts = [...svg.querySelectorAll("text")].map(t => t.textContent);
          return {name: svg.id, width: box.width, height: box.height, paths: seen.length, inside: inside.length, texts};
        });""")


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
