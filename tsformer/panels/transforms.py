"""Transforms of the target: logarithm, power, bounds and change.

Applied to a panel, in the caller's units and in float64; a forecaster scales and learns what they
give. All of them are increasing, so quantiles stay quantiles and the inverse of a
median is the median. The inverse of a mean is not the mean: under ``Log1p`` or ``BoxCox`` a head
that forecasts means, ``Point("squared")``, comes back too low.
"""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from tsformer.arrays import Flags, Floats, Ints
from tsformer.errors import FrameError, InfiniteValues, ParameterError, SeriesTooShort
from tsformer.panels.chain import Inverse, Transform, apply_all, by_column, check_numbers, fit_all
from tsformer.panels.index import shown
from tsformer.panels.panel import Panel
from tsformer.panels.power import from_power, likeliest_power, to_power
from tsformer.params import KW_ONLY, param, params

__all__ = [
    "BoxCox",
    "Clip",
    "Inverse",
    "Log1p",
    "Shift",
    "Transform",
    "apply_all",
    "fit_all",
]


@params
class Log1p(Transform):
    """``log(1 + y)``: for counts and amounts that are 0 or more and vary with their level.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> panel = read_panel(np.array([0.0, 9.0, 99.0]))
    >>> Log1p().apply(panel).target.values.ravel().round(2).tolist()
    [0.0, 2.3, 4.61]
    """

    def apply(self, panel: Panel) -> Panel:
        """Raise ``FrameError`` for a value of -1 or less."""
        cure = "Add a constant to the column first, or leave the transform out."
        _refuse(panel, panel.target.values <= -1, f"Log1p takes values above -1. {cure}")
        return panel.with_target(np.log1p(panel.target.values))

    def invert(self, values: Floats, panel: Panel, series: Ints, origins: Ints) -> Floats:
        """``exp(values) - 1``, infinite where that leaves float64."""
        with np.errstate(over="ignore"):
            inverted: Floats = np.expm1(values)
        return inverted


@params
class BoxCox(Transform):
    """``(y ** power - 1) / power`` of positive values, the logarithm for power 0.

    A forecast beyond what any value is transformed to comes back as the edge of the range: 0 for a
    positive power; for a negative one infinity, which ``predict`` refuses.

    References
    ----------
    Box and Cox (1964), "An Analysis of Transformations", equation 1.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> panel = read_panel(np.array([1.0, 4.0, 9.0]))
    >>> BoxCox(0.5).apply(panel).target.values.ravel().round(9).tolist()
    [0.0, 2.0, 4.0]
    >>> growth = read_panel(np.exp(np.random.default_rng(0).normal(size=300)))
    >>> BoxCox().fit(growth, [300])
    BoxCox(power=(-0.01...,), unit=(0.96...,))
    """

    power: float | tuple[float, ...] | None = param(
        "One number, or one for each target column; None learns the likeliest in [-1, 2] for each"
        " column from the training rows of all series.",
        default=None,
    )
    _: KW_ONLY
    unit: float | tuple[float, ...] | None = param(
        "What values are divided by first, so that very large or small ones keep their digits;"
        " None is 1 or, where the power is learnt, the geometric mean of the training rows.",
        default=None,
    )

    def check(self) -> None:
        """Raise ``ParameterError`` unless powers are finite and units positive."""
        super().check()
        check_numbers(self, "power")
        check_numbers(self, "unit", positive=True)

    def fit(self, panel: Panel, ends: ArrayLike) -> Self:
        """Find the power of each column, unless it is given.

        Raises
        ------
        FrameError
            If a training row is not positive.
        """
        self.check()
        if self.power is not None:
            return self
        series, seen = panel.index.owner, panel.index.before(ends)[:, None]
        logs = _positive_logs(panel.with_target(np.where(seen, panel.target.values, np.nan)))
        powers, units = [], []
        for column in logs.T:
            known = ~np.isnan(column)
            powers.append(likeliest_power(column[known], series[known]))
            units.append(float(np.exp(column[known].mean())) if known.any() else 1.0)
        unit = tuple(units) if self.unit is None else self.unit
        return type(self)(tuple(powers), unit=unit)

    def apply(self, panel: Panel) -> Panel:
        """Raise ``FrameError`` for a value of 0 or less."""
        power, logs = self._columns(panel), _positive_logs(panel)
        transformed = to_power(logs - self._log_units(panel), power)
        cure = "Use a smaller power."
        _refuse(
            panel,
            np.isinf(transformed),
            f"{self!r} takes it out of float64. {cure}",
            InfiniteValues,
        )
        return panel.with_target(transformed)

    def invert(self, values: Floats, panel: Panel, series: Ints, origins: Ints) -> Floats:
        """``(1 + power * values) ** (1 / power)``; never NaN, see above."""
        logs = from_power(values, self._columns(panel)[:, None])
        with np.errstate(over="ignore"):
            inverted: Floats = np.exp(logs + self._log_units(panel)[:, None])
        return inverted

    def _columns(self, panel: Panel) -> Floats:
        self.check()
        if self.power is None:
            raise ParameterError("BoxCox(power=None) has not learnt its power yet: call fit first")
        return by_column(self, "power", panel)

    def _log_units(self, panel: Panel) -> Floats:
        logs: Floats = np.log(by_column(self, "unit", panel))
        return logs


