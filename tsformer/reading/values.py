"""Reading the value columns of a frame: numbers as numbers, words as codes."""

import logging
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype

from tsformer.arrays import Flags, Floats, Ints
from tsformer.cures import Cure, warn
from tsformer.errors import DataWarning, WrongType
from tsformer.panels.columns import Columns
from tsformer.panels.index import shown
from tsformer.panels.panel import Panel
from tsformer.panels.policy import Policy, ignored_rows
from tsformer.reading.checks import (
    check_observed,
    check_values,
    check_weight,
    inexact,
    is_categorical,
    refuse_flags,
    to_floats,
)
from tsformer.reading.rows import Rows
from tsformer.reading.spots import Roles
from tsformer.time.stamps import is_text

__all__ = [
    "Values",
    "decode",
    "encode",
    "read_values",
    "say_numbers",
    "warn_unseen",
]


_LOG = logging.getLogger("tsformer")
_MOSTLY = 0.9
"""Text of which more than this reads as numbers is numbers, some of them misspelt."""


_PLAIN = {
    "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
}  # fmt: skip
"""Types whose values are what they were in float64; large whole numbers are warned of."""


class Values(NamedTuple):
    """What the columns of each role hold, ``(rows,)`` weights, and which rows are ignored."""

    target: Columns
    past: Columns
    known: Columns
    static: Columns
    weight: Floats
    ignored: Flags


def read_values(
    frame: pd.DataFrame, roles: Roles, rows: Rows, policy: Policy, like: Panel | None
) -> Values:
    """Read and check every column with a role.

    Parameters
    ----------
    rows
        The order of the rows, which the values are brought into.
    like
        Takes the words of categorical columns from a panel that was read before.
    """
    coded = [name for name in roles.covariates if is_categorical(frame[name])]
    if like is not None:
        _refuse_other_kinds(frame, coded, like, rows)
    ignored = ignored_rows(rows.stamps, policy.ignore, warn=like is None)
    nowhere = np.zeros_like(ignored)
    masks = {"target": ignored, "past": ignored, "known": nowhere, "static": nowhere}
    hidden = {name: masks[role] for role in masks for name in getattr(roles, role)}
    codes, words = _read_codes(frame, coded, rows, policy, like, hidden)
    for name in roles.target:
        refuse_flags(frame[name], name, rows)
    columns: dict[str, Columns] = {}
    for role in masks:
        names = getattr(roles, role)
        plain = tuple(name for name in names if name not in words)
        categories = {name: words[name] for name in names if name in words}
        numbers = _read_numbers(frame, plain, rows, policy, masks[role])
        numbered = _stack([codes[name] for name in categories], len(frame), np.int64)
        columns[role] = Columns(plain, numbers, categories, numbered)
    static = _constant(columns["static"], rows)
    targets = columns["target"]
    check_observed(targets.values, targets.names, rows, ignored)
    weight = _read_weight(frame, roles.weight, rows, fitting=like is None)
    measured = [name for role in columns.values() for name in role.names]
    _warn_of_rounding(frame, measured, rows)
    say_numbers((name, frame[name]) for name in measured)
    return Values(targets, columns["past"], columns["known"], static, weight, ignored)


