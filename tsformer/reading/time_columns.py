"""Finding the columns that hold time, and reading them."""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from tsformer.cures import Cure
from tsformer.errors import MissingColumn, WrongTime
from tsformer.panels.layout import Layout
from tsformer.panels.schema import Schema
from tsformer.reading.spots import Roles, Spot
from tsformer.time.names import unit_of
from tsformer.time.parts import Part, clock_parts, combined, year_parts
from tsformer.time.stamps import (
    Stamps,
    how_spelt,
    is_dates,
    is_text,
    looks_like_dates,
    looks_like_periods,
    read_stamps,
)
from tsformer.time.whole import is_count, whole_time

__all__ = ["USUAL_KEYS", "counts", "find_time", "find_time_like", "read_time", "say_time"]

_TIMES = ("ds", "timestamp", "time", "date", "datetime", "step", "t")
_LOG = logging.getLogger("tsformer")
USUAL_KEYS = ("unique_id", "item_id", "series_id")
_USUAL = ("ds", "timestamp")
_MORE = 1.5
"""Moments at a day from which on a second column is its time of day."""


def find_time(frame: pd.DataFrame, schema: Schema, *, taken: Sequence[str]) -> Spot:
    """Find where time stands, in how many columns, and how whole numbers spell it.

    Parameters
    ----------
    taken
        Columns with another role.

    Raises
    ------
    WrongTime
        If several columns could be the time.
    """
    free = [name for name in frame.columns if name not in taken and name != schema.series]
    whole = not isinstance(schema.freq, (int, np.integer))  # else whole numbers are said to count
    if not whole:
        free = [name for name in free if not is_text(frame[name]) or _can_be_read(frame[name])]
    if schema.time is None:
        spot = _dated(frame, free) or (_spelt(frame, free) if whole else None)
        spot = spot or _numbered(frame, free)
    elif schema.time in frame.columns:
        spot = Spot(str(schema.time))
    else:
        spot = Spot(None, list(frame.index.names).index(schema.time))
    values = spot.values(frame)
    counted = spot.column is None and counts(frame.index)
    if whole and spot.spelling is None and not spot.parts and not counted and not _reads(values):
        known = schema.time is not None or spot.column is not None
        kind = whole_time(values, spot.name(frame), known=known)
        spot = spot._replace(spelling=None if kind is None else kind.kind)
    if spot.parts or counted:
        return spot
    return spot._replace(parts=_parts(frame, spot, [one for one in free if one != spot.column]))


def find_time_like(
    frame: pd.DataFrame, layout: Layout, open_: Schema, taken: Sequence[str]
) -> Spot:
    """Find time where, and spelt as, an earlier frame had it."""
    parts = tuple(Part(*one) for one in layout.time_parts)
    found = find_time(frame, open_, taken=taken)
    if not parts:
        return found._replace(spelling=layout.time_spelling, parts=())
    missing = [part.column for part in parts if part.column not in frame.columns]
    spot = found if layout.time_in == "index" else Spot(layout.time_name)
    if not missing and (spot.column is None or spot.column in frame.columns):
        return spot._replace(parts=parts, spelling=layout.time_spelling)
    if _reads(found.values(frame)):
        return found._replace(parts=())  # our own answers hold whole stamps
    raise MissingColumn(
        f"time was read from several columns in fit, of which {', '.join(map(repr, missing))}"
        " is missing here."
    )


def read_time(
    frame: pd.DataFrame, spot: Spot, *, of: Callable[[int], str] = lambda row: ""
) -> Stamps:
    """Read the stamps of a frame's rows.

    Raises
    ------
    WrongTime
        If a stamp is missing or cannot be read.
    """
    if not spot.parts:
        return read_stamps(spot.values(frame), spot.column, spelling=spot.spelling, of=of)
    date = None
    spelling = spot.spelling
    if spot.parts[0].unit != "year":
        read = read_stamps(spot.values(frame), spot.column, spelling=spot.spelling, of=of)
        date, spelling = read.stamps, read.spelling
    made = combined(frame, spot.parts, date, lambda row: f"row {row}{of(row)}")
    return Stamps(made, None, spelling)


def _reads(values: pd.Index) -> bool:
    return is_dates(values) or looks_like_dates(values)


def _can_be_read(text: pd.Series) -> bool:
    try:
        read_stamps(pd.Index(text))
    except WrongTime:
        return False
    return True


def counts(index: pd.Index) -> bool:
    """Whether an index is the row number that a frame has by itself."""
    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.name is None


def _dated(frame: pd.DataFrame, free: Sequence[str]) -> Spot | None:
    """A level of the index or a column that holds dates, or text that looks like them."""
    levels = [Spot(None, number) for number in range(frame.index.nlevels)]
    dated = [spot for spot in levels if is_dates(spot.values(frame))]
    if not dated and frame.index.nlevels > 1:
        named = [spot for spot in levels if spot.name(frame) in _TIMES]
        worded = [spot for spot in levels if looks_like_dates(spot.values(frame))]
        dated = named or worded or [levels[-1]]
    if dated:
        return dated[-1]
    dates = [name for name in free if is_dates(frame[name]) or looks_like_dates(frame[name])]
    if len(dates) > 1:
        finer = [name for name in dates if not looks_like_periods(frame[name])]
        dates = finer or dates  # a quarter or a month beside a date is a property of the date
    if len(dates) > 1:
        dates = [name for name in dates if name in _USUAL] or dates
    if not dates and looks_like_dates(frame.index):
        return Spot(None)
    return _only(dates)


