"""Flowcharts of pages, drawn for the site: `flowchart` blocks of Mermaid with boxes and arrows, as GitHub shows them.

Boxes are in rows from top to bottom, a box below all that lead to it. Other kinds of Mermaid are refused.
"""

import re

from vermilion.generate.drawings.svg import SIZE, SMALL, Box, Drawing, width

NODE = r'(\w+)(?:\["([^"]*)"\])?'
EDGE = re.compile(r'\s*(?:--(?!>)\s*"?(.*?)"?\s*-->|-->)\s*')
STEP, HIGH, WIDE = 112, 60, 720  # px


class Chart:
    """Boxes by name with their lines of text, and arrows with their labels."""

    def __init__(self, source: str):
        kind, *lines = source.strip().splitlines()
        if not re.fullmatch(r"flowchart (LR|TB|TD)", kind.strip()):
            raise ValueError(f"{kind}: is no flowchart; legal are flowchart LR, TB and TD")
        self.lines: dict[str, list[str]] = {}
        self.arrows: list[tuple[str, str, str]] = []
        for line in lines:
            self.read(line.strip())

    def read(self, line: str) -> None:
        """A chain of boxes and arrows. A label of an arrow from a box to itself becomes a line of the box."""
        parts = EDGE.split(line)
        names = [self.node(part) for part in parts[::2]]
        for a, b, label in zip(names, names[1:], parts[1::2], strict=False):
            if a == b:
                self.lines[a].append(label or "")
            else:
                self.arrows.append((a, b, label or ""))

    def node(self, text: str) -> str:
        found = re.fullmatch(NODE, text.strip())
        if not found:
            raise ValueError(f"{text}: is no box of a flowchart")
        name, told = found.groups()
        if told or name not in self.lines:
            self.lines[name] = (told or name).replace("#quot;", '"').split("<br/>")
        return name

    def rows(self) -> list[list[str]]:
        """The boxes of each row."""
        depth = dict.fromkeys(self.lines, 0)
        for _ in self.lines:
            for a, b, _label in self.arrows:
                depth[b] = max(depth[b], depth[a] + 1)
        return [[name for name in depth if depth[name] == row] for row in range(max(depth.values()) + 1)]


def draw(source: str, name: str) -> str:
    """The SVG of a flowchart."""
    chart = Chart(source)
    rows = chart.rows()
    d = Drawing(name, WIDE, STEP * (len(rows) - 1) + HIGH + 16, "Flowchart", " to ".join(chart.lines))
    boxes: dict[str, Box] = {}
    for i, row in enumerate(rows):
        wide = [max(width(t, SMALL if k else SIZE) for k, t in enumerate(chart.lines[n])) + 20 for n in row]
        gap = (WIDE - sum(wide)) / (len(row) + 1)
        x = gap
        for each, w in zip(row, wide, strict=True):
            boxes[each] = d.box(x, 8 + STEP * i, w, HIGH, *chart.lines[each])
            x += w + gap
    depth = {each: i for i, row in enumerate(rows) for each in row}
    right = max(box.right()[0] for box in boxes.values())  # of all that is drawn
    for a, b, label in [arrow for arrow in chart.arrows if depth[arrow[1]] == depth[arrow[0]] + 1]:
        start, end = boxes[a].bottom(), boxes[b].top()
        d.arrow(start, end)
        if label:
            x = (start[0] + end[0]) / 2 + 8
            d.text(x, (start[1] + end[1]) / 2 + 4, label, "small start")
            right = max(right, x + width(label, SMALL))
    for a, b, label in [arrow for arrow in chart.arrows if depth[arrow[1]] > depth[arrow[0]] + 1]:
        right += 20  # past the rows between
        turns = [(right, boxes[name].right()[1]) for name in (a, b)]
        d.arrow(boxes[a].right(), *turns, boxes[b].right(), label=label)
    return d.svg()
