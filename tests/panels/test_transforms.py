import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tsformer.errors import FrameError, InfiniteValues, ParameterError, SeriesTooShort
from tsformer.panels import Asinh, BoxCox, Clip, Log1p, Policy, Schema, Shift
from tsformer.panels.transforms import apply_all, fit_all
from tsformer.reading import read_panel

TRANSFORMS = {
    "log1p": [Log1p()],
    "box_cox": [BoxCox()],
    "root": [BoxCox(0.5)],
    "logarithm": [BoxCox(0.0)],
    "shift": [Shift(4)],
    "chain": [Log1p(), Shift(4)],
    "bent_chain": [Clip(low=0.0), BoxCox(), Shift(5)],
}
each = pytest.mark.parametrize("transforms", TRANSFORMS.values(), ids=TRANSFORMS)


def panel_of(*series, columns=("y",)):
    """Each series of another length; one column or several."""
    parts = []
    for name, values in zip("cab", series, strict=False):
        table = pd.DataFrame(np.reshape(values, (-1, len(columns))), columns=list(columns))
        stamps = pd.date_range("2024-01-01", periods=len(table))
        parts.append(table.assign(shop=name, day=stamps))
    schema = Schema(series="shop", time="day", target=list(columns), freq="D")
    return read_panel(pd.concat(parts), schema, Policy(missing="mask"))


def one(values):
    return read_panel(np.asarray(values, float), policy=Policy(missing="mask"))


def positive(seed=0, size=1.0, rows=(20, 12, 30), gaps=0.0):
    random = np.random.default_rng(seed)
    series = [size * random.lognormal(size=(n, 2)) for n in rows]
    for values in series:
        values[random.random(values.shape) < gaps] = np.nan
        values[:1] = size
    return panel_of(*series, columns=("y", "z"))


def windows(panel, horizon, first):
    """The targets (n, horizon, target, 1) after some origins of each series."""
    places = [
        (series, origin)
        for series, rows in enumerate(panel.index.lengths)
        for origin in range(first, rows - horizon + 1)
    ]
    series, origins = np.array(places).T
    rows = (panel.index.starts[series] + origins)[:, None] + np.arange(horizon)
    return series, origins, panel.target.values[rows][..., None]


def back(transforms, panel, horizon=4, first=5):
    """The targets of some windows, and what transforming and inverting makes of them."""
    changed, inverse = apply_all(transforms, panel)
    series, origins, truth = windows(panel, horizon, first)
    transformed = windows(changed, horizon, first)[2]
    return truth, inverse(transformed, series, origins)


@each
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), exponent=st.integers(-12, 12))
def test_forecasts_come_back_exactly(transforms, seed, exponent):
    panel = positive(seed, size=10.0**exponent)
    transforms = fit_all(transforms, panel, panel.index.lengths)
    truth, inverted = back(transforms, panel)
    # a root of small numbers, and Log1p of large ones after a Shift, share one level's rounding
    near = 1e-9 if "BoxCox(power=0.5)" in repr(transforms) else 1e-11
    np.testing.assert_allclose(inverted, truth, rtol=near, atol=near * 10.0**exponent)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 99), exponent=st.integers(-30, 30))
def test_a_learnt_power_keeps_digits_at_every_size(seed, exponent):
    panel = positive(seed, size=10.0**exponent)
    fitted = BoxCox().fit(panel, panel.index.lengths)
    truth, inverted = back([fitted], panel)
    np.testing.assert_allclose(inverted, truth, rtol=1e-9)
    assert np.ptp(fitted.apply(panel).target.values, axis=0).min() > 0.1


@each
def test_what_stands_behind_the_ends_teaches_nothing(transforms):
    panel, ends = positive(3), np.array([9, 12, 7])
    later = panel.target.values.copy()
    row = np.arange(panel.n_rows) - panel.index.starts[:-1].repeat(panel.index.lengths)
    later[row >= ends.repeat(panel.index.lengths)] *= 1e3
    other = positive(3)
    other.target.values[:] = later
    first, second = (fit_all(transforms, one, ends) for one in (panel, other))
    assert repr(first) == repr(second)
    assert repr(fit_all(transforms, other, other.index.lengths)) != repr(
        first
    ) or "None" not in repr(transforms)