def _spelt(frame: pd.DataFrame, free: Sequence[str]) -> Spot | None:
    """Whole numbers that spell time, or a year and what tells the rest of it."""
    index = frame.index
    if frame.index.nlevels == 1 and not counts(index):
        kind = whole_time(index, index.name)
        if kind is not None:
            return Spot(None, 0, (), kind.kind)
    kinds = {}
    for name in free:
        first = counts(index) and name == frame.columns[0] and frame.shape[1] > 1
        kind = whole_time(frame[name], name, first=first)
        if kind is not None:
            kinds[name] = kind.kind
    finer = [name for name in kinds if kinds[name] != "years"]
    finer = [name for name in finer if unit_of(name)] or finer
    days = [name for name in finer if kinds[name] != "%Y%m"]
    spot = _only(days or finer)
    if spot is not None:
        return spot._replace(spelling=kinds[str(spot.column)])
    parts = year_parts(frame, free)
    if parts:
        return Spot(parts[0].column, 0, parts)
    years = [name for name in kinds if unit_of(name)] or list(kinds)
    spot = _only(years)
    return None if spot is None else spot._replace(spelling="years")


def _only(names: Sequence[str]) -> Spot | None:
    if len(names) > 1:
        raise WrongTime(
            f"the columns {', '.join(map(repr, names))} could all be the time.",
            Cure("Say which", {"schema__time": names[0]}),
        )
    return Spot(names[0]) if names else None


def _parts(frame: pd.DataFrame, spot: Spot, free: Sequence[str]) -> tuple[Part, ...]:
    """Columns with the rest of the stamps, where those of the column alone repeat."""
    values = spot.values(frame)
    if values.is_unique and len(values) > 1:
        return ()
    if spot.column is not None and unit_of(spot.column) == "year":
        parts = year_parts(frame, [spot.column, *free])
        return parts if parts and parts[0].column == spot.column else ()
    parts = clock_parts(frame, free)
    if not parts or not (spot.spelling or _reads(values)):
        return ()
    try:
        days = read_time(frame, spot).stamps
    except WrongTime:
        return ()  # told where the stamps are read
    if not isinstance(days, pd.DatetimeIndex) or (days != days.normalize()).any():
        return ()
    moments = pd.DataFrame({"day": days}).assign(
        **{part.column + " of": frame[part.column].to_numpy() for part in parts}
    )
    several = len(moments.drop_duplicates()) > _MORE * days.nunique()
    return parts if several or len(values) == 1 else ()


def _numbered(frame: pd.DataFrame, free: Sequence[str]) -> Spot:
    """Find whole-number time: a column with a name that says so, or the index."""
    usual = [name for name in _TIMES if name in free]
    keyed = any(name in frame.columns for name in USUAL_KEYS)
    for name in usual:
        values: Any = frame[name]
        whole = is_integer_dtype(values.dtype) and not is_bool_dtype(values.dtype)
        texts = [one for one in free if one != name and is_text(frame[one])]
        if whole and (keyed or texts or values.is_unique):
            return Spot(name)
        if is_float_dtype(values.dtype) and (keyed or name in ("ds", "timestamp")):
            return Spot(name)  # read_stamps refuses it by name
        if is_text(values):
            return Spot(name)
    first = frame.columns[0]
    counted = first in free and frame.shape[1] > 1 and is_count(frame[first], first)
    return Spot(first if counted and counts(frame.index) else None)


def say_time(roles: Roles, frame: pd.DataFrame) -> None:
    """Tell what stamps were read from, unless they were dates or whole numbers as such."""
    given, name = roles.time.values(frame), roles.time.column
    what = "the index" if name is None else f"time column {name!r}"
    stamps = roles.stamps.dtype
    if roles.period is not None:
        _LOG.info(
            "%s: periods of %r converted to their first moments; forecasts are periods again",
            what,
            roles.period,
        )
    elif roles.time.parts:
        parts = [part.column for part in roles.time.parts if part.column != name]
        _LOG.info("%s: combined with %s to %s", what, ", ".join(map(repr, parts)), stamps)
    elif roles.time.spelling == "years":
        _LOG.info("%s: years, which stay whole numbers", what)
    elif is_text(given) or roles.time.spelling is not None:
        _LOG.info("%s: %s converted to %s", what, how_spelt(given, roles.time.spelling), stamps)
    elif isinstance(given.dtype, (pd.CategoricalDtype, pd.ArrowDtype)) or given.dtype == object:
        kind = "objects" if given.dtype == object else given.dtype
        _LOG.info("%s: %s converted to %s", what, kind, stamps)
