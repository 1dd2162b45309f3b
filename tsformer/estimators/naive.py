"""Seasonal persistence on panels: the forecast every model must beat."""

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.panels import Panel
from tsformer.panels.seasons import main_season

__all__ = ["season_of", "seasonal_history", "seasonal_naive", "usable_season"]


def season_of(panel: Panel, season: int | None = None, *, ends: Ints | None = None) -> int:
    """Steps in a season: as given, or the main one, found in the first ``ends`` rows if at all."""
    return main_season(panel, ends) if season is None else season


def usable_season(panel: Panel, season: int | None = None, *, ends: Ints | None = None) -> int:
    """Steps in a season: as given, or the main one; 1 where the longest series has not two."""
    length = season_of(panel, season, ends=ends)
    return length if season is not None or 2 * length <= panel.index.lengths.max() else 1


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
