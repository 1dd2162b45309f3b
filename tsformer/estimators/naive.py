"""Seasonal persistence: the forecast every model must beat, and its error, the unit of MASE."""

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.panels import Panel
from tsformer.panels.seasons import main_season

__all__ = [
    "naive_scale",
    "scaled_error",
    "seasonal_history",
    "seasonal_naive",
    "usable_season",
]

_ROUNDING = 16 * np.finfo(np.float64).eps
"""An error of so little of the values is rounding, thus 0."""
_EXACT = 1e-9
"""A seasonal error of so little of the one-step error is rounding, too: the season is exact."""


def usable_season(panel: Panel, season: int | None = None, *, ends: Ints | None = None) -> int:
    """Steps in a season: as given, or the main one; 1 where the longest series has not two."""
    if season is not None:
        return season
    length = main_season(panel, ends)
    return length if 2 * length <= panel.index.lengths.max() else 1


def seasonal_history(panel: Panel, season: int) -> Floats:
    """Each row's target or, where missing, the latest one observed at the same phase.

    What was never observed at a phase takes the latest value observed at all; before the first
    observation it stays NaN. A row never depends on a later one.
    """
    if not np.isnan(panel.target.values).any():
        return panel.target.values
    series, phase = panel.index.owner, panel.index.within % season
    target = pd.DataFrame(panel.target.values)
    filled = target.groupby([series, phase]).ffill()
    return filled.fillna(target.groupby(series).ffill()).to_numpy()


def seasonal_naive(
    panel: Panel,
    history: Floats,
    series: Ints,
    origins: Ints,
    *,
    horizon: int,
    season: int,
) -> Floats:
    """Repeat the last season before each origin.

    Parameters
    ----------
    history
        ``seasonal_history(panel, season)``.
    series, origins
        (n,) where to forecast from.

    Returns
    -------
    ndarray
        (n, horizon, target). With less than a season before an origin its last value is repeated.
    """
    steps = np.arange(horizon)
    back = season * (steps // season + 1)
    row = origins[:, None] + steps - back
    row = np.where(row >= 0, row, origins[:, None] - 1)
    found: Floats = history[panel.index.starts[series][:, None] + np.maximum(row, 0)]
    return found


def naive_scale(panel: Panel, *, ends: Ints, season: int | None = None) -> Floats:
    """Mean absolute error of seasonal persistence on the first ``ends`` rows of each series.

    The unit of MASE, the equation in Hyndman and Koehler (2006), section 3. The season counts
    where a series has more rows than that; where it has not, or repeats its season exactly, the
    unit is the error of one-step persistence.

    Parameters
    ----------
    ends
        (series,) number of training rows; what stands behind them changes nothing.
    season
        Steps in a season; None takes the main one of the panel.

    Returns
    -------
    ndarray
        (series, target). NaN where neither error exists or is above rounding, as for a constant
        or a single row: such a series has no unit and is left out of MASE.

    Examples
    --------
    >>> from tsformer.reading import read_panel
    >>> import pandas as pd
    >>> panel = read_panel(pd.DataFrame({"y": [1.0, 4.0, 2.0, 2.0]}))
    >>> naive_scale(panel, ends=np.array([4]), season=2).tolist()
    [[1.5]]
    >>> naive_scale(panel, ends=np.array([2]), season=2).tolist()  # too short for the season
    [[3.0]]
    """
    rounding = _ROUNDING * _mean_by_series(panel, np.abs(panel.target.values), ends)
    step = _persistence_error(panel, 1, ends)
    step = np.where(step > np.nan_to_num(rounding), step, np.nan)
    length = main_season(panel, np.asarray(ends)) if season is None else season
    if length == 1:
        return step
    seasonal = _persistence_error(panel, length, ends)
    return np.where(seasonal > np.fmax(rounding, _EXACT * step), seasonal, step)


def scaled_error(truth: Floats, point: Floats, unit: Floats) -> Floats:
    """``|y - f|`` in units of ``naive_scale``; MASE is the mean of those that are not NaN.

    Parameters
    ----------
    truth, point
        (window, step, target); NaN where a step does not count.
    unit
        (window, target) of the window's series; NaN where a series has none.
    """
    error: Floats = np.abs(truth - point) / unit[:, None, :]
    return error


def _persistence_error(panel: Panel, lag: int, ends: Ints) -> Floats:
    """(series, target) mean of ``|y(t) - y(t - lag)|`` over the first rows of each series."""
    change = np.full_like(panel.target.values, np.nan)
    change[lag:] = np.abs(panel.target.values[lag:] - panel.target.values[:-lag])
    change[panel.index.within < lag] = np.nan
    return _mean_by_series(panel, change, ends)


def _mean_by_series(panel: Panel, values: Floats, ends: Ints) -> Floats:
    """(series, column) means of what is there in the first rows of each series; NaN of nothing."""
    series = panel.index.owner
    seen = panel.index.before(ends)
    present = ~np.isnan(values) & seen[:, None]
    total, count = np.zeros((2, panel.n_series, values.shape[1]))
    np.add.at(total, series, np.where(present, values, 0.0))
    np.add.at(count, series, present)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
