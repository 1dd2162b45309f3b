"""Stamps in several columns."""

import datetime

import pandas as pd
import pytest

from tsformer.errors import WrongTime
from tsformer.time.parts import Part, clock_parts, combined, year_parts


def clock(values, name="time"):
    frame = pd.DataFrame({"value": 1.0, name: values})
    parts = clock_parts(frame, ["value", name])
    days = pd.DatetimeIndex(["2023-12-31"] * len(frame))
    return [str(one) for one in combined(frame, parts, days, str)] if parts else None


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (["00:00", "13:30", "24:00"], "Uhrzeit"),
        (["0:00", "13:30:00", "24:00:00"], "x"),
        (["12:00 AM", "1:30 pm", "24:00"], "time"),
        ([0, 1330, 2400], "HHMM time"),
        (["0000", "1330", "2400"], "time"),
    ],
)
def test_times_of_day(values, name):
    read = clock(values, "time" if name.startswith("HHMM") else name)
    assert read == ["2023-12-31 00:00:00", "2023-12-31 13:30:00", "2024-01-01 00:00:00"]


@pytest.mark.parametrize("name", ["hour", "HOUR", "Stunde", "hr", "hora", "Heure", "hour_ending"])
@pytest.mark.parametrize("kind", ["int64", "float64", "str"])
def test_hours(name, kind):
    values = pd.Series([0, 1, 24]).astype(kind if kind != "str" else "int64").astype(kind)
    assert clock(values, name) == [
        "2023-12-31 00:00:00", "2023-12-31 01:00:00", "2024-01-01 00:00:00",
    ]  # fmt: skip


def test_times_of_day_as_objects():
    assert clock([datetime.time(1, 30), datetime.time(23, 0)]) == [
        "2023-12-31 01:30:00", "2023-12-31 23:00:00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("values", "name"),
    [([0, 25], "hour"), ([1, 2], "sales"), (["a", "b"], "time"), ([1, 1370], "time"), ([0.5], "h")],
)
def test_no_times_of_day(values, name):
    assert clock(values, name) is None


@pytest.mark.parametrize(
    ("columns", "first", "last"),
    [
        ({"month": [12, 1], "year": [2023, 2024]}, "2023-12-01", "2024-01-01"),
        ({"Jahr": [2023, 2024], "Monat": ["Dec", "January"]}, "2023-12-01", "2024-01-01"),
        ({"year": ["2023", "2024"], "month": ["12", "01"]}, "2023-12-01", "2024-01-01"),
        ({"year": [2023, 2024], "month": ["M12", "M01"]}, "2023-12-01", "2024-01-01"),
        ({"day": [31, 1], "month": [12, 1], "year": [2023, 2024]}, "2023-12-31", "2024-01-01"),
        (
            {"year": [2023, 2024], "mo": 5, "month": [12, 1], "day": [31, 1], "hour": [24, 1]},
            "2024-01-01 00:00", "2024-01-01 01:00",
        ),
        ({"year": [2023, 2024], "quarter": [4, 1]}, "2023-10-01", "2024-01-01"),
        ({"year": [2023, 2024], "Quartal": ["Q4", "Q1"]}, "2023-10-01", "2024-01-01"),
        ({"year": [2020, 2021], "week": [53, 1]}, "2020-12-28", "2021-01-04"),
        ({"year": [2020, 2021], "KW": ["W53", "W01"]}, "2020-12-28", "2021-01-04"),
        ({"year": [2020, 2021], "day_of_year": [366, 1]}, "2020-12-31", "2021-01-01"),
        ({"year": [2020, 2021], "day": [366, 1]}, "2020-12-31", "2021-01-01"),
        (
            {"year": [2020, 2021], "month": [12, 1], "day": [31, 1], "at": ["23:30", "24:00"]},
            "2020-12-31 23:30", "2021-01-02",
        ),
    ],
)  # fmt: skip
def test_years_and_what_follows(columns, first, last):
    frame = pd.DataFrame(columns)
    parts = year_parts(frame, list(frame.columns))
    made = combined(frame, parts, None, str)
    assert made.tolist() == [pd.Timestamp(first), pd.Timestamp(last)]


def test_what_is_no_part():
    frame = pd.DataFrame({"year": [2020, 2021], "month": [1, 13], "sales": [1, 2]})
    assert year_parts(frame, list(frame.columns)) == ()
    frame = pd.DataFrame({"year": [2020, 2021], "month": ["Okt", "Nov"]})
    assert year_parts(frame, list(frame.columns)) == ()


def test_a_row_that_names_no_date_is_told():
    parts = [Part("year", "year"), Part("month", "month"), Part("day", "day")]
    frame = pd.DataFrame({"year": 2023, "month": 2, "day": [28, 30]})
    with pytest.raises(WrongTime, match=r"no date in row 1: year 2023, month 2, day 30 \(1 such"):
        combined(frame, parts, None, lambda row: f"row {row}")
    frame = pd.DataFrame({"year": 2023, "month": [2, 14], "day": 1})
    with pytest.raises(WrongTime, match=r"'month' holds .*14.* in row 1, which is no month"):
        combined(frame, parts, None, lambda row: f"row {row}")


def test_times_of_day_in_a_zone():
    frame = pd.DataFrame({"hour": range(24)})
    days = pd.DatetimeIndex(["2023-03-26"] * 24, tz="Europe/Berlin")
    made = combined(frame, [Part("hour", "hour")], days, str)
    assert str(made[3]) == "2023-03-26 03:00:00+02:00"
