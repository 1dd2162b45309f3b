"""How many steps one season has: by frequency, and as the data themselves show."""

import numpy as np
import pandas as pd

from tsformer.arrays import Floats, Ints
from tsformer.time.monthly import months_of

__all__ = ["find_seasons", "season_length"]


_DAY = pd.Timedelta(days=1)
_CALENDAR = {"B": 5, "C": 5, "D": 7, "W": 52, "SM": 24, "M": 12, "BM": 12, "Q": 4, "BQ": 4}
_ROWS = 8192
"""Latest rows of a column that are looked at: at half-hourly steps, about half a year."""
_COLUMNS = 64
_FEWEST = 12
"""Rows below which chance alone makes seasons."""
_CYCLES = 3
"""Seasons that a series must hold before one is believed."""
_SURE = 4.5
"""Standard errors of an autocorrelation of noise above which a lag counts."""
_STRONG = 0.2
_NESTED = 4
"""Seasons within a season: what repeats better after twice or three times the steps is a whole."""
_MOST = 32
"""Seasons within a season: a year of weeks is told by the calendar."""
_BETTER = 0.04
_SPIKE = 20
"""Distances that 95 % of the rows keep from their neighbours, from where on a row is an error."""
_WIDTHS = (1, 3, 8)
"""Rows whose means are compared with the next ones: more where noise hides a step of one row."""


