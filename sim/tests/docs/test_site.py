"""The site of the pages: it builds without a warning, needs no network, works from disk, and its search finds what readers look for."""

import json
import re
import time
from pathlib import Path

import pytest

from support import browser as browsers
from vermilion.commands.cli import cli
from vermilion.site import build, flowchart, results, stage
from vermilion.toolchain.build import ROOT
from vermilionctl import cli as tools

GROUPS = {"./vermilion": cli, "vermilionctl": tools.cli}
SEARCHED = {"DualPI2": "dualpi2", "alpha": "alpha", "what is dropped first": "dropped"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("docs") / "site"
    build.site(place, GROUPS)
    return place


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    started = browsers.start(tmp_path_factory.mktemp("browser"))
    yield started
    started.quit()


def show(browser, path: Path, width: int = 1400, dark: bool = False):
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    browser.get_log("browser")
    browser.get(path.as_uri())


def test_every_page_is_in_the_site(site):
    """MkDocs ran with --strict, so no link or anchor is broken and no page is missing from the menu."""
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert pages and all((site / page).is_file() for page in pages)
    assert (site / "reference/command-line.html").is_file() and (site / "decisions/index.html").is_file()


def test_each_result_is_in_a_group_and_in_the_menu(site):
    """The results have a sidebar of their own, and the menu's word "Decisions" is no other section's link."""
    found = {path.stem for path in (ROOT / "docs/results").glob("*.md")}
    text = results.listing(found)
    assert text.count("](") == len(found) and "## Networks" in text
    with pytest.raises(ValueError, match="no-page"):
        results.listing(found | {"no-page"})
    page = (site / "results/area.html").read_text()
    assert 'href="line-rate.html"' in page and "md-sidebar--primary" in page
    tabs = re.findall(r'md-tabs__link">\s*([\w-]+)', page)
    assert tabs == ["Home", "Tutorials", "How-to", "Reference", "Explanation", "Results", "Project"]


def test_the_pages_ask_no_other_host(site):
    asked = re.compile(r"""<(?:script|link|img|iframe)[^>]*?(?:src|href)=["']?(https?:[^"' >]+)""")
    for page in site.rglob("*.html"):
        assert not [url for url in asked.findall(page.read_text()) if "canonical" not in url], page


def test_commands_presets_and_messages_are_in_the_reference(site):
    commands = (site / "reference/command-line.html").read_text()
    assert all(f"vermilion {name}" in commands for name in cli.commands)
    assert "card-2x25g" in (site / "reference/presets.html").read_text()
    assert "legal is 0 to 1" in (site / "reference/messages.html").read_text()
    assert "vm_lane_arrive" in (site / "reference/model-api.html").read_text()


def test_what_github_reads_as_a_list_is_one_in_the_site():
    lines = "text\n* a\n  - b\n    more\n* c\n| x |\n```\n* code\n```".splitlines()
    assert stage.spaced(lines) == [
        "text",
        "",
        "* a",
        "    - b",
        "        more",
        "* c",
        "",
        "| x |",
        "",
        "```",
        "* code",
        "```",
    ]


def test_flowcharts_are_drawn(site):
    chart = flowchart.Chart('flowchart LR\n  a["one<br/>more"] --> b -- by hand --> c\n  b -- checked --> b\n')
    assert chart.rows() == [["a"], ["b"], ["c"]] and chart.lines["b"] == ["b", "checked"]
    assert chart.arrows == [("a", "b", ""), ("b", "c", "by hand")]
    with pytest.raises(ValueError, match="is no flowchart"):
        flowchart.draw("pie", "x")
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "```mermaid" in path.read_text()]
    assert pages and all(
        "svg class=" in (site / path.relative_to(ROOT / "docs").with_suffix(".html")).read_text() for path in pages
    )


def test_a_link_out_of_docs_leads_to_a_copy(site):
    text = (site / "layout.html").read_text()
    assert 'href="source/pyproject.toml.txt"' in text and (site / "source/pyproject.toml.txt").is_file()
    assert 'href="repository/sw_driver/index.html"' in text


def test_versions_are_folders_with_a_list(tmp_path, monkeypatch):
    monkeypatch.setattr(
        build, "site", lambda out, *_, **__: (out.mkdir(parents=True), (out / "index.html").write_text(""))
    )
    for number in ("0.2.0", "0.10.0", "0.9.1"):
        monkeypatch.setattr(build, "version", lambda number=number: number)
        build.add_version(tmp_path, GROUPS)
    listed = (tmp_path / "versions.js").read_text().removeprefix("window.vermilionVersions = ").removesuffix(";\n")
    assert json.loads(listed) == ["0.10.0", "0.9.1", "0.2.0"]
    assert "0.10.0/index.html" in (tmp_path / "index.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("words", SEARCHED)
def test_search_works_from_disk(site, browser, words):
    from selenium.webdriver.common.by import By

    show(browser, site / "index.html")
    field = browser.find_element(By.CSS_SELECTOR, ".md-search__input")
    browser.execute_script("arguments[0].focus()", field)
    field.send_keys(words)
    until = time.monotonic() + 60
    while not (found := browser.find_elements(By.CSS_SELECTOR, ".md-search-result__item")):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert SEARCHED[words] in found[0].get_attribute("textContent").lower()
    assert not browser.get_log("browser")


@pytest.mark.slow
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("dark", [False, True])
def test_no_page_scrolls_sideways(site, browser, width, dark):
    for name in ("index", "ten-minutes", "architecture", "configuration", "reference/command-line", "results/area"):
        show(browser, site / f"{name}.html", width, dark)
        wide = browser.execute_script("return document.documentElement.scrollWidth")
        scheme = browser.execute_script("return document.body.dataset.mdColorScheme")
        assert wide <= width and scheme == ("slate" if dark else "default"), name
