"""The plots over time that a browser draws: zoom, values at the cursor, the legend, widths, hostile names."""

import json
import re

import pytest

from support.browser_plots import HOSTILE, SCRIPT, Plot, holds, opened, until, width
from support.report_runs import run_json, setting, traffic
from vermilion import report
from vermilion.commands import cli
from vermilion.report import live, timeline
from vermilion.toolchain import build

pytestmark = pytest.mark.usefixtures("own_width")


def test_a_drag_zooms_and_a_double_click_shows_everything(browser, written):
    opened(browser, written)
    plot = Plot(browser, "plot-time-0")
    whole, wide = plot.range(), plot.js("return plot.over.clientWidth")
    assert whole[0] < 0 < 29e6 < whole[1]
    plot.drag(wide / 4, 100, wide // 2)
    span = (whole[1] - whole[0]) / 4
    until(lambda: plot.range() == pytest.approx([whole[0] + span, whole[1] - span], abs=span / 50))
    assert plot.range("y")[0] == 0
    assert Plot(browser, "plot-time-1").range() == whole, "a plot of another queue is as it was"
    plot.mouse(wide / 2, 100).double_click().perform()
    until(lambda: plot.range() == whole)
    assert browser.get_log("browser") == []


def shown(value):
    return f"{value:,.2f}".rstrip("0").rstrip(".")


@pytest.mark.parametrize("zoomed", [False, True])
def test_the_legend_has_the_values_at_the_cursor(browser, written, zoomed):
    """Compared with the run's samples, not with the data of the page."""
    opened(browser, written)
    plot = Plot(browser, "plot-time-0")
    if zoomed:
        plot.drag(200, 50, 60)
    rows = [[d[0] - 1_000_000, *d[1:]] for d in traffic() if d[1] == 0]
    for place in (123, 301, 404):
        plot.mouse(place, 60).perform()
        at = plot.js("return plot.posToVal(plot.cursor.left, 'x')")
        found = plot.legend()
        near = min(rows, key=lambda d: abs(d[0] - at))
        assert found["backlog, whole queue"] == shown(near[4])
        assert float(found["time, ms"]) == pytest.approx(near[0] / 1e6)
        for number, colour in enumerate(("green", "yellow")):
            own = min((d for d in rows if d[2] == number), key=lambda d: abs(d[0] - at))
            assert found[f"average, {colour}"] == shown(own[3]), colour
    event = next(d for d in rows if d[7] == 4 and d[4] > 9000 and d[0] > plot.range()[0])
    x, y = plot.js("return [plot.valToPos(arguments[0], 'x'), plot.valToPos(arguments[1], 'y')]", event[0], event[4])
    plot.mouse(x, y).perform()
    at = plot.js("return plot.posToVal(plot.cursor.left, 'x')")
    tails = [[d[0], d[4], d[2]] for d in rows if d[7] == 4]
    assert len(tails) > 20
    near = min(tails, key=lambda d: abs(d[0] - at))
    assert plot.legend()["tail"] == f"{shown(near[1])}, {('green', 'yellow')[near[2]]}"


def test_a_silence_has_no_value(browser, tmp_path):
    rows = [d for i, d in enumerate(traffic()) if not 1000 < i < 2000]
    report.write(tmp_path / "page.html", *setting(), run_json(rows), None)
    opened(browser, tmp_path / "page.html")
    plot = Plot(browser, "plot-time-0")
    for time_ns, silent in ((15e6, True), (5e6, False)):
        plot.mouse(plot.js("return plot.valToPos(arguments[0], 'x')", time_ns), 60).perform()
        found = plot.legend()
        assert all((found[label] == "--") == silent for label in ("time, ms", "average, green", "backlog, whole queue"))
    green = timeline.data(setting()[1]["queues"][0], [d for d in rows if d[1] == 0], [], 0, 30 * 10**6)["lines"][1]
    assert green["v"].count(None) == 1


@pytest.mark.parametrize("by_keyboard", [False, True])
def test_a_legend_entry_hides_its_series_and_shows_it_again(browser, written, by_keyboard):
    from selenium.webdriver.common.keys import Keys

    opened(browser, written)
    plot = Plot(browser, "plot-time-1")
    ink = plot.data()["lines"][1]["ink"]
    press = lambda entry: entry.send_keys(Keys.ENTER) if by_keyboard else entry.click()
    for label in [*plot.legend()][2:]:  # verdicts stand in the colours of the averages
        press(plot.entry(label))
    until(lambda: plot.painted(ink) == 0)
    assert plot.entry("average, green").get_attribute("aria-pressed") == "false"
    press(plot.entry("average, green"))
    until(lambda: plot.painted(ink) > 500)
    assert plot.js("return plot.series.filter(s => s.show).length") == 3  # time, backlog, average
    assert plot.entry("average, green").get_attribute("aria-pressed") == "true"


def test_thresholds_take_part_in_the_height_while_they_are_shown(browser, tmp_path):
    rows = [[*d[:3], d[3] / 10, d[4] // 10, *d[5:7], 0] for d in traffic(600)]
    report.write(tmp_path / "page.html", *setting(), run_json(rows), None)
    opened(browser, tmp_path / "page.html")
    plot = Plot(browser, "plot-time-0")
    assert plot.range("y") == pytest.approx([0, 1.05 * 30_000], rel=0.01)
    plot.entry("min and max").click()
    until(lambda: plot.range("y")[1] < 10_000)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axes_follow_the_scheme_without_a_reload(browser, written, scheme):
    opened(browser, written)
    plot = Plot(browser, "plot-time-0")
    for value, soft in (("light", "#5c5c66"), ("dark", "#a5a5b0")) if scheme == "dark" else (("light", "#5c5c66"),):
        features = [{"name": "prefers-color-scheme", "value": value}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        until(lambda: plot.painted(soft) > 100)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A report whose queues have names that would be markup."""
    page = tmp_path_factory.mktemp("hostile") / "run.html"
    stats = run_json(traffic(1500))
    for queue, name in zip(stats["queues"], HOSTILE, strict=True):
        queue["name"] = name
    report.write(page, *setting(), stats, None)
    return page


@pytest.mark.parametrize("pixels", [400, 1400])
def test_names_are_text_and_no_page_is_wider_than_its_window(browser, hostile, pixels):
    width(browser, pixels)
    opened(browser, hostile)
    holds(browser, HOSTILE[:2], pixels)  # no packet came to the third queue


def test_a_plot_follows_the_width_of_the_window(browser, written):
    width(browser, 1400)
    opened(browser, written)
    plot = Plot(browser, "plot-time-0")
    wide = lambda: plot.js("return element.querySelector('canvas').getBoundingClientRect().width")
    before = wide()
    assert before > 900
    width(browser, 400)
    until(lambda: wide() == plot.js("return element.clientWidth") <= 400)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 400
    width(browser, 1400)
    until(lambda: wide() == before)


def test_data_cannot_end_its_element():
    text = live.as_json({"names": HOSTILE})
    assert not re.search("[<>&]", text) and json.loads(text) == {"names": HOSTILE}
    text = live.plot("x", SCRIPT, {"names": HOSTILE})
    assert text.count("</script>") == 1 and "<img" not in text


def test_the_page_holds_the_licence_and_only_a_page_with_plots_the_library(tmp_path, written):
    text = written.read_text()
    assert "Permission is hereby granted" in text and "Leon Sorokin" in text and text.count("uPlot=function") == 1
    report.write(tmp_path / "page", *setting(), run_json([]), None)
    assert "uPlot=function" not in (tmp_path / "page").read_text()


def test_a_missing_library_is_a_sentence(tmp_path, monkeypatch):
    live.library.cache_clear()
    (tmp_path / "uplot.jar").write_text("no archive")
    for path in (tmp_path / "none", tmp_path / "uplot.jar"):
        monkeypatch.setattr(live, "JAR", path)
        with pytest.raises(build.BuildError, match="is no package of uPlot .*start ./vermilion"):
            live.library()


def test_a_run_without_the_library_ends_before_it_builds(tmp_path, monkeypatch):
    """A simulation of hours is not begun for a report that cannot be written."""

    def built(*_, **__):
        raise AssertionError("builds")

    live.library.cache_clear()
    monkeypatch.setattr(live, "JAR", tmp_path / "none")
    monkeypatch.setattr(build, "model_program", built)
    with pytest.raises(build.BuildError, match="is no package of uPlot"):
        cli.cli.main(["run", "--engine", "model"], standalone_mode=False)
    with pytest.raises(AssertionError, match="builds"):
        cli.cli.main(["run", "--engine", "model", "--no-report"], standalone_mode=False)


def test_a_plot_that_fails_leaves_the_others(browser, tmp_path, written):
    page = tmp_path / "page.html"
    page.write_text(written.read_text().replace('"kind":"time"', '"kind":"none"', 1))
    browser.get(page.as_uri())
    assert browser.execute_script("return document.getElementById('plot-time-0').textContent").endswith("be drawn.")
    assert Plot(browser, "plot-time-1").range()[1] > 0
    assert len(browser.get_log("browser")) == 1


def test_set_up_pins_the_library():
    text = (build.ROOT / "vermilion").read_text()
    version = re.search(r"^uplot_version=(\d+\.\d+\.\d+)\b", text, re.M)[1]
    assert re.search(r"^uplot_sha256=[0-9a-f]{64}$", text, re.M) and f"uPlot (v{version})" in live.library()[0]
    assert "$uplot_version" in re.search("^want=.*", text, re.M)[0]
