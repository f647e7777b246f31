"""What an oracle finds: rows of a table, each with a tolerance that was derived before, and whose a difference is."""

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Row:
    """One comparison: the worst difference over `count` packets or cases, its tolerance, both in `unit`."""

    what: str
    worst: float
    tolerance: float
    unit: str
    count: int
    reason: str  # of the tolerance
    whose: str  # the difference

    @property
    def held(self) -> bool:
        return self.worst <= self.tolerance  # not for NaN


@dataclass
class Finding:
    """An oracle's rows, what it compared with, and figures that are printed but not judged."""

    name: str
    against: str  # implementation and version
    rows: list[Row] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)

    @property
    def held(self) -> bool:
        return bool(self.rows) and all(row.held for row in self.rows)

    def as_json(self) -> dict:
        rows = [asdict(row) | {"held": row.held} for row in self.rows]
        return {"name": self.name, "against": self.against, "held": self.held, "rows": rows, "told": dict(self.told)}


def figure(x: float) -> str:
    """Three digits that matter; thousands whole."""
    return f"{x:,.0f}" if 1000 <= x < 10**6 else f"{x:.3g}"