def _listed(names: Sequence[Any], *, most: int = 5) -> str:
    """Write names in quotes, and how many more there are.

    >>> _listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


def say_numbers(columns: Iterable[tuple[str, pd.Series]]) -> None:
    """Tell which columns of numbers were of a type that float64 is made of.

    >>> _kind(pd.Series([1.0], dtype="float16")), _kind(pd.Series([True])), _kind(pd.Series([1]))
    ('float16', 'bool', None)
    """
    found: dict[str, list[str]] = {}
    for name, values in columns:
        kind = _kind(values)
        if kind is not None:
            found.setdefault(kind, []).append(name)
    for kind, names in found.items():
        made = "0 and 1" if kind.startswith("bool") else "float64"
        what = "columns" if len(names) > 1 else "column"
        _LOG.info("%s %s converted from %s to %s", what, _listed(names), kind, made)


def _stack(columns: Sequence[NDArray[Any]], rows: int, kind: Any) -> NDArray[Any]:
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0), kind)


def _read_weight(frame: pd.DataFrame, name: str | None, rows: Rows, *, fitting: bool) -> Floats:
    """1 where later data have no such column."""
    if name is None or name not in frame.columns:
        return np.ones(len(frame))
    weight = to_floats(frame[name], name, rows)[rows.order]
    check_weight(weight, name, rows, fitting=fitting)
    return weight


def _read_numbers(
    frame: pd.DataFrame, names: Sequence[str], rows: Rows, policy: Policy, ignored: Flags
) -> Floats:
    columns = [to_floats(frame[name], name, rows)[rows.order] for name in names]
    values: Floats = _stack(columns, len(frame), np.float64)
    check_values(values, names, rows, masked=policy.keeps_missing, ignored=ignored)
    values[ignored] = np.nan
    return values


def _warn_of_rounding(frame: pd.DataFrame, names: Sequence[str], rows: Rows) -> None:
    large = [name for name in names if inexact(frame[name])]
    if large:
        values = to_floats(frame[large[0]], large[0], rows)[rows.order]
        first = rows.first(np.abs(values) >= 2**53)
        found = (
            f"columns {', '.join(map(repr, large))} hold whole numbers above 2**53, which float64"
            f" rounds: {first}."
        )
        warn(DataWarning(found, Cure("Subtract what they have in common, or divide them, first")))


def _refuse_other_kinds(frame: pd.DataFrame, coded: list[str], like: Panel, rows: Rows) -> None:
    for name in like.schema.covariates:
        if (name in like.categories) != (name in coded):
            now, then = ("numbers", "text")[:: 1 if name in like.categories else -1]
            first = f"{shown(frame[name].iloc[0])}{rows.at(0)}"
            raise WrongType(
                f"column {name!r} holds {now} here ({frame[name].dtype}, first: {first}), but held"
                f" {then} in fit. Convert it as it was then."
            )


def _read_codes(
    frame: pd.DataFrame,
    names: list[str],
    rows: Rows,
    policy: Policy,
    like: Panel | None,
    hidden: dict[str, Flags],
) -> tuple[dict[str, Ints], dict[str, tuple[str, ...]]]:
    codes: dict[str, Ints] = {}
    categories: dict[str, tuple[str, ...]] = {}
    unseen: dict[str, list[str]] = {}
    for name in names:
        values = frame[name]
        if is_text(values) and not isinstance(values.dtype, pd.CategoricalDtype):
            _refuse_digits(values, name, rows)
        known = None if like is None else like.categories[name]
        codes[name], categories[name], unseen[name] = encode(values, known)
        missing = np.asarray(values.isna())
        codes[name] = codes[name][rows.order]
        if missing.any():
            gaps = np.where(missing, np.nan, 0.0)[rows.order, None]
            masked = policy.keeps_missing
            check_values(gaps, [name], rows, masked=masked, ignored=hidden[name])
        codes[name][hidden[name]] = 0
    warn_unseen(unseen)
    return codes, categories


def encode(
    values: pd.Series, known: tuple[str, ...] | None
) -> tuple[Ints, tuple[str, ...], list[str]]:
    """Number the words of a categorical column from 1; 0 for a missing or an unknown one.

    Returns
    -------
    codes, categories
        A number for each row, and the words in the order of their numbers.
    unseen
        Words that are not among the ``known`` ones.
    """
    coded = isinstance(values.dtype, pd.CategoricalDtype)
    words_only = (values if coded else values.astype("str")).astype("category")
    # a word of the type that no row holds is one of other rows, perhaps of later ones
    category = words_only.cat.remove_unused_categories()
    words = [str(one) for one in category.cat.categories]
    categories = tuple(sorted(words)) if known is None else known
    number = {word: place + 1 for place, word in enumerate(categories)}
    table = np.array([0, *(number.get(word, 0) for word in words)], np.int64)
    codes: Ints = table[category.cat.codes.to_numpy().astype(np.int64) + 1]
    return codes, categories, [word for word in words if word not in number]


def warn_unseen(unseen: dict[str, list[str]]) -> None:
    """Warn once of the words in all columns that ``fit`` has not seen."""
    found = {name: words for name, words in unseen.items() if words}
    if not found:
        return
    said = "; ".join(
        f"column {name!r} holds words that fit has not seen ({_listed(words)})"
        for name, words in found.items()
    )
    warn(DataWarning(f"{said}; they count as unknown"))


def decode(codes: Ints, categories: tuple[str, ...]) -> Any:
    """Text of the codes that :func:`encode` gave, missing for 0."""
    words = np.array([None, *categories], dtype=object)
    return pd.Series(words[codes], dtype="str").array


def _refuse_digits(values: pd.Series, name: str, rows: Rows) -> None:
    """Refuse numbers as text, also among a few words."""
    number = pd.to_numeric(values.astype("str"), errors="coerce").notna().to_numpy()
    present = values.notna().to_numpy()
    if not present.any() or number[present].mean() <= _MOSTLY:
        return
    word = present & ~number
    row = int(np.argmax(word if word.any() else present))
    found = f"{values.iloc[row]!r}{rows.at(row)}"
    among = f", and {int(word.sum())} that are none (first: {found})" if word.any() else ""
    first = "" if among else f" (first: {found})"
    raise WrongType(
        f"column {name!r} holds numbers as text{first}{among}.",
        Cure(
            "Say which it is",
            code=f'frame["{name}"] = pd.to_numeric(frame["{name}"]), or .astype("category")',
        ),
    )


def _constant(static: Columns, rows: Rows) -> Columns:
    """One row a series, of columns that do not change within it."""
    first = static.take(rows.starts[:-1])
    _refuse_changes(static.values, first.values, static.names, rows)
    _refuse_changes(static.codes, first.codes, static.coded, rows)
    return first


def _refuse_changes(
    values: NDArray[Any], first: NDArray[Any], names: Sequence[str], rows: Rows
) -> None:
    if values.shape[1]:
        same = values == first.repeat(np.diff(rows.starts), axis=0)
        same |= np.isnan(values) if values.dtype.kind == "f" else False
        if not same.all():
            column = int(np.argmin(same.all(axis=0)))
            raise WrongType(
                f"static column {names[column]!r} changes within a series:"
                f" {rows.first(~same[:, column])}. Declare it as past or known instead."
            )


def _kind(values: pd.Series) -> str | None:
    if values.dtype == object:
        return _kind_of_objects(values)
    if isinstance(values.dtype, pd.ArrowDtype) or is_bool_dtype(values.dtype):
        return str(values.dtype)
    return None if str(values.dtype).lower() in _PLAIN else str(values.dtype)


def _kind_of_objects(values: pd.Series) -> str:
    items = values.dropna()
    kinds = {type(one) for one in items}
    if kinds and kinds <= {bool, np.bool_}:
        return "bool objects"
    return "Decimal" if kinds == {Decimal} else "objects"
