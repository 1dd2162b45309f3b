"""What holds for every forecaster, whatever it is made of."""

import copy
import pickle
import random

import numpy as np
import pandas as pd
import pytest
import registry
import torch
from jaxtyping import config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import tsformer
from tsformer import Forecaster, Policy, Schema, estimators, models
from tsformer.errors import MissingColumn, MissingValues, ParameterError
from tsformer.estimators import BASELINES, PanelForecaster
from tsformer.models import Architecture

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")

HORIZON = registry.HORIZON
FORECASTERS = registry.gathered((*registry.MODELS, *registry.BASELINES), "forecasters")
POINT_ALONE = {
    name
    for name, one in FORECASTERS.items()
    if getattr(one, "head", None) is not None and not one.head.has_spread
}
every = pytest.mark.parametrize("name", FORECASTERS)


def series(rows, seed):
    noise, steps = np.random.default_rng(seed), np.arange(rows)
    return 10 * np.sin(steps * 0.7 + seed) + 0.1 * steps + noise.normal(size=rows) + 50


def daily(rows=80, seed=0):
    return pd.DataFrame({"day": pd.date_range("2024-01-01", periods=rows), "y": series(rows, seed)})


def panel_frame():
    parts = [daily(60 + 10 * at, at).assign(shop=name) for at, name in enumerate("bca")]
    return pd.concat(parts, ignore_index=True)


def made(name, **changes):
    return clone(FORECASTERS[name]).set_params(**changes)


@pytest.fixture(scope="module")
def fitted():
    """Every forecaster fitted on one series, and on three; not to be changed."""
    found = {}

    def get(name, many=False):
        if (name, many) not in found:
            found[name, many] = made(name).fit(panel_frame() if many else daily())
        return found[name, many]

    return get


def test_every_public_forecaster_is_here():
    kinds = registry.public(estimators, PanelForecaster)
    assert kinds >= registry.public(tsformer, PanelForecaster)
    assert {type(one) for one in FORECASTERS.values()} == kinds
    assert kinds - {Forecaster} == set(BASELINES)
    trained = {type(one.model) for one in FORECASTERS.values() if isinstance(one, Forecaster)}
    assert trained == registry.public(models, Architecture)


@every
def test_the_forecast_begins_one_step_after_the_last_row(name, fitted):
    forecast = fitted(name).predict()
    assert forecast["day"].tolist() == list(pd.date_range("2024-03-21", periods=HORIZON))
    assert list(forecast.columns) == ["day", "y"]
    assert np.isfinite(forecast["y"]).all()


@every
def test_every_series_goes_on_from_its_own_end(name, fitted):
    forecast = fitted(name, many=True).predict()
    assert forecast["shop"].tolist() == [shop for shop in "abc" for _ in range(HORIZON)]
    ends = panel_frame().groupby("shop")["day"].max()
    first = forecast.groupby("shop")["day"].min()
    assert ((first - ends) == pd.Timedelta(days=1)).all()


@every
@pytest.mark.parametrize("many", [False, True])
def test_the_history_of_the_fit_is_the_default(name, many, fitted):
    forecaster, data = fitted(name, many), panel_frame() if many else daily()
    pd.testing.assert_frame_equal(forecaster.predict(data), forecaster.predict())


@every
def test_a_shorter_horizon_is_the_beginning_of_the_full_one(name, fitted):
    full = fitted(name).predict()
    for steps in range(1, HORIZON + 1):
        pd.testing.assert_frame_equal(fitted(name).predict(horizon=steps), full[:steps])


@every
@pytest.mark.parametrize("steps", [HORIZON + 1, 0, -1])
def test_another_horizon_is_refused(name, steps, fitted):
    with pytest.raises(ParameterError, match=f"horizon={steps}.*1 to {HORIZON} steps"):
        fitted(name).predict(horizon=steps)


@every
def test_quantiles_stand_beside_their_target_and_never_cross(name, fitted):
    if name in POINT_ALONE:
        with pytest.raises(ParameterError, match=r"head=Quantiles\(\)"):
            fitted(name).predict(quantiles=[0.5])
        return
    forecast = fitted(name, many=True).predict(quantiles=np.array([0.1, 0.5, 0.9]))
    assert list(forecast.columns) == ["shop", "day", "y", "y_q0.1", "y_q0.5", "y_q0.9"]
    levels = forecast[["y_q0.1", "y_q0.5", "y_q0.9"]].to_numpy()
    assert (np.diff(levels, axis=1) >= 0).all()
    assert (levels[:, 0] < levels[:, 2]).all()


@every
@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, np.nan])
def test_a_level_outside_0_and_1_is_refused(name, level, fitted):
    with pytest.raises(ParameterError, match=r"must lie inside \(0, 1\)"):
        fitted(name).predict(quantiles=[level])


@every
@pytest.mark.parametrize("targets", [1, 2])
def test_array_in_array_out(name, targets):
    data = np.stack([series(60, at) for at in range(targets)], axis=1)
    forecaster = made(name).fit(data)
    forecast = forecaster.predict()
    assert isinstance(forecast, np.ndarray)
    assert forecast.shape == (HORIZON, targets)
    if name not in POINT_ALONE:
        assert forecaster.predict(quantiles=[0.1, 0.9]).shape == (HORIZON, targets, 2)


