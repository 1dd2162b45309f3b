"""What became something else on the way in: one INFO line for each kind of conversion."""

import logging
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

from tsformer.reading.spots import Roles
from tsformer.time.stamps import how_spelt, is_text

__all__ = ["listed", "say_numbers", "say_time"]

_LOG = logging.getLogger("tsformer")
_PLAIN = {
    "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
}  # fmt: skip
"""Types whose values are what they were in float64; large whole numbers are warned of."""


def listed(names: Sequence[Any], *, most: int = 5) -> str:
    """Write names in quotes, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
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
        _LOG.info("%s %s converted from %s to %s", what, listed(names), kind, made)


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
        _LOG.info("%s: combined with %s to %s", what, listed(parts), stamps)
    elif roles.time.spelling == "years":
        _LOG.info("%s: years, which stay whole numbers", what)
    elif is_text(given) or roles.time.spelling is not None:
        _LOG.info("%s: %s converted to %s", what, how_spelt(given, roles.time.spelling), stamps)
    elif isinstance(given.dtype, (pd.CategoricalDtype, pd.ArrowDtype)) or given.dtype == object:
        kind = "objects" if given.dtype == object else given.dtype
        _LOG.info("%s: %s converted to %s", what, kind, stamps)


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
