"""Covariates that arrive late: how many of the latest rows do without them."""

import numpy as np
from numpy.typing import NDArray

from tsformer.frames import Panel

__all__ = ["late_rows"]


def late_rows(panel: Panel) -> tuple[int, ...]:
    """How many rows each past covariate ends before the targets do, in the median series.

    A weather report that comes two days late is missing in the last two rows whenever a forecast
    is made. A network must not learn to rely on what is only there afterwards: ``WindowDataset``
    hides as many rows of every context.

    Returns
    -------
    tuple of int
        One for each numeric past covariate, then one for each categorical one.

    Examples
    --------
    >>> import pandas as pd
    >>> from tsformer.frames import Policy, Schema
    >>> frame = pd.DataFrame({"y": [1.0, 2, 3, 4], "rain": [0.0, 5, None, None]})
    >>> late_rows(Panel.from_frame(frame, Schema(past="rain"), Policy(missing="mask")))
    (2,)
    """
    covariates = np.concatenate([~np.isnan(panel.past), panel.past_codes > 0], axis=1)
    if not covariates.shape[1]:
        return ()
    target = np.logical_not(np.isnan(panel.target)).any(axis=1).reshape(-1, 1)
    late = np.subtract(_trailing(panel, covariates), _trailing(panel, target))
    return tuple(int(rows) for rows in np.median(np.maximum(late, 0), axis=0))


def _trailing(panel: Panel, there: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(series, columns) rows after the last one that is there."""
    row = np.arange(1, panel.n_rows + 1) - panel.starts[:-1].repeat(panel.lengths)
    last = np.maximum.reduceat(np.where(there, row[:, None], 0), panel.starts[:-1], axis=0)
    return panel.lengths[:, None] - last
