"""Finding the roles of a frame's columns: what the schema leaves open is inferred."""

import difflib
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from tsformer.cures import Cure
from tsformer.errors import FrameError, MissingColumn, ParameterError, WrongTime, WrongType
from tsformer.panels.index import shown
from tsformer.panels.layout import Layout
from tsformer.panels.schema import ResolvedSchema, Schema
from tsformer.reading.leftovers import calendar_columns, or_counted, refuse_unread_time
from tsformer.reading.repeats import is_name, names_rows, tells_apart, tells_stamps
from tsformer.reading.spots import Roles, Spot
from tsformer.reading.time_columns import (
    USUAL_KEYS,
    counts,
    find_time,
    find_time_like,
    read_time,
)
from tsformer.time.stamps import is_dates, is_text

__all__ = ["find_stamps", "resolve", "resolve_like"]

_TARGETS = {"ds": "y", "timestamp": "target"}


def resolve(frame: pd.DataFrame, schema: Schema | None = None) -> Roles:
    """Fill in what the schema leaves open.

    Raises
    ------
    MissingColumn
        If a named column is not there; all of them are listed.
    FrameError
        If there are several candidates for time or series; the message has the line to paste.
    """
    schema = Schema() if schema is None else schema
    schema.check()
    declared = {role: _listed(getattr(schema, role)) for role in ("target", "known", "static")}
    rest = schema.past == "rest"
    declared["past"] = () if rest else _listed(schema.past)
    named = [name for names in declared.values() for name in names]
    named += _listed(schema.weight)
    _refuse_missing(frame, [*named, *_listed(schema.time), *_listed(schema.series)], named)
    _refuse_overlap([*named, *_listed(schema.time), *_listed(schema.series)])
    time = find_time(frame, schema, taken=named)
    who = partial(_series_of, frame, schema, time, named)
    try:
        stamps, period, spelling = read_time(frame, time, of=who)
    except WrongTime as error:
        raise or_counted(error, frame, time, schema) from error.__cause__
    time = time._replace(spelling=spelling)
    series = _find_series(frame, schema, time, stamps, taken=named)
    used = {*named, *time.columns, None if series is None else series.column}
    free = [name for name in frame.columns if name not in used]
    if time.column is None and counts(frame.index) and not isinstance(schema.freq, Integral):
        refuse_unread_time(frame, free, targets=bool(declared["target"]))
    if not declared["target"]:
        calendar = () if rest else calendar_columns(frame, free, stamps)
        values = [name for name in free if name not in calendar]
        declared["target"] = _find_targets(frame, values, time, rest=rest)
    if rest:
        declared["past"] = tuple(name for name in free if name not in declared["target"])
    return Roles(
        target=declared["target"],
        known=declared["known"],
        past=declared["past"],
        static=declared["static"],
        weight=None if schema.weight is None else str(schema.weight),
        time=time,
        series=series,
        stamps=stamps,
        period=period,
    )


def resolve_like(
    frame: pd.DataFrame, schema: ResolvedSchema, layout: Layout, *, many: bool, array: bool
) -> Roles:
    """Find the roles of a schema that was resolved before in another frame, by name."""
    columns = [*schema.target, *schema.covariates]
    here = {*frame.columns, *(name for name in frame.index.names if name is not None)}
    open_ = Schema(
        time=schema.time if schema.time in here else None,
        series=schema.series if schema.series in here else None,
        target=tuple(columns),
        freq=schema.freq,
    )
    missing = [name for name in columns if name not in frame.columns]
    if many and open_.series is None and schema.series is not None and frame.index.nlevels == 1:
        missing.insert(0, schema.series)
    if missing:
        if array:
            raise MissingColumn(
                f"X has {frame.shape[1]} features, but {len(columns)} features were expected"
            )
        raise MissingColumn(_missing_message(frame, missing))
    taken = [*columns, *_listed(schema.weight)]
    time = find_time_like(frame, layout, open_, taken)
    who = partial(_series_of, frame, open_, time, taken)
    stamps, period, _ = read_time(frame, time, of=who)
    series = None
    if many or frame.index.nlevels > 1:
        series = _find_series(frame, open_, time, stamps, taken=taken)
    return Roles(
        target=schema.target,
        known=schema.known,
        past=schema.past,
        static=schema.static,
        weight=schema.weight,
        time=time,
        series=series,
        stamps=stamps,
        period=period,
    )


def find_stamps(frame: pd.DataFrame, time: str | None) -> pd.Index:
    """Read the stamps of a frame, whatever else is in it."""
    _refuse_missing(frame, _listed(time), ())
    spot = find_time(frame, Schema(time=time), taken=())
    return read_time(frame, spot).stamps


def _listed(names: Any) -> tuple[str, ...]:
    if names is None:
        return ()
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise ParameterError(f"Schema takes names of columns, not {names!r}")
    return tuple(names)


def _refuse_missing(frame: pd.DataFrame, names: Sequence[str], columns: Sequence[str]) -> None:
    missing = [
        name
        for name in names
        if name not in frame.columns and (name in columns or name not in frame.index.names)
    ]
    if missing:
        raise MissingColumn(_missing_message(frame, missing))


