"""Rows, series and moments of series that stand end to end."""

import numpy as np
import pandas as pd
import pytest

from tsformer.panels.index import PanelIndex, row_within_series

DAYS = pd.date_range("2024-01-01", periods=3).append(pd.date_range("2024-01-02", periods=2))
INDEX = PanelIndex(pd.Index(["a", "b"]), np.array([0, 3, 5]), DAYS, pd.offsets.Day())


@pytest.mark.parametrize(
    ("lengths", "rows"),
    [([], []), ([0], []), ([2], [0, 1]), ([3, 0, 2], [0, 1, 2, 0, 1]), ([0, 1, 0], [0])],
)
def test_rows_count_from_zero_in_each_series(lengths: list[int], rows: list[int]) -> None:
    within = row_within_series(np.array(lengths, np.int64))
    assert within.dtype == np.int64
    assert within.tolist() == rows


def test_rows_before_an_end() -> None:
    assert INDEX.before([1, 2]).tolist() == [True, False, False, True, True]
    assert INDEX.before(1).tolist() == [True, False, False, True, False]
    assert not INDEX.before(0).any()


@pytest.mark.parametrize(
    ("begin", "end", "rows"),
    [
        (0, None, [0, 1, 2, 3, 4]),
        (-1, None, [2, 4]),
        (1, -1, [1]),
        (0, [1, 2], [0, 3, 4]),
        ([3, 1], None, [4]),
        (0, 99, [0, 1, 2, 3, 4]),
    ],
)
def test_rows_are_taken_of_each_series(begin, end, rows) -> None:  # type: ignore[no-untyped-def]
    piece = INDEX.take(begin, end)
    assert np.arange(5)[piece.rows].tolist() == rows
    assert piece.index.stamps.equals(DAYS[rows])
    assert piece.index.ids.tolist() == INDEX.ids[piece.series].tolist()
    assert piece.index.starts[-1] == len(rows)


def test_series_are_chosen_by_flag_or_position() -> None:
    assert INDEX.select([1, 0]).index.starts.tolist() == [0, 2, 5]
    assert INDEX.select(np.array([False, True])).index.stamps.equals(DAYS[3:])


def test_more_rows_stand_behind_or_before_each_series() -> None:
    behind, before = INDEX.extend(1), INDEX.pad([0, 2])
    assert behind.order.tolist() == [0, 1, 2, 5, 3, 4, 6]
    assert before.order.tolist() == [0, 1, 2, 5, 6, 3, 4]
    assert [*behind.index.stamps[[3, 6]].strftime("%F")] == ["2024-01-04", "2024-01-04"]
    assert [*before.index.stamps[3:5].strftime("%F")] == ["2023-12-31", "2024-01-01"]


def test_a_row_is_named_by_series_and_stamp() -> None:
    assert INDEX.where(3) == " of series 'b' at 2024-01-02 00:00:00"
    alone = PanelIndex(pd.RangeIndex(1), np.array([0, 5]), DAYS, pd.offsets.Day(), named=False)
    assert alone.where(4) == " at 2024-01-03 00:00:00"


def test_a_stamp_is_found_in_the_series_that_have_it() -> None:
    assert INDEX.row_of("2024-01-01").tolist() == [0, -1]
    assert INDEX.count_before("2024-01-02").tolist() == [1, 0]
    assert INDEX.count_through("2024-01-02").tolist() == [2, 1]
