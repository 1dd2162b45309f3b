"""Parameters of transforms that are one number, or one for each target column."""

from typing import Any

import numpy as np

from tsformer.arrays import Floats
from tsformer.errors import ParameterError
from tsformer.panels.panel import Panel
from tsformer.params import Params

__all__ = ["by_column", "check_numbers"]


def check_numbers(owner: Params, name: str, *, positive: bool = False) -> None:
    """Raise ``ParameterError`` unless a parameter is None, a finite number or several."""
    value: Any = getattr(owner, name)
    least = 0.0 if positive else -np.inf
    for one in value if isinstance(value, (tuple, list)) else [] if value is None else [value]:
        if not (isinstance(one, (int, float)) and np.isfinite(one) and one > least):
            word = "positive and finite" if positive else "finite"
            raise ParameterError(f"{type(owner).__name__}({name}={value!r}): {name} must be {word}")


def by_column(owner: Params, name: str, panel: Panel, *, default: float = 1.0) -> Floats:
    """``(target,)`` the numbers of a parameter, ``default`` where it is None.

    Raises
    ------
    ParameterError
        If there are more or fewer than targets.
    """
    value = getattr(owner, name)
    given = np.asarray(default if value is None else value, np.float64)
    columns = panel.target.values.shape[1]
    if given.ndim and len(given) != columns:
        raise ParameterError(
            f"{type(owner).__name__}({name}={value!r}): {len(given)} numbers for {columns} target"
            f" columns {panel.target.names}"
        )
    return np.broadcast_to(given, (columns,))
