"""Waveforms of `docs/waves`, in WaveJSON, drawn by WaveDrom in the colours of the other drawings."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import wavedrom

from vermilion.toolchain.build import ROOT

from .svg import SCHEMES

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
# A selector with an ancestor does not reach what <use> shows, so each class has a name of its own.
COLOURS = """
.vm-wave .paper {fill:var(--paper)} .vm-wave text {font-size:13px;fill:var(--ink)}
.vw-s1,.vw-s4 {fill:none;stroke:var(--ink)} .vw-s2 {fill:none;stroke:var(--soft);stroke-width:.5}
.vw-s3 {fill:none;stroke:var(--ink);stroke-dasharray:1 3} .vw-s5 {fill:var(--paper)} .vw-s6 {fill:var(--ink)}
.vw-s7 {fill:var(--box)} .vw-s8 {fill:var(--yellow)} .vw-s9 {fill:var(--red)} .vw-s10 {fill:var(--blue)} .vw-s11 {fill:var(--green)}
.vw-s16 {fill:none;stroke:var(--on)} .vm-wave .gmarks line, .vm-wave line {stroke:var(--edge);stroke-width:.5;stroke-dasharray:1 3}
"""


def sources() -> list[Path]:
    return sorted((ROOT / "docs" / "waves").glob("*.json"))


def draw(path: Path) -> str:
    """The SVG of one file, without the bricks that it does not use."""
    source = json.loads(path.read_text())
    root = ElementTree.fromstring(wavedrom.render(path.read_text()).tostring())
    used = {link.removeprefix("#") for each in root.iter() if (link := each.get(f"{{{LINK}}}href"))}
    for holder in root.findall(f"{{{SVG}}}defs"):
        for brick in list(holder):
            if brick.get("id") not in used and brick.tag == f"{{{SVG}}}g":
                holder.remove(brick)
    for style in root.findall(f"{{{SVG}}}style"):
        style.text = SCHEMES + COLOURS
    names = {name: f"{path.stem}-{name}" for name in sorted(used)}  # two waveforms may be in one page
    for each in root.iter():
        if each.tag != f"{{{SVG}}}style" and re.fullmatch(r"s\d+", each.get("class", "")):
            each.set("class", f"vw-{each.get('class')}")
        if each.get("id"):
            each.set("id", names.get(each.get("id", ""), f"{path.stem}-{each.get('id')}"))
        if link := each.get(f"{{{LINK}}}href"):
            each.set(f"{{{LINK}}}href", f"#{names[link.removeprefix('#')]}")
    root.set("class", "vm-drawing vm-wave")
    title = ElementTree.Element(f"{{{SVG}}}title")
    title.text = source["head"]["text"]
    root.insert(0, title)
    paper = ElementTree.Element(f"{{{SVG}}}rect", {"class": "paper", "width": "100%", "height": "100%"})
    root.insert(2, paper)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", LINK)
    text = re.sub(r">\s+<", ">\n<", ElementTree.tostring(root, encoding="unicode"))
    return f"<!-- Generated from docs/waves/{path.name}. -->{text}\n"
