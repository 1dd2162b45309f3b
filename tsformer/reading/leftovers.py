"""Columns that look like time but are not: refused where none was found, no targets beside one."""

import logging
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from tsformer.cures import Cure
from tsformer.errors import WrongTime
from tsformer.panels.schema import Schema
from tsformer.reading.repeats import names_rows
from tsformer.reading.spots import Spot
from tsformer.time.names import unit_of
from tsformer.time.stamps import is_text
from tsformer.time.unread import share_read
from tsformer.time.whole import is_count, whole_numbers, whole_time

__all__ = ["calendar_columns", "or_counted", "refuse_unread_time"]

_LOG = logging.getLogger("tsformer")
_COUNT = "If the rows are in the order of time, count them"
_SAMPLE = 200
_MOSTLY = 0.9
_WIDE = 6
"""Columns from which on a row is rather a series."""
_LISTED = 12
"""Targets that a cure still names."""
_YEAR = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
_ENDS = {
    "quarter": 4, "month": 12, "week": 53, "weekday": 7, "day": 31, "day of the year": 366,
    "hour": 24, "minute": 59,
}  # fmt: skip
_FIELDS = {
    "year": "year", "quarter": "quarter", "month": "month", "day": "day", "hour": "hour",
    "minute": "minute", "second": "second", "day of the year": "day_of_year",
    "weekday": "day_of_week",
}  # fmt: skip


def refuse_unread_time(frame: pd.DataFrame, free: Sequence[str], *, targets: bool) -> None:
    """Refuse columns that look like time where the row number would be it.

    Parameters
    ----------
    free
        Columns without a role.
    targets
        Whether the caller named the targets.

    Raises
    ------
    WrongTime
        Naming the column, its first value and what to say if the rows are in the order of time.
    """
    for name in free:
        values = frame[name]
        text = is_text(values)
        if text and values.is_unique and _is_wide(frame, name):
            problem = (
                f"there are no stamps, and column {name!r} names each of the {len(frame):,} rows:"
                " if a row is a series, make the table long first, with one row a value and columns"
                " for series, step and value."
            )
        elif text and _names_stamps(values, name):
            problem = (
                f"column {name!r} seems to tell the time of each row, but is written in no way that"
                f" can be read (first: {values.iloc[0]!r} in row 0). Write it as dates, such as"
                " 2018-03-01."
            )
        elif not text and frame.shape[1] > 1 and _counts_time(values, name):
            problem = (
                f"column {name!r} has the name of a time, but its values (first: {values.iloc[0]})"
                " are no stamps by themselves. Add what is missing, such as the year, or"
                " write whole dates."
            )
        else:
            continue
        raise WrongTime(problem, *_cures(frame, name, free, targets=targets))


def or_counted(error: WrongTime, frame: pd.DataFrame, time: Spot, schema: Schema) -> WrongTime:
    """The same error; the row number is offered in place of text that no way of writing reads."""
    values = time.values(frame)
    if schema.time is not None or time.column is None or not is_text(values):
        return error
    unread = values.is_unique and share_read(pd.Series(values.astype("str"))) < _MOSTLY
    if not unread:
        return error
    return WrongTime(error.message, *error.cures, Cure(_COUNT, {"schema__freq": 1}))


def calendar_columns(frame: pd.DataFrame, free: Sequence[str], stamps: pd.Index) -> tuple[str, ...]:
    """Columns of numbers that only repeat what the stamps tell, or count the rows; they are said.

    Examples
    --------
    >>> days = pd.date_range("2024-01-31", periods=3)
    >>> frame = pd.DataFrame({"year": days.year, "month": days.month, "y": [1, 2, 3]})
    >>> calendar_columns(frame, ["year", "month", "y"], days)
    ('year', 'month')
    """
    if len(free) < 2:
        return ()
    found = tuple(name for name in free if _repeats(frame[name], name, stamps))
    if found and len(found) < len(free):
        _LOG.info("no targets, for they are time themselves: %s", ", ".join(map(repr, found)))
        return found
    return ()


def _cures(frame: pd.DataFrame, name: str, free: Sequence[str], *, targets: bool) -> list[Cure]:
    """What to say where the rows are in the order of time, if that makes a series of them."""
    names = [one for one in free if one != name and is_text(frame[one])]
    if frame[name].duplicated().any() and names:
        return []  # several series, which the row number would make one
    settings: dict[str, Any] = {"schema__freq": 1}
    if not targets:
        settings["schema__target"] = [
            one
            for one in free
            if one != name
            and is_numeric_dtype(frame[one].dtype)
            and not is_bool_dtype(frame[one].dtype)
            and not _counts_time(frame[one], one)
        ]
        if not settings["schema__target"]:
            return []
        if len(settings["schema__target"]) > _LISTED:
            if any(_counts_time(frame[one], one) for one in free):
                return []  # a list that nobody reads
            del settings["schema__target"]  # all numbers are targets by themselves
    return [Cure(_COUNT, settings)]


def _is_wide(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column stands first before many of numbers, as series stand in rows."""
    others = frame.dtypes.iloc[1:]
    wide = frame.shape[1] >= _WIDE and name == frame.columns[0]
    return wide and all(map(is_numeric_dtype, others)) and len(frame) > 2


def _names_stamps(values: pd.Series, name: str) -> bool:
    """Whether text has the name of a time, names every row, or holds years that change."""
    if unit_of(name) or (len(values) > 2 and names_rows(values)):
        return True
    sample = [str(one) for one in values.dropna().unique()[:_SAMPLE]]
    years = [match.group() for one in sample if (match := _YEAR.search(one))]
    return len(years) >= _MOSTLY * len(sample) and len(set(years)) > 1


def _counts_time(values: pd.Series, name: str) -> bool:
    """Whether numbers under the name of a time run on or around like one."""
    unit = unit_of(name)
    if not unit or not is_numeric_dtype(values.dtype) or is_bool_dtype(values.dtype):
        return False
    if unit in ("date", "moment", "year"):
        steps = np.diff(values.to_numpy(np.float64, na_value=np.nan))
        return bool(len(steps) and np.any(steps) and ((steps >= 0).all() or (steps <= 0).all()))
    numbers = whole_numbers(values)
    end = _ENDS.get(unit)
    if numbers is None or end is None or len(numbers) < 3:
        return False
    if numbers.min() < 0 or numbers.max() > end or numbers.min() == numbers.max():
        return False
    steps = np.diff(numbers)
    around = (steps == 0) | (np.abs(steps) == 1) | (np.abs(steps) == numbers.max() - numbers.min())
    return bool(around.mean() >= _MOSTLY)


def _repeats(values: pd.Series, name: str, stamps: pd.Index) -> bool:
    if not is_numeric_dtype(values.dtype) or is_bool_dtype(values.dtype):
        return False
    if is_count(values, name):
        return True
    numbers = whole_numbers(values)
    if numbers is None:
        return False
    if not isinstance(stamps, pd.DatetimeIndex):
        return False
    kind = whole_time(values, name)
    if kind is not None and kind.kind.startswith("%"):
        return True
    unit = unit_of(name)
    if unit == "week":
        return bool((stamps.isocalendar().week.to_numpy(np.int64) == numbers).all())
    if unit not in _FIELDS:
        return False
    told = np.asarray(getattr(stamps, _FIELDS[unit]), np.int64)
    if unit == "weekday":
        return len(np.unique(told * 100 + numbers)) == len(np.unique(told)) and numbers.max() <= 7
    return bool((told == numbers).all())
