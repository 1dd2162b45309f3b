"""Stamps that stand in several columns: a date and its hour, a year and its month."""

import datetime
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from tsformer.arrays import Floats
from tsformer.errors import WrongTime
from tsformer.time.formats import month_number
from tsformer.time.names import unit_of
from tsformer.time.whole import whole_numbers

__all__ = ["Part", "clock_parts", "combined", "year_parts"]

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?: ?([AaPp])\.?[Mm]\.?)?")
_RANGES = {
    "year": (1500, 2200), "quarter": (1, 4), "month": (1, 12), "week": (1, 53), "weekday": (1, 7),
    "day": (1, 31), "day of the year": (1, 366), "hour": (0, 24), "minute": (0, 59),
    "second": (0, 59), "hours and minutes": (0, 2400),
}  # fmt: skip
_CHAINS = (
    ("year", "month", "day", "hour", "minute", "second"),
    ("year", "day of the year", "hour", "minute", "second"),
    ("year", "week", "weekday"),
    ("year", "quarter"),
)
_LETTERS = {"quarter": "[QT]", "week": "K?W", "month": "M"}
"""What stands before the number of a unit."""
_SECONDS = {"hour": 3600, "minute": 60, "second": 1, "clock": 1, "hours and minutes": 1}


class Part(NamedTuple):
    """A column that holds one unit of the stamps."""

    column: str
    unit: str


def clock_parts(frame: pd.DataFrame, names: Sequence[str]) -> tuple[Part, ...]:
    """Columns that hold the time of day, for a date that lacks it; empty if none do.

    >>> frame = pd.DataFrame({"hour": [1, 24], "y": [5.0, 6.0]})
    >>> clock_parts(frame, ["hour", "y"])
    (Part(column='hour', unit='hour'),)
    """
    clocks = [name for name in names if _unit(frame[name], name) == "clock"]
    if len(clocks) == 1:
        return (Part(clocks[0], "clock"),)
    units = _units(frame, names)
    if "hours and minutes" in units:
        return (Part(units["hours and minutes"], "hours and minutes"),)
    return _chain(units, ("hour", "minute", "second"))


def year_parts(frame: pd.DataFrame, names: Sequence[str]) -> tuple[Part, ...]:
    """The year and the columns that tell the rest of the stamp; empty if there are no two.

    >>> frame = pd.DataFrame({"month": [1, 2], "year": [2024, 2024], "y": [5.0, 6.0]})
    >>> year_parts(frame, ["month", "year", "y"])
    (Part(column='year', unit='year'), Part(column='month', unit='month'))
    """
    units = _units(frame, names)
    for chain in _CHAINS:
        parts = _chain(units, chain)
        if len(parts) > 1:
            clocks = [name for name in names if _unit(frame[name], name) == "clock"]
            dated = parts[-1].unit in ("day", "day of the year") and len(clocks) == 1
            return (*parts, Part(clocks[0], "clock")) if dated else parts
    return ()


def combined(
    frame: pd.DataFrame, parts: Sequence[Part], date: pd.Index | None, where: Callable[[int], str]
) -> pd.DatetimeIndex:
    """Stamps of the rows from their parts; hour 24 is the next day's first.

    Parameters
    ----------
    date
        Days that the parts are the time of day of; ``None`` if they begin with the year.
    where
        Names a row in messages.

    Raises
    ------
    WrongTime
        If a part is missing or there is no such moment.

    Examples
    --------
    >>> frame = pd.DataFrame({"year": [2023, 2024], "month": ["Dec", "Jan"]})
    >>> combined(frame, [Part("year", "year"), Part("month", "month")], None, str)
    DatetimeIndex(['2023-12-01', '2024-01-01'], dtype='datetime64[us]', freq=None)
    """
    said = " and ".join(repr(one.column) for one in parts)
    values = {one.unit: _values(frame[one.column], one, where) for one in parts}
    days = pd.DatetimeIndex(_days(values)) if date is None else pd.DatetimeIndex(date)
    bad = np.asarray(days.isna())
    if bad.any():
        row = int(bad.argmax())
        held = ", ".join(f"{one.column} {frame[one.column].iloc[row]}" for one in parts)
        raise WrongTime(
            f"the columns {said} name no date in {where(row)}: {held} ({int(bad.sum())} such"
            " rows). Correct it."
        )
    seconds = np.zeros(len(frame))
    for unit, length in _SECONDS.items():
        if unit in values:
            seconds += values[unit] * length
    passed = pd.to_timedelta(seconds, unit="s")
    if days.tz is None:
        return pd.DatetimeIndex(days + passed).as_unit("us")
    wall = pd.DatetimeIndex(days.tz_localize(None) + passed)
    return wall.tz_localize(days.tz, ambiguous="infer", nonexistent="shift_forward").as_unit("us")


