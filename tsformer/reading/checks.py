"""Checks of a frame's values, before anything is computed from them."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_integer_dtype, is_numeric_dtype

from tsformer.arrays import Flags, Floats
from tsformer.cures import Cure
from tsformer.errors import (
    DuplicateColumn,
    DuplicateTimestamp,
    EmptyFrame,
    InfiniteValues,
    MissingValues,
    WrongType,
    WrongWeight,
)
from tsformer.reading.rows import Rows
from tsformer.time.stamps import is_text

__all__ = [
    "check_columns",
    "check_observed",
    "check_stamps",
    "check_values",
    "check_weight",
    "inexact",
    "is_categorical",
    "refuse_flags",
    "to_floats",
]


_EXACT = 2**53


def check_columns(frame: pd.DataFrame) -> None:
    """Refuse empty frames, and hierarchical, odd or repeated names of columns."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise WrongType(
            "the columns have several levels.",
            Cure(
                "Join them to one name",
                code='frame.columns = ["_".join(map(str, names)) for names in frame.columns]',
            ),
        )
    odd = [name for name in frame.columns if not isinstance(name, str)]
    if odd:
        raise WrongType(
            f"column names must be text or numbers, {odd[0]!r} is {type(odd[0]).__name__}"
            f" ({len(odd)} such columns).",
            Cure("Rename them", code="frame.columns = frame.columns.astype(str)"),
        )
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise DuplicateColumn(
            f"column {twice[0]!r} is there {int((frame.columns == twice[0]).sum())} times"
            f" ({twice.nunique()} such names).",
            Cure("Keep one of each", code="frame = frame.loc[:, ~frame.columns.duplicated()]"),
        )
    if frame.shape[0] == 0 or frame.shape[1] == 0:
        raise EmptyFrame(
            f"the frame is empty: {frame.shape[0]} rows, {frame.shape[1]} columns. A forecast needs"
            " at least as many rows as context and horizon have together."
        )


def check_stamps(rows: Rows, *, hint: Callable[[], tuple[str, Cure]]) -> None:
    """Refuse two rows with one stamp in one series; as the rows are sorted.

    Parameters
    ----------
    hint
        Asks what may have been forgotten where there are no series.
    """
    stamps = rows.stamps
    same = np.zeros(len(stamps), np.bool_)
    same[1:] = np.asarray(stamps[1:] == stamps[:-1])
    same[rows.starts[1:-1]] = False
    if not same.any():
        return
    if not rows.named:
        question, named = hint()
        question, cures = f" {question}", [named]
        cures.append(Cure("Otherwise keep one row of each", code="frame.drop_duplicates(...)"))
    else:
        mean = "frame.groupby([series, time]).mean()"
        question, cures = "", [Cure("Keep one row of each, for instance by the mean", code=mean)]
    first = stamps[int(np.argmax(same))]
    if isinstance(first, pd.Timestamp) and first.tz is None and first.month in (10, 11, 4):
        hour = first.hour in (0, 1, 2, 3) and int(same.sum()) < 0.01 * len(same) + 2
        if hour and first != first.normalize():
            zone = "If summer time ended there, give the stamps a zone"
            cures.append(Cure(zone, code="dt.tz_localize(...)"))
    raise DuplicateTimestamp(f"stamps occur more than once: {rows.first(same)}.{question}", *cures)


def is_categorical(values: pd.Series) -> bool:
    """Whether a covariate is a word rather than a number."""
    return isinstance(values.dtype, pd.CategoricalDtype) or is_text(values)


