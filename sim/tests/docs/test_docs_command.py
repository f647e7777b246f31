"""The command `docs`: where it writes, what it refuses, and the site that it serves while pages change."""

import threading
import time
import urllib.request

import pytest
from click.testing import CliRunner

from support.nightly import at_night
from vermilion.commands import docs_command
from vermilion.commands.cli import cli
from vermilion.site import build, reference
from vermilion.toolchain import chisel
from vermilion.values.fields import UserError


@pytest.fixture
def made(monkeypatch):
    """Sites that would have been built."""
    places = []

    def site(out, *_, **__):
        out.mkdir(parents=True, exist_ok=True)
        (out / "index.html").write_text(str(len(places)))
        places.append(out)

    monkeypatch.setattr(build, "site", site)
    return places


def run(*words):
    result = CliRunner().invoke(cli, ["docs", *map(str, words)])
    if isinstance(result.exception, UserError):
        return 2, str(result.exception)
    assert result.exception is None, result.output
    return 0, result.output


def test_the_site_goes_to_the_folder(made, tmp_path):
    status, said = run("--out", tmp_path / "new")
    assert status == 0 and made == [tmp_path / "new"] and f"site: {tmp_path / 'new' / 'index.html'}" in said


def test_a_version_goes_to_a_folder_of_its_name(made, tmp_path):
    assert run("--versions", tmp_path)[0] == 0 and made == [tmp_path / build.version()]
    assert run("--versions", tmp_path)[0] == 0, "a folder of versions is written again"


def test_a_folder_of_something_else_is_refused(made, tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    for option in ("--out", "--versions"):
        status, said = run(option, tmp_path)
        assert status == 2 and str(tmp_path) in said and "legal is" in said
    assert run("--out", tmp_path / "thesis.tex")[0] == 2
    assert run("--out", "a", "--versions", "b")[0] == 2 and not made
    assert docs_command.allowed(tmp_path.parent / "thesis", "--out") is False


def test_a_changed_page_is_built_again_and_served(made, tmp_path, monkeypatch):
    clock, said = [1.0], []
    monkeypatch.setattr(build, "changed", lambda: clock)
    build.site(tmp_path / "site", {})
    stop = threading.Event()
    thread = threading.Thread(target=build.serve, args=(tmp_path / "site", {}, 0, said.append, stop), daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not said:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert urllib.request.urlopen(f"{said[0]}index.html", timeout=60).read() == b"0"
    clock[0] = 2.0
    while len(said) < 2:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert said[1] == "built again" and urllib.request.urlopen(f"{said[0]}index.html", timeout=60).read() == b"1"
    stop.set()
    thread.join(60)
    assert not thread.is_alive(), "it would build after the test"


def test_with_api_the_reference_leads_to_the_scaladoc(tmp_path, monkeypatch):
    (tmp_path / "javadoc").mkdir()
    (tmp_path / "javadoc/index.html").write_text("blocks")
    monkeypatch.setattr(chisel, "scaladoc", lambda: tmp_path / "javadoc")
    build.site(tmp_path / "site", {}, api=True)
    page = tmp_path / "site/reference/index.html"
    assert f'href="../{reference.SCALADOC}/index.html"' in page.read_text()
    assert (page.parent / f"../{reference.SCALADOC}/index.html").read_text() == "blocks"
    build.site(tmp_path / "site", {})
    assert reference.SCALADOC not in page.read_text() and not (tmp_path / "site/api").exists()
    for other in ("--serve", "--versions"):
        status, said = run("--api", other, *([tmp_path / "versions"] if other == "--versions" else []))
        assert status == 2 and "legal is --api alone" in said


@at_night
def test_each_link_of_the_scaladoc_leads_somewhere():
    folder = chisel.scaladoc()  # a warning is an error
    assert (folder / "index.html").exists() and (folder / "vermilion/lane/Lane.html").exists()