def _units(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """Units that exactly one of the columns holds, to its name."""
    found: dict[str, list[str]] = {}
    for name in names:
        unit = _unit(frame[name], name)
        if unit:
            found.setdefault(unit, []).append(name)
    return {unit: own[0] for unit, own in found.items() if len(own) == 1}


def _chain(units: dict[str, str], chain: Sequence[str]) -> tuple[Part, ...]:
    """Parts from the coarsest unit on, as far as no unit is left out."""
    parts: list[Part] = []
    for unit in chain:
        if unit not in units:
            break
        parts.append(Part(units[unit], unit))
    return tuple(parts)


def _unit(values: pd.Series, name: str) -> str:
    """Unit that a column holds by its name and its values; empty if none."""
    named = unit_of(name)
    numbers = whole_numbers(values)
    if numbers is None:
        return _unit_of_text(values, named)
    if not len(numbers):
        return ""
    low, high = int(numbers.min()), int(numbers.max())
    if named in ("hour", "moment") and 100 <= high <= 2400 and low >= 0:
        return "hours and minutes" if (numbers % 100 < 60).all() else ""
    if named == "date" and high <= 31:
        named = "day"  # one word for both, as "Jour" and "Tag"
    if named == "day" and high > 31:
        named = "day of the year"
    first, last = _RANGES.get(named, (1, 0))
    return named if low >= first and high <= last else ""


def _unit_of_text(values: pd.Series, named: str) -> str:
    held = pd.api.types.infer_dtype(values, skipna=True)
    if held == "time":
        return "clock"
    if held != "string":
        return ""
    sample = values.dropna().unique()[:200]
    text = [one.strip() for one in sample]
    if all(_CLOCK.fullmatch(one) for one in text):
        return "clock"
    if named == "month" and all(month_number(one) for one in text):
        return "month"
    for unit, letter in _LETTERS.items():
        if named in (unit, "moment") and all(
            re.fullmatch(rf"(?i){letter}\d{{1,2}}", one) for one in text
        ):
            return unit
    return ""


def _values(values: pd.Series, part: Part, where: Callable[[int], str]) -> Floats:
    """Numbers of a part, seconds for those that hold a time of day."""
    numbers = whole_numbers(values)
    if numbers is None:
        read = [_number(one, part.unit) for one in values]
        found = np.array([np.nan if one is None else one for one in read], np.float64)
        bad = np.isnan(found)
    else:
        first, last = _RANGES.get(part.unit, (1, 0))
        found = numbers.astype(np.float64)
        bad = (found < first) | (found > last)
    if bad.any():
        row = int(bad.argmax())
        raise WrongTime(
            f"column {part.column!r} holds {values.iloc[row]!r} in {where(row)}, which is no"
            f" {part.unit} ({int(bad.sum())} such rows). Correct it, or drop these rows."
        )
    if part.unit == "hours and minutes":
        return found // 100 * 3600 + found % 100 * 60
    return found


def _number(value: object, unit: str) -> float | None:
    if isinstance(value, (datetime.time, str)) and unit == "clock":
        return _clock_seconds(str(value).strip())
    if isinstance(value, str) and unit == "month" and month_number(value.strip()):
        return month_number(value.strip())
    match = re.fullmatch(r"[A-Za-z]{0,2}(\d+)", value.strip()) if isinstance(value, str) else None
    if match is not None:
        return float(match.group(1))
    whole = isinstance(value, (int, float, np.number)) and value == value
    return float(value) if whole else None  # type: ignore[arg-type]


def _clock_seconds(text: str) -> float | None:
    match = _CLOCK.fullmatch(text)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if match[4]:
        hour = hour % 12 + (12 if match[4].lower() == "p" else 0)
    inside = hour * 3600 + minute * 60 + second <= 86_400 and minute < 60 and second < 60
    return float(hour * 3600 + minute * 60 + second) if inside else None


def _days(values: dict[str, Floats]) -> pd.Series:
    """First day of what the parts of each row name; NaT where there is none."""
    whole = {unit: pd.Series(held).astype("int64") for unit, held in values.items()}
    year = whole["year"]
    if "week" in whole:
        day = whole.get("weekday", pd.Series(1, index=year.index)).astype("str")
        week = whole["week"].astype("str").str.zfill(2)
        text = year.astype("str") + "-" + week + "-" + day
        return pd.to_datetime(text, format="%G-%V-%u", errors="coerce")
    if "day of the year" in whole:
        text = year.astype("str") + "-" + whole["day of the year"].astype("str").str.zfill(3)
        return pd.to_datetime(text, format="%Y-%j", errors="coerce")
    month = 3 * whole["quarter"] - 2 if "quarter" in whole else whole["month"]
    date = {"year": year, "month": month, "day": whole.get("day", 1)}
    return pd.to_datetime(pd.DataFrame(date, index=year.index), errors="coerce")
