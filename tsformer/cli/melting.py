"""Tables whose columns are dates, made long."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["melted"]

_DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?"
    r"|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{4}-?Q[1-4]|\d{4}-W\d{2}"
)
_YEAR = re.compile(r"1[6-9]\d\d|2[01]\d\d")
_FEWEST = 3


def melted(frame: "pd.DataFrame") -> "tuple[pd.DataFrame, str]":
    """The frame with one row a value where its columns are dates, and what was said of it.

    Examples
    --------
    >>> import pandas as pd
    >>> wide = pd.DataFrame({"shop": ["a", "b"], "2024-01": [1, 2], "2024-02": [3, 4]})
    >>> melted(wide.assign(**{"2024-03": [5, 6]}))[0].head(4)
      shop     date  value
    0    a  2024-01      1
    1    a  2024-02      3
    2    a  2024-03      5
    3    b  2024-01      2
    """
    dates = _dates(frame)
    others = [name for name in frame if name not in set(dates)]
    if len(dates) < _FEWEST or len(dates) <= len(others):
        return frame, ""
    time = "date" if "date" not in others else "date of value"
    value = "value" if "value" not in others else "value at date"
    places = frame.rename_axis("row").reset_index()
    long = places.melt(["row", *others], dates, var_name=time, value_name=value)
    long = long.sort_values("row", kind="stable", ignore_index=True).drop(columns="row")
    if len(frame) == 1:
        long = long.drop(columns=others)
    said = f"{len(dates)} columns are dates: made long, with columns {time!r} and {value!r}"
    return long, said


def _dates(frame: "pd.DataFrame") -> list[str]:
    """The columns whose names are dates, periods, or years that follow one another."""
    from tsformer.time.formats import names_periods
    from tsformer.time.stamps import looks_like_dates

    names = list(map(str, frame))
    dates = [name for name in names if _DATE.fullmatch(name) or names_periods(name)]
    years = [name for name in names if _YEAR.fullmatch(name)]
    if dates or len(years) < _FEWEST or {int(b) - int(a) for a, b in pairwise(years)} != {1}:
        return dates
    others = [name for name in names if name not in set(years)]
    # a table of days by years has its days in a column
    return [] if any(looks_like_dates(frame[name]) for name in others) else years
