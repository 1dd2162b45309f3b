"""The inverse hyperbolic sine of the target: a logarithm that also takes zero and negatives."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tsformer.arrays import Floats, Ints
from tsformer.errors import ParameterError
from tsformer.panels.chain import Transform, by_column, check_numbers
from tsformer.panels.panel import Panel
from tsformer.panels.robust import absolute_deviation, median
from tsformer.params import KW_ONLY, param, params

__all__ = ["Asinh"]


@params
class Asinh(Transform):
    """``asinh((y - offset) / scale)``: for values with spikes to both sides, such as prices.

    Near the offset it is a straight line, far from it a logarithm of either sign; every value has
    an image, and missing ones stay missing.

    References
    ----------
    Uniejewski, Weron and Ziel (2018), "Variance Stabilizing Transformations for Electricity Spot
    Price Forecasting", IEEE Transactions on Power Systems 33(2).

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> panel = read_panel(np.array([-90.0, 10.0, 12.0, 8.0, 500.0]))
    >>> Asinh(10.0, scale=2.0).apply(panel).target.values.ravel().round(2).tolist()
    [-4.61, 0.0, 0.88, -0.88, 6.19]
    >>> Asinh().fit(panel, [5])
    Asinh(offset=(10.0,), scale=(2.96...,))
    """

    offset: float | tuple[float, ...] | None = param(
        "What is taken off, one number or one for each target column; None learns the median of"
        " each column over the training rows of all series.",
        default=None,
    )
    _: KW_ONLY
    scale: float | tuple[float, ...] | None = param(
        "What is divided by; None learns the median absolute deviation from the offset, over 0.6745"
        " as for a normal variable. Where more than half of the values are alike it is the mean"
        " absolute deviation, and 1 where all are.",
        default=None,
    )

    def check(self) -> None:
        """Raise ``ParameterError`` unless offsets are finite and scales positive."""
        super().check()
        check_numbers(self, "offset")
        check_numbers(self, "scale", positive=True)

    def fit(self, panel: Panel, ends: ArrayLike) -> Self:
        """Find median and median absolute deviation of each column, unless they are given."""
        self.check()
        seen = panel.target.values[panel.index.before(ends)]
        offset = self.offset
        if offset is None:
            offset = tuple(median(column) for column in seen.T)
        scale = self.scale
        if scale is None:
            off = np.abs(seen - by_column(type(self)(offset), "offset", panel))
            scale = tuple(absolute_deviation(column) for column in off.T)
        return type(self)(offset, scale=scale)

    def apply(self, panel: Panel) -> Panel:
        """Raise ``ParameterError`` if offset or scale have not been learnt yet."""
        offset, scale = self._columns(panel)
        return panel.with_target(np.arcsinh((panel.target.values - offset) / scale))

    def invert(self, values: Floats, panel: Panel, series: Ints, origins: Ints) -> Floats:
        """``offset + scale * sinh(values)``, infinite where that leaves float64."""
        offset, scale = (one[:, None] for one in self._columns(panel))
        with np.errstate(over="ignore"):
            inverted: Floats = offset + scale * np.sinh(values)
        return inverted

    def _columns(self, panel: Panel) -> tuple[Floats, Floats]:
        self.check()
        if self.offset is None or self.scale is None:
            raise ParameterError(f"{self!r} has not learnt offset and scale yet: call fit first")
        return by_column(self, "offset", panel), by_column(self, "scale", panel)
