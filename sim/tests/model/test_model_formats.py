"""One source for every number format: the model's constants are the RTL's."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def constants(text, pattern):
    found = {}
    for name, value in re.findall(pattern, text):
        found[name] = eval(value, {}, dict(found))
    return found


def test_constants_are_those_of_the_rtl():
    rtl = constants((ROOT / "hw/src/vermilion/fixed/Formats.scala").read_text(), r"val (\w+) = ([\w +]+)")
    model = constants((ROOT / "sim/model/formats.h").read_text(), r"constexpr int (\w+) = ([\w +]+);")
    assert len(rtl) >= 20
    assert {name: model.get(name) for name in rtl} == rtl
