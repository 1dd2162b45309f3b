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
from tsformer.panels import Schema
from tsformer.reading import extended, future_frame, read_panel


def rows(first, periods, names=("a", "b")):
    days = pd.date_range(first, periods=periods, freq="D")
    frame = pd.DataFrame({"shop": np.repeat(names, periods), "when": [*days] * len(names)})
    number = frame["when"].dt.day + 100 * (frame["shop"] == "b")
    return frame.assign(price=number * 1.0, plan=np.where(number % 2 == 0, "even", "odd"))


HISTORY = rows("2024-01-01", 10).assign(y=1.0, rain=2.0)
PANEL = read_panel(HISTORY, Schema(target="y", known=["price", "plan"], past="rain"))
FUTURE = rows("2024-01-11", 3)


def known(future):
    return extended(PANEL, 3, future).tail(3).known.values[:, 0].tolist()


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
    longer = extended(PANEL, 3, FUTURE)
    assert longer.index.lengths.tolist() == [13, 13]
    assert longer.index.stamps[:13].equals(pd.date_range("2024-01-01", periods=13))
    assert np.isnan(longer.target.values[10:13]).all()
    assert np.isnan(longer.past.values[10:13]).all()
    assert longer.known.values[:13, 0].tolist() == list(range(1, 14))
    assert longer.known.codes[10:13, 0].tolist() == [2, 1, 2]
    np.testing.assert_array_equal(longer.head_until(10).target.values, PANEL.target.values)


def test_no_future():
    with pytest.raises(MissingFuture) as caught:
        extended(PANEL, 3)
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
        extended(PANEL, 3, future)


def test_an_unseen_word():
    with pytest.warns(UserWarning, match="'plan'"):
        longer = extended(PANEL, 3, FUTURE.assign(plan="new"))
    assert longer.known.codes[10:13, 0].tolist() == [0, 0, 0]


def test_nothing_needed():
    panel = read_panel(HISTORY, Schema(target="y", past="rain", freq="D"))
    assert extended(panel, 2).n_rows == 24
    assert extended(panel, 2, FUTURE).known.values.shape == (24, 0)
    with pytest.raises(WrongType, match="'rain'"):
        extended(panel, 2, HISTORY)


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
        panel = read_panel(one, schema)
        assert extended(panel, 3, other).known.values[-3:, 0].tolist() == [11, 12, 13]


def test_other_zones_are_the_same_moments():
    history = HISTORY[HISTORY["shop"] == "a"].set_index("when")[["price", "y"]]
    panel = read_panel(history.tz_localize("Europe/Paris"), Schema(target="y", known="price"))
    future = FUTURE[FUTURE["shop"] == "a"].set_index("when")[["price"]].tz_localize("Europe/Paris")
    longer = extended(panel, 3, future.tz_convert("UTC"))
    assert longer.known.values[-3:, 0].tolist() == [11, 12, 13]
    assert str(longer.index.stamps.tz) == "Europe/Paris"


