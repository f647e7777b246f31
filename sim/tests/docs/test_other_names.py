"""The page that gives the settings' names elsewhere: what it calls ours is a key of a configuration."""

import json
import re

from vermilion.toolchain.build import ROOT

PAGE = ROOT / "docs/configuration/other-names.md"
OTHERS = {
    "srtcm",
    "trtcm",
    "pie",
    "dualpi2",
    "early",
    "forced",
    "tail",
    "CE chosen",
    "[[rule]]",
}  # values, and columns of tables


def keys(schema) -> set[str]:
    """All keys of all tables."""
    found = set()
    if isinstance(schema, dict):
        found |= set(schema.get("properties", {}))
        for part in schema.values():
            found |= keys(part)
    elif isinstance(schema, list):
        for part in schema:
            found |= keys(part)
    return found


def test_each_name_of_ours_is_a_key():
    legal = keys(json.loads((ROOT / "docs/configuration.schema.json").read_text()))
    cells = re.findall(r"^\| ([^|]*) \|", PAGE.read_text(), re.M)
    names = [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]
    assert len(names) > 30
    for name in names:
        if name not in OTHERS:
            path = name.split(" = ")[0].split(".")
            assert set(path) <= legal, name
