"""The mean absolute scaled error: its unit, its statistic and its mean, for all that need them."""

import numpy as np

from tsformer.arrays import Floats, Ints
from tsformer.estimators.naive import (
    mean_by_series,
    persistence_error,
    season_of,
    shorter_seasons,
)
from tsformer.panels import Panel

__all__ = ["naive_scale", "scaled_error"]


_ROUNDING = 16 * np.finfo(np.float64).eps
"""An error of so little of the values is rounding, thus 0."""
_EXACT = 1e-9
"""A seasonal error of so little of the one-step error is rounding, too: the season is exact."""


def naive_scale(panel: Panel, *, ends: Ints, season: int | None = None) -> Floats:
    """Mean absolute error of seasonal persistence on the first ``ends`` rows of each series.

    The unit of MASE, the equation in Hyndman and Koehler (2006), section 3. The season counts
    where a series has more rows than that; where it has not, the next shorter one of the panel
    does. Without any, or where a series repeats its season exactly, the unit is the error of
    one-step persistence.

    Parameters
    ----------
    ends
        (series,) number of training rows; what stands behind them changes nothing.
    season
        Steps in a season; None takes the one that ``SeasonalNaive`` repeats, see ``season_of``.

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
    rounding = _ROUNDING * mean_by_series(panel, np.abs(panel.target.values), ends)
    step = persistence_error(panel, 1, ends)
    step = np.where(step > np.nan_to_num(rounding), step, np.nan)
    length = season_of(panel, season, ends=np.asarray(ends))
    if length == 1:
        return step
    seasonal = persistence_error(panel, length, ends)
    for other in shorter_seasons(panel, length) if season is None else ():
        seasonal = np.where(np.isnan(seasonal), persistence_error(panel, other, ends), seasonal)
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