@each
def test_a_row_depends_on_no_later_one(transforms):
    panel = positive(4, gaps=0.3)
    fitted = fit_all(transforms, panel, panel.index.lengths)
    before = apply_all(fitted, panel)[0].target.values
    cut = int(panel.index.starts[2]) + 11
    other = positive(4, gaps=0.3)
    other.target.values[cut:] = 7.0
    np.testing.assert_array_equal(apply_all(fitted, other)[0].target.values[:cut], before[:cut])


@each
def test_the_inverse_looks_at_nothing_from_the_origin_on(transforms):
    panel, other = positive(5), positive(5)
    fitted = fit_all(transforms, panel, panel.index.lengths)
    series, origins = np.array([2, 2]), np.array([9, 12])
    other.target.values[panel.index.starts[2] + 9 :] = 123.0
    values = np.random.default_rng(0).normal(size=(2, 4, 2, 3)) * 0.1
    first, second = (apply_all(fitted, one)[1](values, series, origins) for one in (panel, other))
    np.testing.assert_array_equal(first[0], second[0])


@each
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), spread=st.floats(1e-3, 1e3))
def test_quantiles_stay_in_order(transforms, seed, spread):
    panel = positive(6, gaps=0.2)
    fitted = fit_all(transforms, panel, panel.index.lengths)
    series, origins = np.array([0, 1, 2]), np.array([8, 12, 20])
    values = np.sort(np.random.default_rng(seed).normal(size=(3, 4, 2, 5)) * spread, axis=-1)
    inverted = apply_all(fitted, panel)[1](values, series, origins)
    assert not np.isnan(inverted).any()
    assert (inverted[..., 1:] >= inverted[..., :-1]).all()


@each
def test_the_panel_stays_as_it_is(transforms):
    panel = positive(7, gaps=0.2)
    before = panel.target.values.copy()
    fitted = fit_all(transforms, panel, panel.index.lengths)
    changed, inverse = apply_all(fitted, panel)
    inverse(np.zeros((1, 3, 2, 1)), np.array([0]), np.array([10]))
    np.testing.assert_array_equal(panel.target.values, before)
    assert changed.target.values.dtype == np.float64
    assert changed.index.ids.equals(panel.index.ids)


@each
def test_fitted_ones_are_plain_parameters(transforms):
    panel = positive(8)
    for fitted in fit_all(transforms, panel, panel.index.lengths):
        assert fitted.fit(panel, panel.index.lengths) is fitted
        assert repr(clone(fitted)) == repr(fitted)
        written = json.loads(json.dumps(fitted.get_params()))
        assert repr(type(fitted)(**written).apply(panel).target.values) == repr(
            fitted.apply(panel).target.values
        )


def test_no_transform_is_none_at_all():
    panel = positive()
    changed, inverse = apply_all((), panel)
    assert changed is panel
    values = np.ones((1, 2, 2, 1), np.float32)
    assert inverse(values, np.array([0]), np.array([3])).tolist() == values.tolist()
    assert fit_all((), panel, panel.index.lengths) == ()


class TestLog1p:
    def test_by_hand(self):
        changed = Log1p().apply(one([0, np.e - 1, np.nan])).target.values[:, 0]
        np.testing.assert_allclose(changed, [0, 1, np.nan])

    def test_the_place_of_a_value_without_logarithm_is_named(self):
        panel = panel_of([1.0, 2.0], [0.0, -0.5, -1.0, -3.0])
        message = (
            r"column 'y' holds -1: first of series 'a' at 2024-01-03 00:00:00 \(row 2\), 2 in all\."
            " Log1p takes values above -1.*constant"
        )
        with pytest.raises(FrameError, match=message):
            Log1p().apply(panel)

    def test_one_series_has_no_name(self):
        with pytest.raises(FrameError, match=r"'y0' holds -2: first at 1 \(row 1\), 1 in all"):
            Log1p().apply(one([1, -2]))

    def test_a_forecast_beyond_float64_is_infinite_and_not_silent(self):
        panel, zero = one([1, 2]), np.array([0])
        assert np.isinf(Log1p().invert(np.full((1, 1, 1, 1), 1e4), panel, zero, zero)).all()


