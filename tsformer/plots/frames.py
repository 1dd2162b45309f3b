"""Columns of frames as lines by time, and stamps as they are placed and written."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from tsformer.errors import MissingColumn, ParameterError

if TYPE_CHECKING:
    Line: TypeAlias = pd.Series[float]
else:
    Line = pd.Series

__all__ = [
    "Line",
    "dated_column",
    "day_text",
    "level_columns",
    "parts_by_series",
    "placed",
    "shared_column",
    "values_by_time",
]


def level_columns(forecast: pd.DataFrame, target: str) -> list[tuple[float, str]]:
    """Levels and columns of the quantiles of a target."""
    name = re.compile(re.escape(target) + r"_q(0?\.\d+(?:e-\d+)?)")
    found = ((name.fullmatch(str(column)), column) for column in forecast.columns)
    return [(float(match[1]), column) for match, column in found if match]


def shared_column(history: pd.DataFrame | Line, forecast: pd.DataFrame) -> str:
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


def parts_by_series(
    frames: Mapping[str, Any], series: str | None, time: str | None
) -> dict[Any, dict[str, Any]]:
    """Every frame cut by series; under one name where there is nothing to tell them apart."""
    flat = {name: _with_columns(frame) for name, frame in frames.items()}
    forecast, history = flat["forecast"], flat["history"]
    if series is None and isinstance(history, pd.DataFrame):
        both = [one for one in forecast if one in history.columns and one != time]
        series = next((one for one in both if _tells(forecast[one])), None)
    if series is None:
        return {None: dict(frames)}
    for name, frame in flat.items():
        if frame is not None and series not in frame:
            raise MissingColumn(f"the {name} has no column {series!r}")
    cut = {
        name: None if frame is None else dict(tuple(frame.groupby(series, sort=False)))
        for name, frame in flat.items()
    }
    names = [one for one in cut["forecast"] or {} if one in (cut["history"] or {})]
    return {
        one: {name: None if own is None else own.get(one) for name, own in cut.items()}
        for one in names
    }


def _with_columns(frame: Any) -> Any:
    """The levels of an index that is no plain row number as columns."""
    if isinstance(frame, pd.DataFrame) and frame.index.nlevels > 1:
        return frame.reset_index()
    return frame


def _tells(values: Any) -> bool:
    """Whether a column may tell series apart: words, and no dates."""
    return bool(
        pd.api.types.is_string_dtype(values) or isinstance(values.dtype, pd.CategoricalDtype)
    )


def values_by_time(data: pd.DataFrame | Line, column: str, time: str | None, what: str) -> Line:
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
        raise ParameterError(
            f"the {what} holds several series: name the column that tells them apart: series=..."
        )
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
