"""Folds of scikit-learn that cut a series into pieces without a past."""

import inspect
from typing import Any

import numpy as np
import pandas as pd

from tsformer.arrays import Ints
from tsformer.cures import Cure
from tsformer.errors import FrameError, ParameterError
from tsformer.panels import Schema
from tsformer.reading.roles import resolve
from tsformer.reading.rows import series_of
from tsformer.reading.tables import as_frame

__all__ = ["refuse_folds"]

_CUTTING = "_safe_split"
_FOLDS = "sklearn.model_selection."


def refuse_folds(estimator: Any) -> None:
    """Refuse folds whose rows to score follow no history, while scikit-learn cuts a frame by them.

    scikit-learn turns whatever ``fit`` and ``score`` raise within a fold into a NaN score and a
    page of warnings a fold. It asks for the tags of an estimator before that, where it cuts the
    rows, and there an error is told to the caller. Elsewhere nothing is looked at.

    Raises
    ------
    ParameterError
        If rows of a series are to be scored, and none of those that are fitted on is with them.
    """
    rows = _being_cut()
    if rows is None:
        return
    data, train, test = rows
    if not len(train) or np.isin(train[[0, -1]], test).any() or np.isin(train, test).any():
        return
    shared, count = _shared_series(data, estimator.schema, train, test)
    if not shared:
        return
    horizon, gap = estimator.horizon, estimator.gap
    folds = max(1, min(3, (count - gap) // horizon - 2))
    behind = f", gap={gap}" if gap else ""
    raise ParameterError(
        "folds that have the rows to score apart from those to fit on, as KFold and"
        " TimeSeriesSplit have them, leave a forecast without its history.",
        Cure("Cut along time", code=f"cv=RollingOrigin(folds={folds}, horizon={horizon}{behind})"),
    )


def _being_cut() -> tuple[Any, Ints, Ints] | None:
    """The rows that a caller further up cuts to be scored: all of them, those of fit, these."""
    frame = inspect.currentframe()
    for _ in range(6):
        frame = None if frame is None else frame.f_back
        if frame is None:
            return None
        if frame.f_code.co_name == _CUTTING:
            given, above = frame.f_locals, frame.f_back
            caller = "" if above is None else str(above.f_globals.get("__name__"))
            if not caller.startswith(_FOLDS) or given.get("train_indices") is None:
                return None
            return given["X"], np.asarray(given["train_indices"]), np.asarray(given["indices"])
    return None


def _shared_series(data: Any, schema: Schema | None, train: Ints, test: Ints) -> tuple[bool, int]:
    """Whether a series has rows of both, and how many rows the longest one has."""
    try:
        frame = as_frame(data)[0]
        series = series_of(resolve(frame, None if schema is None else schema.by_text()), frame)
    except (FrameError, ParameterError, ValueError, TypeError):
        return False, 0  # a fit says what is wrong with the data
    shared = np.intersect1d(series[train], series[test])
    return bool(len(shared)), int(pd.Series(series).value_counts().max())