class TestBoxCox:
    def test_each_column_has_its_power(self):
        random = np.random.default_rng(0)
        normal = 10 + random.normal(size=(500, 2))
        panel = panel_of(normal ** np.array([2.0, 1.0]), columns=("y", "z"))
        power = BoxCox().fit(panel, [500]).power
        assert power == pytest.approx((0.5, 1.0), abs=0.35)
        assert power[0] != power[1]

    def test_its_unit_is_the_geometric_mean_of_the_training_rows(self):
        fitted = BoxCox().fit(one([1.0, 100.0, 1e9]), [2])
        assert fitted.unit == pytest.approx((10.0,))
        assert BoxCox(unit=2.0).fit(one([1.0, 5.0]), [2]).unit == 2.0

    def test_a_column_never_observed_is_left_alone(self):
        panel = panel_of([[1.0, np.nan], [3.0, np.nan]], columns=("y", "z"))
        fitted = BoxCox().fit(panel, [2])
        assert (fitted.power[1], fitted.unit[1]) == (1.0, 1.0)
        assert np.isnan(fitted.apply(panel).target.values[:, 1]).all()

    def test_a_value_that_is_not_positive_is_named(self):
        panel = panel_of([1.0, 2.0], [3.0, 0.0, 4.0])
        with pytest.raises(
            FrameError, match=r"'y' holds 0: first of series 'a' .*\(row 1\).*Log1p"
        ):
            BoxCox().fit(panel, [3, 2])
        assert BoxCox().fit(panel, [1, 2]).power is not None
        with pytest.raises(FrameError, match="BoxCox takes values above 0"):
            BoxCox(1.0).apply(panel)

    def test_a_power_too_large_for_a_value_is_refused(self):
        with pytest.raises(InfiniteValues, match=r"holds 1e\+200.*smaller power"):
            BoxCox(2).apply(one([1.0, 1e200]))

    def test_it_must_be_fitted(self):
        with pytest.raises(ParameterError, match="call fit first"):
            BoxCox().apply(one([1, 2]))

    @pytest.mark.parametrize(
        "made", [BoxCox("x"), BoxCox(np.inf), BoxCox((1, np.nan)), BoxCox(1, unit=0)]
    )
    def test_what_is_no_power_is_refused(self, made):
        with pytest.raises(ParameterError, match=r"power|unit"):
            made.apply(one([1, 2]))

    def test_one_power_a_column(self):
        with pytest.raises(ParameterError, match=r"2 numbers for 1 target columns \('y0',\)"):
            BoxCox((0.5, 1.0)).apply(one([1, 2]))

    def test_beyond_the_range_lies_its_edge(self):
        panel, zero = one([1, 2]), np.array([0])
        low = np.full((1, 1, 1, 1), -9.0)
        assert BoxCox(0.5).invert(low, panel, zero, zero).ravel().tolist() == [0]
        assert BoxCox(-0.5).invert(-low, panel, zero, zero).ravel().tolist() == [np.inf]


class TestClip:
    def test_forecasts_are_moved_to_the_nearest_bound(self):
        panel, zero = one([1, 2]), np.array([0])
        values = np.array([-1.0, 0.5, 3.0]).reshape(1, 1, 1, 3)
        assert Clip(high=1).invert(values, panel, zero, zero).ravel().tolist() == [-1, 0.5, 1]
        both = Clip(low=0, high=1)
        assert both.invert(values, panel, zero, zero).ravel().tolist() == [0, 0.5, 1]
        assert both.apply(panel) is panel

    @pytest.mark.parametrize(
        "made, said",
        [
            (Clip(), "clips nothing"),
            (Clip(low=2, high=1), r"Clip\(high=1, low=2\): low must not be above high"),
            (Clip(low=float("nan")), "low must not"),
            (Clip(low="0"), "low must be a number"),
        ],
    )
    def test_what_clips_nothing_is_refused(self, made, said):
        for run in (
            made.check,
            lambda: made.apply(one([1, 2])),
            lambda: fit_all([made], one([1, 2]), 1),
        ):
            with pytest.raises(ParameterError, match=said):
                run()


