"""What is said where stamps repeat: a series column, or nothing of the kind."""

import numpy as np
import pandas as pd
import pytest

from tsformer.errors import DuplicateTimestamp, FrameError
from tsformer.panels import Schema
from tsformer.reading import read_panel

DAYS = pd.date_range("2024-01-01", periods=40)


def stores(count=5):
    """Sales of stores by number, every store on every day."""
    rows = count * len(DAYS)
    sales = np.random.default_rng(0).integers(0, 50, rows)
    return pd.DataFrame(
        {"day": np.tile(DAYS, count), "sales": sales, "store": np.repeat(range(count), len(DAYS))}
    )


def said(frame, schema=None):
    with pytest.raises(DuplicateTimestamp) as caught:
        read_panel(frame, schema)
    return str(caught.value)


def test_a_whole_number_that_tells_series_apart_is_named():
    message = said(stores())
    assert "2024-01-01 00:00:00 (row 40), 160 in all" in message
    assert "column 'store' tell series apart? Say so: schema=Schema(series=\"store\")" in message
    assert read_panel(stores(), Schema(series="store")).n_series == 5
    assert "'store'" in said(stores(), Schema(target="sales"))
    assert "'store'" in said(stores().set_index("day"))


def test_a_column_with_another_role_is_not_named():
    for role in ("known", "past"):
        message = said(stores(), Schema(target="sales", **{role: "store"}))
        assert "Is a series column missing? Name it: schema=Schema(series=...)" in message


def test_a_few_rows_that_are_there_twice_are_no_series():
    sales = np.arange(40) % 7
    frame = pd.DataFrame({"day": DAYS, "sales": sales})
    twice = pd.concat([frame, frame.iloc[[3]].assign(sales=99)])
    assert "Is a series column missing?" in said(twice)


def test_values_all_over_are_no_series():
    day = np.arange(40)
    # each of 60 numbers in two rows, never twice on a day
    sales = np.concatenate([day, (day + 7) % 40, 40 + day // 2])
    frame = pd.DataFrame({"day": np.tile(DAYS, 3), "sales": sales})
    assert "Is a series column missing?" in said(frame)


def test_words_that_tell_nothing_apart_are_no_series():
    frame = pd.DataFrame({"day": DAYS, "y": 1.0, "weather": "Clear", "more": "sky is clear"})
    frame["holiday"] = ["New Year"] + ["None"] * 39
    report = frame.iloc[[5, 5, 9]].assign(weather=["Rain", "Mist", "Rain"])
    message = said(pd.concat([frame, report, report.iloc[:1]], ignore_index=True))
    assert "2024-01-06 00:00:00 (row 40), 4 in all. Is a series column missing?" in message


def test_the_pair_that_tells_series_apart_is_found_among_three():
    frame = pd.DataFrame(
        {"day": np.tile(DAYS, 4), "kind": "food", "shop": ["a"] * 80 + ["b"] * 80, "y": 1.0}
    )
    frame["item"] = (["x"] * 40 + ["y"] * 40) * 2
    with pytest.raises(FrameError, match=r'frame\["shop"\].*frame\["item"\]') as caught:
        read_panel(frame)
    assert 'frame["kind"]' not in str(caught.value)


def test_a_name_for_each_row_is_no_series():
    frame = stores().assign(row=[f"row {number}" for number in range(200)])
    assert "column 'store' tell series apart?" in said(frame)
    schema = Schema(series="store", target="sales")
    assert read_panel(frame, schema).n_series == 5


def test_an_hour_that_stands_apart_is_part_of_the_stamp():
    frame = pd.DataFrame(
        {"date": np.repeat(DAYS, 24).strftime("%Y-%m-%d"), "hr": np.tile(range(24), 40), "y": 1.0}
    )
    panel = read_panel(frame)
    assert (panel.index.freq, panel.n_rows, panel.target.names) == ("h", 960, ("y",))
    later = frame.assign(date=np.repeat(DAYS, 24), hr=np.tile(range(1, 25), 40))
    panel = read_panel(later)
    assert [str(one) for one in panel.index.stamps[[0, -1]]] == [
        "2024-01-01 01:00:00", "2024-02-10 00:00:00",
    ]  # fmt: skip
