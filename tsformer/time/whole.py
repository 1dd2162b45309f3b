"""Whole numbers that are time: digits of a date, years, moments since 1970, days of Excel."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from tsformer.arrays import Ints
from tsformer.errors import WrongTime
from tsformer.time.names import counts_rows, tells_time, unit_of

__all__ = ["WholeTime", "is_count", "whole_numbers", "whole_time"]

_DIGITS = {14: "%Y%m%d%H%M%S", 12: "%Y%m%d%H%M", 10: "%Y%m%d%H", 8: "%Y%m%d"}
_SHORT_DIGITS = {7: ("%Y%j",), 6: ("%Y%m", "weeks as '%G%V'", "%y%m%d")}
"""Digits that are time only under a name or in a place that says so."""
_YEARS = (1500, 2200)
_SINCE_1970 = {"seconds": 1, "milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}
_SECONDS = (10**8, 41 * 10**8)
"""From 1973 to 2099."""
_EXCEL = (20_000, 60_000)
"""From 1954 to 2064."""
_UNIX_TO_EXCEL = 25_569
_JULIAN = (2_415_000, 2_490_000)
"""From 1899 to 2105."""
_UNIX_TO_JULIAN = 2_440_587.5
_VALUES = frozenset(["y", "target", "value", "values"])
_STEADY, _CERTAIN = 0.5, 0.9
"""Steps that must be of the most frequent length: months of days have 7 of 12; by place alone."""


class WholeTime(NamedTuple):
    """What whole numbers count or spell.

    Examples
    --------
    >>> str(WholeTime("%Y%m%d").read(pd.Index([20230131]))[0].date())
    '2023-01-31'
    >>> str(WholeTime("days as Excel counts them").read(pd.Index([44928]))[0].date())
    '2023-01-02'
    """

    kind: str

    def __str__(self) -> str:
        return f"whole numbers as {self.kind!r}" if self.kind[0] == "%" else self.kind

    def read(
        self, values: pd.Index, what: str = "time", where: Callable[[int], str] = str
    ) -> pd.Index:
        """Read stamps; years stay whole numbers.

        Raises
        ------
        WrongTime
            If a number is no such stamp; the message names its row.
        """
        numbers = _numbers(values)
        if numbers is None:
            raise WrongTime(
                f"{what} holds {values[0]!r} of type {values.dtype}, but was {self} in fit."
            )
        if self.kind == "years":
            return pd.Index(numbers.astype(np.int64))
        stamps = _stamps(numbers, self.kind)
        wrong = np.asarray(stamps.isna())
        if wrong.any():
            row = int(wrong.argmax())
            raise WrongTime(
                f"{what} holds {values[row]} in {where(row)}, which is no date as {self}"
                f" ({int(wrong.sum())} such rows). Correct it."
            )
        return stamps


def whole_time(
    values: pd.Index | pd.Series, name: Any, *, known: bool = False, first: bool = False
) -> WholeTime | None:
    """Tell what a column of whole numbers (or of their digits as text) counts, if it is time.

    The more its name and place say, the less its steps have to: eight digits that are all dates
    are time under any name, years only under a name of a year or as a first column that counts by
    one.

    Parameters
    ----------
    known
        Whether the column is known to be the time.
    first
        Whether it is the first of several, or has no name.

    Examples
    --------
    >>> whole_time(pd.Index([20230131, 20230201, 20230202]), "x")
    WholeTime(kind='%Y%m%d')
    >>> whole_time(pd.Index([1950, 1951, 1953]), "Jahr"), whole_time(pd.Index([1, 2]), "Jahr")
    (WholeTime(kind='years'), None)
    """
    given = _numbers(values.dropna())
    if given is None or not len(given):
        return None
    distinct = np.unique(given)
    unique = len(distinct) == len(given)
    counter = counts_rows(name) and not _is_unnamed(name)
    named = (known or bool(unit_of(name))) and not counter
    first = first and unique and not counter and str(name).casefold() not in _VALUES
    if len(distinct) < (1 if known else 3) and not (named and len(distinct) == 2):
        return None
    share = _STEADY if tells_time(name) else _CERTAIN
    hinted = (first or tells_time(name)) and not counter
    if _is_whole(distinct):
        kind = _spelt(distinct.astype(np.int64), share, named=named, hinted=hinted)
        if kind is not None:
            return WholeTime(kind)
    if counter:
        return None
    kind = _counted(distinct, name, share, named=named, hinted=hinted)
    if kind is None and _is_whole(distinct) and _within(distinct, _YEARS):
        by_one = first and len(distinct) > 2 and bool((np.diff(distinct) == 1).all())
        kind = "years" if known or unit_of(name) in ("year", "date", "moment") or by_one else None
    return None if kind is None else WholeTime(kind)


def whole_numbers(values: pd.Index | pd.Series) -> Ints | None:
    """Whole numbers, however they are held; ``None`` if one is missing or no whole number.

    >>> whole_numbers(pd.Index(["07", "8"])), whole_numbers(pd.Index([1.5]))
    (array([7, 8]), None)
    """
    numbers = None if values.isna().any() else _numbers(values)
    return None if numbers is None or not _is_whole(numbers) else numbers.astype(np.int64)


def is_count(values: pd.Series, name: Any) -> bool:
    """Whether a column has the name of a row number, and counts the rows one by one."""
    numbers = whole_numbers(values) if counts_rows(name) else None
    return numbers is not None and len(numbers) > 2 and bool((np.diff(numbers) == 1).all())


def _numbers(values: pd.Index | pd.Series) -> NDArray[Any] | None:
    """Numbers as int64 or float64; ``None`` for anything else. None is missing."""
    kind: Any = values.dtype
    if isinstance(kind, pd.CategoricalDtype):
        return _numbers(values.astype(kind.categories.dtype))
    if is_bool_dtype(kind):
        return None
    if is_integer_dtype(kind):
        return values.to_numpy(dtype=np.int64, na_value=0)
    if is_float_dtype(kind):
        floats = values.to_numpy(dtype=np.float64, na_value=np.nan)
        return floats if np.isfinite(floats).all() else None
    text = pd.Series(values).astype("object")
    if not all(isinstance(one, str) and one.strip().isdecimal() for one in text):
        return None
    try:
        return text.astype("int64").to_numpy()
    except (OverflowError, ValueError):
        return None


def _is_whole(numbers: NDArray[Any]) -> bool:
    return bool((np.abs(numbers) < 2**62).all() and (numbers == np.floor(numbers)).all())


def _within(numbers: NDArray[Any], ends: tuple[int, int]) -> bool:
    return bool(numbers.min() >= ends[0] and numbers.max() <= ends[1])


def _is_unnamed(name: Any) -> bool:
    return not isinstance(name, str) or name == "" or name.startswith("Unnamed")


def _spelt(numbers: Ints, share: float, *, named: bool, hinted: bool) -> str | None:
    """Kind of numbers whose digits are those of a date."""
    if numbers[0] < 10_000 or len(str(numbers[0])) != len(str(numbers[-1])):
        return None
    width = len(str(numbers[0]))
    kinds = [_DIGITS[width]] if width in _DIGITS else []
    if hinted or named:
        kinds += _SHORT_DIGITS.get(width, ())
    for kind in kinds:
        stamps = _stamps(numbers, kind)
        if stamps.isna().any() or not _within(stamps.year.to_numpy(), _YEARS):
            continue
        months = stamps.year.to_numpy() * 12 + stamps.month.to_numpy()
        steady = _steady(stamps.asi8 if kind in ("%Y%j", "%y%m%d") else months, share)
        if width > 7 or steady or (named and kind != "%y%m%d"):
            return kind
    return None


def _counted(
    numbers: NDArray[Any], name: Any, share: float, *, named: bool, hinted: bool
) -> str | None:
    """Kind of numbers that count from a moment: seconds and finer from 1970, days as in Excel."""
    if not named and not (hinted and _steady(numbers, share)):
        return None
    for unit, per_second in _SINCE_1970.items():
        if _within(numbers / per_second, _SECONDS):
            return f"{unit} since 1970 (UTC)"
    dated = unit_of(name) in ("date", "day") or _steady(numbers, share)
    if _within(numbers, _EXCEL) and dated:
        return "days as Excel counts them"
    if _within(numbers, _JULIAN) and _steady(numbers, share):
        return "Julian days (UTC)"
    return None


def _steady(numbers: NDArray[Any], share: float) -> bool:
    steps = np.unique(np.round(np.diff(numbers), 9), return_counts=True)[1]
    return len(steps) > 0 and bool(steps.max() >= share * steps.sum())


def _stamps(numbers: NDArray[Any], kind: str) -> pd.DatetimeIndex:
    """Stamps of numbers, NaT where there is none."""
    if "%" in kind:
        text = pd.Series(numbers.astype(np.int64)).astype("str")
        if kind.startswith("weeks"):
            return _parsed(text + "1", "%G%V%u")
        return _parsed(text, kind)
    unit = kind.partition(" ")[0]
    if unit in ("days", "Julian"):
        epoch = _UNIX_TO_EXCEL if unit == "days" else _UNIX_TO_JULIAN
        seconds = np.round((numbers - epoch) * 86_400)
    elif unit == "nanoseconds":
        return pd.DatetimeIndex(numbers.astype("int64").view("datetime64[ns]"))
    else:
        micros = np.round(numbers * (10**6 // _SINCE_1970[unit]))
        return pd.DatetimeIndex(micros.astype("int64").view("datetime64[us]"))
    return pd.DatetimeIndex((seconds * 10**6).astype("int64").view("datetime64[us]"))


def _parsed(text: pd.Series, form: str) -> pd.DatetimeIndex:
    """Stamps by a format; a number of another width is none, even where it could be parsed."""
    stamps = pd.to_datetime(text, format=form, errors="coerce")
    width = len(pd.Timestamp("2000-10-10").strftime(form))
    return pd.DatetimeIndex(stamps.where(text.str.len() == width)).as_unit("us")
