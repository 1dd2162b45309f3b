import numpy as np
import pandas as pd
import pytest

from tsformer.errors import DuplicateTimestamp, SeriesTooShort, WrongFrequency
from tsformer.panels import Policy, Schema
from tsformer.reading import extended, read_panel
from tsformer.time.freq import as_freq, name_of

FREQS = [
    "MS", "ME", "QS", "QE", "YS", "YE", "W-FRI", "B", "D", "h", "15min", "30min", "2D", "5min",
    "10s", "2MS", "QE-FEB", "BME", "12h",
]  # fmt: skip


def framed(index):
    return pd.DataFrame({"y": np.arange(len(index), dtype=float)}, index=index)


def future(index, horizon=5, **options):
    return extended(read_panel(framed(index), **options), horizon).index.stamps[-horizon:]


@pytest.mark.parametrize("freq", FREQS)
def test_stamps_continue_exactly(freq):
    full = pd.date_range("2023-01-31", periods=35, freq=freq)
    panel = read_panel(framed(full[:30]))
    assert extended(panel, 5).index.stamps.equals(pd.DatetimeIndex(full))


@pytest.mark.parametrize("freq", ["SMS", "WOM-3FRI", "36h"])
def test_stamps_of_a_declared_frequency(freq):
    full = pd.date_range("2023-01-31", periods=35, freq=freq)
    panel = read_panel(framed(full[:30]), Schema(freq=freq))
    assert extended(panel, 5).index.stamps.equals(pd.DatetimeIndex(full))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("freq", ["h", "D", "MS"])
def test_the_unit_stays(unit, freq):
    full = pd.date_range("2023-01-01", periods=25, freq=freq).as_unit(unit)
    assert future(full[:20]).equals(pd.DatetimeIndex(full[20:]))
    assert future(full[:20]).unit == unit


