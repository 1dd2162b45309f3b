"""From a frame to a panel: the one door that data comes in by."""

import logging
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from tsformer.cures import Cure, warn
from tsformer.errors import DataWarning, SeriesTooShort, WrongFrequency
from tsformer.panels.index import PanelIndex
from tsformer.panels.layout import Layout, refuse_output_names
from tsformer.panels.names import as_text
from tsformer.panels.panel import Panel
from tsformer.panels.policy import Policy
from tsformer.panels.schema import Name, ResolvedSchema, Schema
from tsformer.reading.checks import check_columns, check_stamps
from tsformer.reading.grid import Grid, find_freq, full_grid
from tsformer.reading.late import late_columns
from tsformer.reading.repeats import hint
from tsformer.reading.roles import find_stamps, resolve, resolve_like
from tsformer.reading.rows import sorted_rows
from tsformer.reading.spots import Roles
from tsformer.reading.tables import as_frame, numbered_columns
from tsformer.reading.time_columns import say_time
from tsformer.reading.values import read_values
from tsformer.threads import ignored
from tsformer.time.freq import Freq, as_freq, name_of
from tsformer.time.holidays import read_holidays

__all__ = ["read_panel", "stamps_of"]

_NAMED = ("time", "series", "weight")
_LOG = logging.getLogger("tsformer")


def read_panel(
    data: Any,
    schema: Schema | None = None,
    policy: Policy | None = None,
    *,
    like: Panel | None = None,
) -> Panel:
    """Check a frame and read it: the only way to a panel.

    Parameters
    ----------
    data
        A wide frame with a time index or column, a long frame, a frame with (series, time)
        rows, a ``Series``, or an array or list of lists whose rows are time. Tables of polars,
        pyarrow and others are read as pandas frames, and answers are pandas frames.
    schema
        Roles; what it leaves open is inferred and logged.
    policy
        What to do with missing values and rows; refused by default.
    like
        A panel that was read before: schema, frequency and vocabularies are taken from it,
        columns are matched by name, and further columns are ignored with a warning.

    Raises
    ------
    FrameError
        One of its kinds; the message names series, column, first bad row and a cure.

    Examples
    --------
    >>> frame = pd.DataFrame({"ds": pd.date_range("2024-01-01", periods=4), "y": [1, 2, 3, 4]})
    >>> read_panel(frame)
    Panel(1 series, 4 rows, freq='D', target=('y',))
    """
    policy = Policy() if policy is None else policy
    policy.check()
    frame, array = as_frame(data)
    check_columns(frame)
    schema = None if schema is None else schema.by_text()
    if array and like is None and len(frame) < 2:
        raise SeriesTooShort("the array has 1 sample; a series needs more rows than that")
    roles = _roles(frame, schema, like, array=array)
    rows = sorted_rows(frame, roles, like, array=array)
    check_stamps(rows, hint=lambda: hint(frame, roles))
    said = _said(schema, like)
    irregular = said.freq == "irregular"
    asked = _asked_freq(said.freq, roles, like)
    freq = find_freq(rows, asked=asked, irregular=irregular)
    values = read_values(frame, roles, rows, policy, like)
    grid = Grid(rows.starts, rows.stamps, None)
    if not irregular:
        grid = full_grid(rows, freq=freq, policy=policy)
    index = PanelIndex(
        rows.ids, grid.starts, grid.stamps, freq, irregular=irregular, named=rows.named
    )
    target, past = grid.full(values.target), grid.full(values.past)
    layout = _layout(frame, roles, array=array, numbered=numbered_columns(data))
    if like is not None:
        resolved = like.schema
    else:
        late = late_columns(said.late, index, target, past)
        days_off = read_holidays(said.holidays, rows.stamps)
        resolved = _resolved(frame, roles, said, freq=freq, late=late, holidays=days_off)
    if like is None and not array:
        refuse_output_names(resolved.target, layout)
        _log(resolved, layout)
    if not array:
        say_time(roles, frame)
    return Panel(
        index=index,
        target=target,
        past=past,
        known=grid.full(values.known),
        static=values.static,
        weight=grid.placed(values.weight, 1.0),
        masked=grid.added | grid.placed(values.ignored, True),
        schema=resolved,
        layout=layout,
        policy=policy,
    )


def _said(schema: Schema | None, like: Panel | None) -> Schema:
    if like is not None:
        return like.schema
    return Schema() if schema is None else schema


def _resolved(
    frame: pd.DataFrame,
    roles: Roles,
    said: Schema,
    *,
    freq: Freq,
    late: dict[str, int],
    holidays: tuple[str, ...],
) -> ResolvedSchema:
    """What the caller said, and what was found where nothing was said."""
    series = None if roles.series is None else roles.series.name(frame)
    time = roles.time.name(frame)
    season: Any = said.season
    return ResolvedSchema(
        series=series if isinstance(series, str) else None,
        time=time if isinstance(time, str) else None,
        target=roles.target,
        known=roles.known,
        past=roles.past,
        static=roles.static,
        weight=roles.weight,
        freq="irregular" if said.freq == "irregular" else name_of(freq),
        season=None if season is None else tuple(map(int, np.atleast_1d(season))),
        late=late,
        holidays=holidays,
    )


