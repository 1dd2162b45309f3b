import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tsformer.errors import ParameterError
from tsformer.panels import Asinh, Clip, Policy, Schema, Shift
from tsformer.panels.chain import apply_all, fit_all
from tsformer.reading import read_panel


def panel_of(*series):
    """Each series of another length, two columns."""
    parts = []
    for name, values in zip("cab", series, strict=False):
        table = pd.DataFrame(np.asarray(values, float), columns=["y", "z"])
        stamps = pd.date_range("2024-01-01", periods=len(table))
        parts.append(table.assign(shop=name, day=stamps))
    schema = Schema(series="shop", time="day", target=["y", "z"], freq="D")
    return read_panel(pd.concat(parts), schema, Policy(missing="mask"))


def prices(seed=0, size=1.0, gaps=0.0):
    """Both signs and heavy tails."""
    random = np.random.default_rng(seed)
    series = [size * random.standard_t(2, size=(rows, 2)) for rows in (20, 12, 30)]
    for values in series:
        values[random.random(values.shape) < gaps] = np.nan
    return panel_of(*series)


def one(*values):
    return read_panel(np.asarray(values, float), policy=Policy(missing="mask"))


def test_median_and_deviation_are_learnt():
    fitted = Asinh().fit(one(1.0, 2.0, 3.0, 5.0, np.nan, 100.0), [6])
    assert fitted.offset == (3.0,)
    assert fitted.scale == pytest.approx((2.0 / 0.67449,), rel=1e-4)


def test_a_normal_column_has_its_deviation_as_the_scale():
    values = np.random.default_rng(0).normal(7, 3, size=20_000)
    fitted = Asinh().fit(read_panel(values), [20_000])
    assert fitted.offset[0] == pytest.approx(7, abs=0.1)
    assert fitted.scale[0] == pytest.approx(3, abs=0.1)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 99), exponent=st.integers(-12, 12))
def test_forecasts_come_back(seed, exponent):
    panel = prices(seed, size=10.0**exponent)
    fitted = fit_all([Asinh()], panel, panel.index.lengths)
    changed, inverse = apply_all(fitted, panel)
    values = changed.target.values[panel.index.starts[1] : panel.index.starts[1] + 4][
        None, ..., None
    ]
    truth = panel.target.values[panel.index.starts[1] : panel.index.starts[1] + 4][None, ..., None]
    found = inverse(values, np.array([1]), np.array([0]))
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-12 * 10.0**exponent)


def test_near_the_offset_it_is_a_line_and_far_from_it_a_logarithm():
    panel = one(10.0, 10.002, 10.0 + 2e6, 10.0 - 2e6)
    found = Asinh(10.0, scale=2.0).apply(panel).target.values.ravel()
    far = np.log(2e6)
    np.testing.assert_allclose(found, [0.0, 0.001, far, -far], rtol=1e-5)


def test_what_stands_behind_the_ends_teaches_nothing():
    ends = np.array([9, 12, 7])
    panel, other = prices(3), prices(3)
    row = np.arange(panel.n_rows) - panel.index.starts[:-1].repeat(panel.index.lengths)
    other.target.values[row >= ends.repeat(panel.index.lengths)] *= 1e3
    assert repr(Asinh().fit(panel, ends)) == repr(Asinh().fit(other, ends))
    assert repr(Asinh().fit(other, other.index.lengths)) != repr(Asinh().fit(other, ends))


def test_what_is_missing_stays_missing_and_teaches_nothing():
    panel = prices(1, gaps=0.3)
    changed = Asinh().fit(panel, panel.index.lengths).apply(panel).target.values
    np.testing.assert_array_equal(np.isnan(changed), np.isnan(panel.target.values))
    assert Asinh().fit(one(1.0, np.nan, 3.0), [3]).offset == (2.0,)


@pytest.mark.parametrize(
    ("values", "seen", "offset"),
    [
        ([5.0, 5.0, 5.0, 9.0], 4, 5.0),  # more than half alike: the mean deviation, 1
        ([5.0, 5.0, 5.0], 3, 5.0),
        ([1.0, 2.0], 0, 0.0),
    ],
)
def test_a_scale_is_found_for_any_column(values, seen, offset):
    fitted = Asinh().fit(one(*values), [seen])
    assert (fitted.offset, fitted.scale) == ((offset,), (1.0,))


def test_each_column_has_its_own_unless_one_is_given():
    panel = prices(2)
    fitted = Asinh().fit(panel, panel.index.lengths)
    assert len(set(fitted.offset)) == len(set(fitted.scale)) == 2
    given = Asinh(1.0, scale=(2.0, 3.0))
    assert given.fit(panel, panel.index.lengths).get_params() == given.get_params()
    around = Asinh(0.0).fit(panel, panel.index.lengths)
    deviation = np.median(np.abs(panel.target.values), axis=0)
    np.testing.assert_allclose(around.scale, deviation / 0.67449, rtol=1e-4)


def test_quantiles_stay_in_order_and_nothing_is_nan():
    panel = prices(6)
    fitted = fit_all([Asinh(), Shift(4)], panel, panel.index.lengths)
    values = np.sort(np.random.default_rng(0).normal(size=(2, 4, 2, 5)) * 1e3, axis=-1)
    found = apply_all(fitted, panel)[1](values, np.array([0, 2]), np.array([8, 20]))
    assert not np.isnan(found).any()
    assert (found[..., 1:] >= found[..., :-1]).all()
    assert np.isinf(found).any()  # out of float64: ``predict`` refuses it


def test_it_is_a_link_of_a_chain_and_leaves_the_panel_alone():
    panel, before = prices(7), prices(7).target.values
    changed, _ = apply_all(fit_all([Clip(low=-5.0), Asinh()], panel, panel.index.lengths), panel)
    np.testing.assert_array_equal(panel.target.values, before)
    assert changed.target.values.dtype == np.float64
    assert np.abs(np.median(changed.target.values, axis=0)).max() < 1e-12


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (Asinh(np.inf), "offset must be finite"),
        (Asinh((0.0, np.nan)), "offset must be finite"),
        (Asinh(0.0, scale=0.0), "scale must be positive"),
        (Asinh(0.0, scale=(1.0, -1.0)), "scale must be positive"),
        (Asinh("high"), "offset must be finite"),
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(wrong, says):
    with pytest.raises(ParameterError, match=says):
        wrong.check()
    with pytest.raises(ParameterError, match=says):
        wrong.apply(prices())


def test_it_must_have_learnt_and_fit_the_columns():
    panel = prices()
    with pytest.raises(ParameterError, match="has not learnt offset and scale"):
        Asinh().apply(panel)
    with pytest.raises(ParameterError, match="3 numbers for 2 target columns"):
        Asinh((0.0, 1.0, 2.0), scale=1.0).apply(panel)
    with pytest.raises(ParameterError, match=r"scale=.* 1 numbers for 2 target columns"):
        Asinh(0.0, scale=(1.0,)).apply(panel)


def test_a_clone_has_the_same_settings():
    fitted = Asinh().fit(prices(), [20, 12, 30])
    assert repr(clone(fitted)) == repr(fitted)
