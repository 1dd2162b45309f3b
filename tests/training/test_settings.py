import re

import numpy as np
import pandas as pd
import pytest
import pytorch_lightning as pl
from hypothesis import given
from hypothesis import strategies as st
from pytorch_lightning.loggers import CSVLogger

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


def lightning_callback():
    """As a callback of the other package looks, which need not be installed."""
    base = type("Callback", (), {"__module__": "lightning.pytorch.callbacks.callback"})
    return type("EarlyStopping", (base,), {})()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"callbacks": [3]}, "functions of one row"),
        ({"callbacks": ["csv"]}, "functions of one row"),
        ({"callbacks": [pl.Callback]}, "functions of one row"),
        ({"callbacks": print}, "must be a list"),
        ({"callbacks": [lightning_callback()]}, "'lightning'.*'pytorch_lightning'.*do not mix"),
        ({"callbacks": [CSVLogger("here")]}, r"give it as Training\(logger"),
        ({"logger": "csv"}, "must be a Lightning logger"),
        ({"logger": [CSVLogger("here"), 3]}, "must be a Lightning logger"),
        ({"accelerator": "cpuu"}, "accelerator must be one of 'auto', 'cpu'"),
        ({"precision": "garbage"}, "precision must be one of '32-true'"),
        ({"precision": "bf16-true"}, "bf16-true"),
        ({"precision": "16-true"}, "16-true"),
        ({"precision": "64-true"}, "64-true"),
        ({"devices": 2}, "more than one device"),
    ],
    # without addresses: processes that share a run must name the tests alike
    ids=lambda value: re.sub(r" object at 0x\w+", "", str(value)),
)
def test_what_would_fail_in_the_middle_of_a_fit_is_refused_before(wrong, said):
    with pytest.raises(ParameterError, match=said):
        Training(**wrong).check()


def test_what_lightning_takes_is_taken():
    Training(callbacks=[pl.Callback(), print], logger=CSVLogger("here")).check()
    Training(logger=[CSVLogger("here")], precision="bf16-mixed", accelerator="cpu").check()


def test_an_absent_accelerator_is_named(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    with pytest.raises(ParameterError, match="this machine has none"):
        Training(accelerator="gpu").check()


def test_whole_numbers_of_numpy_are_whole_numbers():
    Training(epochs=np.int64(3), batch_size=np.int32(8), patience=np.uint8(2)).check()
