"""Folds of scikit-learn: those that leave a forecast without its history are refused once."""

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    PredefinedSplit,
    RandomizedSearchCV,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)

from tsformer import RollingOrigin, Schema, SeasonalNaive
from tsformer.errors import ParameterError

DAYS = pd.date_range("2024-01-01", periods=42)
WEEKLY = pd.DataFrame({"y": np.arange(42) % 7 + 1.0}, index=DAYS)
SHOPS = pd.DataFrame(
    {"shop": np.repeat(["a", "b", "c"], 42), "day": [*DAYS] * 3, "y": [*WEEKLY["y"]] * 3}
)
NAIVE = SeasonalNaive(horizon=3)
GRID = {"policy__missing": ["refuse", "mask"]}

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "grid": lambda frame, cv: GridSearchCV(NAIVE, GRID, cv=cv).fit(frame),
    "random": lambda frame, cv: RandomizedSearchCV(NAIVE, GRID, cv=cv, n_iter=2).fit(frame),
    "scores": lambda frame, cv: cross_val_score(NAIVE, frame, cv=cv),
    "validate": lambda frame, cv: cross_validate(NAIVE, frame, cv=cv),
}
FOLDS = {
    "default": None,
    "number": 3,
    "shuffled": KFold(4, shuffle=True, random_state=0),
    "random": ShuffleSplit(2, random_state=0),
    "along time": TimeSeriesSplit(3),
    "predefined": PredefinedSplit([0] * 20 + [1] * 22),
    "a list": [(np.arange(20), np.arange(20, 42))],
}


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("call", CALLS)
def test_one_error_and_no_warning(call: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParameterError, match="cv=RollingOrigin") as caught:
            CALLS[call](WEEKLY, FOLDS[name])
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize("gap", [0, 4])
def test_the_folds_that_are_offered_work(gap: int) -> None:
    naive = SeasonalNaive(horizon=5, gap=gap)
    for rows in (42, 16):
        with pytest.raises(ParameterError) as caught:
            cross_val_score(naive, WEEKLY[:rows], cv=KFold(3))
        offered = re.search(r"cv=(RollingOrigin\(.*?\))", str(caught.value)).group(1)
        folds = eval(offered, {"RollingOrigin": RollingOrigin})
        assert np.isfinite(cross_val_score(naive, WEEKLY[:rows], cv=folds)).all(), offered


def test_arrays_and_long_frames_have_the_same_answer() -> None:
    for data in (WEEKLY.to_numpy(), SHOPS.sample(frac=1, random_state=0)):
        with pytest.raises(ParameterError, match="RollingOrigin"):
            cross_val_score(NAIVE, data, cv=3)


def test_rows_with_their_history_are_scored() -> None:
    history = [(np.arange(20), np.arange(10, 30)), (np.arange(30), np.arange(0, 40))]
    assert cross_val_score(NAIVE, WEEKLY, cv=history).tolist() == [0, 0]


def test_series_that_were_not_fitted_on_are_scored() -> None:
    made = cross_val_score(NAIVE, SHOPS, groups=SHOPS["shop"], cv=GroupKFold(3))
    assert made.tolist() == [0, 0, 0]


def test_data_that_cannot_be_read_is_for_the_fit_to_refuse() -> None:
    naive = SeasonalNaive(horizon=3, schema=Schema(target="absent"))
    with pytest.raises(ValueError, match="no column 'absent'"):
        cross_val_score(naive, WEEKLY, cv=3, error_score="raise")
