"""Tables that fit a terminal of 80 columns: columns of zeros go, long names are cut, and what is still too wide goes into a second table."""

from collections.abc import Iterable

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

WIDTH = 80
NAMES = range(20, 7, -1)  # widths that the first column may have at most
GAP, EDGES = 3, 2  # of the box: between two columns, at both ends


def cut(name: str, most: int) -> str:
    """A name of at most so many terminal cells, its end replaced by an ellipsis where it is longer."""
    return name if cell_len(name) <= most else set_cell_size(name, most - 1).rstrip() + "…"


def width(head: str, cells: Iterable[str]) -> int:
    """A head breaks at its spaces, a cell nowhere."""
    return max(map(cell_len, [*head.split(), *cells]))


def split(lefts: list[int], rights: list[int]) -> list[range]:
    """Which columns of numbers stand together, so that each part fits with the columns of text before it."""
    parts, begin = [], 0
    while begin < len(rights):
        end, room = begin, WIDTH - EDGES - sum(lefts) - GAP * (len(lefts) - 1)
        while end < len(rights) and (end == begin or rights[end] + GAP <= room):
            room -= rights[end] + GAP
            end += 1
        parts.append(range(begin, end))
        begin = end
    return parts


def blank(cell) -> bool:
    return cell in (0, None, "", "0")


def zeros(right: list[str], rows: list[list], lefts: int) -> list[str]:
    """Heads of the columns of numbers without a value other than 0: `tables` leaves them out."""
    return [head for i, head in enumerate(right, lefts) if all(blank(row[i]) for row in rows)]


def shown(cell) -> str:
    """0 and None are empty, whole numbers have thousands' separators, texts stand as they are."""
    return "" if blank(cell) else f"{cell:,}" if isinstance(cell, int) else cell


def tables(title: str, left: list[str], right: list[str], rows: list[list], sums: bool = False) -> list[Table]:
    """Rows of texts and then numbers as tables of at most 80 columns each; `sums` adds a row with the total of each column."""
    kept = [i for i in range(len(left), len(left) + len(right)) if not all(blank(row[i]) for row in rows)]
    heads = [right[i - len(left)] for i in kept]
    texts = [[*map(str, row[: len(left)])] for row in rows]
    numbers = [[row[i] for i in kept] for row in rows]
    if sums and len(rows) > 1:
        texts.append(["total", *[""] * (len(left) - 1)])
        numbers.append([sum(filter(None, column)) for column in zip(*numbers, strict=True)])
    cells = [[shown(number) for number in row] for row in numbers]
    lefts = [width(head, column) for head, column in zip(left, zip(*texts, strict=True), strict=False)]
    rights = [width(head, column) for head, column in zip(heads, zip(*cells, strict=True), strict=False)]
    fits = {most: split([min(lefts[0], most), *lefts[1:]], rights) for most in NAMES} if rows else {}
    name = min(fits, key=lambda most: (len(fits[most]), -most), default=0)
    made = []
    for number, part in enumerate(fits.get(name, [])):
        shown_as = title + (", continued" if number else "")
        one = Table(title=shown_as, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
        for head in left:
            one.add_column(head, no_wrap=True)
        for i in part:
            one.add_column("\n".join(heads[i].split()), no_wrap=True, justify="right")
        for at, (text, row) in enumerate(zip(texts, cells, strict=True)):
            if at == len(rows):
                one.add_section()
            one.add_row(Text(cut(text[0], name)), *map(Text, text[1:]), *(row[i] for i in part))
        made.append(one)
    return made
