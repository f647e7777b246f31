"""Boxes, arrows and text of a drawing, as SVG in one style: light and dark, no font of its own.

Colours are CSS variables. A file by itself follows the system's scheme; in the site `docs/assets/site.css` sets them.
A text that does not fit its box is refused, by the width of the widest usual font.
"""

from dataclasses import dataclass
from html import escape

SIZE, SMALL = 14, 12  # px of text
WIDE = 0.54  # of a character, by its size: DejaVu Sans, on average
LIGHT = "--paper:#fff;--box:#f5f5f8;--edge:#8a8a96;--ours:#fdf1ef;--mark:#b3261e;--ink:#1c1c1f;--soft:#5c5c66;--green:#d9efd9;--yellow:#fbf0c4;--red:#f7d4d0;--blue:#dce9f8;--on:#2f6fb5"
DARK = "--paper:#17171a;--box:#2a2b33;--edge:#777785;--ours:#3a2523;--mark:#ff8a7a;--ink:#e8e8ec;--soft:#b0b0bb;--green:#26452b;--yellow:#4a4120;--red:#552a28;--blue:#22384f;--on:#8cc0f5"
SCHEMES = f"""
svg.vm-drawing {{{LIGHT}}}
@media (prefers-color-scheme: dark) {{ svg.vm-drawing {{{DARK}}} }}
"""
STYLE = f"""{SCHEMES}.vm-boxes .paper {{fill:var(--paper)}} .vm-boxes text {{fill:var(--ink);font-size:{SIZE}px;text-anchor:middle}}
.vm-boxes .box {{fill:var(--box);stroke:var(--edge)}} .vm-boxes .ours {{fill:var(--ours);stroke:var(--mark);stroke-width:1.5}}
.vm-boxes .green {{fill:var(--green);stroke:var(--edge)}} .vm-boxes .yellow {{fill:var(--yellow);stroke:var(--edge)}}
.vm-boxes .red {{fill:var(--red);stroke:var(--edge)}} .vm-boxes .blue {{fill:var(--blue);stroke:var(--edge)}}
.vm-boxes .group {{fill:none;stroke:var(--edge);stroke-dasharray:5 4}} .vm-boxes .open {{fill:none;stroke:none}}
.vm-boxes .line {{fill:none;stroke:var(--soft);stroke-width:1.5}} .vm-boxes .dash {{stroke-dasharray:5 4}}
.vm-boxes .curve {{fill:none;stroke:var(--mark);stroke-width:2}} .vm-boxes .other {{stroke:var(--on)}} .vm-boxes .tip {{fill:var(--soft)}}
.vm-boxes text.small {{font-size:{SMALL}px;fill:var(--soft)}} .vm-boxes text.name {{font-weight:600}} .vm-boxes text.mark {{fill:var(--mark);font-weight:600}} .vm-boxes text.on {{fill:var(--on);font-weight:600}}
.vm-boxes text.start {{text-anchor:start}} .vm-boxes text.end {{text-anchor:end}}
"""


def width(text: str, size: float = SIZE) -> float:
    """About how wide a text is, in px."""
    return len(text) * size * WIDE