class TestOneRowForEverySeries:
    """A future frame that names no series holds for all of them."""

    plan = rows("2024-01-11", 3, ("a",)).drop(columns="shop")

    @pytest.mark.parametrize(
        "future",
        [
            plan,
            plan.set_index("when"),
            plan.iloc[::-1],
            rows("2024-01-01", 30, ("a",)).drop(columns="shop"),
            plan.assign(when=plan["when"].dt.as_unit("ns")),
            plan.assign(when=plan["when"].astype("str")),
        ],
    )
    def test_its_rows_hold_for_all(self, future):
        longer = extended(PANEL, 3, future)
        assert longer.tail(3).known.values[:, 0].tolist() == [11, 12, 13, 11, 12, 13]
        assert longer.tail(3).known.codes[:, 0].tolist() == [2, 1, 2, 2, 1, 2]

    def test_series_that_end_elsewhere(self):
        history = HISTORY.drop(index=[8, 9])  # a ends two days before b
        panel = read_panel(history, PANEL.schema)
        future = rows("2024-01-09", 5, ("a",)).drop(columns="shop")
        assert extended(panel, 3, future).tail(3).known.values[:, 0].tolist() == [
            9,
            10,
            11,
            11,
            12,
            13,
        ]
        with pytest.raises(MissingFuture, match=r"1 of the 3 rows.*'a'.*2024-01-09.*01-11.*01-13"):
            extended(panel, 3, self.plan)

    def test_other_layouts(self):
        schema = Schema(target="y", known="price")
        plan = self.plan[["when", "price"]]
        for history in (
            HISTORY.set_index(["shop", "when"])[["y", "price"]],
            HISTORY.set_index(["shop", "when"])[["y", "price"]].rename_axis([None, None]),
            HISTORY.set_index("when")[["shop", "y", "price"]],
        ):
            panel = read_panel(history, schema)
            for future in (plan.set_index("when"), plan.set_index("when").rename_axis(None)):
                made = extended(panel, 3, future).tail(3).known.values[:, 0].tolist()
                assert made == [11, 12, 13, 11, 12, 13]

    def test_stamps_that_repeat_need_a_name(self):
        twice = pd.concat([self.plan, self.plan])
        with pytest.raises(MissingColumn, match=r"series column 'shop', and its stamps repeat"):
            extended(PANEL, 3, twice)
        with pytest.raises(MissingFuture, match=r"'price'.*NaN of series 'a' at 2024-01-12"):
            extended(PANEL, 3, self.plan.assign(price=[1.0, np.nan, 3.0]))


class TestFutureFrame:
    """The frame to be filled in comes in the caller's layout and is read back."""

    @pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
    @pytest.mark.parametrize(
        "index", [[], ["when"], ["shop"], ["shop", "when"], ["when", "shop"]], ids=str
    )
    def test_it_is_read_back(self, index, zone):
        history = HISTORY.assign(when=HISTORY["when"].dt.tz_localize(zone))
        history = history.set_index(index) if index else history
        schema = Schema(series="shop", target="y", known=["price", "plan"], past="rain")
        panel = read_panel(history, schema)
        blank = future_frame(panel, 3)
        assert sorted([*blank.columns, *filter(None, blank.index.names)]) == [
            "plan", "price", "shop", "when",
        ]  # fmt: skip
        assert list(blank.index.names) == list(history.index.names)
        assert blank["price"].isna().all()
        assert blank["price"].dtype == np.float64
        assert blank["plan"].isna().all()
        assert blank["plan"].dtype == "str"
        with pytest.raises(MissingFuture, match=r"'price' .*holds NaN of series 'a' at 2024-01-11"):
            extended(panel, 3, blank)
        filled = blank.assign(price=np.arange(6.0), plan=["odd", "even"] * 3)
        longer = extended(panel, 3, filled)
        assert longer.tail(3).known.values[:, 0].tolist() == [0, 1, 2, 3, 4, 5]
        assert longer.tail(3).known.codes[:, 0].tolist() == [2, 1, 2, 1, 2, 1]

    def test_one_series_periods_and_arrays(self):
        one = HISTORY[HISTORY["shop"] == "a"].set_index("when")[["y", "price"]]
        schema = Schema(target="y", known="price")
        panel = read_panel(one.to_period("D"), schema)
        blank = future_frame(panel, 2)
        assert blank.index.equals(pd.period_range("2024-01-11", periods=2, freq="D").rename("when"))
        assert extended(panel, 2, blank.assign(price=[1.0, 2.0])).known.values[-2:, 0].tolist() == [
            1,
            2,
        ]
        array = read_panel(one.to_numpy(), Schema(target="y0", known="y1"))
        assert future_frame(array, 2).to_dict("index").keys() == {10, 11}
        longer = extended(array, 2, future_frame(array, 2).fillna(5.0))
        assert longer.known.values[-2:, 0].tolist() == [5, 5]

    def test_without_known_covariates(self):
        panel = read_panel(HISTORY, Schema(target="y", past="rain", freq="D"))
        assert list(future_frame(panel, 2).columns) == ["shop", "when"]
        indexed = HISTORY.set_index(["shop", "when"])
        blank = future_frame(read_panel(indexed, Schema(target="y", past="rain")), 2)
        assert blank.shape == (4, 0)
        assert [*blank.index.names] == ["shop", "when"]
