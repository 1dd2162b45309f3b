"""Validation rows that are handed in as a frame of their own."""

from typing import Any

import numpy as np
import pandas as pd

from tsformer.arrays import Ints
from tsformer.errors import ParameterError
from tsformer.panels import Panel
from tsformer.reading import read_panel

__all__ = ["joined", "rows_joined"]


def joined(data: Any, validation: pd.DataFrame) -> pd.DataFrame:
    """The data and the validation rows that continue them, as one frame."""
    if not isinstance(data, pd.DataFrame):
        raise ParameterError("training__validation is a frame, so the data must be one too")
    numbered = isinstance(data.index, pd.RangeIndex)
    return pd.concat([data, validation], ignore_index=numbered)


def rows_joined(validation: pd.DataFrame, panel: Panel) -> Ints:
    """(series,) how many of the latest rows of a panel are those of the validation frame."""
    added = read_panel(validation, panel.schema, panel.policy, like=panel)
    rows = np.zeros(panel.n_series, dtype=np.int64)
    places = panel.index.ids.get_indexer(
        added.index.ids
    )  # -1 for a series that was left out as too short
    rows[places[places >= 0]] = added.index.lengths[places >= 0]
    return rows
