"""How many steps one season has, by frequency."""

import pandas as pd

__all__ = ["season_length"]

_DAY = pd.Timedelta(days=1)
_CALENDAR = {"B": 5, "C": 5, "D": 7, "W": 52, "SM": 24, "M": 12, "BM": 12, "Q": 4, "BQ": 4}


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
    name = freq.rule_code.split("-")[0]
    base = name if name in _CALENDAR else name.removesuffix("S").removesuffix("E")
    season = _CALENDAR.get(base, 1)
    return max(1, season // freq.n) if season % freq.n == 0 else 1
