from typing import get_args

import numpy as np
import pandas as pd
import pytest

from tsformer import Drift, Forecaster, Policy, Schema, SeasonalNaive, backtest, load
from tsformer.errors import ParameterError
from tsformer.estimators.parameters import ForecasterScaling, checked_lags, listed_transforms
from tsformer.models import Informer, Linear, Transformer
from tsformer.panels import BoxCox, Clip, Log1p, Shift
from tsformer.training import Training

WEEK = np.array([0.0, 1.0, 4.0, 2.0, 6.0, 3.0, 5.0])


def weekly(rows: int, *, level: float = 10.0) -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=rows, name="day")
    return pd.DataFrame({"y": WEEK[np.arange(rows) % 7] + level}, index=stamps)


# gap


@pytest.mark.parametrize("kind", ["linear", "naive"])
@pytest.mark.parametrize("gap", [0, 1, 5])
def test_the_forecast_begins_behind_the_gap(kind, gap):
    made = {
        "linear": Forecaster(Linear(), horizon=4, gap=gap, context=14),
        "naive": SeasonalNaive(horizon=4, gap=gap),
    }[kind]
    frame = weekly(98)
    found = made.fit(frame).predict(quantiles=[0.1, 0.9])
    expected = weekly(98 + gap + 4).iloc[-4:]
    assert found.index.tolist() == expected.index.tolist()
    np.testing.assert_allclose(found["y"], expected["y"], atol=0.05)


def test_drift_goes_on_through_the_gap():
    frame = pd.DataFrame({"y": [1.0, 2.0, 5.0]})
    assert Drift(horizon=2, gap=3).fit(frame).predict()["y"].tolist() == [13.0, 15.0]


