import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tsformer.errors import ParameterError
from tsformer.training import Training


@given(
    st.sampled_from(["cosine", "constant", "one_cycle"]), st.integers(1, 200), st.integers(0, 250)
)
def test_the_rate_stays_between_nothing_and_its_largest(schedule, steps, step):
    assert 0 <= Training(schedule=schedule).learning_rate_at(step, steps) <= 1


@pytest.mark.parametrize(("schedule", "peak"), [("cosine", 5), ("one_cycle", 30)])
def test_the_rate_rises_and_falls(schedule, peak):
    rates = [Training(schedule=schedule).learning_rate_at(step, 101) for step in range(101)]
    assert max(rates) == 1 == rates[peak]
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert rates[0] > 0
    assert rates[-1] == pytest.approx(0, abs=1e-12)


def test_a_constant_rate_is_constant():
    assert {Training(schedule="constant").learning_rate_at(s, 10) for s in range(10)} == {1.0}


@pytest.mark.parametrize(
    "validation",
    [None, 0, 0.0, 0.2, 5, 5.0, np.int64(5), np.float64(0.3), "auto", pd.DataFrame({"y": [1.0]})],
    ids=str,
)
def test_what_validation_may_be(validation):
    Training(validation=validation).check()


@pytest.mark.parametrize("validation", [-1, -0.1, 1.5, "most", True, np.nan, np.inf, [1]], ids=str)
def test_what_validation_may_not_be(validation):
    with pytest.raises(ParameterError, match="validation"):
        Training(validation=validation).check()


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": -1},
        {"epochs": 1.5},
        {"batch_size": 0},
        {"learning_rate": 0.0},
        {"learning_rate": np.nan},
        {"weight_decay": -1.0},
        {"schedule": "linear"},
        {"patience": 0},
        {"clip": 0.0},
        {"max_time": 0.0},
        {"devices": 0},
    ],
    ids=str,
)
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        Training(**wrong).check()


def test_a_misspelt_setting_fails_loudly():
    with pytest.raises(TypeError, match="learning_rte"):
        Training(learning_rte=1)
    with pytest.raises(ParameterError, match="Did you mean 'learning_rate'"):
        Training().set_params(learning_rte=1)
