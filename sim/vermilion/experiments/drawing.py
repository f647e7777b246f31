"""What figures of several experiments share: a colour for every scheme, the papers' or another that was added to the settings, and how far seeds reach."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[["Figure"], None]  # draws on an empty figure
Picture = tuple[str, str, float, Draw]  # name, caption, height, drawing
INKS = (
    *("#5b8fc0", "#d2603a", "#2e9e43", "#c99300", "#8a5bb0"),
    *("#4aa5a0", "#b0507a", "#8d6e3f", "#333333", "#9bbf3b"),
)


def inks(names: Iterable[str], fixed: dict[str, str]) -> dict[str, str]:
    """A colour for each name: the one that is fixed for it, or the next of those that are for none."""
    spare = [ink for ink in INKS if ink not in fixed.values()]
    every = list(names)
    others = [name for name in every if name not in fixed]
    return {name: fixed[name] if name in fixed else spare[others.index(name) % len(spare)] for name in every}


def reach(middles: list[float], each: list[list[float]]) -> list[list[float]]:
    """Error bars from the least to the greatest of the seeds. A middle of a single seed may lie beside it by a rounding."""
    below = [max(0.0, middle - min(numbers)) for middle, numbers in zip(middles, each, strict=True)]
    return [below, [max(0.0, max(numbers) - middle) for middle, numbers in zip(middles, each, strict=True)]]
