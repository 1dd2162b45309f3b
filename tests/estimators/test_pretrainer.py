import copy
import logging
import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import tsformer
from tsformer import Forecaster, Policy, Schema, Training, backtest
from tsformer.errors import LookAhead, MissingValues, ParameterError
from tsformer.estimators import MaskedPretrainer, PretrainedWeights
from tsformer.heads import Point
from tsformer.models import Informer, MaskedTransformer
from tsformer.reading import RollingOrigin

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")

MODEL = {"patch": 3, "d_model": 8, "n_heads": 2, "d_ff": 8, "encoder_layers": 1, "dropout": 0.0}
WINDOW = {"horizon": 3, "context": 12}


def waves(*, series: int = 3, rows: int = 90, seed: int = 0, noise: float = 0.1) -> pd.DataFrame:
    """Series of one kind: a wave of 9.3 days, of any phase, level and height."""
    random, steps = np.random.default_rng(seed), np.arange(rows)
    days = pd.date_range("2024-01-01", periods=rows)
    parts = []
    for name in range(series):
        wave = np.sin(2 * np.pi * steps / 9.3 + random.uniform(0, 6))
        wave = (wave + noise * random.normal(size=rows)) * random.uniform(1, 9)
        parts.append(pd.DataFrame({"id": f"s{name}", "day": days, "y": wave + random.normal() * 9}))
    return pd.concat(parts, ignore_index=True)


def pretrainer(*, epochs: int = 1, model: dict | None = None, **given: object) -> MaskedPretrainer:
    training = Training(epochs=epochs, learning_rate=1e-2, patience=10)
    made = MaskedTransformer(**{**MODEL, **(model or {})})
    return MaskedPretrainer(made, **{**WINDOW, "training": training, **given})


def forecaster(start: object, **given: object) -> Forecaster:
    defaults = {**WINDOW, "start": start, "training": Training(epochs=1)}
    return Forecaster(MaskedTransformer(**MODEL), **{**defaults, **given})


@pytest.fixture(scope="module")
def weights() -> PretrainedWeights:
    return pretrainer().fit(waves()).weights_


@pytest.fixture(scope="module")
def learned() -> MaskedPretrainer:
    return pretrainer(epochs=15, share=0.3).fit(waves(series=6, rows=120, seed=2, noise=0.4))


def test_rebuilding_is_learned(learned):
    losses = learned.history_["validation_loss"]
    assert learned.history_["epoch"].tolist() == list(range(16))
    assert losses.iloc[-1] < 0.7 * losses.iloc[0]


def test_the_same_seed_gives_the_same_weights_and_no_global_noise(weights):
    torch.manual_seed(99)
    before = torch.get_rng_state()
    again = pretrainer().fit(waves()).weights_
    assert torch.equal(torch.get_rng_state(), before)
    assert again.tensors.keys() == weights.tensors.keys()
    assert all(torch.equal(again.tensors[name], one) for name, one in weights.tensors.items())
    other = pretrainer(random_state=1).fit(waves()).weights_
    assert not all(torch.equal(other.tensors[name], one) for name, one in weights.tensors.items())


def test_weights_are_an_opaque_value(weights):
    assert not hasattr(weights, "get_params")
    assert repr(weights) == "<1,125 pretrained weights of MaskedTransformer>"
    assert copy.deepcopy(weights) is weights
    back = pickle.loads(pickle.dumps(weights))
    assert all(torch.equal(back.tensors[name], one) for name, one in weights.tensors.items())
    with pytest.raises(AttributeError):
        weights.model = None
    assert not any(name.startswith("skip") for name in weights.tensors)


def test_start_survives_clone(weights):
    first = forecaster(weights)
    second = clone(clone(first))
    assert second.start is weights
    assert second.get_params()["start"] is weights
    assert "1,125 pretrained weights" in repr(second)
    data = waves(series=1).drop(columns="id")
    pd.testing.assert_frame_equal(second.fit(data).predict(), first.fit(data).predict())


