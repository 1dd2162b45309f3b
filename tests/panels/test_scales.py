import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tsformer.errors import InfiniteValues, ParameterError
from tsformer.panels import Scales, Schema
from tsformer.panels.scales import PanelScales
from tsformer.reading import read_panel

KINDS = ["series", "global", "robust"]
each_kind = pytest.mark.parametrize("kind", KINDS)


def both_ways(values, starts, kind="series"):
    scales = Scales.fit(values, starts, kind=kind)
    series = np.arange(len(starts) - 1).repeat(np.diff(starts))
    return (
        scales,
        scales.apply(values, starts),
        scales.restore(scales.apply(values, starts), series),
    )


@each_kind
@settings(max_examples=100, deadline=None)
@given(
    exponent=st.floats(-300, 300),
    level=st.floats(-1e4, 1e4),
    noise=st.lists(st.floats(-1, 1), min_size=2, max_size=30),
)
def test_round_trip(kind, exponent, level, noise):
    values = (np.array(noise)[:, None] + level) * 10.0**exponent
    scales, scaled, back = both_ways(values, np.array([0, len(noise)]), kind)
    assert scaled.dtype == np.float32
    assert np.isfinite(scaled).all()
    assert (scales.scale > 0).all()
    span = max(float(np.abs(values - scales.offset).max()), float(np.abs(values).max()) * 1e-9)
    assert (
        float(np.abs(back - values).max()) <= 1e-6 * span + 1e-322
    )  # the last bits of subnormal numbers


@each_kind
@settings(max_examples=60, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False), rows=st.integers(1, 9))
def test_a_constant_comes_back_exactly(kind, value, rows):
    scales, scaled, back = both_ways(np.full((rows, 1), value), np.array([0, rows]), kind)
    assert scales.scale[0, 0] == 1
    assert (scaled == 0).all()
    assert (back == value).all()


@each_kind
@pytest.mark.parametrize(
    "values", [1e9 + 50 * np.sin(np.arange(50)), 1e-50 * np.arange(50.0), 1e30 * np.arange(50.0)]
)
def test_swings_that_float32_would_lose(values, kind):
    _, scaled, back = both_ways(values[:, None], np.array([0, 50]), kind)
    assert abs(float(scaled.std()) - 1) < (0.35 if kind == "robust" else 1e-4)
    np.testing.assert_allclose(back[:, 0], values, atol=1e-6 * np.ptp(values))


def test_each_series_and_column_has_its_own():
    values = np.array([[1, 10], [3, 30], [100, 7], [100, np.nan], [np.nan, np.nan]], float)
    scales = Scales.fit(values, np.array([0, 2, 4, 5]))
    assert scales.offset.tolist() == [[2, 20], [100, 7], [0, 0]]
    assert scales.scale.tolist() == [[1, 10], [1, 1], [1, 1]]
    scaled = scales.apply(values, np.array([0, 2, 4, 5]))
    assert np.isnan(scaled).tolist() == np.isnan(values).tolist()


@pytest.mark.parametrize("kind", [*KINDS, "none"])
def test_what_stands_behind_the_end_changes_nothing(kind):
    rng = np.random.default_rng(0)
    values, starts, ends = rng.normal(size=(20, 2)), np.array([0, 12, 20]), np.array([5, 8])
    before = Scales.fit(values, starts, ends, kind=kind)
    values[5:12] = 1e12
    after = Scales.fit(values, starts, ends, kind=kind)
    np.testing.assert_array_equal(before.offset, after.offset)
    np.testing.assert_array_equal(before.scale, after.scale)


def test_the_rows_before_the_end_are_what_is_fitted():
    rng = np.random.default_rng(0)
    values, starts, ends = rng.normal(size=(20, 2)), np.array([0, 12, 20]), np.array([5, 8])
    before = Scales.fit(values, starts, ends)
    np.testing.assert_allclose(before.offset[0], values[:5].mean(axis=0))
    np.testing.assert_allclose(before.scale[0], values[:5].std(axis=0))
    assert Scales.fit(values, starts, [0, 8]).scale[0].tolist() == [1, 1]


def test_restore_keeps_the_axes_between():
    scales = Scales(offset=np.array([[1.0], [2.0]]), scale=np.array([[10.0], [100.0]]))
    made = scales.restore(np.ones((3, 4, 1), np.float32), [0, 1, 1])
    assert made.shape == (3, 4, 1)
    assert made[:, 0, 0].tolist() == [11, 102, 102]
    assert made.dtype == np.float64


@pytest.mark.parametrize("kind", [*KINDS, "none"])
def test_no_columns_and_no_rows(kind):
    starts = np.array([0, 0, 3])
    assert Scales.fit(np.zeros((3, 0)), starts, kind=kind).offset.shape == (2, 0)
    expected = {"series": [0, 1], "robust": [0, 1], "global": [1, 1], "none": [0, 0]}[kind]
    assert Scales.fit(np.ones((3, 1)), starts, kind=kind).offset[:, 0].tolist() == expected
    assert Scales.fit(np.ones((0, 1)), np.array([0, 0]), kind=kind).scale.tolist() == [[1]]