@every
def test_the_order_of_rows_and_columns_means_nothing(name, fitted):
    shuffled = panel_frame().sample(frac=1, random_state=1)[["y", "shop", "day"]]
    expected = fitted(name, many=True).predict()
    pd.testing.assert_frame_equal(made(name).fit(shuffled).predict(), expected, check_like=True)
    pd.testing.assert_frame_equal(
        fitted(name, many=True).predict(shuffled), expected, check_like=True
    )


@every
def test_a_series_does_not_depend_on_the_others(name, fitted):
    forecaster, data = fitted(name, many=True), panel_frame()
    together = forecaster.predict()
    for shop in "abc":
        alone = forecaster.predict(data[data["shop"] == shop])
        expected = together[together["shop"] == shop].reset_index(drop=True)
        pd.testing.assert_frame_equal(alone, expected, rtol=1e-6)


@every
def test_a_new_series_may_come_at_predict(name, fitted):
    forecaster = fitted(name, many=True)
    new = daily(40, seed=9).assign(shop="new")
    data = pd.concat([panel_frame(), new])
    forecast = forecaster.predict(data)
    assert forecast["shop"].unique().tolist() == ["a", "b", "c", "new"]
    old = forecast[forecast["shop"] != "new"]
    pd.testing.assert_frame_equal(old, forecaster.predict(), rtol=1e-6)
    assert np.isfinite(forecast["y"]).all()
    # what it is scaled by is its own
    far = forecaster.predict(pd.concat([panel_frame(), new.assign(y=new["y"] * 1e3 + 1e6)]))
    np.testing.assert_allclose(far["y"][-HORIZON:], forecast["y"][-HORIZON:] * 1e3 + 1e6, rtol=1e-4)


@every
@pytest.mark.parametrize(("a", "b"), [(2.0, 0.0), (0.001, 3.0), (1e6, -1e7)])
def test_forecasts_follow_the_units(name, a, b, fitted):
    data = daily()
    expected = fitted(name).predict()["y"] * a + b
    found = made(name).fit(data.assign(y=data["y"] * a + b)).predict()["y"]
    spread = data["y"].std() * a
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-3 * spread)


@every
def test_a_small_swing_far_from_0_survives(name, fitted):
    data = daily()
    far = made(name).fit(data.assign(y=data["y"] * 5 + 1e9)).predict()["y"]
    expected = fitted(name).predict()["y"] * 5
    np.testing.assert_allclose(far - 1e9, expected, atol=0.5)


@every
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, -1e9, 1e-40])
def test_a_constant_series_stays_constant(name, value):
    forecaster = made(name).fit(daily().assign(y=value))
    assert (forecaster.predict()["y"] == value).all()


@every
def test_what_is_passed_in_is_not_changed(name):
    data, forecaster = panel_frame(), made(name)
    before = data.copy(deep=True)
    history = forecaster.fit(data).predict(data)
    forecaster.score(data)
    history["y"] = 0
    pd.testing.assert_frame_equal(data, before)
    values = series(60, 0)[:, None]
    values.flags.writeable = False
    made(name).fit(values).predict(values)


@every
def test_changing_the_data_later_changes_nothing(name):
    values = series(60, 0)[:, None]
    forecaster = made(name).fit(values)
    expected = forecaster.predict()
    values[:] = 7
    np.testing.assert_array_equal(forecaster.predict(), expected)


@every
def test_nothing_after_an_origin_moves_its_forecast(name, fitted):
    forecaster, data = fitted(name), daily()
    origins = np.array([30, 40, 50], dtype=np.int64)
    at = np.zeros(3, dtype=np.int64)

    def forecast(frame):
        parts = list(forecaster.forecast(forecaster.read(frame), at, origins))
        return np.concatenate([part.point for part in parts])

    expected = forecast(data)
    assert expected.shape == (3, HORIZON, 1)
    changed = data.copy()
    changed.loc[40:, "y"] = -1e4
    np.testing.assert_array_equal(forecast(changed)[:2], expected[:2])
    assert (forecast(changed)[2] != expected[2]).any()
    # origins up to the end, where the truth is not there yet
    last = next(forecaster.forecast(forecaster.read(data), at[:1], np.array([80]))).point[0]
    np.testing.assert_allclose(last[:, 0], forecaster.predict()["y"])


@every
def test_same_seed_same_forecast(name, fitted):
    torch.rand(3)
    np.random.rand(3)
    pd.testing.assert_frame_equal(made(name).fit(daily()).predict(), fitted(name).predict())


@every
def test_the_global_generators_are_left_alone(name):
    config.update("jaxtyping_disable", True)  # the checks of the tests draw from Python's
    try:
        before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
        made(name).fit(daily()).predict()
        assert torch.equal(torch.get_rng_state(), before[0])
        assert (np.random.get_state()[1] == before[1]).all()
        assert random.getstate() == before[2]
    finally:
        config.update("jaxtyping_disable", False)


