import numpy as np
import pandas as pd
import pytest

from tsformer.errors import DuplicateTimestamp, WrongFrequency, WrongTime
from tsformer.panels import Policy, Schema
from tsformer.reading import extended, read_panel
from tsformer.time import calendar_features
from tsformer.time.freq import as_freq
from tsformer.time.season import season_length

FREE = Schema(freq="irregular")


def read(stamps, **options):
    frame = pd.DataFrame({"y": np.arange(len(stamps), dtype=float)}, index=stamps)
    return read_panel(frame, FREE, **options)


STAMPS = pd.DatetimeIndex(
    ["2024-01-01 00:00", "2024-01-01 06:00", "2024-01-01 18:00", "2024-01-04 06:00"]
)


def test_the_horizon_is_counted_in_median_gaps():
    panel = read(STAMPS)  # 6, 12 and 60 hours
    assert panel.index.freq == pd.Timedelta(hours=12)
    assert panel.index.irregular
    assert panel.schema.freq == "irregular"
    assert repr(panel) == "Panel(1 series, 4 rows, freq='irregular', target=('y',))"
    expected = pd.DatetimeIndex(["2024-01-04 18:00", "2024-01-05 06:00"])
    assert panel.index.future_stamps(2).equals(expected)
    assert extended(panel, 2).index.stamps.equals(STAMPS.append(expected))


def test_times_are_fractions_of_the_gap():
    assert read(STAMPS).index.times.tolist() == [0, 0.5, 1.5, 6.5]
    assert read(STAMPS).tail(3).index.times.tolist() == [0, 1, 6]
    assert read(STAMPS).extend(1).index.times.tolist() == [0, 0.5, 1.5, 6.5, 7.5]
    regular = read_panel(pd.DataFrame({"unique_id": list("aab"), "ds": [7, 8, 3], "y": 1.0}))
    assert regular.index.times.tolist() == [0, 1, 0]
    assert regular.index.times.dtype == np.float64


def test_the_gap_is_one_for_all_series():
    frame = pd.DataFrame(
        {
            "unique_id": list("aaabb"),
            "ds": pd.to_datetime(
                ["2024-01-01", "2024-01-02", "2024-01-05", "2024-03-01", "2024-03-03"]
            ),
            "y": 1.0,
        }
    )
    panel = read_panel(frame, FREE)  # 1, 3 and 2 days
    assert panel.index.freq == pd.Timedelta(days=2)
    assert panel.index.times.tolist() == [0, 0.5, 2, 0, 1]
    expected = pd.to_datetime(["2024-01-07", "2024-03-05"])
    assert panel.index.future_stamps(1).equals(pd.DatetimeIndex(expected))
    later = read_panel(frame.head(1), like=panel)
    assert later.index.irregular
    assert later.index.future_stamps(1)[0] == pd.Timestamp("2024-01-03")


def test_the_gap_is_counted_in_absolute_time():
    zoned = pd.DatetimeIndex(["2024-03-27", "2024-03-28", "2024-03-30"]).tz_localize(
        "Europe/Berlin"
    )
    daily = read(zoned[:2])
    assert daily.index.future_stamps(4)[-1] == pd.Timestamp("2024-04-01 01:00", tz="Europe/Berlin")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_the_unit_stays(unit):
    future = read(STAMPS.as_unit(unit)).index.future_stamps(3)
    assert future.unit == unit
    seconds = pd.DatetimeIndex(
        ["2024-01-01 00:00:00", "2024-01-01 00:00:01", "2024-01-01 00:00:03"]
    )
    assert read(seconds.as_unit(unit)).index.future_stamps(1).unit == unit


@pytest.mark.parametrize("year", ["1600", "3000"])
def test_far_years(year):
    stamps = pd.DatetimeIndex([f"{year}-01-01", f"{year}-01-02", f"{year}-01-04"]).as_unit("s")
    panel = read(stamps)
    assert panel.index.times.tolist() == [0, 1 / 1.5, 2]
    assert panel.index.future_stamps(1)[0] == pd.Timestamp(f"{year}-01-05 12:00")


def test_whole_numbers():
    panel = read(pd.Index([1, 2, 5, 9]))  # gaps of 1, 3 and 4
    assert panel.index.freq == 3
    assert panel.index.future_stamps(2).tolist() == [12, 15]
    assert panel.index.times.tolist() == [0, 1 / 3, 4 / 3, 8 / 3]
    assert read(pd.Index([1, 2, 4])).index.freq == 2  # 1.5, rounded
    assert read(pd.Index([1, 2, 3])).index.freq == 1
    assert read_panel(np.arange(5.0), FREE).index.freq == 1


def test_no_gap_is_filled_and_none_is_refused():
    panel = read(STAMPS, policy=Policy(gaps="mask", missing="mask"))
    assert panel.index.stamps.equals(STAMPS)


def test_stamps_rise():
    with pytest.raises(DuplicateTimestamp, match=r"2024-01-01 06:00:00 \(row 2\)"):
        read(STAMPS[[0, 1, 1, 2]])
    assert read(STAMPS[::-1]).index.stamps.equals(STAMPS)


def test_season_calendar_and_cuts():
    panel = read(STAMPS)
    assert season_length(panel.index.freq) == 2
    assert panel.calendar_names == calendar_features(STAMPS, as_freq("12h"))[0]
    np.testing.assert_array_equal(panel.calendar, calendar_features(STAMPS, as_freq("12h"))[1])
    assert panel.index.row_of("2024-01-01 18:00").tolist() == [2]
    assert panel.index.row_of("2024-01-02").tolist() == [-1]
    assert panel.index.count_before("2024-01-02").tolist() == [3]


def test_rows_before():
    padded = read(STAMPS).pad(2)
    assert padded.index.stamps[:2].equals(
        pd.DatetimeIndex(["2023-12-31 00:00", "2023-12-31 12:00"])
    )
    assert padded.index.times.tolist() == [0, 1, 2, 2.5, 3.5, 8.5]


def test_what_has_no_gap_to_count_in():
    with pytest.raises(WrongFrequency, match="median gaps, but no series has 2 rows"):
        read(STAMPS[:1])
    with pytest.raises(WrongTime, match="fractions"):
        read(pd.Index([0.0, 1.0, 3.0]))
    with pytest.raises(WrongFrequency, match="periods of 'M'"):
        read(pd.period_range("2024-01", periods=4, freq="M"))


def test_stamps_off_the_beat_are_told_of_it():
    off = pd.date_range("2024-01-01", periods=20, freq="h").insert(5, "2024-01-01 04:20")
    with pytest.raises(WrongFrequency, match=r"is not a step.*schema=Schema\(freq=\"irregular\"\)"):
        read_panel(pd.DataFrame({"y": 1.0}, index=off))
