import datetime

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import InfiniteValues, MissingValues, ParameterError, WrongTime
from tsformer.panels import Policy, Schema
from tsformer.panels.policy import ignored_rows
from tsformer.reading import read_panel

DAYS = pd.date_range("2024-01-01", periods=10, freq="D")


def frame(**columns):
    return pd.DataFrame({"y": np.arange(10.0), **columns}, index=DAYS)


def rows(stamps, *periods):
    return np.flatnonzero(ignored_rows(stamps, list(periods), warn=False)).tolist()


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (("2024-01-03", "2024-01-05"), [2, 3, 4]),
        ((None, "2024-01-02"), [0, 1]),
        (("2024-01-09", None), [8, 9]),
        ((datetime.date(2024, 1, 3), datetime.date(2024, 1, 3)), [2]),
        ((pd.Timestamp("2024-01-02 12:00"), pd.Timestamp("2024-01-04")), [2, 3]),
        ((np.datetime64("2024-01-03"), "2024-01-03 00:00"), [2]),
        (("2023", "2023"), []),
        (("2024-01", "2024"), list(range(10))),
        ((pd.Period("2024-01-02"), pd.Period("2024-01-03")), [1, 2]),
    ],
)
def test_both_ends_are_included(period, expected):
    assert rows(DAYS, period) == expected


def test_a_date_as_the_end_is_there_to_its_last_moment():
    hours = pd.date_range("2024-01-01", periods=72, freq="h")
    assert rows(hours, ("2024-01-02", "2024-01-02")) == list(range(24, 48))
    assert rows(hours, ("2024-01-02", datetime.date(2024, 1, 2))) == list(range(24, 48))
    assert rows(hours, ("2024-01-02 03:00", "2024-01-02 05:00")) == [27, 28, 29]
    assert rows(hours, ("2024-01-02", pd.Timestamp("2024-01-02"))) == [24]


def test_text_is_read_in_the_zone_of_the_data():
    hours = pd.date_range("2024-03-30", periods=72, freq="h", tz="Europe/Berlin")
    assert len(rows(hours, ("2024-03-31", "2024-03-31"))) == 23  # summer time begins
    night = ("2024-03-31 01:00", "2024-03-31 03:00")
    assert [str(one) for one in hours[rows(hours, night)].strftime("%H")] == ["01", "03"]
    instant = pd.Timestamp("2024-03-31 01:00", tz="UTC")
    assert hours[rows(hours, (instant, instant))] == [instant]
    october = pd.date_range("2024-10-27", periods=30, freq="h", tz="Europe/Berlin")
    assert rows(october, ("2024-10-27 02:00", "2024-10-27 02:00")) == [2, 3]  # both passes


def test_whole_numbers_and_far_years():
    assert rows(pd.RangeIndex(10), (3, 5), (8, None)) == [3, 4, 5, 8, 9]
    for year in ("1600", "3000"):
        far = pd.date_range(f"{year}-12-30", periods=4, freq="D", unit="s")
        assert rows(far, (f"{year}-12-31", year)) == [1]


def test_several_periods_mask_targets_and_past_covariates_only():
    data = frame(rain=1.0, sky="blue", price=2.0, plan="a")
    schema = Schema(target="y", past=["rain", "sky"], known=["price", "plan"])
    policy = Policy(ignore=[("2024-01-02", "2024-01-03"), ("2024-01-10", None)])
    panel = read_panel(data, schema, policy)
    inside = np.isin(np.arange(10), [1, 2, 9])
    np.testing.assert_array_equal(np.isnan(panel.target.values[:, 0]), inside)
    np.testing.assert_array_equal(np.isnan(panel.past.values[:, 0]), inside)
    np.testing.assert_array_equal(panel.past.codes[:, 0] == 0, inside)
    assert not np.isnan(panel.known.values).any()
    assert (panel.known.codes == 1).all()
    assert data["y"].notna().all()


