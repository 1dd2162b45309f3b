"""Rows of series that stand one after another, each with a length of its own."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["row_within_series"]


def row_within_series(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """``(rows,)`` how many rows of its own series stand before each row.

    Examples
    --------
    >>> row_within_series(np.array([3, 0, 2]))
    array([0, 1, 2, 0, 1])
    """
    starts = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum(), dtype=np.int64) - np.repeat(starts, lengths)
