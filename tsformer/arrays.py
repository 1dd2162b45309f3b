"""The three kinds of NumPy arrays that everything is counted, measured and marked in."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Flags", "Floats", "Ints"]

Flags = NDArray[np.bool_]
"""True or false: what is there, what counts."""
Floats = NDArray[np.float64]
"""Values, in the caller's units unless said otherwise; NaN where missing."""
Ints = NDArray[np.int64]
"""Positions, counts and codes."""