@pytest.mark.parametrize(
    "forecaster",
    [
        Forecaster(Linear(), horizon=3, gap=4, context=14),
        Forecaster(
            Informer(d_model=8, n_heads=1, d_ff=8, encoder_layers=1),
            horizon=3, gap=4, context=14, training=Training(epochs=1),
        ),
        SeasonalNaive(horizon=3, gap=4),
        Drift(horizon=3, gap=4),
    ],
    ids=["linear", "informer", "naive", "drift"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:on the validation rows")
def test_what_lies_in_the_gap_moves_nothing(forecaster):
    frame = weekly(90)
    frame["y"] += np.random.default_rng(0).normal(size=90)
    fitted = forecaster.fit(frame[:80])
    series = np.zeros(1, np.int64)
    noisy = frame.copy()
    noisy.iloc[80:] = 1e6
    parts = [
        next(fitted.forecast(fitted.read(data), series, np.array([84]), levels=(0.25,)))
        for data in (frame, noisy)
    ]
    np.testing.assert_array_equal(parts[0].point, parts[1].point)
    np.testing.assert_array_equal(parts[0].quantiles, parts[1].quantiles)
    np.testing.assert_array_equal(parts[0].point[0], fitted.predict(frame[:80]).to_numpy())


def test_known_covariates_are_asked_for_behind_the_gap():
    frame = weekly(70).assign(plan=1.0)
    schema = Schema(target="y", known="plan")
    fitted = Forecaster(Linear(), horizon=2, gap=3, context=14, schema=schema).fit(frame)
    future = fitted.make_future_frame()
    assert future.index.tolist() == list(pd.date_range("2024-03-14", periods=2))
    assert future["plan"].isna().all()
    assert len(fitted.predict(future=future.fillna(1.0))) == 2


def test_a_backtest_keeps_the_gap_from_every_fit():
    seen = []

    class Watched(SeasonalNaive):
        def fit(self, data, y=None):
            seen.append(len(data))
            return super().fit(data)

    result = backtest(Watched(horizon=2, gap=5), weekly(60), folds=3, refit=True)
    assert seen == [60 - 6 - 5, 60 - 4 - 5, 60 - 2 - 5]
    assert result.scores["mae"].max() < 1e-9
    beside = backtest(Forecaster(Linear(), horizon=2, gap=5, context=14), weekly(60), folds=3)
    assert set(beside.summary().index) == {"Linear", "SeasonalNaive"}


# lags


def test_lags_must_be_known_for_the_whole_forecast():
    assert checked_lags([9, 7, 9], 7) == (7, 9)
    for wrong in ([6], [7.5], [True], 7, "7"):
        with pytest.raises(ParameterError, match="lags"):
            checked_lags(wrong, 7)
    with pytest.raises(ParameterError, match=r"lags=\[6\].*at least 7 rows \(gap \+ horizon\)"):
        Forecaster(Linear(), horizon=3, gap=4, context=14, lags=[6]).fit(weekly(60))


def test_a_lag_shows_what_the_context_does_not_reach():
    random = np.random.default_rng(1)
    yearly = random.normal(size=20)
    steps = np.arange(400)
    frame = pd.DataFrame({"y": yearly[steps % 20]}, index=pd.date_range("2024-01-01", periods=400))
    model = Transformer(d_model=16, n_heads=2, d_ff=32, encoder_layers=1, dropout=0.0, skip=False)
    training = Training(epochs=8, learning_rate=1e-2, patience=None)
    options = {"horizon": 2, "context": 3, "training": training, "scaling": "series"}
    errors = {
        lags: -Forecaster(model, lags=lags, **options).fit(frame[:360]).score(frame)
        for lags in ((), (20,))
    }
    assert errors[20,] < 0.5 * errors[()]


def test_lags_survive_a_file(tmp_path):
    forecaster = Forecaster(
        Transformer(d_model=8, n_heads=1, d_ff=8, encoder_layers=1),
        horizon=2, context=5, lags=[7], training=Training(epochs=1),
    )  # fmt: skip
    fitted = forecaster.fit(weekly(60) + np.arange(60)[:, None])
    again = load(fitted.save(tmp_path / "model.safetensors"))
    pd.testing.assert_frame_equal(again.predict(), fitted.predict())


# transforms


def test_only_transforms_are_taken():
    assert listed_transforms(None, ahead=3) == ()
    assert [type(one) for one in listed_transforms(Log1p(), nonnegative=True, ahead=3)] == [
        Clip, Log1p,
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="transforms holds 'log'"):
        listed_transforms(["log"], ahead=3)
    for wrong in ("log", 3, {"log": 1}):
        with pytest.raises(ParameterError, match=r"transforms=.*Log1p\(\), .*Shift\(\)"):
            listed_transforms(wrong, ahead=3)
    with pytest.raises(ParameterError, match="lag"):
        Forecaster(Linear(), horizon=3, transforms=Shift(lag=2)).fit(weekly(60))


def test_growth_by_a_factor_is_a_line_in_logarithms():
    rows = np.arange(120)
    stamps = pd.date_range("2024-01-01", periods=126, name="day")
    y = pd.DataFrame({"y": np.exp(np.arange(126) * 0.05) * (1 + WEEK[np.arange(126) % 7] / 10)})
    y.index = stamps
    options = {"horizon": 6, "context": 14, "training": Training(validation=20)}
    for transforms in (BoxCox(power=0.0), Log1p(), [BoxCox(power=0.0), Shift(lag=7)]):
        found = Forecaster(Linear(), transforms=transforms, **options).fit(y.iloc[rows]).predict()
        np.testing.assert_allclose(found["y"], y["y"].iloc[-6:], rtol=0.1)


def test_every_level_is_undone_by_the_same_shift():
    frame = weekly(98) + np.random.default_rng(0).normal(size=(98, 1))
    frame += np.linspace(0, 50, 98)[:, None]
    fitted = Forecaster(Linear(), horizon=4, context=14, transforms=Shift(lag=7)).fit(frame)
    found = fitted.predict(quantiles=[0.1, 0.5, 0.9])
    assert (np.diff(found[["y_q0.1", "y_q0.5", "y_q0.9"]], axis=1) >= 0).all()
    np.testing.assert_allclose(found["y"], weekly(102)["y"].iloc[-4:] + 51, atol=4)


def test_no_forecast_is_negative_when_none_may_be():
    random = np.random.default_rng(0)
    frame = weekly(120, level=-2.0).clip(lower=0) + random.random((120, 1)) / 10
    free = Forecaster(Linear(), horizon=7, context=14)
    levels = [0.05, 0.5]
    assert (free.fit(frame).predict(quantiles=levels) < 0).any(axis=None)
    fitted = free.set_params(nonnegative=True).fit(frame)
    assert (fitted.predict(quantiles=levels) >= 0).all(axis=None)


@pytest.mark.filterwarnings("ignore:on the validation rows")
def test_transforms_learn_from_training_rows_alone():
    frame = np.exp(weekly(100, level=1.0) / 3 + np.random.default_rng(0).random((100, 1)))
    changed = frame.copy()
    changed.iloc[80:] += 5
    options = {"horizon": 3, "context": 14, "training": Training(validation=20)}
    fitted = [
        Forecaster(Linear(), transforms=BoxCox(), **options).fit(one) for one in (frame, changed)
    ]
    assert fitted[0].transforms_[0].power == fitted[1].transforms_[0].power


def test_transforms_survive_clone_and_file(tmp_path):
    forecaster = Forecaster(
        Linear(), horizon=3, context=14, transforms=[BoxCox(), Shift(lag=7)], nonnegative=True
    )
    fitted = forecaster.fit(weekly(98))
    again = load(fitted.save(tmp_path / "model.safetensors"))
    pd.testing.assert_frame_equal(again.predict(), fitted.predict())


# scaling


@pytest.mark.parametrize("scaling", get_args(ForecasterScaling))
def test_every_scaling_learns_a_week(scaling, tmp_path):
    fitted = Forecaster(Linear(), horizon=7, context=14, scaling=scaling).fit(weekly(98))
    np.testing.assert_allclose(fitted.predict()["y"], weekly(105)["y"].iloc[-7:], atol=0.05)
    again = load(fitted.save(tmp_path / "model.safetensors"))
    pd.testing.assert_frame_equal(again.predict(), fitted.predict())


def test_a_new_series_is_scaled_as_the_scaling_says():
    parts = [weekly(90, level=level).assign(id=name) for name, level in (("a", 10), ("b", 1000))]
    panel = pd.concat(parts).reset_index()
    new = weekly(30, level=5e5).assign(id="new").reset_index()
    expected = weekly(37, level=5e5)["y"].iloc[-7:]
    for scaling in ("window", "last", "asinh", "series", "robust"):
        fitted = Forecaster(Linear(), horizon=7, context=14, scaling=scaling).fit(panel)
        np.testing.assert_allclose(fitted.predict(new)["y"], expected, atol=1.0)


def test_asinh_windows_withstand_spikes_and_drift():
    """A week around a level that wanders off, of both signs, with spikes now and then."""
    random = np.random.default_rng(0)
    level = np.cumsum(random.normal(scale=3.0, size=700))
    spikes = np.where(random.random(700) < 0.02, 500.0, 0.0) * random.choice([-1, 1], 700)
    days = pd.date_range("2024-01-01", periods=700)
    clean = 5 * WEEK[np.arange(700) % 7] + level
    frame = pd.DataFrame({"y": clean + spikes}, index=days)
    errors = {}
    for scaling in ("window", "asinh"):
        fitted = Forecaster(Linear(), horizon=7, context=14, scaling=scaling).fit(frame[:600])
        panel, origins = fitted.read(frame), np.arange(600, 694)
        parts = list(fitted.forecast(panel, np.zeros(94, np.int64), origins, levels=(0.1, 0.9)))
        point = np.concatenate([part.point for part in parts])[..., 0]
        spread = np.concatenate([part.quantiles for part in parts])[..., 0, :]
        assert (spread[..., 0] <= spread[..., 1]).all()
        truth = clean[origins[:, None] + np.arange(7)]
        errors[scaling] = np.abs(point - truth).mean()
    assert errors["asinh"] < 0.8 * errors["window"]


# sampling, ignored periods


def test_series_are_sampled_when_asked():
    frame = weekly(90) + np.random.default_rng(0).normal(size=(90, 1))
    panel = pd.concat([frame.assign(id="a"), frame[:40].assign(id="b")]).reset_index()
    model = Informer(d_model=8, n_heads=1, d_ff=8, encoder_layers=1)
    fits = [
        Forecaster(
            model, horizon=3, context=14, training=Training(epochs=1, sampling=sampling)
        ).fit(panel).history_["train_loss"].iloc[-1]
        for sampling in ("windows", "series", "series")
    ]  # fmt: skip
    assert fits[1] == fits[2] != fits[0]


def test_an_ignored_period_may_hold_anything():
    frame = weekly(98)
    other = frame.copy()
    other.loc["2024-02-01":"2024-02-10"] = 1e6
    policy = Policy(ignore=[("2024-02-01", "2024-02-10")])
    fits = [
        Forecaster(Linear(), horizon=7, context=14, policy=policy).fit(one).predict()
        for one in (frame, other)
    ]
    pd.testing.assert_frame_equal(*fits)
    np.testing.assert_allclose(fits[0]["y"], weekly(105)["y"].iloc[-7:], atol=0.5)


def test_interpolation_fits_and_predicts():
    frame = weekly(98) * 1.0
    frame.iloc[[20, 21, 50, 97]] = np.nan
    policy = Policy(missing="interpolate")
    found = Forecaster(Linear(), horizon=7, context=14, policy=policy).fit(frame).predict()
    np.testing.assert_allclose(found["y"], weekly(105)["y"].iloc[-7:], atol=1.0)


def test_weights_count_in_training():
    rows = np.arange(160)
    frame = weekly(160).assign(w=np.where(rows < 80, 1.0, 0.0))
    frame.loc[rows >= 80, "y"] = 100 - frame["y"][rows >= 80]
    options = {"horizon": 7, "context": 7, "training": Training(validation=None)}
    schema = Schema(target="y", weight="w")
    early = Forecaster(Linear(), schema=schema, **options).fit(frame)
    alone = Forecaster(Linear(), schema=Schema(target="y"), **options).fit(frame[["y"]])
    assert early.schema_.weight == "w"
    assert early.predict()["y"].tolist() != alone.predict()["y"].tolist()