def _roles(frame: pd.DataFrame, schema: Schema | None, like: Panel | None, *, array: bool) -> Roles:
    if like is None:
        return resolve(frame, schema)
    roles = resolve_like(frame, like.schema, like.layout, many=like.index.named, array=array)
    _warn_of_extra(frame, roles, like)
    return roles


def stamps_of(data: Any, time: Name | None = None) -> pd.Index:
    """Stamps of the rows, in the caller's order; row numbers for arrays."""
    frame, array = as_frame(data)
    if array:
        return pd.RangeIndex(len(frame))
    return find_stamps(frame, as_text(time))


def _period_start(period: str) -> str:
    """Spell the offset from the first moment of one period to that of the next."""
    start = pd.period_range("2001-01-01", periods=4, freq=period).to_timestamp().freq
    return period if start is None else str(start.freqstr)


def _asked_freq(said: Any, roles: Roles, like: Panel | None) -> Freq | None:
    if like is not None:
        return like.index.freq
    period = None if roles.period is None else as_freq(_period_start(roles.period))
    if said is None:
        return period
    if said == "irregular":
        if period is not None:
            raise WrongFrequency(
                f"time is periods of {roles.period!r}, which follow one another: irregular steps do"
                " not go with them.",
                Cure("Say no frequency, or make stamps of them", code="frame.index.to_timestamp()"),
            )
        return None
    asked = as_freq(said)
    if isinstance(asked, int) == isinstance(roles.stamps, pd.DatetimeIndex):
        kind = "dates" if isinstance(roles.stamps, pd.DatetimeIndex) else "whole numbers"
        raise WrongFrequency(f"freq={said!r} does not go with time that is {kind}")
    if period is None or asked == period:
        return asked
    if isinstance(asked, int) or _as_period(asked) != pd.PeriodDtype(str(roles.period)):
        raise WrongFrequency(
            f"freq={said!r} does not go with time that is periods of {roles.period!r}.",
            Cure("Leave the frequency out"),
            Cure("Or change the periods", code=".asfreq(...)"),
        )
    return period


def _as_period(freq: Any) -> pd.PeriodDtype | None:
    with ignored():  # periods of business days are on their way out
        try:
            return pd.PeriodDtype(freq)
        except (TypeError, ValueError, AttributeError):
            return None


def _layout(
    frame: pd.DataFrame, roles: Roles, *, array: bool, numbered: Mapping[str, float]
) -> Layout:
    used = {*roles.time.columns, None if roles.series is None else roles.series.column}
    id_dtype = None
    if roles.series is not None:
        given = roles.series.values(frame).dtype
        id_dtype = given if given != np.dtype(object) else None
    return Layout(
        array=array,
        time_in="index" if roles.time.column is None else "column",
        series_in="nowhere"
        if roles.series is None
        else ("index" if roles.series.column is None else "column"),
        time_name=roles.time.name(frame),
        time_parts=tuple((part.column, part.unit) for part in roles.time.parts),
        time_spelling=roles.time.spelling,
        series_name=None if roles.series is None else roles.series.name(frame),
        series_first=roles.series is None or roles.series.level == 0,
        period=roles.period,
        id_dtype=id_dtype,
        columns=tuple(name for name in frame.columns if name not in used),
        numbered=numbered,
    )


def _warn_of_extra(frame: pd.DataFrame, roles: Roles, like: Panel) -> None:
    seen = {*like.layout.columns, *(getattr(like.schema, one) for one in _NAMED)}
    seen |= roles.time.columns
    if roles.series is not None:
        seen.add(roles.series.column)
    extra = [name for name in frame.columns if name not in seen]
    if extra:
        shown = ", ".join(map(repr, extra[:5])) + (", ..." if len(extra) > 5 else "")
        warn(DataWarning(f"columns that fit has not seen are ignored: {shown}"))


def _log(schema: ResolvedSchema, layout: Layout) -> None:
    used = {*schema.target, *schema.known, *schema.past, *schema.static, schema.weight}
    found = {
        "series": () if layout.series_in == "nowhere" else (layout.series_name or "(index)",),
        "time": (layout.time_name if layout.time_in == "column" else "(index)",),
        "target": schema.target,
        "past": schema.past,
        "known": schema.known,
        "static": schema.static,
        "weight": () if schema.weight is None else (schema.weight,),
        "freq": (str(schema.freq).partition(":")[0],),
        "without a role": tuple(name for name in layout.columns if name not in used),
    }
    _LOG.info("schema: %s", ", ".join(f"{k} {_short(v)}" for k, v in found.items() if v))


def _short(names: Any) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return " ".join(map(repr, names[:4])) + more