def test_start_survives_a_grid_search(weights):
    data = waves(series=1, rows=60).drop(columns="id")
    grid = {"start": [None, weights], "context": [12]}
    search = GridSearchCV(
        forecaster(None), grid, cv=RollingOrigin(horizon=3, folds=2), error_score="raise"
    )
    with pytest.warns(LookAhead, match=r"up to 2024-03-30 .* ends at 2024-02-2"):
        search.fit(data)
    assert {id(one) for one in search.cv_results_["param_start"]} == {id(None), id(weights)}
    assert search.best_estimator_.predict()["y"].notna().all()


def test_a_fit_begins_with_the_pretrained_weights(weights, caplog):
    with caplog.at_level(logging.INFO, logger="tsformer"):
        fitted = forecaster(weights, training=Training(epochs=0)).fit(waves(seed=1))
    state = fitted.network_.state_dict()
    assert all(torch.equal(state[name], one) for name, one in weights.tensors.items())
    # the weights of the skip and its offset are fitted to this data
    assert f"{len(weights.tensors)} of {len(weights.tensors) + 2} tensors" in caplog.text


def test_what_does_not_fit_starts_fresh(weights):
    # another head, context, horizon and number of targets
    data = waves(series=1).drop(columns="id").assign(z=lambda frame: frame["y"] ** 2)
    schema = Schema(target=["y", "z"])
    given = {"head": Point(), "context": 20, "horizon": 7, "schema": schema}
    fitted = forecaster(weights, training=Training(epochs=0), **given).fit(data)
    state = fitted.network_.state_dict()
    fresh = {name for name, one in weights.tensors.items() if state[name].shape != one.shape}
    assert fresh == {"output.weight", "output.bias"}
    assert all(
        torch.equal(state[name], one) for name, one in weights.tensors.items() if name not in fresh
    )
    assert fitted.predict().shape == (7, 3)


def test_dropout_and_skip_may_change(weights):
    model = MaskedTransformer(**{**MODEL, "dropout": 0.3}, skip=False)
    assert forecaster(weights).set_params(model=model).fit(waves(series=1)).model_.dropout == 0.3


def test_without_a_model_it_is_that_of_the_weights(weights):
    fitted = Forecaster(**WINDOW, start=weights, training=Training(epochs=0)).fit(waves(series=1))
    assert repr(fitted.model_) == repr(MaskedTransformer(**MODEL))


def test_weights_of_another_model_are_refused(weights):
    other = MaskedTransformer(**{**MODEL, "d_model": 16, "patch": 4})
    with pytest.raises(ParameterError, match="d_model=8 not 16, patch=3 not 4"):
        Forecaster(other, **WINDOW, start=weights).fit(waves())
    with pytest.raises(ParameterError, match="MaskedTransformer, which fit no Informer"):
        Forecaster(Informer(), **WINDOW, start=weights).fit(waves())
    with pytest.raises(ParameterError, match=r"start must be pretrained weights.*weights_"):
        Forecaster(Informer(), **WINDOW, start=pretrainer()).fit(waves())


def test_a_file_does_not_hold_the_start(weights, tmp_path):
    fitted = forecaster(weights).fit(waves())
    loaded = tsformer.load(fitted.save(tmp_path / "model.safetensors"))
    assert loaded.start is None
    assert fitted.start is weights
    pd.testing.assert_frame_equal(loaded.predict(), fitted.predict())


@pytest.mark.parametrize(("skip", "rows"), [(True, 28), (False, 40)])
def test_pretraining_helps_on_a_short_history(skip, rows, learned):
    # a ridge on more than a few windows is as good as pretraining
    short = waves(series=1, rows=rows, seed=3, noise=0.4).drop(columns="id")
    training = Training(epochs=1, validation=12)
    losses, skills = {}, {}
    for name, start in (("pretrained", learned.weights_), ("scratch", None)):
        model = MaskedTransformer(**MODEL, skip=skip)
        fitted = Forecaster(model, **WINDOW, start=start, training=training).fit(short)
        losses[name], skills[name] = fitted.history_["validation_loss"], fitted.skill_
    better = 0.9 if skip else 0.8
    assert losses["pretrained"][0] < better * losses["scratch"][0]
    assert losses["pretrained"][1] < better * losses["scratch"][1]
    assert skills["pretrained"] > skills["scratch"] + 0.05


