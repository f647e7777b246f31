"""What `vermilion check` prints of a lane with several egresses."""

from rich.console import Console
from rich.table import Table

from vermilion.configuration import rules
from vermilion.configuration.egresses import Lane
from vermilion.console import narrow
from vermilion.console.tables import table
from vermilion.values import units

from . import show
from .show_tables import rule_table


def lane(screen: Console, asked: Lane, only: int | None = None) -> None:
    """`vermilion check` of a lane with several egresses: what each has of the whole, then the tables of each, or of one."""
    count = len(asked.configs)
    screen.width = min(screen.width, narrow.WIDTH)
    screen.print(egress_table(asked))
    if asked.rule:
        screen.print(rule_table(asked.rule))
    for note in rules.notes(asked.rule):
        screen.print(f"Note: {note}.", markup=False, soft_wrap=True)
    shown: list[int] = []
    for egress in range(count) if only is None else [only]:
        named = f"Egress {egress}" + (f", {asked.names[egress]}" if asked.names[egress] is not None else "")
        like = next((other for other in shown if asked.configs[other] == asked.configs[egress]), None)
        if like is not None:
            screen.print(f"{named}: port, queues and markers of egress {like}\n", markup=False)
            continue
        screen.print(named, markup=False, style="bold")
        show.configuration(screen, asked.configs[egress], count)
        shown.append(egress)
    screen.print(show.legal(), style="dim")


def egress_table(asked: Lane) -> Table:
    """What each egress has of the inputs and of the pool."""
    pool = asked.configs[0].pool
    size = f"pool {pool.size}, {pool.cells:,} cells" if pool else "no pool"
    made = table(f"Egresses; {size}", ["egress", "name", "inputs"], ["rate", "queues", "reserve", "cap"])
    for egress, each in enumerate(asked.configs):
        share, inputs = asked.shares[egress], ", ".join(map(str, asked.inputs(egress)))
        right = [units.rate_text(each.port.rate), str(len(each.queue))]
        right += [f"{count:,} cells" if count else "none" for count in share.cells]
        made.add_row(str(egress), asked.names[egress] or "", inputs or "none", *right)
    return made
