"""What an oracle finds: rows with a tolerance that was derived before, the cause of each difference, and figures that nobody judges."""

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Row:
    """One comparison: the worst difference over `count` samples, its tolerance, both in `unit`."""

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


@dataclass(frozen=True)
class Listing:
    """Figures that are printed but not judged. Columns after the first `texts` hold numbers."""

    title: str
    head: list[str]
    rows: list[list[str]]
    texts: int = 1


@dataclass
class Finding:
    """An oracle's rows, what it compared with, notes on how to read the rows, and figures that are not judged."""

    name: str
    against: str  # implementation and version
    rows: list[Row] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    told: list[tuple[str, str]] = field(default_factory=list)
    tables: list[Listing] = field(default_factory=list)
    figures: list[dict] = field(default_factory=list)  # data behind the rows, for the JSON file alone

    @property
    def held(self) -> bool:
        return bool(self.rows) and all(row.held for row in self.rows)

    def as_json(self) -> dict:
        out = {"name": self.name, "against": self.against, "held": self.held}
        out["rows"] = [asdict(row) | {"held": row.held} for row in self.rows]
        out |= {"notes": self.notes, "told": dict(self.told), "tables": list(map(asdict, self.tables))}
        return out | {"figures": self.figures}


def figure(x: float) -> str:
    """Three significant digits; thousands whole."""
    return f"{x:,.0f}" if 1000 <= x < 10**6 else f"{x:.3g}"
