"""Calendar features: what a stamp alone says about a row, known as far ahead as one likes."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer.arrays import Floats
from tsformer.time.holidays import holiday_share

__all__ = ["calendar_features"]


def calendar_features(
    stamps: pd.Index,
    freq: pd.offsets.BaseOffset | int,
    holidays: tuple[str, ...] = (),
    *,
    periods: bool = False,
) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    """Cyclic features of the stamps, as many as the frequency can tell apart.

    Each cycle gives a sine and a cosine, in local wall time: second of the minute and minute of
    the hour where rows are finer than those, hour of the day below a day, day of the week up to
    two days or business days, day of the month and of the year up to a week, month of the year up
    to a month, quarter for quarters. Integer time and yearly rows have none. Days off add a last
    column ``holiday``: 1 on such a day and 0 elsewhere, for steps of more than a day the share of
    days off in the period that the stamp names (see ``holiday_share``).

    Parameters
    ----------
    stamps
        ``(rows,)`` stamps.
    freq
        The step between rows.
    holidays
        Days off as ISO 8601 dates, such as a resolved ``Schema.holidays``.
    periods
        Whether the stamps are the first moments of periods.

    Returns
    -------
    names
        One per column.
    values
        ``(rows, features)`` between -1 and 1.

    Examples
    --------
    >>> stamps = pd.date_range("2024-01-01", periods=2, freq="MS")
    >>> names, values = calendar_features(stamps, stamps.freq)
    >>> names
    ('month_sin', 'month_cos')
    >>> values.round(2).tolist()
    [[0.0, 1.0], [0.5, 0.8700000047683716]]
    """
    if isinstance(freq, int) or not isinstance(stamps, pd.DatetimeIndex):
        return (), np.zeros((len(stamps), 0), np.float32)
    # series of a panel mostly share their stamps
    codes, distinct = pd.factorize(stamps)
    days = pd.DatetimeIndex(distinct)
    phases = _phases(days, _days_of(freq))
    names = tuple(f"{name}_{wave}" for name in phases for wave in ("sin", "cos"))
    columns = [f(2 * np.pi * phase) for phase in phases.values() for f in (np.sin, np.cos)]
    if holidays:
        names = (*names, "holiday")
        columns.append(holiday_share(days, freq, holidays, periods=periods))
    if not columns:
        return (), np.zeros((len(stamps), 0), np.float32)
    return names, np.stack(columns, axis=1).astype(np.float32)[codes]


def _phases(stamps: pd.DatetimeIndex, days: float) -> dict[str, Floats]:
    """Fraction of each cycle that has passed."""
    wall = stamps.tz_localize(None) if stamps.tz is not None else stamps
    second = np.asarray(wall.second, np.float64) + np.asarray(wall.microsecond, np.float64) / 1e6
    minute = np.asarray(wall.minute, np.float64) + second / 60
    hour = np.asarray(wall.hour, np.float64) + minute / 60
    year_length = np.where(np.asarray(wall.is_leap_year), 366.0, 365.0)
    phases: dict[str, Floats] = {}
    if days < 1 / 1440:
        phases["second"] = second / 60
    if days < 1 / 24:
        phases["minute"] = minute / 60
    if days < 1:
        phases["hour"] = hour / 24
    if days < 3:
        phases["day_of_week"] = np.asarray(wall.day_of_week, np.float64) / 7
    if days < 10:
        day = np.asarray(wall.day, np.float64) - 1
        phases["day_of_month"] = day / np.asarray(wall.days_in_month, np.float64)
        phases["day_of_year"] = (np.asarray(wall.day_of_year, np.float64) - 1) / year_length
    if days < 80:
        phases["month"] = (np.asarray(wall.month, np.float64) - 1) / 12
    elif days < 300:
        phases["quarter"] = (np.asarray(wall.quarter, np.float64) - 1) / 4
    return phases


def _days_of(freq: pd.offsets.BaseOffset) -> float:
    """Length of a step in days, near enough to tell the units apart."""
    start = pd.Timestamp("2001-01-01") + freq
    return float(((start + 4 * freq) - start) / pd.Timedelta(days=1) / 4)
