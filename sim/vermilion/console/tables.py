"""The form of all tables that commands print."""

from rich.box import SIMPLE_HEAD
from rich.table import Table


def table(title: str, left: list[str], right: list[str]) -> Table:
    """An empty table: `left` are headings of texts, `right` of numbers."""
    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False)
    for name in left:
        made.add_column(name)
    for name in right:
        made.add_column(name, justify="right")
    return made
