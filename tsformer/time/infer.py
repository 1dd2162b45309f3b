"""Finding a frequency: the steady step between stamps, or their median gap."""

import numpy as np
import pandas as pd
from pandas.tseries.frequencies import to_offset

from tsformer.arrays import Ints
from tsformer.threads import ignored
from tsformer.time.freq import Freq, as_freq, per_second, ticks, wall_of
from tsformer.time.monthly import day_of_month

__all__ = ["guess", "median_gap"]


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_DAY = 86_400


def guess(stamps: pd.Index, starts: Ints) -> Freq | None:
    """Find the step between rows; ``None`` where there are too few rows to tell.

    pandas reasons about the longest series; where that has gaps, the most frequent difference of
    all series decides. Whether the rows follow it is for :func:`ticks` to say.
    """
    lengths = np.diff(starts)
    longest = int(np.argmax(lengths))
    one = stamps[starts[longest] : starts[longest + 1]]
    if not isinstance(one, pd.DatetimeIndex):
        steps = _steps(stamps.to_numpy().astype(np.int64), starts)
        return _most_frequent(steps) if len(steps) else None
    if len(one) < 3:
        return None
    return _inferred(one) or _from_differences(pd.DatetimeIndex(stamps), starts)


def median_gap(stamps: pd.Index, starts: Ints) -> Freq | None:
    """Median time between two rows of a series, over all series; ``None`` without two rows.

    A fixed time, counted in UTC, or a whole number of at least 1 for integer time.

    >>> stamps = pd.DatetimeIndex(["2024-01-01", "2024-01-02", "2024-01-05"])
    >>> median_gap(stamps, np.array([0, 3]))
    <48 * Hours>
    """
    dates = stamps if isinstance(stamps, pd.DatetimeIndex) else None
    steps = _steps(stamps.to_numpy().astype(np.int64) if dates is None else dates.asi8, starts)
    if not len(steps):
        return None
    middle = max(1, round(float(np.median(steps))))
    return middle if dates is None else _tick(middle, dates)


def _inferred(stamps: pd.DatetimeIndex) -> Freq | None:
    wall = wall_of(stamps)
    if stamps.tz is None:
        tries = [wall]
    elif (np.diff(wall.asi8) >= 23 * 3600 * per_second(wall)).all():
        tries = [wall, wall.normalize()]
    else:
        tries = [stamps.tz_convert("UTC").tz_localize(None)]
    for one in tries:
        with ignored():  # the return type changes in pandas 4; both are read
            found = pd.infer_freq(one)
        if found is not None:
            return as_freq(found)
    return None


def _from_differences(stamps: pd.DatetimeIndex, starts: Ints) -> Freq | None:
    per_day = _DAY * per_second(stamps)
    wall = wall_of(stamps)
    step = _most_frequent(_steps(wall.asi8, starts))
    if step < per_day * 23 // 24:
        step = _most_frequent(_steps(stamps.asi8, starts))
        return _tick(step, stamps)
    days = round(step / per_day)
    for name in (*_candidates(days, wall), *_monthly(days, wall)):
        freq = as_freq(name)
        if not ticks(stamps, starts, freq)[1].any():
            return freq
    whole = step % per_day == 0 or stamps.tz is not None
    return pd.offsets.Day(days) if whole else _tick(step, stamps)


def _tick(step: int, stamps: pd.DatetimeIndex) -> Freq:
    offset = to_offset(pd.Timedelta(step, unit=stamps.unit))
    return as_freq(offset)  # refuses a step of zero


def _candidates(days: int, wall: pd.DatetimeIndex) -> list[str]:
    month = _MONTHS[int(wall[0].month) - 1]
    if days == 1:
        weekend = bool((wall.day_of_week >= 5).any())
        return ["B"] if not weekend and wall[-1] - wall[0] >= pd.Timedelta(days=7) else []
    if days == 7:
        return [f"W-{_WEEKDAYS[int(wall[0].day_of_week)]}"]
    if 28 <= days <= 31:
        return ["MS", "ME", "BMS", "BME"]
    if 89 <= days <= 92:
        return [f"{kind}-{month}" for kind in ("QS", "QE", "BQS", "BQE")]
    if 365 <= days <= 366:
        return [f"{kind}-{month}" for kind in ("YS", "YE", "BYS", "BYE")]
    return []


def _monthly(days: int, wall: pd.DatetimeIndex) -> list[str]:
    """Steps of whole months of about so many days, where all stamps share a day of the month."""
    months = round(days / 30.44)
    day = day_of_month(wall) if months and abs(days - 30.44 * months) < 3 else None
    return [] if day is None else [f"{months}M-{day}"]


def _steps(values: Ints, starts: Ints) -> Ints:
    """Differences within series."""
    steps = np.diff(values)
    borders = starts[1:-1]
    inside = np.ones(len(steps), np.bool_)
    inside[borders - 1] = False
    return steps[inside]


def _most_frequent(steps: Ints) -> int:
    values, counts = np.unique(steps, return_counts=True)
    return int(values[np.argmax(counts)])
