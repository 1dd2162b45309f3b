"""A search whose study is kept goes on where it was."""

import numpy as np
import optuna
import pandas as pd
import pytest

from tsformer.errors import ParameterError
from tsformer.estimators import Forecaster
from tsformer.models import Linear
from tsformer.reading import RollingOrigin
from tsformer.tuning import OptunaSearch

FRAME = pd.DataFrame({"y": np.tile(np.arange(7.0), 16)})
SPACE = {"context": [3, 10, 14, 21]}


def search(storage, n_trials=4, *, name="s", space=SPACE, **options):
    return OptunaSearch(
        Forecaster(Linear(), horizon=7, context=3),
        space,
        n_trials=n_trials,
        cv=RollingOrigin(folds=2, horizon=7),
        sampler=optuna.samplers.RandomSampler(),
        storage=storage,
        study_name=name,
        **options,
    )


@pytest.fixture
def journal(tmp_path):
    return f"journal:{tmp_path}/studies/study.log"


def test_the_same_call_with_more_trials_finishes_what_is_missing(journal):
    first = search(journal).fit(FRAME)
    again = search(journal, 7).fit(FRAME)
    assert len(first.trials_) == 4 and len(again.trials_) == 7
    pd.testing.assert_frame_equal(again.trials_.head(4), first.trials_)
    nothing_left = search(journal, 7).fit(FRAME)
    pd.testing.assert_frame_equal(nothing_left.trials_, again.trials_)
    assert nothing_left.best_params_ == again.best_params_
    np.testing.assert_array_equal(nothing_left.predict(), again.predict())


def test_a_kept_study_has_the_trials_of_one_in_memory(journal):
    kept, plain = search(journal).fit(FRAME), search(None, name=None).fit(FRAME)
    pd.testing.assert_frame_equal(
        kept.trials_.drop(columns="seconds"), plain.trials_.drop(columns="seconds")
    )


def test_another_question_under_the_same_name_is_refused(journal):
    search(journal).fit(FRAME)
    with pytest.raises(ParameterError, match=r"space\['context'\] was"):
        search(journal, space={"context": [3, 14]}).fit(FRAME)
    with pytest.raises(ParameterError, match=r"data was 112 rows, sha256 .*, is 105 rows"):
        search(journal).fit(FRAME.iloc[7:])
    with pytest.raises(ParameterError, match="metric was 'mase', is 'mae'"):
        search(journal, metric="mae").fit(FRAME)
    assert len(search(journal, name="other", space={"context": [3, 14]}).fit(FRAME).trials_) == 4


def test_a_study_in_a_storage_needs_a_name(journal):
    with pytest.raises(ParameterError, match=r'needs a name.*study_name="..."'):
        search(journal, name=None).fit(FRAME)


def test_a_trial_is_ended_after_a_fold_too():
    found = search(None, 20, name=None).fit(FRAME)
    later = found.trials_[found.trials_["number"] >= 5].groupby("context")["state"].unique()
    assert later[3].tolist() == ["pruned"] and later[21].tolist() == ["complete"]
    assert found.best_params_ == {"context": 21}
