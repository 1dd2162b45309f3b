"""Reading a frame on and on: what stops it is noted, set aside, and the rest looked at."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from tsformer.errors import (
    DuplicateTimestamp,
    FrameError,
    InfiniteValues,
    MissingValues,
    WrongFrequency,
)
from tsformer.panels import Panel, Policy, Schema
from tsformer.reading import read_panel
from tsformer.reading.roles import resolve
from tsformer.reading.rows import series_of
from tsformer.reading.tables import as_frame

__all__ = ["Attempt", "read_on"]


class Attempt(NamedTuple):
    """A panel, if one could be made at all, and every error on the way to it."""

    panel: Panel | None
    errors: list[FrameError]


def read_on(data: Any, schema: Schema | None, policy: Policy) -> Attempt:
    """Read a frame as ``fit`` would; after an error, set aside what caused it and read again.

    Repeated rows are dropped, a neighbour stands in for an infinite value, missing values are
    masked, absent rows put back: so that one look finds all of it. Other errors end the reading.
    """
    errors: list[FrameError] = []
    options = policy.get_params()
    for _ in range(_MOST):
        try:
            panel = read_panel(data, schema, Policy(**options))
        except FrameError as error:
            if str(error) not in map(str, errors):
                errors.append(error)
            try:
                data, options = _set_aside(error, data, schema, options)
            except FrameError:
                return Attempt(None, errors)
        else:
            return Attempt(panel, errors)
    return Attempt(None, errors)


_MOST = 8
"""Errors of one frame that are worth a line; each kind is set aside at most once."""


def _set_aside(
    error: FrameError, data: Any, schema: Schema | None, options: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The data or the options without the cause of this error; the error itself, if it stays."""
    if isinstance(error, DuplicateTimestamp):
        return _without_repeats(data, schema, error), options
    if isinstance(error, InfiniteValues):
        frame = as_frame(data)[0]
        finite = frame.replace([np.inf, -np.inf], np.nan)
        # a neighbour stands in: a gap of our own making would count among the missing values
        return frame.where(~frame.isin([np.inf, -np.inf]), finite.ffill().bfill()), options
    if isinstance(error, MissingValues) and options["missing"] == "error":
        return data, {**options, "missing": "mask"}
    if isinstance(error, WrongFrequency) and options["gaps"] == "error":
        return data, {**options, "gaps": "mask"}
    raise error


def _without_repeats(data: Any, schema: Schema | None, error: FrameError) -> pd.DataFrame:
    frame = as_frame(data)[0]
    roles = resolve(frame, schema)
    series = series_of(roles, frame)
    repeated = pd.DataFrame({"series": series, "stamp": roles.stamps}).duplicated().to_numpy()
    if not repeated.any():
        raise error
    return frame[~repeated]
