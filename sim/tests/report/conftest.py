"""A report that is written, and a browser that shows it."""

import pytest

from support.browser import start as browser_without_window
from support.report_runs import run_json, setting, trace_file, traffic
from vermilion import report


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    decisions = traffic()
    trace = trace_file(folder / "trace", [(0, d[1], d[2], i % 2, d[3], d[7]) for i, d in enumerate(decisions)])
    report.write(folder / "report.html", *setting(), run_json(decisions), trace)
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = browser_without_window(tmp_path_factory.mktemp("browser"))
    yield started
    started.quit()


@pytest.fixture
def own_width(request):
    """Each test begins and ends with the window's own width and scheme."""
    yield
    if "browser" in request.fixturenames:
        driver = request.getfixturevalue("browser")
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
