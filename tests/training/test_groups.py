import pytest

from tsformer import Forecaster
from tsformer.errors import ParameterError
from tsformer.training import Training


@pytest.mark.parametrize("name", Training.grouped)
def test_every_grouped_setting_has_both_paths(name):
    by_path = Forecaster(horizon=3).set_params(
        **{f"training__{Training.grouped[name]}__{name}": "set"}
    )
    by_name = Forecaster(horizon=3).set_params(**{f"training__{name}": "set"})
    built = Forecaster(horizon=3, training=Training(**{name: "set"}))
    assert repr(by_path) == repr(by_name) == repr(built)
    assert getattr(by_path.training, name) == "set"
    default = getattr(Training(), name)
    assert getattr(Training().set_params(**{name: default}), name) == default


@pytest.mark.parametrize("name", ["optimizer", "windows", "device", "reports"])
def test_a_word_is_no_group(name):
    with pytest.raises(ParameterError, match=rf"{name} must be a value such as"):
        Training(**{name: "cpu"}).check()
