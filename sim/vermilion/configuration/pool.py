"""`[pool]`: the part of the buffer that queued packets share."""

from collections.abc import Iterable
from typing import Annotated, Protocol

from vermilion.values.fields import Strict, UserError, amount
from vermilion.values.units import Amount

CELL_BYTES, CELLS_MOST = 64, 2**20  # a cell of the buffer; the largest pool, in cells


class Pool(Strict):
    """`[pool]`: the part of the buffer that queued packets share; the hardware counts it in whole cells."""

    size: Annotated[Amount, amount(CELL_BYTES, CELL_BYTES * CELLS_MOST, "byte")]

    @property
    def cells(self) -> int:
        return self.size.value // CELL_BYTES


class Named(Protocol):
    """A queue, as far as the pool concerns it."""

    @property
    def name(self) -> str: ...
    @property
    def alpha(self) -> float | None: ...


def check_pool(pool: Pool | None, queues: Iterable[Named], build_cells: int | None, elsewhere: bool) -> None:
    """Refuses a pool that is larger than the buffer, and dynamic thresholds without a pool, unless another file has it."""
    if pool and build_cells is not None and pool.cells > build_cells:
        most = f"{CELL_BYTES}B to {CELL_BYTES * build_cells}B"
        raise UserError(f"pool.size is {pool.size}; legal is {most}, the {build_cells} cells of this build")
    for q in queues:
        if q.alpha is not None and not pool and not elsewhere:
            raise UserError(
                f'queue "{q.name}" has alpha {q.alpha:g}, but there is no pool; '
                f"give [pool] a size, {CELL_BYTES}B to {CELL_BYTES * CELLS_MOST}B"
            )