def _missing_message(frame: pd.DataFrame, missing: Sequence[str]) -> str:
    have = [str(name) for name in frame.columns]
    close = [
        f"{name!r} (did you mean {found[0]!r}?)"
        if (found := difflib.get_close_matches(name, have, n=1))
        else repr(name)
        for name in missing
    ]
    shown = ", ".join(map(repr, have[:12])) + (", ..." if len(have) > 12 else "")
    return f"the frame has no column {', '.join(close)}; its columns are {shown}"


def _refuse_overlap(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise ParameterError(f"Schema gives two roles to {', '.join(map(repr, twice))}; one each")


def _find_series(
    frame: pd.DataFrame, schema: Schema, time: Spot, stamps: pd.Index, *, taken: Sequence[str]
) -> Spot | None:
    if schema.series is not None:
        if schema.series in frame.columns:
            return Spot(str(schema.series))
        return Spot(None, list(frame.index.names).index(schema.series))
    if time.column is None and frame.index.nlevels == 2:
        return Spot(None, 1 - time.level)
    free = [name for name in frame.columns if name not in taken and name not in time.columns]
    for name in USUAL_KEYS:
        if name in free and not is_dates(frame[name]):  # read_ids refuses odd types by name
            return Spot(name)
    if not stamps.has_duplicates:
        return None
    texts = [name for name in free if is_name(frame[name]) and not names_rows(frame[name])]
    keys = [name for name in texts if tells_apart(frame, [name], stamps)]
    if len(keys) == 1 or (len(texts) == 1 and not keys):
        return _named_by(frame, (keys or texts)[0])
    if len(keys) > 1:
        raise FrameError(
            f"stamps repeat, and the columns {', '.join(map(repr, keys))} could all tell the series"
            " apart.",
            Cure("Say which", {"schema__series": keys[0]}),
        )
    for pair in combinations(texts, 2):
        if tells_apart(frame, pair, stamps):
            joined = ' + "/" + '.join(f'frame["{name}"].astype("str")' for name in pair)
            raise FrameError(
                f"stamps repeat, and none of the columns {', '.join(map(repr, texts))} alone tells"
                " the series apart.",
                Cure(
                    "Join two of them",
                    code=f'frame["series"] = {joined}, and schema=Schema(series="series")',
                    option='make a column of both, "series", and --series series',
                ),
            )
    return None


def _named_by(frame: pd.DataFrame, name: str) -> Spot:
    """The column that tells series apart, unless it seems to tell the rest of their stamps."""
    if tells_stamps(frame[name], name):
        raise WrongTime(
            f"stamps repeat, and column {name!r} (first: {frame[name].iloc[0]!r} in row 0) seems to"
            " tell the rest of them, but is written in no way that can be read: months are read"
            " by number or by their English names. Write whole dates, such as 2018-03-01.",
            Cure("If it tells series apart, say so", {"schema__series": name}),
        )
    return Spot(name)


def _series_of(
    frame: pd.DataFrame, schema: Schema, time: Spot, taken: Sequence[str], row: int
) -> str:
    """Name the series of a row whose stamp cannot be read; nothing where there seems to be one."""
    unread = pd.Index(pd.factorize(time.values(frame))[0])
    try:
        spot = _find_series(frame, schema, time, unread, taken=taken)
    except FrameError:
        return ""
    return "" if spot is None else f" of series {shown(spot.values(frame)[row])}"


def _find_targets(
    frame: pd.DataFrame, free: Sequence[str], time: Spot, *, rest: bool
) -> tuple[str, ...]:
    usual = _TARGETS.get(str(time.column))
    if usual in free:
        return (str(usual),)
    if rest:
        raise ParameterError(
            "'rest' takes every column without a role as a past covariate.",
            Cure(
                "Say the target, too",
                {"schema__target": free[0] if free else "y", "schema__past": "rest"},
            ),
        )
    found = tuple(name for name in free if _could_be_target(frame[name]))
    if found:
        return found
    digits = [name for name in free if is_text(frame[name]) and _all_digits(frame[name])]
    if digits:
        raise WrongType(
            f"column {digits[0]!r} holds numbers as text (first: {frame[digits[0]].iloc[0]!r}).",
            Cure("Convert it", code=f'frame["{digits[0]}"] = pd.to_numeric(frame["{digits[0]}"])'),
        )
    raise WrongType(
        "there is no numeric column to forecast; the columns without another role are "
        f"{', '.join(map(repr, free)) or '(none)'}"
    )


def _could_be_target(values: pd.Series) -> bool:
    if is_bool_dtype(values.dtype):
        return False
    if is_numeric_dtype(values.dtype):
        return True
    if values.dtype != np.dtype(object):
        return False
    # an object column of numbers, or of numbers and a stray word, which is then refused by name
    return pd.api.types.infer_dtype(values, skipna=True) in {
        "integer", "floating", "decimal", "mixed-integer-float", "mixed-integer", "mixed",
        "complex",
    }  # fmt: skip


def _all_digits(values: pd.Series) -> bool:
    return bool(pd.to_numeric(values, errors="coerce").notna().mean() > 0.9)
