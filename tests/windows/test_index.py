import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsformer.windows import WindowIndex
from tsformer.windows.index import SeriesSampler

lengths = st.lists(st.integers(0, 12), min_size=1, max_size=5)
small = st.integers(1, 5)


def starts_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def windows(index):
    series, origins = index.locate(np.arange(len(index)))
    return list(zip(series.tolist(), origins.tolist(), strict=True))


@given(lengths, small, small)
def test_the_windows_are_every_full_one_in_order(lengths, context, horizon):
    index = WindowIndex.of_rows(starts_of(lengths), context=context, horizon=horizon)
    expected = [
        (series, origin)
        for series, rows in enumerate(lengths)
        for origin in range(context, rows - horizon + 1)
    ]
    assert windows(index) == expected
    assert len(index) == sum(max(0, rows - context - horizon + 1) for rows in lengths)


@given(lengths, small, small)
def test_no_window_crosses_into_another_series(lengths, context, horizon):
    starts = starts_of(lengths)
    index = WindowIndex.of_rows(starts, context=context, horizon=horizon)
    series, origins = index.locate(np.arange(len(index)))
    begin, end = starts[series] + origins - context, starts[series] + origins + horizon
    assert (begin >= starts[series]).all()
    assert (end <= starts[series + 1]).all()


@given(lengths, small, small, st.integers(0, 12), st.integers(0, 12), st.integers(1, 4))
def test_forecasts_lie_between_begin_and_end(lengths, context, horizon, begin, end, step):
    starts = starts_of(lengths)
    ends = np.minimum(np.array(lengths), end)
    index = WindowIndex.of_rows(
        starts, context=context, horizon=horizon, begin=begin, end=ends, step=step
    )
    expected = [
        (series, origin)
        for series, rows in enumerate(lengths)
        for origin in range(max(context, begin), min(rows, end) - horizon + 1, step)
    ]
    assert windows(index) == expected


@given(lengths, small, st.integers(1, 6), st.integers(0, 30))
def test_origins_lie_whole_steps_away_from_an_anchor(lengths, context, step, anchor):
    cut = {"context": context, "horizon": 2}
    anchors = np.array(lengths) + anchor
    index = WindowIndex.of_rows(starts_of(lengths), **cut, step=step, anchor=anchors)
    expected = [
        (series, origin)
        for series, rows in enumerate(lengths)
        for origin in range(context, rows - 1)
        if (rows + anchor - origin) % step == 0
    ]
    assert windows(index) == expected


def test_the_last_window_ends_with_the_series():
    index = WindowIndex.of_rows(np.array([0, 10]), context=4, horizon=3)
    assert windows(index)[-1] == (0, 7)


def test_begin_may_differ_by_series():
    index = WindowIndex.of_rows(np.array([0, 10, 20]), context=2, horizon=2, begin=np.array([8, 6]))
    assert windows(index) == [(0, 8), (1, 6), (1, 7), (1, 8)]


@pytest.mark.parametrize("lengths", [[], [0], [3], [3, 0, 2]])
def test_series_that_are_too_short_have_no_window(lengths):
    index = WindowIndex.of_rows(starts_of(lengths), context=4, horizon=2)
    assert len(index) == 0


def test_memory_grows_with_series_and_not_with_windows():
    index = WindowIndex.of_rows(np.array([0, 10**9]), context=100, horizon=10)
    assert len(index) == 10**9 - 109
    series, origins = index.locate(np.array([0, len(index) - 1]))
    assert series.tolist() == [0, 0]
    assert origins.tolist() == [100, 10**9 - 10]


@given(lengths, st.integers(1, 40))
def test_thinned_windows_are_some_of_them_in_order(lengths, most):
    index = WindowIndex.of_rows(starts_of(lengths), context=1, horizon=1)
    thinned = index.thinned(most)
    every, some = windows(index), windows(thinned)
    assert len(thinned) == len(some) == min(most, len(every))
    assert some == sorted(set(some) & set(every))
    assert (
        thinned.counts.tolist()
        == np.bincount([series for series, _ in some], minlength=len(lengths)).tolist()
    )


def test_thinned_windows_are_spread_evenly_and_fall_into_no_season():
    index = WindowIndex(first=np.zeros(4, dtype=int), last=np.full(4, 2399))
    series, origins = index.thinned(960).locate(np.arange(960))
    assert np.bincount(series).tolist() == [240] * 4
    assert np.abs(np.bincount(origins % 24) - 40).max() <= 10


def test_thinning_twice_is_thinning_once_to_the_less():
    index = WindowIndex(first=np.array([0]), last=np.array([9999]))
    assert windows(index.thinned(500).thinned(40)) == windows(index.thinned(40))
    assert len(index.thinned(40).thinned(500)) == 40


def test_one_series_alone_is_drawn_as_often_as_there_are_windows():
    index = WindowIndex(first=np.array([0]), last=np.array([6]))
    assert len(list(SeriesSampler(index, seed=0))) == len(index) == 6