def test_what_is_ignored_may_hold_anything():
    data = frame(rain=1.0, sky=["blue"] * 10)
    data.loc["2024-01-03", ["y", "rain"]] = [np.inf, np.nan]
    data.loc["2024-01-03", "sky"] = None
    schema = Schema(target="y", past=["rain", "sky"])
    policy = Policy(ignore=[("2024-01-03", "2024-01-03")])
    assert np.isnan(read_panel(data, schema, policy).target.values[2, 0])
    with pytest.raises(InfiniteValues, match=r"'y' holds inf.*row 2\), 1 in all"):
        read_panel(data.drop(columns="sky"), Schema(target="y", past="rain"))
    data.loc["2024-01-05", "y"] = np.nan
    with pytest.raises(MissingValues, match=r"'y' holds NaN.*row 4\), 1 in all"):
        read_panel(data, schema, policy)


def test_known_covariates_are_checked_in_ignored_periods_too():
    data = frame(price=[1.0, np.nan] * 5)
    with pytest.raises(MissingValues, match="'price'"):
        read_panel(data, Schema(known="price"), Policy(ignore=[("2024-01-01", "2024-01-05")]))


def test_nothing_left_to_learn_from():
    with pytest.raises(
        MissingValues, match=r"in all 10 rows, 10 of which lie in a period to ignore"
    ):
        read_panel(frame(), policy=Policy(ignore=[("2024", "2024")]))


def test_a_period_without_rows_is_named_once():
    policy = Policy(ignore=[("2024-01-02", "2024-01-03"), ("1999-01-01", "1999-12-31")])
    with pytest.warns(UserWarning, match=r"\(1999-01-01, 1999-12-31\).*holds no row") as caught:
        panel = read_panel(frame(), policy=policy)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    read_panel(frame().tail(2), policy=policy, like=panel)  # later data are shorter


@pytest.mark.parametrize(
    ("ignore", "found"),
    [
        ("2024-01-01", "is no list"),
        (["2024-01-01"], "is no pair"),
        ([("2024-01-01",)], "is no pair"),
        ([(None, None)], "covers everything"),
        ([("2024-01-02", "2024-01-01")], "ends before it begins"),
        ([(5, 3)], "ends before it begins"),
        ([("2024-01-02", 3)], "mixes dates and whole numbers"),
        ([("soon", None)], "'soon', which is no date"),
        ([("2024-02-30", None)], "'2024-02-30', which is no date"),
        ([(1.5, None)], "1.5 of type float"),
        ([(True, None)], "True of type bool"),
        ([(pd.NaT, None)], "no date"),
        ([("2024-01-01", pd.Timestamp("2024-01-02", tz="UTC"))], "one end with a zone"),
    ],
)
def test_no_period(ignore, found):
    with pytest.raises(ParameterError, match=rf"the period to ignore .*{found}.*ignore=\[\("):
        Policy(ignore=ignore).check()


@pytest.mark.parametrize(
    ("stamps", "period", "found"),
    [
        (DAYS, (1, 2), "in whole numbers, but the time of the data is dates"),
        (pd.RangeIndex(5), ("2024-01-01", None), "in dates, but .* whole numbers"),
        (DAYS, (pd.Timestamp("2024-01-01", tz="UTC"), None), "has a zone"),
    ],
)
def test_a_period_of_another_kind_of_time(stamps, period, found):
    with pytest.raises(WrongTime, match=found):
        ignored_rows(stamps, [period], warn=True)


@pytest.mark.parametrize("missing", ["mask", "interpolate"])
def test_missing_values_stay_for_both_ways_to_handle_them(missing):
    data = frame(rain=[1.0, np.nan] * 5, sky=["blue", None] * 5)
    data.iloc[3, 0] = np.nan
    schema, policy = Schema(target="y", past=["rain", "sky"]), Policy(missing=missing)
    panel = read_panel(data, schema, policy)
    assert np.flatnonzero(np.isnan(panel.target.values[:, 0])).tolist() == [3]
    assert np.isnan(panel.past.values).sum() == 5
    assert (panel.past.codes == 0).sum() == 5
    assert panel.policy is policy


@pytest.mark.parametrize("option", ["missing", "gaps", "short"])
def test_options_are_words_of_a_list(option):
    with pytest.raises(ParameterError, match=f"{option} must be one of 'error', "):
        read_panel(frame(), policy=Policy(**{option: "guess"}))
    assert read_panel(frame(), policy=Policy(short="pad")).policy.short == "pad"
