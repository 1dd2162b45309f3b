"""Tables whose columns are dates, made long."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["melted"]

_DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}(?:\1\d{1,2})?(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?"
    r"|\d{1,2}([-/.])\d{1,2}\2\d{4}|\d{4}-?Q[1-4]|\d{4}-W\d{2}"
)
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
    dates = [name for name in frame if _DATE.fullmatch(str(name))]
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
