import numpy as np
import pandas as pd
import pytest

from tsformer.errors import ParameterError
from tsformer.panels import Schema
from tsformer.reading import read_panel

FRAME = pd.DataFrame(
    {
        "unique_id": list("aaab"),
        "ds": pd.to_datetime(["2024-03-31", "2024-04-30", "2024-05-31", "2024-05-31"]),
        "y": [1.0, 2.0, 3.0, 4.0],
        "rain": 5.0,
        "price": 6.0,
        "plan": "x",
        "size": [1, 1, 1, 2],
    }
)
PANEL = read_panel(
    FRAME, Schema(target="y", past="rain", known=["price", "plan"], static="size", freq="ME")
)


def test_rows_before_each_series():
    padded = PANEL.pad([1, 2])
    assert padded.index.starts.tolist() == [0, 4, 7]
    assert [*padded.index.stamps.strftime("%F")] == [
        "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31",
        "2024-03-31", "2024-04-30", "2024-05-31",
    ]  # fmt: skip
    np.testing.assert_array_equal(padded.target.values[:, 0], [np.nan, 1, 2, 3, np.nan, np.nan, 4])
    np.testing.assert_array_equal(padded.past.values[:, 0], [np.nan, 5, 5, 5, np.nan, np.nan, 5])
    np.testing.assert_array_equal(padded.known.values[:, 0], [np.nan, 6, 6, 6, np.nan, np.nan, 6])
    assert padded.known.codes[:, 0].tolist() == [0, 1, 1, 1, 0, 0, 1]
    assert padded.weight.tolist() == [1] * 7
    assert padded.static.values.tolist() == PANEL.static.values.tolist()
    assert padded.calendar.shape[0] == 7


def test_one_number_for_all_and_none():
    assert PANEL.pad(3).index.lengths.tolist() == [6, 4]
    assert PANEL.pad(0) is PANEL
    assert PANEL.pad([0, 2]).index.lengths.tolist() == [3, 3]
    np.testing.assert_array_equal(PANEL.pad(2).take(2).target.values, PANEL.target.values)


def test_whole_numbers():
    panel = read_panel(pd.DataFrame({"step": [50, 60, 70], "y": 1.0}))
    assert panel.pad(2).index.stamps.tolist() == [30, 40, 50, 60, 70]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("freq", ["h", "D", "MS"])
def test_zones_and_units_stay(unit, freq):
    full = pd.date_range("2024-03-01", periods=800, freq=freq, tz="Europe/Berlin").as_unit(unit)
    frame = pd.DataFrame({"y": 1.0}, index=full[750:])
    padded = read_panel(frame).pad(750)
    assert padded.index.stamps.equals(pd.DatetimeIndex(full))
    assert padded.index.stamps.dtype == full.dtype


@pytest.mark.parametrize("rows", [-1, 1.5, [1], [1, 2, 3], [[1, 2]], [1, -1], True])
def test_no_number_of_rows(rows):
    with pytest.raises(ParameterError, match="rows"):
        PANEL.pad(rows)
