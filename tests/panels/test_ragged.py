"""Rows within their series."""

import numpy as np
import pytest

from tsformer.panels.ragged import row_within_series


@pytest.mark.parametrize(
    ("lengths", "rows"),
    [([], []), ([0], []), ([2], [0, 1]), ([3, 0, 2], [0, 1, 2, 0, 1]), ([0, 1, 0], [0])],
)
def test_rows_count_from_zero_in_each_series(lengths: list[int], rows: list[int]) -> None:
    within = row_within_series(np.array(lengths, np.int64))
    assert within.dtype == np.int64
    assert within.tolist() == rows