@every
def test_a_second_fit_starts_afresh(name, fitted):
    forecaster = made(name).fit(daily(70, seed=5))
    pd.testing.assert_frame_equal(forecaster.fit(daily()).predict(), fitted(name).predict())


@every
def test_a_clone_is_not_fitted(name, fitted):
    copied = clone(fitted(name))
    assert copied.get_params(deep=False).keys() == fitted(name).get_params(deep=False).keys()
    with pytest.raises(NotFittedError):
        copied.predict()
    with pytest.raises(NotFittedError):
        copied.score(daily())
    with pytest.raises(NotFittedError):
        copied.save("never-written")


@every
def test_copies_and_pickles_forecast_the_same(name, fitted):
    expected = fitted(name).predict()
    for copied in (copy.deepcopy(fitted(name)), pickle.loads(pickle.dumps(fitted(name)))):
        pd.testing.assert_frame_equal(copied.predict(), expected)


@every
@pytest.mark.parametrize("many", [False, True])
def test_a_file_forecasts_the_same(name, many, fitted, tmp_path):
    path = fitted(name, many).save(tmp_path / "model.safetensors")
    loaded = tsformer.load(path)
    pd.testing.assert_frame_equal(loaded.predict(), fitted(name, many).predict())
    data = panel_frame() if many else daily()
    assert loaded.score(data) == fitted(name, many).score(data)
    assert repr(loaded) == repr(fitted(name, many))


@every
def test_missing_values_are_refused_by_series_column_and_row(name):
    data = panel_frame()
    data.loc[65, "y"] = np.nan
    with pytest.raises(MissingValues, match=r"'y'.*series 'c'.*2024-01-06.*row 65.*Policy"):
        made(name).fit(data)


@every
def test_missing_values_may_be_masked(name):
    data = panel_frame()
    data.loc[data.sample(frac=0.1, random_state=0).index, "y"] = np.nan
    forecaster = made(name, policy=Policy(missing="mask")).fit(data)
    assert np.isfinite(forecaster.predict()["y"]).all()
    assert np.isfinite(forecaster.score(data))


@every
def test_absent_rows_may_be_masked(name):
    data = daily().drop([20, 21, 55])
    policy = Policy(missing="mask", gaps="mask")
    forecast = made(name, policy=policy).fit(data).predict()
    assert forecast["day"].tolist() == list(pd.date_range("2024-03-21", periods=HORIZON))


@every
def test_a_missing_column_is_named(name, fitted):
    with pytest.raises(MissingColumn, match="'y'"):
        fitted(name).predict(daily().rename(columns={"y": "z"}))


@every
def test_misspelt_parameters_fail_loudly(name):
    kind = type(FORECASTERS[name])
    with pytest.raises(TypeError, match="horizn"):
        kind(horizn=3)
    with pytest.raises(ParameterError, match="Did you mean 'horizon'"):
        made(name).set_params(horizn=3)


@every
@pytest.mark.parametrize("wrong", [{"horizon": 0}, {"horizon": 1.5}], ids=str)
def test_wrong_parameters_are_refused_by_fit(name, wrong):
    with pytest.raises(ParameterError, match="horizon"):
        made(name, **wrong).fit(daily())


@every
def test_roles_are_resolved_and_kept(name, fitted):
    forecaster = fitted(name, many=True)
    assert forecaster.schema is None
    assert forecaster.schema_.series == "shop"
    assert forecaster.schema_.target == ("y",)
    assert forecaster.cutoff_ == panel_frame()["day"].max()
    assert isinstance(forecaster.schema_, Schema)


@every
def test_the_score_is_minus_the_scaled_error(name, fitted):
    # the last horizon of the data is forecast from what is before it
    forecaster, data = fitted(name), daily()
    forecast = forecaster.predict(data[:-HORIZON])["y"].to_numpy()
    truth, past = data["y"][-HORIZON:].to_numpy(), data["y"][:-HORIZON].to_numpy()
    scale = np.abs(past[7:] - past[:-7]).mean()
    expected = -np.abs(truth - forecast).mean() / scale
    assert forecaster.score(data) == pytest.approx(expected, rel=1e-5)


@every
def test_the_score_takes_every_origin_after_the_cutoff(name, fitted):
    forecaster, data = fitted(name), daily(90)
    errors = []
    for origin in range(80, 87):
        forecast = forecaster.predict(data[:origin])["y"].to_numpy()
        errors.append(np.abs(data["y"][origin : origin + HORIZON].to_numpy() - forecast))
    past = data["y"][:80].to_numpy()
    scale = np.abs(past[7:] - past[:-7]).mean()
    assert forecaster.score(data) == pytest.approx(-np.mean(errors) / scale, rel=1e-5)


@every
def test_the_score_goes_to_the_end_of_short_tests(name, fitted):
    forecaster, data = fitted(name), daily(82)
    forecast = forecaster.predict()["y"].to_numpy()[:2]
    past = data["y"][:80].to_numpy()
    scale = np.abs(past[7:] - past[:-7]).mean()
    expected = -np.abs(data["y"][80:].to_numpy() - forecast).mean() / scale
    assert forecaster.score(data) == pytest.approx(expected, rel=1e-5)
