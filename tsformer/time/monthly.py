"""Steps of whole months on one day of the month, or on the last day where a month is shorter."""

import re
from typing import Any

import numpy as np
import pandas as pd

from tsformer.arrays import Flags, Ints

__all__ = ["as_monthly", "day_of_month", "month_name", "month_places", "months_of", "on_months"]

_NAME = re.compile(r"(\d*)M-(\d{1,2})")


def as_monthly(freq: Any) -> pd.DateOffset | None:
    """Read ``"M-15"``, ``"3M-30"`` or the like, or an offset that says the same; else ``None``.

    >>> as_monthly("3M-30")
    <DateOffset: day=30, months=3>
    >>> as_monthly(pd.DateOffset(years=1, day=15))
    <DateOffset: day=15, months=12>
    """
    if isinstance(freq, str):
        match = _NAME.fullmatch(freq.strip())
        months, day = (int(match[1] or 1), int(match[2])) if match else (0, 0)
    elif type(freq) is pd.DateOffset and {*freq.kwds} in ({"months", "day"}, {"years", "day"}):
        months = freq.n * (freq.kwds.get("months", 0) or 12 * freq.kwds.get("years", 0))
        day = freq.kwds["day"]
    else:
        return None
    good = months > 0 and 1 <= day <= 31
    return pd.DateOffset(months=months, day=day) if good else None


def months_of(freq: Any) -> tuple[int, int] | None:
    """Months of a step and day of the month; ``None`` for steps of another kind."""
    if type(freq) is not pd.DateOffset or {*freq.kwds} != {"months", "day"}:
        return None
    return int(freq.kwds["months"]), int(freq.kwds["day"])


def month_name(freq: Any) -> str | None:
    """Spelling that :func:`as_monthly` reads back; ``None`` for steps of another kind.

    >>> month_name(pd.DateOffset(months=1, day=15))
    'M-15'
    """
    found = months_of(freq)
    if found is None:
        return None
    months, day = found
    return f"{months if months > 1 else ''}M-{day}"


def month_places(days: pd.DatetimeIndex, day: int) -> tuple[Ints, Flags]:
    """Months since the year 0, and which dates are not on the day."""
    place = days.year.to_numpy(np.int64) * 12 + days.month.to_numpy(np.int64) - 1
    return place, days.day.to_numpy(np.int64) != np.minimum(day, days.days_in_month.to_numpy())


def on_months(places: Ints, day: int, like: pd.DatetimeIndex) -> pd.DatetimeIndex:
    """Dates of months that are counted from the year 0, in the unit of other stamps.

    >>> on_months(np.array([24288, 24289]), 30, pd.DatetimeIndex(["2024-01-30"])).day.tolist()
    [30, 29]
    """
    first = (places - 1970 * 12).view("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    dates = first.astype("datetime64[D]") + (np.minimum(day, length) - 1)
    return pd.DatetimeIndex(dates.astype(f"datetime64[{like.unit}]"))


def day_of_month(days: pd.DatetimeIndex) -> int | None:
    """The day that all dates are on, or whose place the last of a short month takes."""
    if not len(days):
        return None
    day = int(days.day.max())
    return None if month_places(days, day)[1].any() else day
