"""The rows of a frame in the order of series and time, and the names of their series."""

import logging
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_bool_dtype, is_integer_dtype

from tsformer.arrays import Flags, Ints
from tsformer.cures import Cure
from tsformer.errors import WrongTime, WrongType
from tsformer.panels.index import shown, starts_of
from tsformer.panels.panel import Panel
from tsformer.reading.spots import Roles, Spot
from tsformer.time.stamps import is_text

__all__ = ["Rows", "read_ids", "refuse_other_ids", "same_kind", "series_of", "sorted_rows"]

_LOG = logging.getLogger("tsformer")


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows of the caller's frame go, and what they are called in messages.

    Attributes
    ----------
    ids
        ``(series,)`` names of the series.
    series
        ``(rows,)`` position of each row's series, in the caller's order; -1 for none of them.
    given
        ``(rows,)`` stamps in the caller's order.
    order
        ``(rows,)`` caller's row of each sorted row.
    named, stamped
        Whether the caller gave names of series, and stamps: messages say neither otherwise.
    """

    ids: pd.Index
    series: Ints
    given: pd.Index
    order: Ints
    named: bool = True
    stamped: bool = True

    @cached_property
    def starts(self) -> Ints:
        """``(series + 1,)`` first sorted row of each series, and the number of rows."""
        return starts_of(np.bincount(self.series, minlength=len(self.ids)))

    @cached_property
    def stamps(self) -> pd.Index:
        """``(rows,)`` sorted within each series."""
        return self.given.take(self.order)

    def at(self, row: int) -> str:
        """Say where a row of the caller's frame is."""
        stamp = f" at {self.given[row]}" if self.stamped else ""
        return f"{self.of(int(self.series[row]))}{stamp} (row {row})"

    def of(self, series: int) -> str:
        """Name a series, or nothing where there is one."""
        return f" of series {shown(self.ids[series])}" if self.named else ""

    def first(self, bad: Flags) -> str:
        """Say where the first bad one of the sorted rows is, and how many there are."""
        return f"first{self.at(int(self.order[int(np.argmax(bad))]))}, {int(bad.sum())} in all"


def sorted_rows(frame: pd.DataFrame, roles: Roles, like: Panel | None, *, array: bool) -> Rows:
    """Order the rows of a frame by series and time, as a panel that was read before has them."""
    ids: pd.Index = pd.RangeIndex(1)
    codes = np.zeros(len(frame), np.int64)
    if roles.series is not None:
        codes, ids = read_ids(roles.series, frame)
        if like is not None:
            refuse_other_ids(ids, like)
    stamps = roles.stamps if like is None else same_kind(roles.stamps, like)
    keys = stamps.asi8 if isinstance(stamps, pd.DatetimeIndex) else stamps.to_numpy()
    same = codes[1:] == codes[:-1]
    in_order = (codes[1:] > codes[:-1]) | (same & (keys[1:] >= keys[:-1]))
    order = np.arange(len(frame)) if in_order.all() else np.lexsort((keys, codes))
    if not in_order.all():
        _say_sorted(codes, keys)
    return Rows(ids, codes, stamps, order, named=roles.series is not None, stamped=not array)


def same_kind(stamps: pd.Index, like: Panel) -> pd.Index:
    """Bring stamps to the zone of a panel; refuse another kind of time."""
    dated, then = isinstance(stamps, pd.DatetimeIndex), like.index.stamps
    if dated != isinstance(then, pd.DatetimeIndex):
        kinds = ("dates", "whole numbers") if dated else ("whole numbers", "dates")
        raise WrongTime(f"time is {kinds[0]} here, but was {kinds[1]} in fit")
    if not isinstance(stamps, pd.DatetimeIndex) or not isinstance(then, pd.DatetimeIndex):
        return stamps
    if (stamps.tz is None) != (then.tz is None):
        zone = then.tz or stamps.tz
        here, there = ("no zone", f"the zone {zone}")[:: 1 if stamps.tz is None else -1]
        raise WrongTime(
            f"stamps have {here} here, but {there} in fit.",
            Cure("Give them one, or take it off", code="dt.tz_localize(...)"),
        )
    return stamps if stamps.tz is None else stamps.tz_convert(then.tz)


def _say_sorted(codes: Ints, keys: NDArray[Any]) -> None:
    """Tell of rows that were not in the order of time within their series."""
    by_series = np.argsort(codes, kind="stable")
    codes, keys = codes[by_series], keys[by_series]
    early = (codes[1:] == codes[:-1]) & (keys[1:] < keys[:-1])
    if early.any():
        row = int(by_series[1:][early].min())
        _LOG.info(
            "rows sorted by time: %d came after a later one, the first is row %d",
            int(early.sum()),
            row,
        )


def read_ids(spot: Spot, frame: pd.DataFrame) -> tuple[Ints, pd.Index]:
    """Number the series of the rows by their sorted names."""
    values, name = spot.values(frame), spot.name(frame)
    what = "the series level" if name is None else f"series column {name!r}"
    if isinstance(values.dtype, pd.CategoricalDtype):
        values = values.astype(values.dtype.categories.dtype)
    missing = np.asarray(values.isna())
    if missing.any():
        raise WrongType(
            f"{what} has no name in row {int(missing.argmax())} ({int(missing.sum())} such rows)."
            " Name them or drop them."
        )
    if is_text(values):
        values = values.astype("str")
    elif values.dtype == np.dtype(object) and infer_dtype(values) == "integer":
        values = values.astype(np.int64)
    elif is_integer_dtype(values.dtype) and not is_bool_dtype(values.dtype):
        values = pd.Index(values.to_numpy(dtype=np.int64))
    else:
        types = [type(one).__name__ for one in values]
        other = np.array([one != types[0] for one in types])
        row = int(np.argmax(other))
        mixed = f", {types[row]} first in row {row}" if other.any() else ""
        raise WrongType(
            f"{what} holds {' and '.join(sorted(set(types)))}{mixed} ({shown(values[row])},"
            f" {int(other.sum()) or len(types)} such rows); names of series are all text or all"
            " whole numbers.",
            Cure("Convert it", code=f'frame["{name}"] = frame["{name}"].astype("str")'),
        )
    codes, ids = pd.factorize(values, sort=True)
    return codes.astype(np.int64), pd.Index(ids)


def series_of(roles: Roles, frame: pd.DataFrame) -> Ints:
    """(rows,) number of the series of each row, by the sorted names; 0 where there is but one."""
    if roles.series is None:
        return np.zeros(len(frame), np.int64)
    return read_ids(roles.series, frame)[0]


def refuse_other_ids(ids: pd.Index, like: Panel) -> None:
    """Refuse names of another type: the series 1 and the series '1' are not the same."""
    if like.index.named and is_text(ids) != is_text(like.index.ids):
        kinds = ("text", "number")[:: 1 if is_text(ids) else -1]
        name = like.layout.series_name
        what = "the series level" if name is None else f"series column {name!r}"
        place = "series" if name is None else f'frame["{name}"]'
        kind = "str" if is_text(like.index.ids) else "int64"
        raise WrongType(
            f"{what} holds {shown(ids[0])} ({kinds[0]}) here, but {shown(like.index.ids[0])}"
            f" ({kinds[1]}) in fit.",
            Cure("Convert it", code=f'{place} = {place}.astype("{kind}")'),
        )