@params
class Clip(Transform):
    """Forecasts kept within bounds that the series cannot leave; the data stay as they are.

    The bounds are in the units of its place: put it before the others for those of the caller.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> panel, one = read_panel(np.array([1.0, 2.0])), np.array([0])
    >>> Clip(low=0).invert(np.array([[[[-0.5, 0.5]]]]), panel, one, one).tolist()
    [[[[0.0, 0.5]]]]
    """

    _: KW_ONLY
    low: float | None = param("The least a forecast may be; None is no bound.", default=None)
    high: float | None = param("The most it may be; None is no bound.", default=None)

    def check(self) -> None:
        """Raise ``ParameterError`` without any bound, or if ``low`` is above ``high``."""
        super().check()
        if self.low is None and self.high is None:
            raise ParameterError("Clip() clips nothing: give low, high or both")
        low = -np.inf if self.low is None else self.low
        high = np.inf if self.high is None else self.high
        if not low <= high:  # NaN too
            raise ParameterError(f"{self!r}: low must not be above high")

    def apply(self, panel: Panel) -> Panel:
        """The panel itself."""
        self.check()
        return panel

    def invert(self, values: Floats, panel: Panel, series: Ints, origins: Ints) -> Floats:
        """The forecasts, those outside moved to the nearest bound."""
        self.check()
        clipped: Floats = np.clip(values, self.low, self.high)
        return clipped


@params
class Shift(Transform):
    """The change against the value ``lag`` rows before, such as one season.

    Where that value is missing, the latest one before it at the same phase (``2 * lag`` rows
    before, and so on) stands in; a row without any is missing, and so are the first ``lag`` rows of
    each series. Forecasts get the same known values back; for a phase that was never observed that
    is the latest value known at any.

    The lag must reach over gap and horizon, see :meth:`check_reach`.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> panel = read_panel(np.array([1.0, 5.0, 2.0, 7.0]))
    >>> Shift(2).apply(panel).target.values.ravel().tolist()
    [nan, nan, 1.0, 2.0]
    >>> change = np.zeros((1, 2, 1, 1))
    >>> Shift(2).invert(change, panel, np.array([0]), np.array([4])).ravel().tolist()
    [2.0, 7.0]
    """

    lag: int = param("How many rows before; at least gap + horizon.", low=1)

    @property
    def memory(self) -> int:
        """The lag."""
        return self.lag

    def check_reach(self, steps: int) -> None:
        """Raise ``ParameterError`` if some of so many steps would need earlier forecasts."""
        self.check()
        if self.lag < steps:
            raise ParameterError(
                f"{self!r}: {steps} steps (gap + horizon) reach beyond the lag, so later ones would"
                " be sums of forecasts, and sums of quantiles are not quantiles of sums. Use a lag"
                f" of at least {steps}, such as a whole number of seasons; or leave Shift out and"
                ' take scaling="last", which forecasts changes from the last value.'
            )

    def apply(self, panel: Panel) -> Panel:
        """Take the value ``lag`` rows before off each row."""
        self.check()
        later = np.flatnonzero(panel.index.within >= self.lag)
        target = np.full_like(panel.target.values, np.nan)
        latest = _latest(panel.target.values, panel.index.starts, self.lag)
        target[later] = panel.target.values[later] - latest[later - self.lag]
        return panel.with_target(target)

    def invert(self, values: Floats, panel: Panel, series: Ints, origins: Ints) -> Floats:
        """Add the values ``lag`` rows before each step; all of them stand before the origin.

        Raises
        ------
        SeriesTooShort
            If a series has fewer than ``lag`` rows before an origin.
        """
        horizon = values.shape[1]
        self.check_reach(horizon)
        short = origins < self.lag
        if short.any():
            first = int(np.argmax(short))
            raise SeriesTooShort(
                f"series {shown(panel.index.ids[series[first]])} has {origins[first]} rows before"
                f" the forecast, {self!r} needs {self.lag} ({int(short.sum())} of {len(origins)}"
                " such forecasts). Give more history, or use a shorter lag."
            )
        rows = (panel.index.starts[series] + origins - self.lag)[:, None] + np.arange(horizon)
        known = panel.target.values[rows]
        for lag in (self.lag, 1):  # the same phase, then any
            missing = np.isnan(known)
            if missing.any():
                found = _latest(panel.target.values, panel.index.starts, lag)[rows]
                known = np.where(missing, found, known)
        restored: Floats = values + known[..., None]
        return restored


def _refuse(panel: Panel, bad: Flags, allowed: str, kind: type[FrameError] = FrameError) -> None:
    """Raise for the first bad entry of the target; ``allowed`` says what may be and what to do."""
    if not bad.any():
        return
    column = int(np.argmax(bad.any(axis=0)))
    row = int(np.argmax(bad[:, column]))
    series = int(np.searchsorted(panel.index.starts, row, side="right")) - 1
    place = f"first{panel.index.where(row)} (row {row - panel.index.starts[series]})"
    name, value = panel.target.names[column], panel.target.values[row, column]
    raise kind(
        f"column {name!r} holds {value:g}: {place}, {int(bad[:, column].sum())} in all. {allowed}"
    )


def _positive_logs(panel: Panel) -> Floats:
    cure = "Log1p() takes 0 too; otherwise add a constant to the column first."
    _refuse(panel, panel.target.values <= 0, f"BoxCox takes values above 0. {cure}")
    logs: Floats = np.log(panel.target.values)
    return logs


def _latest(values: Floats, starts: Ints, lag: int) -> Floats:
    """Each value or, where missing, the latest one observed lag, 2 lag, ... rows before it."""
    rows, columns = np.nonzero(np.isnan(values))
    if len(rows) == 0:
        return values
    filled = values.copy()
    within = rows - starts[np.searchsorted(starts, rows, side="right") - 1]
    # after n rounds 2 ** n rows of the phase have been looked at
    while len(rows):
        inside = within >= lag
        rows, columns, within = rows[inside], columns[inside], within[inside]
        filled[rows, columns] = filled[rows - lag, columns]
        still = np.isnan(filled[rows, columns])
        rows, columns, within = rows[still], columns[still], within[still]
        lag *= 2
    return filled
