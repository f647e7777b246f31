"""The register map: generated files are those of the source, and nothing overlaps."""

import re
from html.parser import HTMLParser
from itertools import product

import pytest

from vermilion.generate import committed, registers


def test_generated_files_are_up_to_date():
    assert committed.stale(registers.files()) == []


@pytest.mark.parametrize("of", [registers.LANE, registers.APP], ids=lambda of: of.addrmap)
def test_no_two_registers_share_an_address_and_none_is_undescribed(of):
    seen = {}
    _, found = registers.read_source(of)
    for register in found:
        assert register.desc, register.shown_path
        for index in product(*(range(count) for _, count, _ in register.dims)):
            address = register.address + sum(
                i * stride for i, (_, _, stride) in zip(index, register.dims, strict=False)
            )
            assert address % 4 == 0 and address < 1 << 24
            assert address not in seen, f"{register.shown_path} and {seen[address]}"
            seen[address] = register.shown_path


@pytest.mark.parametrize("of, block", [(registers.LANE, "ControlPort"), (registers.APP, "AppRegisters")])
def test_a_block_shows_the_version_of_its_map(of, block):
    _, found = registers.read_source(of)
    version = next(register for register in found if register.path == ["version"])
    number = sum(field.reset << field.low for field in version.fields)
    port = registers.build.ROOT / "hw" / "src" / "vermilion" / of.package / f"{block}.scala"
    assert re.search(rf'R\.Version\(\) -> .*BigInt\("{number:08x}", 16\)', port.read_text())


class Page(HTMLParser):
    """What a page loads, its anchors, and the texts of its cells; elements must be closed in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.loads, self.anchors, self.targets, self.cells = [], [], set(), set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        held = dict(attributes)
        self.loads += [value for name, value in attributes if name in ("src", "href") and value[0] != "#"]
        assert held.get("id") not in self.anchors
        self.anchors |= {held["id"]} if "id" in held else set()
        self.targets |= {held["href"][1:]} if tag == "a" else set()
        self.cells += [""] if tag == "td" else []
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        if "td" in self.open:
            self.cells[-1] += text


@pytest.mark.parametrize(
    "of, name", [(registers.LANE, "shadow.colour[3].curve[2].min"), (registers.APP, "port[8].taken.low")]
)
def test_pages(tmp_path, of, name):
    """`regs` writes each map as one HTML file that needs neither scripts nor other files, and as Markdown, with every register."""
    written = registers.generate(tmp_path / "regs")
    assert [path.name for path in written] == [
        "registers.html",
        "registers.md",
        "app-registers.html",
        "app-registers.md",
    ]
    assert sorted(written) == sorted((tmp_path / "regs").iterdir())
    text = (tmp_path / "regs" / of.page).with_suffix(".html").read_text()
    page = Page(text)
    assert page.open == [] and page.loads == ["data:,"] and not re.search(r"<script|@import|url\(", text)
    assert page.targets and page.targets <= page.anchors
    named = {register.shown_path for register in registers.read_source(of)[1]}
    assert name in named and named <= page.anchors and named <= set(page.cells)
    assert f"`{name}`" in (tmp_path / "regs" / of.page).read_text()
