"""Pages for MkDocs: a copy of `docs` and of the pages beside it, in the Markdown that MkDocs reads, with links that stay within the site.

GitHub and MkDocs read Markdown differently. A list or table needs a blank line before it, and a nested list four columns, in
MkDocs. Links out of `docs` lead to a page, if the file is one, else to the file itself, as text. Drawings go into the page, so
that they follow its colours.
"""

import os
import re
from pathlib import Path

from vermilion.toolchain.build import ROOT

from . import flowchart, results

DOCS = ROOT / "docs"
BESIDE = ("CONTRIBUTING.md", "CHANGELOG.md", "fpga/README.md", "fpga/corundum/README.md", "sw_driver/README.md")
FOLDERS = {"docs/decisions": "decisions/index.md", "docs/results": "results/index.md"}  # pages that list a folder
HOME, LISTING = "index.md", "layout.md"
TEXT = (".md", ".html")  # what a browser would not show as text is `.txt` in the site
QUIET = ("results/", "repository/", "proofs/", "netlink-attributes.md", "registers.md", "app-registers.md", "blocks.md")
FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^( *)([*+-]|\d+\.) ")
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
DRAWING = re.compile(r"^!\[([^\]]*)\]\(([^)\s]+\.svg)\)$")
MERMAID = re.compile(r"^```mermaid\n(.*?)^```$", re.M | re.S)
QUIET_HEAD = "---\nsearch:\n  boost: 0.3\n---\n"  # results and long tables come after the pages that explain
HOME_HEAD = "---\nhide:\n  - navigation\n---\n"


class Site:
    """The staged pages; each source of the project has one place in it."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.sources: dict[Path, str] = {ROOT / "README.md": HOME}
        for path in sorted(DOCS.rglob("*")):
            if path.is_file():
                self.sources[path] = path.relative_to(DOCS).as_posix()
        for name in BESIDE:
            self.sources[ROOT / name] = f"repository/{name.lower().replace('readme', 'index')}"
        self.files: dict[str, Path] = {}  # other files of the project that pages link to, by their place

    def stage(self) -> None:
        """Writes every page and file."""
        for path, place in self.sources.items():
            if place.endswith(".md"):
                if path != ROOT / "README.md":
                    self.write(place, self.page(path, place))
            else:
                self.write(place, path.read_bytes())
        for name, place in FOLDERS.items():
            self.write(place, listing(ROOT / name))
        for place, path in self.files.items():
            self.write(place, path.read_bytes())

    def write(self, place: str, content: str | bytes) -> None:
        path = self.folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def page(self, path: Path, place: str) -> str:
        """A page with its links, lists and drawings as MkDocs wants them."""
        drawn = MERMAID.sub(lambda block: charted(block, place), path.read_text())
        lines = [line if inside else self.line(line, path, place) for line, inside in fenced(drawn.splitlines())]
        head = QUIET_HEAD if place.startswith(QUIET) else HOME_HEAD if place == HOME else ""
        return head + "\n".join(spaced(lines)) + "\n"

    def line(self, line: str, path: Path, place: str) -> str:
        drawing = DRAWING.match(line)
        if drawing:
            svg = path.parent / drawing[2]
            return figure(svg.read_text(), drawing[1]) if 'class="vm-drawing ' in svg.read_text() else line
        return LINK.sub(lambda link: link[1] + self.target(link[2], path, place) + link[3], line)

    def target(self, link: str, path: Path, place: str) -> str:
        """Where a link of a page leads in the site."""
        if re.match(r"[a-z]+:|#", link):
            return link
        name, _, anchor = link.partition("#")
        aim = (path.parent / name).resolve()
        if not aim.exists():
            return link  # MkDocs names it
        led = os.path.relpath(self.place(aim), Path(place).parent.as_posix())
        return f"{led}#{anchor}" if anchor else led

    def place(self, aim: Path) -> str:
        if aim in self.sources:
            return self.sources[aim]
        name = aim.relative_to(ROOT).as_posix()
        if aim.is_dir():
            return FOLDERS.get(name, LISTING)
        place = f"source/{name}" if aim.suffix in (".png", ".svg") else f"source/{name}.txt"
        self.files[place] = aim
        return place


def fenced(lines: list[str]):
    """Each line, and whether it is in a block of code."""
    inside = False
    for line in lines:
        mark = FENCE.match(line)
        yield line, inside or bool(mark)
        inside ^= bool(mark)


def spaced(lines: list[str]) -> list[str]:
    """Lines with a blank one before each list, table and block of code, and nested lists four columns in."""
    out: list[str] = []
    nested = in_code = False
    for line, inside in fenced(lines):
        before = out[-1] if out else ""
        if inside:
            if not in_code and before.strip() and not before.startswith(" "):
                out.append("")
            out.append(line)
            in_code = not (in_code and FENCE.match(line))
            continue
        item = ITEM.match(line)
        if item:
            nested = bool(item[1])
            if nested:
                line = "    " + line.lstrip()
            elif before.strip() and not ITEM.match(before) and not before.startswith(" "):
                out.append("")
        elif nested and line.startswith("  ") and line.strip():
            line = "        " + line.lstrip()  # goes on with the nested item
        elif line.startswith("|") and before.strip() and not before.startswith("|"):
            out.append("")
        elif not line.startswith(" "):
            nested = False
        out.append(line)
    return out


def figure(svg: str, alt: str) -> str:
    """A drawing in the page itself, on one line: a blank line would end Markdown's block of HTML."""
    flat = " ".join(svg.split())
    return f'<figure class="drawing" role="img" aria-label="{alt}">{flat}</figure>'


def charted(block: re.Match[str], place: str) -> str:
    """The drawing of a block of Mermaid; its name is that of the page and of its place there."""
    return figure(flowchart.draw(block[1], f"{Path(place).stem}-{block.start()}"), "flowchart")


def title(path: Path) -> str:
    """A page's first heading."""
    head = re.search(r"^# (.+)$", path.read_text(), re.M)
    return head[1] if head else path.stem


def listing(folder: Path) -> str:
    """A page that lists the pages of a folder."""
    pages = sorted(folder.glob("*.md"))
    if folder.name == "results":
        return results.listing({page.stem for page in pages})
    rows = [f"| [{title(page)}]({page.name}) |" for page in pages]
    told = "Each record says what was decided, why, and what it costs. A later record may replace an earlier one."
    return f"# Decisions\n\n{told}\n\n| page |\n| --- |\n" + "\n".join(rows) + "\n"