def test_global_is_one_for_all_series():
    values = np.array([[1.0, 5], [3, 5], [np.nan, 5], [8, 5]])
    scales = Scales.fit(values, np.array([0, 2, 4]), kind="global")
    assert scales.offset.tolist() == [[4, 5]] * 2
    np.testing.assert_allclose(scales.scale, [[np.std([1, 3, 8]), 1]] * 2)


@settings(max_examples=60, deadline=None)
@given(rows=st.lists(st.integers(0, 9), min_size=1, max_size=4), seed=st.integers(0, 99))
def test_robust_is_median_and_interquartile_range(rows, seed):
    rng, starts = np.random.default_rng(seed), np.concatenate([[0], np.cumsum(rows)])
    values = rng.normal(size=(sum(rows), 2)) * 7 + 3
    values[rng.random(values.shape) < 0.2] = np.nan
    scales = Scales.fit(values, starts, kind="robust")
    for series in range(len(rows)):
        for column in range(2):
            own = values[starts[series] : starts[series + 1], column]
            own = own[~np.isnan(own)]
            low, median, high = np.quantile(own, [0.25, 0.5, 0.75]) if len(own) else (0, 0, 1.349)
            spread = (high - low) / 1.349 if len(own) != 1 else 1.0
            assert scales.offset[series, column] == pytest.approx(median, rel=1e-12)
            assert scales.scale[series, column] == pytest.approx(spread, rel=1e-9)


def test_robust_is_not_moved_by_outliers():
    values = np.arange(20.0)[:, None]
    plain = Scales.fit(values, np.array([0, 20]), kind="robust")
    values[-1] = 1e9
    spoilt = Scales.fit(values, np.array([0, 20]), kind="robust")
    assert (spoilt.offset, spoilt.scale) == (plain.offset, plain.scale)


def test_robust_without_a_range_takes_the_mean_absolute_deviation():
    values = np.array([5.0, 5, 5, 5, 5, 5, 5, 13])[:, None]
    scales = Scales.fit(values, np.array([0, 8]), kind="robust")
    assert (scales.offset.item(), scales.scale.item()) == (5, 1)
    values[-1] = 21
    assert Scales.fit(values, np.array([0, 8]), kind="robust").scale.item() == 2
    values[:4] = 5 - 1e-15  # rounding is no range
    assert Scales.fit(values, np.array([0, 8]), kind="robust").scale.item() == pytest.approx(2)


def test_none_leaves_the_units():
    values = np.array([[1e30], [np.nan], [1e-30]])
    scales, _, back = both_ways(values, np.array([0, 2, 3]), "none")
    assert (scales.offset == 0).all() and (scales.scale == 1).all()
    np.testing.assert_allclose(back, values, rtol=1e-7)


@each_kind
def test_the_smallest_numbers_come_back(kind):
    values = np.array([0.0, 5e-324, 2e-309, 3e-308])[:, None]
    back = both_ways(values, np.array([0, 4]), kind)[2]
    np.testing.assert_allclose(back, values, rtol=1e-6, atol=1e-313)


def test_a_value_beyond_float64_after_scaling_is_refused():
    scales = Scales.fit(np.array([[0.0], [1e-300]]), np.array([0, 2]))
    with pytest.raises(InfiniteValues, match=r"row 0, holds 1e\+300"):
        scales.apply(np.array([[1e300]]), np.array([0, 1]))


def test_an_unknown_kind():
    with pytest.raises(ParameterError, match="kind='minmax' is unknown; use one of 'series', 'gl"):
        Scales.fit(np.ones((2, 1)), np.array([0, 2]), kind="minmax")


def test_a_value_beyond_float32_is_refused():
    values = np.array([[1.0], [2.0], [1e300]])
    scales = Scales.fit(values, np.array([0, 3]), [2])
    with pytest.raises(InfiniteValues, match="row 2, holds 1e\\+300"):
        scales.apply(values, np.array([0, 3]))


@pytest.mark.parametrize(("kind", "target"), [("series", 3.0), ("none", 0.0)])
def test_each_role_has_its_own_location_from_the_rows_before_the_cutoff(kind, target):
    frame = pd.DataFrame(
        {
            "id": ["a"] * 4 + ["b"] * 4,
            "day": [*pd.date_range("2024-01-01", periods=4)] * 2,
            "y": [2.0, 4, 50, 60] * 2,
            "wind": [10.0, 30, 500, 600] * 2,
            "price": [5.0, 7, 80, 90] * 2,
            "size": [1.0] * 4 + [3.0] * 4,
        }
    )
    schema = Schema(series="id", target="y", past="wind", known="price", static="size")
    scales = PanelScales.fit(read_panel(frame, schema), np.array([2, 2]), kind=kind)
    assert scales.target.offset.tolist() == [[target], [target]]
    assert scales.past.offset.tolist() == [[20.0], [20.0]]
    assert scales.known.offset.tolist() == [[6.0], [6.0]]
    assert scales.static.offset.tolist() == [[2.0]]