def test_gaps_and_covariates_are_taken():
    data = waves().assign(temperature=lambda frame: frame["y"] * 2)
    data.loc[::7, "y"] = np.nan
    schema = Schema(series="id", target=["y"], past=["temperature"])
    with pytest.raises(MissingValues):
        pretrainer(schema=schema).fit(data)
    fitted = pretrainer(schema=schema, policy=Policy(missing="mask")).fit(data)
    assert fitted.schema_.past == ("temperature",)
    assert np.isfinite(fitted.history_["validation_loss"]).all()


def test_numbers_are_taken_and_what_none_became_is_told():
    fitted = MaskedPretrainer(horizon=2, training=Training(epochs=0)).fit(np.arange(60.0))
    assert isinstance(fitted.model_, MaskedTransformer)
    assert fitted.context_ >= 1
    assert fitted.model is None
    assert fitted.weights_.tensors


def test_nested_parameters_have_paths():
    made = MaskedPretrainer(horizon=2).set_params(training__epochs=3, model__patch=5)
    assert (made.training.epochs, made.model.patch) == (3, 5)
    assert clone(made).get_params()["model__patch"] == 5


@pytest.mark.parametrize("wrong", [{"share": 0.0}, {"share": 1.0}, {"horizon": 0}], ids=str)
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        pretrainer(**wrong).fit(waves())


def test_a_frame_for_validation_is_refused():
    with pytest.raises(ParameterError, match="no frame"):
        pretrainer(training=Training(validation=waves())).fit(waves())


# what pretraining has seen


ONE = waves(series=1, rows=90).drop(columns="id")


def test_weights_carry_the_last_stamp_they_have_seen():
    fitted = pretrainer(epochs=0).fit(ONE)
    assert fitted.weights_.cutoff == fitted.cutoff_ == pd.Timestamp("2024-03-30")
    assert pickle.loads(pickle.dumps(fitted.weights_)).cutoff == fitted.cutoff_
    assert pretrainer(epochs=0).fit(np.arange(60.0)).weights_.cutoff == 59


def test_a_score_of_rows_they_have_seen_warns_and_names_both_stamps(weights):
    early = forecaster(weights).fit(ONE[:-5])  # forecasting what is to come is no score
    said = r"to 2024-03-30 00:00:00, this fit ends at 2024-03-25 00:00:00.*too good\. Pretrain"
    with pytest.warns(LookAhead, match=said) as caught:
        early.score(ONE)
    assert [one.filename for one in caught] == [__file__]
    forecaster(weights).fit(ONE).score(ONE)  # no warning


def test_a_backtest_with_weights_of_all_rows_warns():
    start = pretrainer(epochs=3).fit(ONE).weights_
    with pytest.warns(LookAhead, match=r"this fit ends at 2024-03-24"):
        backtest(forecaster(start), ONE, folds=2)


def test_weights_of_the_rows_before_the_first_fold_see_nothing_after_it():
    tables = []
    for factor in (1, -50):
        data = ONE.copy()
        data.loc[84:, "y"] *= factor
        start = pretrainer(epochs=2).fit(data[:84]).weights_
        tables.append(backtest(forecaster(start), data, folds=2).forecasts)
    first = [table[table["cutoff"] == pd.Timestamp("2024-03-24")] for table in tables]
    assert len(first[0]) == 2 * WINDOW["horizon"]
    np.testing.assert_array_equal(first[0]["forecast"], first[1]["forecast"])
    assert not np.array_equal(first[0]["actual"], first[1]["actual"])


@pytest.mark.parametrize(
    ("seen", "end", "later"),
    [
        (None, 3, False),
        (4, 3, True),
        (3, 3, False),
        (np.int64(9), np.int64(3), True),
        (pd.Timestamp("2024-01-02"), pd.Timestamp("2024-01-01"), True),
        (pd.Timestamp("2024-01-02"), 7, False),
        (pd.Timestamp("2024-01-02", tz="UTC"), pd.Timestamp("2024-01-01"), True),
        (pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp("2024-01-01 00:00", tz="CET"), True),
    ],
)
def test_which_stamp_is_later(weights, seen, end, later):
    start = PretrainedWeights(weights.model, weights.tensors, seen)
    if not later:
        return start.warn_before(end)
    with pytest.warns(LookAhead):
        start.warn_before(end)
