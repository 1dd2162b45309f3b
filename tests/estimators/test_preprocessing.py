"""How values are scaled and transformed is one group, whose settings go by their own names too."""

import copy
import inspect
import json

import numpy as np
import pandas as pd
import pytest
import safetensors
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import tsformer
from tsformer import Forecaster, Training
from tsformer.errors import ParameterError
from tsformer.estimators import Preprocessing, persistence
from tsformer.models import Informer, Linear
from tsformer.panels import Asinh, Shift
from tsformer.tuning import OptunaSearch

SET = {"scaling": "last", "transforms": Shift(lag=2), "nonnegative": True}
WINDOW = {"horizon": 2, "context": 4}


@pytest.fixture
def frame():
    day = pd.date_range("2024-01-01", periods=40)
    return pd.DataFrame({"y": 5 + np.sin(np.arange(40.0))}, index=day)


@pytest.mark.parametrize("name", SET)
def test_every_name_and_path_lead_to_one_value(name):
    whole = Forecaster(horizon=3, preprocessing=Preprocessing(**{name: SET[name]}))
    by_name = Forecaster(horizon=3, **{name: SET[name]})
    later = Forecaster(horizon=3).set_params(**{name: SET[name]})
    by_path = Forecaster(horizon=3).set_params(**{f"preprocessing__{name}": SET[name]})
    by_attribute = Forecaster(horizon=3)
    setattr(by_attribute, name, SET[name])
    for one in (whole, by_name, later, by_path, by_attribute, clone(by_name), copy.copy(by_name)):
        assert repr(one) == repr(whole)
        assert repr(getattr(one, name)) == repr(SET[name])
    assert name not in inspect.signature(Forecaster).parameters


def test_a_path_goes_on_behind_a_short_name():
    forecaster = Forecaster(horizon=3, transforms=Shift(lag=2)).set_params(transforms__lag=9)
    assert forecaster.transforms.lag == 9
    assert forecaster.get_params()["preprocessing__transforms__lag"] == 9


def test_a_wrong_value_is_told_as_it_was_given():
    with pytest.raises(ParameterError, match=r"^Forecaster\(scaling='minmax'\): scaling must be"):
        Forecaster(horizon=3, scaling="minmax").check()
    with pytest.raises(ParameterError, match="Did you mean 'scaling'"):
        Forecaster(horizon=3).set_params(scalling="last")
    with pytest.raises(TypeError, match="Did you mean 'nonnegative'"):
        Forecaster(horizon=3, nonegative=True)


def test_a_grid_searches_short_names(frame):
    grid = {"scaling": ["series", "last"], "training__epochs": [0], "model__centre": ["last"]}
    search = GridSearchCV(Forecaster(Linear(), **WINDOW), grid, cv=[(np.arange(30), np.arange(40))])
    best = search.fit(frame).best_estimator_
    assert best.scaling == search.best_params_["scaling"]
    assert best.scaling_ == best.scaling


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_optuna_searches_short_names(frame):
    space = {"scaling": ["last"], "training__clip": [0.5], "model__factor": [2]}
    model = Informer(d_model=4, n_heads=1, d_ff=4, encoder_layers=1)
    forecaster = Forecaster(model, **WINDOW, training=Training(epochs=0))
    search = OptunaSearch(forecaster, n_trials=2, space=space).fit(frame)
    tried = search.trials_[["scaling", "training__clip", "model__factor"]].to_numpy().tolist()
    assert tried == [["window", 1.0, 5], ["last", 0.5, 2]]
    best = search.best_estimator_
    assert [best.scaling, best.training.clip, best.model.factor] in tried


def test_a_file_keeps_the_group_and_files_without_it_are_read(frame, tmp_path):
    fitted = Forecaster(Linear(), **WINDOW, scaling="last", transforms=Asinh()).fit(frame)
    path = fitted.save(tmp_path / "one.safetensors")
    loaded = tsformer.load(path)
    assert repr(loaded) == repr(fitted)
    pd.testing.assert_frame_equal(loaded.predict(), fitted.predict())

    with safetensors.safe_open(path, framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        document = json.loads(file.metadata()["tsformer"])
    items = dict(document["params"]["dict"])
    items |= dict(items.pop("preprocessing")["fields"]["dict"])
    document["params"]["dict"] = [list(pair) for pair in items.items()]
    path.write_bytes(persistence._packed(document, tensors))
    assert repr(tsformer.load(path)) == repr(fitted)
