"""A report that is written, and a browser that shows it."""

import shutil

import pytest

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


@pytest.fixture
def own_width(request):
    """Each test begins and ends with the window's own width and scheme."""
    yield
    if "browser" in request.fixturenames:
        driver = request.getfixturevalue("browser")
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
