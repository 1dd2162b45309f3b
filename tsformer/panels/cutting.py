"""Parts of a panel: rows of each series, some of the series."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from tsformer.panels.panel import Panel

__all__ = ["clipped", "picked"]

Ints = NDArray[np.int64]


def picked(panel: "Panel", series: Ints, first: Ints, counts: Ints) -> dict[str, Any]:
    """Fields of a panel with rows ``first`` to ``first + counts`` of the chosen series."""
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    rows: Any
    if len(series) == 1:  # a view is enough
        rows = slice(int(first[0]), int(first[0] + counts[0]))
    else:
        rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], counts)
    return {
        "ids": panel.ids[series],
        "starts": starts,
        "stamps": panel.stamps[rows],
        "target": panel.target[rows],
        "past": panel.past[rows],
        "known": panel.known[rows],
        "past_codes": panel.past_codes[rows],
        "known_codes": panel.known_codes[rows],
        "weight": panel.weight[rows],
        "masked": panel.masked[rows],
        "static": panel.static[series],
        "static_codes": panel.static_codes[series],
    }


def clipped(rows: ArrayLike, lengths: Ints) -> Ints:
    """Row numbers as a slice would read them, between 0 and the length of each series."""
    given = np.asarray(rows, np.int64)
    if given.ndim == 0:
        given = np.where(given < 0, lengths + given, given)
    return np.clip(given, 0, lengths)
