import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Schema, Training, load_dataset
from tsformer.errors import ParameterError
from tsformer.experiments import Experiment
from tsformer.experiments.identity import described, frame_hash, hashed
from tsformer.experiments.jobs import jobs_of
from tsformer.models import Informer, Linear
from tsformer.reading import Holdout

FRAME = pd.DataFrame({"y": np.arange(40.0)})


def key(forecaster=None, *, seed=0, name="x", **changes):
    settings = {
        "datasets": {"a": FRAME},
        "horizons": [2],
        "forecasters": {name: forecaster or Forecaster(Linear(), horizon=1)},
        "folds": 2,
        "seeds": [seed],
    }
    asked = Experiment("Why?", **(settings | changes))
    return jobs_of(asked)[0].key


def test_equal_cells_have_equal_keys_whatever_they_are_called():
    assert key() == key(name="y")


@pytest.mark.parametrize(
    "changes",
    [
        {"forecaster": Forecaster(Linear(), horizon=1, context=9)},
        {"forecaster": Forecaster(Informer(), horizon=1)},
        {"forecaster": Forecaster(Linear(), horizon=1, training=Training(learning_rate=0.5))},
        {"forecaster": Forecaster(Linear(), horizon=1, schema=Schema(target="y"))},
        {"seed": 1},
        {"datasets": {"a": FRAME + 1}},
        {"datasets": {"a": FRAME.rename(columns={"y": "z"})}},
        {"horizons": [3]},
        {"folds": 3},
        {"split": Holdout(train=20, test=20), "folds": None},
        {"step": 2},
        {"metrics": ["mae"]},
        {"budget": 3.0},
    ],
    ids=lambda changes: "-".join(changes),
)
def test_whatever_decides_the_scores_changes_the_key(changes):
    assert key(**changes) != key()


def test_a_named_split_counts_by_what_it_means():
    air = load_dataset("beijing_air")
    named = key(datasets=["beijing_air"], split="canonical", folds=None)
    valued = key(datasets=["beijing_air"], split=air.splits["canonical"], folds=None)
    assert named == valued
    with pytest.raises(ParameterError, match="'beijing_air' has no split 'usual'"):
        key(datasets=["beijing_air"], split="usual", folds=None)


def test_values_are_told_apart_by_type_and_by_what_they_hold():
    days = [pd.date_range("2024-01-01", periods=400), pd.date_range("2024-01-02", periods=400)]
    values = [1, 1.0, True, "1", None, (1, 2), [2, 1], np.arange(3), np.arange(3.0), *days]
    assert len({hashed({"value": described(value)}) for value in values}) == len(values)
    assert described(days[0]) == described(days[0].copy())
    assert frame_hash(FRAME) == frame_hash(FRAME.copy())


def test_what_cannot_be_told_apart_is_refused():
    with pytest.raises(ParameterError, match="values of object are the same"):
        described(object())
