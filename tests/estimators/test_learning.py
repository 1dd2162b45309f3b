"""A fit that fails or is interrupted changes nothing, whatever it had got to."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import tsformer
import tsformer.training
from tsformer import Drift, Forecaster, SeasonalNaive, Training
from tsformer.errors import TrainingFailed
from tsformer.estimators import MaskedPretrainer, baselines, forecaster
from tsformer.estimators.skill import ValidationSkill
from tsformer.heads import Quantiles
from tsformer.models import Linear, MaskedTransformer

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")

STAGES = [
    (forecaster, "default_context"),
    (forecaster, "without_short"),
    (forecaster, "fit_all"),
    (forecaster, "apply_all"),
    (tsformer.training, "build_network"),
    (tsformer.training, "train"),
    (ValidationSkill, "of"),
]
FAILURES = [KeyboardInterrupt, TrainingFailed, MemoryError]


def stop(monkeypatch, place, name, failure):
    def stopped(*args, **given):
        raise failure("stopped")

    monkeypatch.setattr(place, name, stopped)


def untrained():
    training = Training(epochs=1, validation=10)
    return Forecaster(Linear(), horizon=3, training=training)


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize(("place", "name"), STAGES, ids=[name for _, name in STAGES])
def test_a_first_fit_that_fails_leaves_it_unfitted(frame, monkeypatch, place, name, failure):
    model = untrained()
    before = set(vars(model))
    stop(monkeypatch, place, name, failure)
    with pytest.raises(failure):
        model.fit(frame)
    assert set(vars(model)) == before
    for use in (lambda: check_is_fitted(model), model.predict, lambda: model.save("never")):
        with pytest.raises(NotFittedError):
            use()


@pytest.mark.parametrize(("place", "name"), STAGES, ids=[name for _, name in STAGES])
def test_a_refit_that_fails_leaves_the_old_fit(frame, monkeypatch, tmp_path, place, name):
    model = untrained().fit(frame)
    learnt = {key: value for key, value in vars(model).items() if key.endswith("_")}
    tail, forecast = model._tail, model.predict(quantiles=[0.1, 0.25])
    model.set_params(head=Quantiles((0.01, 0.5, 0.99)), horizon=5, gap=1)
    with monkeypatch.context() as patched:
        stop(patched, place, name, KeyboardInterrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(frame.assign(y=frame["y"] * 100).iloc[:80])
    now = {key: value for key, value in vars(model).items() if key.endswith("_")}
    assert now.keys() == learnt.keys()
    assert all(now[key] is learnt[key] for key in learnt)
    assert model._tail is tail
    again = model.predict(quantiles=[0.1, 0.25])
    pd.testing.assert_frame_equal(again, forecast, check_exact=True)
    path = model.save(tmp_path / "model.safetensors")
    loaded = tsformer.load(path).predict(quantiles=[0.1, 0.25])
    pd.testing.assert_frame_equal(loaded, forecast, check_exact=True)


def test_failing_in_the_second_training_of_all_rows_leaves_the_old_fit(frame, monkeypatch):
    training = Training(epochs=1, validation=10, refit_all=True)
    model = Forecaster(Linear(), horizon=3, training=training).fit(frame)
    forecast, calls = model.predict(), []
    train = tsformer.training.train

    def second_stops(*args, **given):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return train(*args, **given)

    monkeypatch.setattr(tsformer.training, "train", second_stops)
    with pytest.raises(KeyboardInterrupt):
        model.fit(frame.assign(y=frame["y"] * 2))
    assert len(calls) == 2
    pd.testing.assert_frame_equal(model.predict(), forecast, check_exact=True)


@pytest.mark.parametrize("kind", [SeasonalNaive, Drift])
def test_baselines_too(frame, monkeypatch, kind):
    model = kind(horizon=3).fit(frame)
    forecast = model.predict()
    model.set_params(horizon=5)
    stop(monkeypatch, baselines, "_residual_quantiles", KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(frame.iloc[:50])
    assert model.horizon_ == 3
    pd.testing.assert_frame_equal(model.predict(), forecast, check_exact=True)
    unfitted = kind(horizon=3)
    with pytest.raises(KeyboardInterrupt):
        unfitted.fit(frame)
    with pytest.raises(NotFittedError):
        unfitted.predict()


def test_pretraining_too(monkeypatch):
    wave = pd.DataFrame({"y": np.sin(np.arange(120.0))})
    small = MaskedTransformer(patch=4, d_model=8, n_heads=1, d_ff=8, encoder_layers=1)
    model = MaskedPretrainer(small, horizon=4, context=12, training=Training(epochs=1)).fit(wave)
    weights, history = model.weights_, model.history_
    stop(monkeypatch, tsformer.training, "train", KeyboardInterrupt)
    model.set_params(context=16)
    with pytest.raises(KeyboardInterrupt):
        model.fit(wave)
    assert model.weights_ is weights
    assert model.history_ is history
    assert model.context_ == 12
    unfitted = MaskedPretrainer(small, horizon=4)
    with pytest.raises(KeyboardInterrupt):
        unfitted.fit(wave)
    assert not [name for name in vars(unfitted) if name.endswith("_")]


def test_a_frame_refused_leaves_the_old_fit(frame):
    model = SeasonalNaive(horizon=3).fit(frame)
    forecast = model.predict()
    with pytest.raises(tsformer.errors.FrameError):
        model.fit(frame.assign(y=np.nan))
    assert list(model.feature_names_in_) == ["day", "y"]
    pd.testing.assert_frame_equal(model.predict(), forecast, check_exact=True)


def test_parameters_stay_the_objects_that_were_given(frame):
    training = Training(epochs=1)
    model = Forecaster(Linear(), horizon=3, context=12, training=training)
    assert model.fit(frame) is model
    assert model.training is training
