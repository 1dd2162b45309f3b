"""Known covariates of the rows to forecast, matched by series, stamp and name."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from tsformer.arrays import Flags, Ints
from tsformer.cures import Cure
from tsformer.errors import (
    DuplicateTimestamp,
    InfiniteValues,
    MissingColumn,
    MissingFuture,
    WrongType,
)
from tsformer.panels.columns import Columns
from tsformer.panels.index import shown
from tsformer.panels.panel import Panel
from tsformer.panels.schema import Schema
from tsformer.reading.checks import check_columns, is_categorical, to_floats
from tsformer.reading.rows import Rows, read_ids, refuse_other_ids, same_kind
from tsformer.reading.spots import Spot
from tsformer.reading.tables import as_frame
from tsformer.reading.time_columns import find_time_like, read_time
from tsformer.reading.values import decode, encode, say_numbers, warn_unseen
from tsformer.time.stamps import is_dates, looks_like_dates

__all__ = ["extended", "future_frame", "read_future"]


def extended(panel: Panel, horizon: int, future: Any = None) -> Panel:
    """A panel with the rows to forecast, and the known covariates of those rows.

    Parameters
    ----------
    panel
        Up to the moment of the forecast.
    horizon
        How many rows each series gets.
    future
        A frame with the known covariates of those rows, matched by series, stamp and name;
        further rows and columns are ignored. Without a series column its rows hold for every
        series.

    Raises
    ------
    MissingFuture
        If a known covariate lacks a row or a value.
    """
    known = read_future(panel, panel.index.future_stamps(horizon), horizon, future)
    return panel.extend(horizon, known)


def read_future(panel: Panel, stamps: pd.Index, horizon: int, future: Any) -> Columns:
    """Read the known covariates at ``stamps``, ``horizon`` for each series of the panel.

    Returns
    -------
    Columns
        ``(series * horizon)`` rows.

    Raises
    ------
    MissingFuture
        Naming series, column and the first stamp without a value.
    """
    rows = len(stamps)
    names = panel.schema.known
    if not names:
        if future is not None:
            _refuse_past(panel, as_frame(future)[0])
        return panel.known.blank(rows)
    if future is None:
        raise MissingFuture(
            f"the columns {', '.join(map(repr, names))} are known in advance, so that a forecast"
            f" needs them for {horizon} more rows{panel.index.of(0)}, from {stamps[0]} to"
            f" {stamps[horizon - 1]}.",
            Cure(
                f"Pass them with their time{' and series' if panel.index.named else ''}",
                code="future=frame",
                option="--future FILE",
            ),
            Cure("Or fit with what is known only up to now", {"schema__past": names}),
        )
    frame = _named(panel, future)
    check_columns(frame)
    _refuse_past(panel, frame)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise MissingColumn(f"the future frame has no column {', '.join(map(repr, missing))}")
    given, shared = _given_rows(panel, frame)
    place = _matched(given, stamps, horizon, shared=shared)
    _refuse_late(panel, place, stamps, horizon, given, shared=shared)
    return _values(panel, frame, place, stamps, horizon, given)


def future_frame(panel: Panel, horizon: int) -> pd.DataFrame:
    """The frame that :func:`extended` asks for, in the caller's layout, to be filled in.

    Returns
    -------
    DataFrame
        Series and time of the rows to forecast, and the known columns: NaN for numbers and
        missing text for words.
    """
    stamps = panel.index.future_stamps(horizon)
    blank: dict[str, Any] = {name: np.full(len(stamps), np.nan) for name in panel.known.names}
    nothing = np.zeros(len(stamps), np.int64)
    blank |= {name: decode(nothing, panel.known.categories[name]) for name in panel.known.coded}
    ordered = {name: blank[name] for name in panel.layout.columns if name in blank}
    counts = np.full(panel.n_series, horizon, np.int64)
    return panel.layout.build(ordered, stamps=stamps, ids=panel.index.ids, counts=counts)


def _named(panel: Panel, future: Any) -> pd.DataFrame:
    """Name the columns of an array: the known ones, in order, from the first row to forecast."""
    frame, array = as_frame(future)
    if not array:
        return frame
    names = list(panel.schema.known)
    if frame.shape[1] != len(names) or panel.n_series != 1:
        raise WrongType(
            f"a future array has one row per step and one column for each of"
            f" {', '.join(map(repr, names))}; this one has the shape {frame.shape}. For several"
            " series pass a frame."
        )
    following = panel.index.future_stamps(len(frame))
    return frame.set_axis(names, axis=1).set_axis(following, axis=0)


def _refuse_past(panel: Panel, frame: pd.DataFrame) -> None:
    given = [name for name in panel.schema.past if name in frame.columns]
    for name in given:
        if frame[name].notna().any():
            raise WrongType(
                f"column {name!r} is a past covariate, not known in advance, but the future frame"
                f" holds it in {int(frame[name].notna().sum())} rows.",
                Cure("Leave it out", code=f'future.drop(columns="{name}")'),
                Cure("Or declare it", {"schema__known": name}),
            )


def _given_rows(panel: Panel, frame: pd.DataFrame) -> tuple[Rows, bool]:
    """Position in the panel (or -1) and stamp of each future row; whether rows name no series."""
    time = _time_spot(panel, frame)
    given = same_kind(read_time(frame, time).stamps, panel)
    codes = np.zeros(len(frame), np.int64)
    spot = _series_spot(panel, frame, time, given)
    if spot is not None:
        own, ids = read_ids(spot, frame)
        refuse_other_ids(ids, panel)
        codes = panel.index.ids.get_indexer(ids).astype(np.int64)[own]
    rows = Rows(panel.index.ids, codes, given, np.arange(len(frame)), named=spot is not None)
    same = pd.DataFrame({"series": codes, "stamp": given}).duplicated().to_numpy() & (codes >= 0)
    if same.any():
        raise DuplicateTimestamp(
            f"the future frame repeats rows: {rows.first(same)}.",
            Cure("Keep one row of each"),
        )
    return rows, spot is None


def _time_spot(panel: Panel, frame: pd.DataFrame) -> Spot:
    name = panel.schema.time
    spelling = panel.layout.time_spelling
    if name is not None and name in frame.columns:
        return find_time_like(frame, panel.layout, Schema(time=name), ())
    if name is not None and name in frame.index.names:
        return Spot(None, list(frame.index.names).index(name), (), spelling)
    levels = range(frame.index.nlevels)
    for number in levels:
        level = frame.index.get_level_values(number)
        if is_dates(level) or looks_like_dates(level):
            return Spot(None, number, (), spelling)
    if name is not None and panel.layout.time_in == "column":
        raise MissingColumn(f"the future frame has no time column {name!r}")
    return Spot(None, frame.index.nlevels - 1, (), spelling)


def _series_spot(panel: Panel, frame: pd.DataFrame, time: Spot, given: pd.Index) -> Spot | None:
    """Where the series stand; ``None`` where the rows hold for all of them."""
    if not panel.index.named:
        return None
    name = panel.schema.series
    if name is not None and name in frame.columns:
        return Spot(name)
    if name is not None and name in frame.index.names:
        return Spot(None, list(frame.index.names).index(name))
    if frame.index.nlevels == 2 and time.column is None:
        return Spot(None, 1 - time.level)
    if given.is_unique:
        return None
    what = "index level for the series" if name is None else f"series column {name!r}"
    raise MissingColumn(
        f"the future frame has no {what}, and its stamps repeat (first:"
        f" {given[int(given.duplicated().argmax())]}). Name the series of each row, or give one row"
        " a stamp, which holds for every series."
    )


def _matched(given: Rows, stamps: pd.Index, horizon: int, *, shared: bool) -> Ints:
    """``(series * horizon,)`` the future row of each row to forecast, or -1."""
    rows = np.flatnonzero(given.series >= 0)
    if not len(rows):
        return np.full(len(stamps), -1, np.int64)
    wanted, have = _in_one_unit(stamps, given.given[rows])
    if shared:
        return pd.Index(have).get_indexer(pd.Index(wanted)).astype(np.int64)
    series = np.arange(len(stamps), dtype=np.int64) // horizon
    here = pd.MultiIndex.from_arrays([given.series[rows], have])
    found = here.get_indexer(pd.MultiIndex.from_arrays([series, wanted]))
    return np.where(found >= 0, rows[np.maximum(found, 0)], -1).astype(np.int64)


def _in_one_unit(one: pd.Index, other: pd.Index) -> tuple[Ints, Ints]:
    """Whole numbers that are equal where the stamps are."""
    if not isinstance(one, pd.DatetimeIndex) or not isinstance(other, pd.DatetimeIndex):
        return one.to_numpy().astype(np.int64), other.to_numpy().astype(np.int64)
    # nanoseconds hold few centuries: only where the caller has them
    unit: Literal["ns", "us"] = "ns" if "ns" in (one.unit, other.unit) else "us"
    return np.asarray(one.as_unit(unit).asi8), np.asarray(other.as_unit(unit).asi8)


def _refuse_late(
    panel: Panel, place: Ints, stamps: pd.Index, horizon: int, given: Rows, *, shared: bool
) -> None:
    absent = place < 0
    if not absent.any():
        return
    row = int(np.argmax(absent))
    series = row // horizon
    have = int((~absent[series * horizon : (series + 1) * horizon]).sum())
    own = given.series == (0 if shared else series)
    mine = given.given[own]
    span = f"; its rows go from {min(mine)} to {max(mine)}" if len(mine) else "; it has no row"
    raise MissingFuture(
        f"the future frame has {have} of the {horizon} rows needed{panel.index.of(series)} for"
        f" {', '.join(map(repr, panel.schema.known))}; the first one missing is {stamps[row]}"
        f" ({int(absent.sum())} in all){span}. Add them; make_future_frame() has all that are"
        " needed."
    )


def _values(
    panel: Panel, frame: pd.DataFrame, place: Ints, stamps: pd.Index, horizon: int, given: Rows
) -> Columns:
    known = np.empty((len(place), len(panel.known.names)))
    codes = np.zeros((len(place), len(panel.known.coded)), np.int64)
    unseen: dict[str, list[str]] = {}
    for number, name in enumerate(panel.known.names):
        if is_categorical(frame[name]):
            raise WrongType(_other_kind(frame, name, place, panel, "numbers"))
        known[:, number] = to_floats(frame[name], name, given)[place]
        _refuse_value(panel, name, np.isinf(known[:, number]), stamps, horizon, "inf")
        _refuse_value(panel, name, np.isnan(known[:, number]), stamps, horizon, "NaN")
    for number, name in enumerate(panel.known.coded):
        if not is_categorical(frame[name]):
            raise WrongType(_other_kind(frame, name, place, panel, "text"))
        needed = frame[name].iloc[place]
        _refuse_value(panel, name, needed.isna().to_numpy(), stamps, horizon, "NaN")
        codes[:, number], _, unseen[name] = encode(needed, panel.known.categories[name])
    warn_unseen(unseen)
    say_numbers((name, frame[name]) for name in panel.known.names)
    return replace(panel.known, values=known, codes=codes)


def _other_kind(frame: pd.DataFrame, name: str, place: Ints, panel: Panel, then: str) -> str:
    """Say what a column holds in the first row that is needed of it."""
    return (
        f"column {name!r} of the future frame is {frame[name].dtype}; in fit it was {then} (first:"
        f" {shown(frame[name].iloc[int(place[0])])}{panel.index.of(0)}, row {int(place[0])})."
        " Convert it as it was then."
    )


def _refuse_value(
    panel: Panel, name: str, bad: Flags, stamps: pd.Index, horizon: int, what: str
) -> None:
    if not bad.any():
        return
    row = int(np.argmax(bad))
    kind = InfiniteValues if what == "inf" else MissingFuture
    raise kind(
        f"column {name!r} of the future frame holds {what}{panel.index.of(row // horizon)} at"
        f" {stamps[row]} ({int(bad.sum())} such values). A forecast needs numbers there."
    )
