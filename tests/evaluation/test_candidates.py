"""Who takes part in a backtest reads the data by its own schema and policy."""

import numpy as np
import pandas as pd
import pytest

from tsformer import Forecaster, Policy, Schema, backtest
from tsformer.estimators import Drift
from tsformer.evaluation.candidates import read_sources
from tsformer.models import Linear

DAYS = pd.date_range("2024-01-01", periods=400)
FREE = pd.DatetimeIndex(list(DAYS[::3]))
MOVED = FREE.where(~np.isin(np.arange(len(FREE)), np.arange(20, 110)), FREE + pd.Timedelta(days=1))
FRAME = pd.DataFrame(
    {"day": DAYS, "y": 5.0 * DAYS.isin(MOVED) + np.random.default_rng(0).normal(size=400)}
)


def with_holidays(days):
    return Forecaster(Linear(), horizon=3, context=6, schema=Schema(holidays=days))


@pytest.mark.filterwarnings("ignore:on the validation rows")
def test_long_lists_of_days_that_print_alike_are_told_apart():
    assert repr(FREE) == repr(MOVED)
    both = {"free": with_holidays(FREE), "moved": with_holidays(MOVED)}
    together = backtest(both, FRAME, folds=8, metrics="mae").summary()
    for name, one in both.items():
        separate = backtest({name: one}, FRAME, folds=8, metrics="mae").summary()
        assert together.loc[name, "mae"] == separate.loc[name, "mae"]
    assert together.loc["moved", "mae"] < together.loc["free", "mae"]


def test_the_data_are_read_once_for_those_that_read_them_alike():
    candidates = {
        "a": Drift(horizon=2, policy=Policy(missing="mask")),
        "b": Drift(horizon=4, policy=Policy(missing="mask")),
        "c": Drift(horizon=2),
    }
    sources = read_sources(candidates, FRAME)
    assert sources["a"] is sources["b"]
    assert sources["c"] is not sources["a"]
