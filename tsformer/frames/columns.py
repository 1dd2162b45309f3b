"""Reading the value columns of a frame: numbers as numbers, words as codes."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from tsformer.errors import WrongType
from tsformer.frames.checks import (
    Places,
    check_observed,
    check_values,
    inexact,
    is_categorical,
    to_floats,
)
from tsformer.frames.policy import Policy
from tsformer.frames.schema import Schema
from tsformer.frames.stamps import is_text

if TYPE_CHECKING:
    from tsformer.frames.panel import Panel

__all__ = ["Rows", "Values", "covariates", "encode", "read_values"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Rows(NamedTuple):
    """Rows in the order of series and time."""

    ids: pd.Index
    starts: Ints
    stamps: pd.Index
    order: Ints
    places: Places


class Values(NamedTuple):
    """What the columns hold, by the field of the panel, and the words of the categorical ones."""

    rows: dict[str, NDArray[Any]]
    series: dict[str, NDArray[Any]]
    levels: dict[str, tuple[str, ...]]


def read_values(
    frame: pd.DataFrame, schema: Schema, rows: Rows, policy: Policy, like: "Panel | None"
) -> Values:
    """Read and check every column with a role.

    Parameters
    ----------
    rows
        The order of the rows, which the values are brought into.
    like
        Takes the words of categorical columns from a panel that was read before.
    """
    coded = [name for name in covariates(schema) if is_categorical(frame[name])]
    if like is not None:
        _refuse_other_kinds(frame, coded, like)
    codes, levels = _read_codes(frame, coded, rows, policy, like)
    made = Values({}, {}, levels)
    for role in ("target", "past", "known", "static"):
        names: tuple[str, ...] = getattr(schema, role)
        plain = [name for name in names if name not in levels]
        words = [name for name in names if name in levels]
        numbers = _read_numbers(frame, plain, rows, policy)
        numbered = _stack([codes[name] for name in words], len(frame), np.int64)
        if role == "static":
            made.series["static"] = _constant(numbers, plain, rows)
            made.series["static_codes"] = _constant(numbered, words, rows)
            continue
        made.rows[role] = numbers
        if role != "target":
            made.rows[f"{role}_codes"] = numbered
    check_observed(made.rows["target"], rows.starts, rows.places)
    return made


def covariates(schema: Schema) -> tuple[str, ...]:
    """List the columns with a role that are not forecast."""
    return (*schema.past, *schema.known, *schema.static)


def _stack(columns: Sequence[NDArray[Any]], rows: int, kind: Any) -> NDArray[Any]:
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), kind)


def _read_numbers(frame: pd.DataFrame, names: list[str], rows: Rows, policy: Policy) -> Floats:
    columns = [to_floats(frame[name], name, rows.places)[rows.order] for name in names]
    values: Floats = _stack(columns, len(frame), np.float64)
    check_values(values, names, rows.places, masked=policy.missing == "mask")
    large = [name for name in names if inexact(frame[name])]
    if large:
        warnings.warn(
            f"columns {', '.join(map(repr, large))} hold whole numbers above 2**53, which float64"
            " rounds",
            stacklevel=5,
        )
    return values


def _refuse_other_kinds(frame: pd.DataFrame, coded: list[str], like: "Panel") -> None:
    for name in covariates(like.schema):
        if (name in like.levels) != (name in coded):
            now, then = ("numbers", "text")[:: 1 if name in like.levels else -1]
            raise WrongType(
                f"column {name!r} holds {now} here ({frame[name].dtype}), but held {then} in fit"
            )


def _read_codes(
    frame: pd.DataFrame, names: list[str], rows: Rows, policy: Policy, like: "Panel | None"
) -> tuple[dict[str, Ints], dict[str, tuple[str, ...]]]:
    codes: dict[str, Ints] = {}
    levels: dict[str, tuple[str, ...]] = {}
    for name in names:
        values = frame[name]
        if is_text(values) and not isinstance(values.dtype, pd.CategoricalDtype):
            _refuse_digits(values, name)
        known = None if like is None else like.levels[name]
        codes[name], levels[name] = encode(values, name, known)
        missing = np.asarray(values.isna())
        codes[name] = codes[name][rows.order]
        if missing.any():
            gaps = np.where(missing, np.nan, 0.0)[rows.order, None]
            masked = policy.missing == "mask"
            check_values(gaps, [name], rows.places, masked=masked)
    return codes, levels


def encode(
    values: pd.Series, name: str, known: tuple[str, ...] | None
) -> tuple[Ints, tuple[str, ...]]:
    """Number the words of a categorical column from 1; 0 for a missing or an unknown one."""
    category = values.astype("category")
    words = [str(one) for one in category.cat.categories]
    levels = tuple(sorted(words)) if known is None else known
    number = {word: place + 1 for place, word in enumerate(levels)}
    table = np.array([0, *(number.get(word, 0) for word in words)], np.int64)
    codes: Ints = table[category.cat.codes.to_numpy().astype(np.int64) + 1]
    used = np.unique(category.cat.codes.to_numpy())
    unseen = [words[place] for place in used if place >= 0 and words[place] not in number]
    if unseen:
        shown = ", ".join(map(repr, unseen[:5])) + (", ..." if len(unseen) > 5 else "")
        warnings.warn(
            f"column {name!r} holds words that fit has not seen ({shown}); they count as unknown",
            stacklevel=6,
        )
    return codes, levels


def _refuse_digits(values: pd.Series, name: str) -> None:
    present = pd.Series(values.dropna().unique())
    if len(present) and bool(pd.to_numeric(present, errors="coerce").notna().all()):
        raise WrongType(
            f"column {name!r} holds numbers as text (first: {values.iloc[0]!r}). Say which it is:"
            f' frame["{name}"] = pd.to_numeric(frame["{name}"]), or .astype("category")'
        )


def _constant(values: NDArray[Any], names: Sequence[str], rows: Rows) -> NDArray[Any]:
    first = values[rows.starts[:-1]]
    if values.shape[1]:
        same = values == first.repeat(np.diff(rows.starts), axis=0)
        same |= np.isnan(values) if values.dtype.kind == "f" else False
        if not same.all():
            column = int(np.argmin(same.all(axis=0)))
            raise WrongType(
                f"static column {names[column]!r} changes within a series:"
                f" {rows.places.first(~same[:, column])}. Declare it as past or known instead."
            )
    return first
