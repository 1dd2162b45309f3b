"""Seasonal persistence on panels: the forecast every model must beat, and the unit of MASE."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer.panels import Panel
from tsformer.time.season import season_length

__all__ = ["naive_scale", "seasonal_history", "seasonal_naive", "usable_season"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def usable_season(panel: Panel, season: int | None = None) -> int:
    """Steps in a season: as given, or by frequency; 1 where the longest series has not two."""
    found = season_length(panel.freq) if season is None else season
    return found if season is not None or 2 * found <= panel.lengths.max() else 1


def seasonal_history(panel: Panel, season: int) -> Floats:
    """Each row's target or, where missing, the latest one observed at the same phase.

    What was never observed at a phase takes the latest value observed at all; before the first
    observation it stays NaN. A row never depends on a later one.
    """
    if not np.isnan(panel.target).any():
        return panel.target
    series = np.arange(panel.n_series).repeat(panel.lengths)
    phase = (np.arange(panel.n_rows) - panel.starts[series]) % season
    target = pd.DataFrame(panel.target)
    filled = target.groupby([series, phase]).ffill()
    return filled.fillna(target.groupby(series).ffill()).to_numpy()


def seasonal_naive(
    panel: Panel,
    history: Floats,
    series: Integers,
    origins: Integers,
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
    found: Floats = history[panel.starts[series][:, None] + np.maximum(row, 0)]
    return found


def naive_scale(panel: Panel, *, ends: Integers, season: int | None = None) -> Floats:
    """Mean absolute error of one-step seasonal persistence on the first ``ends`` rows.

    The denominator of MASE, equation in Hyndman and Koehler (2006), section 3.

    Returns
    -------
    ndarray
        (series, target). Where it is 0 or undefined (a constant or very short series): the mean
        absolute value instead, or 1, so that a perfect forecast scores 0.
    """
    season = usable_season(panel, season)
    scale = np.full((panel.n_series, panel.target.shape[1]), np.nan)
    lengths = panel.lengths
    series = np.arange(panel.n_series).repeat(lengths)
    row = np.arange(panel.n_rows) - panel.starts[series]
    seen = (row < np.asarray(ends)[series])[:, None]
    later = (row >= season)[:, None] & seen
    step = np.full_like(panel.target, np.nan)
    step[season:] = np.abs(panel.target[season:] - panel.target[:-season])
    scale = _mean_by_series(np.where(later, step, np.nan), series, panel.n_series)
    level = _mean_by_series(np.where(seen, np.abs(panel.target), np.nan), series, panel.n_series)
    usable = np.isfinite(scale) & (scale > 0)
    fallback = np.where(np.isfinite(level) & (level > 0), level, 1.0)
    return np.where(usable, scale, fallback)


def _mean_by_series(values: Floats, series: Integers, count: int) -> Floats:
    present = ~np.isnan(values)
    total = np.zeros((count, values.shape[1]))
    number = np.zeros((count, values.shape[1]))
    np.add.at(total, series, np.where(present, values, 0.0))
    np.add.at(number, series, present)
    return np.divide(total, number, out=np.full_like(total, np.nan), where=number > 0)
