"""Whether two values of a parameter are the same: by what they hold, never by how they print."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tsformer.params import Params, settings_of

__all__ = ["same_value"]


def same_value(one: Any, other: Any) -> bool:
    """Whether two values of a parameter are equal in every element and type, nested ones too.

    Where that cannot be told, such as of two functions that are not the same one, it is False.

    Examples
    --------
    >>> import numpy as np
    >>> same_value({"days": np.arange(3)}, {"days": np.arange(3)})
    True
    >>> same_value([1, 2], [1, 2.0])
    False
    """
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, Params):
        return same_value(settings_of(one), settings_of(other))
    if isinstance(one, Mapping):
        return list(one) == list(other) and all(same_value(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(same_value(*pair) for pair in pairs)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if isinstance(one, (pd.DataFrame, pd.Series, pd.Index)):
        return _same_table(one, other)
    return bool(one == other)


def _same_table(one: Any, other: Any) -> bool:
    if isinstance(one, pd.Index):
        return one.dtype == other.dtype and one.names == other.names and one.equals(other)
    labels = (_same_table(*pair) for pair in zip(one.axes, other.axes, strict=True))
    return bool(one.equals(other)) and all(labels)
