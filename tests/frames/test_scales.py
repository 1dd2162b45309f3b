import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.errors import InfiniteValues
from tsformer.frames import Scales


def both_ways(values, starts):
    scales = Scales.fit(values, starts)
    series = np.arange(len(starts) - 1).repeat(np.diff(starts))
    return (
        scales,
        scales.apply(values, starts),
        scales.restore(scales.apply(values, starts), series),
    )


@settings(max_examples=200, deadline=None)
@given(
    exponent=st.floats(-300, 300),
    level=st.floats(-1e4, 1e4),
    noise=st.lists(st.floats(-1, 1), min_size=2, max_size=30),
)
def test_round_trip(exponent, level, noise):
    values = (np.array(noise)[:, None] + level) * 10.0**exponent
    scales, scaled, back = both_ways(values, np.array([0, len(noise)]))
    assert scaled.dtype == np.float32
    assert np.isfinite(scaled).all()
    assert (scales.scale > 0).all()
    span = max(float(np.abs(values - scales.offset).max()), float(np.abs(values).max()) * 1e-9)
    assert float(np.abs(back - values).max()) <= 1e-6 * span


@settings(max_examples=100, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False), rows=st.integers(1, 9))
def test_a_constant_comes_back_exactly(value, rows):
    scales, scaled, back = both_ways(np.full((rows, 1), value), np.array([0, rows]))
    assert scales.scale[0, 0] == 1
    assert (scaled == 0).all()
    assert (back == value).all()


@pytest.mark.parametrize(
    "values", [1e9 + 50 * np.sin(np.arange(50)), 1e-50 * np.arange(50.0), 1e30 * np.arange(50.0)]
)
def test_swings_that_float32_would_lose(values):
    _, scaled, back = both_ways(values[:, None], np.array([0, 50]))
    assert abs(float(scaled.std()) - 1) < 1e-4
    np.testing.assert_allclose(back[:, 0], values, atol=1e-6 * np.ptp(values))


def test_each_series_and_column_has_its_own():
    values = np.array([[1, 10], [3, 30], [100, 7], [100, np.nan], [np.nan, np.nan]], float)
    scales = Scales.fit(values, np.array([0, 2, 4, 5]))
    assert scales.offset.tolist() == [[2, 20], [100, 7], [0, 0]]
    assert scales.scale.tolist() == [[1, 10], [1, 1], [1, 1]]
    scaled = scales.apply(values, np.array([0, 2, 4, 5]))
    assert np.isnan(scaled).tolist() == np.isnan(values).tolist()


def test_what_stands_behind_the_end_changes_nothing():
    rng = np.random.default_rng(0)
    values, starts, ends = rng.normal(size=(20, 2)), np.array([0, 12, 20]), np.array([5, 8])
    before = Scales.fit(values, starts, ends)
    values[5:12] = 1e12
    after = Scales.fit(values, starts, ends)
    np.testing.assert_array_equal(before.offset, after.offset)
    np.testing.assert_array_equal(before.scale, after.scale)
    np.testing.assert_allclose(before.offset[0], values[:5].mean(axis=0))
    np.testing.assert_allclose(before.scale[0], values[:5].std(axis=0))
    assert Scales.fit(values, starts, [0, 8]).scale[0].tolist() == [1, 1]


def test_restore_keeps_the_axes_between():
    scales = Scales(offset=np.array([[1.0], [2.0]]), scale=np.array([[10.0], [100.0]]))
    made = scales.restore(np.ones((3, 4, 1), np.float32), [0, 1, 1])
    assert made.shape == (3, 4, 1)
    assert made[:, 0, 0].tolist() == [11, 102, 102]
    assert made.dtype == np.float64


def test_no_columns_and_no_rows():
    starts = np.array([0, 0, 3])
    assert Scales.fit(np.zeros((3, 0)), starts).offset.shape == (2, 0)
    assert Scales.fit(np.ones((3, 1)), starts).offset[:, 0].tolist() == [0, 1]


def test_a_value_beyond_float32_is_refused():
    values = np.array([[1.0], [2.0], [1e300]])
    scales = Scales.fit(values, np.array([0, 3]), [2])
    with pytest.raises(InfiniteValues, match="1e\\+300 in row 2"):
        scales.apply(values, np.array([0, 3]))
