import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GridSearchCV

from tsformer.errors import ParameterError, SeriesTooShort
from tsformer.reading import Holdout, RollingOrigin


def test_the_last_fold_ends_with_the_data():
    folds = list(RollingOrigin(folds=3, horizon=2, step=3, gap=1).split(np.zeros((20, 1))))
    assert [(len(train), len(test)) for train, test in folds] == [(11, 14), (14, 17), (17, 20)]
    for train, test in folds:
        assert train.tolist() == list(range(len(train)))
        assert test.tolist() == list(range(len(test)))


def test_a_long_frame_is_cut_at_one_moment():
    days = pd.date_range("2024-01-01", periods=10)
    frame = pd.DataFrame(
        {
            "shop": ["a"] * 10 + ["b"] * 6,
            "when": [*days, *days[4:]],
            "y": np.arange(16.0),
        }
    ).sample(frac=1, random_state=1)
    for time in (None, "when"):
        for train, test in RollingOrigin(folds=2, horizon=3, time=time).split(frame):
            last, end = frame["when"].iloc[train].max(), frame["when"].iloc[test].max()
            assert end - last == pd.Timedelta(days=3)
            assert (frame["when"] <= last).sum() == len(train)
            assert (frame["when"] <= end).sum() == len(test)
    assert end == days[-1]


@pytest.mark.parametrize("time_in", ["index", "text", "period", "zone"])
def test_time_is_found_as_schema_would(time_in):
    index = pd.date_range("2024-01-01", periods=10, freq="MS")
    frame = pd.DataFrame({"y": np.arange(10)}, index=index).iloc[::-1]
    if time_in == "text":
        frame = (
            frame.rename_axis("Month")
            .reset_index()
            .assign(Month=lambda f: f["Month"].astype("str"))
        )
    if time_in == "period":
        frame = frame.to_period("M")
    if time_in == "zone":
        frame = frame.tz_localize("Europe/Paris")
    train, test = next(RollingOrigin(folds=1, horizon=2).split(frame))
    assert train.tolist() == list(range(2, 10))
    assert test.tolist() == list(range(10))


def test_origins_are_positions_of_stamps():
    stamps = pd.date_range("2024-01-01", periods=10).repeat(2)
    assert RollingOrigin(folds=2, horizon=3, gap=1).origins(stamps) == [(3, 4), (6, 7)]


def test_folds_that_do_not_fit():
    with pytest.raises(SeriesTooShort, match=r"9 stamps are too few.*at least 11"):
        list(RollingOrigin(folds=5, horizon=2).split(np.zeros((9, 1))))
    with pytest.raises(ParameterError, match="folds"):
        list(RollingOrigin(folds=0, horizon=2).split(np.zeros((9, 1))))


def test_scikit_learn_takes_it():
    splitter = clone(RollingOrigin(folds=2, horizon=2))
    assert splitter.get_n_splits() == 2
    search = GridSearchCV(DummyRegressor(), {"strategy": ["mean", "median"]}, cv=splitter)
    assert search.fit(np.zeros((9, 1)), np.arange(9.0)).n_splits_ == 2


def test_holdout():
    assert Holdout(train=6, test=4).borders(12) == (6, 6, 10)
    with pytest.raises(SeriesTooShort, match="100 rows"):
        Holdout(train=70, validation=10, test=21).borders(100)
    with pytest.raises(ParameterError, match="test"):
        Holdout(train=70, test=0).check()
