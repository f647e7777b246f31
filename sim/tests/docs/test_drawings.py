"""The drawings of the pages: fresh, in pages, and with the names that the sources have."""

import json
import re

import pytest

from vermilion.generate import committed, drawings
from vermilion.generate.drawings import hardware
from vermilion.generate.drawings.svg import Drawing
from vermilion.toolchain.build import ROOT

FILES = drawings.files()
SOURCES = {path.stem for folder in ("hw/src", "sim/model") for path in (ROOT / folder).rglob("*.*")}
OTHERS = {"EwmaStages", "ChiselSim"}  # names that are no files


def test_the_drawings_are_fresh():
    assert not committed.stale(FILES), "run: python -m vermilion.generate.drawings"


def test_there_are_drawings_of_every_part():
    assert len(drawings.drawings()) >= 14 and len(FILES) - len(drawings.drawings()) >= 2


def test_a_page_shows_each_drawing():
    shown = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert not [path.name for path in FILES if f"images/{path.name})" not in shown]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_drawing_says_what_it_shows(path):
    text = FILES[path]
    assert "<title>" in text and len(text) < 60_000
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]+"', "", text), "a drawing fetches nothing"


@pytest.mark.parametrize("drawing", drawings.drawings(), ids=lambda drawing: drawing.name)
def test_modules_have_the_names_of_their_sources(drawing):
    words = re.findall(r">([^<]+)<", drawing.svg().split("</style>")[1])
    names = {name for text in words for name in re.findall(r"\b[A-Z][a-z]+(?:[A-Z0-9][a-z0-9]+)+\b", text)}
    assert names - OTHERS <= SOURCES, names - OTHERS - SOURCES


def test_cycles_are_those_of_the_model():
    """The constants that the drawings read, beside those of the hardware (`PolicyTiming.scala`, from its Scaladoc)."""
    timing = hardware.timing()
    head = (ROOT / "hw/src/vermilion/policy/PolicyPipeline.scala").read_text()
    stages = re.search(r"stage (-\d+) .* (\d+)\n.*slot .*\n", head)
    assert timing["Lookup"] + timing["Verdict"] == int(stages[2]) - int(stages[1])
    assert timing["Mark"] == -int(stages[1])


def test_the_waveform_of_a_write_is_that_of_the_hardware():
    """`ControlPortSpec` counts the same cycles from the handshake to the answer and to the new value."""
    waves = json.loads((ROOT / "docs/waves/register.json").read_text())["signal"]
    at = {each["name"]: each["wave"] for each in waves}
    spec = (ROOT / "hw/test/src/vermilion/control/ControlPortSpec.scala").read_text()
    counted = re.search(r'indexOf\(true\) == (\d) && .* "the answer"', spec)
    assert at["bvalid"].index("1") - at["awvalid"].index("1") == int(counted[1])
    assert at["register"].index("5") == at["bvalid"].index("1") and at["wvalid"] == at["awvalid"]


def test_text_that_does_not_fit_is_refused():
    drawing = Drawing("small", 100, 50, "", "")
    with pytest.raises(ValueError, match="wider than its box"):
        drawing.box(0, 0, 50, 20, "much too long for this")
    with pytest.raises(ValueError, match="not on the paper"):
        drawing.box(80, 0, 50, 20, "a")
