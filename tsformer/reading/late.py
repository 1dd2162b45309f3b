"""Covariates that arrive late: how many of the latest rows do without them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tsformer.errors import ParameterError

__all__ = ["late_columns"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_SHARE = 0.9
"""A dead sensor among many does not make its column late everywhere."""


def late_columns(
    given: Any, names: Sequence[str], there: Flags, target: Flags, starts: Ints
) -> dict[str, int]:
    """How many rows each past covariate ends before the targets do; only those that do.

    A weather report that comes two days late is missing in the last two rows whenever a forecast
    is made. A network must not learn to rely on what is only there afterwards. Where series
    differ, nine in ten of them have no more rows to wait for.

    Parameters
    ----------
    given
        What ``Schema(late=...)`` says; the larger number of rows counts.
    names
        Of the past covariates.
    there
        ``(rows, columns)`` which values are there, in the order of the names.
    target
        ``(rows,)`` in which rows a target is.
    starts
        ``(series + 1,)``.

    Raises
    ------
    ParameterError
        If something else than rows of past covariates was given.
    """
    said = _checked(given, names)
    if not names:
        return {}
    rows = _trailing(there, starts) - _trailing(target[:, None], starts)
    found = np.quantile(np.maximum(rows, 0), _SHARE, axis=0, method="higher")
    both = {name: max(said.get(name, 0), int(one)) for name, one in zip(names, found, strict=True)}
    return {name: one for name, one in both.items() if one}


def _checked(given: Any, names: Sequence[str]) -> dict[str, int]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise ParameterError(f"Schema(late={given!r}): give rows by column, such as {{'rain': 2}}")
    for name, rows in given.items():
        if name not in names:
            raise ParameterError(
                f"Schema(late={given!r}): {name!r} is no past covariate; they are"
                f" {', '.join(map(repr, names)) or 'none'}"
            )
        if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 0:
            raise ParameterError(
                f"Schema(late={given!r}): {rows!r} for {name!r} is no number of rows"
            )
    return {name: int(rows) for name, rows in given.items()}


def _trailing(there: Flags, starts: Ints) -> Ints:
    """``(series, columns)`` rows after the last one that is there."""
    lengths = np.diff(starts)
    row = np.arange(1, len(there) + 1) - starts[:-1].repeat(lengths)
    last = np.maximum.reduceat(np.where(there, row[:, None], 0), starts[:-1], axis=0)
    trailing: Ints = lengths[:, None] - last
    return trailing
