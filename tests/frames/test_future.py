import numpy as np
import pandas as pd
import pytest

from tsformer.errors import (
    DuplicateTimestamp,
    InfiniteValues,
    MissingColumn,
    MissingFuture,
    WrongTime,
    WrongType,
)
from tsformer.frames import Panel, Schema


def rows(first, periods, names=("a", "b")):
    days = pd.date_range(first, periods=periods, freq="D")
    frame = pd.DataFrame({"shop": np.repeat(names, periods), "when": [*days] * len(names)})
    number = frame["when"].dt.day + 100 * (frame["shop"] == "b")
    return frame.assign(price=number * 1.0, plan=np.where(number % 2 == 0, "even", "odd"))


HISTORY = rows("2024-01-01", 10).assign(y=1.0, rain=2.0)
PANEL = Panel.from_frame(HISTORY, Schema(target="y", known=["price", "plan"], past="rain"))
FUTURE = rows("2024-01-11", 3)


def known(future):
    return PANEL.extend(3, future).tail(3).known[:, 0].tolist()


def test_known_values_find_their_rows():
    expected = [11, 12, 13, 111, 112, 113]
    assert known(FUTURE) == expected
    assert known(FUTURE.sample(frac=1, random_state=0)) == expected
    assert known(FUTURE[FUTURE.columns[::-1]]) == expected
    assert known(FUTURE.set_index(["shop", "when"])) == expected
    assert known(rows("2024-01-01", 20)) == expected  # longer is cut
    assert known(rows("2024-01-11", 3, ("a", "b", "new"))) == expected
    assert known(FUTURE.assign(y=5.0)) == expected
    assert known(FUTURE.assign(rain=np.nan)) == expected
    assert known(FUTURE.assign(when=FUTURE["when"].dt.as_unit("ns"))) == expected


def test_the_new_rows_stand_behind_their_series():
    longer = PANEL.extend(3, FUTURE)
    assert longer.lengths.tolist() == [13, 13]
    assert longer.stamps[:13].equals(pd.date_range("2024-01-01", periods=13))
    assert np.isnan(longer.target[10:13]).all()
    assert np.isnan(longer.past[10:13]).all()
    assert longer.known[:13, 0].tolist() == list(range(1, 14))
    assert longer.known_codes[10:13, 0].tolist() == [2, 1, 2]
    np.testing.assert_array_equal(longer.head_until(10).target, PANEL.target)


def test_no_future():
    with pytest.raises(MissingFuture) as caught:
        PANEL.extend(3)
    said = str(caught.value)
    assert "'price', 'plan'" in said
    assert "3 more rows of series 'a', from 2024-01-11" in said


@pytest.mark.parametrize(
    ("future", "kind", "found"),
    [
        (rows("2024-01-11", 2), MissingFuture, "2 of the 3 rows.*'a'.*missing is 2024-01-13"),
        (rows("2024-01-12", 3), MissingFuture, "missing is 2024-01-11.*go from 2024-01-12"),
        (rows("2023-01-11", 3), MissingFuture, "0 of the 3 rows"),
        (rows("2024-01-11", 3, ("a",)), MissingFuture, "'b'.*2024-01-11.*no row"),
        (FUTURE.drop(columns="price"), MissingColumn, "'price'"),
        (FUTURE.drop(columns="shop"), MissingColumn, "'shop'"),
        (FUTURE.drop(columns="when"), MissingColumn, "'when'"),
        (pd.concat([FUTURE, FUTURE.iloc[[4]]]), DuplicateTimestamp, "'b' at 2024-01-12"),
        (FUTURE.assign(price=[1, 2, 3, 4, np.nan, 6]), MissingFuture, "'price'.*NaN.*'b'.*01-12"),
        (FUTURE.assign(plan=["odd"] * 5 + [None]), MissingFuture, "'plan'.*NaN.*'b'.*01-13"),
        (FUTURE.assign(price=[1, 2, np.inf, 4, 5, 6]), InfiniteValues, "'price'.*'a'.*01-13"),
        (FUTURE.assign(price="cheap"), WrongType, "'price'.*in fit it was numbers"),
        (FUTURE.assign(plan=1.0), WrongType, "'plan'.*in fit it was text"),
        (FUTURE.assign(rain=1.0), WrongType, "'rain' is a past covariate"),
        (FUTURE.assign(shop=1), WrongType, "1 .number. here, but 'a'"),
        (FUTURE.assign(when=FUTURE["when"].dt.tz_localize("UTC")), WrongTime, "zone"),
        (FUTURE.assign(when=range(6)), WrongTime, "whole numbers here"),
    ],
)
def test_a_future_that_does_not_fit(future, kind, found):
    with pytest.raises(kind, match=found):
        PANEL.extend(3, future)


def test_an_unseen_word():
    with pytest.warns(UserWarning, match="'plan'"):
        longer = PANEL.extend(3, FUTURE.assign(plan="new"))
    assert longer.known_codes[10:13, 0].tolist() == [0, 0, 0]


def test_nothing_needed():
    panel = Panel.from_frame(HISTORY, Schema(target="y", past="rain", freq="D"))
    assert panel.extend(2).n_rows == 24
    assert panel.extend(2, FUTURE).known.shape == (24, 0)
    with pytest.raises(WrongType, match="'rain'"):
        panel.extend(2, HISTORY)


def test_one_series_by_index_by_column_and_by_array():
    history = HISTORY[HISTORY["shop"] == "a"].drop(columns=["shop", "plan"])
    future = FUTURE[FUTURE["shop"] == "a"].drop(columns=["shop", "plan"])
    schema = Schema(target="y", known="price")
    for one, other in (
        (history, future),
        (history.set_index("when"), future.set_index("when")),
        (history.set_index("when"), future),
        (history, future.set_index("when")),
        (history.set_index("when").to_period("D"), future.set_index("when").to_period("D")),
        (history, future[["price"]].to_numpy()),
    ):
        panel = Panel.from_frame(one, schema)
        assert panel.extend(3, other).known[-3:, 0].tolist() == [11, 12, 13]


def test_other_zones_are_the_same_moments():
    history = HISTORY[HISTORY["shop"] == "a"].set_index("when")[["price", "y"]]
    panel = Panel.from_frame(history.tz_localize("Europe/Paris"), Schema(target="y", known="price"))
    future = FUTURE[FUTURE["shop"] == "a"].set_index("when")[["price"]].tz_localize("Europe/Paris")
    longer = panel.extend(3, future.tz_convert("UTC"))
    assert longer.known[-3:, 0].tolist() == [11, 12, 13]
    assert str(longer.stamps.tz) == "Europe/Paris"
