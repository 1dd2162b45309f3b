"""Seasonal persistence on panels: the forecast every model must beat."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.panels import Panel
from tsformer.panels.seasons import known_seasons
from tsformer.time.season import season_length

__all__ = [
    "mean_by_series",
    "persistence_error",
    "season_of",
    "seasonal_history",
    "seasonal_naive",
    "shorter_seasons",
    "usable_season",
]

_LESS = 0.95
"""Of the error of one season, what a longer one may err at most to be repeated in its place."""


def season_of(panel: Panel, season: int | None = None, *, ends: Ints | None = None) -> int:
    """Steps in the season to repeat: as given, or that which repeats the first ``ends`` rows best.

    Of the panel's seasons a longer one, such as the week of half-hourly load beside the day, must
    stand twice in the longest series, and err clearly less than the shorter one does. Of days and
    longer steps the calendar's season is repeated, whatever else they show.
    """
    if season is not None:
        return season
    ends = panel.index.lengths if ends is None else np.minimum(ends, panel.index.lengths)
    best, *others = known_seasons(panel, ends)
    most = 0 if _of_the_calendar(panel.index.freq) else ends.max(initial=0)
    others = [one for one in others if 2 * one <= most]
    least = persistence_error(panel, best, ends) if others else np.empty(0)
    for other in others:
        error = persistence_error(panel, other, ends)
        counts = np.isfinite(error) & (least > 0)
        if counts.any() and (error[counts] / least[counts]).mean() < _LESS:
            best, least = other, error
    return best


def _of_the_calendar(freq: pd.offsets.BaseOffset | int) -> bool:
    """Whether stamps a day or more apart tell the season."""
    below_a_day = isinstance(freq, pd.offsets.Tick) and pd.Timedelta(freq) < pd.Timedelta(days=1)
    return season_length(freq) > 1 and not below_a_day


def shorter_seasons(panel: Panel, season: int) -> tuple[int, ...]:
    """The panel's other seasons, longest first: for where there are fewer rows than ``season``."""
    others = (one for one in panel.schema.season or () if 1 < one < season)
    return tuple(sorted(others, reverse=True))


def persistence_error(panel: Panel, lag: int, ends: Ints) -> Floats:
    """(series, target) mean of ``|y(t) - y(t - lag)|`` over the first rows of each series."""
    change = np.full_like(panel.target.values, np.nan)
    change[lag:] = np.abs(panel.target.values[lag:] - panel.target.values[:-lag])
    change[panel.index.within < lag] = np.nan
    return mean_by_series(panel, change, ends)


def mean_by_series(panel: Panel, values: Floats, ends: Ints) -> Floats:
    """(series, column) means of what is there in the first rows of each series; NaN of nothing."""
    series = panel.index.owner
    seen = panel.index.before(ends)
    present = ~np.isnan(values) & seen[:, None]
    total, count = np.zeros((2, panel.n_series, values.shape[1]))
    np.add.at(total, series, np.where(present, values, 0.0))
    np.add.at(count, series, present)
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def usable_season(panel: Panel, season: int | None = None, *, ends: Ints | None = None) -> int:
    """Steps in a season: as :func:`season_of` has it; 1 where the longest series has not two."""
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
    shorter: Sequence[int] = (),
) -> Floats:
    """Repeat the last season before each origin.

    Parameters
    ----------
    history
        ``seasonal_history(panel, season)``.
    series, origins
        (n,) where to forecast from.
    shorter
        Seasons to repeat where there are too few rows before an origin, the longest first.

    Returns
    -------
    ndarray
        (n, horizon, target). With less than a season before an origin its last value is repeated.
    """
    steps, length = np.arange(horizon), np.full((len(origins), 1), season)
    for other in shorter:
        length = np.where(origins[:, None] < length, other, length)
    back = length * (steps // length + 1)
    row = origins[:, None] + steps - back
    row = np.where(row >= 0, row, origins[:, None] - 1)
    found: Floats = history[panel.index.starts[series][:, None] + np.maximum(row, 0)]
    return found