class TestShift:
    def test_by_hand_with_gaps_and_series_of_unequal_length(self):
        nan = np.nan
        # series are sorted: "a" comes before "c"
        panel = panel_of([5, 6, 8, nan, 3, 1, 2], [1.0, nan, 4.0])
        changed = Shift(2).apply(panel).target.values[:, 0]
        assert changed[:3].tolist() == [pytest.approx(nan, nan_ok=True)] * 2 + [3]
        # the fifth row looks at the third, the sixth at the second as the fourth is missing
        np.testing.assert_array_equal(changed[3:], [nan, nan, 3, nan, -5, -5, -1])

    def test_a_phase_never_observed_is_masked_and_forecast_from_the_latest(self):
        nan = np.nan
        panel = one([1.0, nan, 3.0, nan, 5.0, nan])
        changed = Shift(2).apply(panel).target.values[:, 0]
        np.testing.assert_array_equal(changed, [nan, nan, 2, nan, 2, nan])
        values = np.zeros((1, 2, 1, 1))
        made = Shift(2).invert(values, panel, np.array([0]), np.array([6]))
        assert made.ravel().tolist() == [5, 5]

    def test_a_phase_known_from_long_ago_comes_back(self):
        target = np.full(50, np.nan)
        target[[1, 40]] = 7.0, 9.0
        changed = Shift(3).apply(one(target)).target.values[:, 0]
        np.testing.assert_array_equal(changed[40], 2.0)  # 40 and 1 share a phase of 3
        made = Shift(3).invert(
            np.zeros((2, 1, 1, 1)), one(target), np.array([0, 0]), np.array([40, 49])
        )
        assert made.ravel().tolist() == [7, 9]

    def test_nothing_observed_at_all_stays_missing(self):
        panel = one([np.nan] * 3 + [1.0])
        made = Shift(2).invert(np.zeros((1, 1, 1, 1)), panel, np.array([0]), np.array([3]))
        assert np.isnan(made).all()

    @settings(max_examples=50, deadline=None)
    @given(
        lag=st.integers(1, 6),
        share=st.floats(0, 0.95),
        rows=st.lists(st.integers(1, 25), min_size=1, max_size=3),
        seed=st.integers(0, 99),
    )
    def test_equals_walking_back_row_by_row(self, lag, share, rows, seed):
        random = np.random.default_rng(seed)
        series = [np.where(random.random(n) < share, np.nan, random.normal(size=n)) for n in rows]
        for values in series:
            values[0] = 1.0
        panel = panel_of(*series)
        expected = np.full(panel.n_rows, np.nan)
        for begin, end in zip(panel.index.starts[:-1], panel.index.starts[1:], strict=True):
            values = panel.target.values[begin:end, 0]
            for row in range(len(values)):
                known = [values[k] for k in range(row - lag, -1, -lag) if not np.isnan(values[k])]
                expected[begin + row] = values[row] - known[0] if known else np.nan
        np.testing.assert_array_equal(Shift(lag).apply(panel).target.values[:, 0], expected)

    def test_rows_beyond_the_end_may_be_forecast(self):
        panel = panel_of([1.0, 2.0, 3.0, 4.0], [7.0, 8.0])
        values = np.array([10.0, 20.0]).reshape(1, 1, 1, 2).repeat(2, axis=1).repeat(2, axis=0)
        made = Shift(2).invert(values, panel, np.array([0, 1]), np.array([2, 4]))
        assert made[0, :, 0].tolist() == [[17, 27], [18, 28]]
        assert made[1, :, 0].tolist() == [[13, 23], [14, 24]]

    def test_too_short_a_history_is_named(self):
        panel = panel_of([1.0, 2.0, 3.0, 4.0], [7.0, 8.0])
        with pytest.raises(SeriesTooShort, match=r"series 'a' has 2 rows .* needs 3 \(1 of 2"):
            Shift(3).invert(np.zeros((2, 1, 1, 1)), panel, np.array([1, 0]), np.array([4, 2]))

    def test_a_lag_must_reach_over_gap_and_horizon(self):
        Shift(4).check_reach(4)
        for step in (Log1p(), BoxCox(), Clip(low=0)):
            step.check_reach(1000)
        said = r"Shift\(lag=3\): 4 steps.*sums of quantiles are not.*at least 4.*scaling=\"last\""
        with pytest.raises(ParameterError, match=said):
            Shift(3).check_reach(4)
        with pytest.raises(ParameterError, match="4 steps"):
            Shift(3).invert(np.zeros((1, 4, 1, 1)), one(range(9)), np.array([0]), np.array([5]))

    def test_its_memory_is_its_lag(self):
        assert [Shift(7).memory, Log1p().memory] == [7, 0]

    def test_a_lag_of_0_is_refused(self):
        with pytest.raises(ParameterError, match="lag must be at least 1"):
            Shift(0).apply(one([1, 2]))


@pytest.mark.parametrize(
    "wrong", [BoxCox((None, 0.5)), Asinh((None, 0.0)), Asinh(scale=(1.0, 0.0))]
)
def test_a_number_for_each_column_means_for_each(wrong):
    with pytest.raises(ParameterError, match="must be"):
        wrong.check()
