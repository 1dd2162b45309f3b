"""Whole numbers that are time, and those that are not."""

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import WrongTime
from tsformer.time.whole import WholeTime, is_count, whole_time

DAYS = pd.date_range("2023-01-02", periods=40)
HOURS = pd.date_range("2023-01-02", periods=40, freq="h")
MONTHS = pd.date_range("2018-01-01", periods=40, freq="MS")
WEEKS = pd.date_range("2018-01-01", periods=60, freq="W-MON")


def digits(stamps, form):
    return [int(one.strftime(form)) for one in stamps]


def since_1970(per_second):
    return [int(one.timestamp()) * per_second for one in HOURS]


SPELT = [
    ("Date", digits(DAYS, "%Y%m%d"), DAYS),
    ("x", digits(DAYS, "%Y%m%d"), DAYS),
    ("MESS_DATUM", digits(HOURS, "%Y%m%d%H"), HOURS),
    ("von", digits(HOURS, "%Y%m%d%H%M"), HOURS),
    ("von", digits(HOURS, "%Y%m%d%H%M%S"), HOURS),
    ("period", digits(MONTHS, "%Y%m"), MONTHS),
    ("Jahr-Monat", digits(MONTHS, "%Y%m"), MONTHS),
    ("week", digits(WEEKS, "%G%V"), WEEKS),
    ("Zeit", since_1970(1), HOURS),
    ("timestamp", since_1970(10**3), HOURS),
    ("ts", since_1970(10**6), HOURS),
    ("time", since_1970(10**9), HOURS),
    ("Datum", [44928 + day for day in range(40)], DAYS),
    ("fecha", [44928 + hour / 24 for hour in range(40)], HOURS),
]


@pytest.mark.parametrize(("name", "numbers", "stamps"), SPELT)
@pytest.mark.parametrize("kind", ["numbers", "text", "category", "floats"])
def test_numbers_that_are_stamps(name, numbers, stamps, kind):
    values = pd.Series(numbers)
    whole = values.dtype != float
    if kind == "text" and whole:
        values = values.astype("str")
    elif kind == "category":
        values = values.astype("category")
    elif kind == "floats" and whole and numbers[0] < 2**53:
        values = values.astype("float64")
    found = whole_time(values[::-1], name)
    assert found is not None
    assert (found.read(pd.Index(values)) == stamps).all()


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("sales", range(20230102, 20230142)),  # no dates from the 32nd on
        ("sales", digits(MONTHS, "%Y%m")),  # twelve in a hundred are months
        ("sales", range(1950, 1990)),
        ("sales", range(30000, 30040)),
        ("sales", since_1970(1)),
        ("id", range(1950, 1990)),
        ("step", range(40000, 40040)),
        ("t", digits(MONTHS, "%Y%m")),
        ("Date", range(40)),
        ("Date", [-5, 3, 8]),
        ("Year", [1.5, 2.5, 3.5]),
        ("Date", ["a", "b", "c"]),
        ("Date", [True, False, True]),
        ("price", [20230.5, 20231.5, 20232.5]),
    ],
)
def test_numbers_that_are_not(name, numbers):
    assert whole_time(pd.Series(list(numbers)), name) is None


@pytest.mark.parametrize("name", ["Year", "JAHR", "Année", "año", "Anno"])
def test_years_stay_whole_numbers(name):
    years = pd.Index([1950, 1951, 1953])
    found = whole_time(years, name)
    assert str(found) == "years"
    assert found.read(years).tolist() == [1950, 1951, 1953]


def test_a_first_column_says_more_than_a_later_one():
    years, months = range(1950, 1990), digits(MONTHS, "%Y%m")
    for name in ("x", "Unnamed: 0", ""):
        assert str(whole_time(pd.Series(years), name, first=True)) == "years"
        assert str(whole_time(pd.Series(months), name, first=True)) == "whole numbers as '%Y%m'"
    assert whole_time(pd.Series([1950, 1952, 1953]), "x", first=True) is None
    assert whole_time(pd.Series(years), "y", first=True) is None
    assert whole_time(pd.Series([30000, 30900, 31500, 39000]), "x", first=True) is None


def test_a_number_that_is_no_date_is_named():
    with pytest.raises(WrongTime, match=r"holds 20230230 in 1, which is no date.*\(1 such rows\)"):
        WholeTime("%Y%m%d").read(pd.Index([20230228, 20230230]))
    with pytest.raises(WrongTime, match="holds 2023 in 0"):
        WholeTime("%Y%m").read(pd.Index([2023]))
    with pytest.raises(WrongTime, match="'soon'"):
        WholeTime("%Y%m").read(pd.Index(["soon"]))


def test_numbers_of_rows():
    assert is_count(pd.Series(range(3, 9)), "Unnamed: 0")
    assert is_count(pd.Series(["1", "2", "3"]), "Nr.")
    assert not is_count(pd.Series(range(3, 9)), "sales")
    assert not is_count(pd.Series([1, 2, 4]), "id")
    assert not is_count(pd.Series(np.arange(3) / 2), "id")