def to_floats(values: pd.Series, name: str, rows: Rows) -> Floats:
    """Read a column as float64, NaN where missing; always a new array.

    Raises
    ------
    WrongType
        If it holds anything but real numbers.
    """
    kind = values.dtype
    if is_complex_dtype(kind):
        raise _is_complex(values, name, rows)
    if isinstance(kind, pd.SparseDtype):
        raise WrongType(
            f"column {name!r} is sparse.",
            Cure("Make it dense", code=f'frame["{name}"] = frame["{name}"].sparse.to_dense()'),
        )
    if is_numeric_dtype(kind) or is_bool_dtype(kind):
        if isinstance(kind, pd.ArrowDtype):
            return np.array(values.astype("float64[pyarrow]").to_numpy(np.float64, na_value=np.nan))
        return np.array(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if kind == np.dtype(object):
        return _from_objects(values, name, rows)
    if is_text(values) or isinstance(kind, pd.CategoricalDtype):
        row, count = _first_word(values)
        raise WrongType(
            f"column {name!r} holds text (first: {values.iloc[row]!r}{rows.at(row)}, {count} in"
            " all), a number is needed.",
            Cure(
                "If it is one, convert it",
                code=f'frame["{name}"] = pd.to_numeric(frame["{name}"])',
            ),
        )
    raise WrongType(
        f"column {name!r} is {kind}, a number is needed (first: {values.iloc[0]!r}{rows.at(0)})."
        " Leave it out, or turn it into a number of hours or days first."
    )


def check_values(
    values: Floats,
    names: Sequence[str],
    rows: Rows,
    *,
    masked: bool,
    ignored: Flags | None = None,
) -> None:
    """Refuse infinite values, and missing ones unless they are masked.

    Parameters
    ----------
    values
        ``(rows, columns)`` in sorted order.
    ignored
        ``(rows,)`` rows that may hold anything.
    """
    finite = np.isfinite(values)
    if ignored is not None:
        finite |= ignored[:, None]
    if finite.all():
        return
    for position, name in enumerate(names):
        column = np.where(finite[:, position], 0.0, values[:, position])
        infinite = np.isinf(column)
        if infinite.any():
            raise InfiniteValues(
                f"column {name!r} holds inf: {rows.first(infinite)}. Correct these values, or"
                " mark them as missing (NaN)."
            )
        missing = np.isnan(column)
        if missing.any() and not masked:
            raise MissingValues(
                f"column {name!r} holds NaN: {rows.first(missing)}.",
                Cure("Fill them, or train around them", {"policy__missing": "mask"}),
            )


def check_observed(
    target: Floats,
    names: Sequence[str],
    rows: Rows,
    ignored: Flags,
) -> None:
    """Refuse a series in which no target was ever observed outside of what is ignored."""
    starts = rows.starts
    seen = np.logical_or.reduceat(~np.isnan(target).all(axis=1), starts[:-1])
    if not seen.all():
        bad = int(np.argmin(seen))
        left_out = int(ignored[starts[bad] : starts[bad + 1]].sum())
        cause = f", {left_out} of which lie in a period to ignore" if left_out else ""
        cure = " or ignore less of it" if left_out else ""
        raise MissingValues(
            f"every target ({', '.join(map(repr, names))}){rows.of(bad)} is NaN in all"
            f" {int(np.diff(starts)[bad])} rows{cause}"
            f" ({int((~seen).sum())} such series). Drop it{cure}: there is nothing to learn from."
        )


def check_weight(weight: Floats, name: str, rows: Rows, *, fitting: bool) -> None:
    """Refuse weights that are missing, infinite or negative, or all zero in a fit.

    Parameters
    ----------
    weight
        ``(rows,)`` in sorted order.
    """
    for bad, what, kind in (
        (np.isnan(weight), "NaN", MissingValues),
        (np.isinf(weight), "inf", InfiniteValues),
        (weight < 0, "a negative number", WrongWeight),
    ):
        if bad.any():
            raise kind(
                f"weight column {name!r} holds {what}: {rows.first(bad)}. A weight is a number"
                " of 0 or more; 0 leaves a row out of the answers."
            )
    if fitting and not weight.any():
        raise WrongWeight(
            f"weight column {name!r} is 0 in all {len(weight)} rows: there is nothing to learn"
            " from. Give some rows a positive weight, or say no column of weights."
        )


def inexact(values: pd.Series) -> bool:
    """Whether whole numbers are too large for float64 to tell apart."""
    if values.dtype == np.dtype(object):
        return any(isinstance(one, int) and abs(one) > _EXACT for one in values)
    if not is_integer_dtype(values.dtype) or is_bool_dtype(values.dtype):
        return False
    top, low = values.max(), values.min()
    return bool(not pd.isna(top) and (int(top) > _EXACT or int(low) < -_EXACT))


def refuse_flags(values: pd.Series, name: str, rows: Rows) -> None:
    """Refuse a target that is true or false."""
    if is_bool_dtype(values.dtype):
        flags = np.ones(len(values), np.bool_)
    elif values.dtype == np.dtype(object):
        flags = np.array([isinstance(one, (bool, np.bool_)) for one in values], np.bool_)
    else:
        return
    if flags.any():
        raise WrongType(
            f"target column {name!r} holds true and false: {rows.first(flags[rows.order])}. A"
            " target is a number.",
            Cure(
                "For a forecast between 0 and 1 convert it",
                code=f'frame["{name}"] = frame["{name}"].astype("float64")',
            ),
        )


def _is_complex(values: pd.Series, name: str, rows: Rows) -> WrongType:
    items = values.to_numpy()
    bad = items.imag != 0
    row = int(np.argmax(bad))
    count = f", {int(bad.sum())} in all" if bad.any() else ""
    return WrongType(
        f"Complex data not supported: column {name!r} is {values.dtype} (first:"
        f" {items[row]!s}{rows.at(row)}{count}).",
        Cure(
            "Keep the part that is meant, such as",
            code=f'frame["{name}"] = frame["{name}"].to_numpy().real',
        ),
    )


def _first_word(values: pd.Series) -> tuple[int, int]:
    """Row of the first text that is no number, and how many there are; else of the first text."""
    present = values.notna().to_numpy()
    text = values.astype("object").where(present, "0").astype("str")
    bad = pd.to_numeric(text, errors="coerce").isna().to_numpy() & present
    bad = bad if bad.any() else present
    return int(np.argmax(bad)), int(bad.sum())


def _from_objects(values: pd.Series, name: str, rows: Rows) -> Floats:
    items = values.to_numpy(dtype=object)
    out = np.empty(len(items), np.float64)
    for row, item in enumerate(items):
        if item is None or item is pd.NA or item is pd.NaT:
            out[row] = np.nan
        elif isinstance(item, (Real, Decimal)):
            out[row] = float(item)
        else:
            raise _not_a_number(item, name, rows.at(row))
    return out


def _not_a_number(item: Any, name: str, where: str) -> WrongType:
    if isinstance(item, complex):
        return WrongType(f"Complex data not supported: column {name!r} holds {item!r}{where}")
    return WrongType(
        f"column {name!r} holds {item!r} of type {type(item).__name__}{where}, a number is needed"
        " (argument must be a string or a number).",
        Cure(
            "Correct it, or convert the column",
            code=f'frame["{name}"] = pd.to_numeric(frame["{name}"], errors="coerce")',
        ),
    )
