"""Names of columns: text inside, given back as the caller had them."""

from numbers import Real
from typing import Any

import numpy as np

__all__ = ["as_text", "is_number"]


def is_number(name: Any) -> bool:
    """Whether a column is named by a finite number."""
    flag = isinstance(name, (bool, np.bool_))
    return not flag and isinstance(name, Real) and bool(np.isfinite(float(name)))


def as_text(name: Any) -> Any:
    """A number as the text that names its column inside; anything else as it is.

    Examples
    --------
    >>> [as_text(name) for name in (2022, 2022.0, 0.5, "load")]
    ['2022', '2022', '0.5', 'load']
    """
    if not is_number(name):
        return name
    return str(int(name)) if float(name).is_integer() else str(name)
