"""Robust location and scale of a column: the median, and the median absolute deviation."""

import numpy as np

from tsformer.arrays import Floats

__all__ = ["NORMAL_QUARTILE", "absolute_deviation", "median"]

NORMAL_QUARTILE = 0.6744897501960817
"""The upper quartile, and so the median absolute deviation, of a standard normal variable."""


def median(values: Floats) -> float:
    """The median of what is not missing; 0 where nothing is there.

    Examples
    --------
    >>> median(np.array([1.0, np.nan, 3.0]))
    2.0
    """
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else 0.0


def absolute_deviation(deviations: Floats) -> float:
    """The median of absolute deviations, over 0.6745 as for a normal variable; always positive.

    Where more than half of them are 0 it is their mean, and 1 where all are or none is there.

    Examples
    --------
    >>> absolute_deviation(np.array([0.0, 0.0, 0.0, 4.0]))
    1.0
    """
    known = deviations[~np.isnan(deviations)]
    return median(known) / NORMAL_QUARTILE or (float(known.mean()) if known.any() else 1.0)
