"""Columns of frames as lines by time, and stamps as they are placed and written."""

import re
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from tsformer.errors import MissingColumn, ParameterError

if TYPE_CHECKING:
    Floats: TypeAlias = pd.Series[float]
else:
    Floats = pd.Series

__all__ = ["dated_column", "day_text", "level_columns", "placed", "shared_column", "values_by_time"]


def level_columns(forecast: pd.DataFrame, target: str) -> list[tuple[float, str]]:
    """Levels and columns of the quantiles of a target."""
    name = re.compile(re.escape(target) + r"_q(0?\.\d+(?:e-\d+)?)")
    found = ((name.fullmatch(str(column)), column) for column in forecast.columns)
    return [(float(match[1]), column) for match, column in found if match]


def shared_column(history: pd.DataFrame | Floats, forecast: pd.DataFrame) -> str:
    """The first column of numbers that both frames have."""
    if isinstance(history, pd.Series):
        return str(history.name) if history.name in forecast.columns else str(forecast.columns[0])
    for column in forecast.columns:
        if column in history.columns and all(
            pd.api.types.is_numeric_dtype(frame[column]) for frame in (history, forecast)
        ):
            return str(column)
    raise MissingColumn("history and forecast share no column of numbers; name one: target=...")


def dated_column(frame: pd.DataFrame) -> str | None:
    """The first column that holds dates, None without one."""
    for name, values in frame.items():
        if values.dtype.kind == "M" or isinstance(values.dtype, pd.PeriodDtype):
            return str(name)
    return None


def values_by_time(data: pd.DataFrame | Floats, column: str, time: str | None, what: str) -> Floats:
    """One column by time, in order."""
    if isinstance(data, pd.Series):
        values, stamps = data, data.index
    else:
        for name in (column, time):
            if name is not None and name not in data.columns and name not in data.index.names:
                raise MissingColumn(f"the {what} has no column {name!r}")
        values = data[column]
        stamps = data.index if time not in data.columns else pd.Index(data[time])
    if stamps.nlevels > 1 or stamps.has_duplicates:
        raise ParameterError(f"the {what} holds several series: select the rows of one first")
    return pd.Series(values.to_numpy(dtype=float), index=placed(stamps)).sort_index()


def placed(stamps: pd.Index) -> pd.Index:
    """Stamps as matplotlib can place them."""
    if isinstance(stamps, pd.PeriodIndex):
        return stamps.to_timestamp()
    if isinstance(stamps, pd.DatetimeIndex) and stamps.tz is not None:
        return stamps.tz_localize(None)  # the clock on the wall, as the caller has it
    return stamps


def day_text(stamp: Any) -> str:
    """A date without a time of day where that is midnight."""
    if not isinstance(stamp, pd.Timestamp):
        return str(stamp)
    return f"{stamp:%Y-%m-%d}" if stamp == stamp.normalize() else f"{stamp:%Y-%m-%d %H:%M}"
