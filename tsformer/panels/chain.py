"""What a transform of the target is, and several of them in a row, undone in reverse order."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from tsformer.arrays import Floats, Ints
from tsformer.errors import ParameterError
from tsformer.panels.panel import Panel
from tsformer.params import Params

__all__ = ["Inverse", "Transform", "apply_all", "by_column", "check_numbers", "fit_all"]

Inverse = Callable[[Floats, Ints, Ints], Floats]
"""Values (n, horizon, target, level), series (n,) and origins (n,) to values in the first units."""


class Transform(Params, ABC):
    """An increasing map of the target, and the way back.

    What it learns are its parameters: ``fit`` gives a value of the same class with them filled in.
    """

    @property
    def memory(self) -> int:
        """How many rows before a row its new value depends on."""
        return 0

    def fit(self, panel: Panel, ends: ArrayLike) -> Self:
        """Learn from the first ``ends`` (series,) rows of each series and from nothing else.

        Returns
        -------
        Transform
            A value with nothing left to learn; itself where there was nothing.
        """
        return self

    @abstractmethod
    def apply(self, panel: Panel) -> Panel:
        """A panel with the transformed target; the given one stays as it is."""

    @abstractmethod
    def invert(self, values: Floats, panel: Panel, series: Ints, origins: Ints) -> Floats:
        """Undo :meth:`apply` on forecasts.

        Parameters
        ----------
        values
            ``(n, horizon, target, level)`` in transformed units.
        panel
            As it was before :meth:`apply`; nothing at or after an origin is looked at.
        series, origins
            ``(n,)`` positions of series, and rows within them of the first forecast step.
        """

    def check_reach(self, steps: int) -> None:
        """Raise ``ParameterError`` if forecasts so far ahead (gap and horizon) have no inverse."""
        return


def fit_all(
    transforms: Sequence[Transform], panel: Panel, ends: ArrayLike
) -> tuple[Transform, ...]:
    """Fit each transform on what the earlier ones make of the first ``ends`` rows of each series.

    Examples
    --------
    >>> from tsformer.panels import Log1p, Shift
    >>> from tsformer.reading import read_panel
    >>> panel = read_panel(np.arange(1.0, 9.0))
    >>> fit_all([Log1p(), Shift(4)], panel, [8])
    (Log1p(), Shift(lag=4))
    """
    fitted: list[Transform] = []
    for transform in transforms:
        transform.check()
        fitted.append(transform.fit(panel, ends))
        panel = fitted[-1].apply(panel)
    return tuple(fitted)


def apply_all(transforms: Sequence[Transform], panel: Panel) -> tuple[Panel, Inverse]:
    """Apply fitted transforms one after the other.

    Returns
    -------
    Panel
        In the units of the last one.
    Inverse
        Undoes all of them on forecasts ``(n, horizon, target, level)``, given series and origins
        ``(n,)``: the last first, each with the panel it was applied to.

    Examples
    --------
    >>> from tsformer.panels import Log1p, Shift
    >>> from tsformer.reading import read_panel
    >>> panel = read_panel(np.array([1.0, 3.0, 7.0, 15.0]))
    >>> changed, inverse = apply_all([Log1p(), Shift(2)], panel)
    >>> changed.target.values.ravel().round(3).tolist()
    [nan, nan, 1.386, 1.386]
    >>> values = changed.target.values[2:].reshape(1, 2, 1, 1)
    >>> inverse(values, np.array([0]), np.array([2])).round(9).ravel().tolist()
    [7.0, 15.0]
    """
    applied: list[tuple[Transform, Panel]] = []
    for transform in transforms:
        applied.append((transform, panel))
        panel = transform.apply(panel)

    def inverse(values: Floats, series: Ints, origins: Ints) -> Floats:
        values = np.asarray(values, np.float64)
        for transform, before in reversed(applied):
            values = transform.invert(values, before, series, origins)
        return values

    return panel, inverse


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