def season_length(freq: pd.offsets.BaseOffset | int) -> int:
    """Steps in the season that data of this frequency usually has; 1 where there is none.

    A day for steps below a day, a week for days, a year for weeks, months and quarters.

    Examples
    --------
    >>> from pandas.tseries.frequencies import to_offset
    >>> [season_length(to_offset(name)) for name in ("30min", "h", "D", "W-SUN", "MS", "QE", "YS")]
    [48, 24, 7, 52, 12, 4, 1]
    >>> season_length(1)
    1
    """
    if not isinstance(freq, pd.offsets.BaseOffset):
        return 1
    if isinstance(freq, pd.offsets.Tick):
        step = pd.Timedelta(freq)
        if step < _DAY:
            return max(1, round(_DAY / step))
        return max(1, round(7 * _DAY / step)) if step < 7 * _DAY else 1
    monthly = months_of(freq)
    if monthly is not None:
        return 12 // monthly[0] if 12 % monthly[0] == 0 else 1
    name = freq.rule_code.split("-")[0]
    base = name if name in _CALENDAR else name.removesuffix("S").removesuffix("E")
    season = _CALENDAR.get(base, 1)
    return max(1, season // freq.n) if season % freq.n == 0 else 1


def find_seasons(
    values: Floats, starts: Ints, ends: Ints | None = None, *, known: int | None = None
) -> tuple[int, ...]:
    """Seasons that the values show, in steps, the shortest first; empty where there are none.

    A season is a lag at which the differences from row to row correlate with themselves: more
    than noise of this length does, more than at the lags around it, and again at twice and three
    times the lag. A longer one beside it must repeat the data better than its neighbours among
    the multiples of the shorter do. Missing values are left out, and so a trend is no season, nor
    a random walk. The 64 longest columns and the latest 8,192 rows of each are looked at.

    Parameters
    ----------
    values
        ``(rows, columns)``, series one after another.
    starts
        ``(series + 1,)`` first row of each series, and the number of rows.
    ends
        ``(series,)`` how many rows of each series may be looked at; all by default.
    known
        The shortest season, if it is known: longer ones are looked for beside it.

    Examples
    --------
    >>> steps = np.arange(480.0)
    >>> load = np.sin(2 * np.pi * steps / 24)[:, None] + steps[:, None] / 100
    >>> find_seasons(load, np.array([0, 480]))
    (24,)
    >>> find_seasons(steps[:, None], np.array([0, 480]))
    ()
    """
    parts = _parts(values, starts, ends)
    for width in _WIDTHS:
        correlation, error = _correlations(parts, width)
        season = known or _main(parts, correlation, error, width)
        if season:
            longer = _longer(correlation, error, season)
            return (season,) if longer is None else (season, longer)
    return ()


def _main(parts: list[Floats], correlation: Floats, error: Floats, width: int) -> int | None:
    """The shortest season, or twice or three times that where the data repeat better so."""
    first = _shortest(correlation, error, at_least=4 * width - 2)
    if first is None:
        return None
    first = _refined(parts, first)
    whole = (first * times for times in range(2, _NESTED))
    return next((one for one in whole if _stands_out(correlation, error, one, first)), first)


def _shortest(correlation: Floats, error: Floats, *, at_least: int) -> int | None:
    """The shortest of the lags at which the differences repeat, if there is one."""
    inner = correlation[1:-1]
    peaks = 1 + np.flatnonzero((inner >= correlation[:-2]) & (inner >= correlation[2:]))
    peaks = peaks[(peaks >= max(2, at_least)) & (correlation[peaks] > 3 * error[peaks])]
    good = [int(lag) for lag in peaks if _repeats(correlation, int(lag))]
    sure = [lag for lag in good if correlation[lag] > max(_SURE * error[lag], _STRONG)]
    if not sure:
        return None
    best = max(correlation[lag] for lag in sure)
    lag = next(lag for lag in sure if correlation[lag] >= 0.7 * best)
    # where noise is strong, chance lifts a multiple above the season itself
    whole = (one for one in good if abs(lag / one - round(lag / one)) < 0.02)
    return next(one for one in whole if correlation[one] > 0.6 * correlation[lag])


def _refined(parts: list[Floats], first: int) -> int:
    """The lag that repeats best in the long run: peaks of a smooth curve are flat."""
    width = max((one for one in _WIDTHS if 4 * one - 2 <= first), default=1)
    correlation, _ = _correlations(parts, width)
    near = range(max(2, first - first // 10), min(len(correlation) - 1, first + first // 10) + 1)
    count = min(8, (len(correlation) - 1) // (first + first // 10))
    times = np.arange(1, count + 1)
    return max(near, key=lambda lag: (float(correlation[lag * times].sum()), -lag), default=first)


def _repeats(correlation: Floats, lag: int) -> bool:
    """Whether a peak has valleys on both sides, and comes again."""
    size, height = len(correlation), correlation[lag]
    before = correlation[max(2, lag // 2) : lag] if lag > 2 else correlation[1:2]
    after = correlation[lag + 1 : lag + max(2, lag // 2 + 1)]
    if not len(after) or max(before.min(), after.min()) > 0.5 * height:
        return False
    near = max(1, lag // 20)
    again = [
        correlation[times * lag - near : times * lag + near + 1].max()
        for times in (2, 3)
        if times * lag + near < size
    ]
    return all(one > (0.65, 0.5)[at] * height for at, one in enumerate(again))


def _longer(correlation: Floats, error: Floats, season: int) -> int | None:
    """The multiple of a season that repeats the data best, if it does so better than those beside.

    The shortest of those that do nearly as well.
    """
    lags = range(_NESTED * season, min(len(correlation), _MOST * season + 1), season)
    good = [lag for lag in lags if _stands_out(correlation, error, lag, season)]
    if not good:
        return None
    best = max(correlation[lag] for lag in good)
    return next(lag for lag in good if correlation[lag] >= 0.9 * best)


def _stands_out(correlation: Floats, error: Floats, lag: int, season: int) -> bool:
    """Whether a multiple of a season correlates better than the multiples before and after it."""
    size = len(correlation)
    if lag + season >= size:
        return False
    margin = max(_BETTER, 3 * error[lag] * (1 - min(1.0, correlation[lag]) ** 2))
    places = [lag, 2 * lag] if 2 * lag + season < size else [lag]
    return all(
        correlation[at] > max(correlation[at - season], correlation[at + season]) + margin
        for at in places
    )


def _parts(values: Floats, starts: Ints, ends: Ints | None) -> list[Floats]:
    """The latest rows of the longest columns."""
    lengths = np.diff(starts)
    lengths = lengths if ends is None else np.clip(np.minimum(ends, lengths), 0, None)
    kept = np.argsort(-lengths, kind="stable")[: max(1, _COLUMNS // max(1, values.shape[1]))]
    return [
        values[starts[one] + max(0, lengths[one] - _ROWS) : starts[one] + lengths[one], column]
        for one in kept[lengths[kept] >= _FEWEST]
        for column in range(min(values.shape[1], _COLUMNS))
    ]


def _correlations(parts: list[Floats], width: int) -> tuple[Floats, Floats]:
    """Autocorrelation of the differences by lag, the mean over columns, and its error in noise."""
    longest = max((len(part) for part in parts), default=0)
    total, pairs = np.zeros(longest + 1), np.zeros(longest + 1)
    for part in parts:
        product, count = _products(part, width)
        total[: len(product)] += product
        pairs[: len(product)] += count
    lags = longest // _CYCLES + 1
    total, pairs = total[:lags], pairs[:lags]
    if not total[0] > 0:
        return np.zeros(1), np.zeros(1)
    enough = pairs > max(_FEWEST / 2, 0.05 * pairs[0])
    correlation = np.divide(total, pairs, out=np.zeros_like(total), where=enough)
    # neighbouring differences share rows: so many less of them are independent
    error = np.sqrt(np.divide(width, pairs, out=np.full_like(total, np.inf), where=enough))
    return correlation / correlation[0], error


def _products(values: Floats, width: int) -> tuple[Floats, Floats]:
    """Sums of products of standardised differences by lag, and how many pairs each has."""
    values = _without_spikes(values / max(1.0, np.nanmax(np.abs(values), initial=0.0)))
    if width > 1:
        values = pd.Series(values).rolling(width, min_periods=1).mean().to_numpy()
    steps = values[width:] - values[:-width]
    seen = np.isfinite(steps)
    nothing = np.zeros(1), np.zeros(1)
    if seen.sum() < _FEWEST // 2:
        return nothing
    steps = np.where(seen, steps, np.median(steps[seen]))
    steps = steps - np.median(steps[seen])
    # a few spikes would otherwise be all there is
    usual = np.quantile(np.abs(steps[seen]), 0.95)
    steps = np.clip(steps, -2 * usual, 2 * usual) if usual > 0 else steps
    size_of_all = np.abs(values[np.isfinite(values)]).max()
    scale = np.abs(steps).max()
    if not (np.isfinite(scale) and scale > 1e-12 * size_of_all):
        return nothing
    steps = steps / scale
    steps = steps / np.sqrt(np.square(steps).sum() / seen.sum())
    size = 1 << (2 * len(steps) - 1).bit_length()
    count = len(steps)
    product = np.fft.irfft(np.abs(np.fft.rfft(steps, size)) ** 2, size)[:count]
    pairs = np.fft.irfft(np.abs(np.fft.rfft(seen.astype(np.float64), size)) ** 2, size)[:count]
    return product, np.rint(pairs)


def _without_spikes(values: Floats) -> Floats:
    """Missing where a row alone lies far from those around it: such are errors of measurement."""
    away = np.abs(values - pd.Series(values).rolling(5, center=True, min_periods=1).median())
    seen = np.isfinite(away)
    usual = np.quantile(away[seen], 0.95) if seen.any() else 0.0
    return np.where(away > _SPIKE * usual, np.nan, values) if usual > 0 else values