@dataclass(frozen=True)
class Box:
    """A placed rectangle; arrows begin and end at its sides."""

    x: float
    y: float
    w: float
    h: float

    def left(self, share: float = 0.5) -> tuple[float, float]:
        return self.x, self.y + share * self.h

    def right(self, share: float = 0.5) -> tuple[float, float]:
        return self.x + self.w, self.y + share * self.h

    def top(self, share: float = 0.5) -> tuple[float, float]:
        return self.x + share * self.w, self.y

    def bottom(self, share: float = 0.5) -> tuple[float, float]:
        return self.x + share * self.w, self.y + self.h


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    """An SVG with a name, a title and a sentence that tells what it shows."""

    def __init__(self, name: str, w: int, h: int, title: str, told: str):
        self.name, self.w, self.h, self.title, self.told = name, w, h, title, told
        self.parts: list[str] = []

    def box(self, x: float, y: float, w: float, h: float, *lines: str, kind: str = "box", small: bool = False) -> Box:
        """A rectangle with lines of text in its middle; lines after the first are small."""
        if x < 0 or y < 0 or x + w > self.w or y + h > self.h:
            raise ValueError(f"{self.name}: box {lines} is not on the paper")
        self.parts.append(
            f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}" rx="4"/>'
        )
        sizes = [SMALL if small or i else SIZE for i in range(len(lines))]
        at = y + h / 2 - sum(size + 4 for size in sizes) / 2
        for i, (line, size) in enumerate(zip(lines, sizes, strict=True)):
            if width(line, size) > w:
                raise ValueError(f"{self.name}: {line!r} is wider than its box")
            at += size + 4
            self.text(x + w / 2, at - 5, line, "small" if size == SMALL else "name" if kind == "ours" and not i else "")
        return Box(x, y, w, h)

    def text(self, x: float, y: float, line: str, kind: str = "") -> None:
        size = SMALL if "small" in kind else SIZE
        begins = x if "start" in kind else x - width(line, size) if "end" in kind else x - width(line, size) / 2
        if begins < -2 or begins + width(line, size) > self.w + 6 or not 0 < y <= self.h:
            raise ValueError(f"{self.name}: {line!r} is not on the paper")
        self.parts.append(
            f'<text{f" class={chr(34)}{kind}{chr(34)}" if kind else ""} x="{number(x)}" y="{number(y)}">{escape(line)}</text>'
        )

    def line(self, *points: tuple[float, float], kind: str = "line", tip: bool = False) -> None:
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)
        end = f' marker-end="url(#tip-{self.name})"' if tip else ""
        self.parts.append(f'<path class="{kind}" d="{path}"{end}/>')

    def arrow(self, *points: tuple[float, float], label: str = "", dashed: bool = False, above: float = 6) -> None:
        """A line with a tip; its label is above the middle of its longest part."""
        self.line(*points, kind="line dash" if dashed else "line", tip=True)
        if label:
            pairs = list(zip(points, points[1:], strict=False))
            a, b = max(pairs, key=lambda pair: abs(pair[0][0] - pair[1][0]) + abs(pair[0][1] - pair[1][1]))
            if a[0] == b[0]:
                self.text(a[0] + 6, (a[1] + b[1]) / 2 + 4, label, "small start")
            else:
                self.text((a[0] + b[0]) / 2, (a[1] + b[1]) / 2 - above, label, "small")

    def both(self, a: tuple[float, float], b: tuple[float, float]) -> None:
        """A line with a tip at each end."""
        middle = ((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)
        self.line(middle, a, tip=True)
        self.line(middle, b, tip=True)

    def row(self, boxes: list[Box], **more) -> None:
        """Arrows from each box to the next, to the right."""
        for a, b in zip(boxes, boxes[1:], strict=False):
            self.arrow(a.right(), b.left(), **more)

    def svg(self) -> str:
        """The file's text."""
        words = f"<title>{escape(self.title)}</title><desc>{escape(self.told)}</desc>"
        tip = f'<defs><marker id="tip-{self.name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0L8 4L0 8Z"/></marker></defs>'
        head = f'<svg class="vm-drawing vm-boxes" xmlns="http://www.w3.org/2000/svg" width="{self.w}" height="{self.h}" viewBox="0 0 {self.w} {self.h}" role="img" font-family="system-ui, DejaVu Sans, sans-serif">'
        paper = f'<rect class="paper" width="{self.w}" height="{self.h}"/>'
        return (
            "\n".join(
                [
                    f"<!-- Generated from sim/vermilion/generate/drawings. -->{head}",
                    words,
                    f"<style>{STYLE}</style>",
                    tip,
                    paper,
                    *self.parts,
                    "</svg>",
                ]
            )
            + "\n"
        )
