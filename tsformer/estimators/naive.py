"""Seasonal persistence: the forecast every model must beat, and its error, the unit of MASE."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.panels import Panel
from tsformer.panels.seasons import known_seasons
from tsformer.time.season import season_length

__all__ = [
    "naive_scale",
    "scaled_error",
    "season_of",
    "seasonal_history",
    "seasonal_naive",
    "shorter_seasons",
    "usable_season",
]

_ROUNDING = 16 * np.finfo(np.float64).eps
"""An error of so little of the values is rounding, thus 0."""
_EXACT = 1e-9
"""A seasonal error of so little of the one-step error is rounding, too: the season is exact."""
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
    least = _persistence_error(panel, best, ends) if others else np.empty(0)
    for other in others:
        error = _persistence_error(panel, other, ends)
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
    rounding = _ROUNDING * _mean_by_series(panel, np.abs(panel.target.values), ends)
    step = _persistence_error(panel, 1, ends)
    step = np.where(step > np.nan_to_num(rounding), step, np.nan)
    length = season_of(panel, season, ends=np.asarray(ends))
    if length == 1:
        return step
    seasonal = _persistence_error(panel, length, ends)
    for other in shorter_seasons(panel, length) if season is None else ():
        seasonal = np.where(np.isnan(seasonal), _persistence_error(panel, other, ends), seasonal)
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
