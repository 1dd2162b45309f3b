"""Columns that look like time and are not: never targets, never overlooked."""

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import WrongTime
from tsformer.panels import Schema
from tsformer.reading import read_panel

ROWS = 24
MONTHS = pd.date_range("2018-01-01", periods=ROWS, freq="MS")
DAYS = pd.date_range("2024-01-01", periods=ROWS)
GERMAN = ("Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez")


def framed(**columns):
    return pd.DataFrame({**columns, "y": np.arange(float(ROWS)) % 7})


@pytest.mark.parametrize(
    ("column", "values", "first"),
    [
        ("monat", [f"{GERMAN[one.month - 1]} {one.year}" for one in MONTHS], "'Mär 2018' in row 2"),
        ("trimestre", [f"Trim{one.quarter} {one.year}" for one in MONTHS], "'Trim1 2018' in row 0"),
        ("x", [f"in the year {one.year}" for one in MONTHS], "'in the year 2018' in row 0"),
        ("label", [f"r{row}" for row in range(ROWS)], "'r0' in row 0"),
        ("month", MONTHS.month, "first: 1"),
        ("hour", np.arange(ROWS), "first: 0"),
        ("time", np.arange(ROWS) / 10, "first: 0.0"),
    ],
)
def test_what_looks_like_time_is_refused_with_a_cure_that_works(column, values, first):
    frame = framed(**{column: values})
    with pytest.raises(WrongTime, match=f"'{column}'.*{first}") as caught:
        read_panel(frame)
    (cure,) = caught.value.cures
    assert cure.options().startswith("If the rows are in the order of time, count them: --freq 1")
    said = {path.partition("__")[2]: value for path, value in cure.settings.items()}
    panel = read_panel(frame, Schema(**said))
    assert (panel.target.names, panel.index.stamps.tolist()) == (("y",), list(range(ROWS)))


@pytest.mark.parametrize("spelt", ["T{} {}", "{}. quarter of {}"])
def test_two_shops_are_never_made_one(spelt):
    quarters = [spelt.format(one.quarter, one.year) for one in MONTHS[::3]]
    shops = [pd.DataFrame({"shop": shop, "when?": quarters, "y": 1.0}) for shop in "ab"]
    with pytest.raises(WrongTime, match=r"'when\?'"):
        read_panel(pd.concat(shops, ignore_index=True))


@pytest.mark.parametrize(
    "columns",
    [
        {"weather": ["sun", "rain"] * 12},
        {"time": [9.8, 10.1, 9.9, 9.7] * 6},
        {"hours": [38, 40, 12, 7] * 6},
        {"day": [3, 30, 11, 8] * 6},
    ],
)
def test_what_does_not_is_read(columns):
    assert read_panel(framed(**columns)).target.names[-1] == "y"


def test_numbers_of_rows_are_time():
    panel = read_panel(framed(**{"Unnamed: 0": range(5, 5 + ROWS)}))
    assert panel.target.names == ("y",)
    assert panel.index.future_stamps(1).tolist() == [5 + ROWS]


def test_what_repeats_the_stamps_is_no_target(caplog):
    frame = framed(
        date=DAYS, Jahr=DAYS.year, month=DAYS.month, day=DAYS.day, weekday=DAYS.day_of_week + 1,
        week=DAYS.isocalendar().week.array, id=range(ROWS),
        sent=[20240101 + row for row in range(ROWS)],
    )  # fmt: skip
    with caplog.at_level("INFO", logger="tsformer"):
        panel = read_panel(frame)
    assert panel.target.names == ("y",)
    named = "'Jahr', 'month', 'day', 'weekday', 'week', 'id', 'sent'"
    assert f"no targets, for they are time themselves: {named}" in caplog.text
    assert read_panel(frame, Schema(target=("y", "month"))).target.names == ("y", "month")
    assert "month" in read_panel(frame, Schema(target="y", past="rest")).past.names


def test_a_covariate_with_the_name_of_a_unit_stays_a_target():
    frame = framed(date=DAYS, day=np.arange(ROWS) % 5 + 1, year=[3.5] * ROWS)
    assert read_panel(frame).target.names == ("day", "year", "y")