@pytest.mark.parametrize("start", ["2023-03-20", "2023-10-20"])
@pytest.mark.parametrize("zone", ["Europe/Amsterdam", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("freq", ["h", "30min", "D", "W-MON", "MS", "B"])
def test_clock_changes(start, zone, freq):
    full = pd.date_range(start, periods=1000 if freq in ("h", "30min") else 60, freq=freq, tz=zone)
    for cut in (10, len(full) // 2, len(full) - 20):
        panel = read_panel(framed(full[:cut]))
        assert extended(panel, 20).index.stamps.equals(pd.DatetimeIndex(full[: cut + 20]))
        assert panel.index.stamps.tz == full.tz


def test_a_midnight_that_a_clock_change_skips():
    wall = pd.date_range("2017-10-10", periods=12, freq="D")
    zoned = wall.tz_localize("America/Sao_Paulo", nonexistent="shift_forward")
    assert name_of(read_panel(framed(zoned)).index.freq) == "D"
    assert future(zoned[:4], 8).equals(zoned[4:])


@pytest.mark.parametrize("step", [1, 10])
def test_whole_numbers(step):
    frame = pd.DataFrame({"step": 5 + step * np.arange(8), "y": np.arange(8.0)})
    panel = read_panel(frame)
    assert panel.index.freq == step
    assert extended(panel, 2).index.stamps[-2:].tolist() == [5 + step * 8, 5 + step * 9]
    assert read_panel(frame, Schema(time="step", freq=step)).index.freq == step


@pytest.mark.parametrize("start", ["1600-01-01", "3000-01-01"])
def test_years_beyond_nanoseconds(start):
    full = pd.date_range(start, periods=24, freq="MS", unit="us")
    assert future(full[:19]).equals(pd.DatetimeIndex(full[19:]))


@pytest.mark.parametrize(
    ("old", "new"),
    [("H", "h"), ("T", "min"), ("15T", "15min"), ("M", "ME"), ("Q", "QE-DEC"), ("A-JUN", "YE-JUN"),
     ("Y", "YE-DEC"), ("S", "s"), ("d", "D"), ("BM", "BME"), ("AS", "YS-JAN"), ("w", "W-SUN")],
)  # fmt: skip
def test_old_spellings(old, new):
    assert name_of(as_freq(old)) == new


@pytest.mark.parametrize("freq", ["nonsense", 0, -1, "bh", True])
def test_no_frequency(freq):
    with pytest.raises(WrongFrequency):
        as_freq(freq)


def test_a_gap_is_named():
    index = pd.date_range("2024-01-01", periods=60, freq="D").delete([10, 11, 30])
    with pytest.raises(WrongFrequency, match=r"after 2024-01-10.* comes 2024-01-13.*\(row 10\)"):
        read_panel(framed(index))
    with pytest.raises(WrongFrequency, match=r"expects 2024-01-11.*\(2 such places\).*gaps="):
        read_panel(framed(index))


@pytest.mark.parametrize("freq", ["D", "h", "B", "MS", "ME", "W-TUE", "QS", "15min", "YE"])
@pytest.mark.parametrize("zone", [None, "Europe/Amsterdam"])
def test_gaps_come_back_as_missing(freq, zone):
    full = pd.date_range("2000-10-01", periods=200, freq=freq, tz=zone)
    frame = framed(full)
    kept = frame.drop(frame.index[[7, 50, 51, 120]])
    panel = read_panel(kept, policy=Policy(gaps="mask", missing="mask"))
    assert panel.index.stamps.equals(pd.DatetimeIndex(full))
    assert np.flatnonzero(np.isnan(panel.target.values[:, 0])).tolist() == [7, 50, 51, 120]


def test_gaps_of_whole_numbers_and_of_many_series():
    frame = pd.DataFrame(
        {"unique_id": ["a"] * 3 + ["b"] * 4, "ds": [0, 1, 4, 7, 8, 9, 10], "y": np.arange(7.0)}
    )
    panel = read_panel(frame, policy=Policy(gaps="mask", missing="mask"))
    assert panel.index.lengths.tolist() == [5, 4]
    assert panel.index.stamps.tolist() == [0, 1, 2, 3, 4, 7, 8, 9, 10]
    with pytest.raises(WrongFrequency, match="series 'a' \\(row 2\\)"):
        read_panel(frame)


def test_business_days_with_holidays():
    index = pd.bdate_range("2024-01-01", periods=60).delete([20, 40])
    with pytest.raises(WrongFrequency, match="'B' expects"):
        read_panel(framed(index))
    assert read_panel(framed(index), policy=Policy(gaps="mask", missing="mask")).n_rows == 60


def test_a_series_of_another_frequency_is_refused():
    frame = pd.concat(
        [
            pd.DataFrame({"unique_id": name, "ds": pd.date_range("2024-01-01", periods=n, freq=f)})
            for name, n, f in (("a", 30, "D"), ("b", 8, "W-MON"))
        ]
    ).assign(y=1.0)
    for policy in (Policy(), Policy(gaps="mask", missing="mask")):
        with pytest.raises(WrongFrequency, match="series 'b' goes by 'W-MON'"):
            read_panel(frame, policy=policy)


def test_another_frequency_than_declared_or_fitted():
    daily = framed(pd.date_range("2024-01-01", periods=30, freq="D"))
    hourly = framed(pd.date_range("2024-01-01", periods=30, freq="h"))
    with pytest.raises(WrongFrequency, match="'h'"):
        read_panel(daily, Schema(freq="h"))
    with pytest.raises(WrongFrequency, match="'D'"):
        read_panel(hourly, like=read_panel(daily))
    with pytest.raises(WrongFrequency, match="does not go with"):
        read_panel(daily, Schema(freq=1))


@pytest.mark.parametrize(
    ("rows", "kind", "found"),
    [(1, SeriesTooShort, "has 1 row"), (2, WrongFrequency, r"Schema\(freq=")],
)
def test_too_few_rows_to_infer(rows, kind, found):
    frame = framed(pd.date_range("2024-01-01", periods=rows, freq="D"))
    with pytest.raises(kind, match=found):
        read_panel(frame)
    assert extended(read_panel(frame, Schema(freq="D")), 1).n_rows == rows + 1


def test_short_series_follow_the_longest():
    frame = pd.DataFrame(
        {
            "unique_id": ["a"] * 5 + ["b"],
            "ds": [*pd.date_range("2024-01-01", periods=5, freq="MS"), pd.Timestamp("2024-06-01")],
            "y": 1.0,
        }
    )
    assert name_of(read_panel(frame).index.freq) == "MS"


def test_duplicates_are_named():
    index = pd.date_range("2024-01-01", periods=6, freq="D").insert(3, pd.Timestamp("2024-01-03"))
    with pytest.raises(DuplicateTimestamp, match=r"2024-01-03.*\(row 3\), 1 in all.*series column"):
        read_panel(framed(index))
    frame = framed(index).reset_index(names="ds").assign(unique_id="a")
    with pytest.raises(DuplicateTimestamp, match="series 'a'"):
        read_panel(frame)


def test_the_repeated_hour_without_a_zone():
    zoned = pd.date_range("2024-10-26", periods=48, freq="h", tz="Europe/Amsterdam")
    with pytest.raises(DuplicateTimestamp, match="tz_localize"):
        read_panel(framed(zoned.tz_localize(None)))


def test_a_stray_stamp_does_not_fill_the_memory():
    index = pd.date_range("2024-01-01", periods=100, freq="min").insert(
        0, pd.Timestamp("1970-01-01")
    )
    with pytest.raises(WrongFrequency, match="1970-01-01"):
        read_panel(framed(index), policy=Policy(gaps="mask", missing="mask"))


@pytest.mark.parametrize("freq", ["M", "Q-DEC", "Y-DEC", "W-SUN", "D", "h"])
def test_periods(freq):
    full = pd.period_range("2024-01", periods=25, freq=freq)
    for cut in (2, 20):  # two rows are enough: periods know their frequency
        panel = read_panel(framed(full[:cut]))
        values = np.zeros((1, 3, 1))
        made = panel.frame_of(values, ["y"], stamps=panel.index.future_stamps(3))
        assert made.index.equals(full[cut : cut + 3])


def test_the_skipped_hour_without_a_zone():
    zoned = pd.date_range("2024-03-30", periods=48, freq="h", tz="Europe/Amsterdam")
    with pytest.raises(WrongFrequency, match="summer time began"):
        read_panel(framed(zoned.tz_localize(None)))


def test_rows_put_back_need_no_other_policy():
    index = pd.date_range("2024-01-01", periods=60, freq="D").delete(10)
    panel = read_panel(framed(index), policy=Policy(gaps="mask"))
    assert np.flatnonzero(np.isnan(panel.target.values[:, 0])).tolist() == [10]
