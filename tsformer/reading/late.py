"""Covariates that arrive late: how many of the latest rows do without them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tsformer.arrays import Flags, Ints
from tsformer.errors import ParameterError
from tsformer.panels.columns import Columns
from tsformer.panels.index import PanelIndex

__all__ = ["late_columns"]


_SHARE = 0.9
"""A dead sensor among many does not make its column late everywhere."""


def late_columns(given: Any, index: PanelIndex, target: Columns, past: Columns) -> dict[str, int]:
    """How many rows each past covariate ends before the targets do; only those that do.

    A weather report that comes two days late is missing in the last two rows whenever a forecast
    is made. A network must not learn to rely on what is only there afterwards. Where series
    differ, nine in ten of them have no more rows to wait for.

    Parameters
    ----------
    given
        What ``Schema(late=...)`` says; the larger number of rows counts.
    index, target, past
        The rows up to the moment at which this is asked, and no later ones.

    Raises
    ------
    ParameterError
        If something else than rows of past covariates was given.
    """
    names = (*past.names, *past.coded)
    said = _checked(given, names)
    if not names:
        return {}
    there = np.concatenate([~np.isnan(past.values), past.codes > 0], axis=1)
    measured = ~np.isnan(target.values)
    any_target = np.logical_or.reduce(measured, axis=1, keepdims=True)
    rows: Ints = _trailing(there, index) - _trailing(any_target, index)
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


def _trailing(there: Flags, index: PanelIndex) -> Ints:
    """``(series, columns)`` rows after the last one that is there."""
    row = np.where(there, index.within[:, None] + 1, 0)
    trailing: Ints = index.lengths[:, None] - np.maximum.reduceat(row, index.starts[:-1], axis=0)
    return trailing
