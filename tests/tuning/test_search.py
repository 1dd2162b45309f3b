"""``OptunaSearch``: what wins, what is pruned and counted, what is left alone."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import optuna
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tsformer.errors import LookAhead, ParameterError, TrainingFailed
from tsformer.estimators import Forecaster, MaskedPretrainer, SeasonalNaive
from tsformer.models import Informer, Linear, MaskedTransformer
from tsformer.reading import RollingOrigin
from tsformer.training import Training
from tsformer.tuning import Choice, Float, Int, OptunaSearch

pytestmark = pytest.mark.filterwarnings("ignore:on the validation rows")

ROWS = 120
ONE_FOLD = RollingOrigin(folds=1, horizon=12)


def weekly(rows: int = ROWS) -> pd.DataFrame:
    """A weekly pattern on a trend, without noise."""
    day = pd.date_range("2024-01-01", periods=rows)
    week = np.array([0.0, 1.0, 3.0, 2.0, 5.0, 9.0, 4.0])[np.arange(rows) % 7]
    return pd.DataFrame({"day": day, "y": week + 0.01 * np.arange(rows)})


def small(**training: Any) -> Forecaster:
    settings = Training(epochs=2, patience=None, batch_size=16).set_params(**training)
    model = Informer(d_model=8, n_heads=2, d_ff=8, encoder_layers=1, dropout=0.0, skip=False)
    return Forecaster(model, horizon=4, context=14, training=settings)


def linear_search(**options: Any) -> OptunaSearch:
    forecaster = Forecaster(Linear(), horizon=4, context=2)
    space = {"context": Int(2, 20)}
    return OptunaSearch(forecaster, space, n_trials=6, cv=ONE_FOLD).set_params(**options)


@pytest.fixture(scope="module")
def pruned() -> OptunaSearch:
    """Good learning rates as given, and terrible ones to try."""
    space = {"training__learning_rate": Choice([1e-2, 1e-7])}
    forecaster = small(learning_rate=1e-2, epochs=3)
    return OptunaSearch(forecaster, space, n_trials=12, cv=ONE_FOLD, random_state=1).fit(weekly())


def test_a_longer_context_wins_on_a_weekly_pattern() -> None:
    search = linear_search().fit(weekly())
    assert search.best_params_["context"] > 4
    assert search.best_score_ == -search.trials_["value"].min()
    assert search.best_estimator_.context == search.best_params_["context"]


def test_the_same_seed_finds_the_same() -> None:
    one, two = (linear_search(random_state=3).fit(weekly()) for _ in range(2))
    other = linear_search(random_state=4).fit(weekly())
    assert one.best_params_ == two.best_params_
    assert one.trials_["context"].tolist() == two.trials_["context"].tolist()
    assert one.trials_["context"].tolist() != other.trials_["context"].tolist()


def test_trial_0_is_the_default() -> None:
    search = linear_search(n_trials=1).fit(weekly())
    assert search.best_params_ == {"context": 2}
    assert search.study_.trials[0].params == {"context": 2}
    train, test = next(ONE_FOLD.split(weekly()))
    fitted = Forecaster(Linear(), horizon=4, context=2).fit(weekly().iloc[train])
    assert search.best_score_ == pytest.approx(fitted.score(weekly().iloc[test]))


def test_a_default_outside_the_space_is_still_trial_0() -> None:
    search = linear_search(forecaster__context=14, space={"context": [1, 2]}).fit(weekly())
    assert search.best_params_ == {"context": 14}
    assert search.trials_["context"][0] == 14
    assert set(search.trials_["context"][1:]) == {1, 2}
    assert search.study_.trials[0].params == {}


def test_the_best_parameters_make_the_best_forecaster() -> None:
    search = linear_search().fit(weekly())
    again = clone(search.forecaster).set_params(**search.best_params_).fit(weekly())
    pd.testing.assert_frame_equal(again.predict(), search.best_estimator_.predict())


def test_falling_behind_is_pruned_and_its_epochs_counted(pruned: OptunaSearch) -> None:
    table = pruned.trials_
    behind = table[table["state"] == "pruned"]
    assert pruned.n_pruned_ == len(behind) > 0
    assert set(behind["training__learning_rate"]) == {1e-7}
    assert (behind["epochs"] < 3).all()
    assert behind["value"].isna().all()
    assert (table["epochs"][table["state"] == "complete"] == 3).all()
    assert pruned.epochs_run_ == table["epochs"].sum()
    assert pruned.epochs_run_ + pruned.epochs_saved_ == 3 * len(table)
    assert pruned.best_params_ == {"training__learning_rate": 1e-2}


def test_a_pruner_can_be_given() -> None:
    space = {"training__learning_rate": Choice([1e-2, 1e-7])}
    never = optuna.pruners.NopPruner()
    search = OptunaSearch(small(), space, n_trials=6, cv=ONE_FOLD, pruner=never).fit(weekly())
    assert search.n_pruned_ == search.epochs_saved_ == 0


def test_every_fold_counts() -> None:
    search = OptunaSearch(small(epochs=1), {"context": [7, 14]}, n_trials=2).fit(weekly())
    assert search.trials_["epochs"].tolist() == [3, 3]


def test_a_trial_that_fails_is_recorded_and_the_search_goes_on() -> None:
    space = {"model__n_heads": Choice([2, 3])}
    search = OptunaSearch(small(epochs=1), space, n_trials=6, cv=ONE_FOLD).fit(weekly())
    failed = search.trials_[search.trials_["state"] == "failed"]
    assert set(failed["model__n_heads"]) == {3}
    assert failed["reason"].str.startswith("ParameterError").all()
    assert search.best_params_ == {"model__n_heads": 2}


def test_a_context_too_long_for_the_data_fails_its_trial() -> None:
    search = linear_search(space={"context": [2, 500]}).fit(weekly())
    assert search.trials_["reason"].str.contains("SeriesTooShort").any()


def test_if_all_fail_the_first_reason_is_said() -> None:
    search = linear_search(forecaster__context=500, space={"context": [400, 600]})
    with pytest.raises(TrainingFailed, match="all 6 trials failed, the first: SeriesTooShort"):
        search.fit(weekly())
    with pytest.raises(NotFittedError):
        search.predict()


def test_a_wrong_path_is_refused_before_any_trial() -> None:
    search = linear_search(space={"contxt": [1, 2]})
    with pytest.raises(ParameterError, match="Did you mean 'context'"):
        search.fit(weekly())
    assert not hasattr(search, "study_")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"n_trials": 0}, "n_trials must be at least 1"),
        ({"timeout": 0}, "timeout must be above 0"),
        ({"n_trials": None}, "would not end"),
        ({"metric": "coverage"}, "must be one of mae, "),
        ({"forecaster__horizon": 0}, "horizon must be at least 1"),
    ],
)
def test_options_out_of_range_are_refused(options: Mapping[str, Any], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        linear_search(**options).fit(weekly())


def test_predict_and_score_are_those_of_the_best() -> None:
    search = linear_search().fit(weekly(110))
    forecast = search.predict(horizon=3, quantiles=[0.5])
    assert forecast.columns.tolist() == ["day", "y", "y_q0.5"]
    assert len(forecast) == 3
    assert search.predict(weekly()).equals(search.best_estimator_.predict(weekly()))
    assert search.score(weekly()) == search.best_estimator_.score(weekly()) > -0.1


def test_a_clone_is_unfitted_and_the_same() -> None:
    search = linear_search(forecaster__training__epochs=3).fit(weekly())
    copy = clone(search)
    assert not hasattr(copy, "best_estimator_")
    assert repr(copy) == repr(search)
    assert copy.get_params()["forecaster__training__epochs"] == 3


def test_nothing_of_the_callers_is_changed(pruned: OptunaSearch) -> None:
    forecaster = pruned.forecaster
    assert forecaster.training.callbacks == ()  # type: ignore[attr-defined]
    assert not hasattr(forecaster, "network_")
    assert pruned.best_estimator_.training.callbacks == ()  # type: ignore[attr-defined]
    frame = weekly()
    linear_search().fit(frame)
    pd.testing.assert_frame_equal(frame, weekly())


def test_callbacks_of_the_user_are_called_too() -> None:
    seen: list[int] = []
    forecaster = small(epochs=1, callbacks=[lambda row: seen.append(int(row["epoch"]))])
    OptunaSearch(forecaster, {"context": [7, 14]}, n_trials=2, cv=ONE_FOLD).fit(weekly())
    assert seen == [0, 1] * 3


def test_generators_and_verbosity_are_left_as_they_were() -> None:
    verbosity = optuna.logging.get_verbosity()
    state, noise = np.random.get_state()[1].tolist(), torch.get_rng_state()  # type: ignore[index,union-attr]
    linear_search().fit(weekly())
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index,union-attr]
    assert torch.equal(torch.get_rng_state(), noise)
    assert optuna.logging.get_verbosity() == verbosity


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    linear_search(space={"context": [2, 500]}).fit(weekly())
    assert capfd.readouterr() == ("", "")


def test_what_comes_after_the_origin_moves_no_fit() -> None:
    """The rows to score by differ by a factor: so do the errors, and nothing else."""
    changed = weekly()
    changed.loc[ROWS - 4 :, "y"] *= 1e6
    one, two = (linear_search(cv=RollingOrigin(folds=1, horizon=4)) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one.fit(weekly())
        two.fit(changed)
    losses = [
        [trial.intermediate_values for trial in search.study_.trials[:4]] for search in (one, two)
    ]
    assert losses[0] == losses[1] != [{}] * 4
    assert (two.trials_["value"] > 1e3 * one.trials_["value"]).all()


@pytest.mark.parametrize("metric", ["mae", "pinball"])
def test_other_metrics_come_from_the_backtest(metric: str) -> None:
    search = linear_search(metric=metric).fit(weekly())
    assert search.best_params_["context"] > 4


def test_mase_is_the_same_in_the_backtest() -> None:
    mase = linear_search(n_trials=2).fit(weekly())
    mae = linear_search(n_trials=2, metric="mae").fit(weekly())
    ratio = mae.trials_["value"] / mase.trials_["value"]
    assert ratio[0] == pytest.approx(ratio[1])


def test_an_interrupted_search_keeps_what_it_found() -> None:
    trials: list[int] = []

    def interrupt(row: Mapping[str, float]) -> None:
        trials.append(int(row["epoch"]))
        if len(trials) > 2:
            raise KeyboardInterrupt

    search = linear_search(forecaster__training__callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        search.fit(weekly())
    assert search.best_params_
    assert search.trials_["state"].tolist()[0] == "complete"
    with pytest.raises(NotFittedError):
        search.predict()


def test_an_interruption_of_the_first_trial_leaves_nothing_found() -> None:
    def interrupt(row: Mapping[str, float]) -> None:
        raise KeyboardInterrupt

    search = linear_search(forecaster__training__callbacks=[interrupt])
    with pytest.raises(KeyboardInterrupt):
        search.fit(weekly())
    assert search.best_params_ == {}
    assert len(search.trials_) == 0


def test_a_sampler_can_be_given_and_is_left_alone() -> None:
    sampler = optuna.samplers.RandomSampler(seed=5)
    one, two = (linear_search(sampler=sampler, n_trials=3).fit(weekly()) for _ in range(2))
    assert one.trials_["context"].tolist() == two.trials_["context"].tolist()


def test_a_time_limit_ends_the_search() -> None:
    search = linear_search(n_trials=None, timeout=0.01).fit(weekly())
    assert 1 <= len(search.trials_) < 6


def test_arrays_panels_and_parts_can_be_searched() -> None:
    array = linear_search(n_trials=2).fit(weekly()[["y"]].to_numpy())
    assert array.predict().shape == (4, 1)
    long = pd.concat([weekly().assign(name=name) for name in "ab"], ignore_index=True)
    space = {"model": [Linear(), small().model], "training__learning_rate": Float(1e-3, 1e-2)}
    forecaster = small(epochs=1).set_params(schema__series="name")
    panel = OptunaSearch(forecaster, space, n_trials=3, cv=ONE_FOLD).fit(long)
    assert panel.predict()["name"].tolist() == ["a"] * 4 + ["b"] * 4


def test_a_baseline_can_be_tuned() -> None:
    search = OptunaSearch(SeasonalNaive(horizon=4), {"season_length": [1, 7]}, n_trials=4)
    search.fit(weekly())
    assert search.best_params_["season_length"] in (None, 7)
    assert search.epochs_run_ == 0


def test_the_automatic_space_runs() -> None:
    search = OptunaSearch(small(epochs=1), n_trials=3, cv=ONE_FOLD).fit(weekly())
    assert search.best_params_.keys() == {
        "context",
        "training__learning_rate",
        "model__d_model",
        "model__dropout",
        "model__encoder_layers",
    }
    assert search.trials_["state"].isin(["complete", "pruned"]).all()


def test_the_automatic_space_of_little_data_is_that_of_the_line() -> None:
    search = OptunaSearch(Forecaster(horizon=4), n_trials=2, cv=ONE_FOLD).fit(weekly())
    assert search.best_params_.keys() == {"context"}
    assert isinstance(search.best_estimator_.model_, Linear)


def test_pretrained_weights_of_later_rows_warn_once_a_search() -> None:
    model = MaskedTransformer(patch=2, d_model=8, n_heads=1, d_ff=8, encoder_layers=1)
    training = Training(epochs=0)
    data = weekly()
    start = MaskedPretrainer(model, horizon=4, context=8, training=training).fit(data).weights_
    base = Forecaster(None, horizon=4, context=8, start=start, training=training)
    search = OptunaSearch(base, {"context": [8, 12]}, n_trials=3)
    with pytest.warns(LookAhead, match="this fit ends at 2024-04-1") as caught:
        search.fit(data)
    assert sum(one.category is LookAhead for one in caught) == 1
